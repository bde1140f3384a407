/** Rows of a table that come in several payloads: `KEY` has the first, `KEY-1` and so on the others. */

import { load } from "../core/payloads.js";

/** @typedef {import("../../types/payloads").Cell} Cell */

/** Payloads that are under way at once where all are wanted. */
const TOGETHER = 8;

/** The rows of a table, with holes where they are not loaded. */
export class PagedRows {
  /**
   * @param {string} key of the payload
   * @param {Cell[][]} first
   * @param {import("../../types/payloads").Pages} [pages] none where the first are all
   */
  constructor(key, first, pages) {
    this.key = key;
    this.size = pages?.size ?? Math.max(1, first.length);
    this.rows = first;
    this.missing = new Set(pages ? [...Array(Math.ceil(pages.rows / pages.size)).keys()].slice(1) : []);
    this.rows.length = pages?.rows ?? first.length;
  }

  get complete() {
    return !this.missing.size;
  }

  /** @returns {number} the rows before the first hole */
  get beginning() {
    return this.complete ? this.rows.length : Math.min(...this.missing) * this.size;
  }

  /**
   * Loads the rows around a place.
   * @param {number} row
   */
  async loadAt(row) {
    await this.take(Math.floor(row / this.size));
  }

  /** @param {(loaded: number) => void} told of the rows that are there */
  async loadAll(told) {
    while (this.missing.size) {
      await Promise.all([...this.missing].slice(0, TOGETHER).map((page) => this.take(page)));
      told(this.rows.length - this.missing.size * this.size);
    }
  }

  /** @param {number} page */
  async take(page) {
    const rows = await /** @type {Promise<Payload<"table-0">>} */ (load(`${this.key}-${page}`));
    for (const [place, row] of rows.entries()) this.rows[page * this.size + place] = row;
    this.missing.delete(page);
  }
}
