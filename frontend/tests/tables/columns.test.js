import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenColumns, dividedRoom, firstColumns, textWidths } from "../../src/tables/columns.js";

const COLUMNS = Array.from({ length: 9 }, (_, place) => ({ title: `column ${place}`, kind: "text" }));

test("seven columns stand there at first, the one of the order among them", () => {
  assert.deepEqual(firstColumns({ columns: COLUMNS, rows: [] }, false), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(firstColumns({ columns: COLUMNS, rows: [], sort: [8, "desc"] }, false), [0, 1, 2, 3, 4, 5, 8]);
  assert.deepEqual(firstColumns({ columns: COLUMNS, rows: [] }, true), [0, 1, 2]);
  assert.deepEqual(firstColumns({ columns: COLUMNS.slice(0, 2), rows: [] }, true), [0, 1]);
});

test("columns that want a bit more than the room are squeezed into it", () => {
  const sum = (/** @type {number[]} */ widths) => Math.round(widths.reduce((all, width) => all + width, 0));
  assert.equal(sum(dividedRoom([26, 26], [true, true], 50)), 50);
  assert.equal(sum(dividedRoom([27, 27], [true, true], 50)), 54);
});

test("a column without a value in any row does not stand there at first", () => {
  const filled = (/** @type {number} */ place) => (place === 2 || place === 5 ? null : place === 6 ? "" : "x");
  const rows = [COLUMNS.map((_, place) => filled(place))];
  assert.deepEqual(firstColumns({ columns: COLUMNS, rows }, false), [0, 1, 3, 4, 7, 8]);
  assert.deepEqual(firstColumns({ columns: COLUMNS, rows }, true), [0, 1, 3]);
  assert.deepEqual(firstColumns({ columns: COLUMNS, rows, sort: [5, "desc"] }, true), [0, 1, 5]);
});

test("columns of an address are those that there are, each once", () => {
  assert.deepEqual(chosenColumns("3.1.1.99.x.-2", 9), [1, 3]);
  assert.equal(chosenColumns("x", 9), null);
  assert.equal(chosenColumns(null, 9), null);
});

test("a column is as wide as its longest text, within reason; layouts do not count", () => {
  const columns = [
    { title: "n", kind: "code" },
    { title: "s", kind: "code", of: "shape" },
  ];
  const rows = [
    ["x".repeat(500), "f32[2]{0:T(1024)}"],
    ["y", "f32[2]"],
  ];
  assert.deepEqual(textWidths({ columns, rows }), [68, 10]);
});

test("names shrink, numbers do not", () => {
  assert.deepEqual(dividedRoom([60, 10], [false, true], 40), [30, 10]);
  assert.deepEqual(dividedRoom([60, 10], [false, true], 10), [18, 10]);
  assert.deepEqual(dividedRoom([10, 10], [false, true], 40), [20, 20]);
  assert.deepEqual(dividedRoom([30, 60, 60], [false, false, false], 100), [30, 35, 35]); // names that tell rows apart
});

test("sentences take two fifths of the room, and a narrow screen has room for them alone", () => {
  const rest = /** @type {[number[], boolean[]]} */ ([
    [60, 67, 60],
    [false, false, false],
  ]);
  const [, sentence] = dividedRoom(...rest, 120, [false, true, false]);
  assert.ok(sentence >= 48, String(sentence));
  const columns = COLUMNS.map((column, place) => (place === 1 ? { ...column, kind: "sentence" } : column));
  assert.deepEqual(firstColumns({ columns, rows: [] }, true), [0, 1]);
});

test("sentences leave room for the names beside them", () => {
  const told = [false, true, false, false, false];
  const firm = [false, false, false, false, false];
  const widths = dividedRoom([20, 68, 40, 40, 40], firm, 120, told);
  assert.deepEqual(widths.slice(2), [18, 18, 18]);
  assert.equal(
    widths.reduce((sum, width) => sum + width, 0),
    120,
  );
  assert.equal(dividedRoom([20, 68, 40, 40, 40], firm, 60, told)[1], 24);
});

test("a column of names does not shrink below its title", () => {
  assert.deepEqual(dividedRoom([40, 40], [false, false], 38, [], [10, 21]), [19, 21]);
});
