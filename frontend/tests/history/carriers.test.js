import assert from "node:assert/strict";
import { test } from "node:test";
import "../page.js";
import { carriersOf, carriersPart, countCarriers, unlistedCarriers } from "../../src/history/carriers.js";

const dot = ["main/%dot.3", "dot", "f32[8]", "mlp/dot_general", "m.py:3"];
const facts = {
  carriers: () => ["sort.5", "dot.3", "all-gather.1"],
  kind: (name) => name.replace(/\.\d+/, ""),
  fusionOf: (name) => (name === "sort.5" ? "fusion.2" : ""),
  share: () => 0,
};

test("what has an op_name without doing the work of its op is counted as well", () => {
  const names = unlistedCarriers(["sort.5", "dot.3", "all-gather.1"], [dot]);
  assert.deepEqual(names, ["sort.5", "all-gather.1"]);
  assert.equal(countCarriers(names), "2 more in after_optimizations have this op_name.");
  assert.equal(countCarriers(["sort.5"]), "1 more in after_optimizations has this op_name.");
  assert.ok(countCarriers(Array.from({ length: 31 }, String)).endsWith("The first 30 are shown."));
});

const NONE = { products: [], others: [] };

test("they are listed with their fusions, where all that the op maps to are known", () => {
  const { products, others } = carriersOf("mlp/dot_general", [1, 0], [dot], facts);
  assert.deepEqual(products, []);
  const [words, list] = carriersPart(others, facts);
  assert.ok(words.textContent.startsWith("2 more"));
  assert.deepEqual(
    [...list.children].map((line) => line.textContent),
    ["%all-gather.1 all-gather", "%sort.5 sort in %fusion.2"],
  );
  for (const now of [[0], [2, 0]]) assert.deepEqual(carriersOf("mlp/dot_general", now, [dot], facts), NONE);
  assert.deepEqual(carriersOf("mlp/dot_general", [1, 0], [dot], null), NONE);
  assert.deepEqual(carriersPart([], facts), []);
});

test("further matrix products are of the op, and the costliest of the others come first", () => {
  const names = ["and.1", "convolution.2", "dot.3", "fusion.4", "convolution.5"];
  const shares = { "fusion.4": 0.5, "convolution.5": 0.2, "convolution.2": 0.1 };
  const many = { ...facts, carriers: () => names, fusionOf: () => "", share: (name) => shares[name] ?? 0 };
  const { products, others } = carriersOf("mlp/dot_general", [1, 0], [dot], many);
  assert.deepEqual(products, ["convolution.5", "convolution.2"]);
  assert.deepEqual(others, ["fusion.4", "and.1"]);
});
