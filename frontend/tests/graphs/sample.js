/** A graph of two computations for tests: a fusion that calls a multiplication, between two users. */

import { Graph } from "../../src/graphs/graph.js";

const NAMES = ["param", "mul", "x", "c", "tuple", "element", "fusion", "add"];
const OPCODES = ["parameter", "multiply", "parameter", "constant", "tuple", "get-tuple-element", "fusion", "add"];

/** @returns {Graph} fused: 0 and 1; main: 2 to 7 */
export function sample() {
  return new Graph({
    label: "the last snapshot",
    text: null,
    piece: 0,
    complete: true,
    computations: [
      ["fused", 2, "multiply"],
      ["main", 6, "6: add"],
    ],
    inside: [
      [
        [true, ["green", 1]],
        [false, []],
      ],
      [0, 1],
    ],
    roots: [1, 5],
    names: NAMES,
    look: NAMES.map((_, place) => place),
    shape: NAMES.map((_, place) => (place === 4 ? 1 : 0)),
    shade: NAMES.map(() => 0),
    operands: [[], [1, 1], [], [], [2], ["1#0"], [1], [1, 4]],
    controls: { 7: [2] },
    calls: { 6: [["calls", 0]] },
    arguments: ["0", "", "0", "3", "", "0", "", ""],
    looks: OPCODES.map((opcode) => [opcode, "", "green", ""]),
    shapes: [
      ["f32[8]{0}", 8, 32],
      ["(f32[8])", null, 32],
    ],
    shades: [[0.5, "", "jit(f)\nmul"]],
  });
}
