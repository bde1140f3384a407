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

/** Folded strings: patterns with slots, the pattern of each string, and the numbers in the slots; see storage/string_folding.py. */
export class FoldedStrings {
  /** @param {import("../../types/payloads").Folded} folded */
  constructor([patterns, uses, steps]) {
    this.uses = uses;
    /** The place of each string among those of its pattern. */
    this.ranks = new Int32Array(uses.length);
    this.numbers = Int32Array.from(steps);
    const counts = new Int32Array(patterns.length);
    for (let place = 0; place < uses.length; place += 1) this.ranks[place] = counts[uses[place]]++;
    let end = 0;
    this.columns = patterns.map((pattern, place) => {
      const parts = typeof pattern === "string" ? pattern.split("\x7f") : pattern;
      const [start, count] = [end, counts[place]];
      for (let slot = 1; slot < parts.length; slot += 1, end += count) {
        for (let row = 1; row < count; row += 1) this.numbers[end + row] += this.numbers[end + row - 1];
      }
      return { parts, start, count };
    });
  }

  /**
   * Writes one string; of many thousand only those in sight are needed.
   * @param {number} place
   * @returns {string | undefined} nothing where there is no such string
   */
  at(place) {
    const column = this.columns[this.uses[place]];
    if (!column) return undefined;
    const { parts, start, count } = column;
    let text = parts[0];
    for (let slot = 1, at = start + this.ranks[place]; slot < parts.length; slot += 1, at += count) {
      text += this.numbers[at] + parts[slot];
    }
    return text;
  }

  /** @returns {string[]} */
  all() {
    return this.uses.map((_, place) => this.at(place) ?? "");
  }
}

/**
 * @param {import("../../types/payloads").Folded} folded
 * @returns {string[]}
 */
export const unfold = (folded) => new FoldedStrings(folded).all();

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
