import assert from "node:assert/strict";
import { test } from "node:test";
import { LOOK } from "../samples.js";
import { boxSize, writeSvg } from "../../src/pictures/svg.js";
import { readDrawing, recordLayout } from "../../src/pictures/records.js";
import { decimal, escaped, shorten } from "../../src/pictures/svg_text.js";

const RECORD = {
  title: "main <script>",
  nodes: [
    [["add.1", "f32[8]"], "green", "i=add.1", 0, "added"],
    [["x"], "gray", 0, "x", 0, "a tooltip"],
  ],
  edges: [[1, 0, "0", "control"]],
  notes: ["A note."],
};

test("a row is read with what is usual where nothing stands", () => {
  const { nodes, edges, plain } = readDrawing(RECORD);
  assert.deepEqual([nodes[0].id, nodes[0].state, nodes[1].state, nodes[1].target], ["add.1", "added", "same", null]);
  assert.deepEqual([edges[0].style, edges[0].state, plain], ["control", "same", false]);
});

test("a layout that was made beforehand is kept, its curves as steps", () => {
  const layout = recordLayout(
    { ...RECORD, size: [90, 80], boxes: [[1, 2, 3, 4]], curves: [[5, 6, 1, -1]] },
    readDrawing(RECORD),
  );
  assert.deepEqual(layout, {
    width: 90,
    height: 80,
    boxes: [{ x: 1, y: 2, width: 3, height: 4 }],
    groups: [],
    curves: [
      [
        [5, 6],
        [6, 5],
      ],
    ],
  });
});

test("a picture has its boxes, arrows, note and legend, and nothing of a name is markup", () => {
  const drawing = readDrawing(RECORD);
  const svg = writeSvg(drawing, recordLayout(RECORD, drawing), LOOK);
  assert.ok(svg.startsWith("<svg ") && svg.endsWith("</svg>\n"));
  assert.ok(!svg.includes("<script>"));
  for (const part of [
    'data-node="add.1"',
    'data-e="1 0"',
    "A note.",
    "elementwise",
    "runs after",
    "sign-added",
    "a tooltip",
  ]) {
    assert.ok(svg.includes(part), part);
  }
  assert.ok(!svg.includes("removed"));
});

test("text is escaped, and characters that nobody sees are blanks", () => {
  assert.equal(escaped(`<a b="c" d='e'>&\u202e`), "&lt;a b=&quot;c&quot; d=&#x27;e&#x27;&gt;&amp; ");
  assert.equal(decimal(1.25), "1.3");
});

test("a long line loses its middle, whole characters at a time", () => {
  assert.equal(shorten("a".repeat(40)).length, 36);
  assert.equal(shorten("\u{1f600}".repeat(10), 4), "\u{1f600}\u{1f600}\u2026\u{1f600}");
});

test("a box is as large as its lines, wide characters take two cells", () => {
  assert.equal(boxSize({ lines: ["\u6f22"] }).width, boxSize({ lines: ["ab"] }).width);
  assert.ok(boxSize({ lines: ["a", "b"] }).height > boxSize({ lines: ["a"] }).height);
});
