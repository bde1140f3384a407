/**
 * One computation in all its snapshots: the frames of a film, laid out together so that what stays
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
/** @typedef {import("./versions.js").Reel} Reel */
/** @typedef {[string, number[], number, number]} Title name, frames, end, most instructions */
/** @typedef {{view: View, lives: number[], forms: number[]}} Scene a snapshot of the computation; by place: the life, the form */
/** @typedef {import("../pictures/svg.js").Node & {life: number}} Actor */
/** @typedef {{actors: Map<number, Actor>, arrows: Map<string, {source: number, target: number, label: string, style: string}>, form: Map<number, number>}} Frame */

/**
 * Makes the graph of the computation in one snapshot.
 * @param {Reel} reel
 * @param {string} name
 * @param {number} stage
 * @param {number | null} watched a life that has a box in any case
 * @returns {Scene}
 */
function scene(reel, name, stage, watched) {
  const part = computationAt(reel, stage, { name, film: -1 });
  const { lives, rows } = part;
  const places = new Map(lives.map((life, place) => [life, place]));
  const graph = assembleGraph([{ ...part, does: name }], { label: "", text: null, complete: true });
  const kept = watched === null ? undefined : places.get(watched);
  return { view: new View(graph, kept === undefined ? [] : [kept]), lives, forms: rows };
}

/**
 * Chooses what is shown of a snapshot: all of a small computation, else what is near a life.
 * @param {Scene} scene
 * @param {number | null} watched
 * @returns {number[]} places, the nearest first
 */
function near({ view, lives }, watched) {
  const all = [...lives.keys()];
  if (watched === null) return all.filter((place) => view.hasBox(place));
  const start = lives.indexOf(watched);
  return start < 0 ? [] : [...neighborhood(view, start, { up: true, down: true, radius: RADIUS, most: MOST_NEAR }).places.keys()];
}

/**
 * @param {Scene} scene
 * @param {number[]} shown places
 * @returns {Frame}
 */
function frame({ view, lives, forms }, shown) {
  const there = new Set(shown);
  const actors = new Map(shown.map((place) => [lives[place], { ...drawnBox(view, place), life: lives[place], id: `life ${lives[place]}` }]));
  const arrows = shown.flatMap((place) => view.arriving(place)).filter(({ source }) => there.has(source));
  const named = arrows.map(({ source, target, label, style }) => [`${lives[source]} ${lives[target]}`, { source: lives[source], target: lives[target], label, style }]);
  return { actors, arrows: new Map(/** @type {any} */ (named)), form: new Map(shown.map((place) => [lives[place], forms[place]])) };
}

/** All frames of a film with the one layout that they share. */
export class Frames {
  /**
   * @param {Reel} reel
   * @param {Title} title
   * @param {string} watch a name, or empty for what changes most often
   */
  constructor(reel, [name, frames, , most], watch) {
    this.reel = reel;
    this.name = name;
    /** The forms of each life. @type {Map<number, number[]>} */
    this.ages = new Map();
    for (const [at, [life]] of reel.forms.entries()) this.ages.set(life, [...(this.ages.get(life) ?? []), at]);
    this.stages = frames;
    this.watched = watch || most > MOST ? this.life(watch) : null;
    const scenes = frames.map((stage) => scene(reel, name, stage, this.watched));
    const shown = scenes.map((one) => near(one, this.watched));
    const chosen = this.chosen(scenes, shown);
    this.frames = scenes.map((one, at) => frame(one, shown[at].filter((place) => chosen.has(one.lives[place]))));
    this.cut();
    this.place(chosen);
  }

  /** Leaves out the steps in which nothing of what is shown is there or differs. */
  cut() {
    const words = this.frames.map(({ form, arrows }) => (form.size ? JSON.stringify([[...form].sort(([one], [other]) => one - other), [...arrows.keys()].sort()]) : null));
    const kept = words.map((one, at) => one !== null && one !== words[at - 1]);
    this.frames = this.frames.filter((_, at) => kept[at]);
    this.stages = this.stages.filter((_, at) => kept[at]);
  }

