/**
 * Names that say what they are. What bears `data-word="KIND:NAME"` explains itself when pointed at
 * or moved to, and as a link leads to its entry. Names that sentences put between backticks are
 * marked here, where the tables know them. The tables are the payload `words`, loaded once.
 */

import { root } from "../core/address.js";
import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { ELEMENT_TYPES, INSTRUCTION_NAMES, LAYOUTS, glossaryEntry } from "../core/pages.js";
import { load } from "../core/payloads.js";

/** @typedef {[string, string]} Part a piece of a name and its meaning */
/** @typedef {import("../../types/payloads").Grammar} Grammar */
/** @typedef {import("../../types/payloads").Words} Tables */

const LONGEST = 4096;
const OUTPUT = "Tuple index, counted from 0.";
const WHOLE = "The whole result.";
const PAGES = /** @type {Record<string, string>} */ ({
  instruction: INSTRUCTION_NAMES,
  shape: ELEMENT_TYPES,
  layout: LAYOUTS,
});
const TOLD_BY_SIGN = /** @type {[RegExp, string][]} */ ([
  [/^%[\w.#$-]+$/, "instruction"],
  [/^(?:pred|token|opaque|bf16|[sufc]\d+\w*)\[[^\]]*\](?:\{[^}]*\})?$/, "shape"],
  [/^--\w+(?:=.*)?$/, "flag"],
  [/^(?!sm_|module_)[A-Za-z_][\w-]*(?:\.[\w-]+)*\.(?:\d+(?:_spmd)?|clone|remat\d*)(?:\{[\d,]*\})?$/, "instruction"],
  [/^\{\d+(?:,\d+)*:[^{}]*\}$|^\{\d+(?:,\d+)+\}$/, "layout"],
]);

/** Names of fusions without a number: passes with such names are known by theirs. */
const FUSED = /^(?:(?:loop|input|output|wrapped|gemm_fusion)_\w+|\w+_fusion)$/;

/** Names of computations, which no instruction has. */
const COMPUTATION = /^%?\w*computation(?:\.|$)/;

/** @returns {Promise<Tables>} */
const tables = () => load("words");

/** @param {string} word `KIND:NAME` */
function divide(word) {
  const colon = word.indexOf(":");
  return /** @type {[string, string]} */ ([word.slice(0, colon), word.slice(colon + 1)]);
}

/** @param {string} name a flag as one writes it */
const bareFlag = (name) => name.replace(/^-+/, "").replace(/=.*$/s, "");

/** @returns {string} the address of the module's overview, which has the histories of its instructions */
function overview() {
  const tabs = /** @type {HTMLElement | null} */ (document.querySelector("[data-xr-histories]"));
  return `${root}${tabs?.dataset.xrParts?.split("/page-")[0]}.html`;
}

/**
 * @param {string} kind
 * @param {string} name
 * @returns {string} the address of its entry
 */
function address(kind, name) {
  if (kind === "instruction" && document.querySelector("[data-xr-history], [data-xr-histories]")) {
    const asked = `#i=${encodeURIComponent(name.replace(/^%|\{[\d,]*\}$/g, ""))}`;
    return document.querySelector("[data-xr-history]") ? asked : overview() + asked;
  }
  const entry = kind === "flag" ? bareFlag(name) : name;
  return root + (PAGES[kind] ?? glossaryEntry(kind, entry));
}

/**
 * @param {Element} shown the name of an instruction in text about one module, as that of findings is
 * @param {string} word `KIND:NAME`
 * @returns {string} the address of its trace; empty for what has none
 */
function traceAddress(shown, word) {
  const page = shown.closest("[data-xr-traces]")?.getAttribute("data-xr-traces");
  const [kind, name] = divide(word);
  const traced = page && kind === "instruction" && !COMPUTATION.test(name);
  return traced ? `${page}#i=${encodeURIComponent(name.replace(/^%|\{[\d,]*\}$/g, ""))}` : "";
}

/**
 * @param {string} name
 * @returns {Promise<boolean>} whether it is an opcode of HLO; false where the tables cannot be loaded
 */
