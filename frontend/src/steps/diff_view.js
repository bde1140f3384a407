/**
 * The difference of a step on the screen: of any number of lines only those in sight are drawn, each in
 * one row of the same height. The first lines come with the step, the others in chunks after it. A click
 * on a row shows its line in full.
 */

import { element, errorMessage, exchange, failure } from "../core/elements.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { compareLines, loudLength, readDiff, written } from "./diff.js";

const SPARE = 10;
/** Rows that are drawn before their height is known. */
const FIRST = 50;
const PRINTED = 2000;
/** Characters of a line that a row holds. */
const WIDEST = 1000;

/** @typedef {import("./diff.js").Hunk} Hunk */
/** @typedef {import("./diff.js").Line} Line */
/** @typedef {import("../../types/payloads").Diff} Diff */
/** @typedef {import("../../types/payloads").DiffLines} DiffLines */
/** @typedef {{title: string} | {line: Line, side?: "from" | "to"}} Row */

const LOOKS = /** @type {Record<string, [string, string, string]>} */ ({
  "+": ["xr-added", "+", "added"],
  "-": ["xr-removed", "\u2212", "removed"],
  "~": ["xr-changed", "~", "changed"],
  "<": ["xr-moved", "\u2191", "earlier in the schedule"],
  ">": ["xr-moved", "\u2193", "later in the schedule"],
  " ": ["xr-same", " ", ""],
});

/**
 * Returns the rows of a difference: a title for each computation, two rows for a line that changed.
 * @param {Hunk[]} hunks
 * @param {string} filter words that a line must contain
 * @param {boolean} ordered whether lines that only stand elsewhere are shown
 * @param {boolean} [titled] whether the title of the first hunk is there, if it began before these
 * @returns {Row[]}
 */
export function diffRows(hunks, filter, ordered, titled = false) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (/** @type {Line} */ { sign, text, other = "" }) => {
    const searched = `${text} ${other}`.toLowerCase();
    return sign !== " " && words.every((word) => searched.includes(word));
  };
  const wanted = (/** @type {Line} */ line) =>
    (ordered || !(line.sign in MOVED) || line.text !== line.other) && (!words.length || has(line));
  let isTitled = titled;
  return hunks.flatMap(({ computation, lines, continued = false }) => {
    isTitled &&= continued;
    const shown = lines.filter(wanted);
    if (!isTitled && !shown.some(({ sign }) => sign !== " ")) return [];
    const title = isTitled ? [] : [{ title: computation }];
    isTitled = true;
    return [...title, ...shown.flatMap(lineRows)];
  });
}

const MOVED = { "<": true, ">": true };

/** @param {Line} line @returns {Row[]} */
const lineRows = (line) =>
  line.other !== undefined && line.other !== line.text
    ? [
        { line, side: "from" },
        { line, side: "to" },
      ]
    : [{ line }];

/** @param {Row} row */
const textOf = (row) => ("title" in row ? row.title : row.side === "to" ? (row.line.other ?? "") : row.line.text);

/** @param {Row} row */
function drawRow(row) {
  if ("title" in row) {
    return element("div.xr-hunk-title", { role: "heading", "aria-level": 4 }, element("code", null, row.title));
  }
  const { line, side } = row;
  const [look, shown, words] = LOOKS[line.sign] ?? LOOKS[" "];
  const changed = line.sign === "~" && side ? `changed ${side}` : words;
  const drawn = element(
    `div.xr-line.${look}`,
    null,
    element("span.xr-sign", { "aria-hidden": "true" }, shown),
    changed && element("span.xr-hidden", null, `${changed}: `),
    line.places && side !== "to" && element("span.xr-places", null, line.places.map(format.count).join(" \u2192 ")),
    element("span.xr-text", null, ...written(pieces(row))),
  );
  if (side) drawn.classList.add(`xr-${side}`);
  return drawn;
}

