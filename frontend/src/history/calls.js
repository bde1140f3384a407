/**
 * Which instructions of an op_name one call is. JAX writes the op_names inside of a called computation relative to
 * the call, so functions that are called twice have instructions of one op_name in the first snapshot.
 */

import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { gradeChip } from "../names/sentences.js";
import { opLink, standingRows } from "./subject.js";

/** @typedef {import("./columns.js").Standing} Standing */
/** @typedef {import("./subject.js").SubjectHistory} SubjectHistory */

/**
 * Returns the instructions of an op_name that histories of the final snapshot begin with, each once.
 * @param {string} op
 * @param {SubjectHistory[]} histories of instructions of one call
 * @returns {Standing[]}
 */
export function leadingTo(op, histories) {
  const origins = histories.flatMap(({ subject, standings }) =>
    subject.origins.slice(1).map((number) => standings[number]),
  );
  const standings = origins.filter(([, , , name]) => name === op);
  return [...new Map(standings.map((standing) => [standing[0], standing])).values()];
}

/**
 * Returns the final instructions that do the work of an op, if it is one instruction in the first snapshot: of
 * several, some may be of other calls.
 * @param {SubjectHistory[]} histories
 */
export function successorsOf(histories) {
  if (histories.some(({ subject }) => subject.instructions > 1)) return [];
  return histories.flatMap(({ subject, standings }) => subject.now.slice(1).map((number) => standings[number]));
}

/** @param {Standing} standing @returns {string} the name of its instruction */
const nameOf = ([place]) => place.slice(place.lastIndexOf("/%") + 2);

/**
 * Returns names of instructions with those first that do the work of an op; the others only carry its op_name.
 * @param {string[]} names
 * @param {Standing[]} successors
 */
export function successorsFirst(names, successors) {
  const successorNames = new Set(successors.map(nameOf));
  return [...names.filter((name) => successorNames.has(name)), ...names.filter((name) => !successorNames.has(name))];
}

/**
 * Returns the final instructions of an op that have no op_name any more; none where others of them have it.
 * @param {Standing[]} successors
 * @param {string[]} names of the instructions that carry the op_name
 */
export function unnamedSuccessors(successors, names) {
  const isNamed = successors.some((standing) => names.includes(nameOf(standing)));
  return isNamed ? [] : successors.filter(([, , , opName]) => !opName);
}

/**
 * Shows where an op is that lost its op_name.
 * @param {Standing[]} successors
 */
export function renderUnnamed(successors) {
  if (!successors.length) return [];
  const words = `In the final snapshot the op itself is ${format.plural(successors.length, "instruction")} without op_name `;
  return [element("p", null, words, gradeChip("matched")), standingRows(successors)];
}

/**
 * Shows which instructions of an op_name lead to those of one call; nothing where all do or none is known.
 * @param {SubjectHistory} answer of the op_name
 * @param {SubjectHistory[]} histories of instructions of the call
 */
export function renderLeading({ title, subject }, histories) {
  const rows = leadingTo(title, histories);
  if (!rows.length || rows.length >= subject.instructions) return [];
  const words = `Of ${format.plural(subject.instructions, "instruction")} with `;
  const verb = rows.length === 1 ? "this one leads" : `these ${format.count(rows.length)} lead`;
  const paragraph = element("p", null, words, element("code", null, title), `, ${verb} here `, gradeChip("matched"));
  return [paragraph, standingRows(rows)];
}

/**
 * Lists the op_names that inlining makes of one that is relative to a call.
 * @param {string[]} longer
 * @param {number} most that are listed
 */
export function renderLonger(longer, most) {
  const count = format.plural(longer.length, "op_name");
  const verb = longer.length === 1 ? "ends" : "end";
  const words = `This op_name is relative to a call. Inlining joins it to that of the call: ${count} of the first or final snapshot ${verb} with it.`;
  const rows = longer.slice(0, most).map((name) => element("li", null, opLink(name)));
  return [element("p.xr-muted", null, words), element("ul.xr-places", null, ...rows)];
}

/**
 * Counts final instructions of an op_name.
 * @param {string[]} names
 * @param {number} most that are listed
 */
export function countFinal(names, most) {
  const more = names.length > most ? ` The first ${most} are shown.` : "";
  return `${format.plural(names.length, "instruction")} of the final snapshot.${more}`;
}
