/** Cells of a table as nodes: names that explain themselves, links, chips, shapes without their layouts. */

import { insideReport, root } from "../core/address.js";
import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { FILE_NAMES } from "../core/pages.js";
import { entryAddress, nameLink } from "../names/words.js";
import { NUMBERS, bareShape, cellText, formatted } from "./rows.js";

/** Characters up to which a text is never cut. */
const SHORT = 12;

/** Characters at the end of a name, among which its number stays in sight. */
const END = 10;

/** @typedef {import("./rows.js").Column} Column */
/** @typedef {import("./rows.js").Name} Name */
/** @typedef {import("./rows.js").Meaning} Meaning */
/** @typedef {import("./rows.js").Cell} Cell */
/** @typedef {{meanings: Meaning[], whole?: boolean, layouts?: boolean}} Look `whole` breaks names instead of cutting them, `layouts` shows those of shapes */

/**
 * Lets a long name break behind its separators, not in the middle of a word.
 * @param {string} name
 */
const breakable = (name) =>
  name.split(/(?<=[._/])(?=.)/).flatMap((part, place) => (place ? [element("wbr"), part] : [part]));

/**
 * Returns a name in two parts if it ends in a number, as that of a line or an element: the cell cuts the first part.
 * Sentences stay whole; a path may have blanks.
 * @param {string} name
 * @returns {(Node | string)[]}
 */
function cutInside(name) {
  const number = name.slice(-END).search(/[._:-]\d|(?<=\w)\{[\d,]+\}$/);
  const isSentence = /\s/.test(name) && !/:\d+$/.test(name);
  if (name.length <= SHORT || number < 0 || isSentence) return [name];
  const end = name.slice(number - END);
  const begin = element("span.xr-begin", null, name.slice(0, number - END));
  begin.style.maxWidth = `calc(100% - ${end.length + 0.5}ch)`;
  return [begin, end];
}

/**
 * Writes a name so that each of its parts says what it means when pointed at or moved to. The
 * first part is in the order of the tab key; arrow keys go to the others.
 * @param {Name} name
 * @param {Look} look
 */
function takenApart([name, parts], { meanings, whole }) {
  const pieces = /** @type {Node[]} */ ([]);
  for (let place = 0, start = 0; place < parts.length; place += 2) {
    const part = name.slice(start, (start += parts[place]));
    const meaning = meanings[parts[place + 1]];
    const shown = whole ? breakable(part) : [part];
    pieces.push(meaning ? explained(meaning, shown) : element("span", null, ...shown));
    if (whole) pieces.push(element("wbr"));
  }
  const apart = element("code.xr-apart", null, ...pieces);
  apart.querySelector("a")?.removeAttribute("tabindex");
  return apart;
}

/**
 * @param {Meaning} meaning
 * @param {(Node | string)[]} shown
 */
function explained(meaning, shown) {
  const [sentence, word] = typeof meaning === "string" ? [meaning, ""] : meaning;
  const href = word ? entryAddress(word) : root + FILE_NAMES;
  const further = word.startsWith("pass:") ? word : null;
  return element("a.xr-part", { "data-meaning": sentence, "data-further": further, href, tabindex: -1 }, ...shown);
}

/** @param {KeyboardEvent} event arrow keys in a name that is taken apart */
export function moveInName(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const parts = [...(target.closest(".xr-apart")?.querySelectorAll("a") ?? [])];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const next = step && parts[parts.indexOf(/** @type {HTMLAnchorElement} */ (target)) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/**
 * @param {Column} column
 * @param {Cell} cell
 * @param {Look} look
 * @returns {Node}
 */
export function cellContent(column, cell, look) {
  if (cell === null) return element("span.xr-unknown", { title: "not known" }, format.unknown);
  if (column.kind === "name" && Array.isArray(cell)) return takenApart(/** @type {Name} */ (cell), look);
  const text = formatted(column, cell);
  if (column.kind === "link" && Array.isArray(cell) && typeof cell[1] === "string") {
    const word = column.of ? `${column.of}:${text}` : null;
    return element("a", { href: insideReport(cell[1]), "data-word": word }, ...cutInside(text));
  }
  const shown = look.layouts || look.whole ? text : bareShape(text, column);
  const pieces = look.whole ? breakable(shown) : cutInside(shown);
  const inside = column.kind === "code" ? [element("code", null, ...pieces)] : pieces;
  if (column.of) return nameLink(column.of, text, ...inside);
  if (column.kind === "chip") {
    const kind = Array.isArray(cell) && typeof cell[1] === "string" && /^[a-z-]+$/.test(cell[1]) ? `.${cell[1]}` : "";
    return element(`span.xr-chip${kind}`, null, shown);
  }
  if (inside.length > 1) return element("span", null, ...inside);
  return inside[0] instanceof Node ? inside[0] : document.createTextNode(shown);
}

/**
 * Returns a cell of one line; `data-whole` is its text, which shows where the line cuts it.
 * @param {Column} column
 * @param {Cell} cell
 * @param {Look} look
 */
export function tableCell(column, cell, look) {
  const scaled = (column.kind === "bytes" || column.kind === "flops") && typeof cell === "number";
  const text = scaled ? `${format.count(cell)} ${column.kind === "flops" ? "FLOP" : "B"}` : cellText(cell);
  const whole = scaled || text.length > SHORT ? text : null;
  const tag = NUMBERS.has(column.kind) ? "td.xr-number" : column.kind === "sentence" ? "td.xr-sentence" : "td";
  return element(tag, { "data-whole": whole }, cellContent(column, cell, look));
}
