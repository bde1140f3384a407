/** Every version that the instructions of a computation have between its first snapshot and its last. */

import { sums } from "../core/packing.js";
import { readInstructions } from "./graph.js";

/** @typedef {[number, number, number, (number | string)[]]} Form life, first and end snapshot, lives used */
/** @typedef {import("./snapshot_graph.js").Columns & {forms: Form[], roots: Set<number>, controls: Record<string, number[]>, calls: Record<string, [string, number][]>}} Reel what forms look like, the lives that run before them, the films that they call */

/**
 * Reads the columns of a film (pages/history/computations.py).
 * @param {any} columns
 * @returns {Reel}
 */
export function readVersions(columns) {
  const { lives, first, end, ...rest } = columns;
  const read = readInstructions(rest);
  const numbers = sums(lives);
  const used = (/** @type {number | string} */ one, /** @type {number} */ life) => String(one).replace(/^-?\d+/, (above) => String(life - Number(above)));
  return { ...read, roots: new Set(read.roots), forms: numbers.map((life, at) => [life, first[at], end[at], read.operands[at].map((/** @type {any} */ one) => used(one, life))]) };
}
