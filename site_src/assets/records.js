/**
 * Pictures as the report stores them (pages/picture_record.py): what they show and where that lies. The
 * SVG is written here.
 */
"use strict";

const xlareportRecords = (() => {
  /** @typedef {import("./sketch.js").Drawing} Drawing */
  /** @typedef {import("./sketch.js").Node} Node */
  /** @typedef {import("./sketch.js").Opening} Opening */
  /** @typedef {import("./layout.js").Layout} Layout */
  /** @typedef {any[]} Row what is as usual at its end is left out, in between it is 0 */
  /** @typedef {{title: string, nodes: Row[], edges: Row[], notes?: string[], groups?: Row[], plain?: boolean, size: [number, number], boxes: number[][], curves: number[][], frames?: number[][]}} Record */

  /**
   * @param {Row} row
   * @returns {Node}
   */
  function node([lines, family, target, id, state, tooltip, opens, shape, badge, mix, shade]) {
    const [cost, memory, sharding, scope] = shade || [];
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
      shade: { cost, memory, sharding: sharding || "", scope: scope ? scope.split("\n") : [] },
    };
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
   * @returns {Drawing}
   */
  function drawing({ title, nodes, edges, notes = [], groups = [], plain = false }) {
    return {
      title,
      notes,
      plain,
      nodes: nodes.map(node),
      edges: edges.map(([source, target, label, style, state]) => ({ source, target, label: label || "", style: style || "normal", state: state || "same" })),
      groups: groups.map(([id, words, kind, target, state, opens]) => ({ id, title: words, kind, target: target || null, state: state || "same", opens: pairs(opens) })),
    };
  }

  /**
   * @param {Record} record
   * @returns {Layout}
   */
  function layout({ size: [width, height], boxes, curves, frames = [] }) {
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
   * @returns {Promise<string>} SVG text
   */
  async function svg(records, place) {
    const look = await xlareport.load("pictures/look");
    const drawings = records.map(drawing);
    const together = drawings.flatMap(({ nodes }) => nodes);
    return xlareportSketch.svg(drawings[place], layout(records[place]), look, together);
  }

  return { svg, drawing, layout };
})();
