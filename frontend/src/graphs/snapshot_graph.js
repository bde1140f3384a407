/**
 * The graph of any snapshot: of those between the first and the last it is put together from the
 * versions of each computation (pages/history/computations.py). `TIMELINE@SNAPSHOT` is its key.
 */

import { once } from "../core/once.js";
import { unfold } from "../core/packing.js";
import { load } from "../core/payloads.js";
import { Graph, loadGraph } from "./graph.js";
import { readVersions } from "./versions.js";
import { BOOKKEEPING } from "../pictures/sizes.js";

/** Colors of the opcodes of which a reader wants to know first. */
const HEAVY = ["dark-blue", "dark-green", "brown", "gray", "purple"];
const NAMED = 3;
/** Where computations are that have no versions in a file. */
const [AT_THE_END, AT_THE_START] = [-1, -2];

/** @typedef {import("./graph.js").Index} Index */
/** @typedef {import("./versions.js").VersionTable} VersionTable */
/** @typedef {Pick<Index, "names" | "arguments" | "look" | "shape" | "shade" | "looks" | "shapes" | "shades">} Columns what instructions look like */
/** @typedef {{name: string, number: number, columns: Columns, rows: number[], operands: (number | string)[][], controls: number[][], calls: [string, number][][], root: number | null, does: string}} Part a computation in a snapshot: rows of columns; it calls computations by their numbers */
/** @typedef {Omit<import("../../types/payloads").AllComputations, "names"> & {names: string[]}} All every computation that any snapshot has */

/**
 * Takes a computation as it is in one snapshot from some rows of a table.
 * @param {VersionTable} table
 * @param {number} snapshot
 * @param {{name: string, number: number, from?: number, to?: number}} which
 * @returns {Part & {instructions: number[]}} with the instruction of each row
 */
export function computationAt(table, snapshot, { name, number, from = 0, to = table.versions.length }) {
  const rows = [];
  for (let at = from; at < to; at += 1) {
    if (table.versions[at][1] <= snapshot && snapshot < table.versions[at][2]) rows.push(at);
  }
  rows.sort((left, right) => table.versions[left][0] - table.versions[right][0]);
  const instructions = rows.map((at) => table.versions[at][0]);
  const places = new Map(instructions.map((instruction, place) => [instruction, place]));
  const operands = rows.map((at, place) =>
    table.versions[at][3].flatMap((used) => {
      const [instruction, element] = String(used).split("#");
      const source = places.get(Number(instruction));
      return source === undefined ? [] : [element === undefined ? place - source : `${place - source}#${element}`];
    }),
  );
  const controls = rows.map((at) => (table.controls[at] ?? []).flatMap((instruction) => places.get(instruction) ?? []));
  const root = rows.findIndex((at) => table.roots.has(at));
  return {
    name,
    number,
    columns: table,
    rows,
    instructions,
    operands,
    controls,
    calls: rows.map((at) => table.calls[at] ?? []),
    root: root < 0 ? null : root,
    does: "",
  };
}

/**
 * Says what a computation does, as boxes.py says it in the report's own pictures.
 * @param {Part} part
 * @returns {string} `12: 5 add, 4 multiply, …`
 */
function doing({ columns, rows }) {
  const counts = /** @type {Map<string, {rank: number, count: number}>} */ (new Map());
  for (const row of rows) {
    const [opcode, , color] = columns.looks[columns.look[row]];
    const rank = HEAVY.includes(color) ? HEAVY.indexOf(color) : HEAVY.length;
    if (!BOOKKEEPING.has(opcode)) counts.set(opcode, { rank, count: (counts.get(opcode)?.count ?? 0) + 1 });
  }
  const most = [...counts].sort(
    ([left, a], [right, b]) => a.rank - b.rank || b.count - a.count || (left < right ? -1 : 1),
  );
  const total = most.reduce((sum, [, { count }]) => sum + count, 0);
  if (total <= 1) return most[0]?.[0] ?? "no-op";
  const words = most.slice(0, NAMED).map(([opcode, { count }]) => (count > 1 ? `${count} ${opcode}` : opcode));
  return `${total}: ${words.join(", ")}${most.length > NAMED ? ", \u2026" : ""}`;
}

/**
 * Takes a computation that never changed from a graph.
 * @param {Graph} graph
 * @param {number} number of the computation
 * @param {string} name
 * @param {Map<string, number>} numbers of all computations by the names that they have in the graph
 * @returns {Part | null} null where the graph has left it out
 */
function unchangedComputation(graph, number, name, numbers) {
  const place = graph.numbers.get(name);
  if (place === undefined) return null;
  const first = graph.first[place];
  const [, size, does] = graph.index.computations[place];
  const rows = Array.from({ length: size }, (_, row) => first + row);
  const calls = rows.map((row) =>
    graph
      .calls(row)
      .map(
        ([attribute, called]) =>
          /** @type {[string, number]} */ ([attribute, numbers.get(graph.index.computations[called][0]) ?? -1]),
      ),
  );
  const operands = rows.map((row) => graph.index.operands[row]);
  const controls = rows.map((row) => graph.controls(row).map((other) => other - first));
  return { name, number, columns: graph.index, rows, operands, controls, calls, root: graph.index.roots[place], does };
}

