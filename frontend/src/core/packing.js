/** How payloads are written: compressed in base 85, strings folded, numbers as distances. */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;.=>?@^_`{|}~";
const values = new Uint8Array(128);
for (const [value, digit] of [...DIGITS].entries()) values[digit.charCodeAt(0)] = value;

/**
 * Returns the bytes that base 85 stands for; the other side is storage/payloads.py.
 * @param {string} body
 */
export function decoded(body) {
  const groups = Math.ceil(body.length / 5);
  const bytes = new DataView(new ArrayBuffer(groups * 4));
  const whole = body.padEnd(groups * 5, "~");
  for (let group = 0, at = 0; group < groups; group += 1) {
    let value = 0;
    for (const end = at + 5; at < end; at += 1) value = value * 85 + values[whole.charCodeAt(at)];
    bytes.setUint32(group * 4, value);
  }
  return bytes.buffer.slice(0, Math.floor((body.length * 4) / 5));
}

/**
 * @param {string} body base 85
 * @param {"gzip"} packing
 * @returns {Promise<any>}
 */
export function inflate(body, packing) {
  const stream = new Blob([decoded(body)]).stream().pipeThrough(new DecompressionStream(packing));
  return new Response(stream).json();
}

/**
 * Gives folded strings back: patterns with slots, the pattern of each string, and the numbers in the
 * slots. The other side is storage/folding.py.
 * @param {import("../../types/payloads").Folded} folded
 * @returns {string[]}
 */
export function unfold([patterns, uses, steps]) {
  const counts = new Int32Array(patterns.length);
  for (const use of uses) counts[use] += 1;
  const numbers = Int32Array.from(steps);
  let end = 0;
  const columns = patterns.map((pattern, place) => {
    const parts = typeof pattern === "string" ? pattern.split("\x7f") : pattern;
    const [start, count] = [end, counts[place]];
    for (let slot = 1; slot < parts.length; slot += 1, end += count) {
      for (let row = 1; row < count; row += 1) numbers[end + row] += numbers[end + row - 1];
    }
    return { parts, next: start, count };
  });
  return uses.map((use) => {
    const column = columns[use];
    const { parts, count } = column;
    let text = parts[0];
    for (let slot = 1, at = column.next; slot < parts.length; slot += 1, at += count) text += numbers[at] + parts[slot];
    column.next += 1;
    return text;
  });
}

/**
 * Adds up the distances between numbers.
 * @param {number[]} steps
 * @returns {number[]}
 */
export function sums(steps) {
  let sum = 0;
  return steps.map((step) => (sum += step));
}

/**
 * Cuts a list into rows.
 * @template T
 * @param {[number[], T[]]} flat how long the rows are, and all that is in them
 * @returns {T[][]}
 */
export function splitRows([lengths, all]) {
  let end = 0;
  return lengths.map((length) => all.slice(end, (end += length)));
}
