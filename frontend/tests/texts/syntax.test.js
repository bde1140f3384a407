import assert from "node:assert/strict";
import { test } from "node:test";
import { tokens, visible } from "../../src/texts/syntax.js";

/** Lines with the tokens that have to be among theirs, in this order. */
const LINES = {
  '  ROOT %add.5 = f32[128]{0:T(8,128)} add(%a, b.1), metadata={op_name="jit(f)/add"}': [
    "keyword ROOT",
    "variable %add.5",
    "type f32",
    "function add",
    "variable %a",
    "attribute op_name",
    'string "jit(f)/add"',
  ],
  "add.5 = bf16[] add(a)": ["variable add.5", "type bf16", "function add"],
  "ENTRY %e (/*index=0*/p: pred[]) {  // end": ["keyword ENTRY", "comment /*index=0*/", "type pred", "comment // end"],
  "define void @f(ptr %0) #0 { ; made": [
    "keyword define",
    "type void",
    "function @f",
    "variable %0",
    "attribute #0",
    "comment ; made",
  ],
  "  %3 = fadd float %2, -1.5e3": ["variable %3", "keyword fadd", "type float", "number -1.5e3"],
  "loop.header:  ; preds = %a": ["label loop.header:", "comment ; preds = %a"],
  "\tld.param.b64 \t%rd1, [x];": ["function ld.param.b64", "variable %rd1"],
  '^bb0(%a: tensor<4xf32> {mhlo.sharding = "x"}):': ["label ^bb0", "variable %a", "type tensor", 'string "x"'],
  "%0 = stablehlo.add %a, %b loc(#loc3)": ["function stablehlo.add", "attribute #loc3"],
};
const PIECES = ['"', "/*", "/", "%", "a-", "1.", "1e", '"\\', "0x", " ", "u9", "@", "a=", "^", "a.", ";", "#"];

const text = (line) => [...tokens(line)].map(([part]) => part).join("");

for (const [line, expected] of Object.entries(LINES)) {
  test(`tokens of ${line.trim()}`, () => {
    const all = [...tokens(line)].map(([part, look]) => `${look} ${part}`);
    assert.deepEqual(
      all.filter((token) => expected.includes(token)),
      expected,
    );
    assert.equal(text(line), line);
  });
}

for (const piece of PIECES) {
  test(`no character is lost of a line of ${piece}`, () => {
    const line = piece.repeat(Math.floor(2000 / piece.length));
    assert.equal(text(line), line);
  });
}

test("a long line stays plain", () => {
  const line = "%a = f32[] add(%b)".repeat(200);
  assert.deepEqual([...tokens(line)], [[line, ""]]);
});

test("what cannot be seen is written out", () => {
  assert.equal(visible("a\u202eb\u0007c\td\u{1f600}"), "a\\u202eb\u2407c\td\u{1f600}");
});
