import assert from "node:assert/strict";
import { test } from "node:test";
import { tokens, visible } from "../../src/texts/syntax.js";

const looks = (line) => [...tokens(line)].filter(([, look]) => look).map(([part, look]) => `${look} ${part}`);

test("a line of HLO has an opcode, types, names and numbers", () => {
  assert.deepEqual(looks("  ROOT %dot.1 = f32[8,8]{1,0} dot(%a, %b), lhs_contracting_dims={1}").slice(0, 4), [
    "keyword ROOT",
    "variable %dot.1",
    "type f32",
    "number 8",
  ]);
  assert.ok(looks("%a = f32[] dot(%b)").includes("function dot"));
});

test("no character is lost", () => {
  for (const line of ['a "open', "/* open", "%%%", "a.b(c", "x = y # z"]) {
    assert.equal([...tokens(line)].map(([part]) => part).join(""), line);
  }
});

test("what cannot be seen is written out", () => assert.equal(visible("a\u202eb\u0007"), "a\\u202eb\u2407"));
