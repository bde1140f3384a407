/**
 * The contents of a page with tables, as a line below its heading: tables take the room of the whole
 * window, so that the list beside them has none.
 */

import { element } from "./core/elements.js";

/**
 * Lists the sections of an article below its heading and lead, where it holds a table.
 * @param {ParentNode} article
 */
export function showContents(article) {
  const headings = [...article.querySelectorAll("h2[id]")];
  const title = article.querySelector("h1");
  if (!title || !article.querySelector(".xr-table") || article.querySelector(".xr-contents")) return;
  const links = headings.map((heading) =>
    element("a", { href: `#${heading.id}` }, heading.firstChild?.textContent ?? ""),
  );
  const lead = title.nextElementSibling?.matches(".xr-lead") ? title.nextElementSibling : title;
  lead.after(element("nav.xr-contents", { "aria-label": "On this page", hidden: links.length < 2 }, ...links));
}
