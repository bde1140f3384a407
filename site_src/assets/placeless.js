// Made from frontend/src by `make bundle`: changes here are lost.
"use strict";
(() => {
  // src/core/address.js
  var script = (
    /** @type {HTMLScriptElement | null} */
    document.currentScript?.src ?? ""
  );
  var isSingleFile = !script;
  var NO_FOLDER = "https://report.invalid/";
  var isPlaceless = /^(?:about|blob|data):$/.test(location.protocol);
  var root = new URL(isSingleFile ? "./" : "../", script || (isPlaceless ? NO_FOLDER : location.href)).href;
  var isFixed = location.protocol === "blob:" || location.protocol === "file:" && window.parent !== window && isSandboxed();
  function isSandboxed() {
    try {
      return !window.localStorage;
    } catch {
      return true;
    }
  }

  // src/placeless.js
  var PageStorage = class {
    #values = /* @__PURE__ */ new Map();
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
  };
  var PlacedURL = class extends URL {
    /** @param {string | URL} url @param {string | URL} [base] */
    constructor(url, base) {
      const placeless = base !== void 0 && /^(?:about|blob|data):/.test(String(base)) && !/^#/.test(String(url));
      super(url, placeless ? NO_FOLDER : base);
    }
  };
  for (const name of ["localStorage", "sessionStorage"]) {
    try {
      void /** @type {any} */
      window[name];
    } catch {
      Object.defineProperty(window, name, { value: new PageStorage() });
    }
  }
  if (isPlaceless) window.URL = PlacedURL;
})();
