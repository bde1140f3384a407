/** Rows of a table as values: what a cell says, which rows match a filter, in which order they stand. */

import { format } from "../core/format.js";

/** Kinds of columns that hold numbers. */
export const NUMBERS = new Set(["int", "bytes", "flops", "float", "percent", "precise"]);

/** Rows beyond which a table draws only those in sight. */
const WINDOWED = 100;
/** The same of sentences, the most rows that a document has. */
const WINDOWED_SENTENCES = 200;

/** @typedef {import("../../types/payloads").Column} Column */
/** @typedef {import("../../types/payloads").Name} Name */
/** @typedef {import("../../types/payloads").Meaning} Meaning */
/** @typedef {import("../../types/payloads").Cell} Cell */
/** @typedef {import("../../types/payloads").Table & {columns: Column[]}} TableData */

/** @param {Cell} cell @returns {string} what is searched and sorted by */
export const cellText = (cell) => (cell === null ? "" : Array.isArray(cell) ? cell[0] : String(cell));

/**
 * Returns text by which numbers inside names sort as numbers.
 * @param {string} name
 */
const natural = (name) => name.toLowerCase().replace(/\d{1,15}/g, (digits) => digits.padStart(15, "0"));

/**
 * Returns a cell as it is shown.
 * @param {Column} column
 * @param {Cell} cell
 */
export function formatted(column, cell) {
  if (typeof cell !== "number") return cellText(cell);
  if (column.kind === "bytes") return format.bytes(cell);
  if (column.kind === "flops") return format.flops(cell);
  if (column.kind === "percent") return format.percent(cell);
  if (column.kind === "precise") return format.precise(cell);
  return column.kind === "float" ? format.float(cell) : format.count(cell);
}

/** The layout of a shape, also where the text ends within it. */
const LAYOUT = /\]\{[^{}]*(?:\}|$)/g;

/**
 * Returns a shape without layouts and tiling; any other text as it is.
 * @param {string} text
 * @param {Column} column
 */
export const bareShape = (text, { kind, of }) => (of === "shape" || kind === "code" ? text.replace(LAYOUT, "]") : text);

/**
 * @param {Cell[][]} rows
 * @returns {string[]} of each row the text in which a filter looks, in lower case
 */
export const searchTexts = (rows) => rows.map((row) => row.map(cellText).join("\n").toLowerCase());

/**
 * @param {string[]} texts of all rows
 * @param {string} filter
 * @returns {number[]} the rows that contain every word of the filter
 */
export function matchingRows(texts, filter) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return [...texts.keys()].filter((row) => words.every((word) => texts[row].includes(word)));
}

/**
 * Sorts rows by a column; what is not known comes last either way.
 * @param {Cell[][]} rows
 * @param {number[]} shown the rows to sort
 * @param {number} column
 * @param {"asc" | "desc"} direction
 * @returns {number[]}
 */
export function sortedRows(rows, shown, column, direction) {
  const sign = direction === "asc" ? 1 : -1;
  const cells = rows.map((row) => row[column]);
  const keys = cells.map(cells.some((cell) => typeof cell === "number") ? numberKey : sortKey);
  return [...shown].sort((first, second) => {
    const [left, right] = [keys[first], keys[second]];
    if (left === right) return first - second;
    if (left === null || right === null) return left === null ? 1 : -1;
    return left < right ? -sign : sign;
  });
}

/** @param {Cell} cell */
const sortKey = (cell) => (typeof cell === "number" || cell === null ? cell : natural(cellText(cell)));

/**
 * Returns the key of a cell among numbers: of a text such as `6 per iteration` its first number.
 * @param {Cell} cell
 */
function numberKey(cell) {
  if (typeof cell === "number" || cell === null) return cell;
  const value = Number.parseFloat(cellText(cell).replaceAll(",", ""));
  return Number.isNaN(value) ? null : value;
}

/** @param {TableData} data */
export const hasSentences = ({ columns }) => columns.some((column) => column.kind === "sentence");

/**
 * Returns how many rows a table has at most that draws all of them; of a longer one those in sight are drawn.
 * Sentences are read whole: their rows differ in height, so that those out of sight have to be drawn as well.
 * @param {TableData} data
 */
export const mostDrawn = (data) => (hasSentences(data) ? WINDOWED_SENTENCES : WINDOWED);
