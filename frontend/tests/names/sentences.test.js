import assert from "node:assert/strict";
import { test } from "node:test";
import "../page.js";
import { gradeChip, historyLink, nameNode, plainSentence, sentence } from "../../src/names/sentences.js";

const written = (parts) => parts.map((part) => (typeof part === "string" ? part : part.outerHTML));
const link = (name) => `<a title="History" href="#i=${name}" class="xr-ask"><code>%${name}</code></a>`;

test("instructions lead to their histories, other names are code", () => {
  assert.deepEqual(written(sentence("`%dot.3` became `main` of %add_1.")), [
    link("dot.3"),
    " became ",
    "<code>main</code>",
    " of ",
    link("add_1"),
    ".",
  ]);
});

test("a sentence with an odd backtick stays as it is", () => assert.deepEqual(sentence("it's `a"), ["it's `a"]));

test("where nothing can be code the backticks go", () => assert.equal(plainSentence("`a` of `b`"), "a of b"));

test("a name in an address is escaped", () => {
  assert.equal(historyLink("%a#b&c").getAttribute("href"), "#i=a%23b%26c");
  assert.equal(nameNode("<b>").outerHTML, "<code>&lt;b&gt;</code>");
});

test("a grade is one of three, or there is no chip", () => {
  assert.equal(gradeChip("matched").title, "Matched by operation, operands and users.");
  for (const other of ["", null, undefined, "x onclick=", "toString"]) assert.ok(gradeChip(other) === null);
});
