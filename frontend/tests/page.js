/**
 * What the scripts need of a browser, for tests in Node: a document of linkedom, which lays nothing out,
 * an address, and payloads by their keys. `--import ./tests/page.js` loads it before all tests.
 */

import { parseHTML } from "linkedom";

/** What listens to the window, anew for each page. */
let events = new EventTarget();

const { document, HTMLElement, HTMLSelectElement, Element, Node } = parseHTML(
  "<!doctype html><html><head><title>x - report</title></head><body></body></html>",
);
const LINK = Object.getPrototypeOf(document.createElement("a"));

/** Sees nothing by itself, since nothing here has a place: a test says when something was seen. */
export class Observer {
  /** @type {Observer[]} */
  static all = [];

  /** @param {(entries: any[]) => void} see */
  constructor(see) {
    this.see = see;
    Observer.all.push(this);
  }

  observe() {}
  disconnect() {}
}

/** @param {object} prototype @param {string} name @param {PropertyDescriptor} accessor */
const property = (prototype, name, accessor) =>
  Object.defineProperty(prototype, name, { configurable: true, ...accessor });

/** @param {string} name @returns {PropertyDescriptor} a property that is an attribute there or not there */
const flag = (name) => ({
  get() {
    return this.hasAttribute(name);
  },
  set(value) {
    this.toggleAttribute(name, Boolean(value));
  },
});

property(document, "currentScript", { value: { src: "file:///report/site/assets/xlareport.js" } });
property(document, "activeElement", { value: null, writable: true });
property(HTMLElement.prototype, "open", flag("open"));
property(LINK, "hash", {
  get() {
    return new URL(this.href, location.href).hash;
  },
});
property(HTMLSelectElement.prototype, "value", {
  get() {
    return (
      this.chosen ?? (this.querySelector("option[selected]") ?? this.querySelector("option"))?.getAttribute("value")
    );
  },
  set(value) {
    this.chosen = String(value);
  },
});
for (const side of ["clientWidth", "clientHeight", "offsetWidth", "offsetHeight", "scrollTop"]) {
  property(Element.prototype, side, { value: 0, writable: true });
}
Object.assign(HTMLElement.prototype, { select() {}, scrollIntoView() {}, showModal() {}, show() {}, close() {} });

/** A window that stands in no frame. */
const alone = {
  addEventListener: (/** @type {[string, () => void]} */ ...listener) => events.addEventListener(...listener),
  dispatchEvent: (/** @type {Event} */ event) => events.dispatchEvent(event),
};
Object.assign(alone, { parent: alone });

Object.assign(globalThis, {
  document,
  window: alone,
  location: new URL("file:///report/site/m/x.html?cost#step=0017"),
  history: {
    state: null,
    /** @param {unknown} _state @param {string} _title @param {string} address */
    replaceState: (_state, _title, address) => void (location.href = new URL(address, location.href).href),
  },
  Element,
  HTMLElement,
  MutationObserver: Observer,
  Node,
  IntersectionObserver: Observer,
  ResizeObserver: Observer,
  getComputedStyle: () => ({ fontSize: "16px", display: "flex" }),
  requestAnimationFrame: (/** @type {() => void} */ act) => setTimeout(act),
  innerHeight: 900,
  innerWidth: 1400,
  scrollX: 0,
  scrollY: 0,
});

/** The values of payloads by their keys, which a script tag in the head delivers. @type {Map<string, unknown>} */
export const payloads = new Map();

const append = document.head.append.bind(document.head);
document.head.append = (/** @type {any} */ ...nodes) => {
  append(...nodes);
  for (const node of nodes) if (node.localName === "script") queueMicrotask(() => runPayload(node));
};

/** @param {HTMLScriptElement} script of a payload */
async function runPayload(script) {
  const { deliver } = await import("../src/core/payloads.js");
  const key = decodeURIComponent(script.src.replace("file:///report/site/assets/data/", "").replace(/\.js$/, ""));
  if (payloads.has(key)) deliver(key, JSON.stringify(payloads.get(key)));
  else if (/^m\/[^/]+\/small$/.test(key)) deliver(key, "{}");
  else script.onerror?.(new Event("error"));
}

/**
 * Goes to an address on the page, as a link does.
 * @param {string} fragment with its `#`, or empty
 */
export function go(fragment) {
  location.hash = fragment;
  window.dispatchEvent(new Event("hashchange"));
}

/** @param {string} markup @returns {any} an empty page's only element */
export function page(markup = "<div></div>") {
  events = new EventTarget();
  document.title = "x - report";
  document.body.innerHTML = markup;
  return document.body.firstElementChild;
}

/** @returns {Promise<void>} kept when what waits for payloads has gone on */
export const settled = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** @param {any} node @returns {string} its text, with single spaces */
export const textOf = (node) => node.textContent.replace(/\s+/g, " ").trim();

/** @param {any} parent @param {string} selector @returns {string[]} the texts of what it selects */
export const textsOf = (parent, selector) => [...parent.querySelectorAll(selector)].map(textOf);
