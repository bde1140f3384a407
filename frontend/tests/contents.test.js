import assert from "node:assert/strict";
import { test } from "node:test";
import { page, textsOf } from "./page.js";
import { showContents } from "../src/contents.js";

const ARTICLE = (body) => `<article><h1>x</h1><p class="xr-lead">Lead.</p>${body}</article>`;
const SECTIONS = `<h2 id="a">First<a href="#a">¶</a></h2><h2 id="b">Second</h2>`;

test("a page with a table lists its sections below the lead, once", () => {
  const article = page(ARTICLE(`${SECTIONS}<div class="xr-table"></div>`));
  showContents(article);
  showContents(article);
  assert.equal(article.children[2].className, "xr-contents");
  assert.deepEqual(textsOf(article, ".xr-contents a"), ["First", "Second"]);
  assert.ok(!article.querySelector(".xr-contents").hidden);
  assert.ok(document.documentElement.matches(".xr-wide.xr-lists-sections"));
});

test("the first page lists its sections without a table", () => {
  const article = page(ARTICLE(`<dl class="xr-answers"></dl>${SECTIONS}`));
  showContents(article);
  assert.deepEqual(textsOf(article, ".xr-contents a"), ["First", "Second"]);
});

test("a page without a table keeps the list beside it", () => {
  const article = page(ARTICLE(SECTIONS));
  showContents(article);
  assert.ok(!article.querySelector(".xr-contents"));
  assert.ok(!document.documentElement.matches(".xr-wide, .xr-lists-sections"));
});

test("a single section needs no list", () => {
  const article = page(ARTICLE(`<h2 id="a">First</h2><div class="xr-table"></div>`));
  showContents(article);
  assert.ok(article.querySelector(".xr-contents").hidden);
});
