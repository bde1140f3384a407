import assert from "node:assert/strict";
import { test } from "node:test";
import {
  LAYOUTS,
  glossaryEntry,
  listedFile,
  listedInstructions,
  modulePage,
  modulePageBeside,
  placeOf,
} from "../../src/core/pages.js";

test("a module's page has parts and places", () => {
  assert.equal(modulePage("x"), "m/x.html");
  assert.equal(modulePage("x", "cost", "findings"), "m/x.html?cost#findings");
  assert.equal(
    modulePageBeside("x", "texts", placeOf({ text: "0017", name: "%a/b" })),
    "x.html?texts#text=0017&name=%25a%2Fb",
  );
});

test("entries and files have addresses without characters of their own", () => {
  assert.equal(glossaryEntry("pass", "algsimp.1"), "glossary.html#pass-algsimp-1");
  assert.equal(LAYOUTS, "glossary.html#word-layout");
  assert.equal(listedInstructions("x", "dot.1"), "m/x.html#t=m/x/instructions&q=dot.1");
  assert.equal(listedFile("a&b"), "coverage.html#t=files&q=a%26b");
});
