/** Components: elements with a data attribute, each drawn by the function that is registered for it. */

import { errorMessage, failure } from "./elements.js";

/** @type {Map<string, (host: HTMLElement, key: string) => Promise<void> | void>} */
const components = new Map();

/**
 * Says how elements with a data attribute are drawn.
 * @param {string} attribute `data-xr-table`
 * @param {(host: HTMLElement, key: string) => Promise<void> | void} draw
 */
export function component(attribute, draw) {
  components.set(attribute, draw);
  drawAll(document, attribute);
}

/**
 * Draws every component inside an element that was made by script.
 * @param {ParentNode} parent
 * @returns {Promise<void[]>} kept when all are drawn
 */
export function drawComponents(parent) {
  return Promise.all([...components.keys()].flatMap((attribute) => drawAll(parent, attribute)));
}

/**
 * @param {ParentNode} parent
 * @param {string} attribute
 * @returns {Promise<void>[]}
 */
function drawAll(parent, attribute) {
  const hosts = /** @type {HTMLElement[]} */ ([...parent.querySelectorAll(`[${attribute}]`)]);
  return hosts.map((host) =>
    drawOne(host, attribute).catch((/** @type {unknown} */ error) => {
      host.removeAttribute("aria-busy");
      host.append(failure(`This part could not be drawn. ${errorMessage(error)}`));
    }),
  );
}

/**
 * @param {HTMLElement} host
 * @param {string} attribute
 */
async function drawOne(host, attribute) {
  if (host.dataset.xrDrawn) return;
  host.dataset.xrDrawn = "yes";
  await components.get(attribute)?.(host, host.getAttribute(attribute) ?? "");
}
