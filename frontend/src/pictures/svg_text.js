/** Text and numbers in SVG. */

import { LONGEST_LINE } from "./sizes.js";

/**
 * Returns a value as text of SVG: without markup and without characters that cannot be seen.
 * @param {unknown} value
 */
export function escaped(value) {
  const printable = String(value).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, (character) =>
    character === "\n" ? character : " ",
  );
  return printable
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#x27;");
}

/** @param {number} value @returns {string} it with one decimal, as in the report's files */
export const decimal = (value) => String(Math.round(value * 10) / 10);

/**
 * Cuts the middle out of a text with more characters than fit.
 * @param {string} line
 * @param {number} [columns]
 */
export function shorten(line, columns = LONGEST_LINE) {
  const letters = [...line];
  if (letters.length <= columns) return line;
  const tail = Math.floor((columns - 1) / 3);
  return `${letters.slice(0, columns - 1 - tail).join("")}\u2026${letters.slice(-tail).join("")}`;
}