/**
 * Puts computations together to the graph of a snapshot.
 * @param {Part[]} parts
 * @param {{label: string, text: string | null, complete: boolean}} description
 * @returns {Graph}
 */
export function assembleGraph(parts, description) {
  const places = new Map(parts.map(({ number }, place) => [number, place]));
  const tables = {
    looks: /** @type {any[]} */ ([]),
    shapes: /** @type {any[]} */ ([]),
    shades: /** @type {any[]} */ ([]),
  };
  const starts = new Map(
    [...new Set(parts.map(({ columns }) => columns))].map((columns) => [columns, appended(tables, columns)]),
  );
  const index = /** @type {Index} */ ({
    ...description,
    ...tables,
    piece: 0,
    computations: [],
    inside: [[[false, []]], []],
    roots: [],
    names: [],
    arguments: [],
    look: [],
    shape: [],
    shade: [],
    operands: [],
    controls: {},
    calls: {},
  });
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
      if (controls[place].length) index.controls[first + place] = controls[place].map((source) => first + source);
      const called = calls[place].flatMap(([attribute, number]) =>
        places.has(number) ? [/** @type {[string, number]} */ ([attribute, places.get(number) ?? 0])] : [],
      );
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
  for (const [all, own] of [
    [tables.looks, looks],
    [tables.shapes, shapes],
    [tables.shades, shades],
  ]) {
    for (const value of own) all.push(value);
  }
  return starts;
}

/**
 * @param {string} key of the computation timelines
 * @param {number} snapshot
 * @param {All} all
 * @returns {Promise<(Part | null)[]>} every computation of a snapshot; null for what the report leaves out
 */
async function computations(key, snapshot, all) {
  const numbers = numbersAt(all, snapshot);
  const files = new Set(numbers.map((number) => all.in[number]));
  const tables = new Map(
    await Promise.all(
      [...files]
        .filter((file) => file >= 0)
        .map(
          async (file) =>
            /** @type {[number, VersionTable]} */ ([
              file,
              readVersions(await /** @type {Promise<Payload<"m/x/versions-0">>} */ (load(`${key}-${file}`))),
            ]),
        ),
    ),
  );
  const graph = key.replace(/versions$/, "graph");
  const last = files.has(AT_THE_END) ? await loadGraph(graph) : null;
  const first = files.has(AT_THE_START) ? await loadGraph(`${graph}-first`) : null;
  const [namedLast, namedFirst] = [Math.max(...all.end) - 1, 0].map(
    (end) => new Map(numbersAt(all, end).map((number) => [nameAt(all, number, end), number])),
  );
  const starts = firstRows(all);
  return numbers.map((number) => {
    const name = nameAt(all, number, snapshot);
    const file = all.in[number];
    if (file === AT_THE_END) return last && unchangedComputation(last, number, name, namedLast);
    if (file === AT_THE_START) return first && unchangedComputation(first, number, name, namedFirst);
    const table = tables.get(file);
    return table
      ? computationAt(table, snapshot, { name, number, from: starts[number], to: starts[number] + all.sizes[number] })
      : null;
  });
}

/**
 * @param {All} all
 * @param {number} snapshot
 * @returns {number[]} the numbers of the computations that a snapshot has
 */
const numbersAt = ({ first, end }, snapshot) =>
  [...first.keys()].filter((number) => first[number] <= snapshot && snapshot < end[number]);

/**
 * @param {All} all
 * @param {number} number of a computation
 * @param {number} snapshot
 * @returns {string} what it is called there
 */
function nameAt({ names, renamed }, number, snapshot) {
  return renamed[number]?.findLast(([first]) => first <= snapshot)?.[1] ?? names[number];
}

/**
 * @param {All} all
 * @returns {number[]} where in its file the rows of each computation begin
 */
function firstRows({ in: files, sizes }) {
  const filled = /** @type {Map<number, number>} */ (new Map());
  return files.map((file, number) => {
    const start = filled.get(file) ?? 0;
    filled.set(file, start + sizes[number]);
    return start;
  });
}

/**
 * @param {string} key `TIMELINE@SNAPSHOT`
 * @returns {Promise<Graph>}
 */
async function graphAt(key) {
  const [timelines, name] = key.split("@");
  const [{ stages }, all] = await Promise.all([
    /** @type {Promise<Payload<"m/x/versions">>} */ (load(timelines)),
    /** @type {Promise<Payload<"m/x/versions-all">>} */ (load(`${timelines}-all`)),
  ]);
  const snapshot = stages.findIndex(([known]) => known === name);
  if (snapshot < 0) throw new Error(`There is no snapshot ${name}.`);
  const parts = await computations(timelines, snapshot, { ...all, names: unfold(all.names) });
  const present = parts.filter((part) => part !== null);
  return assembleGraph(present, {
    label: stages[snapshot][1],
    text: all.texts.includes(name) ? name : null,
    complete: present.length === parts.length,
  });
}

/** Graphs by their keys. @type {Map<string, Promise<Graph>>} */
const graphs = new Map();

/**
 * Loads the graph of a snapshot, once.
 * @param {string} key of the graph of the first or the last one, or `TIMELINE@SNAPSHOT`
 * @returns {Promise<Graph>}
 */
export function loadSnapshotGraph(key) {
  if (!key.includes("@")) return loadGraph(key);
  return once(graphs, key, () => graphAt(key));
}