/** @param {Row} row of a line @returns {import("./diff.js").Piece[]} */
function pieces(row) {
  if ("title" in row || !row.side) return [{ text: textOf(row), changed: false }];
  const [before, after] = compareLines(row.line.text, row.line.other ?? "");
  return row.side === "from" ? before : after;
}

/** The rows of a difference in a box that scrolls. */
class DiffView {
  /** @param {Hunk[]} hunks */
  constructor(hunks) {
    this.hunks = hunks;
    /** @type {Row[]} */
    this.rows = [];
    this.longest = 0;
    this.height = 0;
    this.drawn = "";
    /** @type {Map<number, HTMLElement>} the rows that are drawn */
    this.nodes = new Map();
    this.filter = element("input.xr-filter", {
      type: "search",
      placeholder: "Filter: words that a line must contain",
      "aria-label": "Filter lines",
      spellcheck: "false",
      oninput: () => this.update(),
    });
    this.lines = element("div.xr-lines");
    this.all = element("div.xr-diff-all", null, this.lines);
    this.scroller = element("div.xr-diff-scroll", { tabindex: 0, role: "region", "aria-label": "HLO diff" }, this.all);
    this.whole = element("pre.xr-diff-whole", { hidden: true, tabindex: 0, role: "region", "aria-label": "The line" });
    this.hush = element("input", { type: "checkbox", onchange: () => this.hushed() });
    this.hush.checked = remembered() !== "no";
    this.order = element("input", { type: "checkbox", checked: true, onchange: () => this.update() });
    this.ordering = element("label", { hidden: true }, this.order, " Schedule order");
    this.scroller.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    this.lines.addEventListener("click", (event) => this.select(event));
    window.addEventListener("beforeprint", () => this.scroller.isConnected && this.draw(true));
    window.addEventListener("afterprint", () => this.scroller.isConnected && this.update());
    new ResizeObserver(() => this.resized()).observe(this.scroller);
  }

  /** @returns {HTMLElement[]} what chooses among the lines */
  choices() {
    return [this.filter, this.ordering, element("label", null, this.hush, " Hide metadata")];
  }

  /** Hides metadata or shows it, and remembers that from page to page. */
  hushed() {
    remember(this.hush.checked ? "yes" : "no");
    this.update();
  }

  /** Draws again once the browser has laid the rows out: to ask for a height before would lay out the page once more. */
  resized() {
    this.height ||= this.lines.firstElementChild?.getBoundingClientRect().height ?? 0;
    this.draw();
  }

  update() {
    if (this.height) this.scroller.scrollTop = 0;
    this.rows = [];
    this.longest = 0;
    this.scroller.classList.toggle(HUSH, this.hush.checked);
    this.nodes.clear();
    this.take(this.hunks);
  }

  /**
   * Puts further hunks below those that are there; what is in sight stays in sight.
   * @param {Hunk[]} hunks
   */
  append(hunks) {
    this.hunks.push(...hunks);
    this.take(hunks);
  }

  /** @param {Hunk[]} hunks whose rows come last */
  take(hunks) {
    if (hunks.some(({ lines }) => lines.some(({ sign }) => sign in MOVED))) this.ordering.hidden = false;
    const length = this.hush.checked ? loudLength : (/** @type {string} */ text) => text.length;
    for (const row of diffRows(hunks, this.filter.value, this.order.checked, this.rows.length > 0)) {
      this.rows.push(row);
      this.longest = Math.max(this.longest, length(textOf(row)));
    }
    this.all.style.minWidth = `${Math.min(this.longest, WIDEST) + 20}ch`;
    this.drawn = "";
    this.draw();
  }

