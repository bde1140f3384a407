/**
 * The text of a change: lines with their signs, the words that changed marked, parts that seldom
 * matter (metadata, backend_config) kept quiet.
 */

import { element, errorMessage, failure } from "../core/elements.js";
import { format } from "../core/format.js";
import { sums, unfold } from "../core/packing.js";
import { openTexts } from "../texts/store.js";

/** Tokens beyond which two lines are compared by their common ends only. */
const COMPARED = 400;
/** Lines that are drawn before the browser may show them. */
const AT_ONCE = 60;
/** The share of words that two lines must have in common, or marks would only be noise. */
const ALIKE = 0.4;
const QUIET = /\b(?:metadata|backend_config|frontend_attributes|origin)=\{/;

/** @typedef {[string, string] | [string, string, string]} Line sign, text, and for `~` the new text */
/** @typedef {{computation: string, lines: Line[]}} Hunk without a name where it goes on */
/** @typedef {import("../../types/payloads").Diff} Diff */
/** @typedef {{text: string, changed: boolean}} Piece */

/** @param {string} line */
const tokens = (line) => line.match(/[\w.-]+|\s+|[^\w\s]/g) ?? [];

/**
 * Marks in both lines what the other has not.
 * @param {string} before
 * @param {string} after
 * @returns {[Piece[], Piece[]]}
 */
export function compareLines(before, after) {
  const [old, fresh] = [tokens(before), tokens(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
  let end = 0;
  const room = Math.min(old.length, fresh.length) - start;
  while (end < room && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1;
  const [left, right] = [old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)];
  const small = left.length <= COMPARED && right.length <= COMPARED;
  const [kept, stayed] = small ? common(left, right) : [new Set(), new Set()];
  const alike = start + end + kept.size >= Math.max(old.length, fresh.length) * ALIKE;
  if (!alike) return [[{ text: before, changed: false }], [{ text: after, changed: false }]];
  const head = old.slice(0, start).join("");
  const tail = old.slice(old.length - end).join("");
  return [pieces(head, left, kept, tail), pieces(head, right, stayed, tail)];
}

/**
 * Finds the longest common sequence of words.
 * @param {string[]} left
 * @param {string[]} right
 * @returns {[Set<number>, Set<number>]} the positions of it in both
 */
function common(left, right) {
  const width = right.length + 1;
  const table = new Uint16Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const same = left[i] === right[j];
      const [below, beside] = [table[(i + 1) * width + j], table[i * width + j + 1]];
      table[i * width + j] = same ? table[(i + 1) * width + j + 1] + 1 : Math.max(below, beside);
    }
  }
  return trace(left, right, table);
}

/**
 * @param {string[]} left
 * @param {string[]} right
 * @param {Uint16Array} table
 * @returns {[Set<number>, Set<number>]}
 */
function trace(left, right, table) {
  const width = right.length + 1;
  const positions = /** @type {[Set<number>, Set<number>]} */ ([new Set(), new Set()]);
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    if (left[i] === right[j]) {
      positions[0].add(i++);
      positions[1].add(j++);
    } else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return positions;
}

/**
 * @param {string} head
 * @param {string[]} middle
 * @param {Set<number>} kept
 * @param {string} tail
 * @returns {Piece[]}
 */
function pieces(head, middle, kept, tail) {
  const all = [{ text: head, changed: false }];
  for (const [position, text] of middle.entries()) {
    const changed = !kept.has(position);
    const last = all[all.length - 1];
    if (last.changed === changed) last.text += text;
    else all.push({ text, changed });
  }
  all.push({ text: tail, changed: false });
  return all.filter((piece) => piece.text);
}

/**
 * Returns where the quiet parts of a line are: from `metadata={` to its closing brace.
 * @param {string} line
 * @returns {[number, number][]}
 */
function quietParts(line) {
  const parts = /** @type {[number, number][]} */ ([]);
  for (let from = 0; ;) {
    const match = QUIET.exec(line.slice(from));
    if (!match) return parts;
    const start = from + match.index;
    from = closing(line, start + match[0].length - 1);
    parts.push([start, from]);
  }
}

/**
 * @param {string} line
 * @param {number} open position of a brace
 * @returns {number} the position behind its partner, outside of strings
 */
function closing(line, open) {
  let depth = 0;
  let quoted = false;
  for (let place = open; place < line.length; place += 1) {
    const character = line[place];
    if (quoted && character === "\\") place += 1;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === "{") depth += 1;
    else if (!quoted && character === "}" && --depth === 0) return place + 1;
  }
  return line.length;
}

