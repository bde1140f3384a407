/**
 * Colors for lines of code: HLO, MLIR, LLVM IR, PTX. What all four write alike is known by its form,
 * so that one table does for them; a word is an opcode or a keyword where one has to stand.
 */

import { element } from "../core/elements.js";

/** Longer lines hold data that nobody reads, and stay plain. */
const LONGEST = 2000;

/** @type {[string, string][]} class and form, the first that fits; a form takes a whole token */
const FORMS = [
  ["comment", String.raw`\/\/.*|\/\*.*?\*\/|;\s.*|#\s.*`],
  ["string", String.raw`c?"(?:[^"\\]|\\.)*"?`],
  ["label", String.raw`\^\w+|^\s*[$\w.-]+:(?=\s|$)`],
  ["variable", String.raw`%[\w.$#-]+|[A-Za-z_][\w.-]*(?= = )`],
  ["function", String.raw`@(?:"[^"]*"|[\w.$-]+)|[a-z]\w*(?:\.[a-z]\w*)+|[a-z][\w-]*(?=\()`],
  [
    "type",
    String.raw`\b(?:pred|token|opaque|[busif]\d+|[cf]\d\w*|bf\d+|i\d+|float|double|half|bfloat|ptr|void|tensor|memref|vector)\b|\.(?:[busf]\d+|pred|v\d)\b`,
  ],
  ["attribute", String.raw`[#!][\w.$]+|\b[a-z_]\w*(?==[^\s=])`],
  ["number", String.raw`-?\b(?:0x[\da-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\b`],
  [
    "keyword",
    String.raw`\b(?:HloModule|ENTRY|ROOT|FileNames|FunctionNames|FileLocations|StackFrames|true|false|inf|nan)\b|\.[a-z]\w+`,
  ],
  ["word", String.raw`[A-Za-z_][\w.-]*`],
  ["equals", String.raw`=(?=\s)`],
];
const NAMES = FORMS.map(([name]) => name);
const PATTERN = FORMS.map(([, form]) => `(${form})`).join("|");

const INVISIBLE =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff\ud800-\udfff]/gu;

/**
 * Writes characters out that cannot be seen, or that turn text round.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(INVISIBLE, (character) => {
    const number = character.charCodeAt(0);
    if (number < 0x20) return String.fromCharCode(0x2400 + number);
    return number < 0x100 ? `\\x${number.toString(16).padStart(2, "0")}` : `\\u${number.toString(16).padStart(4, "0")}`;
  });
}

/**
 * Takes a line apart.
 * @param {string} line
 * @returns {Generator<[string, string]>} its parts, each with its class; "" for anything else
 */
export function* tokens(line) {
  if (line.length > LONGEST) return yield [line, ""];
  let end = 0;
  let first = true;
  for (const match of line.matchAll(new RegExp(PATTERN, "g"))) {
    const part = match[0];
    if (match.index > end) yield [line.slice(end, match.index), ""];
    end = match.index + part.length;
    let look = NAMES[match.slice(1).findIndex((group) => group !== undefined)];
    if (look === "word") look = first ? "keyword" : "";
    first = look === "equals";
    yield [part, look === "equals" ? "" : look];
  }
  if (end < line.length) yield [line.slice(end), ""];
}

/**
 * Returns a line with its tokens in colors.
 * @param {string} line
 * @returns {(string | HTMLElement)[]}
 */
export function coloredLine(line) {
  return [...tokens(visible(line))].map(([part, look]) => (look ? element(`span.xr-code-${look}`, null, part) : part));
}
