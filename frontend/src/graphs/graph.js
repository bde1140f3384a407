/**
 * The graph of a snapshot: what each instruction is, who uses what, who calls what.
 * Instructions are numbers, in the order of the payload.
 */

import { once } from "../core/once.js";
import { splitRows, unfold } from "../core/packing.js";
import { load } from "../core/payloads.js";
import { SPREADING } from "../pictures/sizes.js";

/** @typedef {import("../../types/payloads").Instructions} Stored */
/** @typedef {Omit<Stored, "names" | "arguments" | "operands"> & Opened} Index with its columns read */
/** @typedef {{names: string[], arguments: string[], operands: (number | string)[][]}} Opened */
/** @typedef {{place: number, element: string}} Use */

export class Graph {
  /** @param {Index} index */
  constructor(index) {
    this.index = index;
    this.size = index.names.length;
    this.first = /** @type {number[]} */ ([]);
    this.inside = new Int32Array(this.size);
    let place = 0;
    for (const [number, [, count]] of index.computations.entries()) {
      this.first.push(place);
      this.inside.fill(number, place, place + count);
      place += count;
    }
    this.numbers = new Map(index.computations.map(([name], number) => [name, number]));
    this.backwards = this.reversed();
    /** @type {Map<number, number[]>} */
    this.callers = this.calling();
    /** @type {Map<string, number> | null} */
    this.places = null;
  }

  /** @param {number} place */
  name(place) {
    return this.index.names[place];
  }

  /** @param {number} place */
  opcode(place) {
    return this.index.looks[this.index.look[place]][0];
  }

  /** @param {number} place */
  kind(place) {
    return this.index.looks[this.index.look[place]][1];
  }

  /** @param {number} place */
  family(place) {
    return this.index.looks[this.index.look[place]][2];
  }

  /** @param {number} place */
  says(place) {
    return this.index.looks[this.index.look[place]][3];
  }

  /** @param {number} place */
  shape(place) {
    return this.index.shapes[this.index.shape[place]][0];
  }

  /**
   * @param {number} place
   * @returns {number | null} how many numbers its value is
   */
  elements(place) {
    return this.index.shapes[this.index.shape[place]][1];
  }

  /**
   * @param {number} place
   * @returns {import("../pictures/scales.js").Shade & {scope: string[]}} what its box can be colored by
   */
  shade(place) {
    const [cost, sharding, scope, time] = this.index.shades[this.index.shade[place]];
    return {
      cost,
      time,
      memory: this.index.shapes[this.index.shape[place]][2],
      sharding,
      scope: scope ? scope.split("\n") : [],
    };
  }

  /** @param {number} place */
  computation(place) {
    return this.index.computations[this.inside[place]][0];
  }

  /** @param {number} place */
  argument(place) {
    return this.index.arguments[place];
  }

  /** @param {number} place */
  isRoot(place) {
    return place === this.root(this.inside[place]);
  }

  /**
   * @param {number} computation
   * @returns {number | null} where its root stands
   */
  root(computation) {
    const root = this.index.roots[computation];
    return root === null || root === undefined ? null : this.first[computation] + root;
  }

  /**
   * @param {number} computation
   * @returns {number[]} the places of its instructions
   */
  members(computation) {
    const [, count] = this.index.computations[computation];
    return Array.from({ length: count }, (_, at) => this.first[computation] + at);
  }

  /** @param {number} place */
  calls(place) {
    return this.index.calls[place] ?? [];
  }

  /**
   * @param {number} place
   * @returns {Use[]} its operands as written
   */
  operands(place) {
    return this.index.operands[place].map((operand) => {
      const [distance, element] = String(operand).split("#");
      return { place: place - Number(distance), element: element ?? "" };
    });
  }

  /** @param {number} place */
  controls(place) {
    return this.index.controls[place] ?? [];
  }

  /** @param {number} place */
  users(place) {
    const { starts, users } = this.backwards;
    return users.subarray(starts[place], starts[place + 1]);
  }

