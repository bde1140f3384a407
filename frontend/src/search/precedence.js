/** Which groups of results come first where several have what was typed. */

import { shortFunction } from "./functions.js";

/** @typedef {import("./index.js").Found} Found */
/** @typedef {{kind: string, title: string, matches: Found[], count: number, best: number}} Group `best` is the rank of the first result, or less */

/** Each kind with its title, in the order of those that answer equally well. */
export const GROUPS = /** @type {[string, string][]} */ ([
  ["module", "Modules"],
  ["instruction", "Instructions"],
  ["computation", "Computations"],
  ["topic", "In this report"],
  ["opcode", "Opcodes"],
  ["touched", "Steps that changed it"],
  ["stages", "Passes, pipelines and steps"],
  ["op_name", "op_names"],
  ["scope", "Scopes"],
  ["function", "Functions"],
  ["source", "Source lines"],
  ["shape", "Shapes"],
  ["finding", "Findings"],
  ["file", "Files"],
  ["word", "Reference"],
  ["page", "Pages and guide"],
]);

/** Kinds of names in the last snapshot, and of their op_names. */
const OWN = new Set(["instruction", "computation", "opcode", "op_name", "scope", "function"]);
const EXACT = new Set(["module", "instruction", "opcode", "op_name"]);
/** After what an op_name has as a word, before what has the query inside of one. */
const GONE = 2.5;
/** Before what begins with the query: a scope with it as a word. */
const IN_SCOPE = 0.5;
/** Before a scope with the query as a word: arguments whose root it is. */
const OF_ROOT = 0.4;
/** Before what begins with the query: op_names of the last snapshot that end with it. */
const OF_OP = 0.6;
/** Letters of a query that may be a part of any scope. */
const SHORTEST = 2;
/** Results of a group in which the same name with a number is looked for. */
const LOOKED_AT = 50;

/**
 * @param {Group} group
 * @param {string} query in lower case
 * @returns {boolean} whether the program has the name, maybe with a number, or as a level of an op_name
 */
const hasName = ({ kind, matches }, query) =>
  OWN.has(kind) &&
  matches.slice(0, LOOKED_AT).some((match) => {
    const name = match.hit().text.toLowerCase().replace(/^%/, "");
    if (kind === "op_name") return name.split(/[/();:]/).includes(query);
    const own = kind === "function" ? shortFunction(name) : name.replace(/\.\d+$/, "");
    return !match.gone && own === query;
  });

/** @param {Group} group @returns {boolean} whether a module or an instruction of the last snapshot is what was typed */
const namesIt = ({ kind, matches }) =>
  (kind === "module" || kind === "instruction") && matches.some(({ rank, gone }) => rank === 0 && !gone);

/** @param {Group} group @returns {boolean} whether it has what was typed, besides a part of an argument */
const isSame = ({ kind, matches }) =>
  (EXACT.has(kind) || kind === "topic") && matches.some(({ rank, gone, part }) => rank === 0 && !gone && !part);

/**
 * Sets the ranks of groups: an argument of which a part was typed, a section of the report and a scope that were typed come first, an entry
 * of the glossary after names of the program, names that only earlier snapshots have after those of
 * the last.
 * @param {Group[]} groups
 * @param {string} query in lower case
 */
export function putFirst(groups, query) {
  for (const group of groups) {
    if (group.best > 0 && group.matches.length && group.matches.every(({ gone }) => gone)) {
      group.best = Math.max(group.best, GONE);
    }
  }
  const of = (/** @type {string} */ kind) => groups.find((group) => group.kind === kind);
  const [touched, topic, scope, word, op_name] = ["touched", "topic", "scope", "word", "op_name"].map(of);
  if (touched) touched.best = 0;
  if (topic?.best === 0 && !groups.some(namesIt)) topic.best = -1;
  const isExact = groups.some((group) => EXACT.has(group.kind) && group.best === 0);
  const isArgument = op_name?.matches.some(({ part }) => part) ?? false;
  if (op_name && isArgument && !groups.some(isSame)) op_name.best = -1;
  const isRoot = op_name?.matches.some(({ root }) => root) ?? false;
  if (op_name && isRoot) op_name.best = Math.min(op_name.best, OF_ROOT);
  if (op_name?.matches.some(({ op, gone }) => op && !gone)) op_name.best = Math.min(op_name.best, OF_OP);
  if (scope?.best === 1 && query.length > SHORTEST) scope.best = IN_SCOPE;
  if (scope?.best === 0 && !isExact) scope.best = -1;
  const isOwn = () => isArgument || isRoot || scope?.best === IN_SCOPE || groups.some((group) => hasName(group, query));
  if (word?.best === 0 && isOwn()) word.best = 1;
}
