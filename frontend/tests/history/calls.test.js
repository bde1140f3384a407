import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf } from "../page.js";
import { leadingTo, renderLonger, successorsFirst, successorsOf, unnamedSuccessors } from "../../src/history/calls.js";

const dot = (name) => [`main/%${name}`, "dot", "f32[8]", "mlp/dot_general", "m.py:3"];
const index = ["main/%lt", "compare", "pred[]", "lt", ""];
const history = (origins, standings) => ({ subject: { origins: [origins.length, ...origins] }, standings });

test("instructions of an op_name that lead to one call are those its histories begin with, each once", () => {
  const histories = [history([1, 0], [dot("dot.3"), index]), history([0, 1], [dot("dot.3"), dot("dot.4")])];
  assert.deepEqual(leadingTo("mlp/dot_general", histories), [dot("dot.3"), dot("dot.4")]);
  assert.deepEqual(leadingTo("attention/dot_general", histories), []);
});

const became = (instructions, now, standings) => ({ subject: { instructions, now: [now.length, ...now] }, standings });

test("the final instructions of an op are known if the first snapshot has one instruction of it", () => {
  const standings = [dot("dot.3"), dot("dot.4")];
  assert.deepEqual(successorsOf([became(1, [1], standings)]), [dot("dot.4")]);
  assert.deepEqual(successorsOf([became(2, [0, 1], standings)]), []);
  assert.deepEqual(successorsOf([]), []);
});

test("an op that lost its op_name is told apart from instructions that carry it", () => {
  const lost = ["main/%dot.105", "dot", "f32[8]", "", ""];
  assert.deepEqual(unnamedSuccessors([lost], ["bitcast.1", "bitcast.2"]), [lost]);
  assert.deepEqual(unnamedSuccessors([lost], ["bitcast.1", "dot.105"]), []);
  assert.deepEqual(unnamedSuccessors([dot("dot.9")], ["bitcast.1"]), [], "it has the op_name of another op");
});

test("instructions that do the work of an op come before those that carry its op_name", () => {
  assert.deepEqual(successorsFirst(["bitcast.1", "dot.105", "copy.2"], [dot("dot.105")]), [
    "dot.105",
    "bitcast.1",
    "copy.2",
  ]);
});

test("op_names that end with one are listed", () => {
  const words = renderLonger(["f/call/mul", "f/call_1/mul"], 1).map(textOf).join(" ");
  assert.match(words, /2 op_names of the first or final snapshot end with it\. f\/call\/mul$/);
});