export const isOpcode = (name) =>
  tables().then(
    ({ words }) => own(words.opcode, name) !== "",
    () => false,
  );

/** @param {string} word `KIND:NAME` */
export const entryAddress = (word) => address(...divide(word));

/**
 * Makes a name that explains itself and leads to its entry.
 * @param {string} kind `opcode`, `pass`, `flag`, `type`, `kind`, `stage`, `word`, `instruction` or `shape`
 * @param {string} name
 * @param {...(Node | string)} shown the name as code, if nothing else
 */
export function nameLink(kind, name, ...shown) {
  const inside = shown.length ? shown : [element("code", null, name)];
  return element("a.xr-word", { "data-word": `${kind}:${name}`, href: address(kind, name) }, ...inside);
}

/**
 * Says what a name means; nothing where that is not known.
 * @param {string} word `KIND:NAME`
 * @returns {Promise<Part[]>}
 */
export async function explainWord(word) {
  const loaded = await tables();
  const [kind, name] = divide(word);
  if (kind === "instruction") return instruction(name, loaded);
  if (kind === "shape") return shape(name, loaded);
  if (kind === "layout") return layoutParts(name.slice(1, -1), loaded);
  return kinds(name, loaded)
    .filter(([other]) => other === kind)
    .map(([, meaning]) => ["", meaning]);
}

/**
 * @param {string} name
 * @param {Tables} known
 * @returns {Part[]} each kind of word that the name is, and what it means as such
 */
function kinds(name, known) {
  const meanings = Object.entries(known.words).map(([kind, words]) => [
    kind,
    own(words, kind === "flag" ? bareFlag(name) : name),
  ]);
  return /** @type {Part[]} */ (meanings.filter(([, meaning]) => meaning));
}

/**
 * @param {Record<string, string>} words
 * @param {string} name
 */
const own = (words, name) => (Object.hasOwn(words, name) ? words[name] : "");

/**
 * Takes the name of an instruction or a computation apart, as `dump/instruction_names.py` does.
 * @param {string} name
 * @param {Tables} known
 * @returns {Part[]}
 */
