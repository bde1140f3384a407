import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf } from "../page.js";
import { leftOutOp, leftOutPart, unknownName, withoutHistory } from "../../src/history/left_out.js";

const index = {
  leftOut: new Map([
    ["f/ffn/dot_general", ["e/%dot_general.409", "e/%dot_general.410"]],
    ["f/mul", ["e/%mul.1", 4]],
  ]),
  complete: false,
};
const words = (parts) => parts.map(textOf).join(" ");

test("an op_name whose history is left out is said to be in the first snapshot", () => {
  const said = words(leftOutPart(index, "f/ffn/dot_general"));
  assert.match(
    said,
    /^In before_optimizations f\/ffn\/dot_general is 2 instructions: %dot_general\.409 ?%dot_general\.410/,
  );
  assert.match(said, /so large that not all histories are kept: this one is left out\. .* xlareport history/);
  assert.match(words(leftOutPart(index, "f/mul")), /is 5 instructions: %mul\.1 and 4 that are not listed/);
  assert.deepEqual(leftOutPart(index, "f/add"), []);
});

test("an instruction of it leads to its op_name", () => {
  assert.equal(leftOutOp(index, "dot_general.410"), "f/ffn/dot_general");
  assert.equal(leftOutOp(index, "general.410"), null);
});

test("a part of a fusion is said to be one, with its op_name", () => {
  const said = words(withoutHistory(index, "convolution.613", "fusion.3477", "f/ffn/dot_general"));
  assert.match(said, /^%convolution\.613 is a part of %fusion\.3477; .* By op_name: f\/ffn\/dot_general$/);
});

test("what runs by itself has its history left out, where not all are kept", () => {
  assert.match(words(withoutHistory(index, "copy.1", "", "")), /this one is left out/);
  assert.match(words(withoutHistory({ ...index, complete: true }, "add.1", "", "")), /no history of its own\.$/);
});

test("of a name that nothing has it is said that not all are here", () => {
  assert.match(unknownName(index), /not all of its instructions are here/);
  assert.doesNotMatch(unknownName({ ...index, complete: true }), /so large/);
});
