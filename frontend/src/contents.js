/**
 * The contents of a page with tables, as a line below its heading: tables take the room of the whole
 * window, so that the list beside them has none.
 */

import { element } from "./core/elements.js";

const WIDE = "[data-xr-steps], [data-xr-code], .xr-table";
/** Home lists its sections with a table and without one. */
const LISTED = ".xr-table, .xr-answers";

/**
 * Lists the sections of an article below its heading and lead, where it holds a table or answers, and says in
 * classes of the document which room the page takes: `body:has()` would style the whole page anew with
 * each row that is drawn.
 * @param {ParentNode} article
 */
export function showContents(article) {
  listSections(article);
  const { classList } = document.documentElement;
  classList.toggle("xr-wide", Boolean(document.querySelector(WIDE)));
  classList.toggle("xr-lists-sections", Boolean(document.querySelector(".xr-contents")));
}

/** @param {ParentNode} article */
function listSections(article) {
  const headings = [...article.querySelectorAll("h2[id]")];
  const title = article.querySelector("h1");
  if (!title || !article.querySelector(LISTED) || article.querySelector(".xr-contents")) return;
  const links = headings.map((heading) =>
    element("a", { href: `#${heading.id}` }, heading.firstChild?.textContent ?? ""),
  );
  const lead = title.nextElementSibling?.matches(".xr-lead") ? title.nextElementSibling : title;
  lead.after(element("nav.xr-contents", { "aria-label": "On this page", hidden: links.length < 2 }, ...links));
}
