/**
 * A drawing and its layout as SVG text. It looks as the report's own files (pictures/svg.py), and has
 * what a pointer can do:
 *
 * - `g.n[data-node]`: a box by its id, `g.g[data-node]` a frame; `data-e` of an arrow: the positions of
 *   its two boxes among all boxes
 * - `data-target` of these: what a click opens. `i=INSTRUCTION` asks for its details, `g=PART` for
 *   another picture
 * - `g.open[data-target]`: a mark that opens the picture `c=COMPUTATION` of what a box calls
 * - `data-modes` of the whole: what the colors can stand for, `opcode` first; a class changes it:
 *   `by-opcode`, `by-cost`, `by-time`, `by-memory`, `by-scope`, `by-sharding`. The legend and the marks
 *   of a mode (`.of-cost`) follow the class; boxes have `data-cost` and so on, the number of their color
 *
 * Where the pictures behind a target are, `pages/pictures/levels.py` says.
 */

import {
  BAR_HEIGHT,
  BASELINE,
  CHARACTER_WIDTH,
  HEAD_ANGLE,
  HEAD_LENGTH,
  LINE_HEIGHT,
  MARGIN,
  NARROWEST,
  OPENING_WIDTH,
  PADDING_X,
  PADDING_Y,
  STACK_OFFSET,
  TITLE_HEIGHT,
} from "./sizes.js";
import { decimal, escaped, shorten } from "./svg_text.js";
import { pictureFooter, stateSign } from "./legend.js";
import { colorScales } from "./scales.js";

/** The badge of a box whose value is used outside of the picture. */
const LEAVES = "\u2192";
/** How wide a character is shown: East Asian ones and pictures take two cells. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]/u;

/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Box} Box */
/** @typedef {import("./scales.js").Shade} Shade */
/** @typedef {import("./scales.js").Scale} Scale */
/** @typedef {[string, string]} Opening another picture that a mark opens, and what it is to the caller */
/** @typedef {{id: string, lines: string[], family: string, state?: string, look?: string, tooltip?: string, target?: string | null, opens?: Opening[], shape?: string, badge?: string, mix?: [string, number][], shade?: Shade}} Node */
/** @typedef {{source: number, target: number, label?: string, style?: string, state?: string}} Edge ends are positions in the nodes */
/** @typedef {{id: string, title: string, kind: string, state?: string, target?: string | null, opens?: Opening[]}} Group */
/** @typedef {{title: string, nodes: Node[], edges: Edge[], groups?: Group[], notes: string[], plain?: boolean}} Drawing `plain` ones have no legend */
/** @typedef {import("../../types/payloads").Look} Look */

/** @param {string} line wide characters take two cells */
function columns(line) {
  return [...line].reduce((sum, letter) => sum + (WIDE.test(letter) ? 2 : 1), 0);
}

/** @param {Node} node */
export function boxSize({ lines: rows, shape, mix = [], opens = [] }) {
  const longest = Math.max(...rows.map(columns), 0) * CHARACTER_WIDTH + 2 * PADDING_X;
  const behind = shape === "stack" ? STACK_OFFSET : 0;
  return {
    width: Math.max(longest, OPENING_WIDTH * opens.length) + behind,
    height: rows.length * LINE_HEIGHT + 2 * PADDING_Y + (mix.length ? BAR_HEIGHT + 2 : 0) + behind,
  };
}

/**
 * @param {Drawing} drawing
 * @param {Layout} layout of this drawing
 * @param {Look} look
 * @param {Node[]} [together] the boxes of all drawings that are looked at together
 * @returns {string}
 */
