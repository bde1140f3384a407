/**
 * The color modes of a picture besides opcodes: the color of each box, and what it means. The report
 * itself does the same for pictures in files (pictures/scales.py), so both look alike.
 */

import { format } from "../core/format.js";
import { LEGEND_WORDS, MOST_KINDS } from "./sizes.js";
import { shorten } from "./svg_text.js";

/** @typedef {import("./svg.js").Node} Node */
/** @typedef {import("./svg.js").Look} Look */
/** @typedef {{cost?: number | null, time?: number | null, memory?: number | null, sharding?: string, scope?: string[]}} Shade */
/** @typedef {{mode: string, palette: "heat" | "tint", levels: Map<string, number>, marks: Map<string, string>, words: [number, string][]}} Scale */

/**
 * @param {Node[]} nodes
 * @param {Look} look
 * @returns {Scale[]} the modes in which a drawing says something
 */
export function colorScales(nodes, look) {
  const shades = new Map(nodes.map(({ id, shade }) => [id, shade ?? {}]));
  const modes = [
    ordered(
      "cost",
      values(shades, ({ cost }) => cost),
      format.percent,
      look,
    ),
    ordered(
      "time",
      values(shades, ({ time }) => time),
      format.percent,
      look,
    ),
    ordered(
      "memory",
      values(shades, ({ memory }) => memory),
      format.bytes,
      look,
    ),
    kinds("scope", scopes(shades)),
    kinds(
      "sharding",
      values(shades, ({ sharding }) => sharding || null),
    ),
  ];
  return modes.filter(({ levels }) => levels.size);
}

/**
 * @template T
 * @param {Map<string, Shade>} shades
 * @param {(shade: Shade) => T | null | undefined} value
 * @returns {Map<string, T>} of the boxes that have one
 */
function values(shades, value) {
  const all = [...shades].map(([id, shade]) => [id, value(shade)]);
  return new Map(/** @type {[string, T][]} */ (all.filter(([, figure]) => figure !== null && figure !== undefined)));
}

/**
 * @param {"cost" | "time" | "memory"} mode
 * @param {Map<string, number>} figures
 * @param {(figure: number) => string} written
 * @param {Look} look
 * @returns {Scale}
 */
function ordered(mode, figures, written, look) {
  const { from, words } = look.scales[mode];
  const level = (/** @type {number} */ figure) => from.filter((limit) => limit <= figure).length - 1;
  const levels = new Map([...figures].map(([id, figure]) => [id, level(figure)]));
  const marks = new Map([...figures].map(([id, figure]) => [id, written(figure)]));
  const used = [...new Set(levels.values())].sort((left, right) => left - right);
  return { mode, palette: "heat", levels, marks, words: used.map((place) => [place, words[place]]) };
}

/**
 * @param {"scope" | "sharding"} mode
 * @param {Map<string, string>} named
 * @returns {Scale} of things without an order, the most frequent ones first
 */
function kinds(mode, named) {
  const counts = /** @type {Map<string, number>} */ (new Map());
  for (const name of named.values()) if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  let names = [...counts].sort(([, left], [, right]) => right - left).map(([name]) => name);
  if (mode === "scope" && names.length < 2) names = [];
  const numbers = new Map(names.map((name, place) => [name, Math.min(place, MOST_KINDS - 1)]));
  const levels = new Map([...named].flatMap(([id, name]) => (numbers.has(name) ? [[id, numbers.get(name) ?? 0]] : [])));
  const marks = new Map([...levels].map(([id, level]) => [id, letter(level)]));
  return {
    mode,
    palette: "tint",
    levels: /** @type {Map<string, number>} */ (levels),
    marks: /** @type {Map<string, string>} */ (marks),
    words: kindWords(names),
  };
}

/** @param {number} level */
const letter = (level) => String.fromCharCode(65 + level);

/**
 * @param {string[]} names
 * @returns {[number, string][]} the letter and the name of each kind
 */
function kindWords(names) {
  return names.slice(0, MOST_KINDS).map((name, place) => {
    const last = place === MOST_KINDS - 1 && names.length > MOST_KINDS;
    return [place, `${letter(place)} ${last ? "others" : shorten(name, LEGEND_WORDS)}`];
  });
}

/**
 * @param {Map<string, Shade>} shades
 * @returns {Map<string, string>} the scope of each box, as deep as colors last; layers count as one
 */
function scopes(shades) {
  const paths = new Map(
    [...shades].map(([id, { scope }]) => [id, (scope ?? []).map((word) => word.replace(/\d+/g, "#"))]),
  );
  const deepest = Math.max(0, ...[...paths.values()].map((path) => path.length));
  const cut = (/** @type {number} */ depth) =>
    new Map([...paths].map(([id, path]) => [id, path.slice(0, depth).join("/")]));
  let best = cut(1);
  for (let depth = 2; depth <= deepest; depth += 1) {
    const deeper = cut(depth);
    if (new Set(deeper.values()).size > MOST_KINDS) break;
    best = deeper;
  }
  return best;
}
