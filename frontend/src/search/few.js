/** What the search finds beside modules: entries of the glossary, what the report says of the main program. */

import { root } from "../core/address.js";
import { entryAddress } from "../names/words.js";

/** Words of a topic that stand beside it. */
const SHOWN = 5;

/** @typedef {import("./index.js").Hit} Hit */
/** @typedef {import("./index.js").Found} Found */

/** @param {import("../../types/payloads").Words | null} tables of `words` @returns {Generator<[string, () => Hit]>} every entry of the glossary, and its synonyms */
export function* explained(tables) {
  for (const [kind, words] of Object.entries(tables?.words ?? {})) {
    for (const [name, meaning] of Object.entries(words)) {
      yield [
        name,
        () => ({ text: name, note: `${kind}: ${meaning}`, href: entryAddress(`${kind}:${name}`).slice(root.length) }),
      ];
    }
  }
  for (const [synonym, term] of Object.entries(tables?.synonyms ?? {})) {
    yield [
      synonym,
      () => ({
        text: term,
        note: `${synonym}: ${tables?.words.word[term]}`,
        href: entryAddress(`word:${term}`).slice(root.length),
      }),
    ];
  }
}

/** @param {string} word @returns {string[]} it, and with underscores for spaces */
const asWritten = (word) => [word, word.replaceAll(" ", "_")];

/** @param {import("../../types/payloads").ReportIndex["topics"]} all @returns {Generator<[string, () => Hit]>} each by its title and by its words, also as attributes write them: `replica_groups` */
export function* topics(all) {
  for (const [title, href, words] of all) {
    const hit = () => ({ text: title, note: words.slice(0, SHOWN).join(", "), href });
    for (const word of new Set([title, ...words].flatMap(asWritten))) yield [word, hit];
  }
}

/** @param {Found[]} matches @returns {Found[]} without those that lead where a better one leads */
export function distinct(matches) {
  const seen = new Set();
  return matches.filter((match) => {
    const { href } = match.hit();
    return !seen.has(href) && seen.add(href);
  });
}

/** @param {Found[]} matches @returns {Found[]} the same, short names before long ones */
export const shortFirst = (matches) => [...matches].sort((left, right) => (left.size ?? 0) - (right.size ?? 0));

/** @param {Found[]} matches @returns {Found[]} the same, those that the last snapshot lacks at the end */
export const lastFirst = (matches) => [
  ...matches.filter((match) => !match.gone),
  ...matches.filter((match) => match.gone),
];

/**
 * What the search says of files: where several have what was typed, one of the module of the page
 * comes first, else the list of all of them.
 * @param {Found[]} matches the best first
 * @param {string} query
 * @param {string} key of the module of the page; empty on other pages
 * @param {(query: string) => string} listed the address of the list of files that have the query
 * @returns {Found[]}
 */
export function filesFirst(matches, query, key, listed) {
  if (matches.length < 2 || matches[0].rank === 0) return matches;
  const isHere = (/** @type {Found} */ { hit }) => key !== "" && hit().text.startsWith(`${key}.`);
  const here = matches.filter(isHere);
  const others = matches.filter((match) => !isHere(match));
  const all = { text: query, note: `all ${matches.length} files with it`, href: listed(query) };
  const list = { rank: matches[0].rank, hit: () => all };
  return here.length === 1 ? [...here, list, ...others] : [list, ...here, ...others];
}

/** Words of the paths of arguments: what holds a model's, and what holds an optimizer's. */
const OF_MODEL = new Set(["params", "param", "parameters", "weights", "model", "batch_stats", "p"]);
const OF_OPTIMIZER = new Set(
  "opt opt_state optimizer optimizer_state mu nu m v mean variance average momentum moment exp_avg exp_avg_sq".split(
    " ",
  ),
);

/**
 * @param {string} name in lower case: of an argument, as `state['mu']['w']`, or what was typed
 * @returns {boolean} whether it is an optimizer's, by its outermost word that says so
 */
export const isOptimizers = (name) => OF_OPTIMIZER.has(holderOf(name));

/** @param {string} name in lower case: of an argument @returns {boolean} whether it is a model's */
export const isModels = (name) => OF_MODEL.has(holderOf(name));

/** @param {string} name in lower case @returns {string} the outermost word that says whose it is; else nothing */
function holderOf(name) {
  const words = name.includes("/") ? [] : name.split(/\W+/);
  return words.find((part) => OF_MODEL.has(part) || OF_OPTIMIZER.has(part)) ?? "";
}

/**
 * @param {string} name in lower case: of an argument, as `state.params['mlp']['w'][0]`, or an op_name
 * @returns {string[]} the parts of an argument's name below its root, the last first: `w`, `mlp`, `params`
 */
export function partsBelow(name) {
  const parts = name.includes("/") ? [] : name.split(/[^\w-]+/).slice(1);
  return parts.filter((part) => /\D/.test(part)).reverse();
}

/** @param {string} name in lower case: of an argument, or an op_name @returns {string} the root of an argument of several parts; else nothing */
export const rootOf = (name) => (name.includes("/") ? "" : (/^(\w+)[[.]/.exec(name)?.[1] ?? ""));

/** @param {Found[]} matches @returns {Found[]} the same, a model's arguments first, the state of an optimizer at the end */
export const modelFirst = (matches) => [...matches].sort((left, right) => place(left) - place(right));

/** @param {Found} match */
const place = ({ models, optimizers }) => (models ? 0 : optimizers ? 2 : 1);

const OF_BACKEND = /^xla_(cpu|gpu|tpu)_/;
/** Flags of the TPU compiler with another beginning: of its oldest part, generations, SparseCore, Mosaic, fast memory. */
const OF_TPU = /^xla_(?:jf|gf|vf|zf|sc|sparse_core|mosaic|msa)_/;

/** @param {string} flag @returns {string | undefined} the backend whose flag it is by its name */
const backendOf = (flag) => OF_BACKEND.exec(flag)?.[1] ?? (OF_TPU.test(flag) ? "tpu" : undefined);

/**
 * @param {Iterable<[string, () => Hit]>} entries of the glossary
 * @param {string[]} backends of the report; none where they are not known
 * @param {string} query
 * @returns {Generator<[string, () => Hit]>} those without flags of other backends, unless the query names such flags
 */
export function* ofBackends(entries, backends, query) {
  const asked = backendOf(query.trim().toLowerCase().replace(/^-*/, ""));
  for (const entry of entries) {
    const backend = backendOf(entry[0]);
    if (!backend || !backends.length || backend === asked || backends.includes(backend)) yield entry;
  }
}
