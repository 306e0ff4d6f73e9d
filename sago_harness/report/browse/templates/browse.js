(() => {
  "use strict";

  const root = document.getElementById("sago-browse");
  if (!root) return;
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const list = part("list");
  const space = part("space");
  const pane = part("pane");
  const status = part("status");
  const fields = ["query", "task", "model", "family", "operator", "sort"];
  const field = Object.fromEntries(fields.map((name) => [name, part(name)]));

  // Unpacked blocks that are kept: a search goes through hundreds of them.
  const KEPT = 48;
  // Rows above and below what is seen.
  const SPARE = 6;
  // Characters of a text that are shown until all are asked for.
  const SHOWN = 4000;
  // Characters of a text in which differences are looked for.
  const COMPARED = 20000;
  // An unchanged stretch that is longer is folded to its two ends.
  const UNCHANGED = 700;
  const ENDS = 140;
  // Differing words up to which two texts are told apart word by word.
  const DIFFERENT = 1600;
  // Below this share of common words marking them is noise.
  const COMMON = 0.15;

  const FLAGS = {
    empty: "empty",
    short: "under 4 tokens",
    truncated: "ran into the token limit",
    refused: "refusal",
    straddle: "cut inside a token",
    prompt_truncated: "prompt was cut",
    noop_tokens: "the same tokens as the canonical prompt",
  };
  const MEASURES = {
    x_bleu: "words",
    x_bert: "meaning",
    x_sem: "meaning",
    x_act: "hidden states",
    x_prob: "probabilities",
    x_ent: "entropy",
    x_jsd: "distributions",
    x_mr: "mirroring",
  };

  // ---- Text: whatever it holds is shown as text, and every character can be seen. ----

  const INVISIBLE =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/u;
  // Spaces that look like another one, and ends of lines: seen where something changed.
  const SPACES = /[\n\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/u;
  const EMOJI =
    /\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}\ufe0f]*(?:\u200d\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}\ufe0f]*)+/u;
  const MARKED = new RegExp(`(${EMOJI.source})|(${INVISIBLE.source})`, "gu");
  const CHANGED = new RegExp(`(${EMOJI.source})|(${INVISIBLE.source}|${SPACES.source})`, "gu");
  const NAMES = {
    "\u00a0": "no-break space",
    "\u00ad": "soft hyphen",
    "\u061c": "Arabic letter mark",
    "\u200b": "zero-width space",
    "\u200c": "zero-width non-joiner",
    "\u200d": "zero-width joiner",
    "\u200e": "left-to-right mark",
    "\u200f": "right-to-left mark",
    "\u202a": "left-to-right embedding",
    "\u202b": "right-to-left embedding",
    "\u202c": "pop directional formatting",
    "\u202d": "left-to-right override",
    "\u202e": "right-to-left override",
    "\u2066": "left-to-right isolate",
    "\u2067": "right-to-left isolate",
    "\u2068": "first strong isolate",
    "\u2069": "pop directional isolate",
    "\u3000": "ideographic space",
    "\ufeff": "byte order mark",
  };
  const code = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

  const make = (tag, name, ...inside) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...inside.filter((one) => one !== null && one !== undefined));
    return element;
  };

  const mark = (character) => {
    const element = make("span", "sb-mark", code(character));
    if (Object.hasOwn(NAMES, character)) element.title = NAMES[character];
    return element;
  };

  /** Append a text, with marks in the place of what cannot be seen. */
  const write = (element, text, changed = false) => {
    let from = 0;
    for (const match of text.matchAll(changed ? CHANGED : MARKED)) {
      if (match[1]) continue;
      if (match.index > from) element.append(text.slice(from, match.index));
      const [found] = match;
      if (found === "\n") element.append("↵\n");
      else if (found === "\t") element.append("→\t");
      else element.append(mark(found));
      from = match.index + found.length;
    }
    if (from < text.length) element.append(text.slice(from));
    return element;
  };

  /** A name in a line of its own direction. */
  const named = (text) => write(document.createElement("bdi"), String(text));

  /** The same for places that take no elements. */
  const flat = (text) => String(text).replace(MARKED, (whole, emoji) => emoji || `[${code(whole)}]`);

  // Never between the two halves of one character.
  const half = (text, at) => /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1));
  const cut = (text, size) => text.slice(0, half(text, size) ? size - 1 : size);
  /** The two ends of a long text, whole words where it has any. */
  const ends = (text) => {
    const before = cut(text, ENDS);
    const from = text.length - ENDS;
    const after = text.slice(half(text, from) ? from + 1 : from);
    return [before.replace(/(\s)\S{1,30}$/, "$1"), after.replace(/^\S{1,30}(?=\s)/, "")];
  };

  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

  /** A number as the tables of the report write it. */
  const number = (thousandths, digits = 2) => {
    if (thousandths === null || thousandths === undefined || thousandths === false) return "–";
    const text = (Math.abs(thousandths) / 1000).toFixed(digits).replace(/^0\./, ".");
    return thousandths < 0 && Number(text) ? `−${text}` : text;
  };

  const language = (of) => (/^[a-z]{2,3}$/.test(of) ? of : "");

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

  // ---- Blocks of data: unpacked when they are needed. ----

  const bytes = (text) => {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const found = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) found[i] = raw.charCodeAt(i);
    return found;
  };

  const unpack = async (id) => {
    const holder = document.getElementById(id);
    if (!holder) throw new Error(`the page lacks its block ${id}`);
    const packed = new Blob([bytes(holder.textContent.trim())]).stream();
    return JSON.parse(await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text());
  };

  const kept = new Map();
  const block = (id) => {
    const found = kept.get(id) || unpack(id);
    // The latest one last: the first ones go.
    kept.delete(id);
    kept.set(id, found);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    return found;
  };

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

  // ---- The open document. ----

  const chip = (text, kind = "") => make("li", `sb-chip ${kind}`.trim(), text);
  const words = (name) => String(name).replaceAll("_", " ");

  /** Write stretches of a text; long ones can be unfolded. */
  const fill = (element, stretches, tag, changed = false, whole = false) => {
    element.replaceChildren();
    const total = stretches.reduce((sum, [, text]) => sum + text.length, 0);
    const unfold = (label) => {
      const button = make("button", "sb-fold", label);
      button.type = "button";
      button.addEventListener("click", () => {
        fill(element, stretches, tag, changed, true);
        element.focus();
      });
      return button;
    };
    let room = whole ? Infinity : SHOWN;
    let clipped = false;
    for (const [same, text] of stretches) {
      clipped ||= room <= 0;
      if (clipped) break;
      // A struck space alone would look like a dash.
      const target = same ? element : element.appendChild(make(tag, text.trim() ? "" : "sb-gap"));
      if (same && changed && !whole && text.length > UNCHANGED) {
        const [before, after] = ends(text);
        write(element, before);
        const hidden = text.length - before.length - after.length;
        element.append(" … ", unfold(`${hidden.toLocaleString("en")} unchanged characters`), " … ");
        write(element, after);
        room -= before.length + after.length;
      } else {
        write(target, room === Infinity ? text : cut(text, room), !same);
        clipped = text.length > room;
        room -= text.length;
      }
    }
    if (clipped) element.append("… ", unfold(`show all ${total.toLocaleString("en")} characters`));
    if (!total) element.append(make("span", "sb-empty", "(empty)"));
  };

  const cell = (label, stretches, tag, lang, changed = false) => {
    const text = make("div", "sb-text");
    text.dir = "auto";
    text.tabIndex = -1;
    if (lang) text.lang = lang;
    if (stretches === null) text.append(make("span", "sb-empty", "(the records hold no text)"));
    else fill(text, stretches, tag, changed);
    return make("div", "sb-cell", make("span", "sb-who", label), text);
  };

  const pair = (title, one, other, lang) => {
    const known = typeof one === "string" && typeof other === "string";
    const { sides, words: inWords } = known ? differences(one, other) : { sides: [null, null], words: true };
    const plain = (text) => (typeof text === "string" ? [[true, text]] : null);
    const [left, right] = known ? sides : [plain(one), plain(other)];
    const found = document.createDocumentFragment();
    found.append(make("h5", "", title));
    const cells = [cell("canonical", left, "del", lang, one !== other), cell("variant", right, "ins", lang, one !== other)];
    found.append(make("div", "sb-pair", ...cells));
    if (!inWords) found.append(make("p", "sb-note", "Too little in common to mark single words."));
    else if (known && Math.max(one.length, other.length) > COMPARED)
      found.append(make("p", "sb-note", `Differences are marked in the first ${COMPARED.toLocaleString("en")} characters.`));
    return found;
  };

  const bar = (size, { chance = null, floor = null, scale = 1000, beside = false } = {}) => {
    const percent = (x) => `${Math.min(100, Math.max(0, (100 * x) / scale))}%`;
    const element = make("span", beside ? "sb-bar sb-beside" : "sb-bar");
    element.setAttribute("aria-hidden", "true");
    if (typeof size === "number") element.appendChild(make("span", "sb-fill")).style.width = percent(size);
    if (typeof floor === "number") element.appendChild(make("span", "sb-floor")).style.left = percent(floor);
    if (typeof chance === "number") element.appendChild(make("span", "sb-chance")).style.left = percent(chance);
    return element;
  };

  /** What is known of one document: its texts and numbers by key. */
  const facts = (n, prompts, said) => {
    const { set, model, place } = where(n);
    const local = place % set.chunk;
    const own = said.documents[local];
    const shared = prompts[local];
    const response = (k) => {
      const text = own.r[k];
      return typeof text === "number" ? own.r[text] : text;
    };
    const distance = (name, k) => {
      const i = said.measures.indexOf(name);
      const found = i < 0 ? null : own.d[i][k - 1];
      return found === undefined ? null : found;
    };
    return {
      set,
      model,
      place,
      measures: said.measures,
      prompt: (k) => (own.p && Object.hasOwn(own.p, k) ? own.p[k] : shared[k]),
      response,
      unchanged: (k) => typeof response(k) === "string" && response(k) === response(0),
      distance,
      there: (k) => model.shares[place][k - 1] !== false && model.shares[place][k - 1] !== undefined,
      share: (k) => model.shares[place][k - 1],
      correct: (k) => (own.c ? own.c[k] : null),
      answer: (k) => (own.a ? own.a[k] : null),
      flags: (k) => said.flags[own.f ? own.f[k] : 0],
      stopped: (k) => said.reasons[own.w ? own.w[k] : 0][0],
      reason: (k, name) => {
        const of = said.reasons[own.w ? own.w[k] : 0][1];
        return Object.hasOwn(of, name) ? of[name] : "";
      },
    };
  };

  const outcome = (of, k) => {
    const right = of.correct(k);
    if (typeof right !== "number") return null;
    const word = right ? "right" : "wrong";
    const before = k ? of.correct(0) : null;
    if (typeof before !== "number" || before === right) return chip(`${right ? "✓" : "✗"} ${word}`, right ? "sb-good" : "sb-bad");
    return right ? chip("✗ → ✓ wrong to right", "sb-good") : chip("✓ → ✗ right to wrong", "sb-bad");
  };

  const chips = (of, k) => {
    const found = [];
    const [, family, operator, strength, role, scored] = of.set.keys[k];
    if (k) {
      const kind = role === "repeat" ? "the canonical prompt again" : [family, operator].filter(Boolean).join("/");
      found.push(chip(named(kind)));
      if (typeof strength === "number") found.push(chip(`strength ${String(strength).replace("-", "−")}`));
      if (role === "variant" && !scored) found.push(chip("beside the score"));
      if (of.unchanged(k)) found.push(chip("same response"));
      else if (typeof of.response(k) === "string") found.push(chip("other response", "sb-warn"));
      if (of.distance("flip", k) === 1000) found.push(chip("other answer", "sb-warn"));
    }
    const right = outcome(of, k);
    if (right) found.push(right);
    if (typeof of.answer(k) === "string") found.push(chip(write(make("span", "", "answer: "), of.answer(k).slice(0, 200))));
    for (const flag of of.flags(k)) found.push(chip(Object.hasOwn(FLAGS, flag) ? FLAGS[flag] : flat(words(flag)), "sb-warn"));
    if (of.stopped(k)) found.push(chip(`not counted: ${flat(words(of.stopped(k)))}`, "sb-bad"));
    return make("ul", "sb-chips", ...found);
  };

  const tile = (of, k, name) => {
    const found = of.distance(name, k);
    const [chance, floor] = Object.hasOwn(of.model.levels, name) ? of.model.levels[name] : [null, null];
    const said = Object.hasOwn(MEASURES, name) ? ` ${MEASURES[name]}` : "";
    const inside = [];
    if (typeof found === "number") {
      inside.push(make("strong", "", number(found)));
      const beside = [];
      if (name === "x_mr") beside.push(`floor ${number(of.distance("x_mr_floor", k))}`, "−1 to 1");
      else {
        inside.push(bar(found, { chance, floor }));
        if (typeof floor === "number") beside.push(`floor ${number(floor)}`);
        beside.push(`chance ${number(chance)}`);
      }
      inside.push(make("span", "sb-line", beside.join(" · ")));
    } else inside.push(`unscored: ${flat(words(of.reason(k, name) || "not measured"))}`);
    return make("div", "", make("dt", "", make("b", "", name), said), make("dd", "", ...inside));
  };

  const card = (of, k) => {
    const element = make("article", "sb-card");
    element.tabIndex = -1;
    element.id = `sago-browse-key-${k}`;
    const title = make("h4", "", k ? named(of.set.keys[k][0]) : "The canonical prompt");
    title.id = `sago-browse-title-${k}`;
    element.setAttribute("aria-labelledby", title.id);
    if (k && typeof of.share(k) === "number")
      title.append(make("span", "sb-note", `${number(of.share(k))} of chance`));
    element.append(title, chips(of, k));
    const lang = of.set.keys[k][1] === "language" ? "" : language(of.set.language);
    if (!k) {
      const plain = (text) => (typeof text === "string" ? [[true, text]] : null);
      element.append(
        make("div", "sb-pair", cell("prompt (the part that is varied)", plain(of.prompt(0)), "del", lang), cell("response", plain(of.response(0)), "del", lang)),
      );
      return element;
    }
    element.append(pair("Prompt", of.prompt(0), of.prompt(k), lang));
    if (of.unchanged(k)) element.append(make("h5", "", "Response"), make("p", "sb-note", "Word for word the canonical one."));
    else element.append(pair("Response", of.response(0), of.response(k), lang));
    const names = of.measures.filter((name) => name !== "x_mr_floor" && name !== "flip");
    const shown = names.filter((name) => name !== "x_mr" || of.set.keys[k][4] === "variant");
    const why = new Set(shown.map((name) => (of.distance(name, k) === null ? of.reason(k, name) : "")));
    if (shown.length && why.size === 1 && !why.has(""))
      element.append(make("p", "sb-note", `No distance is scored: ${flat(words([...why][0]))}`));
    else if (shown.length) {
      element.append(make("h5", "", "Distances from the canonical response"));
      element.append(make("dl", "sb-measures", ...shown.map((name) => tile(of, k, name))));
    }
    return element;
  };

  /** What happened on this document, in two sentences. */
  const lead = (of, keys) => {
    const variants = keys.filter((k) => of.set.keys[k][4] === "variant");
    const element = make("p", "sb-lead");
    const key = of.model.furthest[of.place];
    if (key > 0 && keys.includes(key))
      element.append("Moved furthest by ", make("strong", "", named(of.set.keys[key][0])), `, ${number(of.share(key))} times as far as another question moves it. `);
    const told = variants.filter((k) => typeof of.response(k) === "string");
    const other = told.filter((k) => !of.unchanged(k)).length;
    if (told.length) element.append(`${other} of ${plural(told.length, "variant")} got another response`);
    const graded = variants.filter((k) => typeof of.correct(k) === "number");
    if (told.length && graded.length && typeof of.correct(0) === "number") {
      const turned = graded.filter((k) => of.correct(k) !== of.correct(0)).length;
      const from = of.correct(0) ? "right to wrong" : "wrong to right";
      element.append(turned ? `; ${turned} went from ${from}` : `; all are ${of.correct(0) ? "right" : "wrong"}, as the canonical one`);
    }
    if (told.length) element.append(".");
    return element;
  };

  const overview = (of, keys) => {
    const scale = Math.max(1040, ...keys.map((k) => (typeof of.share(k) === "number" ? of.share(k) : 0)));
    const items = keys.map((k) => {
      const [id, family, operator, , role, scored] = of.set.keys[k];
      const note = role === "repeat" ? "repeat" : of.unchanged(k) ? "same response" : `${family}/${operator}`;
      const button = make(
        "button",
        "",
        make("span", "", named(id)),
        bar(of.share(k), { chance: 1000, scale, beside: !scored }),
        make("span", "sb-number", number(of.share(k))),
        make("span", "sb-note", named(note)),
      );
      button.type = "button";
      button.addEventListener("click", () => {
        const target = document.getElementById(`sago-browse-key-${k}`);
        target.scrollIntoView({ block: "start" });
        target.focus({ preventScroll: true });
      });
      return make("li", "", button);
    });
    return make("ol", "sb-bars", ...items);
  };

  const link = (of) => {
    const names = [of.set.task, of.model.name, of.set.documents[of.place]];
    const element = make("a", "sb-note", "link to this document");
    element.href = `#doc=${names.map(encodeURIComponent).join("/")}`;
    return element;
  };

  const top = (of) => {
    const go = (label, step) => {
      const button = make("button", "", label);
      button.type = "button";
      button.disabled = state.at + step < 0 || state.at + step >= state.rows.length;
      button.addEventListener("click", () => {
        select(state.at + step);
        pane.focus();
      });
      return button;
    };
    const title = make("h3", "", named(of.set.documents[of.place]));
    return make("div", "sb-top", title, go("previous", -1), go("next", 1), link(of));
  };

  const about = (of, n) => {
    const element = make("p", "sb-about", named(of.model.name), " on ", named(of.set.task), ". ");
    const found = of.model.values[of.place];
    const count = of.model.values.filter((one) => one !== null).length;
    if (found !== null)
      element.append(`Instability ${number(found)} of chance (${flat(of.set.score)}), number ${study.rank[n] + 1} of ${count}.`);
    else element.append(`No instability: ${flat(words(of.model.reason || "a distance is missing"))}.`);
    return element;
  };

  const draw = (n, prompts, said) => {
    const of = facts(n, prompts, said);
    let keys = chosenKeys[study.set[n]].filter((k) => of.there(k));
    const size = (k) => (typeof of.share(k) === "number" ? of.share(k) : -Infinity);
    if (state.order === "share") keys = [...keys].sort((a, b) => size(b) - size(a) || a - b);
    const order = make("select", "");
    for (const [of_, label] of [["share", "furthest first"], ["recipe", "as in the recipe"]]) {
      const option = make("option", "", label);
      option.value = of_;
      option.selected = of_ === state.order;
      order.append(option);
    }
    order.addEventListener("change", () => {
      state.order = order.value;
      draw(n, prompts, said);
      pane.querySelector("select").focus();
    });
    const parts = [top(of), about(of, n), lead(of, keys)];
    if (keys.length) parts.push(make("label", "sb-note sb-order", "Variants: ", order), overview(of, keys));
    else parts.push(make("p", "sb-note", "No variant of this document is chosen by the filters."));
    const noise = Object.values(of.model.levels).some(([, floor]) => typeof floor === "number");
    const dotted = noise ? ", a dotted line its noise floor (the canonical prompt asked again)" : "; without repeats there is no noise floor";
    const hatched = keys.some((k) => of.set.keys[k][4] === "variant" && !of.set.keys[k][5]) ? " Hatched: beside the score." : "";
    if (keys.length)
      parts.push(make("p", "sb-note", `Bars here: share of chance; the line is 1, as far as another question.${hatched} At the distances below, the line is the measure's chance level${dotted}.`));
    parts.push(card(of, 0), ...keys.map((k) => card(of, k)));
    pane.replaceChildren(...parts);
    highlight();
  };

  const show = async () => {
    const n = state.open;
    if (n < 0) return;
    const turn = ++state.turn;
    pane.setAttribute("aria-busy", "true");
    try {
      const [s, m, d] = [study.set[n], study.model[n], study.document[n]];
      const chunk = Math.floor(d / sets[s].chunk);
      const [prompts, said] = await Promise.all([block(`browse-p-${s}-${chunk}`), block(`browse-r-${s}-${m}-${chunk}`)]);
      if (turn !== state.turn) return;
      if (said.documents[d % sets[s].chunk] === null)
        pane.replaceChildren(make("p", "sb-note", "This model has no record of this document."));
      else draw(n, prompts, said);
    } catch (error) {
      if (turn === state.turn) pane.replaceChildren(make("p", "sb-note", `This document cannot be shown: ${error.message}`));
    }
    if (turn === state.turn) pane.removeAttribute("aria-busy");
  };

  /** Mark what was searched for, without a change of the page. */
  const highlight = () => {
    if (!window.CSS || !CSS.highlights) return;
    CSS.highlights.delete("sago-browse-hit");
    const wanted = folded(state.query);
    if (!wanted) return;
    const ranges = [];
    const walk = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      if (!node.parentElement.closest(".sb-text, h3")) continue;
      const text = node.data.toLowerCase();
      // Some letters change their number when they are made small.
      if (text.length !== node.data.length) continue;
      for (let at = text.indexOf(wanted); at >= 0 && ranges.length < 500; at = text.indexOf(wanted, at + 1)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + wanted.length);
        ranges.push(range);
      }
    }
    CSS.highlights.set("sago-browse-hit", new Highlight(...ranges));
  };

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
})();
