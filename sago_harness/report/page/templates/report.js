"use strict";
(() => {
  const embed = window.vegaEmbed;
  delete window.vegaEmbed;

  const root = document.documentElement;
  const status = document.getElementById("status");
  const content = (id) => document.getElementById(id).textContent;
  async function unpack(id) {
    const bytes = Uint8Array.from(atob(content(id)), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }
  const say = (text) => {
    status.textContent = text;
  };

  // Light and dark

  const darkWanted = window.matchMedia("(prefers-color-scheme: dark)");
  const listeners = [];
  let chosen = "";
  let printing = false;
  let told = "";
  // Asked for once: who reads it between a change and its event takes the event away from the listener.
  let system = darkWanted.matches ? "dark" : "light";

  const theme = () => (printing ? "light" : chosen || system);

  const button = document.getElementById("theme");
  button.hidden = false;

  function retheme() {
    const now = theme();
    if (now === told) return;
    told = now;
    root.dataset.theme = now;
    button.textContent = now === "dark" ? "Light theme" : "Dark theme";
    for (const listener of listeners) listener(now);
  }

  button.addEventListener("click", () => {
    chosen = theme() === "dark" ? "light" : "dark";
    retheme();
    say(`The page is ${chosen}.`);
  });
  darkWanted.addEventListener("change", (event) => {
    system = event.matches ? "dark" : "light";
    retheme();
  });
  window.sago = Object.freeze({ theme, onTheme: (listener) => void listeners.push(listener) });
  retheme();

  // Tooltips: text alone, whatever it says

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);

  const isolated = (text) => {
    const part = document.createElement("bdi");
    part.textContent = text;
    return part;
  };

  function tooltip(_handler, event, _item, value) {
    if (value === null || value === undefined || value === "") {
      tip.hidden = true;
      return;
    }
    tip.replaceChildren();
    if (typeof value === "object") {
      const list = document.createElement("dl");
      for (const [name, told] of Object.entries(value)) {
        const term = document.createElement("dt");
        term.textContent = name;
        const meaning = document.createElement("dd");
        meaning.append(isolated(String(told)));
        list.append(term, meaning);
      }
      tip.append(list);
    } else {
      tip.append(isolated(String(value)));
    }
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const right = event.clientX + 14 + box.width > window.innerWidth;
    const below = event.clientY + 14 + box.height > window.innerHeight;
    tip.style.left = `${Math.max(4, right ? event.clientX - box.width - 10 : event.clientX + 14)}px`;
    tip.style.top = `${Math.max(4, below ? event.clientY - box.height - 10 : event.clientY + 14)}px`;
  }
  window.addEventListener("scroll", () => (tip.hidden = true), { passive: true, capture: true });

  // Charts: drawn when they come near, the others when there is time, all of them on paper

  const charts = [...document.querySelectorAll(".chart")];
  const themes = { light: JSON.parse(content("theme-light")), dark: JSON.parse(content("theme-dark")) };
  const views = new Map();
  const works = new Map();

  const specs = unpack("specs");
  const spec = async (id) => structuredClone((await specs)[id]);
  const options = (name) => ({
    mode: "vega-lite",
    ast: true,
    actions: false,
    // Errors alone: how layers share a legend is nothing for a reader's console.
    logLevel: 1,
    renderer: "svg",
    defaultStyle: false,
    tooltip,
    config: themes[name],
  });

  async function paint(chart) {
    const now = theme();
    if (chart.dataset.drawn === now) return;
    chart.dataset.drawn = now;
    chart.classList.remove("done");
    // Until it is known how wide the chart becomes, its box can be reached.
    const box = chart.closest(".scroll");
    if (box) box.tabIndex = 0;
    const inside = document.createElement("div");
    // The chart is told as one picture with its description; its parts are in the table.
    inside.setAttribute("aria-hidden", "true");
    chart.style.minHeight = `${chart.offsetHeight}px`;
    chart.replaceChildren(inside);
    views.get(chart)?.finalize();
    try {
      views.set(chart, await embed(inside, await spec(chart.dataset.chart), options(now)));
    } catch (error) {
      chart.textContent = `This chart could not be drawn: ${error.message}`;
      console.error(error);
    }
    chart.classList.add("done");
    // Measured when the chart has found its size.
    requestAnimationFrame(() => requestAnimationFrame(() => reach(box)));
    chart.style.minHeight = "";
  }

  // One after another for each chart: a second theme may be asked for while the first is drawn.
  const painted = (chart) => {
    const work = (works.get(chart) ?? Promise.resolve()).then(() => paint(chart));
    works.set(chart, work);
    return work;
  };

  const later = (work) =>
    window.requestIdleCallback ? window.requestIdleCallback(work, { timeout: 200 }) : setTimeout(work, 30);
  const distance = (chart) => {
    if (!chart.offsetParent) return Infinity;
    const box = chart.getBoundingClientRect();
    return Math.max(0, box.top - window.innerHeight, -box.bottom);
  };
  let busy = false;
  async function paintRest() {
    if (busy) return;
    busy = true;
    for (;;) {
      const left = charts.filter((chart) => chart.dataset.drawn !== theme());
      if (!left.length) break;
      const next = left.reduce((a, b) => (distance(b) < distance(a) ? b : a));
      await painted(next);
      if (distance(next) > 0) await new Promise((done) => later(done));
    }
    busy = false;
    root.dataset.charts = "drawn";
  }
  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => painted(entry.target)),
    { rootMargin: "600px" },
  );
  charts.forEach((chart) => near.observe(chart));
  listeners.push(() => {
    delete root.dataset.charts;
    paintRest();
  });
  later(paintRest);

  // Paper: light, with everything open

  let opened = [];
  window.addEventListener("beforeprint", () => {
    printing = true;
    opened = [...document.querySelectorAll("details.fold:not([open])")];
    opened.forEach((fold) => (fold.open = true));
    retheme();
    charts.forEach(painted);
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    opened.forEach((fold) => (fold.open = false));
    opened = [];
    retheme();
  });

  // Tables: the rows that are not there from the start, and files

  let stored = null;
  const tables = () => (stored ??= unpack("tables"));

  const languages = [["ja", /[\u3041-\u30ff]/], ["ko", /[\u1100-\u11ff\uac00-\ud7af]/], ["zh", /[\u3400-\u9fff\uf900-\ufaff]/]];

  function cell(text, tag, name) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (/^[\x20-\x7e]*$/.test(text)) {
      made.textContent = text;
    } else {
      const part = isolated(text);
      const found = languages.find(([, letters]) => letters.test(text));
      if (found) part.lang = found[0];
      made.append(part);
    }
    return made;
  }

  async function showRest(asked) {
    const id = asked.dataset.rest;
    const table = document.getElementById(id);
    const names = [...table.tHead.rows[0].cells].map((head) => head.className);
    const heads = "heads" in table.dataset;
    const { rest } = (await tables())[id];
    const rows = document.createDocumentFragment();
    for (const texts of rest) {
      const row = document.createElement("tr");
      texts.forEach((text, place) => {
        const made = cell(text, heads && !place ? "th" : "td", names[place]);
        if (heads && !place) made.scope = "row";
        row.append(made);
      });
      rows.append(row);
    }
    table.tBodies[0].append(rows);
    const line = asked.parentElement;
    line.textContent = `All ${table.tBodies[0].rows.length.toLocaleString("en")} rows.`;
    line.tabIndex = -1;
    line.focus();
    say(line.textContent);
  }

  function keep(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 30000);
    say(`${name} was made.`);
  }

  // A picture for paper: light, on white, as wide as the chart is here.
  async function picture(id, kind) {
    const chart = document.querySelector(`#${id} .chart`);
    const desk = document.createElement("div");
    desk.className = "desk";
    desk.style.width = `${Math.max(480, chart.clientWidth)}px`;
    document.body.append(desk);
    const made = await embed(desk, await spec(id), { ...options("light"), config: { ...themes.light, background: "#ffffff" } });
    try {
      if (kind === "svg") return new Blob([await made.view.toSVG()], { type: "image/svg+xml" });
      const canvas = await made.view.toCanvas(3);
      return await new Promise((done) => canvas.toBlob(done, "image/png"));
    } finally {
      made.finalize();
      desk.remove();
    }
  }

  async function save(asked) {
    const { save: kind, of: id } = asked.dataset;
    if (kind === "csv") {
      const { file, csv } = (await tables())[id];
      keep(file, new Blob([csv], { type: "text/csv;charset=utf-8" }));
    } else {
      const { file } = document.querySelector(`#${id} .chart`).dataset;
      keep(`${file}.${kind}`, await picture(id, kind));
    }
  }

  document.querySelectorAll("button[data-save], button[data-rest]").forEach((one) => (one.hidden = false));
  document.addEventListener("click", (event) => {
    const asked = event.target.closest("button[data-save], button[data-rest]");
    if (!asked) return;
    (asked.dataset.save ? save(asked) : showRest(asked)).catch((error) => {
      say(`That did not work: ${error.message}`);
      console.error(error);
    });
  });

  // A box that does not scroll needs no stop of the tab key

  function reach(box) {
    if (!box) return;
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
  const watched = new ResizeObserver((entries) => entries.forEach(({ target }) => reach(target.closest(".scroll"))));
  for (const box of document.querySelectorAll(".scroll")) {
    watched.observe(box);
    if (box.firstElementChild) watched.observe(box.firstElementChild);
  }

  // Where the reader is

  const links = new Map(
    [...document.querySelectorAll(".contents a")].map((link) => [link.getAttribute("href").slice(1), link]),
  );
  const seen = new Set();
  const place = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) seen.add(entry.target.id);
        else seen.delete(entry.target.id);
      }
      const first = [...links.keys()].find((id) => seen.has(id));
      for (const [id, link] of links) {
        if (id === first) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "-10% 0px -70% 0px" },
  );
  for (const id of links.keys()) {
    const part = document.getElementById(id);
    if (part) place.observe(part);
  }
})();
