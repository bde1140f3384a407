/**
 * The text of all pages and of the guide, from the index that the theme writes for its own search. The
 * theme loads it on most pages; in a report in one file there is none.
 */

import { isSingleFile, root } from "../core/address.js";
import { element } from "../core/elements.js";

const LONGEST = 120;
const BEFORE = 30;

/** @typedef {import("./index.js").Hit} Hit */
/** @typedef {{search: string, hit: (query: string) => Hit}} PageText what is searched, the title first, and where it leads */
/** @typedef {{location: string, title: string, text: string}} Section */
/** @typedef {{docs?: Section[], items?: Section[]}} ThemeIndex MkDocs calls them docs, Zensical items */

/** @returns {ThemeIndex | undefined} */
const known = () => /** @type {any} */ (window).__index;

/**
 * Loads the sections of all pages; none where there is no index.
 * @returns {Promise<PageText[]>}
 */
export async function loadPages() {
  const named = document.querySelector("meta[name=xr-search]")?.getAttribute("content");
  if (!known() && !isSingleFile && named) await addScript(`${root}${named}`);
  return (known()?.docs ?? known()?.items ?? []).map(section);
}

/** @param {string} src @returns {Promise<void>} kept when it is there or cannot be */
function addScript(src) {
  return new Promise((resolve) => {
    const done = () => resolve();
    document.head.append(element("script", { src, onload: done, onerror: done }));
  });
}

/** @param {Section} doc @returns {PageText} */
export function section({ location, title, text }) {
  const apart = text.replace(/<\/?(?:code|sub|sup)>/g, "").replace(/<[^<>]*>/g, " ");
  const plain = decode(apart).replace(/\s+/g, " ");
  const heading = decode(title);
  return {
    search: `${heading} ${plain}`,
    hit: (query) => ({ text: heading, note: excerpt(plain.trim(), query), href: location }),
  };
}

/** @type {Record<string, string>} what HTML cannot hold as it is */
const MARKS = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };

/** @param {string} html without tags @returns {string} the text that a page shows of it */
const decode = (html) => html.replace(/&(?:lt|gt|quot|#39|amp);/g, (mark) => MARKS[mark]);

/**
 * Returns the text around the first place that has what was asked for; else its beginning. Words stay whole.
 * @param {string} text
 * @param {string} query
 */
export function excerpt(text, query) {
  const wanted = query.trim().toLowerCase();
  const place = wanted ? text.toLowerCase().indexOf(wanted) : -1;
  const start = place < LONGEST - wanted.length ? 0 : text.lastIndexOf(" ", place - BEFORE) + 1;
  const ending = text.slice(start);
  return `${start ? "… " : ""}${ending.length > LONGEST ? `${wholeWords(ending)} …` : ending}`;
}

/** @param {string} text @returns {string} its beginning, as far as words fit; of one long word a part */
function wholeWords(text) {
  const end = text.lastIndexOf(" ", LONGEST);
  return text.slice(0, end > BEFORE ? end : LONGEST);
}
