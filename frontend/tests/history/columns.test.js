import assert from "node:assert/strict";
import { test } from "node:test";
import { readChunk, readIndex } from "../../src/history/columns.js";

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
  });
  assert.deepEqual(index.titles, ["a", "b"]);
  assert.deepEqual(index.between, [2, "c"]);
  assert.deepEqual(index.names, { x: [0, 2], y: [5] });
  assert.equal(index.chunk, 10);
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
