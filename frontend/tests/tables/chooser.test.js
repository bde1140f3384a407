import assert from "node:assert/strict";
import { test } from "node:test";
import { textsOf } from "../page.js";
import { makeChooser } from "../../src/tables/chooser.js";

const COLUMNS = [
  { title: "Name", kind: "code", help: "What XLA calls it" },
  { title: "Shape", kind: "code", of: "shape" },
];

test("there is a box for each column, and for layouts where there are shapes", () => {
  const changes = [];
  const chooser = makeChooser(
    { columns: COLUMNS, rows: [] },
    { columns: () => changes.push("columns"), layouts: () => changes.push("layouts") },
  );
  assert.deepEqual(textsOf(chooser, "label"), ["Name", "Shape", "Layouts and tiling of shapes"]);
  assert.equal(chooser.querySelector("label").dataset.meaning, "What XLA calls it");
  for (const box of chooser.querySelectorAll("input")) box.dispatchEvent(new document.defaultView.Event("change"));
  assert.deepEqual(changes, ["columns", "columns", "layouts"]);
  const plain = makeChooser({ columns: COLUMNS.slice(0, 1), rows: [] }, { columns() {}, layouts() {} });
  assert.deepEqual(textsOf(plain, "label"), ["Name"]);
});
