/** What has an op_name in the final snapshot without doing the work of its op: collectives of a gather, for one. */

import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { historyLink } from "../names/sentences.js";

const MOST = 30;
/** Opcodes of matrix products, which are the work of the op that has their op_name. */
const PRODUCTS = new Set(["convolution", "dot", "ragged-dot"]);

/** @param {string} opcode */
export const isProduct = (opcode) => PRODUCTS.has(opcode);

/**
 * Returns things with matrix products first, else in their order.
 * @template T
 * @param {T[]} things
 * @param {(thing: T) => string} kind their opcodes
 * @returns {T[]}
 */
export const productsFirst = (things, kind) => [
  ...things.filter((thing) => isProduct(kind(thing))),
  ...things.filter((thing) => !isProduct(kind(thing))),
];

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
 * Returns these instructions, the costliest first, of equals those outside of fusions: matrix products, which do the
 * work of the op where the compiler made several of one, and others. None where not all that the op maps to are
 * listed.
 * @param {string} op
 * @param {import("./columns.js").Listed} now
 * @param {Standing[]} standings
 * @param {InstructionFacts | null} facts
 * @returns {{products: string[], others: string[]}}
 */
export function carriersOf(op, [count, ...rows], standings, facts) {
  const successors = rows.map((row) => standings[row]);
  const names = count && count <= rows.length ? unlistedCarriers(facts?.carriers(op) ?? [], successors) : [];
  if (!facts) return { products: [], others: [] };
  const isInside = (/** @type {string} */ name) => Number(facts.fusionOf(name) !== "");
  names.sort((left, right) => facts.share(right) - facts.share(left) || isInside(left) - isInside(right));
  return {
    products: names.filter((name) => isProduct(facts.kind(name))),
    others: names.filter((name) => !isProduct(facts.kind(name))),
  };
}

/**
 * @param {string} name
 * @param {InstructionFacts | null} facts
 */
export function carrierRow(name, facts) {
  const fusion = facts?.fusionOf(name);
  const kind = element("span.xr-muted", null, facts?.kind(name) ?? "");
  return element("li", null, historyLink(name), " ", kind, ...(fusion ? [" in ", historyLink(fusion)] : []));
}

/**
 * Lists instructions that have an op_name alone.
 * @param {string[]} names
 * @param {InstructionFacts | null} facts
 */
export function carriersPart(names, facts) {
  if (!names.length) return [];
  const rows = names.slice(0, MOST).map((name) => carrierRow(name, facts));
  return [element("p", null, countCarriers(names)), element("ul.xr-places", null, ...rows)];
}
