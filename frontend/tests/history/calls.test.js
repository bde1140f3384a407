import assert from "node:assert/strict";
import { test } from "node:test";
import { leadingTo } from "../../src/history/calls.js";

const dot = (name) => [`main/%${name}`, "dot", "f32[8]", "mlp/dot_general", "m.py:3"];
const index = ["main/%lt", "compare", "pred[]", "lt", ""];
const history = (origins, standings) => ({ subject: { origins: [origins.length, ...origins] }, standings });

test("instructions of an op_name that lead to one call are those its histories begin with, each once", () => {
  const histories = [history([1, 0], [dot("dot.3"), index]), history([0, 1], [dot("dot.3"), dot("dot.4")])];
  assert.deepEqual(leadingTo("mlp/dot_general", histories), [dot("dot.3"), dot("dot.4")]);
  assert.deepEqual(leadingTo("attention/dot_general", histories), []);
});
