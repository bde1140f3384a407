import assert from "node:assert/strict";
import { test } from "node:test";
import { page, textOf } from "../page.js";
import { Walk } from "../../src/pictures/walk.js";

const BOX = (name, x, y) =>
  `<g class="n" data-node="${name}" data-target="i=${name}" data-at="${x} ${y}"><title>tip of ${name}</title><text><tspan>${name}</tspan><tspan>f32[]</tspan></text></g>`;
/** `a` above `b` and `c`, which both lead to `d`. */
const SVG = `<svg>${BOX("a", 50, 0)}${BOX("b", 0, 50)}${BOX("c", 100, 50)}${BOX("d", 50, 100)}
  <path data-e="0 1"/><path data-e="0 2"/><path data-e="1 3"/><path data-e="2 3"/></svg>`;

/** @returns {any} a walk with the name of the box that it went to, and what it opened */
function walking() {
  const svg = page(SVG);
  for (const box of svg.querySelectorAll("g.n")) {
    const [left, top] = box.dataset.at.split(" ").map(Number);
    box.getBoundingClientRect = () => ({ left, top, width: 10, height: 10 });
  }
  const canvas = {
    focus: () => (walk.at = "canvas"),
    getBoundingClientRect: () => ({ left: 0, top: 0, width: 120, height: 20 }),
  };
  const openers = { open: (_, box, target) => (walk.opened = [box.dataset.node, target]), openWith: async () => null };
  const picture = { svg, canvas, openers, point() {}, reveal: (box) => (walk.at = box.dataset.node) };
  const walk = new Walk(picture);
  walk.box = (name) => walk.boxes.find((box) => box.dataset.node === name);
  walk.key = (name, key) => {
    const taken = walk.press({ target: walk.box(name), key });
    return [taken, walk.at];
  };
  return walk;
}

test("boxes are buttons with their lines as words", () => {
  const box = walking().box("a");
  assert.deepEqual([box.getAttribute("role"), box.getAttribute("aria-label")], ["button", "a, f32[]"]);
});

test("arrows up and down lead along arrows, to the nearest", () => {
  const walk = walking();
  assert.deepEqual(
    walk.next(walk.box("a"), true).map((box) => box.dataset.node),
    ["b", "c"],
  );
  assert.deepEqual(walk.key("a", "ArrowDown"), [true, "b"]);
  assert.deepEqual(walk.key("b", "ArrowRight"), [true, "c"]);
  assert.deepEqual(walk.key("d", "ArrowUp"), [true, "b"]);
});

test("arrows aside lead to what is there, rather straight on", () => {
  const walk = walking();
  assert.deepEqual(
    walk.key("b", "ArrowRight"),
    [true, "a"].map((value, place) => (place ? walk.at : value)),
  );
  assert.deepEqual(walk.key("c", "ArrowLeft")[0], true);
});

test("enter opens a box, escape goes back to the picture, other keys are not taken", () => {
  const walk = walking();
  walk.key("c", "Enter");
  assert.deepEqual(walk.opened, ["c", "i=c"]);
  assert.deepEqual(walk.key("c", "Escape"), [true, "canvas"]);
  assert.equal(walk.key("c", "x")[0], false);
});

test("enter on the picture goes to the box nearest to its middle", () => {
  const walk = walking();
  assert.ok(walk.press({ target: page(), key: "Enter" }));
  assert.equal(walk.at, "a");
});

test("boxes are found by every word, in their tips too, and gone through in a circle", () => {
  const walk = walking();
  const status = page("<p></p>");
  walk.find("%f32[] TIP", status);
  assert.deepEqual([textOf(status), walk.at], ["1 of 4", "a"]);
  walk.showFound(-1, status);
  assert.deepEqual([textOf(status), walk.at], ["4 of 4", "d"]);
  walk.showFound(1, status);
  assert.equal(textOf(status), "1 of 4");
  walk.find("gone", status);
  assert.equal(textOf(status), "none");
  walk.find(" ", status);
  assert.deepEqual([textOf(status), walk.boxes.some((box) => box.classList.contains("xr-found"))], ["", false]);
});
