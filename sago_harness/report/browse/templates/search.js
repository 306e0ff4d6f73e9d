// ---- Search: block after block, so that the page stays awake. ----

const folded = (text) => text.normalize("NFC").toLowerCase();
const breath = () => new Promise((resolve) => setTimeout(resolve, 0));

const search = async () => {
  const mine = ++state.search;
  state.query = field.query.value.trim();
  const wanted = folded(state.query);
  if (!wanted) {
    state.hits = null;
    relist();
    highlight();
    return;
  }
  const hits = new Set();
  const holds = (text) => typeof text === "string" && folded(text).includes(wanted);
  const scope = inScope();
  const steps = scope.reduce((sum, [s]) => sum + Math.ceil(sets[s].documents.length / sets[s].chunk), 0);
  let done = 0;
  let told = performance.now();
  for (const [s, m] of scope) {
    const set = sets[s];
    const keys = [0, ...chosenKeys[s]];
    for (let chunk = 0; chunk * set.chunk < set.documents.length; chunk++) {
      const [prompts, said] = await Promise.all([block(`browse-p-${s}-${chunk}`), block(`browse-r-${s}-${m}-${chunk}`)]);
      said.documents.forEach((own, local) => {
        const d = chunk * set.chunk + local;
        if (own === null) return;
        const asked = (k) => (own.p && Object.hasOwn(own.p, k) ? own.p[k] : prompts[local][k]);
        const answered = (k) => (typeof own.r[k] === "number" ? own.r[own.r[k]] : own.r[k]);
        const there = (k) => k < own.r.length && (k === 0 || set.models[m].shares[d][k - 1] !== false);
        if (holds(set.documents[d]) || keys.some((k) => there(k) && (holds(asked(k)) || holds(answered(k)))))
          hits.add(numberOf(s, m, d));
      });
      done++;
      if (performance.now() - told > 60) {
        status.textContent = `Searching, ${Math.round((100 * done) / steps)} %, ${plural(hits.size, "document")} so far`;
        await breath();
        told = performance.now();
      }
      if (mine !== state.search) return;
    }
  }
  state.hits = hits;
  relist();
  highlight();
};

let typing = 0;
field.query.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => refresh(), 200);
});
field.query.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" && state.rows.length) {
    event.preventDefault();
    list.focus();
    if (state.at < 0) select(0);
  }
});

const refresh = async () => {
  try {
    await search();
  } catch (error) {
    status.textContent = `The documents cannot be searched: ${error.message}`;
  }
};

for (const name of ["task", "model", "family", "operator", "sort"]) {
  field[name].addEventListener("change", () => {
    if (name === "family" || name === "task") offer();
    pick();
    refresh();
    if (name === "family" || name === "operator") show();
  });
}
window.addEventListener("resize", () => {
  space.style.height = `${state.rows.length * rowHeight()}px`;
  drawn.forEach((element) => element.remove());
  drawn.clear();
  paint();
});
