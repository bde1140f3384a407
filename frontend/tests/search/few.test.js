import assert from "node:assert/strict";
import { test } from "node:test";
import { WORDS } from "../samples.js";
import {
  distinct,
  explained,
  filesFirst,
  isModels,
  isOptimizers,
  modelFirst,
  ofBackends,
  partsBelow,
  rootOf,
  topics,
} from "../../src/search/few.js";

test("entries of the glossary are found by name and by synonym", () => {
  const all = new Map(explained(WORDS));
  assert.deepEqual(all.get("dot")(), {
    text: "dot",
    note: "opcode: Multiplies matrices.",
    href: "glossary.html#opcode-dot",
  });
  assert.deepEqual(all.get("kernel")(), {
    text: "fusion",
    note: "kernel: Several instructions as one.",
    href: "glossary.html#word-fusion",
  });
  assert.deepEqual([...explained(null)], []);
});

test("a topic is found by its title and by each of its words", () => {
  const words = ["a", "b", "c", "d", "e", "f"];
  const all = [...topics([["Memory", "m/x.html?memory", words]])];
  assert.deepEqual(
    all.map(([name]) => name),
    ["Memory", ...words],
  );
  assert.deepEqual(all[6][1](), { text: "Memory", note: "a, b, c, d, e", href: "m/x.html?memory" });
});

test("of results that lead to one place the best is kept", () => {
  const match = (href, rank) => ({ rank, hit: () => ({ text: "", note: "", href }) });
  const matches = [match("a", 0), match("b", 1), match("a", 2)];
  assert.deepEqual(distinct(matches), matches.slice(0, 2));
});

test("flags of other backends are found only by their names", () => {
  const entries = ["xla_tpu_a", "xla_sc_a", "xla_gpu_a", "xla_a"].map((name) => [
    name,
    () => ({ text: name, note: "", href: "" }),
  ]);
  const names = (backends, query) => [...ofBackends(entries, backends, query)].map(([name]) => name);
  assert.deepEqual(names(["gpu"], "a"), ["xla_gpu_a", "xla_a"]);
  assert.deepEqual(names(["gpu"], "--xla_tpu_a"), ["xla_tpu_a", "xla_sc_a", "xla_gpu_a", "xla_a"]);
  assert.deepEqual(names(["gpu"], "xla_sc_a"), ["xla_tpu_a", "xla_sc_a", "xla_gpu_a", "xla_a"]);
  assert.deepEqual(names([], "a").length, 4);
});

for (const [name, is] of [
  ["state['mean']['blocks']['qkv']", true],
  ["opt['mu']['params']['w']", true],
  ["opt_state.nu", true],
  ["state['params']['attention']['v']", false],
  ["params['norm']['mean']", false],
  ["x['w']", false],
  ["jit(f)/opt/mul", false],
  ["st['p']['m']", false],
  ["st['m']['p']", true],
]) {
  test(`${name} is ${is ? "" : "not "}the state of an optimizer`, () => assert.equal(isOptimizers(name), is));
}

test("of several files that of the module of the page comes first, else the list of all", () => {
  const file = (text, rank = 2) => ({ rank, hit: () => ({ text, note: "", href: text }) });
  const all = ["m_1.f.first.txt", "m_1.f.last.txt", "m_2.f.last.txt"].map((text) => file(text));
  const texts = (matches, key) =>
    filesFirst(matches, "t", key, (query) => `list ${query}`).map(({ hit }) => hit().href);
  assert.deepEqual(texts(all.slice(1), "m_2.f"), ["m_2.f.last.txt", "list t", "m_1.f.last.txt"]);
  assert.deepEqual(texts(all.slice(1), ""), ["list t", "m_1.f.last.txt", "m_2.f.last.txt"]);
  assert.deepEqual(texts(all, "m_1.f"), ["list t", "m_1.f.first.txt", "m_1.f.last.txt", "m_2.f.last.txt"]);
  assert.deepEqual(texts([all[0]], ""), ["m_1.f.first.txt"]);
  assert.deepEqual(texts([file("t", 0), all[0]], ""), ["t", "m_1.f.first.txt"]);
});

for (const [name, is] of [
  ["st['p']['qkv']", true],
  ["state.params['w']", true],
  ["st['c']['qkv']", false],
  ["st['m']['params']", false],
  ["jit(f)/params/mul", false],
]) {
  test(`${name} is ${is ? "" : "not "}a model's`, () => assert.equal(isModels(name), is));
}

for (const [name, parts] of [
  ["st['p']['att']['qkv']", ["qkv", "att", "p"]],
  ["st['p']['head'][0]", ["head", "p"]],
  ["state.params['dense_0'].kernel", ["kernel", "dense_0", "params"]],
  ["p['emb']", ["emb"]],
  ["x", []],
  ["jit(f)/jvp(head)/mul", []],
]) {
  test(`${name} has ${parts.length} parts below its root`, () => assert.deepEqual(partsBelow(name), parts));
}

test("a model's arguments come first, the state of an optimizer last", () => {
  const [optimizers, other, models] = [{ optimizers: true }, {}, { models: true }];
  assert.deepEqual(modelFirst([optimizers, other, models]), [models, other, optimizers]);
});

for (const [name, root] of [
  ["cache['k']", "cache"],
  ["state.params['w'][0]", "state"],
  ["x", ""],
  ["jit(f)/cache_update/add", ""],
]) {
  test(`the root of ${name} is "${root}"`, () => assert.equal(rootOf(name), root));
}

test("a topic is found by the name of an attribute too", () => {
  const names = [...topics([["Collectives", "m/x.html?collectives", ["replica groups", "psum"]]])].map(
    ([name]) => name,
  );
  assert.deepEqual(names, ["Collectives", "replica groups", "replica_groups", "psum"]);
});
