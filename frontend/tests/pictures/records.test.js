import assert from "node:assert/strict";
import { test } from "node:test";
import "../samples.js";
import { sample } from "../graphs/sample.js";
import { readDrawing, recordLayout, recordSvg } from "../../src/pictures/records.js";

const RECORD = (names, edges, rest = {}) => ({
  title: "main",
  nodes: names.map((name) => [[name], "green", `i=${name}`]),
  edges,
  ...rest,
});
const places = (svg) =>
  Object.fromEntries(
    [...svg.matchAll(/data-node="([^"]+)"[^>]* transform="translate\(([^)]+)\)"/g)].map(([, name, place]) => [
      name,
      place,
    ]),
  );

test("a row that names a place has what the graph says of it", () => {
  const { nodes } = readDrawing({ title: "", nodes: [[6, [], "ROOT"]], edges: [] }, sample());
  const [{ id, target, badge, shape, opens }] = nodes;
  assert.deepEqual(
    [id, target, badge, shape, opens],
    ["fusion", "i=fusion", "ROOT", "rect", [["c=fused", "calls fused"]]],
  );
});

test("frames have what is usual where nothing stands", () => {
  const { groups } = readDrawing({ title: "", nodes: [], edges: [], groups: [["f", "scope", "scope"]] });
  assert.deepEqual(groups, [{ id: "f", title: "scope", kind: "scope", target: null, state: "same", opens: [] }]);
});

test("curves are steps from point to point", () => {
  const layout = recordLayout(
    { size: [9, 9], boxes: [[1, 2, 3, 4]], curves: [[1, 1, 2, 0, 0, 3]] },
    { nodes: [], edges: [] },
  );
  assert.deepEqual(layout.curves, [
    [
      [1, 1],
      [3, 1],
      [3, 4],
    ],
  ]);
  assert.deepEqual(layout.boxes, [{ x: 1, y: 2, width: 3, height: 4 }]);
});

test("what both pictures of a pair have stands in the same place", async () => {
  const before = RECORD(
    ["a", "b", "c"],
    [
      [0, 1],
      [1, 2],
    ],
  );
  const after = RECORD(
    ["a", "c", "d"],
    [
      [0, 1],
      [1, 2],
    ],
  );
  const [first, second] = await Promise.all([0, 1].map((place) => recordSvg([before, after], place)));
  const [left, right] = [places(first), places(second)];
  assert.deepEqual(Object.keys(left), ["a", "b", "c"]);
  assert.deepEqual([right.a, right.c], [left.a, left.c]);
  assert.notEqual(right.d, left.b);
});

test("a picture alone has a layout of its own", async () => {
  const alone = places(await recordSvg([RECORD(["a"], [])], 0));
  assert.deepEqual(Object.keys(alone), ["a"]);
});