  /** @param {boolean} [printing] draw all that fits on paper */
  draw(printing = false) {
    const [first, last] = printing ? [0, Math.min(PRINTED, this.rows.length)] : this.range();
    if (this.drawn === `${first} ${last}` && !printing) return;
    this.drawn = `${first} ${last}`;
    this.first = first;
    const former = this.nodes;
    this.nodes = new Map();
    for (let at = first; at < last; at += 1) this.nodes.set(at, former.get(at) ?? drawRow(this.rows[at]));
    const rows = /** @type {Element[]} */ ([...this.nodes.values()]);
    const left = printing ? this.rows.length - last : 0;
    if (left > 0) {
      rows.push(element("p.xr-empty", null, `${format.plural(left, "more line")} not printed; scroll here for all.`));
    }
    exchange(this.lines, rows.length ? rows : [element("p.xr-empty", null, "No line contains these words.")]);
    this.lines.style.transform = printing ? "" : `translateY(${first * this.rowHeight}px)`;
    this.all.style.height = printing ? "" : `${Math.max(1, this.rows.length) * this.rowHeight}px`;
  }

  get rowHeight() {
    return this.height || 20;
  }

  /** @returns {[number, number]} the rows in sight and a few around them */
  range() {
    if (!this.height) return [0, Math.min(this.rows.length, FIRST)];
    const seen = Math.ceil((this.scroller.clientHeight || 600) / this.rowHeight);
    const top = Math.floor(this.scroller.scrollTop / this.rowHeight / SPARE) * SPARE;
    return [Math.max(0, top - SPARE), Math.min(this.rows.length, top + seen + 2 * SPARE)];
  }

  /** @param {Event} event */
  select(event) {
    const target = event.target instanceof Element ? event.target.closest(".xr-lines > *") : null;
    if (!target || !getSelection()?.isCollapsed) return;
    const row = this.rows[(this.first ?? 0) + [...this.lines.children].indexOf(target)];
    if (!row) return;
    this.whole.hidden = false;
    this.whole.replaceChildren(element("code.xr-text", null, ...written(pieces(row))));
  }
}

/**
 * Draws a text difference, its lines when they are loaded.
 * @param {Diff} diff
 * @returns {HTMLElement}
 */
export function drawDiff(diff) {
  const words = element("span", null, summary(diff));
  const state = element("span.xr-muted", { role: "status" });
  const options = element("div.xr-diff-bar", null, words, state);
  const box = element("div.xr-diff", null, options);
  const fail = (/** @type {unknown} */ error) =>
    box.append(failure(`Not all lines can be shown. ${errorMessage(error)}`));
  readDiff(diff).then((hunks) => {
    const view = new DiffView(hunks);
    options.append(...view.choices());
    box.append(view.scroller, view.whole);
    view.update();
    if (diff.more?.length) loadFurther(view, diff.more, state).catch(fail);
  }, fail);
  return box;
}

/** @param {Diff} diff */
function summary({ total, shown, note }) {
  const words =
    total > shown
      ? `The first ${format.count(shown)} of ${format.plural(total, "changed line")} are shown; the HLO tab has the rest.`
      : `${format.plural(total, "changed line")}.`;
  return note ? `${words} ${note}` : words;
}

/**
 * Loads the lines that are not in the payload of the step, chunk by chunk, while the step is on the page.
 * @param {DiffView} view
 * @param {string[]} keys
 * @param {HTMLElement} state says how many are missing yet
 */
async function loadFurther(view, keys, state) {
  for (const [at, key] of keys.entries()) {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    if (!view.scroller.isConnected) return;
    state.textContent = `Loading lines: part ${at + 1} of ${keys.length}.`;
    view.append(await readDiff(/** @type {DiffLines} */ (await load(key))));
  }
  state.textContent = "";
}

const HUSH = "xr-hush";

function remembered() {
  try {
    return localStorage.getItem(HUSH);
  } catch {
    return null;
  }
}

/** @param {string} value */
function remember(value) {
  try {
    localStorage.setItem(HUSH, value);
  } catch {
    // A browser that keeps nothing shows the usual way next time.
  }
}
