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
  const floor = of.model.floor;
  const scale = Math.max(1040, floor || 0, ...keys.map((k) => (typeof of.share(k) === "number" ? of.share(k) : 0)));
  const items = keys.map((k) => {
    const [id, family, operator, , role, scored] = of.set.keys[k];
    const note = role === "repeat" ? "repeat" : of.unchanged(k) ? "same response" : `${family}/${operator}`;
    const button = make(
      "button",
      "",
      make("span", "", named(id)),
      bar(of.share(k), { chance: 1000, floor, scale, beside: !scored }),
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
  const again = typeof of.model.floor === "number" ? ", the dotted one the model's noise floor on this scale" : "";
  const dotted = noise ? ", a dotted line its noise floor (the canonical prompt asked again)" : "; without repeats there is no noise floor";
  const hatched = keys.some((k) => of.set.keys[k][4] === "variant" && !of.set.keys[k][5]) ? " Hatched: beside the score." : "";
  if (keys.length)
    parts.push(make("p", "sb-note", `Bars here: share of chance; the line is 1, as far as another question${again}.${hatched} At the distances below, the line is the measure's chance level${dotted}.`));
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
