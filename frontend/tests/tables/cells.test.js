import assert from "node:assert/strict";
import { test } from "node:test";
import { page, textsOf } from "../page.js";
import { cellContent, moveInName, tableCell } from "../../src/tables/cells.js";

const LOOK = { meanings: ["A part.", ["A pass.", "pass:algsimp"]] };
const markup = (kind, cell, look = {}, of = undefined) => {
  const node = cellContent({ title: "t", kind, of }, cell, { ...LOOK, ...look });
  return node.outerHTML ?? node.textContent;
};

test("what is not known is no number", () => {
  assert.equal(markup("int", null), '<span title="not known" class="xr-unknown">–</span>');
});

test("text is never markup", () => assert.equal(markup("text", "<b>x</b>"), "<b>x</b>"));

test("a link leads into the report or nowhere", () => {
  assert.equal(markup("link", ["a", "m/x.html"]), '<a href="file:///report/site/m/x.html">a</a>');
  assert.equal(markup("link", ["a", "https://example.com/"]), "<a>a</a>");
});

test("a chip has a class that is one word, or none", () => {
  assert.equal(markup("chip", ["exact", "xr-exact"]), '<span class="xr-chip xr-exact">exact</span>');
  assert.equal(markup("chip", ["x", 'x" onclick="y']), '<span class="xr-chip">x</span>');
});

test("a name that is taken apart explains each part", () => {
  const code = cellContent({ title: "t", kind: "name" }, ["0001.algsimp.txt", [5, 0, 7, 1, 4, -1]], LOOK);
  const [first, second] = code.querySelectorAll("a");
  assert.deepEqual(textsOf(code, "a, span"), ["0001.", "algsimp", ".txt"]);
  assert.deepEqual(
    [first.dataset.meaning, second.dataset.meaning, second.dataset.further],
    ["A part.", "A pass.", "pass:algsimp"],
  );
  assert.match(first.getAttribute("href"), /names\.html#file-names$/);
  assert.deepEqual([first.hasAttribute("tabindex"), second.getAttribute("tabindex")], [false, "-1"]);
});

test("arrow keys go from part to part", () => {
  const row = page("<p></p>");
  row.append(cellContent({ title: "t", kind: "name" }, ["ab", [1, 0, 1, 1]], LOOK));
  const [first, second] = row.querySelectorAll("a");
  let focused = null;
  for (const part of [first, second]) part.focus = () => (focused = part);
  const press = (target, key) => {
    const event = { target, key, prevented: false, preventDefault: () => (event.prevented = true) };
    moveInName(event);
    return event.prevented;
  };
  assert.ok(press(first, "ArrowRight"));
  assert.ok(focused === second);
  assert.ok(press(second, "ArrowLeft"));
  assert.ok(focused === first);
  assert.ok(!press(first, "ArrowLeft") && !press(first, "x"));
});

test("a cell cuts a long name before its number, nothing else", () => {
  const cut = (begin, end) =>
    `<span style="max-width:calc(100% - ${end.length + 0.5}ch)" class="xr-begin">${begin}</span>${end}`;
  const name = "loop_multiply_reduce_fusion.31";
  const shown = cut("loop_multiply_reduce_fusion", ".31");
  assert.equal(markup("link", [name, "m/x.html"]).replace(/<a [^>]*>/, ""), `${shown}</a>`);
  assert.equal(markup("code", name), `<code>${shown}</code>`);
  assert.equal(markup("text", "deep/model.py:1234"), `<span>${cut("deep/model.py", ":1234")}</span>`);
  assert.equal(markup("text", "all_reduce_start_1_fusion"), `<span>${cut("all_reduce_start", "_1_fusion")}</span>`);
  assert.equal(
    markup("text", "input_add_multiply_fusion{2}"),
    `<span>${cut("input_add_multiply_fusion", "{2}")}</span>`,
  );
  for (const text of ["model.py:123", "a sentence with number.1", "f32[1024,1024,1024]", "transpose_copy_fusion"]) {
    assert.equal(markup("text", text), text);
  }
  assert.equal(markup("text", "my model.py:1234"), `<span>${cut("my model.py", ":1234")}</span>`);
  assert.ok(!markup("code", name, { whole: true }).includes("xr-begin"));
});

test("layouts of shapes show where they are asked for", () => {
  const shape = "f32[8]{0:T(128)}";
  assert.match(markup("code", shape, {}, "shape"), />f32\[8\]</);
  assert.match(markup("code", shape, { layouts: true }, "shape"), />f32\[8\]\{0:T\(128\)\}</);
});

test("a cell says its whole text where a line may cut it, and the exact number of what is scaled", () => {
  const cell = (kind, value) => tableCell({ title: "t", kind }, value, LOOK);
  assert.deepEqual(
    [cell("text", "short").dataset.whole, cell("text", "x".repeat(13)).dataset.whole],
    [undefined, "x".repeat(13)],
  );
  assert.equal(cell("bytes", 2048).dataset.whole, "2,048 B");
  assert.equal(cell("flops", 3).dataset.whole, "3 FLOP");
  assert.deepEqual(
    [cell("int", 1).className, cell("sentence", "x").className, cell("text", "").className],
    ["xr-number", "xr-sentence", ""],
  );
});
