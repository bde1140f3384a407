/**
 * One result of the search: a name, what is known of it, and where it leads.
 */

import { insideReport } from "../core/address.js";
import { element } from "../core/elements.js";

/**
 * @param {import("./index.js").Hit} hit
 * @param {boolean} exact whether it is what was typed
 * @param {boolean} inner whether what was typed is only inside of a word of it
 */
export function row({ text, note, href }, exact, inner = false) {
  return element(
    "li",
    null,
    element(
      "a",
      { href: insideReport(href), "data-exact": exact && "yes", "data-inner": inner && "yes" },
      element("code", null, text),
      " ",
      element("span.xr-muted", null, note),
    ),
  );
}

/**
 * Opens the result that is what was typed, else the first; goes to it where what was typed is only inside of a word.
 * @param {HTMLAnchorElement[]} links the best first
 */
export function openBest(links) {
  const best = links.find((link) => link.dataset.exact) ?? links[0];
  if (best?.dataset.inner) best.focus();
  else best?.click();
}
