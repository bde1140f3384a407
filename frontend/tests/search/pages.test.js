import assert from "node:assert/strict";
import { test } from "node:test";
import "../page.js";

const { excerpt, section } = await import("../../src/search/pages.js");
const LONG = `The beginning. ${"words of no matter ".repeat(20)}the trip count of a loop is told here.`;

test("an excerpt shows what was asked for", () => {
  const shown = excerpt(LONG, "Trip count ");
  assert.ok(shown.startsWith("… "));
  assert.ok(shown.includes("trip count of a loop"));
});

test("what stands at the beginning, or nowhere, is shown from the beginning", () => {
  for (const query of ["beginning", "nowhere", ""]) assert.ok(excerpt(LONG, query).startsWith("The beginning."));
});

test("a section leads to its place", () => {
  const { hit } = section({ location: "a.html#b", title: "B", text: `<p>${LONG}</p>` });
  assert.deepEqual(hit("trip count").href, "a.html#b");
  assert.ok(hit("trip count").note.includes("trip count"));
});

test("marks that HTML escapes are shown and found as they are", () => {
  const { hit, search } = section({
    location: "a.html",
    title: "A &amp; B",
    text: "<p>f(&lt;5%, &quot;a&quot;) &amp;lt;</p>",
  });
  assert.equal(hit("").text, "A & B");
  assert.equal(hit("").note, 'f(<5%, "a") &lt;');
  assert.ok(search.includes("<5%"));
});

test("an excerpt ends with a whole word, and says that it goes on", () => {
  const shown = excerpt(LONG, "beginning");
  assert.ok(shown.endsWith(" …"));
  assert.ok(LONG.split(" ").includes(shown.split(" ").at(-2)));
  assert.equal(excerpt("short", "short"), "short");
  assert.equal(excerpt("x".repeat(300), ""), `${"x".repeat(120)} …`);
  assert.ok(!excerpt(LONG, "told here").endsWith("…"));
});

test("code is part of its sentence, other elements are apart", () => {
  const text = "<p>written as <code>known_trip_count</code>; else</p><p>next</p>";
  assert.equal(
    section({ location: "a.html", title: "A", text }).hit("").note,
    "written as known_trip_count; else next",
  );
});
