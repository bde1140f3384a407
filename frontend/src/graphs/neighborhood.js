/**
 * A graph as it is drawn: which instructions have boxes, what is near one, which way leads from one
 * to another.
 */

import { LARGE_INPUT } from "../pictures/sizes.js";
import { shorten } from "../pictures/svg_text.js";

/** With more users or operands than this, only the instruction that was asked for shows them. */
const HUB = 12;

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./graph.js").Use} Use */
/** @typedef {{source: number, target: number, label: string, style: "" | "thin" | "control" | "call"}} Arrow */
/** @typedef {{places: Map<number, number>, more: number, hubs: number}} Reach what is near, by distance; how many more are; whose users were not followed */

/**
 * A graph as it is drawn: constants are named by their users, elements of tuples stand at arrows.
 * What is in `kept` has a box in any case.
 */
export class View {
  /**
   * @param {Graph} graph
   * @param {Iterable<number>} kept
   */
  constructor(graph, kept) {
    this.graph = graph;
    this.kept = new Set(kept);
  }

  /** @param {number} place */
  isElement(place) {
    return this.graph.opcode(place) === "get-tuple-element" && !this.kept.has(place);
  }

  /**
   * Says what a user of an instruction says of it where it has no box of its own.
   * @param {number} place
   * @returns {string | null} null for one that has a box
   */
  words(place) {
    const behind = this.graph.constantBehind(place);
    if (behind === null || this.kept.has(place) || this.kept.has(behind)) return null;
    return `constant ${this.graph.argument(behind) || this.graph.shape(behind).replace(/\{.*$/, "")}`;
  }

  /** @param {number} place */
  hasBox(place) {
    return !this.isElement(place) && this.words(place) === null;
  }

  /**
   * Follows elements of tuples to what makes the tuple.
   * @param {Use} use
   * @returns {Use}
   */
  origin(use) {
    let { place, element } = use;
    for (let hops = 0; hops < 100 && this.isElement(place); hops += 1) {
      const [operand] = this.graph.operands(place);
      if (!operand) break;
      element = [operand.element, this.graph.argument(place), element].filter(Boolean).join("#");
      place = operand.place;
    }
    return { place, element };
  }

  /**
   * @param {number} place
   * @returns {Arrow[]} the arrows that arrive at its box
   */
  arriving(place) {
    const arrows = /** @type {Map<number, Arrow>} */ (new Map());
    const operands = this.graph.operands(place);
    for (const [number, use] of operands.entries()) {
      const { place: source, element } = this.origin(use);
      if (this.words(source) !== null || source === place) continue;
      const label = `${operands.length > 1 ? number : ""}${element ? `#${element}` : ""}`;
      const arrow = arrows.get(source);
      if (arrow) arrow.label = arrow.label.length > 10 ? arrow.label : `${arrow.label},${label}`;
      else {
        arrows.set(source, {
          source,
          target: place,
          label,
          style: (this.graph.elements(use.place) ?? LARGE_INPUT) < LARGE_INPUT ? "thin" : "",
        });
      }
    }
    for (const source of this.graph.controls(place)) {
      if (!arrows.has(source)) arrows.set(source, { source, target: place, label: "", style: "control" });
    }
    return [...arrows.values()].filter((arrow) => this.hasBox(arrow.source));
  }

  /**
   * @param {number} place
   * @returns {[number, string][]} its operands without a box, by their numbers
   */
  foldedOperands(place) {
    const named = this.graph
      .operands(place)
      .map((use, number) => /** @type {[number, string | null]} */ ([number, this.words(this.origin(use).place)]));
    return /** @type {[number, string][]} */ (named.filter(([, words]) => words !== null));
  }

  /** @param {number} place */
  producers(place) {
    return this.arriving(place).map((arrow) => arrow.source);
  }

  /**
   * @param {number} place
   * @returns {number[]} boxes that use it, directly or through elements of tuples
   */
  consumers(place) {
    const boxes = new Set(/** @type {number[]} */ ([]));
    const waiting = [place];
    for (let producer = waiting.pop(); producer !== undefined; producer = waiting.pop()) {
      for (const user of this.graph.users(producer)) {
        if (this.isElement(user)) waiting.push(user);
        else if (this.words(user) === null) boxes.add(user);
      }
    }
    return [...boxes].sort((left, right) => left - right);
  }
}

/**
 * Returns what is near an instruction: the nearest first, until there are too many.
 * @param {View} view
 * @param {number} start
 * @param {{up: boolean, down: boolean, radius: number, most: number}} how
 * @returns {Reach}
 */
export function neighborhood(view, start, { up, down, radius, most }) {
  const places = new Map([[start, 0]]);
  const seen = new Set([start]);
  let hubs = 0;
  let ring = [start];
  for (let distance = 1; distance <= radius && ring.length; distance += 1) {
    const next = /** @type {number[]} */ ([]);
    for (const place of ring) {
      const sides = [up ? view.producers(place) : [], down ? view.consumers(place) : []];
      const followed = sides.filter((side) => side.length <= HUB || place === start);
      hubs += sides.length - followed.length;
      for (const near of followed.flat()) {
        if (seen.has(near)) continue;
        seen.add(near);
        next.push(near);
        if (places.size < most) places.set(near, distance);
      }
    }
    ring = next;
  }
  return { places, more: seen.size - places.size, hubs };
}

/**
 * Yields where a value goes from an instruction: to users, into what these call, out to callers.
 * @param {View} view
 * @param {number} place
 * @returns {Generator<Arrow>}
 */
