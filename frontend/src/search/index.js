/**
 * What can be searched for: a small index of the report, one for each module, the words that are
 * explained, the list of files. Finds what contains all words of a query, ranked.
 */

import { format } from "../core/format.js";
import { listedInstructions, listedLines, listedScopes, modulePage, placeOf } from "../core/pages.js";
import { load } from "../core/payloads.js";
import { isModels, isOptimizers, partsBelow, rootOf } from "./few.js";
import { shortFunction } from "./functions.js";
import { isMerged, outerLevels, phaseOf, plainPaths } from "../names/op_names.js";

/** How well a value answers, best first: the same, begins with it, a word in it does, contains it. */
export const RANKS = 4;
/** Scopes that are offered where none has the name that was typed. */
const LIKE = 2;
/** JAX's primitives by the opcode that they become; others have its name with underscores. @type {Record<string, string[]>} */
const PRIMITIVES = {
  "all-reduce": ["psum", "pmax", "pmin"],
  "collective-permute": ["ppermute", "pshuffle"],
  "reduce-scatter": ["psum_scatter"],
  dot: ["dot_general"],
};
const NAMED = new Set(["instruction", "computation"]);
/** Kinds of which earlier snapshots alone may have a name. */
const PASSING = new Set([...NAMED, "function"]);

/** @typedef {{slug: string, name: string, key: string, role: string, order: number, read: boolean, changed: boolean}} Module */
/** @typedef {{text: string, note: string, href: string}} Hit */
/** @typedef {Hit & {between: boolean}} TextHit `between` if neither the first snapshot nor the last has it */
/** @typedef {{rank: number, gone?: boolean, part?: boolean, root?: boolean, op?: boolean, models?: boolean, optimizers?: boolean, size?: number, hit: () => Hit}} Found `gone` if the last snapshot lacks the name, or it is several in one; `part` if it is an argument of which a part is what was typed, `root` if its root is; `op` if it is an op_name that ends with it; `models` and `optimizers` if it is an argument of either; it has `size` letters */

/**
 * @param {string} value in lower case
 * @param {string} query in lower case
 * @returns {number} the rank, or -1
 */
function rank(value, query) {
  let at = value.indexOf(query);
  if (at < 0) return -1;
  if (at === 0) return value.length === query.length ? 0 : 1;
  for (; at > 0; at = value.indexOf(query, at + 1)) {
    if (!/[a-z0-9]/.test(value[at - 1])) return 2;
  }
  return 3;
}

