/**
 * Which instructions of an op_name one call is. JAX writes the op_names inside of a called computation relative to
 * the call, so functions that are called twice have instructions of one op_name in the first snapshot.
 */

import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { gradeChip } from "../names/sentences.js";
import { standingRows } from "./subject.js";

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
  const own = origins.filter(([, , , name]) => name === op);
  return [...new Map(own.map((standing) => [standing[0], standing])).values()];
}

/**
 * Tells which instructions of an op_name lead to those of one call; nothing where all do or none is known.
 * @param {SubjectHistory} answer of the op_name
 * @param {SubjectHistory[]} histories of instructions of the call
 */
export function tellLeading({ title, subject }, histories) {
  const rows = leadingTo(title, histories);
  if (!rows.length || rows.length >= subject.instructions) return [];
  const words = `Of ${format.plural(subject.instructions, "instruction")} with `;
  const verb = rows.length === 1 ? "this one leads" : `these ${format.count(rows.length)} lead`;
  const paragraph = element("p", null, words, element("code", null, title), `, ${verb} here `, gradeChip("matched"));
  return [paragraph, standingRows(rows)];
}
