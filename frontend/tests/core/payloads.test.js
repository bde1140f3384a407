import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { payloads } from "../page.js";
import { deliver, load } from "../../src/core/payloads.js";

test("a payload of a module is looked for among the small ones first", async () => {
  payloads.set("m/payloads/small", { cost: { flops: 3 }, "graph-0": [1] });
  payloads.set("m/payloads/steps", { steps: [] });
  assert.deepEqual(await load("m/payloads/cost"), { flops: 3 });
  assert.deepEqual(await load("m/payloads/graph-0"), [1]);
  assert.deepEqual(await load("m/payloads/steps"), { steps: [] });
});

test("names of objects are no payloads", async () => {
  payloads.set("m/prototype/small", {});
  await assert.rejects(load("m/prototype/constructor"), /is missing from this report/);
});

test("texts and the search need no small ones", async () => {
  payloads.set("m/alone/texts-3", "lines");
  payloads.set("m/alone/search", "names");
  assert.deepEqual([await load("m/alone/texts-3"), await load("m/alone/search")], ["lines", "names"]);
});

test("a payload is loaded once, and again after it failed", async () => {
  await assert.rejects(load("late"), /assets\/data\/late\.js is missing/);
  payloads.set("late", { value: 1 });
  const first = await load("late");
  assert.equal(await load("late"), first);
});

test("a script that nobody waits for delivers nothing", () => assert.equal(deliver("unasked", "{}"), undefined));

test("a body may be compressed in base 85", async () => {
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;.=>?@^_`{|}~";
  const bytes = gzipSync('{"a":[1,2]}');
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  let body = "";
  for (let at = 0; at < padded.length; at += 4) {
    let value = new DataView(padded.buffer).getUint32(at);
    let group = "";
    for (let digit = 0; digit < 5; digit += 1, value = Math.floor(value / 85)) group = DIGITS[value % 85] + group;
    body += group;
  }
  const promise = load("packed");
  promise.catch(() => {});
  deliver("packed", body.slice(0, body.length - (padded.length - bytes.length)), "gzip");
  assert.deepEqual(await promise, { a: [1, 2] });
});
