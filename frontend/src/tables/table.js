/**
 * Tables: sorted, filtered, and drawn a window of rows at a time, so that 100,000 rows stay fast. What
 * is filtered, sorted and shown stands in the address: `#t=KEY&q=words&s=3d&c=0.1.4`.
 */

import { state } from "../core/address.js";
import { element, exchange, saveFile } from "../core/elements.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { cellContent, moveInName, tableCell } from "./cells.js";
import { makeChooser } from "./chooser.js";
import { chosenColumns, chosenText, dividedRoom, headWidth, firstColumns, isNumber, textWidths } from "./columns.js";
import { commaSeparated, tabSeparated } from "./export.js";
import { tableLabel, unloadedLine, unprintedLine } from "./lines.js";
import { PagedRows } from "./pages.js";
import { NUMBERS, hasSentences, matchingRows, mostDrawn, searchTexts, sortedRows } from "./rows.js";

const SPARE = 8;
const PRINTED = 2000;
const NARROW = 600;
/** Pixels of a row until one is drawn. */
const ROW = 27;

/** @typedef {import("./rows.js").Column} Column */
/** @typedef {import("./rows.js").TableData} TableData */

/** One table on a page. */
export class Table {
  /**
   * @param {HTMLElement} host
   * @param {string} key
   * @param {TableData} data
   */
  constructor(host, key, data) {
    this.key = key;
    this.widths = textWidths(data); // of the first rows, where there are more
    this.columns = firstColumns(data, (host.clientWidth || innerWidth) < NARROW);
    this.data = data;
    this.pages = new PagedRows(key, data.rows, data.pages);
    this.whole = /** @type {Promise<void> | null} */ (null); // under way
    this.failed = (/** @type {unknown} */ error) => void (this.counter.textContent = String(error));
    const told = hasSentences(data);
    this.windowed = data.rows.length > mostDrawn(data);
    /** @type {[number, "asc" | "desc"] | null} */
    this.sort = data.sort ?? null;
    /** @type {number[]} the rows that match, in their order */
    this.shown = [];
    /** @type {string[] | null} */
    this.haystack = null;
    this.selected = -1;
    this.drawn = "";
    /** @type {Map<string, HTMLElement>} the rows that are drawn */
    this.lines = new Map();
    this.rowHeight = 0;
    this.usual = chosenText(this.columns);
    this.look = { meanings: data.meanings ?? [], layouts: false };
    this.filter = this.makeFilter();
    this.counter = element("span.xr-count", { role: "status" });
    this.chooser = makeChooser(data, { columns: () => this.choose(), layouts: () => this.showLayouts() });
    this.body = element("tbody");
    this.head = element("tr", { "aria-rowindex": 1 });
    this.group = element("colgroup");
    this.table = element(told && !this.windowed ? "table.xr-data.xr-told" : "table.xr-data", {
      "aria-rowcount": data.rows.length + 1,
    });
    this.scroller = element("div.xr-table-scroll", { tabindex: 0, role: "region", "aria-label": tableLabel(host) });
    this.details = element("dl.xr-row-details", { hidden: true });
    this.build(host);
  }

