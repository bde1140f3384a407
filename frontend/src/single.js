/**
 * A report in one file. Each page is a template; the address behind `#` says which one is shown,
 * `page=m/x.html?steps&step=0017`, so that it can be pasted. Another page is the file read anew, so
 * that every script begins as it does where pages are files. Links get such addresses, and those to
 * what is not in the file say so.
 */

import { goToFragment, isFixed, isPlaceless, replaceFragment, root as folder } from "./core/address.js";

const HOME = "index.html";
const MISSING = "left-out.html";
/** What comes behind the part of the page with this script: what the theme needs there, its scripts, the data. */
const REST = ".md-container ~ .md-dialog, .md-container ~ script";
const end = "</script>";
const beginning = isFixed ? whole() : "";
const templates = /** @type {HTMLTemplateElement[]} */ ([...document.querySelectorAll("template[data-page]")]);
const pages = new Map(templates.map((template) => [template.dataset.page ?? "", template]));

/** @returns {string} the file up to the end of this script, as it was before any script changed it */
function whole() {
  // eslint-disable-next-line no-restricted-properties -- the page itself, whose policy stays
  const text = document.documentElement.outerHTML;
  return text.slice(0, text.lastIndexOf(end) + end.length);
}

/** @param {string} fragment @returns {string | null} the page that it names */
const named = (fragment) => new URLSearchParams(fragment.slice(1)).get("page");

/** @param {string | null} address of a page or a part of one @returns {HTMLTemplateElement | undefined} */
const template = (address) => pages.get((address ?? "").split("?")[0]);

/**
 * Returns the address in this file of what a page calls by an address of its own.
 * @param {string} address `../index.html`, `x.html?steps#step=0017`, `#anchor`
 * @returns {string | null} null where it leads out of the report
 */
function within(address) {
  const { href, hash, search } = new URL(address, folder + current);
  if (!href.startsWith(folder)) return null;
  const page = decodeURIComponent(href.slice(folder.length).split(/[?#]/)[0]) + search;
  const behind = hash.slice(1);
  const asked = behind.includes("=") ? behind : behind && `at=${behind}`;
  return `#${new URLSearchParams([["page", page || HOME], ...new URLSearchParams(asked)])}`
    .replaceAll("%2F", "/")
    .replaceAll("%3F", "?");
}

/** @param {HTMLElement} link gets an address in this file */
function lead(link) {
  const address = link.getAttribute("href") ?? "";
  if (address.startsWith("#page=") || link.closest(".md-skip, .md-nav--secondary")) return;
  const real = within(address);
  if (!real) return;
  link.setAttribute("href", real);
  if (template(named(real))) return;
  link.classList.add("xr-absent");
  link.title = "Not in this file";
}

/** @param {Element} part of the page, whose links are led */
function leadAll(part) {
  if (part.matches("a[href]")) lead(/** @type {HTMLElement} */ (part));
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll("a[href]"))) lead(link);
}

/** Puts the page of the address in its place. */
function show() {
  const shown = template(current) ?? pages.get(MISSING);
  if (!shown) return;
  document.documentElement.classList.toggle("xr-part-asked", current.includes("?")); // as early.js
  document.querySelector("main")?.append(document.importNode(shown.content, true));
  document.title = shown.dataset.title ?? "";
  const topic = document.querySelector("[data-md-component=header-topic] .md-ellipsis");
  if (topic) topic.textContent = document.querySelector("main h1")?.firstChild?.textContent ?? "";
  const asked = document.querySelector("[data-asked-page]");
  if (asked && !template(current)) asked.textContent = `The page ${current} is not in this file.`;
  for (const tab of document.querySelectorAll(".md-tabs__link")) {
    const here = named(tab.getAttribute("href") ?? "")?.split("/")[0] === current.split("/")[0];
    tab.parentElement?.classList.toggle("md-tabs__item--active", here);
  }
}

function scroll() {
  const place = document.getElementById(new URLSearchParams(location.hash.slice(1)).get("at") ?? "");
  place?.scrollIntoView();
  place?.classList.add("xr-at");
}

/** @param {Event} event */
function turned(event) {
  if (!location.hash.startsWith("#page=")) replaceFragment(within(location.hash || HOME) ?? "");
  if (named(location.hash) === current) return scroll();
  event.stopImmediatePropagation();
  history.scrollRestoration = "manual";
  if (isFixed) writeAnew();
  else location.reload();
}

/** Reads the file anew from what was kept of it, where the browser would not load it again. */
function writeAnew() {
  /* eslint-disable no-restricted-properties -- the page itself, whose policy stays */
  const foot = document.querySelector(".md-footer")?.outerHTML ?? "";
  const parts = [...document.querySelectorAll(REST)].map((part) => part.outerHTML);
  /* eslint-enable no-restricted-properties */
  document.open();
  document.write(`<!doctype html>${beginning}${foot}</div>${parts.join("")}`);
  document.close();
}

/**
 * Follows a link of this file where the page has no place: the browser would go to the page around it.
 * @param {MouseEvent} event
 */
function follow(event) {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
  if (!link || event.defaultPrevented) return;
  event.preventDefault();
  goToFragment(link.getAttribute("href") ?? "");
}

// What stands around the page is that of the home page, and so are its links.
let current = HOME;
leadAll(document.body);
if (!location.hash.startsWith("#page=")) replaceFragment(within(location.hash || HOME) ?? "");
current = named(location.hash) ?? HOME;
show();
leadAll(document.body);
new MutationObserver((changes) => {
  for (const { type, target, addedNodes } of changes) {
    const parts = type === "attributes" ? [target] : addedNodes;
    for (const part of parts) if (part instanceof Element) leadAll(part);
  }
}).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["href"] });
window.addEventListener("hashchange", turned);
if (isPlaceless || isFixed) document.addEventListener("click", follow);
window.addEventListener("load", scroll);
