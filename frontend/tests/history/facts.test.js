import assert from "node:assert/strict";
import { test } from "node:test";
import "../page.js";
import { InstructionFacts } from "../../src/history/facts.js";
import { sample } from "../graphs/sample.js";

const figure = (scope) => ({ flops: null, bytes: null, stored: null, share: null, scope });

test("op_names lead to the instructions that have them", () => {
  const figures = ["", "f/mul", "", "", "", "", "f/mul", "f/add"].map(figure);
  const facts = new InstructionFacts({ seconds: null, fusion: "", facts: {} }, sample(), figures);
  assert.deepEqual(
    [...facts.scopes],
    [
      ["f/mul", ["mul", "fusion"]],
      ["f/add", ["add"]],
    ],
  );
});

test("values that are only passed on, and scalars of a reduction, carry no op", () => {
  const figures = ["f/mul", "f/mul", "", "", "", "", "f/mul", "f/add"].map(figure);
  const graph = sample();
  const facts = new InstructionFacts({ seconds: null, fusion: "", facts: {} }, graph, figures);
  assert.deepEqual(facts.scopes.get("f/mul")?.length, 3);
  assert.deepEqual(facts.carriers("f/mul"), ["mul", "fusion"]);
  assert.deepEqual(facts.carriers("gone"), []);
  const opcode = graph.opcode.bind(graph);
  graph.opcode = (place) => (opcode(place) === "fusion" ? "reduce" : opcode(place));
  assert.deepEqual(facts.carriers("f/mul"), ["fusion"]);
});

test("what the final snapshot does not have has no facts", () => {
  const facts = new InstructionFacts({ seconds: null, fusion: "", facts: {} }, sample(), []);
  assert.equal(facts.part("gone"), null);
});

test("what a fusion runs is told by its name", () => {
  const facts = new InstructionFacts({ seconds: null, fusion: "", facts: {} }, sample(), []);
  assert.deepEqual(
    ["fused/%mul", "main/%add", "gone"].map((place) => facts.fusionOf(place)),
    ["fusion", "", ""],
  );
});

test("the cost of an asynchronous start is that of what it runs", () => {
  const graph = sample();
  const opcode = graph.opcode.bind(graph);
  graph.opcode = (place) => (opcode(place) === "fusion" ? "async-start" : opcode(place));
  const facts = new InstructionFacts({ seconds: null, fusion: "", facts: {} }, graph, []);
  const places = ["fusion", "mul", "add"].map((name) => graph.find(name));
  assert.deepEqual(
    places.map((place) => graph.name(facts.wrapped(place))),
    ["mul", "mul", "add"],
  );
});

test("it is not said of an instruction in a fusion why it was not fused", () => {
  const facts = new InstructionFacts({ seconds: null, fusion: "Not known.", facts: {} }, sample(), []);
  const places = ["mul", "add"].map((name) => facts.graph.find(name));
  assert.deepEqual(
    places.map((place) => facts.isUnfused(place, [])),
    [false, true],
  );
});

test("the time of an instruction in a fusion is its part of the fusion's", () => {
  const figures = Array.from({ length: 8 }, () => figure(""));
  const facts = new InstructionFacts({ seconds: 2e-6, fusion: "", facts: {} }, sample(), figures);
  for (const name of ["mul", "fusion"]) figures[facts.graph.find(name)] = { ...figure(""), bytes: 0, share: 0.5 };
  const [inside, whole] = ["mul", "fusion"].map((name) => facts.part(name)?.textContent);
  assert.match(inside ?? "", /1 µs, 50% of the estimated time of a run, its part of fusion/);
  assert.doesNotMatch(inside ?? "", /accessed/);
  assert.doesNotMatch(whole ?? "", /its part of/);
  assert.match(whole ?? "", /0 B accessed/);
});

for (const runner of ["while", "async-start"]) {
  test(`the cost of a ${runner} in a body is that of all that it runs`, () => {
    const graph = sample();
    const opcode = graph.opcode.bind(graph);
    graph.opcode = (place) => (opcode(place) === "fusion" ? runner : opcode(place));
    const none = { flops: null, bytes: null, stored: null, share: null, scope: "" };
    const figures = Array.from({ length: 8 }, () => none);
    figures[graph.find("mul")] = { flops: 64, bytes: 96, stored: 1536, share: 0.5, scope: "" };
    figures[graph.find("fusion")] = { flops: 0, bytes: null, stored: null, share: 0, scope: "" };
    const facts = new InstructionFacts({ seconds: 2e-6, fusion: "", facts: {} }, graph, figures);
    assert.deepEqual(facts.counted(graph.find("fusion")), { flops: 64, bytes: 96, stored: 1536, share: 0.5 });
  });
}
