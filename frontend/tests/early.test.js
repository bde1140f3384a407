import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

test("a part that is asked for hides the overview until the page is loaded", async () => {
  const { classList } = document.documentElement;
  location.search = "?cost";
  await import("../src/early.js?cost");
  assert.ok(classList.contains("xr-part-asked"));
  window.dispatchEvent(new Event("load"));
  assert.ok(!classList.contains("xr-part-asked"));
});

test("a query of something else hides nothing", async () => {
  for (const query of ["", "?a=b", "?<script>", "?Cost"]) {
    location.search = query;
    await import(`../src/early.js?query=${encodeURIComponent(query)}`);
    assert.ok(!document.documentElement.classList.contains("xr-part-asked"), query);
  }
  location.search = "?cost";
});
