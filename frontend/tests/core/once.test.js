import assert from "node:assert/strict";
import { test } from "node:test";
import { once } from "../../src/core/once.js";

test("work is done once for each key", async () => {
  const kept = new Map();
  let calls = 0;
  const make = async () => (calls += 1);
  assert.deepEqual(await Promise.all([once(kept, "a", make), once(kept, "a", make), once(kept, "b", make)]), [1, 1, 2]);
});

test("what fails is tried again", async () => {
  const kept = new Map();
  await assert.rejects(once(kept, "a", () => Promise.reject(new Error("gone"))));
  assert.equal(await once(kept, "a", () => Promise.resolve("here")), "here");
});
