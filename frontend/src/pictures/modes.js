/**
 * What the colors of a picture stand for: a choice in its toolbar, kept while boxes open other
 * pictures. The picture itself has every mode; a class of it shows one, `by-cost`.
 */

import { element } from "../core/elements.js";

/** @typedef {import("./picture.js").Picture} Picture */

const FIRST = "opcode";
const WORDS = /** @type {Record<string, string>} */ ({
  opcode: "opcode category",
  cost: "cost",
  time: "measured time",
  memory: "memory",
  scope: "scope",
  sharding: "sharding",
});

/**
 * @param {Picture} picture
 * @returns {string[]} what its colors can stand for
 */
function modes(picture) {
  return (picture.svg.dataset.modes ?? "").split(" ").filter((mode) => Object.hasOwn(WORDS, mode));
}

/**
 * Shows a picture in the mode that was chosen where it stands, or in the first.
 * @param {Picture} picture
 */
export function applyMode(picture) {
  const available = modes(picture);
  if (!available.length) return;
  const wanted = picture.host.dataset.mode ?? FIRST;
  const now = available.includes(wanted) ? wanted : FIRST;
  for (const mode of available) picture.svg.classList.toggle(`by-${mode}`, mode === now);
  picture.source = picture.source.replace(/ class="xg by-[a-z]+"/, ` class="xg by-${now}"`);
}

/**
 * Returns the choice for the toolbar; none for a picture that has only one mode.
 * @param {Picture} picture
 * @returns {HTMLElement | null}
 */
export function modeChoice(picture) {
  applyMode(picture);
  const known = modes(picture);
  if (known.length < 2) return null;
  const chosen = picture.host.dataset.mode ?? FIRST;
  const options = known.map((mode) => element("option", { value: mode, selected: mode === chosen }, WORDS[mode]));
  const select = element("select", { onchange: () => choose(picture, select.value) }, ...options);
  return element("label.xr-modes", null, "Color by ", select);
}

/**
 * @param {Picture} picture
 * @param {string} mode
 */
function choose(picture, mode) {
  picture.host.dataset.mode = mode;
  applyMode(picture);
}
