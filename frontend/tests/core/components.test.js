import assert from "node:assert/strict";
import { test } from "node:test";
import { page, settled, textOf } from "../page.js";
import { component, drawComponents } from "../../src/core/components.js";

test("each element with the attribute is drawn once, by its key", async () => {
  const keys = [];
  const parent = page('<div><p data-xr-sample="a"></p><p data-xr-sample="b"></p></div>');
  component("data-xr-sample", (_, key) => void keys.push(key));
  await drawComponents(parent);
  assert.deepEqual(keys, ["a", "b"]);
});

test("what is added later is drawn when it is asked for", async () => {
  const parent = page('<div><p data-xr-sample="c"></p></div>');
  const keys = [];
  component("data-xr-sample", (_, key) => void keys.push(key));
  parent.append(parent.firstElementChild.cloneNode(true));
  delete parent.lastElementChild.dataset.xrDrawn;
  await drawComponents(parent);
  assert.deepEqual(keys, ["c", "c"]);
});

test("a part that fails says so and leaves the others", async () => {
  const parent = page('<div><p data-xr-broken="a" aria-busy="true"></p><p data-xr-broken="b">whole</p></div>');
  component("data-xr-broken", async (_, key) => {
    if (key === "a") throw new Error("No data.");
  });
  await settled();
  const [broken, whole] = parent.children;
  assert.equal(textOf(broken), "This part could not be drawn. No data.");
  assert.ok(!broken.hasAttribute("aria-busy"));
  assert.equal(textOf(whole), "whole");
});
