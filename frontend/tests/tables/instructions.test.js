import assert from "node:assert/strict";
import { test } from "node:test";
import { rows } from "../../src/tables/instructions.js";
import { sample } from "../graphs/sample.js";

test("rows join what the graph and the figures say of each instruction", () => {
  const { index } = sample();
  const piece = (count, share) => ({
    pieces: 2,
    flops: Array(count).fill(7),
    bytes: Array(count).fill(null),
    stored: count === 3 ? [null, 512, null] : [],
    share: Array(count).fill(share),
    scope: Array(count).fill(0),
    source: Array(count).fill(1),
    scopes: ["jit(f)"],
    sources: ["", "f.py:1"],
  });
  const table = rows(index, [piece(3, 0.25), piece(5, null)]);
  assert.equal(table.length, 8);
  assert.deepEqual(table[1], ["mul", "multiply", "f32[8]{0}", 7, null, 512, 0.25, "jit(f)", "f.py:1", "fused"]);
  assert.deepEqual(table[7], ["add", "add", "f32[8]{0}", 7, null, null, null, "jit(f)", "f.py:1", "main"]);
});
