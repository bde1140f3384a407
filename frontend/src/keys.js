/**
 * Keys, and the words that explain things: an overlay under `?` lists every key of the page, and
 * whatever has `data-meaning`, a sentence (`data-further` is a word that says more), or `data-word`, a name that `words.js` knows, says what
 * it means when pointed at or moved to.
 */

import { element } from "./core/elements.js";
import { isOfBrowser, isTyping } from "./core/events.js";
import { explainWord, watchNames, wordAtCaret, wordAtPoint } from "./names/words.js";

/** @type {Map<string, {help: string, action: () => void}>} */
const bound = new Map();

/**
 * Binds a key on this page.
 * @param {string} key as KeyboardEvent says it
 * @param {string} help what it does, for the overlay
 * @param {() => void} action
 */
export function bindKey(key, help, action) {
  bound.set(key, { help, action });
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (isTyping(event) || isOfBrowser(event) || event.defaultPrevented) return;
  const binding = bound.get(event.key);
  if (!binding) return;
  event.preventDefault();
  binding.action();
}

const overlay = element("dialog.xr-keys", { "aria-label": "Keys" });

function showKeys() {
  if (overlay.open) return overlay.close();
  const ofPage = [...bound].map(([key, { help }]) => [key, help]);
  const theme = document.querySelector("[data-md-component=search]") ? [["s", "Full-text search"]] : [];
  const all = [...ofPage, ...theme, ["Esc", "Close"]];
  const rows = all.map(([key, help]) =>
    element("tr", null, element("th", { scope: "row" }, element("kbd", null, key)), element("td", null, help)),
  );
  overlay.replaceChildren(
    element("h2", null, "Keys on this page"),
    element("table", null, element("tbody", null, ...rows)),
    element("button.xr-button", { type: "button", onclick: () => overlay.close() }, "Close"),
  );
  overlay.showModal();
}

const tip = element("div.xr-tip", { role: "tooltip", id: "xr-tip", hidden: true });

/** @type {HTMLElement | null} */
let asked = null;

const TEXT = ".xr-text, .xr-whole-lines code";

const EXPLAINED = "[data-meaning], [data-word], [data-whole]";
/** Characters of a text that the tip shows. */
const LONGEST = 600;

/** @param {Event} event */
async function explain(event) {
  const target = event.target instanceof Element ? event.target.closest(EXPLAINED) : null;
  if (!(target instanceof HTMLElement)) return tip.contains(/** @type {Node} */ (event.target)) || hide();
  if (target === asked && !tip.hidden) return;
  hide();
  asked = target;
  const { meaning, word, further } = target.dataset;
  const parts = meaning ? [["", meaning]] : word ? await explainWord(word) : [];
  if (further) parts.push(...(await explainWord(further)));
  const whole = cutText(target);
  if (whole) parts.unshift(["", whole]);
  if (asked !== target || !parts.length) return;
  show(target.getBoundingClientRect(), parts);
  target.setAttribute("aria-describedby", tip.id);
}

/** @param {HTMLElement} target @returns {string} the text of the cell that it is in, where its line cuts that */
function cutText(target) {
  const cell = /** @type {HTMLElement | null} */ (target.closest("[data-whole]"));
  const whole = cell?.dataset.whole ?? "";
  return cell && (cell.scrollWidth > cell.clientWidth || cell.textContent !== whole) ? whole.slice(0, LONGEST) : "";
}

/** @param {PointerEvent} event explains names in lines of HLO text, which are no elements */
async function explainText(event) {
  const target = event.target instanceof Element ? event.target : null;
  const line = target?.closest(TEXT);
  if (!(line instanceof HTMLElement) || target?.closest("[data-word], [data-meaning]")) return;
  await showFound(await wordAtPoint(line, event.clientX, event.clientY));
}

/** Explains the name that is marked, or at which the caret of the keyboard stands. */
async function explainMarked() {
  const marked = getSelection();
  const node = marked?.anchorNode;
  const line = (node instanceof Element ? node : node?.parentElement)?.closest(TEXT);
  if (!marked?.rangeCount || !(line instanceof HTMLElement)) return;
  await showFound(await wordAtCaret(line, marked.getRangeAt(0)));
}

/** @param {{word: string, place: DOMRect} | null} name */
async function showFound(name) {
  const parts = name ? await explainWord(name.word) : [];
  if (name && parts.length) show(name.place, parts);
  else if (!asked) hide();
}

/**
 * @param {DOMRect} place of what is explained
 * @param {string[][]} parts pieces of its name with their meanings
 */
function show(place, parts) {
  tip.replaceChildren(
    ...parts.map(([part, meaning]) => element("p", null, part && element("code", null, part), part && " ", meaning)),
  );
  tip.hidden = false;
  const left = Math.min(place.left, document.documentElement.clientWidth - tip.offsetWidth - 8);
  const below = place.bottom + tip.offsetHeight + 12 < innerHeight;
  tip.style.left = `${Math.max(8, left) + scrollX}px`;
  tip.style.top = `${(below ? place.bottom + 6 : place.top - tip.offsetHeight - 6) + scrollY}px`;
}

function hide() {
  asked = null;
  tip.hidden = true;
  document.querySelector("[aria-describedby=xr-tip]")?.removeAttribute("aria-describedby");
}

/** Regions of this page that have a name: no two have the same. */
let named = 0;

/** Lets the keyboard reach what is wider than its room. */
function reachWide() {
  const wanted = [".xr-scroll", ".md-typeset__scrollwrap", ".xr-figure-chart"];
  const boxes = [...document.querySelectorAll(wanted.map((box) => `${box}:not([tabindex])`).join())];
  for (const wide of boxes.filter((box) => box.scrollWidth > box.clientWidth)) {
    wide.setAttribute("tabindex", "0");
    wide.setAttribute("role", "region");
    wide.setAttribute("aria-label", wide.matches("figure") ? `Wide chart ${++named}` : `Wide table ${++named}`);
  }
}

/** Binds the keys of this page, and lets its names explain themselves. */
export function installKeys() {
  reachWide();
  window.addEventListener("load", reachWide); // the theme wraps tables late
  new ResizeObserver(reachWide).observe(document.querySelector(".md-content") ?? document.body); // and others fill them
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.body.append(overlay, tip);
  document.addEventListener("keydown", pressed);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("pointerover", explain);
  document.addEventListener("pointermove", explainText);
  document.addEventListener("selectionchange", explainMarked);
  document.addEventListener("focusin", explain);
  document.addEventListener("focusout", hide);
  watchNames();
  bindKey("?", "Show this help", showKeys);
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-xr-key]"))) {
    bindKey(link.dataset.xrKey ?? "", link.title || link.textContent || "", () => link.click());
  }
}
