import assert from "node:assert/strict";
import { test } from "node:test";
import { putFirst } from "../../src/search/precedence.js";

const group = (kind, best, ...texts) => ({
  kind,
  title: kind,
  matches: texts.map((text) => ({ rank: best, hit: () => ({ text, note: "", href: "" }) })),
  count: texts.length,
  best,
});
const ranks = (query, ...groups) => {
  putFirst(groups, query);
  return groups.map(({ best }) => best);
};

for (const [what, name, query, best] of [
  ["instruction", "%cholesky.45", "cholesky", 1],
  ["instruction", "%cholesky_32", "cholesky", 0],
  ["op_name", "jit(f)/jit(cholesky)/add", "cholesky", 1],
  ["op_name", "jit(f)/my_cholesky/add", "cholesky", 0],
  ["file", "cholesky", "cholesky", 0],
  ["function", "f.<locals>.cholesky", "cholesky", 1],
  ["function", "f.<locals>.cholesky_of", "cholesky", 0],
]) {
  test(`the ${what} ${name} and the entry ${query}: rank ${best}`, () => {
    assert.equal(ranks(query, group(what, 1, name), group("word", 0, query))[1], best);
  });
}

test("a scope comes first unless a name is what was typed", () => {
  assert.deepEqual(ranks("a", group("scope", 0, "a"), group("opcode", 1, "add")), [-1, 1]);
  assert.deepEqual(ranks("a", group("scope", 0, "a"), group("opcode", 0, "a")), [0, 0]);
});

test("a section comes first unless a module or an instruction is what was typed", () => {
  assert.deepEqual(ranks("a", group("topic", 0, "a"), group("instruction", 1, "%a.1")), [-1, 1]);
  assert.deepEqual(ranks("a", group("topic", 0, "a"), group("module", 0, "a")), [0, 0]);
});

test("names that only earlier snapshots have come after those of the last", () => {
  const gone = { ...group("instruction", 1, "%params__w__.0"), matches: [{ rank: 1, gone: true, hit: () => null }] };
  assert.deepEqual(ranks("w", gone, group("op_name", 2, "params['w']")), [2.5, 2]);
  const same = {
    ...gone,
    best: 0,
    matches: [{ rank: 0, gone: true, hit: () => ({ text: "%w", note: "", href: "" }) }],
  };
  assert.deepEqual(ranks("w", same, group("op_name", 2, "params['w']")), [0, 2]);
});

test("an argument of which a part was typed comes first unless a name is what was typed", () => {
  const argument = group("op_name", 1, "st['p']['head'][0]");
  argument.matches[0].part = true;
  const word = group("word", 0, "head");
  assert.deepEqual(ranks("head", group("touched", 1, "0001"), argument, word), [0, -1, 1]);
  const again = { ...argument, best: 1 };
  assert.deepEqual(ranks("head", group("instruction", 0, "%head"), again), [0, 1]);
});

test("a scope with the query as a word comes before an entry of the glossary and before steps", () => {
  const [stages, scope, word] = [group("stages", 1, "0001"), group("scope", 1, "lm_loss"), group("word", 0, "loss")];
  assert.deepEqual(ranks("loss", stages, scope, word), [1, 0.5, 1]);
  assert.deepEqual(ranks("lo", { ...stages, best: 1 }, { ...scope, best: 1 }), [1, 1]);
});

test("an op_name that ends with what was typed comes before names that begin with it", () => {
  const op = group("op_name", 2, "jit(f)/select_and_scatter");
  op.matches[0].op = true;
  assert.deepEqual(ranks("select_and_scatter", group("instruction", 1, "%select_and_scatter.5"), op), [1, 0.6]);
  const gone = { ...op, best: 2, matches: [{ ...op.matches[0], gone: true }] };
  assert.deepEqual(ranks("select_and_scatter", group("instruction", 1, "%select_and_scatter.5"), gone), [1, 2.5]);
});
