/**
 * Brings the modules below src/ into the classic scripts that the package ships: pages opened from
 * file:// can load no modules. `node build.js` writes them, `node build.js --check` only says which differ.
 */

import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";

const ASSETS = join(import.meta.dirname, "../site_src/assets");
const NOTE = "// Made from frontend/src by `make bundle`: changes here are lost.";

/** Entry, script in the site, and the only global name of that. */
export const BUNDLES = [
  ["main.js", "xlareport.js", "xlareport"],
  ["early.js", "iframe-worker.js", undefined],
  ["placeless.js", "placeless.js", undefined],
  ["single.js", "single.js", undefined],
];

/**
 * @param {string} entry
 * @param {string | undefined} globalName
 * @returns {Promise<string>} one script, readable and without comments
 */
export async function bundled(entry, globalName) {
  const made = await build({
    absWorkingDir: import.meta.dirname,
    banner: { js: NOTE },
    bundle: true,
    entryPoints: [join("src", entry)],
    format: "iife",
    globalName,
    logLevel: "error",
    target: "es2023",
    write: false,
  });
  return made.outputFiles[0].text;
}

/** @param {string} path @returns {Promise<string | null>} null where there is no such file */
const existing = (path) => readFile(path, "utf-8").catch(() => null);

if (process.argv[1] && basename(process.argv[1]) === "build.js") {
  const checking = process.argv.includes("--check");
  for (const [entry, script, globalName] of BUNDLES) {
    const path = join(ASSETS, script ?? "");
    const text = await bundled(entry ?? "", globalName);
    if (text === (await existing(path))) continue;
    if (checking) {
      console.error(`site_src/assets/${script} is not what frontend/src makes: run \`make bundle\`.`);
      process.exitCode = 1;
    } else {
      await writeFile(path, text);
    }
  }
}
