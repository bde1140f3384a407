import assert from "node:assert/strict";
import { test } from "node:test";
import "../page.js";
import { row } from "../../src/search/row.js";

test("a result leads into the report, and says whether it is what was typed", () => {
  const link = (hit, exact) => row({ text: "<b>", note: "n", ...hit }, exact).firstElementChild;
  const inside = link({ href: "m/x.html#a=b" }, true);
  assert.deepEqual([inside.getAttribute("href"), inside.dataset.exact], ["file:///report/site/m/x.html#a=b", "yes"]);
  assert.equal(inside.textContent, "<b> n");
  const outside = link({ href: "javascript:hacked()" }, false);
  assert.ok(!outside.hasAttribute("href") && !outside.hasAttribute("data-exact"));
});
