/**
 * The graph of any snapshot: of those between the first and the last it is put together from what the
 * films tell of each computation (pages/history/computations.py). `FILM@SNAPSHOT` is its key.
 */

import { unfold } from "../core/packing.js";
import { load } from "../core/payloads.js";
import { readVersions } from "./versions.js";
import { Graph, loadGraph } from "./graph.js";

const BOOKKEEPING = new Set(["parameter", "constant", "get-tuple-element", "tuple", "bitcast"]);
/** Colours of the opcodes of which a reader wants to know first. */
const HEAVY = ["dark-blue", "dark-green", "brown", "gray", "purple"];
const NAMED = 3;
/** Where computations are told that have no forms in a file. */
const [AT_THE_END, AT_THE_START] = [-1, -2];

/** @typedef {import("./graph.js").Index} Index */
/** @typedef {import("./versions.js").Reel} Reel */
/** @typedef {Pick<Index, "names" | "arguments" | "look" | "shape" | "shade" | "looks" | "shapes" | "shades">} Columns what instructions look like */
/** @typedef {{name: string, film: number, columns: Columns, rows: number[], operands: (number | string)[][], controls: number[][], calls: [string, number][][], root: number | null, does: string}} Part a computation in a snapshot: rows of columns; it calls films */
/** @typedef {{names: string[], renamed: Record<string, [number, string][]>, in: number[], sizes: number[], first: number[], end: number[], texts: string[]}} All every computation that any snapshot has */

/**
 * Takes a computation as it is in one snapshot from some forms of a reel.
 * @param {Reel} reel
 * @param {number} stage
 * @param {{name: string, film: number, from?: number, to?: number}} which
 * @returns {Part & {lives: number[]}} with the life of each row
 */
export function computationAt(reel, stage, { name, film, from = 0, to = reel.forms.length }) {
  const rows = [];
  for (let at = from; at < to; at += 1) if (reel.forms[at][1] <= stage && stage < reel.forms[at][2]) rows.push(at);
  rows.sort((one, other) => reel.forms[one][0] - reel.forms[other][0]);
  const lives = rows.map((at) => reel.forms[at][0]);
  const places = new Map(lives.map((life, place) => [life, place]));
  const operands = rows.map((at, place) =>
    reel.forms[at][3].flatMap((used) => {
      const [life, element] = String(used).split("#");
      const source = places.get(Number(life));
      return source === undefined ? [] : [element === undefined ? place - source : `${place - source}#${element}`];
    }),
  );
  const controls = rows.map((at) => (reel.controls[at] ?? []).flatMap((life) => places.get(life) ?? []));
  const root = rows.findIndex((at) => reel.roots.has(at));
  return { name, film, columns: reel, rows, lives, operands, controls, calls: rows.map((at) => reel.calls[at] ?? []), root: root < 0 ? null : root, does: "" };
}

/**
 * Says what a computation does, as boxes.py says it in the report's own pictures.
 * @param {Part} part
 * @returns {string} `12: 5 add, 4 multiply, …`
 */
function doing({ columns, rows }) {
  const counts = /** @type {Map<string, {rank: number, count: number}>} */ (new Map());
  for (const row of rows) {
    const [opcode, , colour] = columns.looks[columns.look[row]];
    const rank = HEAVY.includes(colour) ? HEAVY.indexOf(colour) : HEAVY.length;
    if (!BOOKKEEPING.has(opcode)) counts.set(opcode, { rank, count: (counts.get(opcode)?.count ?? 0) + 1 });
  }
  const most = [...counts].sort(([one, a], [other, b]) => a.rank - b.rank || b.count - a.count || (one < other ? -1 : 1));
  const total = most.reduce((sum, [, { count }]) => sum + count, 0);
  if (total <= 1) return most[0]?.[0] ?? "nothing";
  const words = most.slice(0, NAMED).map(([opcode, { count }]) => (count > 1 ? `${count} ${opcode}` : opcode));
  return `${total}: ${words.join(", ")}${most.length > NAMED ? ", \u2026" : ""}`;
}

/**
 * Takes a computation that never changed from a graph.
 * @param {Graph} graph
 * @param {number} film
 * @param {string} name
 * @param {Map<string, number>} films by the names that they have in the graph
 * @returns {Part | null} null where the graph has left it out
 */
function share(graph, film, name, films) {
  const number = graph.numbers.get(name);
  if (number === undefined) return null;
  const first = graph.first[number];
  const rows = Array.from({ length: graph.index.computations[number][1] }, (_, place) => first + place);
  const calls = rows.map((row) => graph.calls(row).map(([attribute, called]) => /** @type {[string, number]} */ ([attribute, films.get(graph.index.computations[called][0]) ?? -1])));
  return { name, film, columns: graph.index, rows, operands: rows.map((row) => graph.index.operands[row]), controls: rows.map((row) => graph.controls(row).map((one) => one - first)), calls, root: graph.index.roots[number], does: graph.index.computations[number][2] };
}

/**
 * Puts computations together to the graph of a snapshot.
 * @param {Part[]} parts
 * @param {{label: string, text: string | null, complete: boolean}} told
 * @returns {Graph}
 */
