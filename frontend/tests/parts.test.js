import assert from "node:assert/strict";
import { test } from "node:test";
import { page, payloads, settled, textOf, textsOf } from "./page.js";
import { showAskedPart } from "../src/parts.js";

/** @returns {Promise<any>} the article of a module's page, with a part shown in it */
async function shown(slug, query) {
  location.href = `file:///report/site/m/x.html${query}`;
  const article = page(
    `<article><nav data-xr-parts="m/${slug}/page-"><a href="x.html" aria-current="page">Overview</a>` +
      `<a href="x.html?cost" data-part="cost">Cost</a><a href="x.html?texts" data-part="texts">HLO</a></nav><h1>x</h1><p>Overview.</p></article>`,
  );
  article.insertAdjacentHTML ??= () => {};
  payloads.set(`m/${slug}/page-cost`, {
    title: "Cost of x",
    html: '<h1 id="cost">Cost</h1><h2 id="a">A</h2>',
    wide: true,
  });
  payloads.set(`m/${slug}/page-texts`, { title: "HLO of x", html: '<h1 id="hlo">HLO</h1>', wide: false });
  showAskedPart();
  await settled();
  return article;
}
globalThis.scrollTo ??= () => {};

test("the part that is asked for stands in the place of the overview", async () => {
  const article = await shown("parts1", "?cost");
  assert.deepEqual(textsOf(article, "h1, h2, p"), ["Cost", "A"]);
  assert.equal(textOf(article.querySelector("[aria-current]")), "Cost");
  assert.equal(document.title, "Cost of x - report");
  assert.ok(!article.hasAttribute("aria-busy"));
});

test("a part may be called by its tab", async () => {
  assert.deepEqual(textsOf(await shown("parts2", "?hlo"), "h1"), ["HLO"]);
});

test("without a part the overview stays", async () => {
  assert.deepEqual(textsOf(await shown("parts3", ""), "h1, p"), ["x", "Overview."]);
});

test("what is no part is named, and leads back", async () => {
  const article = await shown("parts4", "?../cost");
  assert.match(textOf(article), /This is not in the report.*has no tab \.\.\/cost\. The overview of the module$/);
  assert.equal(article.querySelector(".xr-failed a").getAttribute("href"), "x.html");
});
