import assert from "node:assert/strict";
import { test } from "node:test";
import { View, calledPictures, drawnBox, neighborhood, shortestPath } from "../../src/graphs/neighborhood.js";
import { sample } from "./sample.js";

const graph = sample();
const view = (...kept) => new View(graph, kept);
const BOTH = { up: true, down: true, radius: 1, most: 100 };
const names = (places) => [...places].map((place) => graph.name(place));

test("constants and elements of tuples have no box, unless they are asked for", () => {
  assert.ok(!view().hasBox(3));
  assert.ok(!view().hasBox(5));
  assert.ok(view(3).hasBox(3));
  assert.ok(view(5).hasBox(5));
});

test("an arrow through an element comes from the tuple and says which", () => {
  assert.deepEqual(view().arriving(6), [{ source: 4, target: 6, label: "#0#0", style: "thin" }]);
});

test("operands without a box are named in that of their user", () => {
  assert.deepEqual(view().foldedOperands(7), [[1, "constant 3"]]);
  assert.ok(drawnBox(view(), 7).lines.includes("operand 1 = constant 3"));
  assert.equal(drawnBox(view(), 7).badge, "ROOT");
});

test("the neighborhood is what is near, the nearest first, and counts the rest", () => {
  assert.deepEqual(names(neighborhood(view(6), 6, BOTH).places.keys()), ["fusion", "tuple", "add"]);
  assert.deepEqual(names(neighborhood(view(6), 6, { ...BOTH, down: false }).places.keys()), ["fusion", "tuple"]);
  const few = neighborhood(view(6), 6, { ...BOTH, radius: 8, most: 2 });
  assert.deepEqual([names(few.places.keys()), few.more], [["fusion", "tuple"], 2]);
});

test("a path leads through tuples, calls and results", () => {
  const hops = (from, to) =>
    shortestPath(view(from, to), from, to)?.map(({ source, target }) => [graph.name(source), graph.name(target)]);
  assert.deepEqual(hops(2, 7), [["x", "add"]]);
  assert.deepEqual(hops(4, 7), [
    ["tuple", "fusion"],
    ["fusion", "add"],
  ]);
  assert.deepEqual(hops(0, 7), [
    ["param", "mul"],
    ["mul", "fusion"],
    ["fusion", "add"],
  ]);
  assert.equal(hops(7, 2), undefined);
});

test("a fusion opens the picture of what it calls and has its colors", () => {
  assert.deepEqual(calledPictures(graph, 6), { opens: [["c=fused", "calls fused"]], mix: [["green", 1]] });
});
