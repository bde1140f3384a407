import assert from "node:assert/strict";
import { test } from "node:test";
import { go, page, payloads, settled, textOf, textsOf } from "../page.js";
import { drawTexts } from "../../src/texts/reader.js";

const LINES = [
  [
    "HloModule m",
    "",
    "ENTRY %main (p: f32[]) -> f32[] {",
    "  %p = f32[] parameter(0)",
    "  ROOT %add.1 = f32[] add(%p, %p)",
    "}",
  ],
  ["HloModule m", "%p.1 = last"],
];
const ALL = LINES.flat();
const folded = (lines) => [lines, lines.map((_, place) => place), []];

/** @returns {Promise<any>} the host of two snapshots and a file of another kind, at an address */
async function read(key, fragment) {
  payloads.set(key, {
    texts: [
      ["0000.txt", 90, null, 0, [0, 1], "0000", "0000 start"],
      ["0001.txt", 20, null, 0, [1, 1], "0001", "0001 end"],
      ["other.txt", 20, null, 0, [1, 1], "other.txt", "other.txt"],
    ],
    chunks: [0],
  });
  payloads.set(`${key}-0`, {
    lines: folded(ALL),
    blocks: [
      [0, LINES[0].length],
      [LINES[0].length, LINES[1].length],
    ],
  });
  const host = page();
  go(fragment);
  await drawTexts(host, key);
  await settled();
  return host;
}
const marked = (host) => textsOf(host, ".xr-whole-marked");
const counter = (host) => textOf(host.querySelector("[role=status]"));

test("the last snapshot comes first, and the list has two groups", async () => {
  const host = await read("m/r1/texts", "");
  assert.equal(host.querySelector("select").value, "0001");
  assert.deepEqual(
    [...host.querySelectorAll("optgroup")].map((group) => group.getAttribute("label")),
    ["Snapshots", "Other texts"],
  );
});

test("the address names a line, or an instruction by its definition", async () => {
  const host = await read("m/r2/texts", "#text=0000&line=2");
  assert.equal(marked(host).length, 1);
  assert.match(
    (await read("m/r3/texts", "#text=0000&name=%25add.1")).querySelector(".xr-whole-marked").textContent,
    /^5/,
  );
  assert.match((await read("m/r4/texts", "#text=0000&name=main")).querySelector(".xr-whole-marked").textContent, /^3/);
  for (const other of ["line=99", "line=-1", "name=gone", "name=add"]) {
    assert.deepEqual(marked(await read("m/r5/texts", `#text=0000&${other}`)), [], other);
  }
});

test("words are counted, gone through in both directions, and in the address", async () => {
  const host = await read("m/r6/texts", "#text=0000&find=%25p");
  assert.equal(counter(host), "1 of 2 lines (Enter: next)");
  const field = host.querySelector("input");
  const enter = (rest) =>
    field.dispatchEvent(Object.assign(new document.defaultView.Event("keydown"), { key: "Enter", ...rest }));
  enter({});
  assert.equal(counter(host), "2 of 2 lines (Enter: next)");
  enter({ shiftKey: true });
  enter({ shiftKey: true });
  assert.equal(counter(host), "2 of 2 lines (Enter: next)");
  field.value = "nothing of it";
  field.dispatchEvent(new document.defaultView.Event("input"));
  assert.equal(counter(host), "0 lines found (Enter: next)");
  assert.match(location.hash, /find=nothing\+of\+it/);
});

test("a name in the text leads to its definition", async () => {
  globalThis.getSelection = () => "";
  const host = await read("m/r7/texts", "#text=0000");
  const name = [...host.querySelectorAll(".xr-code-variable")].findLast((part) => part.textContent.startsWith("%p"));
  name.click();
  assert.match(location.hash, /line=4/);
  assert.match(marked(host)[0], /^4 ?%p = /);
});