export function writeSvg(drawing, layout, look, together = drawing.nodes) {
  const modes = colorScales(together, look);
  const width = Math.max(layout.width, NARROWEST) + 2 * MARGIN;
  const below = { left: MARGIN, top: layout.height + TITLE_HEIGHT + MARGIN, width };
  const [footer, height] = pictureFooter(drawing, modes, look, below);
  const [wide, high] = [decimal(width), decimal(height)];
  const title = shorten(drawing.title, Math.trunc((width - 2 * MARGIN) / ((CHARACTER_WIDTH * 14) / 12)));
  const frames = (drawing.groups ?? []).map(
    (group, at) => /** @type {[Group, Box]} */ ([group, (layout.groups ?? [])[at]]),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="xg by-opcode" role="img" data-modes="${["opcode", ...modes.map(({ mode }) => mode)].join(" ")}" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}">`,
    `<title>${escaped(drawing.title)}</title>`,
    `<desc>${escaped([`${drawing.nodes.length} boxes, ${drawing.edges.length} arrows`, ...drawing.notes].join(". "))}</desc>`,
    `<style>${look.css}</style>`,
    '<rect class="paper" width="100%" height="100%"/>',
    `<text class="title" x="${MARGIN}" y="19">${escaped(title)}</text>`,
    `<g transform="translate(${decimal((width - layout.width) / 2)} ${TITLE_HEIGHT})">`,
    ...frames.map(([group, place]) => frame(group, place)),
    ...drawing.edges.map((edge, at) => arrow(edge, layout.curves[at])),
    ...frames.map(([group, place]) => frameTitle(group, place)),
    ...drawing.nodes.map((node, at) => box(node, layout.boxes[at], modes)),
    "</g>",
    ...footer,
    "</svg>\n",
  ].join("\n");
}

/**
 * @param {Group} group
 * @param {Box} box
 */
function frame({ id, kind, state = "same", target: opened }, { x, y, width, height }) {
  const around = `<rect class="frame" x="${decimal(x)}" y="${decimal(y)}" rx="6" width="${decimal(width)}" height="${decimal(height)}"/>`;
  return `<g class="g g-${kind} s-${state}" data-node="${escaped(id)}"${target(opened)}>${around}</g>`;
}

/**
 * @param {Group} group
 * @param {Box} box
 * @returns {string} the title of a frame, which stands above the arrows
 */
function frameTitle({ title, state, target: opened, opens }, { x, y, width, height }) {
  const words = shorten(title, Math.max(3, Math.trunc((width - 12) / CHARACTER_WIDTH)));
  const line = `<text class="b" x="${decimal(x + 8)}" y="${decimal(y + 13)}">${escaped(words)}</text>`;
  return `<g class="gt"${target(opened)}>${line}${stateSign(state, x, y)}</g>${openings(opens, x + width, y + height)}`;
}

/** @param {string | null | undefined} opened */
function target(opened) {
  return opened ? ` data-target="${escaped(opened)}"` : "";
}

/**
 * @param {Node} node
 * @param {Box} place
 * @param {Scale[]} modes
 */
function box(node, place, modes) {
  const shading = modes.filter(({ levels }) => levels.has(node.id));
  const [width, height] = front(node, place);
  const levels = shading.map((scale) => ` data-${scale.mode}="${scale.levels.get(node.id)}"`).join("");
  const marks = shading
    .map(
      (scale) =>
        `<text class="mark of-${scale.mode}" x="3" y="${decimal(height + 3)}">${escaped(scale.marks.get(node.id))}</text>`,
    )
    .join("");
  const tooltip = node.tooltip ? `<title>${escaped(node.tooltip)}</title>` : "";
  return (
    `<g class="n n-${node.family} s-${node.state ?? "same"}${node.look ? ` ${node.look}` : ""}" data-node="${escaped(node.id)}"${target(node.target)}${levels} transform="translate(${decimal(place.x)} ${decimal(place.y)})">` +
    `${tooltip}${shapes(node, width, height)}${lines(node, width, height)}` +
    `${stateSign(node.state, 0, 0)}${openings(node.opens, width, height)}${badge(node.badge, width)}${marks}</g>`
  );
}

/**
 * @param {Node} node
 * @param {Box} place
 * @returns {[number, number]} the size of the rectangle that holds the text
 */
function front({ shape }, { width, height }) {
  const behind = shape === "stack" ? STACK_OFFSET : 0;
  return [width - behind, height - behind];
}

/**
 * @param {Node} node
 * @param {number} width
 * @param {number} height
 * @returns {string} the rectangle, with one behind it for several alike, and the bar of colors
 */