  /** @param {HTMLElement} host */
  build(host) {
    this.table.append(this.group, element("thead", null, this.head), this.body);
    this.scroller.append(this.table);
    const bar = element("div.xr-table-bar", null, this.filter, this.counter, this.chooser, ...this.exports());
    host.replaceChildren(bar, this.scroller, this.details);
    bar.hidden = this.data.rows.length < 2 && this.data.columns.length <= this.columns.length;
    this.filter.hidden = this.data.rows.length < 2;
    this.scroller.addEventListener("scroll", () => requestAnimationFrame(() => this.drawRows()), { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.press(event));
    host.addEventListener("keydown", (event) => this.findHere(event));
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("keydown", moveInName);
    window.addEventListener("beforeprint", () => this.drawRows(true));
    window.addEventListener("afterprint", () => this.update());
    window.addEventListener("hashchange", () => this.readState(host));
    this.arrange();
    this.readState(host);
    new ResizeObserver(() => this.resized()).observe(this.scroller);
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

  exports() {
    const button = (/** @type {string} */ words, /** @type {string} */ title, /** @type {() => void} */ action) =>
      element("button.xr-button", { type: "button", title, onclick: action }, words);
    return [
      button("Copy", "Copy the matching rows, all columns, as tab-separated values", () => this.copy()),
      button("CSV", "Save the matching rows, all columns, as a CSV file", () => this.save()),
    ];
  }

  async copy() {
    await this.complete();
    const text = tabSeparated(this.data, this.shown);
    try {
      await navigator.clipboard.writeText(text);
      this.counter.textContent = `${format.plural(this.shown.length, "row")} copied`;
    } catch {
      this.counter.textContent = "The browser does not let this page copy; CSV saves the rows.";
    }
  }

  async save() {
    await this.complete();
    const text = commaSeparated(this.data, this.shown);
    saveFile(new Blob([text], { type: "text/csv" }), `${this.key.replaceAll("/", "-")}.csv`);
  }

  choose() {
    const boxes = [...this.data.columns.keys()].map((index) => this.checkbox(`c${index}`));
    const shown = [...boxes.keys()].filter((index) => boxes[index]?.checked);
    if (shown.length) this.columns = shown;
    this.arrange();
    this.changed();
  }

  showLayouts() {
    this.look.layouts = this.checkbox("layouts")?.checked ?? false;
    this.redraw();
  }

  /** @param {string} name */
  checkbox(name) {
    return /** @type {HTMLInputElement | null} */ (this.chooser.querySelector(`[name="${name}"]`));
  }

  /** Puts the columns that are shown side by side. */
  arrange() {
    this.heads = new Map(this.columns.map((index) => [index, this.makeHead(index)]));
    this.head.replaceChildren(...this.heads.values());
    const summary = /** @type {HTMLElement} */ (this.chooser.firstElementChild);
    const [shown, all] = [this.columns.length, this.data.columns.length];
    summary.textContent = shown === all ? "Columns" : `Columns: ${shown} of ${all}`;
    for (const index of this.data.columns.keys()) {
      const box = this.checkbox(`c${index}`);
      if (box) box.checked = this.columns.includes(index);
    }
    this.setWidths();
  }

  /** @param {number} index */
  makeHead(index) {
    const column = this.data.columns[index];
    const button = element("button", { type: "button", onclick: () => this.sortBy(index) }, column.title);
    if (column.help) button.dataset.meaning = column.help;
    const look = NUMBERS.has(column.kind) ? "th.xr-number" : "th";
    return element(look, { scope: "col" }, button);
  }

  setWidths() {
    const wanted = this.columns.map((index) => this.widths[index]);
    const shown = this.columns.map((index) => this.data.columns[index]);
    const character = Number.parseFloat(getComputedStyle(this.table).fontSize) * 0.6 || 8;
    const room = this.scroller.clientWidth / character;
    const told = shown.map(({ kind }) => kind === "sentence");
    const divided = dividedRoom(wanted, shown.map(isNumber), room || 120, told, shown.map(headWidth));
    const total = divided.reduce((sum, width) => sum + width, 0);
    const columns = divided.map((width) => element("col", { style: `width: ${(100 * width) / total}%` }));
    this.group.replaceChildren(...columns);
    const wide = total > room + 0.01;
    this.table.style.minWidth = wide ? `${total * character}px` : "";
    this.table.classList.toggle("xr-frozen", wide); // a cell that sticks costs a layer, so only where it moves
  }

  resized() {
    this.setWidths();
    this.drawRows();
  }

  /** @param {HTMLElement} host */
  readState(host) {
    if (state.get("t") !== this.key) return void this.update();
    const sort = /^(\d+)([ad])$/.exec(state.get("s") ?? "");
    if (sort && Number(sort[1]) < this.data.columns.length) {
      this.sort = [Number(sort[1]), sort[2] === "a" ? "asc" : "desc"];
    }
    const columns = chosenColumns(state.get("c"), this.data.columns.length);
    if (columns) {
      this.columns = columns;
      this.arrange();
    }
    this.filter.value = state.get("q") ?? "";
    this.update();
    host.scrollIntoView({ block: "start" });
  }

  changed() {
    const sort = this.sort ? `${this.sort[0]}${this.sort[1][0]}` : null;
    const columns = chosenText(this.columns);
    state.set({ t: this.key, q: this.filter.value, s: sort, c: columns === this.usual ? null : columns });
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

  /** Loads all rows, as far as they are not there. */
  async complete() {
    if (this.pages.complete) return;
    const total = format.plural(this.data.rows.length, "row");
    const told = (/** @type {number} */ loaded) => {
      this.counter.textContent = `Loading: ${format.count(loaded)} of ${total}`;
    };
    this.whole ??= this.pages.loadAll(told).then(() => this.update(), this.failed);
    await this.whole;
    this.whole = null;
  }

  /** Whether the rows stand in the order of their payloads, without a filter. */
  get asWritten() {
    const first = this.data.sort;
    return !this.filter.value.trim() && this.sort?.[0] === first?.[0] && this.sort?.[1] === first?.[1];
  }

  update() {
    if (!this.pages.complete && !this.asWritten) return void this.complete();
    this.shown = this.matching();
    const standing = this.data.pages && this.asWritten;
    if (this.sort && !standing) this.shown = sortedRows(this.data.rows, this.shown, ...this.sort);
    for (const [index, head] of this.heads ?? []) {
      const direction = this.sort?.[0] === index ? this.sort[1] : "";
      head.setAttribute("aria-sort", direction ? `${direction}ending` : "none");
    }
    const total = format.plural(this.data.rows.length, "row");
    const all = this.shown.length === this.data.rows.length;
    this.counter.textContent = all ? total : `${format.count(this.shown.length)} of ${total}`;
    this.scroller.scrollTop = 0;
    this.redraw();
  }

  redraw() {
    this.drawn = "";
    this.lines.clear();
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
    const [first, last] = printing ? [0, Math.min(total, PRINTED, this.pages.beginning)] : this.range(total);
    if (this.drawn === `${first} ${last}` && !printing) return;
    this.drawn = `${first} ${last}`;
    const rows = this.shown.slice(first, last).map((row, offset) => this.line(row, first + offset));
    this.lines = new Map(rows.filter((line) => line.dataset.row).map((line) => [line.dataset.row ?? "", line]));
    const after =
      printing && total > last
        ? unprintedLine(total - last, this.columns.length)
        : this.gap(printing ? 0 : total - last);
    exchange(this.body, [this.gap(first), ...rows, after]);
    if (!this.rowHeight && this.windowed && rows.length) {
      this.rowHeight = rows[0].getBoundingClientRect().height;
      if (this.rowHeight) this.redraw();
    }
  }

  /**
   * @param {number} total
   * @returns {[number, number]} the rows in sight and a few around them
   */
  range(total) {
    if (!this.windowed) return [0, total];
    const height = this.rowHeight || ROW;
    const seen = Math.ceil((this.scroller.clientHeight || 600) / height);
    const top = Math.floor(this.scroller.scrollTop / height / SPARE) * SPARE;
    return [Math.max(0, top - SPARE), Math.min(total, top + seen + 2 * SPARE)];
  }

  /** @param {number} rows how many rows are not drawn here */
  gap(rows) {
    const gap = element("tr.xr-gap", { "aria-hidden": "true" }, element("td", { colspan: this.columns.length }));
    gap.style.height = `${rows * (this.rowHeight || ROW)}px`;
    gap.hidden = rows <= 0;
    return gap;
  }

  drawEmpty() {
    const none = !this.data.rows.length;
    const words = none ? (this.data.empty ?? "Nothing to show.") : `No row contains \u201c${this.filter.value}\u201d.`;
    const clear = element("button.xr-button", { type: "button", onclick: () => this.clear() }, "Show all rows");
    const cell = element("td.xr-empty", { colspan: this.columns.length }, words, " ", !none && clear);
    this.body.replaceChildren(element("tr", null, cell));
    this.drawn = "";
    this.lines.clear();
  }

  clear() {
    this.filter.value = "";
    this.changed();
    this.filter.focus();
  }

  /**
   * Returns the line of a row, the one that is drawn where it is.
   * @param {number} row
   * @param {number} place
   */
  line(row, place) {
    return this.lines.get(String(row)) ?? this.makeRow(row, place);
  }

  /**
   * @param {number} row
   * @param {number} place
   */
  makeRow(row, place) {
    const { columns, rows } = this.data;
    if (!rows[row]) {
      this.pages.loadAt(row).then(() => this.redraw(), this.failed);
      return unloadedLine(place, this.columns.length);
    }
    const cells = this.columns.map((index) => tableCell(columns[index], rows[row][index], this.look));
    const selected = row === this.selected ? "tr.xr-selected" : "tr";
    return element(selected, { "aria-rowindex": place + 2, "data-row": row }, ...cells);
  }

  /** @param {Event} event */
  click(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const line = /** @type {HTMLElement | null} */ (target.closest("tr[data-row]"));
    if (line && !target.closest("a")) this.select(Number(line.dataset.row));
  }

  /**
   * Shows a row with all its columns below the table; the same row once more hides it.
   * @param {number} row
   */
  select(row) {
    this.selected = row === this.selected ? -1 : row;
    this.details.hidden = this.selected < 0;
    const look = { ...this.look, whole: true };
    const pairs = this.data.columns.map((column, index) =>
      element(
        "div",
        null,
        element("dt", null, column.title),
        element("dd", null, cellContent(column, this.data.rows[row][index], look)),
      ),
    );
    this.details.replaceChildren(...pairs);
    for (const drawn of this.body.querySelectorAll("tr[data-row]")) {
      drawn.classList.toggle("xr-selected", drawn.getAttribute("data-row") === String(this.selected));
    }
  }

  /** @param {KeyboardEvent} event arrow keys on the table go from row to row */
  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target !== this.scroller || !this.shown.length) return;
    event.preventDefault();
    const at = this.shown.indexOf(this.selected);
    const place = at < 0 ? this.range(this.shown.length)[0] : at + step;
    if (place < 0 || place >= this.shown.length || !this.data.rows[this.shown[place]]) return;
    this.select(this.shown[place]);
    this.reveal(place);
  }

  /** @param {number} place of a row among those shown */
  reveal(place) {
    const height = this.rowHeight || this.body.querySelector("tr[data-row]")?.getBoundingClientRect().height || ROW;
    const [top, room] = [place * height, this.scroller.clientHeight - 2 * height];
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    if (top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
  }

  /** @param {KeyboardEvent} event the browser finds only rows that are drawn, the filter finds all */
  findHere(event) {
    const find = event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if (!find || !this.windowed || event.target === this.filter) return;
    event.preventDefault();
    this.filter.focus();
    this.filter.select();
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
