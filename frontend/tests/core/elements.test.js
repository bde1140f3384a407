import assert from "node:assert/strict";
import { test } from "node:test";
import { page, textOf } from "../page.js";
import { drawn, element, errorMessage, exchange, failure, prose } from "../../src/core/elements.js";

test("strings become text, and attributes that are not wanted are left out", () => {
  const made = element("a.x.y", { href: "#a", title: null, hidden: false, download: true }, "<b>", 0, null, false);
  assert.equal(made.className, "x y");
  assert.deepEqual(
    [made.getAttribute("href"), made.hasAttribute("title"), made.hasAttribute("hidden")],
    ["#a", false, false],
  );
  assert.equal(made.getAttribute("download"), "");
  assert.equal(made.textContent, "<b>0");
  assert.equal(made.children.length, 0);
});

test("what begins with on listens", () => {
  let clicks = 0;
  element("button", { onclick: () => (clicks += 1) }).click();
  assert.equal(clicks, 1);
});

test("shapes are of SVG", () => {
  const made = drawn("rect", { x: 3 });
  assert.deepEqual([made.namespaceURI, made.getAttribute("x")], ["http://www.w3.org/2000/svg", "3"]);
});

test("names between backticks are code; an odd backtick is none", () => {
  const [before, name, after] = prose("From `a` on.");
  assert.deepEqual([before, name.localName, name.textContent, after], ["From ", "code", "a", " on."]);
  assert.deepEqual(prose("`a` it's `"), ["`a` it's `"]);
});

test("children that stay are not moved", () => {
  const list = page("<ul><li>a</li><li>b</li><li>c</li></ul>");
  const [a, b, c] = list.children;
  const added = element("li", null, "d");
  exchange(list, [b, added, c]);
  assert.equal(textOf(list), "bdc");
  assert.ok(list.children[0] === b && list.children[2] === c && !a.parentNode);
  exchange(list, [added, b]);
  assert.equal(textOf(list), "db");
});

test("what is thrown says something, whatever it is", () => {
  assert.equal(errorMessage(new Error("No.")), "No.");
  assert.equal(errorMessage(404), "404");
  assert.equal(failure("No", " way").outerHTML, '<p role="alert" class="xr-failed">No way</p>');
});
