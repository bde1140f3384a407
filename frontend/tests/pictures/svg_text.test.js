import assert from "node:assert/strict";
import { test } from "node:test";
import { decimal, escaped, shorten } from "../../src/pictures/svg_text.js";

test("text has no markup and nothing that cannot be seen", () => {
  assert.equal(escaped(`<a b="c" d='e'>&\u202e\u0000\n`), "&lt;a b=&quot;c&quot; d=&#x27;e&#x27;&gt;&amp;  \n");
  assert.equal(escaped(null), "null");
});

test("numbers have a decimal at the most", () => {
  assert.deepEqual([1, 1.25, -0.04, 12.34].map(decimal), ["1", "1.3", "0", "12.3"]);
});

test("a long text keeps its beginning and its end, and is cut between letters", () => {
  assert.equal(shorten("abcdefghij", 10), "abcdefghij");
  assert.equal(shorten("abcdefghijk", 10), "abcdef…ijk");
  assert.equal([...shorten("😀".repeat(50))].length, 36);
});
