/**
 * One computation in all its snapshots: its frames, laid out together so that what stays
 * stands still.
 */

import { format } from "../core/format.js";
import { layeredLayout } from "../pictures/layout.js";
import { boxSize } from "../pictures/svg.js";
import { View, drawnBox, neighborhood } from "./neighborhood.js";
import { assembleGraph, computationAt } from "./snapshot_graph.js";

const MOST_NEAR = 60;
const MOST = 200;
const RADIUS = 2;

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./versions.js").VersionTable} VersionTable */
/** @typedef {[string, number[], number, number]} Title name, frames, end, most instructions */
/** @typedef {{view: View, instructions: number[], versions: number[]}} SnapshotView a snapshot of the computation; by place: the number of the instruction and of its version */
/** @typedef {import("../pictures/svg.js").Node & {instruction: number}} ShownNode */
/** @typedef {{nodes: Map<number, ShownNode>, arrows: Map<string, {source: number, target: number, label: string, style: string}>, version: Map<number, number>}} Frame */

/**
 * Makes the graph of the computation in one snapshot.
 * @param {VersionTable} table
 * @param {string} name
 * @param {number} stage
 * @param {number | null} watched an instruction that has a box in any case
 * @returns {SnapshotView}
 */
function snapshotView(table, name, stage, watched) {
  const part = computationAt(table, stage, { name, number: -1 });
  const { instructions, rows } = part;
  const places = new Map(instructions.map((instruction, place) => [instruction, place]));
  const graph = assembleGraph([{ ...part, does: name }], { label: "", text: null, complete: true });
  const watchedPlace = watched === null ? undefined : places.get(watched);
  return { view: new View(graph, watchedPlace === undefined ? [] : [watchedPlace]), instructions, versions: rows };
}

/**
 * Chooses what is shown of a snapshot: all of a small computation, else what is near an instruction.
 * @param {SnapshotView} snapshot
 * @param {number | null} watched
 * @returns {number[]} places, the nearest first
 */
function near({ view, instructions }, watched) {
  const all = [...instructions.keys()];
  if (watched === null) return all.filter((place) => view.hasBox(place));
  const start = instructions.indexOf(watched);
  return start < 0
    ? []
    : [...neighborhood(view, start, { up: true, down: true, radius: RADIUS, most: MOST_NEAR }).places.keys()];
}

/**
 * @param {SnapshotView} snapshot
 * @param {number[]} shown places
 * @returns {Frame}
 */
function frame({ view, instructions, versions }, shown) {
  const there = new Set(shown);
  const nodes = new Map(
    shown.map((place) => [
      instructions[place],
      { ...drawnBox(view, place), instruction: instructions[place], id: `instruction ${instructions[place]}` },
    ]),
  );
  const arrows = shown.flatMap((place) => view.arriving(place)).filter(({ source }) => there.has(source));
  const ends = arrows.map(({ source, target, label, style }) => ({
    source: instructions[source],
    target: instructions[target],
    label,
    style,
  }));
  return {
    nodes,
    arrows: new Map(ends.map((arrow) => [`${arrow.source} ${arrow.target}`, arrow])),
    version: new Map(shown.map((place) => [instructions[place], versions[place]])),
  };
}

/** All frames of a computation with the one layout that they share. */
export class Frames {
  /**
   * @param {VersionTable} table
   * @param {Title} title
   * @param {string} watch a name, or empty for what changes most often
   */
  constructor(table, [name, frames, , most], watch) {
    this.table = table;
    this.name = name;
    /** The versions of each instruction. @type {Map<number, number[]>} */
    this.versions = new Map();
    for (const [at, [instruction]] of table.versions.entries()) {
      this.versions.set(instruction, [...(this.versions.get(instruction) ?? []), at]);
    }
    this.stages = frames;
    /** How many instructions are left out. */
    this.left = 0;
    this.size = { width: 0, height: 0 };
    /** The place of each instruction. @type {Map<number, import("../pictures/layout.js").Box>} */
    this.boxes = new Map();
    /** The curve of each arrow. @type {Map<string, import("../pictures/layout.js").Point[]>} */
    this.curves = new Map();
    this.watched = watch || most > MOST ? this.named(watch) : null;
    const views = frames.map((stage) => snapshotView(table, name, stage, this.watched));
    const shown = views.map((view) => near(view, this.watched));
    const chosen = this.chosen(views, shown);
    this.frames = views.map((view, at) =>
      frame(
        view,
        shown[at].filter((place) => chosen.has(view.instructions[place])),
      ),
    );
    this.cut();
    this.place(chosen);
  }

  /** Leaves out the steps in which nothing of what is shown is there or differs. */
  cut() {
    const words = this.frames.map(({ version, arrows }) =>
      version.size
        ? JSON.stringify([[...version].sort(([left], [right]) => left - right), [...arrows.keys()].sort()])
        : null,
    );
    const differs = words.map((description, at) => description !== null && description !== words[at - 1]);
    this.frames = this.frames.filter((_, at) => differs[at]);
    this.stages = this.stages.filter((_, at) => differs[at]);
  }

