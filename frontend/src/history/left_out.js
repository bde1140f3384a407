/** What a panel says of op_names and instructions without a history of their own: of a large module not all are kept. */

import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { historyLink } from "../names/sentences.js";
import { opLink } from "./subject.js";

const LEFT_OUT =
  "This module is so large that not all histories are kept: this one is left out. The command xlareport history DUMP NAME computes it.";

/** @typedef {import("./columns.js").Index} Index */

/**
 * Returns the op_name that was left out of which an instruction of the first snapshot is.
 * @param {Index} index
 * @param {string} name without `%`
 * @returns {string | null} null where none is known
 */
export function leftOutOp({ leftOut }, name) {
  const isIt = (/** @type {string | number} */ place) => String(place).endsWith(`/%${name}`);
  return [...leftOut].find(([, places]) => places.some(isIt))?.[0] ?? null;
}

/**
 * Lists the instructions of the first snapshot that have an op_name whose history is left out.
 * @param {Index} index
 * @param {string} op
 * @returns {HTMLElement[]} nothing for other op_names
 */
export function leftOutPart({ leftOut }, op) {
  const places = leftOut.get(op);
  if (!places) return [];
  const named = places.filter((place) => typeof place === "string");
  const more = places.slice(named.length).reduce((/** @type {number} */ sum, count) => sum + Number(count), 0);
  const rows = named.map((place) => element("li", null, historyLink(place.slice(place.lastIndexOf("/%") + 1), place)));
  const count = format.plural(named.length + more, "instruction");
  return [
    element("p", null, "In before_optimizations ", element("code", null, op), ` is ${count}:`),
    element("ul.xr-places", null, ...rows),
    ...(more ? [element("p.xr-muted", null, `and ${format.count(more)} that are not listed`)] : []),
    element("p.xr-muted", null, LEFT_OUT),
  ];
}

/**
 * Says why an instruction of the final snapshot has no history, and what has one.
 * @param {Index} index
 * @param {string} name without `%`
 * @param {string} fusion that runs it; empty where none does
 * @param {string} op its op_name; empty where it has none
 */
export function withoutHistory({ complete }, name, fusion, op) {
  const itself = element("code", null, `%${name}`);
  const reason = fusion
    ? [itself, " is a part of ", historyLink(fusion), "; histories are those of whole fusions."]
    : complete
      ? [itself, " is a part of another instruction, and has no history of its own."]
      : [LEFT_OUT];
  const named = op ? [element("p", null, "By op_name: ", opLink(op))] : [];
  return [element("p.xr-muted", null, ...reason), ...named];
}

/**
 * Says that nothing is known of a name.
 * @param {Index} index
 */
export function unknownName({ complete }) {
  const most = complete ? "" : " This module is so large that not all of its instructions are here.";
  return `No instruction of this name has a history here; it may be the name of a computation.${most} The command xlareport history DUMP NAME looks into every snapshot.`;
}
