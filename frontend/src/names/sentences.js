/** Sentences of the report as parts of a page: names as code, links to histories, grades of claims. */

import { element } from "../core/elements.js";

const NAME = /(%[\w.-]*\w)/;
const GRADES = /** @type {Record<string, string>} */ ({
  exact: "Follows directly from the dump.",
  matched: "Matched by operation, operands and users.",
  guessed: "Likely, but not certain.",
});

/**
 * @param {string | null | undefined} grade
 * @returns {HTMLElement | null} the chip that stands beside a claim
 */
export function gradeChip(grade) {
  if (!grade || !Object.hasOwn(GRADES, grade)) return null;
  return element(`span.xr-grade.xr-${grade}`, { title: GRADES[grade] }, grade);
}

/**
 * Returns the link to the history of an instruction.
 * @param {string} name with or without `%`
 * @param {string} [title]
 */
export function historyLink(name, title) {
  const bare = name.replace(/^%/, "");
  return element(
    "a.xr-ask",
    { href: `#i=${encodeURIComponent(bare)}`, title: title ?? null },
    element("code", null, `%${bare}`),
  );
}

/** @param {string} name an instruction's leads to its history */
export function nameNode(name) {
  return name.startsWith("%") ? historyLink(name, "History") : element("code", null, name);
}

/**
 * Returns a sentence with its names as code; those of instructions lead to their histories.
 * @param {string} words names stand between backticks, or begin with `%`
 * @returns {(Node | string)[]}
 */
export function sentence(words) {
  const parts = words.split("`");
  if (parts.length % 2 === 0) return [words];
  return parts.flatMap((part, place) => (place % 2 ? [nameNode(part)] : withNames(part))).filter(Boolean);
}

/** @param {string} words */
const withNames = (words) => words.split(NAME).map((part, place) => (place % 2 ? nameNode(part) : part));

/**
 * @param {string} words
 * @returns {string} for where nothing can be set as code
 */
export const plainSentence = (words) => words.replaceAll("`", "");
