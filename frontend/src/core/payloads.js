/**
 * Payloads: data by script tags, since a page opened from file:// cannot fetch. A report in one file
 * holds them behind its pages.
 */

import { isSingleFile, root } from "./address.js";
import { once } from "./once.js";
import { inflate } from "./packing.js";

/** @type {Map<string, (value: any) => void>} */
const awaited = new Map();

/**
 * Takes the value of a payload; called by payload scripts.
 * @param {string} key the payload's key
 * @param {string} body JSON, or with `packing` its compressed form in base 85
 * @param {"gzip"} [packing] how the body is compressed
 */
export function deliver(key, body, packing) {
  awaited.get(key)?.(opened(body, packing));
}

/**
 * @param {string} body
 * @param {"gzip" | null} [packing]
 */
function opened(body, packing) {
  return packing ? inflate(body, packing) : JSON.parse(body);
}

/** @type {Set<string>} payloads that a packed report leaves out; a script before this one says which */
const leftOut = new Set(JSON.parse(document.documentElement.dataset.xrLeftOut ?? "[]"));

/** The folder and the name of a payload that may lie in `small`; the others are loaded without its module's pages. */
const MAY_BE_SMALL = /^(m\/[^/]+\/)(?!(?:small|search|texts(?:-\d+)?)$)(.+)$/;

/** @type {Map<string, Promise<any>>} */
const loaded = new Map();

/** @typedef {import("../../types/payloads").Payloads} Payloads */

/**
 * Loads a payload, once. What it is follows from a whole key; else types/payloads.d.ts lists what it can be.
 * @template {string} Key
 * @param {Key} key the payload's key, `m/x/steps`
 * @returns {Promise<Key extends keyof Payloads ? Payloads[Key] : unknown>} its value
 */
export function load(key) {
  return once(loaded, key, () => locate(key));
}

/**
 * Finds a payload among the small ones of its module, or else by itself.
 * @param {string} key
 */
async function locate(key) {
  const [, folder, name] = MAY_BE_SMALL.exec(key) ?? [];
  if (folder) {
    const small = /** @type {Payloads["m/x/small"]} */ (await load(`${folder}small`));
    if (Object.hasOwn(small, name)) return small[name];
  }
  if (leftOut.has(key)) {
    throw new Error("It was left out of this packed report, to keep it small. LEFT-OUT.txt lists what else was.");
  }
  return isSingleFile ? embedded(key) : fetched(key);
}

/**
 * Runs the script of a payload.
 * @param {string} key
 * @returns {Promise<any>}
 */
function fetched(key) {
  return new Promise((resolve, reject) => {
    awaited.set(key, resolve);
    const script = document.createElement("script");
    script.src = `${root}assets/data/${key.split("/").map(encodeURIComponent).join("/")}.js`;
    script.onload = () => script.remove();
    script.onerror = () =>
      reject(
        new Error(
          `The file ${decodeURI(script.src)} is missing from this report. If it is a packed one, LEFT-OUT.txt lists what it leaves out.`,
        ),
      );
    document.head.append(script);
  });
}

/**
 * Finds a payload in a report in one file, which holds its data behind its pages.
 * @param {string} key
 * @returns {Promise<any>}
 */
async function embedded(key) {
  const read = new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
  if (document.readyState === "loading") await read;
  const block = document.getElementById(`assets/data/${key}.js`);
  if (!block) {
    throw new Error(`Its data (${key}) is not in this file. The footer of the page links to the list of omitted data.`);
  }
  const [, body, packing] = JSON.parse(block.textContent ?? "");
  return opened(body, packing);
}
