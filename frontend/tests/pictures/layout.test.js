import assert from "node:assert/strict";
import { test } from "node:test";
import { layeredLayout } from "../../src/pictures/layout.js";

const boxes = (count) =>
  Array.from({ length: count }, (_, place) => ({ width: 40 + (place % 5) * 20, height: 20 + (place % 3) * 10 }));

const overlap = (one, other) =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

const GRAPHS = {
  nothing: [0, []],
  "one box": [1, []],
  "a chain": [
    4,
    [
      [0, 1],
      [1, 2],
      [2, 3],
    ],
  ],
  "a long arrow beside a chain": [
    4,
    [
      [0, 1],
      [1, 2],
      [2, 3],
      [0, 3],
    ],
  ],
  "a cycle": [
    3,
    [
      [0, 1],
      [1, 2],
      [2, 0],
    ],
  ],
  "an arrow to itself": [
    2,
    [
      [0, 0],
      [0, 1],
    ],
  ],
  "a star wider than a layer may be": [41, Array.from({ length: 40 }, (_, place) => [place, 40])],
  "two arrows between the same boxes": [
    2,
    [
      [0, 1],
      [0, 1],
    ],
  ],
};

for (const [name, [count, edges]] of Object.entries(GRAPHS)) {
  test(`${name}: no boxes overlap, all are inside, arrows end at their boxes`, () => {
    const sizes = boxes(count);
    const layout = layeredLayout(sizes, edges);
    assert.equal(layout.boxes.length, count);
    for (const [place, box] of layout.boxes.entries()) {
      assert.deepEqual([box.width, box.height], [sizes[place].width, sizes[place].height]);
      assert.ok(
        box.x >= -0.01 &&
          box.x + box.width <= layout.width + 0.01 &&
          box.y >= -0.01 &&
          box.y + box.height <= layout.height + 0.01,
      );
      for (const other of layout.boxes.slice(place + 1)) assert.ok(!overlap(box, other));
    }
    for (const [number, [from, to]] of edges.entries()) {
      const curve = layout.curves[number];
      assert.equal(curve.length % 3, 1);
      if (from === to) continue;
      for (const [[x], box] of [
        [curve[0], layout.boxes[from]],
        [curve.at(-1), layout.boxes[to]],
      ]) {
        assert.ok(x >= box.x && x <= box.x + box.width);
      }
    }
  });
}

test("arrows point down where no cycle is in the way", () => {
  const { boxes: placed } = layeredLayout(boxes(5), [
    [3, 1],
    [1, 0],
    [4, 0],
    [3, 2],
  ]);
  for (const [from, to] of [
    [3, 1],
    [1, 0],
    [4, 0],
    [3, 2],
  ]) {
    assert.ok(placed[from].y + placed[from].height <= placed[to].y);
  }
});

test("the same graph has the same layout", () => {
  const edges = Array.from({ length: 60 }, (_, place) => [place % 17, (place * 7) % 29]);
  assert.deepEqual(layeredLayout(boxes(30), edges), layeredLayout(boxes(30), edges));
});

test("a chain of thousands is laid out without recursion", () => {
  const edges = Array.from({ length: 2999 }, (_, place) => [place, place + 1]);
  assert.equal(layeredLayout(boxes(3000), edges).boxes.length, 3000);
});
