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
