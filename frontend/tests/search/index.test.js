import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleIndex, ranker } from "../../src/search/index.js";

const MODULE = { slug: "x", name: "jit_f", key: "x", role: "", order: 0, read: true, changed: true };
const VALUE = {
  complete: true,
  stages: [
    ["0000", "0000 start", "0000 start", 1],
    ["0001", "0001 fusion: fusion", "fusion", 1],
    ["last", "last", "last", 0],
  ],
  spans: [
    [0, 2],
    [1, 1],
    [1, 2],
  ],
  codes: ["dot", "add"],
  forms: { "all-reduce": ["all-reduce-done", "all-reduce-start"] },
  kinds: {
    instruction: { stems: ["dot", "add"], counts: [2, 1], numbers: [1, 3, 5], spans: [0, 1, 2], codes: [0, 0, 1] },
    opcode: { values: ["dot", "add", "all-reduce"], spans: [0, 0, 1] },
  },
  steps: [[1, { dot: [1, 0, 2], "all-reduce-start": [3, 0, 0], "all-reduce-done": [3, 0, 0] }, [0], [], [1]]],
};
const index = () => new ModuleIndex(MODULE, VALUE, true);
const texts = (hits) => [...hits].map(({ rank, hit }) => [rank, hit().text]);

for (const [value, query, rank] of [
  ["dot", "dot", 0],
  ["dot.1", "dot", 1],
  ["a_dot", "dot", 2],
  ["adot", "dot", 3],
  ["add", "dot", -1],
  ["a dot b", "b dot", 3],
  ["dot", "dot x", -1],
  ["state['p']['w']", "p['w']", 3],
  ["state['p']['w']", 'p["w"]', 3],
  ["state['q']['w']", "p['w']", -1],
]) {
  test(`${query} in ${value} has rank ${rank}`, () => assert.equal(ranker(query)(value), rank));
}

for (const query of ["all_reduce", "psum", "dot_general"]) {
  test(`${query} finds the opcode that JAX's primitive becomes`, () => {
    const [[rank, text]] = texts(index().find("opcode", ranker(query)));
    assert.deepEqual([rank, text], [1, query === "dot_general" ? "dot" : "all-reduce"]);
  });
}

test("names are put together from stems and the distances of their numbers", () => {
  assert.deepEqual(texts(index().find("instruction", ranker("dot"))), [
    [0, "%dot"],
    [1, "%dot.2"],
  ]);
});

test("a hit says how long it lived and leads to where it can be seen", () => {
  const [first, gone] = [...index().find("instruction", ranker("dot"))].map(({ hit }) => hit());
  assert.deepEqual([first.note, first.href], ["dot, from the first snapshot to the last, in jit_f", "m/x.html#i=dot"]);
  assert.ok(gone.href.startsWith("m/x.html#i="));
});

test("an instruction that was there on the way is in the text of the last snapshot with it", () => {
  const hit = index().textOf("dot.2");
  assert.deepEqual([hit?.note, hit?.href], ["only in fusion", "m/x.html?texts#text=0001&name=dot.2"]);
  assert.equal(index().textOf("add.5"), null, "the last snapshot has no text");
  assert.equal(index().textOf("gone"), null);
});

test("the steps that touched an opcode or an instruction are found", () => {
  assert.deepEqual(
    index()
      .touchedOpcode("dot")
      .map(({ note }) => note),
    ["1 added, 2 changed, in jit_f"],
  );
  assert.deepEqual(index().touchedOpcode("constructor"), []);
  assert.deepEqual(
    index()
      .touchedOpcode("all-reduce")
      .map(({ note }) => note),
    ["3 added, in jit_f"],
  );
  assert.equal(index().touchedName("dot").length, 1);
  assert.deepEqual(index().touchedName("nothing"), []);
});

test("an operation is found by its name where only its forms are written", () => {
  const [hit] = [...index().find("opcode", ranker("all-reduce"))].map((found) => [found.rank, found.hit()]);
  assert.equal(hit[0], 0);
  assert.equal(hit[1].note, "all-reduce-done, all-reduce-start, only in fusion, in jit_f");
  assert.ok(hit[1].href.endsWith("find=all-reduce"));
});

test("op_names below a scope are counted by whole levels of their paths", () => {
  const values = ["jit(f)/h_1/mlp/dot", "jit(f)/h_1/mlp/add", "jit(f)/h_11/mlp/dot", "mlp"];
  const kinds = { op_name: { values, spans: [0, 0, 0, 0] } };
  const some = new ModuleIndex(MODULE, { ...VALUE, kinds }, true);
  assert.deepEqual(
    ["h_1", "h_1/", "h_1/mlp", "jit(f)", "mlp", "lp", "dot"].map((scope) => some.below(scope).length),
    [2, 2, 2, 3, 3, 0, 0],
  );
});

