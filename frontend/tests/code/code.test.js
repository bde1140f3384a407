import assert from "node:assert/strict";
import { test } from "node:test";
import { go, page, payloads, settled, textOf, textsOf } from "../page.js";
import { drawCode } from "../../src/code/code.js";

const unit = (name, rest = {}) => ({
  ...{ name, computation: "main", opcode: "fusion", shape: "f32[8]", scope: "", source: "", grade: "exact" },
  ...{ reason: "Its kernel has its name.", files: [], thunks: [], decisions: null, tuning: [], kernels: [], ...rest },
});
const FILE = { label: "LLVM IR", path: "a.ll", size: 2048, text: [0, 1], note: "Not optimized." };
const DECISIONS = { grade: "exact", total: 3, steps: [["fused", "a", ["b", "c"], "f", "<b>", 1.25, null]] };
const CODE = {
  ...{ texts: "m/x/texts", inside: { "add.1": 1 }, gone: null },
  units: [
    unit("fusion.1", { files: [FILE], thunks: [0], tuning: [["tile", "64"]] }),
    unit("fusion.2", { decisions: DECISIONS }),
    unit("", { computation: "body" }),
  ],
  thunks: [
    [0, "kKernel", "source", null, 1, "", 0, 0, []],
    [1, "kCopy", "of %p", 0, null, "then", 2, 1, ["fusion.1"]],
  ],
};

/** @returns {Promise<any>} the host of the code at an address */
async function drawn(key, fragment, rest = {}) {
  payloads.set(key, { ...CODE, key, ...rest });
  payloads.set(`${key}-0`, ["", "define void @f()"]);
  const host = page();
  go(fragment);
  await drawCode(host, key);
  await settled();
  return host;
}
const panel = (host) => textOf(host.querySelector("section.xr-step"));
const current = (host) => textsOf(host, "[aria-current]");

test("all thunks come first where there are some", async () => {
  const host = await drawn("code1", "");
  assert.deepEqual(current(host), ["Thunk sequence"]);
  assert.match(panel(host), /then: kCopyof %pfusion\.20 \(fusion\.1\)fusion\.1/);
  assert.match(panel(await drawn("code2", "", { thunks: [], units: [unit("fusion.3")] })), /^%fusion\.3/);
});

test("the address names an instruction, its fusion, or says that it has no code", async () => {
  const host = await drawn("code3", "#unit=%25fusion.2");
  assert.deepEqual(current(host), ["fusion.2"]);
  go("#unit=add.1");
  assert.match(panel(host), /^%fusion\.2add\.1 is part of this instruction\./);
  go("#unit=gone");
  assert.match(panel(host), /gone has no code of its own here/);
  go("#unit=toString");
  assert.match(panel(host), /toString has no code of its own here/);
  go("#unit=body");
  assert.match(panel(host), /^bodyexact/);
});

test("an instruction has its facts, its thunk and its first text open", async () => {
  const words = panel(await drawn("code4", "#unit=fusion.1", { thunks: [CODE.thunks[0], CODE.thunks[1]] }));
  assert.match(words, /In computationmainOpcodefusionShapef32\[8\]Chosen: tile64/);
  assert.doesNotMatch(words, /Scope|Source/);
  assert.match(words, /Runs as thunk 0, kKernel source\. Nearest earlier thunk that touches the same memory: none; /);
  assert.match(words, /the nearest later one: 1 \(fusion\.2\)\./);
  assert.match(words, /LLVM IR 2\.0 KiBa\.llNot optimized\.define void @f\(\)$/);
});

test("fusion decisions are a table of text; how many are left out is said", async () => {
  const words = panel(await drawn("code5", "#unit=fusion.2"));
  assert.match(words, /fusedab, cf<b>1\.252 more; priority_fusion_dump has them\./);
});

test("a part of a name narrows the list", async () => {
  const host = await drawn("code6", "");
  const field = host.querySelector("input");
  field.value = "%FUSION.2";
  field.dispatchEvent(new document.defaultView.Event("input"));
  const hidden = [...host.querySelectorAll(".xr-item")].slice(1).map((item) => item.hidden);
  assert.deepEqual(hidden, [true, false, true]);
});

test("a text that is missing says so in its place", async () => {
  payloads.set("m/code/texts", { texts: [], chunks: [] });
  const units = [unit("fusion.1", { files: [{ ...FILE, text: true }] })];
  const host = await drawn("code7", "#unit=fusion.1", { units, texts: "m/code/texts", thunks: [] });
  assert.match(panel(host), /Cannot show this text\. a\.ll is not among the texts of the module\./);
});

test("of many thunks a part is drawn, and the others can be turned to", async () => {
  const thunks = Array.from({ length: 250 }, (_, id) => [id, "kKernel", "", null, null, "", 0, null, []]);
  const host = await drawn("code8", "", { thunks });
  const rows = () => [...host.querySelectorAll("tbody tr")].map((row) => row.firstChild.textContent);
  const press = (words) => [...host.querySelectorAll("button")].find((button) => button.textContent === words).click();
  assert.deepEqual([rows().length, rows()[0]], [100, "0"]);
  press("Later");
  press("Later");
  assert.deepEqual([rows().length, rows()[0]], [50, "200"]);
  assert.match(panel(host), /Thunks 201 to 250 of 250/);
  press("Earlier");
  assert.deepEqual([rows().length, rows()[0]], [100, "100"]);
});
