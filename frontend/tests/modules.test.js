import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";

const HERE = join(import.meta.dirname, "..");

/** @returns {Promise<Map<string, string[]>>} what each module imports */
async function imports() {
  const { metafile } = await build({
    absWorkingDir: HERE,
    bundle: true,
    entryPoints: ["main", "early", "single"].map((name) => `src/${name}.js`),
    metafile: true,
    outdir: "unused",
    write: false,
  });
  return new Map(Object.entries(metafile.inputs).map(([path, { imports: all }]) => [path, all.map((one) => one.path)]));
}

test("no module imports itself through others", async () => {
  const left = await imports();
  for (let size = -1; size !== left.size;) {
    size = left.size;
    for (const [path, needed] of left) if (!needed.some((other) => left.has(other))) left.delete(path);
  }
  assert.deepEqual([...left.keys()], []);
});

test("values know no page: only what is drawn needs elements", async () => {
  const all = await imports();
  for (const path of [
    "core/packing",
    "core/format",
    "tables/rows",
    "pictures/layout",
    "pictures/svg",
    "graphs/graph",
    "graphs/neighborhood",
    "graphs/frames",
    "history/columns",
  ]) {
    const needed = new Set([`src/${path}.js`]);
    for (const one of needed) for (const other of all.get(one) ?? []) needed.add(other);
    assert.ok(!needed.has("src/core/elements.js"), path);
  }
});

test("a bundle has at most one global name", async () => {
  const { BUNDLES, bundled } = await import("../build.js");
  for (const [entry, , globalName] of BUNDLES) {
    const text = await bundled(entry, globalName);
    const outer = text.split("\n").filter((line) => line && !/^( |\/\/|"use strict";|}\)\(\);$)/.test(line));
    assert.deepEqual(outer, [globalName ? `var ${globalName} = (() => {` : "(() => {"]);
  }
});
