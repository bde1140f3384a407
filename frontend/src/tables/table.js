/**
 * Tables: sorted, filtered, and drawn a window of rows at a time, so that 100,000 rows stay fast.
 * What is filtered and sorted stands in the address: `#t=KEY&q=words&s=3d`.
 */

import { insideReport, root, state } from "../core/address.js";
import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { entryAddress, nameLink } from "../names/words.js";
import { NUMBERS, cellText, formatted, matchingRows, searchTexts, sortedRows } from "./rows.js";

/** Rows beyond which cells stay on one line and only those in sight are drawn. */
const WINDOWED = 200;
const SPARE = 12;
const PRINTED = 2000;
const WIDEST = 64;
const SHORT = 24;

/** @typedef {import("./rows.js").Column} Column */
/** @typedef {import("./rows.js").Name} Name */
/** @typedef {import("./rows.js").Meaning} Meaning */
/** @typedef {import("./rows.js").Cell} Cell */
/** @typedef {import("./rows.js").TableData} TableData */

/**
 * Lets a long name break behind its separators, not in the middle of a word.
 * @param {string} name
 */
const breakable = (name) =>
  name.split(/(?<=[._/])(?=.)/).flatMap((part, place) => (place ? [element("wbr"), part] : [part]));

/**
 * Writes a name so that each of its parts says what it means when pointed at or moved to. The
 * first part is in the order of the tab key; arrow keys go to the others.
 * @param {Name} name
 * @param {Meaning[]} meanings
 * @param {boolean} windowed
 */
function takenApart([name, parts], meanings, windowed) {
  const pieces = /** @type {Node[]} */ ([]);
  for (let place = 0, start = 0; place < parts.length; place += 2) {
    const part = name.slice(start, (start += parts[place]));
    const meaning = meanings[parts[place + 1]];
    const shown = windowed ? [part] : breakable(part);
    pieces.push(meaning ? explained(meaning, shown) : element("span", null, ...shown));
    if (!windowed) pieces.push(element("wbr"));
  }
  const whole = element("code.xr-apart", null, ...pieces);
  whole.querySelector("a")?.removeAttribute("tabindex");
  return whole;
}

/**
 * @param {Meaning} meaning
 * @param {(Node | string)[]} shown
 */
function explained(meaning, shown) {
  const [sentence, word] = typeof meaning === "string" ? [meaning, ""] : meaning;
  const href = word ? entryAddress(word) : `${root}names.html#file-names`;
  const further = word.startsWith("pass:") ? word : null;
  return element("a.xr-part", { "data-meaning": sentence, "data-further": further, href, tabindex: -1 }, ...shown);
}

