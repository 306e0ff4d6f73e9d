// ---- The study: every document of every model and data set has a number. ----

let sets = [];
let modelNames = [];
let families = [];
let operators = [];
const study = { size: 0, first: [], set: null, model: null, document: null, rank: null };
const state = { rows: [], at: -1, open: -1, hits: null, query: "", order: "share", turn: 0, search: 0 };
let chosenKeys = [];

const numberOf = (set, model, document) => study.first[set][model] + document;
const where = (n) => {
  const set = sets[study.set[n]];
  return { set, model: set.models[study.model[n]], place: study.document[n] };
};

const lay = () => {
  study.first = sets.map((set) =>
    set.models.map(() => {
      const first = study.size;
      study.size += set.documents.length;
      return first;
    }),
  );
  study.set = new Uint16Array(study.size);
  study.model = new Uint16Array(study.size);
  study.document = new Uint32Array(study.size);
  study.rank = new Uint32Array(study.size);
  sets.forEach((set, s) =>
    set.models.forEach((model, m) => {
      const first = study.first[s][m];
      study.set.fill(s, first, first + set.documents.length);
      study.model.fill(m, first, first + set.documents.length);
      set.documents.forEach((_, d) => (study.document[first + d] = d));
      model.order.forEach((d, rank) => (study.rank[first + d] = rank));
    }),
  );
  modelNames = [...new Set(sets.flatMap((set) => set.models.map((model) => model.name)))].sort();
};

const value = (n) => {
  const { model, place } = where(n);
  return model.values[place];
};

/** The key that moved furthest among the chosen ones, with its share. */
const furthest = (n) => {
  const { model, place } = where(n);
  const shares = model.shares[place];
  if (!field.family.value && !field.operator.value) {
    const key = model.furthest[place];
    return key < 0 ? null : [key, shares[key - 1]];
  }
  let best = null;
  for (const key of chosenKeys[study.set[n]]) {
    const share = shares[key - 1];
    if (typeof share === "number" && (best === null || share > best[1])) best = [key, share];
  }
  return best;
};
