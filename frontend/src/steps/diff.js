/**
 * The text of a change: lines with their signs, the words that changed marked, parts that seldom
 * matter (metadata, backend_config) kept quiet.
 */

import { element } from "../core/elements.js";
import { sums, unfold } from "../core/packing.js";
import { openTexts } from "../texts/store.js";

/** Tokens beyond which two lines are compared by their common ends only. */
const COMPARED = 400;
/** The share of words that two lines must have in common, or marks would only be noise. */
const ALIKE = 0.4;
/** Signs of lines that stand on both sides and may differ. */
const AFTER_TOO = new Set(["~", "<", ">"]);
const QUIET = /\b(?:metadata|backend_config|frontend_attributes|origin)=\{/;

/** @typedef {{sign: string, text: string, other?: string, places?: [number, number]}} Line `other` is the text after, `places` the positions of a line that moved */
/** @typedef {{computation: string, lines: Line[], continued?: boolean}} Hunk `continued` where it began in the payload before */
/** @typedef {import("../../types/payloads").DiffLines} DiffLines */
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
 * Returns about how long a line is where its metadata is hidden.
 * @param {string} line
 */
export function loudLength(line) {
  const end = line.indexOf("metadata={");
  return end < 0 ? line.length : end;
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
export function written(line) {
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

/**
 * Puts the hunks of a difference together that are in one payload.
 * @param {DiffLines} diff
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
  const moves = diff.moves.values();
  const position = () => moves.next().value ?? 0;
  const lines = [...diff.signs].map((sign) => {
    /** @type {Line} */
    const line = { sign, text: take(sign === "+" ? after : before) };
    if (AFTER_TOO.has(sign)) line.other = take(after);
    if (sign === "<" || sign === ">") line.places = [position(), position()];
    return line;
  });
  const ends = sums(diff.hunks);
  return unfold(diff.titles).map((computation, place) => ({
    computation,
    lines: lines.slice(ends[place] - diff.hunks[place], ends[place]),
    continued: place === 0 && diff.continued === true,
  }));
}

/**
 * Returns a line as it is shown: without indentation, of a computation's header without the brace.
 * @param {string} line
 */
const bare = (line) => (line.startsWith("  ") ? line.slice(2) : line.slice(0, -2));