test("several op_names in one come last, and lead where they are", () => {
  const values = ["jit(f)/(loss/add:mul)", "jit(f)/lm_loss/deep/reduce_sum", "jit(f)/loss/a;jit(f)/loss/b"];
  const kinds = { op_name: { values, spans: [1, 0, 2] } };
  const some = new ModuleIndex(MODULE, { ...VALUE, kinds }, false);
  const found = [...some.find("op_name", ranker("loss"))];
  assert.deepEqual(
    found.map(({ rank, gone }) => [rank, gone]),
    [
      [3, true],
      [2, false],
      [3, true],
    ],
  );
  assert.deepEqual(
    found.map(({ hit }) => hit().href.split("#")[1].split("=")[0]),
    ["text", "op", "op"],
  );
  const [same] = some.find("op_name", ranker(values[2]));
  assert.equal(same.rank, 0);
});

test("a scope has its time where tables list it, and its instructions", () => {
  const values = ["jit(f)/jvp(H_1)/mlp/dot", "jit(f)/gone/dot", "jit(f)/a/b/deep/dot"];
  const kinds = { op_name: { values, spans: [0, 1, 0] } };
  const some = new ModuleIndex(MODULE, { ...VALUE, kinds }, false);
  const hits = (scope) => [...some.scope(scope)].map(({ hit }) => hit());
  assert.deepEqual(hits("h_1/mlp"), [
    { text: "H_1/mlp", note: "1 op_name: time", href: "m/x.html?cost#t=m/x/scopes&q=H_1%20mlp" },
    { text: "H_1/mlp", note: "1 op_name: instructions", href: "m/x.html#t=m/x/instructions&q=H_1%20mlp" },
  ]);
  assert.deepEqual(hits("gone"), []);
  assert.deepEqual(
    hits("deep").map(({ note }) => note),
    ["1 op_name: instructions"],
  );
});

test("a word in the names of scopes finds these where no scope has the name", () => {
  const values = [
    "jit(f)/jvp(lm_loss)/ge",
    "jit(f)/lm_loss/mul",
    "jit(f)/lossless/mul",
    "jit(f)/lm_loss",
    "jit(f)/a_gone/b",
  ];
  const kinds = { op_name: { values, spans: [0, 0, 0, 0, 1] } };
  const some = new ModuleIndex(MODULE, { ...VALUE, kinds }, false);
  const found = [...some.scope("loss")];
  assert.deepEqual(
    found.map(({ rank, hit }) => [rank, hit().text]),
    [
      [1, "lm_loss"],
      [1, "lm_loss"],
    ],
  );
  assert.equal(found[0].hit().href, "m/x.html?cost#t=m/x/scopes&q=lm_loss");
  assert.deepEqual([...some.scope("gone")], []);
  assert.deepEqual([...some.scope("mul")], []);
});

test("a part of the names of scopes finds these where no scope has it as a word", () => {
  const values = ["jit(f)/layernorm/mul", "jit(f)/attention/dot"];
  const some = new ModuleIndex(MODULE, { ...VALUE, kinds: { op_name: { values, spans: [0, 0] } } }, false);
  assert.deepEqual(texts(some.scope("norm")).at(0), [1, "layernorm"]);
});

test("an argument whose last part was typed is the same, with another part it begins with it", () => {
  const values = ["st['c']['qkv']", "st['p']['qkv'][0]", "st['p']['qkv']['w']", "st['p']['qkv2']"];
  const some = new ModuleIndex(MODULE, { ...VALUE, kinds: { op_name: { values, spans: [0, 0, 0, 0] } } }, false);
  assert.deepEqual(
    [...some.find("op_name", ranker("qkv"))].map(({ rank, part, models }) => [rank, part, models]),
    [
      [0, true, false],
      [0, true, true],
      [1, true, true],
      [2, false, true],
    ],
  );
});

test("a function leads to its source lines, else to the text of the last snapshot that has it", () => {
  const values = ["f.<locals>.loss", "loss_of_old", "rms"];
  const kinds = { function: { values, spans: [0, 1, 0], lines: [3, 0, 0] } };
  const some = new ModuleIndex(MODULE, { ...VALUE, kinds }, false);
  const found = [...some.find("function", ranker("loss"))];
  assert.deepEqual(
    found.map(({ rank, gone, hit }) => [rank, gone, hit().text, hit().note, hit().href]),
    [
      [
        0,
        false,
        "f.<locals>.loss",
        "3 source lines, from the first snapshot to the last",
        "m/x.html?source#t=m/x/lines&q=loss",
      ],
      [1, true, "loss_of_old", "only in fusion", "m/x.html?texts#text=0001&find=loss_of_old"],
    ],
  );
  assert.equal([...some.find("function", ranker("f.<locals>"))].length, 1);
  const [unlisted] = [...some.find("function", ranker("rms"))];
  assert.deepEqual([unlisted.gone, unlisted.hit().href], [false, "m/x.html?steps#step=last"]);
});
