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
