import assert from "node:assert/strict";
import { test } from "node:test";
import { cellText, formatted, matchingRows, searchTexts, sortedRows } from "../../src/tables/rows.js";

const ROWS = [
  ["dot.10", 5, ["pass", "look"]],
  ["dot.2", null, null],
  ["Add.1", 7, "x"],
  ["dot.2", 5, "y"],
];
const all = [0, 1, 2, 3];

test("numbers inside names sort as numbers, and case does not count", () => {
  assert.deepEqual(sortedRows(ROWS, all, 0, "asc"), [2, 1, 3, 0]);
  assert.deepEqual(sortedRows(ROWS, all, 0, "desc"), [0, 1, 3, 2]);
});

for (const direction of ["asc", "desc"]) {
  test(`what is not known comes last, ${direction}`, () => assert.equal(sortedRows(ROWS, all, 1, direction).at(-1), 1));
}

test("a text among numbers sorts by its number, and one without a number comes last", () => {
  const mixed = [["not counted"], [7], ["1,000 per iteration"], [null], ["6 per iteration"]];
  const rows = [...mixed.keys()];
  assert.deepEqual(sortedRows(mixed, rows, 0, "asc"), [4, 1, 2, 0, 3]);
  assert.deepEqual(sortedRows(mixed, rows, 0, "desc"), [2, 1, 4, 0, 3]);
});

test("only the rows that are shown are sorted, and the list that is given stays", () => {
  const shown = [3, 0];
  assert.deepEqual(sortedRows(ROWS, shown, 1, "asc"), [0, 3]);
  assert.deepEqual(shown, [3, 0]);
});

test("a row matches that contains every word in any column", () => {
  const texts = searchTexts(ROWS);
  assert.deepEqual(matchingRows(texts, "DOT 5"), [0, 3]);
  assert.deepEqual(matchingRows(texts, "pass"), [0]);
  assert.deepEqual(matchingRows(texts, " "), all);
  assert.deepEqual(matchingRows(texts, "look"), []);
});

test("words are not found across cells", () => assert.deepEqual(matchingRows(searchTexts([["ab", "cd"]]), "abcd"), []));

test("a cell is written as its column says", () => {
  assert.equal(formatted({ title: "", kind: "bytes" }, 2048), "2.0 KiB");
  assert.equal(formatted({ title: "", kind: "percent" }, 0.5), "50%");
  assert.equal(formatted({ title: "", kind: "float" }, 1234.5678), "1,235");
  assert.equal(formatted({ title: "", kind: "int" }, "text"), "text");
  assert.equal(cellText(null), "");
});
