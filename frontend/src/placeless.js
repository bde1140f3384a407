/**
 * What a report in one file needs before the theme's scripts where it stands in a frame of another
 * page: `<iframe srcdoc>` and `blob:` have no place that addresses are relative to, and a sandboxed
 * frame has no storage. Both are replaced here, and nowhere else.
 */

import { NO_FOLDER, isPlaceless } from "./core/address.js";

/** Storage for as long as the page is open. */
class PageStorage {
  #values = new Map();

  /** @param {string} name @returns {string | null} */
  getItem(name) {
    return this.#values.get(name) ?? null;
  }

  /** @param {string} name @param {string} value */
  setItem(name, value) {
    this.#values.set(name, String(value));
  }

  /** @param {string} name */
  removeItem(name) {
    this.#values.delete(name);
  }
}

/** An address that is relative to a folder of its own where it would be to a page without place. */
class PlacedURL extends URL {
  /** @param {string | URL} url @param {string | URL} [base] */
  constructor(url, base) {
    const placeless = base !== undefined && /^(?:about|blob|data):/.test(String(base)) && !/^#/.test(String(url));
    super(url, placeless ? NO_FOLDER : base);
  }
}

for (const name of ["localStorage", "sessionStorage"]) {
  try {
    void (/** @type {any} */ (window)[name]);
  } catch {
    Object.defineProperty(window, name, { value: new PageStorage() });
  }
}
if (isPlaceless) window.URL = PlacedURL;
