import assert from "node:assert/strict";
import { test } from "node:test";
import { readDiff } from "../../src/steps/diff.js";
import { diffRows } from "../../src/steps/diff_view.js";

const DIFF = {
  hunks: [3, 1],
  titles: [["main", "body"], [0, 1], []],
  signs: " <~+",
  before: [-1, -1, -1],
  after: [-2, -2, -1],
  moves: [7, 2],
  own: [["%same", "%moved = add(%x)", "%old = mul(%x)", "%new = mul(%y)", "%added"], [0, 1, 2, 3, 4], []],
  texts: null,
  total: 3,
  shown: 3,
  note: "",
};

test("a line that only stands elsewhere is one row with its positions", async () => {
  const hunks = await readDiff(DIFF);
  assert.deepEqual(
    hunks[0].lines.map(({ sign, places }) => [sign, places]),
    [
      [" ", undefined],
      ["<", [7, 2]],
      ["~", undefined],
    ],
  );
  const rows = diffRows(hunks, "", true);
  assert.deepEqual(
    rows.map((row) => row.title ?? row.side ?? row.line.sign),
    ["main", " ", "<", "from", "to", "body", "+"],
  );
});

test("without the order, and with a filter, only lines that matter are left", async () => {
  const hunks = await readDiff(DIFF);
  const signs = (rows) => rows.map((row) => row.title ?? row.side ?? row.line.sign);
  assert.deepEqual(signs(diffRows(hunks, "", false)), ["main", " ", "from", "to", "body", "+"]);
  assert.deepEqual(signs(diffRows(hunks, "MUL %y", true)), ["main", "from", "to"]);
  assert.deepEqual(signs(diffRows(hunks, "nothing", true)), []);
});

test("a hunk that goes on in the next chunk has one title", async () => {
  const first = await readDiff(DIFF);
  const next = await readDiff({ ...DIFF, continued: true });
  const titles = (rows) => rows.map((row) => row.title).filter(Boolean);
  assert.deepEqual(titles(diffRows([...first, ...next], "", true)), ["main", "body", "body"]);
  assert.deepEqual(titles(diffRows(next, "", true, true)), ["body"]);
  assert.deepEqual(titles(diffRows(next, "", true)), ["main", "body"]);
});
