/**
 * Pictures as the report stores them (pages/pictures/levels.py): what they show and, where that was laid
 * out beforehand, where it lies. The SVG is written here.
 */

import { load } from "../core/payloads.js";
import { calledPictures, plainBox } from "../graphs/neighborhood.js";
import { layeredLayout } from "./layout.js";
import { boxSize, writeSvg } from "./svg.js";

/** @typedef {import("./svg.js").Drawing} Drawing */
/** @typedef {import("./svg.js").Node} Node */
/** @typedef {import("./svg.js").Opening} Opening */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("../../types/payloads").RecordRow} Row */
/** @typedef {import("../../types/payloads").PictureRecord} Record */
/** @typedef {import("../graphs/graph.js").Graph} Graph */

/**
 * @param {Row} row
 * @returns {Node}
 */
function node([lines, family, target, id, state, tooltip, opens, shape, badge, mix, shade]) {
  const [cost, memory, sharding, scope, time] = shade || [];
  return {
    id: id || String(target).replace(/^i=/, ""),
    lines,
    family,
    target: target || null,
    state: state || "same",
    tooltip: tooltip || "",
    opens: pairs(opens),
    shape: shape || "rect",
    badge: badge || "",
    mix: pairs(mix),
    shade: { cost, time, memory, sharding: sharding || "", scope: scope ? scope.split("\n") : [] },
  };
}

/**
 * @param {Row} row of a box that the graph tells: its place there, lines on operands, badge, form
 * @param {Graph} graph
 * @returns {Node}
 */
function known([place, operands, badge, shape], graph) {
  const box = plainBox(graph, place, operands || []);
  return {
    ...box,
    ...calledPictures(graph, place),
    id: graph.name(place),
    target: `i=${graph.name(place)}`,
    badge: badge || "",
    shape: shape || "rect",
  };
}

/**
 * @param {any[] | 0 | undefined} flat
 * @returns {any[]} its members two by two
 */
function pairs(flat) {
  return (flat || []).flatMap((member, place, all) => (place % 2 ? [] : [[member, all[place + 1]]]));
}

/**
 * @param {Record} record
 * @param {Graph} [graph] of what it shows, where rows name places in it
 * @returns {Drawing}
 */
export function readDrawing({ title, nodes, edges, notes = [], groups = [], plain = false }, graph) {
  return {
    title,
    notes,
    plain,
    nodes: nodes.map((row) => (graph && typeof row[0] === "number" ? known(row, graph) : node(row))),
    edges: edges.map(([source = 0, target = 0, label, style, state]) => ({
      source,
      target,
      label: label || "",
      style: style || "normal",
      state: state || "same",
    })),
    groups: groups.map(([id, words, kind, target, state, opens]) => ({
      id,
      title: words,
      kind,
      target: target || null,
      state: state || "same",
      opens: pairs(opens),
    })),
  };
}

/**
 * @param {Record} record
 * @param {Drawing} shown
 * @returns {Layout} as it was made beforehand, else in plain layers
 */
export function recordLayout({ size, boxes = [], curves = [], frames = [] }, { nodes, edges }) {
  if (!size) {
    return layeredLayout(
      nodes.map(boxSize),
      edges.map(({ source, target }) => [source, target]),
    );
  }
  const [width, height] = size;
  return { width, height, boxes: boxes.map(placedBox), groups: frames.map(placedBox), curves: curves.map(curve) };
}

/**
 * Lays out one of two pictures together with the other, so that what is in both stands in the same
 * place.
 * @param {Drawing[]} pair
 * @param {Drawing} shown
 * @returns {Layout}
 */
function ofPair(pair, shown) {
  /** @type {Map<string, {place: number, width: number, height: number}>} */
  const boxes = new Map();
  /** @type {Map<string, {place: number, ends: [number, number]}>} */
  const arrows = new Map();
  const key = (/** @type {Drawing} */ { nodes }, /** @type {Drawing["edges"][number]} */ { source, target, style }) =>
    [nodes[source].id, nodes[target].id, style].join("\n");
  for (const drawing of pair) {
    for (const box of drawing.nodes) {
      const { width, height } = boxSize(box);
      const other = boxes.get(box.id) ?? { place: boxes.size, width, height };
      boxes.set(box.id, {
        place: other.place,
        width: Math.max(width, other.width),
        height: Math.max(height, other.height),
      });
    }
    const place = (/** @type {number} */ end) =>
      /** @type {{place: number}} */ (boxes.get(drawing.nodes[end].id)).place;
    for (const edge of drawing.edges) {
      const name = key(drawing, edge);
      if (!arrows.has(name)) arrows.set(name, { place: arrows.size, ends: [place(edge.source), place(edge.target)] });
    }
  }
  const whole = layeredLayout(
    [...boxes.values()],
    [...arrows.values()].map(({ ends }) => ends),
  );
  const taken = (/** @type {Map<string, {place: number}>} */ all, /** @type {string} */ name) =>
    /** @type {{place: number}} */ (all.get(name)).place;
  return {
    ...whole,
    boxes: shown.nodes.map(({ id }) => whole.boxes[taken(boxes, id)]),
    curves: shown.edges.map((edge) => whole.curves[taken(arrows, key(shown, edge))]),
  };
}

/** @param {number[]} corners */
const placedBox = ([x, y, width, height]) => ({ x, y, width, height });

/**
 * @param {number[]} steps
 * @returns {[number, number][]} the points of a curve
 */
function curve(steps) {
  let [x, y] = [0, 0];
  return pairs(steps).map(([right, down]) => [(x += right), (y += down)]);
}

/**
 * Writes one of several pictures that are looked at together: a first one, or pairs of before and after.
 * @param {Record[]} records
 * @param {number} place
 * @param {Graph} [graph]
 * @returns {Promise<string>} SVG text
 */
export async function recordSvg(records, place, graph) {
  const look = await load("pictures/look");
  const drawings = records.map((record) => readDrawing(record, graph));
  const together = drawings.flatMap(({ nodes }) => nodes);
  const pair = drawings.slice(place - (place % 2), place - (place % 2) + 2);
  const where =
    records[place].size || pair.length < 2
      ? recordLayout(records[place], drawings[place])
      : ofPair(pair, drawings[place]);
  return writeSvg(drawings[place], where, look, together);
}
