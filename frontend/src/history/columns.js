/** Histories as they are stored: columns of records (pages/history/columns.py). */

import { splitRows, sums, unfold } from "../core/packing.js";

/**
 * @typedef {object} Index
 * @property {[string, string][]} stages keys and labels of the snapshots
 * @property {number} chunk subjects in each chunk
 * @property {string[]} titles of the subjects
 * @property {number} forward the number of the first subject that is asked forward
 * @property {[number, ...string[]]} between the number of the first of what came and went on the way, and titles
 * @property {Record<string, number[]>} names subjects that ever bore a name
 * @property {Map<string, Names>} leftOut op_names without a history, and their places in the first snapshot
 * @property {boolean} complete whether all subjects are here
 */
/** @typedef {(string | number)[]} Names a number at the end counts those that are not listed */
/** @typedef {[number, string, string, Names, Names, string, string]} Event stage, event, instruction, other names from and to, initial of the grade, reason */
/** @typedef {number[]} Listed how many there are, and the numbers of the first standings */
/** @typedef {{instructions: number, events: number[], origins: Listed, now: Listed}} Subject */
/** @typedef {[string, string, string, string, string]} Standing place, opcode, shape, op_name, source */
/** @typedef {{subjects: Subject[], standings: Standing[], events: Event[]}} Chunk */

/**
 * @param {any[][]} columns
 * @returns {any[]} their rows
 */
const rowsOf = (columns) => columns[0].map((_, row) => columns.map((column) => column[row]));

/**
 * @param {import("../../types/payloads").NameColumn} column
 * @returns {Names[]}
 */
const readNames = ([lengths, folded, more]) =>
  splitRows([lengths, unfold(folded)]).map((listed, place) => (place in more ? [...listed, more[place]] : listed));

/**
 * Puts an index together; the other side is pages/history/columns.py.
 * @param {import("../../types/payloads").HistoryIndex} index
 * @returns {Index}
 */
export function readIndex({ titles, between: [first, others], names: [names, lengths, steps], left_out, ...rest }) {
  const numbers = splitRows([lengths, sums(steps)]);
  const [ops, places] = [unfold(left_out[0]), readNames(left_out[1])];
  return {
    ...rest,
    titles: unfold(titles),
    between: [first, ...unfold(others)],
    names: Object.fromEntries(unfold(names).map((name, place) => [name, numbers[place]])),
    leftOut: new Map(ops.map((op, place) => [op, places[place]])),
  };
}

/**
 * Puts a chunk together.
 * @param {import("../../types/payloads").HistoryChunk} chunk
 * @returns {Chunk}
 */
export function readChunk({
  instructions,
  happened,
  origins,
  now,
  standings,
  events: [stages, kinds, names, sources, targets, grades, reasons],
}) {
  const firsts = (/** @type {number[][]} */ [counts, lengths, steps]) =>
    splitRows([lengths, sums(steps)]).map((row, place) => [counts[place], ...row]);
  const subjects = rowsOf([instructions, happened, firsts(origins), firsts(now)]);
  return {
    subjects: subjects.map(([number, events, from, to]) => ({ instructions: number, events, origins: from, now: to })),
    standings: rowsOf(standings.map(unfold)),
    events: rowsOf([
      stages,
      unfold(kinds),
      unfold(names),
      readNames(sources),
      readNames(targets),
      unfold(grades),
      unfold(reasons),
    ]),
  };
}

/**
 * Returns the op_names of the first snapshot, those without a history too.
 * @param {Index} index
 */
export function opsOf(index) {
  const traced = index.titles.slice(index.forward).filter((title) => !title.includes("/%"));
  return [...traced, ...index.leftOut.keys()];
}

/**
 * @param {Index} index
 * @param {string} name with or without `%`
 * @returns {number[]} the subjects that ever had a name
 */
export function numbersOf({ names }, name) {
  const bare = name.replace(/^%/, "");
  return Object.hasOwn(names, bare) ? names[bare] : [];
}

/**
 * @param {Index} index
 * @param {string} op
 * @returns {number[]} the subject that is an op_name of the first snapshot, if there is one
 */
export function numbersOfOp({ titles, forward }, op) {
  const number = titles.indexOf(op, forward);
  return number < 0 ? [] : [number];
}

/**
 * @param {Index} index
 * @param {string} op
 * @returns {boolean} whether the first snapshot has this op_name
 */
export function isOp({ titles, forward, leftOut }, op) {
  return titles.includes(op, forward) || leftOut.has(op);
}

/**
 * @param {Index} index
 * @param {number} number
 * @returns {string} the title of a subject
 */
export function titleOf({ titles, between: [first, ...others] }, number) {
  return number < first ? titles[number] : others[number - first];
}

/**
 * Returns the events of a subject. Each stands once in a chunk; -n stands for the next n new ones.
 * @param {Chunk} chunk
 * @param {number} place
 */
export function eventsOf({ subjects, events }, place) {
  const isNew = (/** @type {number} */ number) => number < 0;
  let next = -subjects
    .slice(0, place)
    .flatMap((subject) => subject.events.filter(isNew))
    .reduce((sum, number) => sum + number, 0);
  return subjects[place].events.flatMap((number) =>
    isNew(number) ? events.slice(next, (next -= number)) : [events[number]],
  );
}