/** @param {KeyboardEvent} event arrow keys in a name that is taken apart */
function moveInName(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const parts = [...(target.closest(".xr-apart")?.querySelectorAll("a") ?? [])];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const next = step && parts[parts.indexOf(/** @type {HTMLAnchorElement} */ (target)) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/**
 * Writes a name that explains itself and leads to its entry.
 * @param {Column} column
 * @param {string} name
 * @param {boolean} windowed
 */
function asked({ kind, of }, name, windowed) {
  const shown = windowed ? [name] : breakable(name);
  return nameLink(of ?? "", name, ...(kind === "code" ? [element("code", null, ...shown)] : shown));
}

/**
 * @param {Column} column
 * @param {Cell} cell
 * @param {Meaning[]} meanings
 * @param {boolean} [windowed] every row has the same height, so nothing may break
 * @returns {Node}
 */
function content(column, cell, meanings, windowed = false) {
  if (cell === null) return element("span.xr-unknown", { title: "not known" }, format.unknown);
  if (column.kind === "name" && Array.isArray(cell)) return takenApart(/** @type {Name} */ (cell), meanings, windowed);
  const shown = formatted(column, cell);
  if (column.kind === "link" && Array.isArray(cell) && typeof cell[1] === "string") {
    const word = column.of ? `${column.of}:${shown}` : null;
    return element("a", { href: insideReport(cell[1]), "data-word": word }, shown);
  }
  if (column.of) return asked(column, shown, windowed);
  if (column.kind === "chip") {
    const look = Array.isArray(cell) && typeof cell[1] === "string" && /^[a-z-]+$/.test(cell[1]) ? `.${cell[1]}` : "";
    return element(`span.xr-chip${look}`, null, shown);
  }
  if (column.kind === "code") return element("code", null, ...(windowed ? [shown] : breakable(shown)));
  return document.createTextNode(shown);
}

/** One table on a page. */
export class Table {
  /**
   * @param {HTMLElement} host
   * @param {string} key
   * @param {TableData} data
   */
  constructor(host, key, data) {
    this.key = key;
    this.data = data;
    this.windowed = data.rows.length > WINDOWED;
    /** @type {[number, "asc" | "desc"] | null} */
    this.sort = data.sort ?? null;
    /** @type {number[]} */
    this.shown = [];
    /** @type {string[] | null} */
    this.haystack = null;
    this.selected = -1;
    this.first = -1;
    this.rowHeight = 0;
    this.filter = this.makeFilter();
    this.counter = element("span.xr-count", { role: "status" });
    this.body = element("tbody");
    this.heads = data.columns.map((column, index) => this.makeHead(column, index));
    this.table = element("table.xr-data", { "aria-rowcount": data.rows.length + 1 });
    this.scroller = element("div.xr-table-scroll", { tabindex: 0, role: "region", "aria-label": this.label(host) });
    this.details = element("dl.xr-row-details", { hidden: true });
    this.build(host);
  }

  /** @param {HTMLElement} host */
  label(host) {
    let before = /** @type {Element | null} */ (host);
    while (before && !/^H[1-6]$/.test(before.tagName)) before = before.previousElementSibling;
    return `Table: ${before?.firstChild?.textContent ?? document.title}`;
  }

  /** @param {HTMLElement} host */
  build(host) {
    if (this.windowed) this.setWidths();
    this.table.append(element("thead", null, element("tr", { "aria-rowindex": 1 }, ...this.heads)), this.body);
    this.scroller.append(this.table);
    const bar = element("div.xr-table-bar", null, this.filter, this.counter);
    host.replaceChildren(bar, this.scroller, this.details);
    host.classList.toggle("xr-windowed", this.windowed);
    bar.hidden = this.data.rows.length < 2;
    this.scroller.addEventListener("scroll", () => requestAnimationFrame(() => this.drawRows()), { passive: true });
    this.body.addEventListener("click", (event) => this.select(event));
    this.body.addEventListener("keydown", moveInName);
    window.addEventListener("beforeprint", () => this.drawRows(true));
    window.addEventListener("afterprint", () => this.update());
    window.addEventListener("resize", () => this.drawRows());
    window.addEventListener("hashchange", () => this.readState(host));
    this.update();
    this.readState(host);
  }

  makeFilter() {
    const placeholder = this.data.filter_placeholder ?? "Filter: words that a row must contain";
    return element("input.xr-filter", {
      type: "search",
      placeholder,
      "aria-label": placeholder,
      spellcheck: "false",
      oninput: () => this.changed(),
    });
  }

  /**
   * @param {Column} column
   * @param {number} index
   */
  makeHead(column, index) {
    const button = element("button", { type: "button", onclick: () => this.sortBy(index) }, column.title);
    if (column.help) button.dataset.meaning = column.help;
    const look = NUMBERS.has(column.kind) ? "th.xr-number" : "th";
    return element(look, { scope: "col" }, button);
  }

  /** Gives every column the room of its longest text; rows out of sight would change it later. */
  setWidths() {
    const widths = this.data.columns.map((column, index) => {
      let longest = column.title.length + 2;
      for (const row of this.data.rows) longest = Math.max(longest, formatted(column, row[index]).length);
      return Math.min(longest, WIDEST) + 3;
    });
    const total = widths.reduce((sum, width) => sum + width, 0);
    const columns = widths.map((width) => element("col", { style: `width: ${(100 * width) / total}%` }));
    this.table.append(element("colgroup", null, ...columns));
    this.table.style.minWidth = `${total}ch`;
  }

  /** @param {HTMLElement} host */
  readState(host) {
    if (state.get("t") !== this.key) return;
    const sort = /^(\d+)([ad])$/.exec(state.get("s") ?? "");
    if (sort && Number(sort[1]) < this.data.columns.length) {
      this.sort = [Number(sort[1]), sort[2] === "a" ? "asc" : "desc"];
    }
    this.filter.value = state.get("q") ?? "";
    this.update();
    host.scrollIntoView({ block: "start" });
  }

  changed() {
    const sort = this.sort ? `${this.sort[0]}${this.sort[1][0]}` : null;
    state.set({ t: this.key, q: this.filter.value, s: sort });
    this.update();
  }

  /** @param {number} index */
  sortBy(index) {
    const numeric = NUMBERS.has(this.data.columns[index].kind);
    const order = /** @type {("asc" | "desc")[]} */ (numeric ? ["desc", "asc"] : ["asc", "desc"]);
    const now = this.sort?.[0] === index ? order.indexOf(this.sort[1]) : -1;
    this.sort = now === 1 ? null : [index, order[now + 1]];
    this.changed();
  }

  update() {
    this.shown = this.matching();
    if (this.sort) this.shown = sortedRows(this.data.rows, this.shown, ...this.sort);
    for (const [index, head] of this.heads.entries()) {
      const direction = this.sort?.[0] === index ? this.sort[1] : "";
      head.setAttribute("aria-sort", direction ? `${direction}ending` : "none");
    }
    const total = format.plural(this.data.rows.length, "row");
    const all = this.shown.length === this.data.rows.length;
    this.counter.textContent = all ? total : `${format.count(this.shown.length)} of ${total}`;
    this.scroller.scrollTop = 0;
    this.first = -1;
    this.drawRows();
  }

  /** @returns {number[]} the rows that contain every word of the filter */
  matching() {
    if (!this.filter.value.trim()) return [...this.data.rows.keys()];
    this.haystack ??= searchTexts(this.data.rows);
    return matchingRows(this.haystack, this.filter.value);
  }

  /** @param {boolean} [printing] draw all that fits on paper */
  drawRows(printing = false) {
    const total = this.shown.length;
    if (!total) return this.drawEmpty();
    const [first, last] = printing ? [0, Math.min(total, PRINTED)] : this.range(total);
    if (first === this.first && !printing) return;
    this.first = first;
    const rows = this.shown.slice(first, last).map((row, offset) => this.makeRow(row, first + offset));
    this.body.replaceChildren(this.gap(first), ...rows, this.gap(printing ? 0 : total - last));
    if (!this.rowHeight && this.windowed && rows.length) {
      this.rowHeight = rows[0].getBoundingClientRect().height;
      this.first = -1;
      this.drawRows();
    }
  }

  /**
   * @param {number} total
   * @returns {[number, number]} the rows in sight and a few around them
   */
  range(total) {
    if (!this.windowed) return [0, total];
    const height = this.rowHeight || 30;
    const seen = Math.ceil((this.scroller.clientHeight || 600) / height);
    const top = Math.floor(this.scroller.scrollTop / height / SPARE) * SPARE;
    return [Math.max(0, top - SPARE), Math.min(total, top + seen + 2 * SPARE)];
  }

  /** @param {number} rows how many rows are not drawn here */
  gap(rows) {
    const gap = element("tr.xr-gap", { "aria-hidden": "true" }, element("td", { colspan: this.heads.length }));
    gap.style.height = `${rows * this.rowHeight}px`;
    gap.hidden = rows <= 0;
    return gap;
  }

  drawEmpty() {
    const none = !this.data.rows.length;
    const words = none ? (this.data.empty ?? "Nothing to show.") : `No row contains \u201c${this.filter.value}\u201d.`;
    const clear = element("button.xr-button", { type: "button", onclick: () => this.clear() }, "Show all rows");
    const cell = element("td.xr-empty", { colspan: this.heads.length }, words, " ", !none && clear);
    this.body.replaceChildren(element("tr", null, cell));
    this.first = -1;
  }

  clear() {
    this.filter.value = "";
    this.changed();
    this.filter.focus();
  }

  /**
   * @param {number} row
   * @param {number} place
   */
  makeRow(row, place) {
    const cells = this.data.columns.map((column, index) => {
      const cell = this.data.rows[row][index];
      return element(
        this.look(column, cell),
        { title: this.title(column, cell) },
        content(column, cell, this.data.meanings ?? [], this.windowed),
      );
    });
    const selected = row === this.selected ? "tr.xr-selected" : "tr";
    return element(selected, { "aria-rowindex": place + 2, "data-row": row }, ...cells);
  }

  /**
   * @param {Column} column
   * @param {Cell} cell
   */
  look(column, cell) {
    if (NUMBERS.has(column.kind)) return "td.xr-number";
    if (cellText(cell).length <= SHORT) return "td.xr-short";
    return column.kind === "code" || column.kind === "name" ? "td.xr-mono" : "td";
  }

  /**
   * @param {Column} column
   * @param {Cell} cell
   */
  title(column, cell) {
    const scaled = column.kind === "bytes" || column.kind === "flops";
    if (scaled && typeof cell === "number") return `${format.count(cell)} ${column.kind}`;
    return this.windowed && cell !== null && cellText(cell).length > 24 ? cellText(cell) : null;
  }

  /**
   * Shows a row in full below the table: on one line its cells may be cut.
   * @param {Event} event
   */
  select(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const line = /** @type {HTMLElement | null} */ (target.closest("tr[data-row]"));
    if (!this.windowed || !line || target.closest("a")) return;
    const row = Number(line.dataset.row);
    this.selected = row === this.selected ? -1 : row;
    this.details.hidden = this.selected < 0;
    const pairs = this.data.columns.map((column, index) =>
      element(
        "div",
        null,
        element("dt", null, column.title),
        element("dd", null, content(column, this.data.rows[row][index], this.data.meanings ?? [])),
      ),
    );
    this.details.replaceChildren(...pairs);
    for (const drawn of this.body.children) drawn.classList.toggle("xr-selected", drawn === line && this.selected >= 0);
  }
}

/**
 * Draws a table.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export async function drawTable(host, key) {
  host.setAttribute("aria-busy", "true");
  const { columns, ...table } = await /** @type {Promise<Payload<"table">>} */ (load(key));
  const heads = typeof columns === "string" ? (await load("columns"))[columns] : columns;
  new Table(host, key, { columns: heads, ...table });
  host.removeAttribute("aria-busy");
}
