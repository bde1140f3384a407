import assert from "node:assert/strict";
import { test } from "node:test";
import { OpNames, phaseOf, plainPaths } from "../../src/names/op_names.js";

for (const [name, forms] of [
  ["jit(step)/jvp(encoder)/mlp/dot_general", ["encoder/mlp/dot_general"]],
  ["jit(step)/transpose(jvp(encoder))/mlp/dot_general", ["encoder/mlp/dot_general"]],
  ["jit(f)/jvp(vmap(a)/b)/c/jit(relu)/max", ["a/b/c/max", "a/b/c/relu/max"]],
  ["jit(f)/jvp()/while/body/closed_call/mlp/dot", ["while/body/closed_call/mlp/dot", "mlp/dot"]],
  ["jit(f)/jvp(a)/x;jit(f)/jvp(b)/y", ["a/x;b/y"]],
  ["encoder/mlp", []],
  ["a(".repeat(900), []],
]) {
  test(`plain forms of ${name.slice(0, 60)}`, () => assert.deepEqual(plainPaths(name).slice(0, 2), forms));
}

test("phases are those that transformations tell", () => {
  assert.deepEqual(
    [
      "jit(f)/jvp(a)/x",
      "jit(f)/transpose(jvp(a))/x",
      "jit(f)/transpose(jvp(a))/rematted_computation/x",
      "f/transpose",
    ].map(phaseOf),
    ["forward", "backward", "recomputed", ""],
  );
});

test("a scope finds the op_names that JAX wraps it in, forward and backward apart", () => {
  const names = [
    "jit(step)/transpose(jvp(encoder))/mlp/dot_general",
    "jit(step)/jvp(encoder)/mlp/dot_general",
    "jit(step)/jvp(encoder)/mlp/dot_general/more",
    "jit(step)/encoder/mlp/dot_general",
    "jit(step)/decoder/mlp/dot_general",
  ];
  const found = (wanted) => new OpNames(names).find(wanted).map((ops) => ops.map(({ name }) => names.indexOf(name)));
  assert.deepEqual(found("encoder/mlp/dot_general"), [[1, 2], [0], [3]]);
  assert.deepEqual(found("jit(step)/encoder/mlp/dot_general"), [[3], [1, 2], [0]]);
  assert.deepEqual(found("transpose(jvp(encoder))/mlp"), [[0]]);
  assert.deepEqual(found("nowhere"), []);
});

test("the op_name that was typed comes first, before those of the forward pass", () => {
  const names = ["jit(step)/jvp(shard_map)/psum", "jit(step)/jvp()/shard_map/psum", "jit(step)/shard_map/psum"];
  const known = new OpNames(names);
  assert.equal(known.find("jit(step)/shard_map/psum")[0][0].name, "jit(step)/shard_map/psum");
  assert.equal(known.find("shard_map/psum")[0][0].phase, "forward");
});

test("an op_name as it stands comes before one that is the same without loops and calls", () => {
  const before = "jit(f)/jvp(lstm)/dot";
  const inside = "jit(f)/jvp(lstm)/while/body/closed_call/dot";
  const known = new OpNames([before, inside]);
  const first = (/** @type {string} */ wanted) => known.find(wanted)[0][0].name;
  for (const wanted of [inside, "lstm/while/body/closed_call/dot", "body/closed_call/dot"]) {
    assert.equal(first(wanted), inside);
  }
  for (const wanted of [before, "lstm/dot"]) assert.equal(first(wanted), before);
});
