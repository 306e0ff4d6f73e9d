// ---- Filters. ----

const choose = (select, first, options) => {
  const before = select.selectedOptions[0] ? select.selectedOptions[0].textContent : "";
  const choice = (label, of) => {
    const option = make("option", "", flat(label));
    option.value = of;
    return option;
  };
  select.replaceChildren(choice(first, ""), ...options.map(([label, of]) => choice(label, of)));
  const again = [...select.options].find((option) => option.textContent === before);
  if (again) again.selected = true;
};

const chosenSets = () => {
  const chosen = field.task.value;
  return sets.map((_, s) => s).filter((s) => chosen === "" || Number(chosen) === s);
};

const offer = () => {
  const keys = chosenSets().flatMap((s) => sets[s].keys.slice(1));
  families = [...new Set(keys.map((key) => key[1]))];
  choose(field.family, "all", families.map((family, i) => [family, String(i)]));
  const family = field.family.value === "" ? null : families[Number(field.family.value)];
  const pairs = new Map();
  for (const key of keys) {
    if (family === null || key[1] === family) pairs.set(JSON.stringify([key[1], key[2]]), [key[1], key[2]]);
  }
  operators = [...pairs.values()].filter((pair) => pair[1]);
  choose(field.operator, "all", operators.map(([of, operator], i) => [`${of}/${operator}`, String(i)]));
};

const pick = () => {
  const family = field.family.value === "" ? null : families[Number(field.family.value)];
  const operator = field.operator.value === "" ? null : operators[Number(field.operator.value)];
  chosenKeys = sets.map((set) =>
    set.keys.map((_, k) => k).filter((k) => {
      const [, of, name] = set.keys[k];
      if (k === 0 || (family !== null && of !== family)) return false;
      return operator === null || (of === operator[0] && name === operator[1]);
    }),
  );
};

const inScope = () => {
  const name = field.model.value === "" ? null : modelNames[Number(field.model.value)];
  const found = [];
  for (const s of chosenSets()) {
    if (!chosenKeys[s].length && (field.family.value || field.operator.value)) continue;
    sets[s].models.forEach((model, m) => {
      if (name === null || model.name === name) found.push([s, m]);
    });
  }
  return found;
};

const relist = () => {
  const rows = [];
  let all = 0;
  for (const [s, m] of inScope()) {
    sets[s].models[m].has.forEach((there, d) => {
      if (!there) return;
      all++;
      const n = numberOf(s, m, d);
      if (!state.hits || state.hits.has(n)) rows.push(n);
    });
  }
  const keys = new Map();
  const sort = field.sort.value;
  for (const n of rows) {
    const { set, place } = where(n);
    const far = sort === "share" ? furthest(n) : null;
    const size = sort === "share" ? (far ? far[1] : null) : value(n);
    keys.set(n, sort === "name" ? set.documents[place] : (size === null ? -1e9 : size));
  }
  rows.sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    if (x !== y) return sort === "name" ? (x < y ? -1 : 1) : y - x;
    return study.rank[a] - study.rank[b] || a - b;
  });
  state.rows = rows;
  state.at = rows.indexOf(state.open);
  space.replaceChildren();
  drawn.clear();
  list.scrollTop = 0;
  space.style.height = `${rows.length * rowHeight()}px`;
  reveal();
  tell(all);
};

const tell = (all) => {
  const found = state.rows.length;
  const of = `${plural(all, "document")}`;
  if (state.hits) status.textContent = `${found.toLocaleString("en")} of ${of} hold “${flat(state.query)}”`;
  else status.textContent = of;
  const scores = [...new Set(inScope().map(([s]) => sets[s].score))].join(", ");
  part("key").textContent = scores
    ? `Number: how far a document's variants move the model (${flat(scores)}), as a share of how far another question does; larger = less stable.`
    : "";
};
