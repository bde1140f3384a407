/**
 * Pictures as the report stores them (pages/picture_record.py): what they show and, where that was laid
 * out beforehand, where it lies. The SVG is written here.
 */
"use strict";

const xlareportRecords = (() => {
  /** @typedef {import("./sketch.js").Drawing} Drawing */
  /** @typedef {import("./sketch.js").Node} Node */
  /** @typedef {import("./sketch.js").Opening} Opening */
  /** @typedef {import("./layout.js").Layout} Layout */
  /** @typedef {any[]} Row what is as usual at its end is left out, in between it is 0 */
  /** @typedef {{title: string, nodes: Row[], edges: Row[], notes?: string[], groups?: Row[], plain?: boolean, size?: [number, number], boxes?: number[][], curves?: number[][], frames?: number[][]}} Record */
  /** @typedef {import("./graph.js").Graph} Graph */

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
    const box = xlareportNearby.plain(graph, place, operands || []);
    return { ...box, ...xlareportNearby.opening(graph, place), id: graph.name(place), target: `i=${graph.name(place)}`, badge: badge || "", shape: shape || "rect" };
  }

  /**
   * @param {any[] | 0 | undefined} flat
   * @returns {any[]} its members two by two
   */
  function pairs(flat) {
    return (flat || []).flatMap((one, place, all) => (place % 2 ? [] : [[one, all[place + 1]]]));
  }

  /**
   * @param {Record} record
   * @param {Graph} [graph] of what it shows, where rows name places in it
   * @returns {Drawing}
   */
  function drawing({ title, nodes, edges, notes = [], groups = [], plain = false }, graph) {
    return {
      title,
      notes,
      plain,
      nodes: nodes.map((row) => (graph && typeof row[0] === "number" ? known(row, graph) : node(row))),
      edges: edges.map(([source, target, label, style, state]) => ({ source, target, label: label || "", style: style || "normal", state: state || "same" })),
      groups: groups.map(([id, words, kind, target, state, opens]) => ({ id, title: words, kind, target: target || null, state: state || "same", opens: pairs(opens) })),
    };
  }

  /**
   * @param {Record} record
   * @param {Drawing} shown
   * @returns {Layout} as it was made beforehand, else in plain layers
   */
  function layout({ size, boxes = [], curves = [], frames = [] }, { nodes, edges }) {
    if (!size) return xlareportLayout.layered(nodes.map(xlareportSketch.size), edges.map(({ source, target }) => [source, target]));
    const [width, height] = size;
    return { width, height, boxes: boxes.map(box), groups: frames.map(box), curves: curves.map(curve) };
  }

  /** @param {number[]} corners */
  const box = ([x, y, width, height]) => ({ x, y, width, height });

  /**
   * @param {number[]} steps
   * @returns {[number, number][]} the points of a curve
   */
  function curve(steps) {
    let [x, y] = [0, 0];
    return pairs(steps).map(([right, down]) => [(x += right), (y += down)]);
  }

  /**
   * Writes one of several pictures that are looked at together.
   * @param {Record[]} records
   * @param {number} place
   * @param {Graph} [graph]
   * @returns {Promise<string>} SVG text
   */
  async function svg(records, place, graph) {
    const look = await xlareport.load("pictures/look");
    const drawings = records.map((one) => drawing(one, graph));
    const together = drawings.flatMap(({ nodes }) => nodes);
    return xlareportSketch.svg(drawings[place], layout(records[place], drawings[place]), look, together);
  }

  return { svg, drawing, layout };
})();
