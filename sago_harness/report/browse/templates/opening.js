// ---- Opening. ----

/** Open a document that the list need not show yet. */
const open = (s, m, d, narrow) => {
  field.query.value = "";
  state.query = "";
  state.hits = null;
  state.search++;
  if (narrow) field.task.value = String(s);
  field.model.value = modelNames.length > 1 ? String(modelNames.indexOf(sets[s].models[m].name)) : "";
  field.family.value = "";
  field.operator.value = "";
  offer();
  pick();
  state.open = numberOf(s, m, d);
  relist();
  return show();
};

const linked = () => {
  if (!location.hash.startsWith("#doc=")) return false;
  let names = [];
  try {
    names = location.hash.slice(5).split("/").map(decodeURIComponent);
  } catch {
    names = [];
  }
  const s = sets.findIndex((set) => set.task === names[0]);
  const m = s < 0 ? -1 : sets[s].models.findIndex((model) => model.name === names[1]);
  const d = m < 0 ? -1 : sets[s].documents.indexOf(names[2]);
  root.scrollIntoView({ block: "start" });
  if (d < 0) {
    status.textContent = `There is no document ${names.map(flat).join(" / ")} in this report`;
    return false;
  }
  open(s, m, d, sets.length > 1).then(() => pane.focus({ preventScroll: true }));
  return true;
};

const begin = async () => {
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser cannot unpack them; any of 2023 or later can");
  const index = await unpack("browse-index");
  sets = await Promise.all(index.tasks.map((one) => unpack(one.index)));
  lay();
  choose(field.task, "all", sets.map((set, s) => [set.task, String(s)]));
  choose(field.model, "all", modelNames.map((name, i) => [name, String(i)]));
  for (const [name, values] of [["task", sets], ["model", modelNames]]) field[name].closest("label").hidden = values.length < 2;
  for (const note of index.notes) part("notes").append(write(make("p", "sb-note"), `Note: ${note}`));
  offer();
  pick();
  window.addEventListener("hashchange", linked);
  if (!linked()) {
    const missing = status.textContent;
    if (index.start) await open(...index.start, false);
    else relist();
    if (location.hash.startsWith("#doc=")) status.textContent = missing;
  }
};

begin()
  .catch((error) => {
    status.textContent = `The documents cannot be shown: ${error.message}`;
  })
  .finally(() => root.removeAttribute("aria-busy"));
