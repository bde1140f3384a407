import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "../page.js";
import { tableLabel, unloadedLine, unprintedLine } from "../../src/tables/lines.js";

test("a table is called after the heading before it, else after the page", () => {
  const article = page("<article><h2>Files<a>¶</a></h2><p>Words.</p><div></div></article>");
  assert.equal(tableLabel(article.lastElementChild), "Table: Files");
  assert.equal(tableLabel(page()), "Table: x - report");
});

test("rows that are not printed are counted across all columns", () => {
  const line = unprintedLine(1200, 4);
  assert.equal(line.textContent, "1,200 more rows not printed; “CSV” above the table saves all rows.");
  assert.equal(line.firstElementChild.getAttribute("colspan"), "4");
});

test("a row that is not there yet has its place", () => {
  assert.equal(unloadedLine(7, 3).getAttribute("aria-rowindex"), "9");
});
