import assert from "node:assert/strict";
import { test } from "node:test";
import { compileFunction } from "node:vm";
import { bundled } from "../build.js";

/** @returns {Promise<any>} a window without storage at an address, after the script ran in it */
async function prepared(href) {
  const location = new URL(href);
  const refuse = () => {
    throw new Error("no storage here");
  };
  const frame = { URL };
  frame.parent = frame;
  for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(frame, name, { get: refuse, configurable: true });
  }
  const script = compileFunction(await bundled("placeless.js", undefined), ["window", "location", "document"]);
  script(frame, location, { currentScript: null });
  return frame;
}

test("a frame without storage has one for as long as it is open", async () => {
  const { localStorage, sessionStorage } = await prepared("about:srcdoc");
  localStorage.setItem("a", 3);
  assert.deepEqual(
    [localStorage.getItem("a"), localStorage.getItem("b"), sessionStorage.getItem("a")],
    ["3", null, null],
  );
  localStorage.removeItem("a");
  assert.equal(localStorage.getItem("a"), null);
});

test("addresses have a folder of their own where the page has no place", async () => {
  const frame = await prepared("about:srcdoc");
  assert.equal(new frame.URL("m/x.html", "about:srcdoc").href, "https://report.invalid/m/x.html");
  assert.equal(new frame.URL("a.html", "https://example.org/b/").href, "https://example.org/b/a.html");
  assert.throws(() => new frame.URL("m/x.html"));
});

test("a page with a place keeps its addresses", async () => {
  assert.equal((await prepared("file:///report.html")).URL, URL);
});
