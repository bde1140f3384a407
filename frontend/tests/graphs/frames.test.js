import assert from "node:assert/strict";
import { test } from "node:test";
import { Frames } from "../../src/graphs/frames.js";
import { computationAt } from "../../src/graphs/snapshot_graph.js";

/** Three snapshots: `b` is renamed to `c` in the second one, `d` comes with the third. */
const TABLE = {
  names: ["a", "b", "c", "d"],
  arguments: ["0", "", "", ""],
  look: [0, 1, 1, 1],
  shape: [0, 0, 0, 0],
  shade: [0, 0, 0, 0],
  looks: [
    ["parameter", "", "gray", ""],
    ["add", "", "green", ""],
  ],
  shapes: [["f32[]", 1, 4]],
  shades: [[null, "", ""]],
  versions: [
    [0, 0, 3, []],
    [1, 0, 1, [0, 0]],
    [1, 1, 3, [0, 0]],
    [2, 2, 3, [1, 0]],
  ],
  roots: new Set([1, 2]),
  controls: {},
  calls: {},
};
const frames = (watch = "") => new Frames(TABLE, ["main", [0, 1, 2], 3, 3], watch);

test("a snapshot has the versions of its time", () => {
  const { rows, instructions, operands, root } = computationAt(TABLE, 1, { name: "main", number: 0 });
  assert.deepEqual([rows, instructions, operands, root], [[0, 2], [0, 1], [[], [1, 1]], 1]);
});

test("what stays has the same place in every frame", () => {
  const [first, last] = [frames().drawn(0, "0001"), frames().drawn(2, "0003")];
  const place = ({ drawing, layout }) => layout.boxes[drawing.nodes.findIndex((node) => node.lines[0] === "a")];
  assert.deepEqual(place(first), place(last));
});

test("a frame says what is new and what changed since the one before", () => {
  assert.deepEqual(frames().drawn(1, "").counts, { added: 0, removed: 0, changed: 1 });
  assert.deepEqual(frames().drawn(2, "").counts, { added: 1, removed: 0, changed: 0 });
  assert.deepEqual(
    frames()
      .drawn(2, "")
      .drawing.nodes.map(({ state }) => state),
    ["same", "same", "added"],
  );
});

test("an instruction is found by any name that it had", () => {
  assert.equal(frames("%b").watched, 1);
  assert.equal(frames("c").watched, 1);
  assert.deepEqual(frames("nothing").stages, []);
});

test("snapshots in which nothing differs are left out", () => {
  const same = new Frames(
    {
      ...TABLE,
      versions: [
        [0, 0, 3, []],
        [1, 0, 3, [0]],
        [1, 3, 3, []],
        [2, 3, 3, []],
      ],
    },
    ["main", [0, 1, 2], 3, 2],
    "",
  );
  assert.deepEqual(same.stages, [0]);
});
