import assert from "node:assert/strict";
import { test } from "node:test";
import { format } from "../../src/core/format.js";

const CASES = [
  ["bytes", 0, "0 B"],
  ["bytes", 1023, "1023 B"],
  ["bytes", 1024, "1.0 KiB"],
  ["bytes", 1048575, "1.0 MiB"],
  ["bytes", 104857600, "100 MiB"],
  ["flops", 1536000, "1.54 MFLOP"],
  ["count", 1234567, "1,234,567"],
  ["count", -1, "\u22121"],
  ["signed", 0, "\u00b10"],
  ["signed", 12, "+12"],
  ["percent", 0, "0%"],
  ["percent", 0.0001, "<0.1%"],
  ["percent", 0.0321, "3.2%"],
  ["percent", 0.9999, ">99.9%"],
  ["percent", 1, "100%"],
  ["precise", 0, "0%"],
  ["precise", 0.0001, "<0.1%"],
  ["precise", 0.125, "12.5%"],
  ["precise", 0.6667, "66.7%"],
  ["precise", 0.9999, ">99.9%"],
  ["precise", 1, "100%"],
  ["seconds", 0.0000123, "12.3 \u00b5s"],
  ["seconds", 2.5, "2.5 s"],
  ["seconds", 4e-9, "4 ns"],
];

for (const [kind, value, text] of CASES) {
  test(`${value} as ${kind} is ${text}`, () => assert.equal(format[kind](value), text));
}

test("one is singular", () => {
  assert.equal(format.plural(1, "step"), "1 step");
  assert.equal(format.plural(0, "index", "indices"), "0 indices");
});
