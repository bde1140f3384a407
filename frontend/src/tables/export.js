/** A table for other programs: tab-separated text to paste, comma-separated text to save. */

import { cellText } from "./rows.js";

/** @typedef {import("./rows.js").TableData} TableData */

/** A spreadsheet takes what begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Returns rows as tab-separated text, with the titles of the columns.
 * @param {TableData} data
 * @param {number[]} rows
 */
export const tabSeparated = (data, rows) => lines(data, rows, "\t", (text) => text.replace(/[\t\r\n]+/g, " "));

/**
 * Returns rows as comma-separated text (RFC 4180), with the titles of the columns.
 * @param {TableData} data
 * @param {number[]} rows
 */
export const commaSeparated = (data, rows) =>
  lines(data, rows, ",", (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text), "\r\n");

/**
 * @param {TableData} data
 * @param {number[]} rows
 * @param {string} separator
 * @param {(text: string) => string} written
 * @param {string} [end] of a line
 */
function lines({ columns, rows: all }, rows, separator, written, end = "\n") {
  const cell = (/** @type {import("./rows.js").Cell} */ value) => {
    const text = cellText(value);
    return written(typeof value !== "number" && FORMULA.test(text) ? `'${text}` : text);
  };
  const head = columns.map(({ title }) => cell(title)).join(separator);
  const there = rows.filter((row) => all[row]); // a packed report may lack some
  return [head, ...there.map((row) => all[row].map(cell).join(separator))].join(end) + end;
}
