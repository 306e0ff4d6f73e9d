// ---- Differences: words; characters where words are not parted by spaces. ----

const SINGLE =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]";
const WORDS = new RegExp(
  `${EMOJI.source}|${SINGLE}\\p{M}*|(?:(?!${SINGLE})[\\p{L}\\p{M}\\p{N}_])+(?:['’.,-](?:(?!${SINGLE})[\\p{L}\\p{N}])+)*|\\s+|[^]`,
  "gu",
);
const SLIGHT = /^[\s\p{P}]*$/u;

/** Say which tokens two lists have in common (Myers 1986); null where they differ in too many. */
const common = (a, b) => {
  const kept = [new Uint8Array(a.length), new Uint8Array(b.length)];
  const most = Math.min(a.length + b.length, DIFFERENT);
  const zero = most + 1;
  const reach = new Int32Array(2 * most + 3);
  const trace = [];
  for (let d = 0; d <= most; d++) {
    trace.push(reach.slice(zero - d - 1, zero + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[zero + k - 1] < reach[zero + k + 1]);
      let x = down ? reach[zero + k + 1] : reach[zero + k - 1] + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      reach[zero + k] = x;
      if (x >= a.length && y >= b.length) return back(a.length, b.length, trace, kept);
    }
  }
  return null;
};

const back = (x, y, trace, kept) => {
  for (let d = trace.length - 1; d >= 0; d--) {
    const at = (k) => trace[d][k + d + 1];
    const k = x - y;
    const before = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const [px, py] = d ? [at(before), at(before) - before] : [0, 0];
    while (x > px && y > py) {
      kept[0][--x] = 1;
      kept[1][--y] = 1;
    }
    [x, y] = [px, py];
  }
  return kept;
};

/** Count as changed what is alike only in spaces and marks between two changes. */
const joined = (a, kept) => {
  let [i, j] = [0, 0];
  let changed = false;
  while (i < a.length && j < kept[1].length) {
    if (!kept[0][i] || !kept[1][j]) {
      while (i < a.length && !kept[0][i]) i++;
      while (j < kept[1].length && !kept[1][j]) j++;
      changed = true;
      continue;
    }
    let size = 0;
    while (kept[0][i + size] && kept[1][j + size]) size++;
    const more = i + size < a.length || j + size < kept[1].length;
    const text = a.slice(i, i + size).join("");
    if (changed && more && text.length <= 3 && SLIGHT.test(text)) {
      kept[0].fill(0, i, i + size);
      kept[1].fill(0, j, j + size);
    }
    i += size;
    j += size;
  }
};

const runs = (tokens, kept, start, end) => {
  const found = start ? [[true, start]] : [];
  const add = (same, text) => {
    const last = found[found.length - 1];
    if (last && last[0] === same) last[1] += text;
    else if (text) found.push([same, text]);
  };
  tokens.forEach((token, i) => add(Boolean(kept[i]), token));
  if (end) add(true, end);
  return found;
};

/** Part two texts into stretches [the same?, text] of each. */
const differences = (one, other) => {
  if (one === other) return { sides: [[[true, one]], [[true, other]]], words: true };
  const heads = [one, other].map((text) => cut(text, COMPARED));
  const [a, b] = heads.map((text) => text.match(WORDS) || []);
  let first = 0;
  while (first < a.length && first < b.length && a[first] === b[first]) first++;
  let last = 0;
  const room = Math.min(a.length, b.length) - first;
  while (last < room && a[a.length - 1 - last] === b[b.length - 1 - last]) last++;
  const middle = [a, b].map((tokens) => tokens.slice(first, tokens.length - last));
  const codes = new Map();
  const coded = middle.map((tokens) =>
    Int32Array.from(tokens, (token) => {
      if (!codes.has(token)) codes.set(token, codes.size);
      return codes.get(token);
    }),
  );
  let kept = common(...coded);
  let words = kept !== null;
  if (kept) joined(middle[0], kept);
  const solid = (tokens, at) => tokens.filter((token, i) => at(i) && !SLIGHT.test(token)).length;
  const around = solid(a, (i) => i < first || i >= a.length - last);
  const shared = around + (kept ? solid(middle[0], (i) => kept[0][i]) : 0);
  const least = Math.min(...[a, b].map((tokens) => solid(tokens, () => true)));
  if (kept && shared < COMMON * least) {
    kept = null;
    // A word or two need no word on them.
    words = around > 0 || least < 8;
  }
  const none = kept || middle.map((tokens) => new Uint8Array(tokens.length));
  const sides = [a, b].map((tokens, side) => {
    const end = tokens.slice(tokens.length - last).join("");
    const rest = [one, other][side].slice(heads[side].length);
    const found = runs(middle[side], none[side], tokens.slice(0, first).join(""), end);
    return rest ? [...found, [true, rest]] : found;
  });
  return { sides, words };
};
