// ---- The list: as many rows as are seen, whatever their number. ----

const drawn = new Map();
const rowHeight = () => 4.5 * parseFloat(getComputedStyle(document.documentElement).fontSize);

const row = (i, height) => {
  const n = state.rows[i];
  const { set, model, place } = where(n);
  const element = make("div", "sb-row");
  element.id = `sago-browse-row-${i}`;
  element.setAttribute("role", "option");
  element.setAttribute("aria-setsize", String(state.rows.length));
  element.setAttribute("aria-posinset", String(i + 1));
  element.style.transform = `translateY(${i * height}px)`;
  const head = make("span", "sb-row-head", named(set.heads[place] || "(no text)"));
  const lang = language(set.language);
  if (lang) head.lang = lang;
  const size = make("span", "sb-row-value", number(value(n)));
  const about = [set.documents[place]];
  if (field.model.value === "" && modelNames.length > 1) about.push(model.name);
  if (field.task.value === "" && sets.length > 1) about.push(set.task);
  const id = make("span", "sb-row-id");
  about.forEach((text, k) => id.append(k ? " · " : "", named(text)));
  const far = furthest(n);
  const by = make("span", "sb-row-far", "furthest: ");
  if (far) by.append(named(set.keys[far[0]][0]), ` ${number(far[1])}`);
  else by.append("none is scored");
  element.append(head, size, id, by);
  element.addEventListener("click", () => select(i));
  return element;
};

const paint = () => {
  const height = rowHeight();
  const first = Math.max(0, Math.floor(list.scrollTop / height) - SPARE);
  const last = Math.min(state.rows.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + SPARE);
  for (const [i, element] of drawn) {
    if (i < first || i >= last) {
      element.remove();
      drawn.delete(i);
    }
  }
  for (let i = first; i < last; i++) {
    if (!drawn.has(i)) drawn.set(i, row(i, height));
  }
  // In the order in which they are read.
  const wanted = [...drawn.keys()].sort((a, b) => a - b).map((i) => drawn.get(i));
  wanted.forEach((element, place) => {
    if (space.children[place] !== element) space.insertBefore(element, space.children[place] || null);
  });
  for (const [i, element] of drawn) element.setAttribute("aria-selected", String(i === state.at));
  if (drawn.has(state.at)) list.setAttribute("aria-activedescendant", `sago-browse-row-${state.at}`);
  else list.removeAttribute("aria-activedescendant");
};

const reveal = () => {
  const height = rowHeight();
  if (state.at >= 0) {
    const top = state.at * height;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + height > list.scrollTop + list.clientHeight) list.scrollTop = top + height - list.clientHeight;
  }
  paint();
};

let waiting = 0;
const select = (i, later = false) => {
  if (!state.rows.length) return;
  state.at = Math.min(Math.max(i, 0), state.rows.length - 1);
  state.open = state.rows[state.at];
  reveal();
  clearTimeout(waiting);
  // A key that is held down runs through the list: texts follow where it stops.
  waiting = setTimeout(show, later ? 90 : 0);
};

list.addEventListener("scroll", () => requestAnimationFrame(paint), { passive: true });
list.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const page = Math.max(1, Math.floor(list.clientHeight / rowHeight()) - 1);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (Object.hasOwn(steps, event.key)) {
    event.preventDefault();
    const from = state.at < 0 && steps[event.key] > 0 ? -1 : state.at;
    select(from + steps[event.key], true);
  } else if (event.key === "Enter") {
    event.preventDefault();
    pane.focus();
  }
});
