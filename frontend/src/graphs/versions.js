/** Every version that the instructions of a computation have between its first snapshot and its last. */

import { sums } from "../core/packing.js";
import { readInstructions } from "./graph.js";

/** @typedef {[number, number, number, (number | string)[]]} Version number of its instruction, which that keeps in all snapshots, first and end snapshot, numbers of its operands */
/** @typedef {import("./snapshot_graph.js").Columns & {versions: Version[], roots: Set<number>, controls: Record<string, number[]>, calls: Record<string, [string, number][]>}} VersionTable every version of every instruction, the instructions that run before them, the computations that they call */

/**
 * Reads the versions of a computation (pages/history/computations.py).
 * @param {import("../../types/payloads").ComputationVersions} columns
 * @returns {VersionTable}
 */
export function readVersions(columns) {
  const { lives, first, end, ...rest } = columns;
  const read = readInstructions(rest);
  const numbers = sums(lives);
  const used = (/** @type {number | string} */ operand, /** @type {number} */ instruction) =>
    String(operand).replace(/^-?\d+/, (above) => String(instruction - Number(above)));
  return {
    ...read,
    roots: new Set(read.roots),
    versions: numbers.map((instruction, at) => [
      instruction,
      first[at],
      end[at],
      read.operands[at].map((operand) => used(operand, instruction)),
    ]),
  };
}
