/** Pictures whose boxes open their details and the pictures behind them. */

import { load } from "../core/payloads.js";
import { openDetails } from "./details.js";
import { openLevelWith } from "./levels.js";
import { Picture } from "./picture.js";
import { recordSvg } from "./records.js";

/** Milliseconds without work of the browser after which a picture is drawn. */
const REST = 150;
/** Milliseconds after which a picture is drawn though the browser is still busy. */
const LATEST = 1000;

/**
 * Puts a picture into an element.
 * @param {HTMLElement} host
 * @param {string} key by which its file is named when it is saved
 * @param {string} svg
 */
export const interactivePicture = (host, key, svg) =>
  new Picture(host, key, svg, { open: openDetails, openWith: openLevelWith });

/**
 * Waits until an element comes near the part of the page that is in sight.
 * @param {HTMLElement} host
 * @returns {Promise<void>}
 */
export function waitUntilNear(host) {
  return new Promise((resolve) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        observer.disconnect();
        resolve();
      },
      { rootMargin: "600px" },
    );
    observer.observe(host);
  });
}

/**
 * Waits until the browser has shown what is there: words come before pictures, and keys before both.
 * @returns {Promise<unknown>}
 */
function rest() {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(resolve, { timeout: LATEST });
    else setTimeout(resolve, REST);
  });
}

/**
 * Draws a picture when it comes near the part of the page that is in sight.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export async function drawPicture(host, key) {
  await waitUntilNear(host);
  const { pictures } = await /** @type {Promise<Payload<"m/x/picture">>} */ (load(key));
  await rest();
  if (!host.isConnected) return;
  const { name, drawing = 0 } = host.dataset;
  const svg = await recordSvg(Array.isArray(pictures) ? pictures : pictures[name ?? ""], Number(drawing));
  interactivePicture(host, name ? `${key}-${name}` : key, svg);
}
