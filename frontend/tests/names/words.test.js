import assert from "node:assert/strict";
import { test } from "node:test";
import "../samples.js";
import { entryAddress, explainWord, watchNames } from "../../src/names/words.js";

const CASES = {
  "opcode:dot": [["", "Multiplies matrices."]],
  "opcode:constructor": [],
  "instruction:%dot.3": [
    ["dot", "Made as dot. As an opcode: Multiplies matrices."],
    ["3", "A number."],
  ],
  "instruction:add_fusion.clone.2": [
    ["add", "Made as add. As an opcode: Adds."],
    ["fusion", "By a fusion."],
    ["clone", "A copy."],
    ["2", "A number."],
  ],
  "instruction:wide.dot.remat2#1": [
    ["wide", "Made wider."],
    ["dot", "Made as dot. As an opcode: Multiplies matrices."],
    ["remat", "Computed again."],
    ["2", "A number."],
    ["1", "Element 1."],
  ],
  "shape:f32[8,4]": [
    ["f32", "Single precision."],
    ["[8,4]", "The size of each dimension: 8 \u00d7 4, 32 elements, 128 B without padding."],
  ],
  "shape:f32[]": [
    ["f32", "Single precision."],
    ["[]", "No dimensions: a single value."],
  ],
};

for (const [word, parts] of Object.entries(CASES)) {
  test(`${word} is explained part by part`, async () => assert.deepEqual(await explainWord(word), parts));
}

test("a layout says its order, its tiles, its bits and its memory space", async () => {
  assert.deepEqual(await explainWord("layout:{1,0:T(8,128)E(4)S(1)}"), [
    ["{1,0}", "First 1."],
    ["T(8,128)", "Tiles of (8,128)."],
    ["E(4)", "4 bits."],
    ["S(1)", "Space 1: on tpu VMEM."],
  ]);
  assert.deepEqual((await explainWord("layout:{0:S(77)}"))[1], ["S(77)", "Space 77."]);
});

test("an entry has an address without markup", () => {
  assert.equal(entryAddress("flag:--xla_dump_to=x"), "file:///report/site/glossary.html#flag-xla_dump_to");
  assert.equal(entryAddress("pass:a<b"), "file:///report/site/glossary.html#pass-a-b");
  assert.equal(entryAddress("shape:f32[]"), "file:///report/site/glossary.html#element-types");
});

test("names in sentences are marked, those in a summary are left: it is a control itself", async () => {
  document.body.innerHTML =
    "<article><p>a <code>dot</code></p><details><summary>in <code>dot</code></summary></details></article>";
  watchNames();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(document.querySelectorAll("article p a.xr-word").length, 1);
  assert.equal(document.querySelectorAll("summary a").length, 0);
});

test("names of instructions in a finding lead to their traces in the module, others to their entries", async () => {
  document.body.innerHTML = `<article><div data-xr-traces="m/x.html">
    <p><code>all-gather-start.2</code> <code>loop_fusion</code> <code>fused_computation.1</code> <code>dot</code></p>
    </div></article>`;
  watchNames();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const links = [...document.querySelectorAll("article a")].map((link) => link.getAttribute("href"));
  assert.deepEqual(links.slice(0, 2), ["m/x.html#i=all-gather-start.2", "m/x.html#i=loop_fusion"]);
  assert.match(links[2], /names\.html/);
  assert.match(links[3], /glossary\.html#opcode-dot/);
});