  /**
   * @param {string} wanted
   * @returns {number} the instruction that had a name last, -1 where none did; for no name the one with the most versions
   */
  named(wanted) {
    const bare = wanted.replace(/^%/, "");
    const named = this.table.names.lastIndexOf(bare);
    if (bare) return named < 0 ? -1 : this.table.versions[named][0];
    const counts = new Map();
    const dull = new Set(
      this.table.looks.flatMap(([opcode], at) =>
        /^(parameter|constant|tuple|get-tuple-element)$/.test(opcode) ? [at] : [],
      ),
    );
    const last = Math.max(...this.stages);
    const lasting = new Set(
      this.table.versions
        .filter(([, , end], at) => end > last && !dull.has(this.table.look[at]))
        .map(([instruction]) => instruction),
    );
    for (const [instruction] of this.table.versions) {
      if (lasting.has(instruction)) counts.set(instruction, (counts.get(instruction) ?? 0) + 1);
    }
    return [...counts].reduce((best, candidate) => (candidate[1] > best[1] ? candidate : best), [-1, 0])[0];
  }

  /**
   * Keeps the instructions that are shown in most frames, where there are too many.
   * @param {SnapshotView[]} views
   * @param {number[][]} shown
   * @returns {Set<number>}
   */
  chosen(views, shown) {
    const counts = /** @type {Map<number, number>} */ (new Map());
    for (const [at, { instructions }] of views.entries()) {
      for (const place of shown[at]) counts.set(instructions[place], (counts.get(instructions[place]) ?? 0) + 1);
    }
    if (this.watched !== null) counts.set(this.watched, Infinity);
    const heaviest = [...counts].sort(([, left], [, right]) => right - left).slice(0, MOST);
    this.left = counts.size - heaviest.length;
    return new Set(heaviest.map(([instruction]) => instruction));
  }

  /**
   * @param {number} instruction
   * @param {number} stage
   * @returns {number | null} its version in a snapshot, null where that does not have it
   */
  versionAt(instruction, stage) {
    const version = (this.versions.get(instruction) ?? []).find(
      (at) => this.table.versions[at][1] <= stage && stage < this.table.versions[at][2],
    );
    return version ?? null;
  }

  /** @param {Set<number>} chosen instructions; all of them are laid out at once */
  place(chosen) {
    const instructions = [...chosen].sort((left, right) => left - right);
    const positions = new Map(instructions.map((instruction, position) => [instruction, position]));
    const sizes = instructions.map((instruction) => {
      const all = this.frames.flatMap(({ nodes }) => nodes.get(instruction) ?? []).map(boxSize);
      return {
        width: Math.max(0, ...all.map(({ width }) => width)),
        height: Math.max(0, ...all.map(({ height }) => height)),
      };
    });
    const arrows = [...new Set(this.frames.flatMap((shown) => [...shown.arrows.keys()]))];
    const ends = arrows.map(
      (key) =>
        /** @type {[number, number]} */ (key.split(" ").map((instruction) => positions.get(Number(instruction)) ?? 0)),
    );
    const layout = layeredLayout(sizes, ends);
    this.size = { width: layout.width, height: layout.height };
    this.boxes = new Map(instructions.map((instruction, position) => [instruction, layout.boxes[position]]));
    this.curves = new Map(arrows.map((key, number) => [key, layout.curves[number]]));
  }

  /**
   * @param {number} at a frame
   * @param {string} label
   * @returns {{drawing: import("../pictures/svg.js").Drawing, layout: import("../pictures/layout.js").Layout, counts: Record<string, number>}}
   */
  drawn(at, label) {
    const [now, before] = [this.frames[at], this.frames[at - 1]];
    const [stage, earlier] = [this.stages[at], this.stages[at - 1] ?? this.stages[at]];
    const counts = { added: 0, removed: 0, changed: 0 };
    const nodes = [...now.nodes.values()].map((node) => {
      const version = now.version.get(node.instruction) ?? -1;
      const former = this.versionAt(node.instruction, earlier);
      const change = former === null ? "added" : former === version ? "same" : "changed";
      if (change !== "same") counts[change] += 1;
      return { ...node, state: change, look: node.instruction === this.watched ? "focus" : "" };
    });
    for (const instruction of before?.nodes.keys() ?? []) {
      if (this.versionAt(instruction, stage) === null) counts.removed += 1;
    }
    const positions = new Map([...now.nodes.keys()].map((instruction, position) => [instruction, position]));
    const edges = [...now.arrows].map(([key, { source, target, label: words, style }]) => ({
      key,
      source: positions.get(source) ?? 0,
      target: positions.get(target) ?? 0,
      label: words,
      style,
    }));
    const notes = this.left ? [`Left out: ${format.plural(this.left, "instruction")} seen in few steps.`] : [];
    const layout = {
      ...this.size,
      boxes: nodes.map(
        ({ instruction }) => /** @type {import("../pictures/layout.js").Box} */ (this.boxes.get(instruction)),
      ),
      curves: edges.map(({ key }) => /** @type {import("../pictures/layout.js").Point[]} */ (this.curves.get(key))),
    };
    return { drawing: { title: `${this.name}, ${label}`, nodes, edges, notes }, layout, counts };
  }
}
