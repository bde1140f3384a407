import assert from "node:assert/strict";
import { test } from "node:test";
import { compareLines } from "../../src/steps/diff.js";

const changed = (pieces) => pieces.filter((piece) => piece.changed).map((piece) => piece.text);
const text = (pieces) => pieces.map((piece) => piece.text).join("");

test("the words that differ are marked in both lines", () => {
  const [before, after] = compareLines("%a = f32[8] add(%x, %y)", "%a = f32[16] add(%x, %z)");
  assert.deepEqual(
    [changed(before), changed(after)],
    [
      ["8", "y"],
      ["16", "z"],
    ],
  );
});

test("what is only in one line is marked there alone", () => {
  const [before, after] = compareLines("add(%x)", "add(%x), metadata={}");
  assert.deepEqual(changed(before), []);
  assert.equal(changed(after).join(""), ", metadata={}");
});

test("lines that have little in common are not marked", () => {
  const [before, after] = compareLines("abs(a, b)", "while[x]");
  assert.deepEqual([changed(before), changed(after)], [[], []]);
});

for (const [left, right] of [
  ["", ""],
  ["x", ""],
  ["same", "same"],
  ["a a a b", "a a b"],
  ["1 2 ".repeat(300), "2 1 ".repeat(300)],
]) {
  test(`no character is lost of ${JSON.stringify(left.slice(0, 9))}, ${JSON.stringify(right.slice(0, 9))}`, () => {
    assert.deepEqual(compareLines(left, right).map(text), [left, right]);
  });
}
