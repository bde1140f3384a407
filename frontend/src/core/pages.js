/**
 * The addresses of pages and of places in them, relative to the root of the site: for scripts what
 * `pages/navigation.py` is for the pages.
 */

export const FILE_NAMES = "names.html#file-names";
export const INSTRUCTION_NAMES = "names.html#instruction-and-computation-names";
export const ELEMENT_TYPES = "glossary.html#element-types";
export const LAYOUTS = glossaryEntry("word", "layout");

/**
 * @param {string} slug
 * @param {string} part of the page, `cost`; empty for the overview
 * @param {string} place behind `#`
 * @returns {string} the address of a module's page
 */
export function modulePage(slug, part = "", place = "") {
  return `m/${modulePageBeside(slug, part, place)}`;
}

/**
 * @param {string} slug
 * @param {string} part of the page
 * @param {string} place behind `#`
 * @returns {string} the address of a module's page, seen from that of a module
 */
export function modulePageBeside(slug, part = "", place = "") {
  return `${slug}.html${part && `?${part}`}${place && `#${place}`}`;
}

/**
 * @param {Record<string, string>} values by their keys, in order
 * @returns {string} the place that they name, `text=0017&name=add`
 */
export function placeOf(values) {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join("&");
}

/**
 * @param {string} kind
 * @param {string} name
 * @returns {string} the address of an entry of the glossary
 */
export function glossaryEntry(kind, name) {
  return `glossary.html#${kind}-${name.replace(/[^a-zA-Z0-9_-]/g, "-")}`;
}

/**
 * @param {string} name
 * @returns {string} the address of a file of the dump in the list of all
 */
export function listedFile(name) {
  return `coverage.html#${placeOf({ t: "files", q: name })}`;
}

/**
 * @param {string} slug
 * @param {string} query
 * @returns {string} the address of the roofline time of the scopes that answer a query
 */
export function listedScopes(slug, query) {
  return modulePage(slug, "cost", `t=m/${slug}/scopes&${placeOf({ q: query })}`);
}

/**
 * @param {string} slug
 * @param {string} query
 * @returns {string} the address of the instructions of a module's final snapshot that answer a query
 */
export function listedInstructions(slug, query) {
  return modulePage(slug, "", `t=m/${slug}/instructions&${placeOf({ q: query })}`);
}

/**
 * @param {string} slug
 * @param {string} query
 * @returns {string} the address of the source lines of a module that answer a query
 */
export function listedLines(slug, query) {
  return modulePage(slug, "source", `t=m/${slug}/lines&${placeOf({ q: query })}`);
}
