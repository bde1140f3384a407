import assert from "node:assert/strict";
import { test } from "node:test";

import { DOMParser } from "linkedom";

import { parse } from "../../src/pictures/svg_source.js";

globalThis.DOMParser = /** @type {any} */ (DOMParser);
document.adoptNode ??= (node) => node;

test("what could act or load is taken out of a picture", () => {
  const svg = parse(
    '<svg xmlns="http://www.w3.org/2000/svg" onload="a()"><script>a()</script><image href="http://a/b"/>' +
      '<g onclick="a()" style="fill:url(http://a/b)"><text href="#here" fill="url(#own)">kept</text></g></svg>',
  );

  assert.doesNotMatch(svg.outerHTML, /script|image|onload|onclick|http:\/\/a/);
  assert.match(svg.outerHTML, /href="#here"/);
  assert.match(svg.outerHTML, /url\(#own\)/);
  assert.match(svg.outerHTML, /kept/);
});

test("text that is no picture is refused", () => {
  assert.throws(() => parse("<html><body/></html>"), /damaged/);
});
