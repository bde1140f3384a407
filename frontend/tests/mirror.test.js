import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

/** Scripts without tests of their name, with the reason. Whatever gets tests of its own leaves the list. */
const UNTESTED = {
  "frame_worker.js": "a frame that runs the theme's search; tests/site/test_browser.py searches from a file",
  "main.js": "the order in which a page is set up; every test in a browser runs it",
  "single.js": "runs through the page as it is loaded; tests/site/test_single.py opens reports in one file",
  "graphs/computation_timeline.js":
    "its frames are tested in frames.test.js, the page in test_pictures_computation_timeline.py",
  "graphs/explorer.js": "what it draws is tested in neighborhood.test.js, its form in tests/site/test_pictures.py",
  "history/history.js": "what it says is tested beside it, the panel in tests/site/test_history.py",
  "pictures/details.js": "a panel of facts that graph.test.js tests; tests/site/test_pictures.py opens it",
  "pictures/interactive.js": "joins a picture with what its boxes open",
  "pictures/levels.js": "replaces pictures by others; tests/site/test_pictures_levels.py goes through them",
  "pictures/picture.js": "moves and enlarges what only a browser lays out: tests/site/test_pictures.py",
  "pictures/sizes.js": "constants, which `make check` compares with the table that they are made from",
};
const HERE = join(import.meta.dirname, "..");

/** @param {string} folder @param {string} ending @returns {Promise<string[]>} files below it, without the ending */
async function files(folder, ending) {
  const all = await readdir(join(HERE, folder), { recursive: true });
  return all.filter((path) => path.endsWith(ending)).map((path) => path.slice(0, -ending.length));
}

test("each script has tests of its name, or a reason why not", async () => {
  const [sources, tests] = await Promise.all([files("src", ".js"), files("tests", ".test.js")]);
  const left = sources.filter((path) => !tests.includes(path)).map((path) => `${path}.js`);
  assert.deepEqual(left.sort(), Object.keys(UNTESTED).sort());
});

test("no tests are left of a script that is gone", async () => {
  const [sources, tests] = await Promise.all([files("src", ".js"), files("tests", ".test.js")]);
  const alone = tests.filter((path) => !sources.includes(path) && !["mirror", "modules"].includes(path));
  assert.deepEqual(alone, []);
});
