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