  /**
   * @param {string} wanted
   * @returns {number} the life that bore a name last, -1 where none did; for no name the one with the most forms
   */
  life(wanted) {
    const bare = wanted.replace(/^%/, "");
    const named = this.reel.names.lastIndexOf(bare);
    if (bare) return named < 0 ? -1 : this.reel.forms[named][0];
    const counts = new Map();
    const dull = new Set(this.reel.looks.flatMap(([opcode], at) => (/^(parameter|constant|tuple|get-tuple-element)$/.test(opcode) ? [at] : [])));
    const last = Math.max(...this.stages);
    const lasting = new Set(this.reel.forms.filter(([, , end], at) => end > last && !dull.has(this.reel.look[at])).map(([life]) => life));
    for (const [life] of this.reel.forms) if (lasting.has(life)) counts.set(life, (counts.get(life) ?? 0) + 1);
    return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [-1, 0])[0];
  }

  /**
   * Keeps the lives that are shown in most frames, where there are too many.
   * @param {Scene[]} scenes
   * @param {number[][]} shown
   * @returns {Set<number>}
   */
  chosen(scenes, shown) {
    const counts = /** @type {Map<number, number>} */ (new Map());
    for (const [at, { lives }] of scenes.entries()) for (const place of shown[at]) counts.set(lives[place], (counts.get(lives[place]) ?? 0) + 1);
    if (this.watched !== null) counts.set(this.watched, Infinity);
    const kept = [...counts].sort(([, one], [, other]) => other - one).slice(0, MOST);
    this.left = counts.size - kept.length;
    return new Set(kept.map(([life]) => life));
  }

  /**
   * @param {number} life
   * @param {number} stage
   * @returns {number | null} its form in a snapshot, null where it does not live
   */
  formAt(life, stage) {
    const form = (this.ages.get(life) ?? []).find((at) => this.reel.forms[at][1] <= stage && stage < this.reel.forms[at][2]);
    return form ?? null;
  }

  /** @param {Set<number>} chosen lives; all of them are laid out at once */
  place(chosen) {
    const lives = [...chosen].sort((one, other) => one - other);
    const positions = new Map(lives.map((life, position) => [life, position]));
    const sizes = lives.map((life) => {
      const all = this.frames.flatMap(({ actors }) => actors.get(life) ?? []).map(boxSize);
      return { width: Math.max(0, ...all.map(({ width }) => width)), height: Math.max(0, ...all.map(({ height }) => height)) };
    });
    const arrows = [...new Set(this.frames.flatMap((shown) => [...shown.arrows.keys()]))];
    const ends = arrows.map((key) => /** @type {[number, number]} */ (key.split(" ").map((life) => positions.get(Number(life)) ?? 0)));
    const layout = layeredLayout(sizes, ends);
    this.layout = layout;
    this.boxes = new Map(lives.map((life, position) => [life, layout.boxes[position]]));
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
    const nodes = [...now.actors.values()].map((actor) => {
      const form = now.form.get(actor.life) ?? -1;
      const former = this.formAt(actor.life, earlier);
      const told = former === null ? "added" : former === form ? "same" : "changed";
      if (told !== "same") counts[told] += 1;
      return { ...actor, state: told, look: actor.life === this.watched ? "focus" : "" };
    });
    for (const life of before?.actors.keys() ?? []) if (this.formAt(life, stage) === null) counts.removed += 1;
    const positions = new Map([...now.actors.keys()].map((life, position) => [life, position]));
    const edges = [...now.arrows].map(([key, { source, target, label: words, style }]) => ({ key, source: positions.get(source) ?? 0, target: positions.get(target) ?? 0, label: words, style }));
    const notes = this.left ? [`Left out: ${format.plural(this.left, "instruction")} seen in few steps.`] : [];
    const { width = 0, height = 0 } = this.layout ?? {};
    const layout = { width, height, boxes: nodes.map(({ life }) => /** @type {any} */ (this.boxes?.get(life))), curves: edges.map(({ key }) => /** @type {any} */ (this.curves?.get(key))) };
    return { drawing: { title: `${this.name}, ${label}`, nodes, edges, notes }, layout, counts };
  }
}
