import assert from "node:assert/strict";
import { test } from "node:test";
import { payloads } from "../page.js";
import { PagedRows } from "../../src/tables/pages.js";

const rowsOf = (page, size) => Array.from({ length: size }, (_, row) => [page * 10 + row]);
const paged = (key) => new PagedRows(key, rowsOf(0, 10), { rows: 25, size: 10 });

test("rows in one payload are complete", () => {
  const rows = new PagedRows("paged", [[1], [2]]);
  assert.deepEqual([rows.complete, rows.beginning, rows.rows.length], [true, 2, 2]);
  assert.ok(new PagedRows("paged", []).complete);
});

test("rows that are not loaded are holes, which are filled around a place", async () => {
  payloads.set("paged-2", rowsOf(2, 5));
  const rows = paged("paged");
  assert.deepEqual([rows.complete, rows.beginning, rows.rows.length], [false, 10, 25]);
  await rows.loadAt(23);
  assert.deepEqual([rows.rows[19], rows.rows[24], rows.complete, rows.beginning], [undefined, [24], false, 10]);
});

test("all are loaded, and each part is told", async () => {
  payloads.set("whole-1", rowsOf(1, 10));
  payloads.set("whole-2", rowsOf(2, 5));
  const rows = paged("whole");
  const counts = [];
  await rows.loadAll((loaded) => counts.push(loaded));
  assert.deepEqual([rows.complete, rows.beginning, counts], [true, 25, [25]]);
  assert.deepEqual(
    rows.rows.map(([value]) => value),
    [...Array(25).keys()],
  );
});

test("a part that is missing is an error, and may come later", async () => {
  const rows = paged("partly");
  await assert.rejects(
    rows.loadAll(() => {}),
    /missing/,
  );
  payloads.set("partly-1", rowsOf(1, 10));
  payloads.set("partly-2", rowsOf(2, 5));
  await rows.loadAll(() => {});
  assert.ok(rows.complete);
});
