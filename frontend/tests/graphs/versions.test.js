import assert from "node:assert/strict";
import { test } from "node:test";
import { readVersions } from "../../src/graphs/versions.js";

const COLUMNS = {
  names: [["a", "b", "c"], [0, 1, 2], []],
  arguments: [
    [[""], [0], []],
    [0, 0, 0],
  ],
  look: [0, 0, 0],
  shape: [0, 0, 0],
  shade: [0, 0, 0],
  operands: [
    [0, 1, 2],
    [1, "3#1", 2],
  ],
  controls: {},
  calls: {},
  looks: [["add", "", "green", ""]],
  shapes: [["f32[]", 1, 4]],
  shades: [[null, "", ""]],
  lives: [2, 1, 2],
  first: [0, 0, 1],
  end: [3, 1, 3],
  roots: [2],
};

test("versions name their instruction, its life and the numbers of its operands", () => {
  const { versions, roots } = readVersions(COLUMNS);
  assert.deepEqual(versions, [
    [2, 0, 3, []],
    [3, 0, 1, ["2"]],
    [5, 1, 3, ["2#1", "3"]],
  ]);
  assert.deepEqual([...roots], [2]);
});
