import assert from "node:assert/strict";
import { test } from "node:test";
import { shortFunction } from "../../src/search/functions.js";

for (const [name, short] of [
  ["loss", "loss"],
  ["train.<locals>.loss", "loss"],
  ["train.<locals>.step.<locals>.<lambda>", "<lambda>"],
  ["train.<locals>.Block.__call__", "Block.__call__"],
]) {
  test(`${name} is ${short}`, () => assert.equal(shortFunction(name), short));
}
