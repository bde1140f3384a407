import assert from "node:assert/strict";
import test from "node:test";

import { livingAt, positionAt } from "../../src/memory/living.js";

test("lists what is in use at a position, both ends included", () => {
  /** @type {import("../../src/memory/living.js").Living[]} */
  const rows = [
    ["a", 8, "parameter", 0, 9, "params['w']"],
    ["b", 4, "temp", 3, 5, ""],
    ["c", 2, "temp", 6, 7, ""],
  ];
  const { living, bytes } = livingAt(rows, 5);
  assert.deepEqual(
    living.map(([name]) => name),
    ["a", "b"],
  );
  assert.equal(bytes, 12);
});

test("finds the position below a pointer, within the schedule", () => {
  assert.equal(positionAt(64, 760, 11), 0);
  assert.equal(positionAt(752, 760, 11), 10);
  assert.equal(positionAt((64 + 752) / 2, 760, 11), 5);
  assert.equal(positionAt(0, 760, 11), 0);
});
