/** What has an op_name in the final snapshot without doing the work of its op: collectives of a gather, for one. */

import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { historyLink } from "../names/sentences.js";

const MOST = 30;

/** @typedef {import("./columns.js").Standing} Standing */
/** @typedef {import("./facts.js").InstructionFacts} InstructionFacts */

/**
 * Returns the final instructions with an op_name that are not among those that do the work of its op.
 * @param {string[]} names of the instructions that carry the op_name
 * @param {Standing[]} successors
 */
export function unlistedCarriers(names, successors) {
  const successorNames = new Set(successors.map(([place]) => place.slice(place.lastIndexOf("/%") + 2)));
  return names.filter((name) => !successorNames.has(name));
}

/**
 * Counts the final instructions that have an op_name beside those that the op maps to.
 * @param {string[]} names of these
 */
export function countCarriers(names) {
  const more = names.length > MOST ? ` The first ${MOST} are shown.` : "";
  const verb = names.length === 1 ? "has" : "have";
  return `${format.count(names.length)} more in after_optimizations ${verb} this op_name.${more}`;
}

/**
 * Lists these instructions, those outside of fusions first; nothing where not all that the op maps to are listed.
 * @param {string} op
 * @param {import("./columns.js").Listed} now
 * @param {Standing[]} standings
 * @param {InstructionFacts | null} facts
 */
export function carriersPart(op, [count, ...rows], standings, facts) {
  const successors = rows.map((row) => standings[row]);
  const names = count && count <= rows.length ? unlistedCarriers(facts?.carriers(op) ?? [], successors) : [];
  if (!names.length || !facts) return [];
  names.sort((left, right) => Number(facts.fusionOf(left) !== "") - Number(facts.fusionOf(right) !== ""));
  const line = (/** @type {string} */ name) => {
    const fusion = facts.fusionOf(name);
    const kind = element("span.xr-muted", null, facts.kind(name));
    return element("li", null, historyLink(name), " ", kind, ...(fusion ? [" in ", historyLink(fusion)] : []));
  };
  return [element("p", null, countCarriers(names)), element("ul.xr-places", null, ...names.slice(0, MOST).map(line))];
}
