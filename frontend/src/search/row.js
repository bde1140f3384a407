/**
 * One result of the search: a name, what is known of it, and where it leads.
 */

import { insideReport } from "../core/address.js";
import { element } from "../core/elements.js";

/** @param {import("./index.js").Hit} hit @param {boolean} exact whether it is what was typed */
export function row({ text, note, href }, exact) {
  return element(
    "li",
    null,
    element(
      "a",
      { href: insideReport(href), "data-exact": exact && "yes" },
      element("code", null, text),
      " ",
      element("span.xr-muted", null, note),
    ),
  );
}
