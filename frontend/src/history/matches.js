/** Names that hold what is typed, and how many of each group are shown. */

import { format } from "../core/format.js";

const byName = new Intl.Collator("en", { numeric: true });

/**
 * @template T
 * @param {T[][]} groups
 * @param {number} most
 * @returns {T[]} the first of each group, as many as fit; what a small group leaves the next ones have
 */
export function shares(groups, most) {
  let left = most;
  return groups.flatMap((group, place) => {
    const shown = group.slice(0, Math.max(1, Math.ceil(left / (groups.length - place))));
    left -= shown.length;
    return shown;
  });
}

/**
 * Returns the names that hold what is wanted: equal ones first, then by how early it stands.
 * @param {string[]} names
 * @param {string} wanted in lower case
 */
export function matches(names, wanted) {
  const ranked = /** @type {[number, string][]} */ ([]);
  for (const name of names) {
    const place = name.toLowerCase().indexOf(wanted);
    if (place >= 0) ranked.push([name.length === wanted.length ? -1 : place, name]);
  }
  return ranked.sort(([left, a], [right, b]) => left - right || byName.compare(a, b)).map(([, name]) => name);
}

/**
 * Returns how many phases come before the instructions: the one whose first op_name is what is wanted, if no
 * instruction is. Of what is no opcode, as `conv_general_dilated`, also those with an op_name that ends with it.
 * @param {string[]} names of instructions, an equal one first
 * @param {import("../names/op_names.js").OpName[][]} phases an equal op_name first
 * @param {string} wanted in lower case
 * @param {boolean} isOpcode
 */
export function literalPhases(names, phases, wanted, isOpcode) {
  const isSame = (/** @type {string | undefined} */ name) => name?.toLowerCase() === wanted;
  if (isSame(names[0])) return 0;
  if (isSame(phases[0]?.[0]?.name)) return 1;
  const others = phases.findIndex(([op]) => !op.name.toLowerCase().endsWith(`/${wanted}`));
  return isOpcode ? 0 : others < 0 ? phases.length : others;
}

/**
 * Counts the op_names of each phase that has a name.
 * @param {import("../names/op_names.js").OpName[][]} phases
 */
export function countPhases(phases) {
  const named = phases.filter(([{ phase }]) => phase);
  return named.map((ops) => `${format.count(ops.length)} ${ops[0].phase}`).join(", ");
}
