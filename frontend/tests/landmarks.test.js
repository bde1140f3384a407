import assert from "node:assert/strict";
import { test } from "node:test";
import { Observer, page } from "./page.js";
import { nameCodeBars } from "../src/landmarks.js";

test("the bar of each code block has a name, also where the theme adds it later", () => {
  const article = page(
    '<article><pre><nav class="md-code__nav"></nav><code>a</code></pre><pre><code>b</code></pre></article>',
  );
  nameCodeBars();
  const bar = document.createElement("nav");
  bar.className = "md-code__nav";
  article.lastElementChild.append(bar);
  Observer.all.at(-1).see([]);
  const names = [...article.querySelectorAll("nav")].map((added) => added.getAttribute("aria-label"));
  assert.deepEqual(names, ["Code block 1", "Code block 2"]);
});
