import assert from "node:assert/strict";
import { test } from "node:test";
import { isOp, numbersOf, numbersOfOp, opsOf, readChunk, readIndex } from "../../src/history/columns.js";

const fold = (words) => [words.map((word) => [word]), [...words.keys()], []];

test("an index has its names with the subjects that ever had them", () => {
  const index = readIndex({
    stages: [],
    chunk: 10,
    forward: 1,
    complete: true,
    titles: fold(["a", "b"]),
    between: [2, fold(["c"])],
    names: [fold(["x", "y"]), [2, 1], [0, 2, 3]],
    left_out: [fold(["f/mul"]), [[1], fold(["m/%mul.1"]), { 0: 4 }]],
  });
  assert.deepEqual(index.titles, ["a", "b"]);
  assert.deepEqual(index.between, [2, "c"]);
  assert.deepEqual(index.names, { x: [0, 2], y: [5] });
  assert.equal(index.chunk, 10);
  assert.deepEqual([...index.leftOut], [["f/mul", ["m/%mul.1", 4]]]);
});

test("op_names of the first snapshot are those without a history too", () => {
  const index = { titles: ["m/%a", "f/add", "m/%x"], forward: 1, leftOut: new Map([["f/mul", ["m/%mul.1"]]]) };
  assert.deepEqual(opsOf(index), ["f/add", "f/mul"]);
  assert.deepEqual(
    ["f/add", "f/mul", "f/sub"].map((op) => isOp(index, op)),
    [true, true, false],
  );
});

test("subjects are found by the names they had, and by op_name", () => {
  const index = { titles: ["m/%a", "f/add"], forward: 1, names: { a: [0] } };
  assert.deepEqual(numbersOf(index, "%a"), [0]);
  assert.deepEqual(numbersOf(index, "toString"), []);
  assert.deepEqual(numbersOfOp(index, "f/add"), [1]);
  assert.deepEqual(numbersOfOp(index, "m/%a"), []);
});

test("columns of a chunk become records", () => {
  const chunk = readChunk({
    instructions: [1, 2],
    happened: [[0], [-1]],
    origins: [[1, 3], [1, 0], [4]],
    now: [[0, 0], [0, 0], []],
    standings: ["p", "add", "f32[]", "op", "f.py:1"].map((word) => fold([word])),
    events: [
      [7],
      fold(["born"]),
      fold(["m/%a"]),
      [[2], fold(["b", "c"]), { 0: 9 }],
      [[0], fold([]), {}],
      fold(["e"]),
      fold(["why"]),
    ],
  });
  assert.deepEqual(chunk.subjects[0], { instructions: 1, events: [0], origins: [1, 4], now: [0] });
  assert.deepEqual(chunk.standings, [["p", "add", "f32[]", "op", "f.py:1"]]);
  assert.deepEqual(chunk.events, [[7, "born", "m/%a", ["b", "c", 9], [], "e", "why"]]);
});
