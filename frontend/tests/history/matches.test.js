import assert from "node:assert/strict";
import { test } from "node:test";
import { matches, shares } from "../../src/history/matches.js";

test("an equal name comes first, then by how early what is wanted stands", () => {
  assert.deepEqual(matches(["my_dot", "dot.10", "dot.9", "dot", "add"], "dot"), ["dot", "dot.9", "dot.10", "my_dot"]);
});

test("what a small group leaves the next one has", () => {
  assert.deepEqual(shares([["a"], ["b", "c", "d", "e"]], 4), ["a", "b", "c", "d"]);
});
