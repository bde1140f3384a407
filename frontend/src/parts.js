/**
 * The parts of a module's page: `x.html?cost` shows what module `x` costs where the overview stood. A
 * part is a payload with the HTML of its article. Only what has a tab on the page is a part, so that
 * nothing in an address becomes a path or markup.
 */

import { askedPart, goToFragment, isSingleFile, state } from "./core/address.js";
import { showContents } from "./contents.js";
import { drawComponents } from "./core/components.js";
import { element, errorMessage, failure } from "./core/elements.js";
import { load } from "./core/payloads.js";

/** @typedef {import("../types/payloads").Part} Part */

/** Parts by what their tabs are called, where that is another word. */
const CALLED = /** @type {Record<string, string>} */ ({ hlo: "texts" });

/**
 * Puts a part in the place of the overview.
 * @param {HTMLElement} tabs
 * @param {HTMLElement} article
 */
async function show(tabs, article) {
  const name = CALLED[askedPart()] ?? askedPart();
  if (location.search) window.addEventListener("pagehide", keep); // one file is read anew for each part
  while (tabs.nextSibling) tabs.nextSibling.remove(); // before any script draws what is in it
  article.setAttribute("aria-busy", "true");
  list([]);
  document.documentElement.classList.remove("xr-part-asked");
  try {
    put(article, await loadPart(tabs, name));
  } catch (error) {
    fail(article, tabs, errorMessage(error));
  }
  article.removeAttribute("aria-busy");
}

/**
 * @param {HTMLElement} tabs
 * @param {string} name
 * @returns {Promise<Part>}
 */
async function loadPart(tabs, name) {
  const links = [...tabs.querySelectorAll("a")];
  const own = links.find((link) => link.dataset.part === name);
  for (const link of links) link.removeAttribute("aria-current");
  if (!own) throw new Error(`This page has no tab ${name}.`);
  own.setAttribute("aria-current", "page");
  tabs.scrollLeft = own.offsetLeft - tabs.offsetLeft - own.offsetWidth; // on a narrow screen the tabs scroll
  return /** @type {Promise<Payload<"m/x/page">>} */ (load(`${tabs.dataset.xrParts}${name}`));
}

/**
 * @param {HTMLElement} article
 * @param {Part} part
 */
function put(article, { title, html, wide }) {
  article.insertAdjacentHTML("beforeend", html);
  entitle(title, article.querySelector("h1")?.id ?? "");
  for (const side of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".md-sidebar"))) {
    side.hidden = wide;
  }
  list(contents(article));
  showContents(article);
  /** @type {any} */ (window).document$?.next(document); // the theme begins anew with all that stands in a page
  void jump(drawComponents(article));
}

/**
 * Goes to where the reader was, or to the place in the address; once more when what stands above it
 * has its height, unless the reader has gone on meanwhile.
 * @param {Promise<any>} drawn
 */
async function jump(drawn) {
  const place = document.getElementById(state.get("at") ?? location.hash.slice(1));
  const go = () => (kept === undefined ? place?.scrollIntoView() : scrollTo(0, kept));
  let left = false;
  for (const type of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    window.addEventListener(type, () => (left = true), { once: true });
  }
  go();
  await drawn;
  if (!left) go();
}

/** How far down the reader was who comes back: the browser knows it, but not when the part is there. */
const kept = /** @type {number | undefined} */ (history.state?.scroll);

function keep() {
  history.replaceState({ ...history.state, scroll: scrollY }, "");
}

/**
 * @param {string} title
 * @param {string} anchor of the heading
 */
function entitle(title, anchor) {
  const end = document.title.lastIndexOf(" - ");
  document.title = title + (end < 0 ? "" : document.title.slice(end));
  const topic = document.querySelector("[data-md-component=header-topic] .md-ellipsis");
  if (topic) topic.textContent = title;
  document.querySelector(".md-skip")?.setAttribute("href", `#${anchor}`);
}

/** @param {HTMLElement[]} items what stands in the table of contents */
function list(items) {
  document.querySelector(".md-nav--secondary ul")?.replaceChildren(...items);
}

/**
 * Lists the sections of the part, as the theme lists those of a page.
 * @param {HTMLElement} article
 */
function contents(article) {
  const entries = /** @type {HTMLElement[]} */ ([]);
  for (const heading of article.querySelectorAll("h2[id], h3[id]")) {
    const words = heading.firstChild?.textContent ?? "";
    const item = element(
      "li.md-nav__item",
      null,
      element("a.md-nav__link", { href: `#${heading.id}` }, element("span.md-ellipsis", null, words)),
    );
    const above = entries.at(-1);
    if (heading.localName === "h2" || !above) entries.push(item);
    else below(above).append(item);
  }
  return entries;
}

/** @param {HTMLElement} item @returns {Element} the list of what stands below it */
function below(item) {
  const inner = item.querySelector("ul") ?? element("ul.md-nav__list");
  if (!inner.parentNode) item.append(element("nav.md-nav", { "aria-label": item.textContent }, inner));
  return inner;
}

/**
 * @param {HTMLElement} article
 * @param {HTMLElement} tabs
 * @param {string} reason
 */
function fail(article, tabs, reason) {
  const title = "This is not in the report";
  const overview = tabs.querySelector("a")?.getAttribute("href");
  entitle(title, "missing");
  article.append(
    element("h1", { id: "missing" }, title),
    failure(`${reason} `, element("a", { href: overview }, "The overview of the module")),
  );
}

/** What stands in a part, by the value or the anchor in the address that shows it. */
const MOVED = /** @type {Record<string, string>} */ ({
  node: "graph",
  computation: "graph",
  graph: "graph",
  "pass-summary": "passes",
  files: "files",
});

/**
 * Goes on to the part that shows what the address of the overview asks for.
 * @param {HTMLElement} tabs
 */
function goOn(tabs) {
  const asked = location.hash.slice(1);
  const name = Object.keys(MOVED).find((key) => asked === key || state.get(key));
  if (!name) return;
  const tab = [...tabs.querySelectorAll("a")].find((link) => link.dataset.part === MOVED[name]);
  const shown = document.querySelector(name === "computation" ? "[data-xr-computations]" : "[data-xr-graph]");
  if (!tab || askedPart() || shown) return;
  const values = asked.includes("=") ? asked.split("&").filter((value) => !value.startsWith("page=")) : [];
  if (isSingleFile) goToFragment([tab.hash, ...values].join("&"));
  else location.replace(tab.href + (values.length ? `#${values.join("&")}` : ""));
}

/** Shows the part of the page that the address asks for; nothing where it asks for none. */
export function showAskedPart() {
  const tabs = /** @type {HTMLElement | null} */ (document.querySelector("[data-xr-parts]"));
  if (tabs) {
    goOn(tabs);
    window.addEventListener("hashchange", () => goOn(tabs));
  }
  if (tabs?.parentElement && askedPart()) void show(tabs, tabs.parentElement);
  else showContents(document);
}
