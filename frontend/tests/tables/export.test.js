import assert from "node:assert/strict";
import { test } from "node:test";
import { commaSeparated, tabSeparated } from "../../src/tables/export.js";

const DATA = {
  columns: [
    { title: "Name", kind: "code" },
    { title: "Size", kind: "bytes" },
  ],
  rows: [
    ['a,"b"\nc', 2048],
    ["=1+1", null],
    ["d\te", -3],
  ],
};

test("comma-separated values quote what needs it, and are no formulas", () => {
  assert.equal(commaSeparated(DATA, [1, 0, 2]), 'Name,Size\r\n\'=1+1,\r\n"a,""b""\nc",2048\r\nd\te,-3\r\n');
});

test("tab-separated values have no tabs inside", () => {
  assert.equal(tabSeparated(DATA, [2]), "Name\tSize\nd e\t-3\n");
});
