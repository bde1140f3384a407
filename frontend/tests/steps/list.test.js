import assert from "node:assert/strict";
import { test } from "node:test";
import { go, page, textOf, textsOf } from "../page.js";
import { StepsList, chipParts, isFirst } from "../../src/steps/list.js";

const step = (id, changed, rest = {}) => ({
  ...{ id, label: `${id} algsimp`, name: "algsimp", pipeline: "simplification", after: "algsimp", before: "dce" },
  ...{ changed, instructions: 9, computations: 1, added: changed ? 1 : 0, removed: changed ? 1234 : 0, modified: 0 },
  ...{ headline: changed ? "`%a` went." : "Nothing changed.", files: [] },
  ...rest,
});
const STEPS = [
  step("0000", null, { after: "pipeline-start", before: null }),
  step("0001", true, { weight: 1, chips: [["bytes", "more bytes"]] }),
  step("0002", false),
  step("0003", false),
  step("0004", true, { weight: 7, chips: [["fusions", "+2 fusions"]], after: "fusion" }),
  step("0005", false, { after: "copy" }),
  step("0006", true, { after: null, partitioner: "spmd" }),
];
const TREE = [
  { pipeline: "simplification", run: 1, first: 0, last: 5 },
  { pipeline: "fusion", run: 2, first: 4, last: 4 },
];
const INDEX = { module: "m", slug: "x", tree: TREE, steps: STEPS, hidden_note: null };
const listed = (fragment = "", index = INDEX) => {
  go(fragment);
  return new StepsList(index, () => {});
};
const labels = (list) => textsOf(list.body, ".xr-item-label");

test("steps stand below their pipelines; one that was interrupted goes on", () => {
  const { body, root } = listed();
  assert.deepEqual(textsOf(body, "h2"), ["simplification", "fusion, run 2", "simplification, continued"]);
  assert.match(textOf(root), /^3 of 6 steps changed the module\./);
});

test("steps without change are folded where they stand", () => {
  const { body } = listed();
  assert.deepEqual(textsOf(body, "summary"), ["2 steps without change", "1 step without change"]);
  assert.equal(body.querySelector("details .xr-item").className, "xr-item xr-unchanged");
});

test("the first snapshot is the start, the partitioner has its own name", () => {
  const list = listed();
  assert.deepEqual([labels(list)[0], labels(list).at(-1)], ["pipeline start", "SPMD partitioner"]);
  assert.match(textOf(list.items.get("0000")), /start$/);
  assert.ok(isFirst(STEPS[0], INDEX) && !isFirst(STEPS[1], INDEX));
});

test("figures have signs and thousands", () => {
  assert.equal(textOf(listed().items.get("0001").querySelector(".xr-delta")), "+1−1,234");
  const unknown = step("0001", null);
  const { items } = listed("", { ...INDEX, tree: [], steps: [STEPS[0], unknown] });
  assert.match(textOf(items.get("0001")), /not known/);
});

test("the address may ask for an order and a kind", () => {
  assert.deepEqual(labels(listed("#by=effect")), ["fusion", "algsimp", "SPMD partitioner"]);
  assert.deepEqual(labels(listed("#only=fusions")), ["fusion"]);
  assert.deepEqual(labels(listed("#by=nonsense")).length, STEPS.length);
});

test("a choice draws the list anew and is in the address", () => {
  const list = listed();
  const [by] = list.root.querySelectorAll("select");
  by.value = "effect";
  by.dispatchEvent(new document.defaultView.Event("change"));
  assert.equal(labels(list)[0], "fusion");
  assert.equal(location.hash, "#by=effect");
});

test("the step that is shown is marked, and its fold is opened", () => {
  const list = listed();
  page().append(list.root);
  list.mark(STEPS[2]);
  assert.ok(list.items.get("0002").closest("details").open);
  list.mark(STEPS[4]);
  assert.equal(list.root.querySelectorAll("[aria-current]").length, 1);
});

test("a click tells which step is wanted", () => {
  const opened = [];
  go("");
  const list = new StepsList(INDEX, (wanted) => opened.push(wanted.id));
  list.items.get("0004").click();
  assert.deepEqual(opened, ["0004"]);
});

test("effects are chips of their kind", () => {
  assert.equal(chipParts(STEPS[1]).firstElementChild.className, "xr-effect xr-bytes");
  assert.ok(chipParts({ ...STEPS[1], chips: [] }) === null);
});