/**
 * Writes a line: changed words in a mark, every quiet part in a span of its own.
 * @param {Piece[]} line
 * @returns {Node[]}
 */
function written(line) {
  const text = line.map((piece) => piece.text).join("");
  const nodes = /** @type {Node[]} */ ([]);
  let place = 0;
  for (const [start, end] of quietParts(text)) {
    nodes.push(...marked(line, place, start), element("span.xr-quiet", null, ...marked(line, start, end)));
    place = end;
  }
  return [...nodes, ...marked(line, place, text.length)];
}

/**
 * Writes the part of a line between two positions.
 * @param {Piece[]} line
 * @param {number} start
 * @param {number} end
 * @returns {Node[]}
 */
function marked(line, start, end) {
  const nodes = /** @type {Node[]} */ ([]);
  let place = 0;
  for (const { text, changed } of line) {
    const part = text.slice(Math.max(0, start - place), Math.max(0, end - place));
    if (part) nodes.push(changed ? element("mark", null, part) : document.createTextNode(part));
    place += text.length;
  }
  return nodes;
}

const LOOKS = /** @type {Record<string, [string, string, string]>} */ ({
  "+": ["xr-added", "+", "added"],
  "-": ["xr-removed", "\u2212", "removed"],
  "~": ["xr-changed", "~", "changed"],
  " ": ["xr-same", " ", ""],
});

/**
 * @param {string} sign
 * @param {Piece[]} line
 * @param {string} [spoken]
 */
function row(sign, line, spoken) {
  const [look, shown, words] = LOOKS[sign] ?? LOOKS[" "];
  const aloud = spoken ?? words;
  return element(
    `div.xr-line.${look}`,
    null,
    element("span.xr-sign", { "aria-hidden": "true" }, shown),
    aloud && element("span.xr-hidden", null, `${aloud}: `),
    element("span.xr-text", null, ...written(line)),
  );
}

/**
 * @param {Line} line
 * @returns {HTMLElement[]}
 */
function rows([sign, text, other]) {
  if (sign !== "~" || other === undefined) return [row(sign, [{ text, changed: false }])];
  const [before, after] = compareLines(text, other);
  const old = row("~", before, "changed from");
  const fresh = row("~", after, "changed to");
  old.classList.add("xr-from");
  fresh.classList.add("xr-to");
  return [old, fresh];
}

/** @param {Hunk} hunk */
function hunk({ computation, lines }) {
  const head = element("h4.xr-hunk-title", null, element("code", null, computation));
  return element("section.xr-hunk", null, head, element("div.xr-lines", null, ...lines.flatMap(rows)));
}

/**
 * Cuts a long hunk, so that its head is on the screen before the rest is drawn.
 * @param {Hunk} hunk
 * @returns {Hunk[]}
 */
function withinReason({ computation, lines }) {
  const parts = [];
  for (let from = 0; from === 0 || from < lines.length; from += AT_ONCE) {
    parts.push({ computation: from ? "" : computation, lines: lines.slice(from, from + AT_ONCE) });
  }
  return parts;
}

/**
 * Draws some hunks now and the others when the browser has drawn these.
 * @param {HTMLElement} box
 * @param {Hunk[]} hunks
 */