function* onwards(view, place) {
  const { graph } = view;
  for (const target of view.consumers(place)) {
    yield { source: place, target, label: "", style: graph.controls(target).includes(place) ? "control" : "" };
    for (const [attribute, computation] of graph.calls(target)) {
      const parameter = taken(view, place, target, attribute, computation);
      if (parameter !== null) yield { source: place, target: parameter, label: `into ${attribute}`, style: "call" };
    }
  }
  if (!graph.isRoot(place)) return;
  for (const target of graph.callers.get(graph.inside[place]) ?? []) {
    yield { source: place, target, label: "result", style: "call" };
  }
}

/**
 * Returns the parameter of a called computation that takes a value.
 * @param {View} view
 * @param {number} place what is handed over
 * @param {number} caller
 * @param {string} attribute
 * @param {number} computation
 */
function taken({ graph }, place, caller, attribute, computation) {
  const number = graph.operands(caller).findIndex((operand) => operand.place === place);
  if (number < 0) return null;
  const wanted = graph.opcode(caller) === "while" || /branch|true_|false_/.test(attribute) ? "0" : String(number);
  const first = graph.first[computation];
  const last = first + graph.index.computations[computation][1];
  for (let parameter = first; parameter < last; parameter += 1) {
    if (graph.opcode(parameter) === "parameter" && graph.argument(parameter) === wanted) return parameter;
  }
  return null;
}

/**
 * Returns the arrows of a shortest way from one instruction to another, through calls as well.
 * @param {View} view
 * @param {number} from
 * @param {number} to
 * @returns {Arrow[] | null}
 */
export function shortestPath(view, from, to) {
  const came = /** @type {Map<number, Arrow | null>} */ (new Map([[from, null]]));
  const waiting = [from];
  for (let next = 0; next < waiting.length && !came.has(to); next += 1) {
    for (const arrow of onwards(view, waiting[next])) {
      if (came.has(arrow.target)) continue;
      came.set(arrow.target, arrow);
      waiting.push(arrow.target);
    }
  }
  if (!came.has(to)) return null;
  const way = [];
  for (let arrow = came.get(to); arrow; arrow = came.get(arrow.source)) way.unshift(arrow);
  return way;
}

/**
 * Returns the box of an instruction, by itself; boxes.py says the same in the report's own pictures.
 * @param {Graph} graph
 * @param {number} place
 * @param {string[]} operands lines on what has no box
 * @returns {import("../pictures/svg.js").Node}
 */
export function plainBox(graph, place, operands) {
  const name = graph.name(place);
  const opcode = `${graph.opcode(place)} ${graph.kind(place)}`.trim();
  const kind = graph.opcode(place) === "parameter" ? `parameter ${graph.argument(place)}` : opcode;
  const isPlain = name.startsWith(graph.opcode(place)) && graph.opcode(place) !== "fusion";
  const attribute = [graph.says(place)].filter(Boolean);
  return {
    id: `${graph.computation(place)}/%${name}`,
    lines: [
      name,
      ...(isPlain ? [] : [kind]),
      ...called(graph, place),
      ...attribute,
      ...operands,
      graph.shape(place),
    ].map((line) => shorten(line)),
    family: graph.family(place),
    tooltip: [name, `${opcode} ${graph.shape(place)}`, `in ${graph.computation(place)}`].join("\n"),
    target: `i=${graph.address(place)}`,
    shade: graph.shade(place),
  };
}

/**
 * Says in a line each what the called computations hold.
 * @param {Graph} graph
 * @param {number} place
 */
function called(graph, place) {
  const all = graph.calls(place);
  const inside = all.slice(0, 2).filter(([attribute]) => attribute !== "condition");
  const words = inside.map(
    ([attribute, computation]) =>
      (graph.opcode(place) === "fusion" ? "" : `${attribute} `) + graph.index.computations[computation][2],
  );
  return all.length > 2 ? [...words, `${all.length - 2} more computations`] : words;
}

/**
 * Returns what a box shows of what it calls: marks that open pictures, and the colors in a fusion.
 * @param {Graph} graph
 * @param {number} place
 * @returns {{opens: [string, string][], mix: [string, number][]}}
 */
export function calledPictures(graph, place) {
  const inside = (/** @type {number} */ computation) => graph.index.inside[0][graph.index.inside[1][computation]];
  const worth = graph.calls(place).filter(([, computation]) => inside(computation)[0]);
  const opens = new Map(worth.map(([attribute, computation]) => [graph.index.computations[computation][0], attribute]));
  const fused =
    graph.opcode(place) === "fusion" ? graph.calls(place).find(([attribute]) => attribute === "calls") : undefined;
  const mix = /** @type {any[]} */ (fused ? inside(fused[1])[1] : []);
  return {
    opens: [...opens].map(([name, attribute]) => [`c=${name}`, `${attribute} ${name}`]),
    mix: mix.flatMap((color, at) => (at % 2 ? [] : [[color, mix[at + 1]]])),
  };
}

/**
 * Returns the box of an instruction as it is drawn.
 * @param {View} view
 * @param {number} place
 * @returns {import("../pictures/svg.js").Node}
 */
export function drawnBox(view, place) {
  const { graph } = view;
  const folded = view
    .foldedOperands(place)
    .slice(0, 3)
    .map(([number, words]) => `operand ${number} = ${words}`);
  return { ...plainBox(graph, place, folded), badge: graph.isRoot(place) ? "ROOT" : "" };
}
