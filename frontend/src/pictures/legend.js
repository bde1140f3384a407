/**
 * What stands below a picture: the notes, then the legend, both as wide as the picture. The legends of
 * the color modes stand in the same place; the style sheet shows one of them.
 */

import { LEGEND_CHARACTER, LEGEND_GAP, LEGEND_LINE, LEGEND_SWATCH } from "./sizes.js";
import { decimal, escaped } from "./svg_text.js";

const SIGNS = /** @type {Record<string, string>} */ ({ added: "+", removed: "\u2212", changed: "~" });
const KINDS = /** @type {("families" | "states" | "edges")[]} */ (["families", "states", "edges"]);
const PALETTES = /** @type {Record<string, string>} */ ({ heat: "h", tint: "t" });

/** @typedef {import("./svg.js").Drawing} Drawing */
/** @typedef {import("./svg.js").Look} Look */
/** @typedef {import("./scales.js").Scale} Scale */
/** @typedef {[string, string, string]} Entry kind, name and words of a swatch */
/** @typedef {[string, Entry[]]} Section a mode, or empty for what is always seen, and its entries */

/**
 * @param {Drawing} drawing
 * @param {Scale[]} modes
 * @param {Look} look
 * @param {{left: number, top: number, width: number}} place
 * @returns {[string[], number]} the elements below a picture, and where they end
 */
export function pictureFooter(drawing, modes, look, { left, top, width }) {
  const columns = Math.floor((width - 2 * left) / LEGEND_CHARACTER);
  const lines = drawing.notes.flatMap((words) => wrapped(words, columns));
  const below = lines.map((line, row) => note(line, left, top + 12 + LEGEND_LINE * row));
  let start = top + LEGEND_LINE * lines.length + 6;
  let ends = [start];
  for (const [mode, entries] of drawing.plain ? [] : sections(drawing, modes, look)) {
    const [elements, end] = section(mode, entries, left, start, width - left);
    below.push(...elements);
    if (mode) ends.push(end);
    else {
      start = end;
      ends = [end];
    }
  }
  return [below, Math.max(...ends) + 8];
}

/**
 * @param {Drawing} drawing
 * @param {Scale[]} modes
 * @param {Look} look
 * @returns {Section[]}
 */
function sections({ nodes, edges, groups = [] }, modes, look) {
  const used = {
    families: new Set(nodes.flatMap(({ family, mix = [] }) => [family, ...mix.map(([name]) => name)])),
    states: new Set([...nodes, ...edges, ...groups].map(({ state }) => state)),
    edges: new Set(edges.map(({ style }) => style)),
  };
  const entries = KINDS.flatMap((kind) =>
    look[kind]
      .filter(([name]) => used[kind].has(name))
      .map(([name, words]) => /** @type {Entry} */ ([kind, name, words])),
  );
  return [
    ["", entries.filter(([kind]) => kind !== "families")],
    ["opcode", entries.filter(([kind]) => kind === "families")],
    ...modes.map(
      ({ mode, palette, words }) =>
        /** @type {Section} */ ([mode, words.map(([level, text]) => [palette, String(level), text])]),
    ),
  ];
}

/**
 * @param {string} mode
 * @param {Entry[]} entries
 * @param {number} left
 * @param {number} top
 * @param {number} right
 * @returns {[string[], number]} the elements of a section, and where they end
 */
function section(mode, entries, left, top, right) {
  let [x, row] = [left, 0];
  const swatches = entries.map((entry) => {
    const wide = LEGEND_SWATCH + LEGEND_CHARACTER * entry[2].length;
    if (x > left && x + wide > right) [x, row] = [left, row + 1];
    const drawn = swatch(entry, x, top + 12 + LEGEND_LINE * row);
    x += wide + LEGEND_GAP;
    return drawn;
  });
  const end = top + LEGEND_LINE * (entries.length ? row + 1 : 0);
  return [mode && swatches.length ? [`<g class="legend of-${mode}">`, ...swatches, "</g>"] : swatches, end];
}

/**
 * @param {Entry} entry
 * @param {number} x
 * @param {number} y
 */
function swatch([kind, name, words], x, y) {
  return `<g>${sample(kind, name, x, y)}${note(words, x + LEGEND_SWATCH, y)}</g>`;
}

/**
 * @param {string} kind
 * @param {string} name
 * @param {number} x
 * @param {number} y
 */
function sample(kind, name, x, y) {
  const place = `x="${decimal(x)}" y="${decimal(y - 9)}" width="16" height="10"`;
  if (kind === "families") return `<rect class="f-${name}" ${place} rx="1"/>`;
  if (kind in PALETTES) return `<rect class="${PALETTES[kind]}-${name}" ${place} rx="1"/>`;
  if (kind === "edges") return `<path class="e e-${name}" d="M${decimal(x)} ${decimal(y - 4)}h16"/>`;
  return stateSign(name, x + 8, y - 4) || `<g class="s-${name}"><rect class="box frame" ${place}/></g>`;
}

/**
 * @param {string | undefined} state
 * @param {number} x
 * @param {number} y
 * @returns {string} the round sign of a state around a point; nothing for what stayed
 */
export function stateSign(state, x, y) {
  const mark = SIGNS[state ?? ""];
  return mark
    ? `<circle class="sign-${state}" cx="${decimal(x)}" cy="${decimal(y)}" r="7"/><text class="on" x="${decimal(x)}" y="${decimal(y + 3.5)}">${mark}</text>`
    : "";
}

/**
 * @param {string} words
 * @param {number} x
 * @param {number} y
 */
function note(words, x, y) {
  return `<text class="note" x="${decimal(x)}" y="${decimal(y)}">${escaped(words)}</text>`;
}

/**
 * @param {string} words
 * @param {number} columns
 * @returns {string[]} lines that are no longer; a longer word stands alone
 */
function wrapped(words, columns) {
  const lines = [""];
  for (const word of words.split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}
