import assert from "node:assert/strict";
import { test } from "node:test";
import { countPhases, literalPhases, matches, shares } from "../../src/history/matches.js";

test("an equal name comes first, then by how early what is wanted stands", () => {
  assert.deepEqual(matches(["my_dot", "dot.10", "dot.9", "dot", "add"], "dot"), ["dot", "dot.9", "dot.10", "my_dot"]);
});

test("what a small group leaves the next one has", () => {
  assert.deepEqual(shares([["a"], ["b", "c", "d", "e"]], 4), ["a", "b", "c", "d"]);
});

test("op_names are counted by phase, those without one are not", () => {
  const phases = [[{ name: "a", phase: "forward" }], [{ name: "b", phase: "" }]];
  assert.equal(countPhases(phases), "1 forward");
});

test("an op_name that is what was typed comes before instructions that only contain it", () => {
  const phases = [[{ name: "x", phase: "" }]];
  assert.equal(literalPhases(["x.1", "max"], phases, "x", true), 1);
  assert.equal(literalPhases(["x", "x.1"], phases, "x", true), 0);
  assert.equal(literalPhases(["x.1"], [[{ name: "f/x", phase: "" }]], "x", true), 0);
  assert.equal(literalPhases([], [], "x", true), 0);
});

test("op_names that end with a framework op come before the instructions that have its name", () => {
  const [ending, other] = [[{ name: "jit(f)/conv_op", phase: "forward" }], [{ name: "conv_op_x/add", phase: "" }]];
  assert.equal(literalPhases(["conv_op.1"], [ending, ending, other], "conv_op", false), 2);
  assert.equal(literalPhases(["conv_op.1"], [ending], "conv_op", false), 1);
  assert.equal(literalPhases(["conv_op.1"], [ending], "conv_op", true), 0);
  assert.equal(literalPhases(["conv_op", "conv_op.1"], [ending], "conv_op", false), 0);
});