export function assembleGraph(parts, told) {
  const numbers = new Map(parts.map(({ film }, number) => [film, number]));
  const tables = { looks: /** @type {any[]} */ ([]), shapes: /** @type {any[]} */ ([]), shades: /** @type {any[]} */ ([]) };
  const starts = new Map([...new Set(parts.map(({ columns }) => columns))].map((columns) => [columns, appended(tables, columns)]));
  const index = /** @type {Index} */ ({ ...told, ...tables, piece: 0, computations: [], inside: [[[false, []]], []], roots: [], names: [], arguments: [], look: [], shape: [], shade: [], operands: [], controls: {}, calls: {} });
  for (const part of parts) {
    const { name, columns, rows, operands, controls, calls, root, does } = part;
    const first = index.names.length;
    const [look, shape, shade] = starts.get(columns) ?? [0, 0, 0];
    index.computations.push([name, rows.length, does || doing(part)]);
    index.inside[1].push(0);
    index.roots.push(root);
    for (const [place, row] of rows.entries()) {
      index.names.push(columns.names[row]);
      index.arguments.push(columns.arguments[row]);
      index.look.push(look + columns.look[row]);
      index.shape.push(shape + columns.shape[row]);
      index.shade.push(shade + columns.shade[row]);
      index.operands.push(operands[place]);
      if (controls[place].length) index.controls[first + place] = controls[place].map((one) => first + one);
      const called = calls[place].flatMap(([attribute, film]) => (numbers.has(film) ? [/** @type {[string, number]} */ ([attribute, numbers.get(film) ?? 0])] : []));
      if (called.length) index.calls[first + place] = called;
    }
  }
  return new Graph(index);
}

/**
 * @param {{looks: any[], shapes: any[], shades: any[]}} tables which grow
 * @param {Columns} columns
 * @returns {number[]} where in each table those of the columns begin
 */
function appended(tables, { looks, shapes, shades }) {
  const starts = [tables.looks.length, tables.shapes.length, tables.shades.length];
  for (const [all, own] of [[tables.looks, looks], [tables.shapes, shapes], [tables.shades, shades]]) for (const one of own) all.push(one);
  return starts;
}

/**
 * @param {string} key of the films
 * @param {number} stage
 * @param {All} all
 * @returns {Promise<(Part | null)[]>} every computation of a snapshot; null for what the report leaves out
 */
async function computations(key, stage, all) {
  const alive = all.names.flatMap((_, film) => (all.first[film] <= stage && stage < all.end[film] ? [film] : []));
  const files = new Set(alive.map((film) => all.in[film]));
  const reels = new Map(await Promise.all([...files].filter((file) => file >= 0).map(async (file) => /** @type {[number, Reel]} */ ([file, readVersions(await load(`${key}-${file}`))]))));
  const graph = key.replace(/film$/, "graph");
  const last = files.has(AT_THE_END) ? await loadGraph(graph) : null;
  const first = files.has(AT_THE_START) ? await loadGraph(`${graph}-first`) : null;
  const ends = /** @type {[Map<string, number>, Map<string, number>]} */ ([Math.max(...all.end) - 1, 0].map((at) => new Map(all.names.flatMap((_, film) => (all.first[film] <= at && at < all.end[film] ? [[named(all, film, at), film]] : [])))));
  const starts = offsets(all);
  return alive.map((film) => {
    const name = named(all, film, stage);
    const file = all.in[film];
    if (file === AT_THE_END) return last && share(last, film, name, ends[0]);
    if (file === AT_THE_START) return first && share(first, film, name, ends[1]);
    const reel = reels.get(file);
    return reel ? computationAt(reel, stage, { name, film, from: starts[film], to: starts[film] + all.sizes[film] }) : null;
  });
}

/**
 * @param {All} all
 * @param {number} film
 * @param {number} stage
 * @returns {string} what a computation is called in a snapshot
 */
function named({ names, renamed }, film, stage) {
  return renamed[film]?.findLast(([first]) => first <= stage)?.[1] ?? names[film];
}

/**
 * @param {All} all
 * @returns {number[]} where in its file each film begins
 */
function offsets({ in: files, sizes }) {
  const filled = /** @type {Map<number, number>} */ (new Map());
  return files.map((file, film) => {
    const start = filled.get(file) ?? 0;
    filled.set(file, start + sizes[film]);
    return start;
  });
}

/**
 * @param {string} key
 * @returns {Promise<Graph>}
 */
async function made(key) {
  const [films, name] = key.split("@");
  const [{ stages }, told] = await Promise.all([load(films), load(`${films}-all`)]);
  const stage = stages.findIndex((/** @type {[string, string]} */ [one]) => one === name);
  if (stage < 0) throw new Error(`There is no snapshot ${name}.`);
  const found = await computations(films, stage, { ...told, names: unfold(told.names) });
  const there = found.flatMap((one) => one ?? []);
  return assembleGraph(there, { label: stages[stage][1], text: told.texts.includes(name) ? name : null, complete: there.length === found.length });
}

/** @type {Map<string, Promise<Graph>>} */
const known = new Map();

/**
 * Loads the graph of a snapshot, once.
 * @param {string} key of the graph of the first or the last one, or `FILM@SNAPSHOT`
 * @returns {Promise<Graph>}
 */
export function loadSnapshotGraph(key) {
  if (!key.includes("@")) return loadGraph(key);
  const found = known.get(key) ?? made(key);
  known.set(key, found);
  found.catch(() => known.delete(key));
  return found;
}
