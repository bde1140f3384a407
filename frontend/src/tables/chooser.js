/** The list of all columns of a table, each with a box to show it. */

import { element } from "../core/elements.js";

/** @typedef {import("./rows.js").TableData} TableData */

/**
 * Makes the list, folded; the box of column 3 has the name `c3`.
 * @param {TableData} data
 * @param {{columns: () => void, layouts: () => void}} changed
 * @returns {HTMLDetailsElement}
 */
export function makeChooser({ columns }, changed) {
  const boxes = columns.map(({ title, help }, index) => box(`c${index}`, title, changed.columns, help));
  const shapes = columns.some(({ of }) => of === "shape");
  const layouts = shapes && box("layouts", "Layouts and tiling of shapes", changed.layouts);
  const list = element("div.xr-columns-list", { role: "group", "aria-label": "Columns" }, ...boxes, layouts);
  const chooser = element("details.xr-columns", null, element("summary.xr-button"), list);
  chooser.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !chooser.open) return;
    chooser.open = false;
    chooser.querySelector("summary")?.focus();
    event.stopPropagation();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!chooser.contains(/** @type {Node} */ (event.target))) chooser.open = false;
  });
  return chooser;
}

/**
 * @param {string} name
 * @param {string} words
 * @param {() => void} changed
 * @param {string} [meaning]
 */
function box(name, words, changed, meaning) {
  const input = element("input", { type: "checkbox", name, onchange: changed });
  return element("label", { "data-meaning": meaning ?? null }, input, ` ${words}`);
}
