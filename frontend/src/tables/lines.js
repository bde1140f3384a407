/** What stands in a table beside its rows, and what it is called. */

import { element } from "../core/elements.js";
import { format } from "../core/format.js";

/** @param {HTMLElement} host */
export function tableLabel(host) {
  let before = /** @type {Element | null} */ (host);
  while (before && !/^H[1-6]$/.test(before.tagName)) before = before.previousElementSibling;
  return `Table: ${before?.firstChild?.textContent ?? document.title}`;
}

/**
 * @param {number} rows how many rows are not printed
 * @param {number} columns
 */
export function unprintedLine(rows, columns) {
  const words = `${format.plural(rows, "more row")} not printed; \u201cCSV\u201d above the table saves all rows.`;
  return element("tr.xr-unprinted", null, element("td", { colspan: columns }, words));
}

/**
 * Returns the line of a row that is not loaded yet.
 * @param {number} place
 * @param {number} columns
 */
export function unloadedLine(place, columns) {
  const cell = element("td", { colspan: columns }, "\u2026");
  return element("tr.xr-unloaded", { "aria-rowindex": place + 2, "aria-busy": "true" }, cell);
}