function drawSome(box, hunks) {
  let lines = 0;
  while (hunks.length && lines < AT_ONCE) {
    const next = /** @type {Hunk} */ (hunks.shift());
    lines += next.lines.length;
    if (next.computation) box.append(hunk(next));
    else box.lastElementChild?.append(element("div.xr-lines", null, ...next.lines.flatMap(rows)));
  }
  if (hunks.length) requestAnimationFrame(() => setTimeout(() => drawSome(box, hunks)));
}

/**
 * Puts the hunks of a difference together.
 * @param {Diff} diff
 * @returns {Promise<Hunk[]>}
 */
export async function readDiff(diff) {
  const numbers = [sums(diff.before), sums(diff.after)];
  const own = unfold(diff.own);
  const stored = numbers.flat().filter((number) => number >= 0);
  const store = stored.length && diff.texts ? await openTexts(diff.texts) : null;
  const loaded = new Map(
    ((await store?.numbered(stored)) ?? []).map((/** @type {string} */ line, /** @type {number} */ place) => [
      stored[place],
      bare(line),
    ]),
  );
  const [before, after] = numbers.map((list) =>
    list.map((number) => loaded.get(number) ?? own[-1 - number])[Symbol.iterator](),
  );
  const take = (/** @type {Iterator<string>} */ from) => from.next().value ?? "";
  const lines = [...diff.signs].map(
    (sign) =>
      /** @type {Line} */ (
        sign === "+" ? [sign, take(after)] : sign === "~" ? [sign, take(before), take(after)] : [sign, take(before)]
      ),
  );
  const ends = sums(diff.hunks);
  return unfold(diff.titles).map((computation, place) => ({
    computation,
    lines: lines.slice(ends[place] - diff.hunks[place], ends[place]),
  }));
}

/**
 * Returns a line as it is shown: without indentation, of a computation's header without the brace.
 * @param {string} line
 */
const bare = (line) => (line.startsWith("  ") ? line.slice(2) : line.slice(0, -2));

/**
 * Draws a text difference, its lines when they are loaded.
 * @param {Diff} diff
 * @returns {HTMLElement}
 */
export function drawDiff(diff) {
  const box = element("div.xr-diff");
  const missing = diff.total > diff.shown;
  const words = missing
    ? `The first ${format.count(diff.shown)} of ${format.plural(diff.total, "changed line")} are shown; the HLO tab has the rest.`
    : `${format.plural(diff.total, "changed line")}.`;
  const options = element(
    "div.xr-diff-bar",
    null,
    element("span", null, words, diff.note ? ` ${diff.note}` : ""),
    toggle(box, "xr-nowrap", "One line each"),
    toggle(box, "xr-hush", "Hide metadata"),
  );
  box.append(options);
  readDiff(diff).then(
    (hunks) => drawSome(box, hunks.map(withinReason).flat()),
    (/** @type {unknown} */ error) => box.append(failure(`The lines cannot be shown. ${errorMessage(error)}`)),
  );
  return box;
}

/**
 * Makes a switch for a way to show the text; it is remembered from page to page.
 * @param {HTMLElement} box
 * @param {string} look
 * @param {string} words
 */
function toggle(box, look, words) {
  const input = element("input", { type: "checkbox" });
  input.checked = remembered(look);
  box.classList.toggle(look, input.checked);
  input.addEventListener("change", () => {
    box.classList.toggle(look, input.checked);
    remember(look, input.checked);
  });
  return element("label", null, input, ` ${words}`);
}

/** @param {string} look */
function remembered(look) {
  try {
    return localStorage.getItem(look) !== "no" && (look === "xr-hush" || localStorage.getItem(look) === "yes");
  } catch {
    return look === "xr-hush";
  }
}

/**
 * @param {string} look
 * @param {boolean} on
 */
function remember(look, on) {
  try {
    localStorage.setItem(look, on ? "yes" : "no");
  } catch {
    // A browser that keeps nothing shows the usual way next time.
  }
}
