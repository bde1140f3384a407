import assert from "node:assert/strict";
import { test } from "node:test";
import { page, payloads, textOf } from "../page.js";
import { textOnTheWay } from "../../src/history/on_the_way.js";

const SEARCH = {
  complete: true,
  stages: [
    ["first", "first", "first", 1],
    ["0001", "0001 fusion: fusion", "0001 fusion", 1],
    ["last", "last", "last", 1],
  ],
  spans: [
    [1, 1],
    [0, 1],
  ],
  codes: ["negate"],
  forms: {},
  steps: [],
  kinds: { instruction: { values: ["negate", "early"], spans: [0, 1], codes: [0, 0] } },
};

test("a name without a history leads to the text of the last snapshot that has it", async () => {
  page("");
  payloads.set("m/on-the-way/search", SEARCH);
  const [words] = (await textOnTheWay("m/on-the-way/history", "negate")) ?? [];
  assert.match(textOf(words), /its history is not here: only in 0001 fusion\. Its text$/);
  assert.match(words.querySelector("a").getAttribute("href"), /m\/on-the-way\.html\?texts#text=0001&name=negate$/);
  assert.equal(await textOnTheWay("m/on-the-way/history", "gone"), null);
});

test("it is not said of what the first snapshot has that it lacks it", async () => {
  page("");
  payloads.set("m/on-the-way/search", SEARCH);
  const [words] = (await textOnTheWay("m/on-the-way/history", "early")) ?? [];
  assert.equal(textOf(words), "Its history is not here: last in 0001 fusion. Its text");
});
