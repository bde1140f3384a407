import assert from "node:assert/strict";
import { test } from "node:test";
import "../samples.js";
import { page, payloads, settled, textOf, textsOf } from "../page.js";
import { installSearch } from "../../src/search/search.js";

const SEARCH = {
  modules: [
    ["x", "jit_step", "x", "main", 1, 1],
    ["y", "jit_other", "module_0043.jit_other_7", "", 0, 0],
  ],
  opcodes: { dot: [0], copy: [1] },
  scopes: { "layer/mlp": [0, 1] },
  findings: [[0, "A copy in a loop"]],
  files: 2,
  topics: [["Memory", "m/x.html?memory", ["peak", "buffers", "tanh.1", "tanh.2"]]],
};
const MODULE = {
  complete: true,
  stages: [
    ["first", "first", "first", 1],
    ["last", "last", "last", 1],
  ],
  spans: [
    [0, 1],
    [0, 0],
  ],
  codes: ["fusion"],
  forms: {},
  steps: [],
  kinds: {
    instruction: {
      values: ["fusion.1", "fusion.101", "tanh", "tanh.1", "tanh.2", "my_tanh"],
      spans: [0, 0, 1, 1, 0, 0],
      codes: [0, 0, 0, 0, 0, 0],
    },
    op_name: {
      values: [
        "jit(f)/loop",
        "jit(f)/loop/body/add",
        "jit(f)/loop/cond/lt",
        "opt['mu']['qkv']",
        "state['params']['qkv']",
      ],
      spans: [0, 0, 0, 0, 0],
    },
  },
};

/** @returns {Promise<any>} the dialog of the search, with everything loaded */
async function opened() {
  payloads.set("search", SEARCH);
  payloads.set("m/x/search", MODULE);
  payloads.set("files", {
    columns: [],
    rows: [
      ["a.txt", "HLO"],
      ["b.pb", "proto"],
    ],
  });
  page('<header class="md-header__inner"></header>');
  installSearch();
  document.querySelector(".xr-search-open").click();
  await settled();
  return document.querySelector("dialog.xr-search");
}
const ask = (dialog, words) => {
  dialog.querySelector("input").value = words;
  dialog.querySelector("input").dispatchEvent(new document.defaultView.Event("input"));
  return Object.fromEntries(
    [...dialog.querySelectorAll("section")].map((part) => [textOf(part.querySelector("h2")), textsOf(part, "code")]),
  );
};
const press = (dialog, key) => {
  const event = new document.defaultView.Event("keydown", { bubbles: true, cancelable: true });
  dialog.querySelector("input").dispatchEvent(Object.assign(event, { key }));
};

test("all kinds are found, the best group first", async () => {
  const dialog = await opened();
  assert.deepEqual(ask(dialog, "fusion.1"), { "Instructions 2": ["%fusion.1", "%fusion.101"] });
  assert.deepEqual(ask(dialog, "copy"), { "Opcodes 1": ["copy"], "Findings 1": ["A copy in a loop"] });
  assert.deepEqual(ask(dialog, "a.txt"), { "Files 1": ["a.txt"] });
  assert.deepEqual(ask(dialog, "peak"), { "In this report 1": ["Memory"] });
  assert.deepEqual(ask(dialog, "jit_"), { "Modules 2": ["jit_step", "jit_other"] });
  assert.deepEqual(ask(dialog, "mlp"), { "Scopes 1": ["layer/mlp"] });
  assert.match(textOf(dialog), /jit_step and 1 more module/);
});

test("a module is found by what its files begin with, before the list of these files", async () => {
  const dialog = await opened();
  payloads.get("files").rows.push(["module_0043.jit_other_7.txt", "HLO"]);
  assert.equal(Object.keys(ask(dialog, "module_0043"))[0], "Modules 1");
  assert.match(textOf(dialog), /module_0043\.jit_other_7/);
});

test("it says how much was searched", async () => {
  const dialog = await opened();
  ask(dialog, "nothing of it");
  assert.equal(textOf(dialog.querySelector("[role=status]")), "0 results in 1 module of 2.");
});

test("enter opens what was typed, else the first result", async () => {
  const dialog = await opened();
  const clicked = [];
  dialog.addEventListener("click", (event) => clicked.push(event.target.textContent));
  ask(dialog, "nothing of it");
  press(dialog, "Enter");
  assert.deepEqual(clicked, []);
  ask(dialog, "fusion.10");
  press(dialog, "Enter");
  ask(dialog, "%FUSION.1");
  press(dialog, "Enter");
  assert.equal(clicked.length, 2);
  assert.match(clicked[0], /^%fusion\.101 /);
  assert.match(clicked[1], /^%fusion\.1 /);
});

test("enter leads to what has the query only inside of a word, and does not open it", async () => {
  const dialog = await opened();
  const clicked = [];
  dialog.addEventListener("click", (event) => clicked.push(event.target.textContent));
  ask(dialog, "usio");
  press(dialog, "Enter");
  assert.deepEqual(clicked, []);
});

test("arguments come first where their root was typed, also before scopes with it as a word", async () => {
  const dialog = await opened();
  assert.equal(Object.keys(ask(dialog, "state"))[0], "op_names 1");
});

test("a section comes before an instruction of that name which the last snapshot lacks", async () => {
  const dialog = await opened();
  assert.deepEqual(Object.keys(ask(dialog, "tanh.1")), ["In this report 1", "Instructions 1"]);
  assert.deepEqual(Object.keys(ask(dialog, "tanh.2")), ["Instructions 1", "In this report 1"]);
});

test("enter opens the op_name that was typed, also where others are below it", async () => {
  const dialog = await opened();
  const clicked = [];
  dialog.addEventListener("click", (event) => clicked.push(event.target.textContent));
  ask(dialog, "jit(f)/loop");
  press(dialog, "Enter");
  assert.equal(clicked.length, 1);
  assert.match(clicked[0], /^jit\(f\)\/loop /);
});

test("a scope comes first, with its time and its instructions, unless it is a whole op_name", async () => {
  const dialog = await opened();
  const groups = ask(dialog, "loop");
  assert.equal(Object.keys(groups)[0], "Scopes 2");
  assert.deepEqual(groups["Scopes 2"], ["loop", "loop"]);
  const links = [...dialog.querySelectorAll("section a")].map((link) => link.getAttribute("href"));
  assert.ok(links[0].endsWith("m/x.html?cost#t=m/x/scopes&q=loop"));
  assert.ok(links[1].endsWith("m/x.html#t=m/x/instructions&q=loop"));
  assert.deepEqual(Object.keys(ask(dialog, "jit(f)/loop")).slice(0, 2), ["op_names 3", "Scopes 2"]);
});

test("names of the last snapshot come before those that are gone, after the same name", async () => {
  const found = ask(await opened(), "tanh");
  assert.deepEqual(found["Instructions 4"], ["%tanh", "%tanh.2", "%my_tanh", "%tanh.1"]);
});

test("of names that contain what was typed, short ones come first", async () => {
  const found = ask(await opened(), "op/");
  assert.deepEqual(found["op_names 3"] ?? found["op_names 2"], ["jit(f)/loop/cond/lt", "jit(f)/loop/body/add"]);
});

test("arguments of a model come before those of its optimizer, unless that was typed", async () => {
  const dialog = await opened();
  const first = (words) => Object.values(ask(dialog, words))[0][0];
  assert.equal(first("qkv"), "state['params']['qkv']");
  assert.equal(first("mu"), "opt['mu']['qkv']");
  assert.equal(first("opt qkv"), "opt['mu']['qkv']");
});
