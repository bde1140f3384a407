import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf } from "../page.js";
import { SubjectView, namings } from "../../src/history/subject.js";

const event = (stage, what, name, ...from) => [stage, what, `e/%${name}`, from, [], "e", ""];
const made = event(1, "created", "fusion.26", "dot.1", "add.2");
const renamed = event(2, "renamed", "fusion.135", "fusion.26");
const again = event(3, "renamed", "fusion.166", "fusion.135");

test("a name leads back through renamings to what made the instruction", () => {
  const events = [made, renamed, event(2, "created", "other", "x"), again, event(4, "changed", "fusion.166")];
  assert.deepEqual(namings("%fusion.166", events), [again, renamed, made]);
});

test("what was created under its name is not followed further", () => {
  assert.deepEqual(namings("%fusion.26", [event(0, "added", "dot.1"), made]), [made]);
});

test("a name that no event gave has none", () => {
  assert.deepEqual(namings("%p", [made]), []);
});

test("what the compiler made for an op of the first snapshot names it as its origin", () => {
  const index = {
    stages: [["0000"], ["0001", "step"]],
    titles: ["x", "mlp/dot_general"],
    forward: 1,
    leftOut: new Map(),
  };
  const view = new SubjectView(index, "steps.html", null);
  const added = [1, "added", "e/%all-reduce.4", [], [], "m", "it combines partial results of %dot.15"];
  const heading = (ops) => view.begun([added], ops)[0].textContent;
  assert.equal(heading(["mlp/dot_general"]), "Compiler-generated for an op of before_optimizations");
  assert.equal(view.begun([added], ["mlp/dot_general"])[1].textContent, "By op_name: mlp/dot_general");
  assert.equal(heading([""]), "Compiler-generated; no origin in before_optimizations");
});

test("an op maps to all matrix products with its op_name, and these come first", () => {
  const index = { stages: [["0000"]], titles: [], forward: 0, between: [9], leftOut: new Map() };
  const facts = {
    carriers: () => ["dot.0", "dot.20", "and.1"],
    kind: (name) => name.replace(/\.\d+/, ""),
    fusionOf: () => "",
    share: () => 0,
  };
  const standing = (name) => [`e/%${name}`, name.replace(/\.\d+/, ""), "f32[8]", "", ""];
  const standings = ["copy.3", ...Array.from({ length: 9 }, (_, place) => `dot.${place}`)].map(standing);
  const subject = { now: [10, ...standings.keys()], origins: [0], instructions: 1 };
  const history = { title: "mlp/dot_general", subject, events: [], standings, number: 0 };
  const part = new SubjectView(index, "steps.html", facts).part(history, true);
  assert.equal(part.querySelector("h3").textContent, "Maps to 11 instructions in after_optimizations");
  const names = [...part.querySelectorAll(".xr-places")].map((list) =>
    [...list.children].map((line) => line.querySelector("a")?.textContent ?? line.textContent),
  );
  assert.equal(names[0].length, 10);
  assert.ok(
    names[0].every((name) => name.includes("dot.")),
    names[0],
  );
  assert.ok(names[0].at(-1).includes("dot.20"));
  assert.ok(names[1][0].includes("copy.3"));
  assert.ok(part.textContent.includes("1 more in after_optimizations has this op_name."));
});

test("what stories name of a fusion is in the final snapshot, what it lacks is intermediate", () => {
  const index = { stages: [["0000"]], titles: [], forward: 0, between: [0], leftOut: new Map() };
  const kind = (place) => {
    const standings = [["fused/%mul.1", "multiply", "f32[8]", "", ""]];
    const subject = { now: [1, 0], origins: [0], instructions: 1, events: [] };
    const history = { title: place, subject, events: [], standings, number: 0 };
    return textOf(new SubjectView(index, "steps.html", null).part(history, true).querySelector("summary"));
  };
  assert.equal(kind("fused/%mul.1"), "%mul.1 in after_optimizations");
  assert.equal(kind("main/%mul.1"), "%mul.1 intermediate only");
});
