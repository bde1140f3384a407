import assert from "node:assert/strict";
import { test } from "node:test";
import { FoldedStrings } from "../../src/core/packing.js";
import { TextStore, textBytes } from "../../src/texts/store.js";

/** A store whose chunks are given instead of loaded. */
function store(records, chunks, starts) {
  const made = new TextStore("m/x/texts", records, starts);
  for (const [number, chunk] of chunks.entries()) made.chunks.set(number, Promise.resolve(chunk));
  return made;
}

const CHUNKS = [
  {
    lines: new FoldedStrings([["a", "b", "c"], [0, 1, 2], []]),
    blocks: [
      [0, 2],
      [2, 0, 1, 0, 1],
    ],
  },
  { lines: new FoldedStrings([["d"], [0], []]), blocks: [[0, 1]] },
];
const RECORDS = [
  ["one.txt", 9, null, 0, [0, 2], "0001", "first"],
  ["two.txt", 9, null, 1, [1, 0, 1, 0, 1], "0002", "second"],
];

test("a text is blocks of lines, some of them copies of earlier ones", async () => {
  const texts = store(RECORDS, CHUNKS, [0, 3]);
  assert.deepEqual(await texts.lines(texts.texts[0]), ["a", "b", "", "a", "c"]);
});

test("a text that takes blocks from the one before needs that text's chunk too", async () => {
  const texts = store(RECORDS, CHUNKS, [0, 3]);
  assert.deepEqual(await texts.lines(texts.texts[1]), ["a", "b", "", "d"]);
});

test("lines are found by their numbers in any chunk", async () => {
  assert.deepEqual(await store(RECORDS, CHUNKS, [0, 3]).numbered([3, 0, 9]), ["d", "a", ""]);
});

test("bytes that were no UTF-8 come back as they were", async () => {
  const blob = new Blob([textBytes(["a\udcff", "\u00e9"])]);
  assert.deepEqual([...new Uint8Array(await blob.arrayBuffer())], [0x61, 0xff, 0x0a, 0xc3, 0xa9]);
});