function shapes({ shape = "rect", mix = [] }, width, height) {
  const around = `width="${decimal(width)}" height="${decimal(height)}" rx="${shape === "rect" ? 2 : 7}"`;
  const behind = shape === "stack" ? `<rect class="box" x="${STACK_OFFSET}" y="${STACK_OFFSET}" ${around}/>` : "";
  const total = mix.reduce((sum, [, count]) => sum + count, 0);
  let x = 8;
  const bar = mix.map(([family, count]) => {
    const part = ((width - 16) * count) / total;
    const piece = `<rect class="mix f-${family}" x="${decimal(x)}" y="${decimal(height - BAR_HEIGHT - 4)}" width="${decimal(part)}" height="${BAR_HEIGHT}"/>`;
    x += part;
    return piece;
  });
  return `${behind}<rect class="box" ${around}/>${bar.join("")}`;
}

/**
 * @param {Node} node
 * @param {number} width
 * @param {number} height
 */
function lines({ lines: [name, ...rest], mix = [] }, width, height) {
  const x = decimal(width / 2);
  const first = (height - (mix.length ? BAR_HEIGHT + 2 : 0) - (rest.length + 1) * LINE_HEIGHT) / 2 + BASELINE;
  const spans = rest.map((line) => `<tspan x="${x}" dy="${LINE_HEIGHT}">${escaped(line)}</tspan>`);
  return `<text><tspan class="b" x="${x}" y="${decimal(first)}">${escaped(name)}</tspan>${spans.join("")}</text>`;
}

/**
 * @param {Opening[] | undefined} opens
 * @param {number} x
 * @param {number} y
 * @returns {string} the marks that open what is called, from a lower right corner to the left
 */
function openings(opens, x, y) {
  return (opens ?? [])
    .map(([opened, words], place) => {
      const at = `${decimal(x - OPENING_WIDTH * place)} ${decimal(y)}`;
      return `<g class="open"${target(opened)} transform="translate(${at})"><title>${escaped(words)}</title><rect x="-8" y="-8" width="12" height="12" rx="2"/><path d="M-5-2h6M-2-5v6"/></g>`;
    })
    .join("");
}

/**
 * @param {string | undefined} words
 * @param {number} right
 */
function badge(words, right) {
  if (!words) return "";
  const width = 6.8 * [...words].length + 8;
  const x = right - width + 5;
  const quiet = words === LEAVES ? " quiet" : "";
  return `<rect class="badge${quiet}" x="${decimal(x)}" y="-8" width="${decimal(width)}" height="14" rx="7"/><text class="tag" x="${decimal(x + width / 2)}" y="2.5">${escaped(words)}</text>`;
}

/**
 * @param {Edge} edge
 * @param {[number, number][]} curve
 */
function arrow({ source, target: to, label, style = "normal", state = "same" }, curve) {
  const [[startX, startY], ...rest] = curve;
  const [tipX, tipY] = curve[curve.length - 1];
  const classes = ["e", style && style !== "normal" && `e-${style}`, state !== "same" && `s-${state}`]
    .filter(Boolean)
    .join(" ");
  const bends = rest.map(([x, y]) => `${decimal(x)} ${decimal(y)}`).join(" ");
  const angle = direction(curve);
  const barb = (/** @type {number} */ turn) =>
    `${decimal(tipX - HEAD_LENGTH * Math.cos(angle + turn))} ${decimal(tipY - HEAD_LENGTH * Math.sin(angle + turn))}`;
  const path = `<path class="${classes}" data-e="${source} ${to}" d="M${decimal(startX)} ${decimal(startY)}C${bends}M${barb(HEAD_ANGLE)}L${decimal(tipX)} ${decimal(tipY)}L${barb(-HEAD_ANGLE)}"/>`;
  if (!label) return path;
  const [along, across] = [Math.cos(angle), Math.sin(angle)];
  return `${path}<text class="small" x="${decimal(tipX - 10 * along + 4 * across)}" y="${decimal(tipY - 10 * across - 4 * along)}">${escaped(label)}</text>`;
}

/**
 * @param {[number, number][]} curve
 * @returns {number} the angle in which it arrives, in radians
 */
function direction(curve) {
  const [x, y] = curve[curve.length - 1];
  const [fromX, fromY] = curve.findLast(([x1, y1]) => Math.hypot(x - x1, y - y1) > 1) ?? [x, y - 1];
  return Math.atan2(y - fromY, x - fromX);
}
