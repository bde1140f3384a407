import assert from "node:assert/strict";
import { test } from "node:test";
import { readInstructions } from "../../src/graphs/graph.js";
import { sample } from "./sample.js";

const graph = sample();
const named = (places) => [...places].map((place) => graph.name(place));

test("operands are positions, with the element of a tuple", () => {
  assert.deepEqual(graph.operands(5), [{ place: 4, element: "0" }]);
  assert.deepEqual(graph.operands(1), [
    { place: 0, element: "" },
    { place: 0, element: "" },
  ]);
});

test("users are known once each, those that only run later too", () => {
  assert.deepEqual(named(graph.users(0)), ["mul"]);
  assert.deepEqual(named(graph.users(2)), ["tuple", "add"]);
  assert.deepEqual(named(graph.users(7)), []);
});

test("a called computation knows its callers and its root", () => {
  assert.deepEqual(graph.callers.get(0), [6]);
  assert.equal(graph.root(0), 1);
  assert.ok(graph.isRoot(7));
  assert.ok(!graph.isRoot(6));
});

test("a name finds its instruction, with its computation too", () => {
  for (const name of ["mul", "%mul", "fused/%mul"]) assert.equal(graph.find(name), 1);
  assert.equal(graph.find("main/%mul"), null);
});

test("a search finds all words, the shortest name first", () => {
  assert.deepEqual(named(graph.search("%mul", 5)), ["mul"]);
  assert.deepEqual(named(graph.search("parameter", 5)), ["x", "param"]);
  assert.deepEqual(graph.search("  ", 5), []);
});

test("figures and scope of a box", () =>
  assert.deepEqual(graph.shade(1), { cost: 0.5, time: undefined, memory: 32, sharding: "", scope: ["jit(f)", "mul"] }));

test("columns are read into rows", () => {
  const columns = {
    names: [["a.\x7f"], [0, 0], [1, 1]],
    arguments: [
      [["", "7"], [0, 1], []],
      [1, 0],
    ],
    operands: [[0, 1], [1]],
    look: [0, 0],
  };
  const { names, arguments: words, operands, look } = readInstructions(columns);
  assert.deepEqual(
    [names, words, operands, look],
    [
      ["a.1", "a.2"],
      ["7", ""],
      [[], [1]],
      [0, 0],
    ],
  );
});
