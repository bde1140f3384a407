import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { FoldedStrings, decoded, inflate, splitRows, sums, unfold } from "../../src/core/packing.js";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;.=>?@^_`{|}~";

/** Base 85 as RFC 1924 writes it, in groups of four bytes; the last one is cut. */
function encoded(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4) {
    const group = [0, 1, 2, 3].map((place) => bytes[at + place] ?? 0);
    let value = group.reduce((sum, byte) => sum * 256 + byte, 0);
    let digits = "";
    for (let place = 0; place < 5; place += 1, value = Math.floor(value / 85)) digits = DIGITS[value % 85] + digits;
    text += digits.slice(0, Math.min(4, bytes.length - at) + 1);
  }
  return text;
}

for (const length of [0, 1, 2, 3, 4, 5, 255, 256]) {
  test(`base 85 gives ${length} bytes back`, () => {
    const bytes = Uint8Array.from({ length }, (_, place) => (place * 89 + 7) % 256);
    assert.deepEqual(new Uint8Array(decoded(encoded(bytes))), bytes);
  });
}

test("base 85 is that of Python", () => {
  assert.equal(Buffer.from(decoded("cx+*EWpHnDbN")).toString(), "xlareport"); // base64.b85encode(b"xlareport")
});

test("a compressed payload is its JSON", async () => {
  const value = { steps: ["0001", "\u00e9", null], deep: [[1.5]] };
  assert.deepEqual(await inflate(encoded(gzipSync(JSON.stringify(value))), "gzip"), value);
});

test("a damaged payload is an error, not a value", async () => {
  await assert.rejects(inflate(encoded(Buffer.from("no gzip at all")), "gzip"));
});

test("patterns and the distances in their slots give the strings back", () => {
  const folded = [
    ["add.\x7f", "x", "f\x7f(\x7f)"],
    [0, 1, 0, 2, 2, 0],
    [3, 1, 6, 1, 1, 10, -1],
  ];
  assert.deepEqual(unfold(folded), ["add.3", "x", "add.4", "f1(10)", "f2(9)", "add.10"]);
  const strings = new FoldedStrings(folded);
  assert.deepEqual([strings.at(5), strings.at(4), strings.at(6)], ["add.10", "f2(9)", undefined]);
});

test("a string that holds the mark of a slot is kept whole", () => {
  assert.deepEqual(unfold([[["a\x7fb"]], [0, 0], []]), ["a\x7fb", "a\x7fb"]);
});

test("nothing folded is nothing", () => assert.deepEqual(unfold([[], [], []]), []));

test("distances add up", () => assert.deepEqual(sums([4, 0, -3, 7]), [4, 4, 1, 8]));

test("a list is cut into rows, empty ones too", () => {
  assert.deepEqual(
    splitRows([
      [2, 0, 1],
      ["a", "b", "c"],
    ]),
    [["a", "b"], [], ["c"]],
  );
});
