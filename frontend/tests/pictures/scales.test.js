import assert from "node:assert/strict";
import { test } from "node:test";
import { colorScales } from "../../src/pictures/scales.js";

const LOOK = {
  scales: Object.fromEntries(
    ["cost", "time", "memory"].map((mode) => [mode, { from: [0, 0.1], words: ["little", "much"] }]),
  ),
};
const nodes = (shades) => shades.map((shade, place) => ({ id: String(place), lines: [], family: "", shade }));

test("a mode that says nothing is left out", () => assert.deepEqual(colorScales(nodes([{}, {}]), LOOK), []));

test("a figure has the highest level that it reaches", () => {
  const [cost] = colorScales(nodes([{ cost: 0.05 }, { cost: 0.1 }, { cost: null }]), LOOK);
  assert.deepEqual(
    [...cost.levels],
    [
      ["0", 0],
      ["1", 1],
    ],
  );
  assert.deepEqual(cost.words, [
    [0, "little"],
    [1, "much"],
  ]);
  assert.equal(cost.marks.get("1"), "10%");
});

test("names get letters, the most frequent first, layers count as one scope", () => {
  const scopes = [["f", "layer_1"], ["f", "layer_2"], ["g"]].map((scope) => ({ scope }));
  const [scope] = colorScales(nodes(scopes), LOOK);
  assert.deepEqual(scope.words, [
    [0, "A f/layer_#"],
    [1, "B g"],
  ]);
});

test("one scope for all is no mode, more than ten share the last color", () => {
  assert.deepEqual(colorScales(nodes([{ scope: ["f"] }, { scope: ["f"] }]), LOOK), []);
  const many = Array.from({ length: 12 }, (_, place) => ({ sharding: `{devices=${place}}` }));
  const [sharding] = colorScales(nodes(many), LOOK);
  assert.equal(sharding.levels.get("11"), 9);
  assert.equal(sharding.words.at(-1)[1], "J others");
});
