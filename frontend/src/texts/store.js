/**
 * The texts of a module, as XLA wrote them, out of what the site stores: each line once, blocks of
 * lines as copies of earlier ones. The other side is storage/texts.py, which says what the numbers mean.
 */

import { once } from "../core/once.js";
import { FoldedStrings } from "../core/packing.js";
import { load } from "../core/payloads.js";

/** @typedef {{path: string, size: number, key: string, label: string, chunk: number, runs: number[]}} Text */
/** @typedef {{lines: FoldedStrings, blocks: number[][]}} Chunk */

/** The texts of one module. */
export class TextStore {
  /**
   * @param {string} key `m/x/texts`
   * @param {import("../../types/payloads").TextList["texts"]} records
   * @param {number[]} starts the number of the first line of each chunk
   */
  constructor(key, records, starts) {
    this.key = key;
    this.starts = starts;
    this.texts = /** @type {Text[]} */ (
      records.map(([path, size, , chunk, runs, name, label]) => ({ path, size, key: name, label, chunk, runs }))
    );
    /** @type {string[][]} the lines of every block that is known */
    this.blocks = [];
    /** @type {Map<number, Promise<Chunk>>} */
    this.chunks = new Map();
    this.taken = 0;
    /** @type {Promise<void>} */
    this.loading = Promise.resolve();
  }

  /**
   * @param {Text} text
   * @returns {Promise<string[]>} its lines, without their ends
   */
  async lines(text) {
    await this.need(text.chunk);
    const numbers = this.numbers(this.texts.indexOf(text));
    return numbers.flatMap((number, place) => (place ? ["", ...this.blocks[number]] : this.blocks[number]));
  }

  /**
   * Returns lines by their numbers; only the chunks that hold them are loaded.
   * @param {number[]} numbers
   * @returns {Promise<string[]>}
   */
  async numbered(numbers) {
    const places = numbers.map((number) => this.starts.findLastIndex((start) => start <= number));
    const wanted = [...new Set(places)];
    const loaded = new Map(
      await Promise.all(
        wanted.map(async (place) => /** @type {[number, FoldedStrings]} */ ([place, (await this.chunk(place)).lines])),
      ),
    );
    return numbers.map((number, at) => loaded.get(places[at])?.at(number - this.starts[places[at]]) ?? "");
  }

  /**
   * @param {number} number
   * @returns {Promise<Chunk>}
   */
  chunk(number) {
    return once(this.chunks, number, () =>
      /** @type {Promise<Payload<"m/x/texts-0">>} */ (load(`${this.key}-${number}`)).then(({ lines, blocks }) => ({
        lines: new FoldedStrings(lines),
        blocks,
      })),
    );
  }

  /**
   * Takes the blocks of all chunks up to one; a chunk may copy from those before it.
   * @param {number} last
   */
  need(last) {
    this.loading = this.loading.then(async () => {
      const wanted = Array.from({ length: Math.max(0, last + 1 - this.taken) }, (_, place) => this.taken + place);
      const loaded = await Promise.all(wanted.map((number) => this.chunk(number)));
      for (const { lines, blocks } of loaded) this.take(lines.all(), blocks);
      this.taken += wanted.length;
    });
    return this.loading;
  }

  /**
   * @param {string[]} lines
   * @param {number[][]} blocks
   */
  take(lines, blocks) {
    let fresh = 0;
    for (const runs of blocks) {
      const block = /** @type {string[]} */ ([]);
      const ends = new Map();
      this.blocks.push(block);
      for (let at = 0; at < runs.length;) {
        const age = runs[at++];
        const source = age ? this.blocks[this.blocks.length - age] : lines;
        const start = age ? runs[at++] + (ends.get(age) ?? block.length) : fresh;
        const count = runs[at++];
        if (age) ends.set(age, start + count);
        else fresh += count;
        for (let place = start; place < start + count; place += 1) block.push(source[place]);
      }
    }
  }

  /**
   * @param {number} wanted the place of a text
   * @returns {number[]} its blocks; each text is told by the one before it
   */
  numbers(wanted) {
    let count = 0;
    let former = /** @type {number[]} */ ([]);
    for (const { runs } of this.texts.slice(0, wanted + 1)) {
      const numbers = /** @type {number[]} */ ([]);
      for (let at = 0; at < runs.length;) {
        const [kind, first] = [runs[at], runs[at + 1]];
        at += 2;
        if (kind === 0) for (const end = count + first; count < end; count += 1) numbers.push(count);
        else if (kind === 1) numbers.push(...former.slice(first, first + runs[at++]));
        else numbers.push(first);
      }
      former = numbers;
    }
    return former;
  }
}

/** @type {Map<string, Promise<TextStore>>} */
const stores = new Map();

/**
 * @param {string} key `m/x/texts`
 * @returns {Promise<TextStore>}
 */
export function openTexts(key) {
  return once(stores, key, () =>
    /** @type {Promise<Payload<"m/x/texts">>} */ (load(key)).then(
      (index) => new TextStore(key, index.texts, index.chunks),
    ),
  );
}

/**
 * Returns the bytes of a text: what was no UTF-8 stands in it as lone surrogates.
 * @param {string[]} lines
 */
export function textBytes(lines) {
  const text = lines.join("\n");
  if (!/[\udc80-\udcff]/u.test(text)) return new TextEncoder().encode(text);
  const parts = text.split(/([\udc80-\udcff])/u);
  const encoder = new TextEncoder();
  const encoded = parts.map((part, place) =>
    place % 2 ? Uint8Array.of(part.charCodeAt(0) - 0xdc00) : encoder.encode(part),
  );
  return new Blob(encoded);
}