function instruction(name, known) {
  const { fields, suffix } = known.instruction;
  const output = /\{([\d,]*)\}$/.exec(name);
  const match = /^%?((?:wide\.)*)([^.#]+)((?:\.[^.#]*)*)((?:#\d+)*)$/.exec(name.slice(0, output?.index ?? LONGEST));
  if (!match) return [[name, fields.born]];
  const [, wide, first, later, elements] = match;
  return [
    ...Array.from(wide.matchAll(/wide/g), () => /** @type {Part} */ (["wide", suffix.wide])),
    ...firstParts(first, known),
    ...later
      .split(".")
      .slice(1)
      .flatMap((piece) => laterParts(piece, known.instruction)),
    ...elements
      .split("#")
      .slice(1)
      .map((number) => /** @type {Part} */ ([number, fields.element.replace("{text}", number)])),
    ...(output ? [/** @type {Part} */ ([output[0], output[1] ? OUTPUT : WHOLE])] : []),
  ];
}

/**
 * @param {string} text
 * @param {Tables} known
 * @returns {Part[]}
 */
function firstParts(text, known) {
  for (const form of known.instruction.forms) {
    const match = new RegExp(`^(?:${form})$`, "ds").exec(text);
    if (match) return innermost(match).map(([field, start, end]) => part(field, text.slice(start, end), known));
  }
  return [part("born", text, known)];
}

/**
 * @param {RegExpExecArray} match
 * @returns {[string, number, number][]} the groups that hold no other one, from left to right
 */
function innermost(match) {
  const all = Object.entries(match.indices?.groups ?? {}).filter(([, span]) => span && span[0] < span[1]);
  const spans = all.map(([field, [start, end]]) => /** @type {[string, number, number]} */ ([field, start, end]));
  spans.sort((left, right) => left[1] - right[1] || right[2] - left[2]);
  return spans.filter(([, , end], place) => place + 1 === spans.length || spans[place + 1][1] >= end);
}

/**
 * @param {string} field
 * @param {string} text
 * @param {Tables} known
 * @returns {Part}
 */
function part(field, text, known) {
  const { fields, manner } = known.instruction;
  if (field === "manner") return [text, own(manner, text) || fields.manner];
  const opcode = /^(?:born|operation|async)$/.test(field) ? own(known.words.opcode, text) : "";
  return [text, `${fields[field].replace("{text}", text)}${opcode ? ` As an opcode: ${opcode}` : ""}`];
}

/**
 * @param {string} text
 * @param {Grammar} grammar
 * @returns {Part[]}
 */
function laterParts(text, { fields, suffix }) {
  const numbered = /^(\d+)_([A-Za-z]\w*)$/.exec(text);
  const [, word, number] = numbered
    ? [text, numbered[2], numbered[1]]
    : /** @type {string[]} */ (/^(.*?)(\d*)$/s.exec(text));
  const parts = /** @type {Part[]} */ ([
    [word, own(suffix, word) || fields.later],
    [number, fields.number],
  ]);
  return (numbered ? parts.reverse() : parts).filter(([piece]) => piece);
}

/**
 * @param {string} text `f32[128,256]{1,0}`, or several in brackets
 * @param {Tables} known
 * @returns {Part[]}
 */
function shape(text, known) {
  const match = /^(\w+)\[([^\]]*)\](?:\{(.*)\})?$/s.exec(text);
  if (!match) return [["( )", "A tuple: several arrays, or further tuples, as one value."]];
  const [, type, dimensions, layout] = match;
  return [
    [type, own(known.words.type, type) || "A type of element that is not known here."],
    [`[${dimensions}]`, sizes(dimensions, known.bits[type])],
    ...(layout ? layoutParts(layout, known) : []),
  ];
}

/**
 * @param {string} dimensions
 * @param {number | undefined} bits
 */
function sizes(dimensions, bits) {
  if (!dimensions) return "No dimensions: a single value.";
  const numbers = dimensions.split(",").map((size) => Number(size.replace("<=", "")));
  const total = numbers.reduce((product, size) => product * size, 1);
  if (Number.isNaN(total)) return "The size of each dimension; ? is one that is known only when the program runs.";
  const bytes = bits ? `, ${format.bytes((total * bits) / 8)} without padding` : "";
  const most = dimensions.includes("<=") ? " at most; <= marks a size that is known only when the program runs" : "";
  const product = numbers.length > 1 ? `${numbers.map(format.count).join(" \u00d7 ")}, ` : "";
  return `The size of each dimension: ${product}${format.plural(total, "element")}${bytes}${most}.`;
}

/**
 * @param {string} layout
 * @param {Tables} known
 * @returns {Part[]}
 */
function layoutParts(layout, known) {
  const order = /^[\d,]*/.exec(layout)?.[0] ?? "";
  const words = (/** @type {string} */ name, /** @type {string} */ value) => known.layout[name].replace("{}", value);
  const parts = /** @type {Part[]} */ ([]);
  if (order) parts.push([`{${order}}`, words("order", order.split(",")[0])]);
  for (const [written, letter, inside] of layout.matchAll(/([TSE])((?:\([^)]*\))+)/g)) {
    const value = inside.slice(1, -1);
    if (letter === "T") parts.push([written, words("tiles", inside)]);
    if (letter === "S") parts.push([written, own(known.spaces, value) || words("space", value)]);
    if (letter === "E") parts.push([written, words("bits", value)]);
  }
  return parts;
}

/**
 * @param {string} text
 * @param {Tables} known
 * @returns {string} `KIND:NAME` of what a text is; empty where that is not known
 */
function recognized(text, known) {
  for (const [pattern, kind] of TOLD_BY_SIGN) {
    if (pattern.test(text) && (kind !== "flag" || own(known.words.flag, bareFlag(text)))) return `${kind}:${text}`;
  }
  const meaning = kinds(text, known).find(([kind]) => kind !== "word");
  if (!meaning && FUSED.test(text)) return `instruction:${text}`;
  return meaning ? `${meaning[0]}:${text}` : "";
}

