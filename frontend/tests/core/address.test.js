import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import "../page.js";
import { askedPart, insideReport, root, shareableAddress, state } from "../../src/core/address.js";

describe("an address", () => {
  beforeEach(() => (location.href = "file:///report/site/m/x.html?cost#step=0017"));

  test("the root is the folder above the script's", () => assert.equal(root, "file:///report/site/"));

  test("an address stays inside the report or is none", () => {
    assert.equal(insideReport("m/x.html#a=b"), "file:///report/site/m/x.html#a=b");
    for (const outside of ["../secret", "https://example.org/", "//example.org", "javascript:alert(1)"]) {
      assert.equal(insideReport(outside), null);
    }
  });

  test("a part is a name alone behind the question mark", () => assert.equal(askedPart(), "cost"));

  test("values of the address are read by name", () => {
    assert.equal(state.get("step"), "0017");
    assert.equal(state.get("q"), null);
  });

  test("an address to paste keeps the page", () => {
    assert.equal(shareableAddress("#node=x"), "file:///report/site/m/x.html?cost#node=x");
  });
});