/** An argument of which a variable of the program is the root: `p['w']` may be a part of `state['p']['w']`. */
const OF_VARIABLE = /^([a-z_]\w*)(\[['"].*)$/;

/** @param {string} query @returns {(value: string) => number} ranks values in lower case */
export function ranker(query) {
  const parts = query.split(/\s+/);
  const [, variable, path] = OF_VARIABLE.exec(query) ?? [];
  if (variable) {
    const inside = `['${variable}']${path.replaceAll('"', "'")}`;
    return (value) => {
      const whole = rank(value, query);
      return whole < 0 && value.includes(inside) ? RANKS - 1 : whole;
    };
  }
  if (parts.length === 1) return (value) => rank(value, query);
  return (value) => {
    const whole = rank(value, query);
    return whole < 0 && parts.every((part) => value.includes(part)) ? RANKS - 1 : whole;
  };
}

/** @param {import("../../types/payloads").SearchKind} packed */
function unpacked({ values, stems = [], counts = [], numbers = [] }) {
  if (values) return values;
  const names = [];
  for (const [place, stem] of stems.entries()) {
    let number = -2;
    for (let left = counts[place]; left > 0; left -= 1) {
      number += numbers[names.length];
      names.push(number < 0 ? stem : `${stem}.${number}`);
    }
  }
  return names;
}

/** What one module can be searched for. */
export class ModuleIndex {
  /**
   * @param {Module} module
   * @param {import("../../types/payloads").ModuleSearch} value the payload
   * @param {boolean} several whether the report has other modules
   */
  constructor(module, value, several) {
    this.module = module;
    this.where = several ? `, in ${module.name}` : "";
    this.value = value;
    this.last = value.stages.length - 1;
    /** @type {Map<string, {values: string[], lower: string[]}>} */
    this.kinds = new Map();
    for (const [kind, packed] of Object.entries(value.kinds)) {
      const values = unpacked(packed);
      this.kinds.set(kind, { values, lower: values.map((name) => name.toLowerCase()) });
    }
    /** @type {string[][] | undefined} */
    this.knownPlain = undefined;
    this.labels = value.stages.map(([key, label]) => `${key} ${label}`.toLowerCase());
  }

  /** @param {string} kind @param {number} place */
  span(kind, place) {
    return this.value.spans[this.value.kinds[kind].spans[place]];
  }

  /** @param {string} kind @param {number} place @returns {Hit} */
  hit(kind, place) {
    const text = /** @type {{values: string[]}} */ (this.kinds.get(kind)).values[place];
    const [first, last] = this.span(kind, place);
    const opcode = kind === "instruction" ? `${this.opcode(place)}, ` : "";
    const phase = kind === "op_name" ? phaseOf(text) : "";
    const forms = kind === "opcode" ? this.forms(text).map((form) => `${form}, `) : [];
    const lines = this.value.kinds[kind].lines?.[place] ?? 0;
    const counted = lines ? `${format.plural(lines, "source line")}, ` : "";
    return {
      text: NAMED.has(kind) ? `%${text}` : text,
      note: `${opcode}${phase && `${phase}, `}${forms.join("")}${counted}${this.lifetime(first, last)}${this.where}`,
      href: lines ? listedLines(this.module.slug, shortFunction(text)) : this.address(kind, text, first, last),
    };
  }

  /** @param {string} operation @returns {string[]} the opcodes of other names that are forms of it */
  forms(operation) {
    return Object.hasOwn(this.value.forms, operation) ? this.value.forms[operation] : [];
  }

  /** @param {number} first @param {number} last the numbers of snapshots */
  lifetime(first, last) {
    const label = (/** @type {number} */ place) => this.value.stages[place][2];
    if (first === 0 && last === this.last) return "from the first snapshot to the last";
    if (last === this.last) return `since ${label(first)}`;
    if (first === last) return `only in ${label(first)}`;
    return first === 0 ? `last in ${label(last)}` : `${label(first)} to ${label(last)}`;
  }

  /** @param {string} kind @param {string} text @param {number} first @param {number} last the numbers of snapshots */
  address(kind, text, first, last) {
    const [stage, , , hasText] = this.value.stages[last];
    const slug = this.module.slug;
    const isFinal = last === this.last;
    if (kind === "instruction" && this.module.changed) return modulePage(slug, "", placeOf({ i: text }));
    if (kind === "instruction" && isFinal) return modulePage(slug, "", placeOf({ node: text }));
    // histories are of op_names of the first snapshot and of the last
    const isHistoric = this.module.changed && (first === 0 || isFinal);
    if (kind === "op_name" && isHistoric) return modulePage(slug, "", placeOf({ op: text }));
    if (isFinal && (kind === "opcode" || kind === "source")) {
      const shown = kind === "source" ? text.replace(/^.*[\\/]/, "") : text;
      return listedInstructions(slug, shown);
    }
    if (!hasText) return modulePage(slug, "steps", placeOf({ step: stage }));
    if (NAMED.has(kind)) return modulePage(slug, "texts", placeOf({ text: stage, name: text }));
    const wanted = kind === "opcode" && !this.forms(text).length ? `${text}(` : text;
    return modulePage(slug, "texts", placeOf(kind === "source" ? { text: stage } : { text: stage, find: wanted }));
  }

  /** @param {string} name of an instruction @returns {TextHit | null} where the text of the last snapshot that has it is, if there is one */
  textOf(name) {
    const place = this.kinds.get("instruction")?.values.indexOf(name) ?? -1;
    if (place < 0) return null;
    const [first, last] = this.span("instruction", place);
    const [stage, , , hasText] = this.value.stages[last];
    if (!hasText) return null;
    const href = modulePage(this.module.slug, "texts", placeOf({ text: stage, name }));
    return { text: `%${name}`, note: this.lifetime(first, last), href, between: first > 0 && last < this.last };
  }

  /** @param {string} kind @param {(value: string) => number} ranked @returns {Generator<Found>} */
  *find(kind, ranked) {
    const lower = this.kinds.get(kind)?.lower ?? [];
    for (let place = 0; place < lower.length; place += 1) {
      const plain = ranked(kind === "function" ? shortFunction(lower[place]) : lower[place]);
      const score = plain < 0 ? this.rankOther(kind, place, ranked) : plain;
      const merged = kind === "op_name" && score > 0 && isMerged(lower[place]);
      const op = kind === "op_name" && !merged && ranked(lower[place].split("/").at(-1) ?? "") === 0;
      const gone = merged || ((op || PASSING.has(kind)) && this.span(kind, place)?.[1] !== this.last);
      const size = lower[place].length;
      const whose = kind === "op_name" && { models: isModels(lower[place]), optimizers: isOptimizers(lower[place]) };
      const parts = kind === "op_name" ? partsBelow(lower[place]) : [];
      const at = parts.findIndex((name) => ranked(name) === 0);
      const root = kind === "op_name" && ranked(rootOf(lower[place])) === 0;
      // several together are never what was meant by a part of them
      if (score >= 0) {
        const late = merged || (score === 1 && kind === "instruction" && this.opcode(place) === "parameter");
        const quality = at >= 0 ? Math.min(at, 1) : late ? RANKS - 1 : score;
        yield { rank: quality, gone, part: at >= 0, root, op, ...whose, size, hit: () => this.hit(kind, place) };
      }
    }
  }

  /** @param {number} place of an instruction @returns {string} */
  opcode(place) {
    return this.value.codes[this.value.kinds.instruction.codes?.[place] ?? -1];
  }

  /** @returns {string[][]} the forms of op_names without transformations, in lower case */
  plain() {
    this.knownPlain ??= (this.kinds.get("op_name")?.lower ?? []).map(plainPaths);
    return this.knownPlain;
  }

  /**
   * @param {string} kind
   * @param {number} place
   * @param {(value: string) => number} ranked
   * @returns {number} the rank of another name of a value, never as the same; -1 for none
   */
  rankOther(kind, place, ranked) {
    if (kind === "op_name") return this.rankPlain(place, ranked);
    if (kind === "function") return ranked(this.kinds.get(kind)?.lower[place] ?? "");
    const opcode = kind === "opcode" ? (this.kinds.get(kind)?.lower[place] ?? "") : "";
    if (!opcode) return -1;
    const primitives = Object.hasOwn(PRIMITIVES, opcode) ? PRIMITIVES[opcode] : [];
    const ranks = [opcode.replaceAll("-", "_"), ...primitives].map(ranked).filter((quality) => quality >= 0);
    return ranks.length ? Math.max(1, Math.min(...ranks)) : -1;
  }

  /**
   * @param {number} place of an op_name
   * @param {(value: string) => number} ranked
   * @returns {number} the rank of what it is without transformations, never as the same; -1 for none
   */
  rankPlain(place, ranked) {
    const forms = this.plain()[place];
    const ranks = forms.map(ranked).filter((quality) => quality >= 0);
    return ranks.length ? Math.max(1, Math.min(...ranks)) : -1;
  }

  /**
   * @param {string} scope in lower case: `layer_3/mlp`
   * @returns {number[]} the places of the op_names below it
   */
  below(scope) {
    const lower = this.kinds.get("op_name")?.lower ?? [];
    const inside = `/${scope.replace(/\/$/, "")}/`;
    const isBelow = (/** @type {string} */ name) => `/${name}`.includes(inside);
    return [...lower.keys()].filter((place) => [lower[place], ...this.plain()[place]].some(isBelow));
  }

  /** @param {string} scope in lower case @returns {number[]} the op_names below it that the last snapshot has */
  finalBelow(scope) {
    return this.below(scope).filter((place) => this.span("op_name", place)[1] === this.last);
  }

  /**
   * @param {string} word in lower case
   * @returns {string[]} the scopes of the last snapshot with the word in their names: `lm_loss` of `loss`, else
   * `layernorm` of `norm`; those of most op_names first
   */
  scopesWith(word) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    /** @type {Set<string>} */
    const whole = new Set();
    const lower = this.kinds.get("op_name")?.lower ?? [];
    for (const [place, name] of lower.entries()) {
      if (!name.includes(word) || this.span("op_name", place)[1] !== this.last) continue;
      const levels = (this.plain()[place][0] ?? name).split("/").slice(0, -1);
      for (const level of new Set(levels)) {
        if (level.split(/[\W_]+/).includes(word)) whole.add(level);
        if (level.includes(word)) counts.set(level, (counts.get(level) ?? 0) + 1);
      }
    }
    const all = [...counts].filter(([level]) => !whole.size || whole.has(level));
    const most = all.sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1));
    return most.slice(0, LIKE).map(([level]) => level);
  }

  /**
   * @param {string} scope in lower case
   * @returns {Generator<Found>} its time and its instructions, where the last snapshot has it; else those of scopes with
   * the word in their names
   */
  *scope(scope) {
    const final = this.finalBelow(scope);
    if (final.length) yield* this.scopeHits(scope, final, 0);
    else for (const level of this.scopesWith(scope)) yield* this.scopeHits(level, this.finalBelow(level), 1);
  }

  /**
   * @param {string} scope in lower case
   * @param {number[]} final the op_names below it
   * @param {number} quality the rank
   * @returns {Generator<Found>}
   */
  *scopeHits(scope, final, quality) {
    const values = this.kinds.get("op_name")?.values ?? [];
    const text = written(values[final[0]], scope.replace(/\/$/, ""));
    const words = text.split("/");
    const isListed = final.some((place) => words.every((word) => outerLevels(values[place]).includes(word)));
    const count = format.plural(final.length, "op_name");
    const { slug } = this.module;
    const time = { text, note: `${count}: time${this.where}`, href: listedScopes(slug, words.join(" ")) };
    const all = { text, note: `${count}: instructions${this.where}`, href: listedInstructions(slug, words.join(" ")) };
    for (const hit of isListed ? [time, all] : [all]) yield { rank: quality, hit: () => hit };
  }

  /** @param {(value: string) => number} ranked @returns {Generator<Found>} */
  *stages(ranked) {
    for (const [place, label] of this.labels.entries()) {
      const quality = ranked(label);
      if (quality >= 0) yield { rank: Math.max(1, quality), hit: () => this.stage(place, "a snapshot") };
    }
  }

  /** @param {number} place of a snapshot @param {string} note @returns {Hit} */
  stage(place, note) {
    const [key, label] = this.value.stages[place];
    return {
      text: label,
      note: `${note}${this.where}`,
      href: modulePage(this.module.slug, "steps", placeOf({ step: key })),
    };
  }

  /** @param {string} opcode or an operation @returns {Hit[]} the steps that touched it, in any form but its end */
  touchedOpcode(opcode) {
    const started = this.forms(opcode).filter((form) => form === `${opcode}-start`);
    return this.value.steps.flatMap(([place, touched]) => {
      const [added, removed, changed] = sum(
        [opcode, ...started].filter((form) => Object.hasOwn(touched, form)).map((form) => touched[form]),
      );
      const changes = [
        added && `${format.count(added)} added`,
        removed && `${format.count(removed)} removed`,
        changed && `${format.count(changed)} changed`,
      ];
      return added || removed || changed ? [this.stage(place, changes.filter(Boolean).join(", "))] : [];
    });
  }

  /** @param {string} name of an instruction, in lower case @returns {Hit[]} the steps that touched it */
  touchedName(name) {
    const place = this.kinds.get("instruction")?.lower.indexOf(name) ?? -1;
    if (place < 0) return [];
    return this.value.steps.flatMap(([step, , ...lists]) => {
      const changes = ["added", "removed", "changed"].filter((_, which) => holds(lists[which], place));
      return changes.length ? [this.stage(step, `%${name} ${changes.join(", ")}`)] : [];
    });
  }
}

/** @param {string} opName @param {string} scope in lower case @returns {string} the scope as the op_name has it */
function written(opName, scope) {
  const form =
    [opName, ...plainPaths(opName)].find((name) => `/${name.toLowerCase()}/`.includes(`/${scope}/`)) ?? scope;
  const at = `/${form.toLowerCase()}/`.indexOf(`/${scope}/`);
  return form.slice(at, at + scope.length);
}

/** @param {number[][]} counts of three each */
const sum = (counts) => [0, 1, 2].map((what) => counts.reduce((total, count) => total + count[what], 0));

/** @param {number[]} distances @param {number} wanted */
function holds(distances, wanted) {
  let at = 0;
  for (const distance of distances) if ((at += distance) >= wanted) return at === wanted;
  return false;
}

/** @param {Module} module @returns {boolean} whether this page is one of it */
export const isHere = ({ slug }) => `${location.pathname}.`.includes(`/m/${encodeURIComponent(slug)}.`);

/** @param {Module} module @param {boolean} several @returns {Promise<ModuleIndex>} */
export const loadModuleIndex = async (module, several) =>
  new ModuleIndex(
    module,
    await /** @type {Promise<Payload<"m/x/search">>} */ (load(`m/${module.slug}/search`)),
    several,
  );