  /** Who uses each instruction, as one list with the start of each one's part. */
  reversed() {
    const starts = new Int32Array(this.size + 1);
    const used = (/** @type {number} */ place) =>
      new Set([...this.operands(place).map((operand) => operand.place), ...this.controls(place)]);
    for (let place = 0; place < this.size; place += 1) for (const source of used(place)) starts[source + 1] += 1;
    for (let place = 0; place < this.size; place += 1) starts[place + 1] += starts[place];
    const users = new Int32Array(starts[this.size]);
    const next = starts.slice();
    for (let place = 0; place < this.size; place += 1) for (const source of used(place)) users[next[source]++] = place;
    return { starts, users };
  }

  /** @returns {Map<number, number[]>} who calls each computation */
  calling() {
    const callers = new Map();
    for (const [place, called] of Object.entries(this.index.calls)) {
      for (const [, computation] of called) {
        callers.set(computation, [...(callers.get(computation) ?? []), Number(place)]);
      }
    }
    return callers;
  }

  /**
   * @param {string} name with or without `%`, alone or behind its computation: `region_0/%add.1`
   * @returns {number | null}
   */
  find(name) {
    if (!this.places) {
      this.places = new Map();
      for (let place = this.size - 1; place >= 0; place -= 1) {
        this.places.set(this.name(place), place);
        this.places.set(`${this.computation(place)}/%${this.name(place)}`, place);
      }
    }
    return this.places.get(name) ?? this.places.get(name.replace(/^%/, "")) ?? null;
  }

  /**
   * @param {number} place
   * @returns {string} the shortest that `find` takes for it
   */
  address(place) {
    const name = this.name(place);
    return this.find(name) === place ? name : `${this.computation(place)}/%${name}`;
  }

  /**
   * Returns the instructions with all the words in their name or opcode, the best first.
   * @param {string} wanted
   * @param {number} most
   */
  search(wanted, most) {
    const words = wanted.trim().toLowerCase().replace(/^%/, "").split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const ranked = /** @type {[number, number][]} */ ([]);
    for (let place = 0; place < this.size; place += 1) {
      const name = this.name(place).toLowerCase();
      const text = `${name} ${this.opcode(place)}`;
      if (!words.every((word) => text.includes(word))) continue;
      ranked.push([name === words[0] ? -1 : name.startsWith(words[0]) ? name.length : 1000 + name.length, place]);
    }
    ranked.sort(([left, a], [right, b]) => left - right || a - b);
    return ranked.slice(0, most).map(([, place]) => place);
  }

  /**
   * @param {number} place
   * @returns {number | null} the constant that it is, or that it only spreads or reads in another shape
   */
  constantBehind(place) {
    let behind = place;
    for (let hops = 0; hops < 100; hops += 1) {
      if (this.opcode(behind) === "constant") return behind;
      const operands = SPREADING.has(this.opcode(behind)) ? this.operands(behind) : [];
      if (operands.length !== 1) return null;
      behind = operands[0].place;
    }
    return null;
  }
}

/**
 * Reads columns of instructions (pages/pictures/snapshot_graph.py).
 * @template {import("../../types/payloads").InstructionColumns} Columns
 * @param {Columns} columns
 * @returns {Omit<Columns, keyof Opened> & Opened} the same with names, arguments and operands by their places
 */
export function readInstructions(columns) {
  const [words, numbers] = columns.arguments;
  const values = unfold(words);
  return {
    ...columns,
    names: unfold(columns.names),
    arguments: numbers.map((number) => values[number]),
    operands: splitRows(columns.operands),
  };
}

/** Graphs by their keys. @type {Map<string, Promise<Graph>>} */
const graphs = new Map();

/**
 * Loads a graph, once.
 * @param {string} key of its index
 * @returns {Promise<Graph>}
 */
export function loadGraph(key) {
  return once(graphs, key, () =>
    /** @type {Promise<Payload<"m/x/graph">>} */ (load(key)).then((index) => new Graph(readInstructions(index))),
  );
}
