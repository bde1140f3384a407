import assert from "node:assert/strict";
import { test } from "node:test";
import { endingWith, joinedPaths, properEnds, relativeParts } from "../../src/history/paths.js";

const OPS = new Set([
  "jit(f)/while/body/closed_call",
  "jit(f)/while/body/other",
  "jvp()/in_proj/dot_general",
  "jvp()/inner",
  "exp",
  "mul",
]);

test("a path is what a call and a name inside of it make", () => {
  const path = "jit(f)/while/body/closed_call/jvp()/in_proj/dot_general";
  assert.deepEqual(relativeParts(path, OPS), ["jvp()/in_proj/dot_general"]);
});

test("calls inside of calls join several times", () => {
  assert.deepEqual(relativeParts("jit(f)/while/body/closed_call/jvp()/inner/exp", OPS), ["exp"]);
});

test("the end of a path alone is no part of it", () => {
  assert.deepEqual(relativeParts("jit(f)/elsewhere/mul", OPS), []);
  assert.deepEqual(relativeParts("mul", OPS), []);
  assert.deepEqual(relativeParts(`jit(f)/while/body/closed_call/${"a/".repeat(500)}mul`, OPS), []);
});

test("only paths that the first snapshot lacks are joined", () => {
  const finals = ["exp", "jit(f)/while/body/other/exp", "jit(f)/while/body/other"];
  assert.deepEqual([...joinedPaths(finals, OPS)], [["jit(f)/while/body/other/exp", ["exp"]]]);
});

test("an op_name of a snapshot in between leads to the paths that end with it", () => {
  const ops = ["jit(f)/while/poisson/fft", "poisson/fft", "jit(f)/otherpoisson/fft", "jit(f)/while/poisson/fft"];
  assert.deepEqual(endingWith("poisson/fft", ops), ["jit(f)/while/poisson/fft"]);
});

test("the ends of an op_name begin behind its slashes", () => {
  assert.deepEqual([...properEnds(["jit(f)/while/mul", "exp"])], ["while/mul", "mul"]);
});