const IN_TEXT = /%[\w.#$-]+|[a-z]+\d*\w*\[[^\]]{0,200}\](?:\{[^}]{0,200}\})?|[A-Za-z_][\w.-]*/g;

/**
 * Finds the name under the pointer in a line of HLO text.
 * @param {HTMLElement} line
 * @param {number} x
 * @param {number} y
 * @returns {Promise<{word: string, place: DOMRect} | null>}
 */
export async function wordAtPoint(line, x, y) {
  const caret = document.caretRangeFromPoint?.(x, y);
  return caret && wordAtCaret(line, caret);
}

/**
 * Finds the name at a caret, of the pointer or of the keyboard, in a line of HLO text.
 * @param {HTMLElement} line
 * @param {Range} caret
 * @returns {Promise<{word: string, place: DOMRect} | null>}
 */
export async function wordAtCaret(line, caret) {
  if (!line.contains(caret.startContainer)) return null;
  const loaded = await tables();
  const before = document.createRange();
  before.setStart(line, 0);
  before.setEnd(caret.startContainer, caret.startOffset);
  const offset = before.toString().length;
  const text = (line.textContent ?? "").slice(0, offset + LONGEST);
  for (const match of text.matchAll(IN_TEXT)) {
    if (match.index > offset) return null;
    if (match.index + match[0].length < offset) continue;
    const word = kindInText(text, match.index, match[0], loaded);
    return word ? { word, place: caret.getBoundingClientRect() } : null;
  }
  return null;
}

/**
 * @param {string} text a line of HLO text
 * @param {number} start where the name begins
 * @param {string} name
 * @param {Tables} known
 * @returns {string} `KIND:NAME`, empty where the place does not tell the kind
 */
function kindInText(text, start, name, known) {
  const follows = text.slice(start + name.length);
  if (follows.startsWith("(") && own(known.words.opcode, name)) return `opcode:${name}`;
  if (follows.startsWith(" = ") || name.startsWith("%")) return `instruction:${name}`;
  const form = TOLD_BY_SIGN.find(([pattern, kind]) => kind !== "flag" && pattern.test(name));
  return form ? `${form[1]}:${name}` : "";
}

/**
 * Names whose meaning stands beside them, or whose kind their table tells, are left as they are; so are those in a
 * summary, which is a control itself.
 */
const UNMARKED =
  "code:not(pre code, h1 code, button code, summary code, [data-word] code, .xr-table code, .xr-meanings code, .xr-parts code, .xr-glossary dt code, .xr-whole, .xr-whole code)";

/**
 * Lets the names in a part of the page explain themselves.
 * @param {ParentNode} parent
 */
async function mark(parent) {
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (
    parent.querySelectorAll("a[data-word]:not([href])")
  )) {
    link.href = entryAddress(link.dataset.word ?? "");
  }
  const names = /** @type {HTMLElement[]} */ ([...parent.querySelectorAll(UNMARKED)]);
  if (!names.length) return;
  const loaded = await tables();
  for (const code of names) {
    const around = code.closest("a");
    const word = around?.matches(".xr-ask, [href*='#i=']")
      ? `instruction:${code.textContent}`
      : recognized(code.textContent ?? "", loaded);
    if (!word || !code.parentNode) continue;
    if (around) around.dataset.word ??= word;
    else wrap(code, word);
  }
}

/**
 * @param {HTMLElement} shown
 * @param {string} word
 */
function wrap(shown, word) {
  const link = element("a.xr-word", { "data-word": word, href: traceAddress(shown, word) || entryAddress(word) });
  shown.replaceWith(link);
  link.append(shown);
}

/** What is drawn anew while it scrolls, with names that are marked or never are. */
const DRAWN = ".xr-data, .xr-lines";

/** Marks what scripts put into the page later. */
export function watchNames() {
  const observer = new MutationObserver((changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node instanceof HTMLElement);
    for (const parent of new Set(added.map((node) => node.parentElement))) {
      if (parent && !parent.closest(DRAWN)) void mark(parent);
    }
  });
  for (const article of document.querySelectorAll("article")) {
    void mark(article);
    observer.observe(article, { childList: true, subtree: true });
  }
}
