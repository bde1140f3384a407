/**
 * The list of a module's steps: in the order of the pipelines, or those first that did most to the
 * program. Chips say what a step did; `#by=effect&only=fusions` is in the address.
 */

import { state } from "../core/address.js";
import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { plainSentence } from "../names/sentences.js";

/** @typedef {import("../../types/payloads").Step} Step */
/** @typedef {import("../../types/payloads").PipelineRange} Range */
/** @typedef {import("../../types/payloads").StepList} Index */
/** @typedef {{range: Range | null, depth: number, again: boolean, steps: Step[]}} Section */

const CHIPS = /** @type {Record<string, string>} */ ({
  collectives: "Collectives",
  fusions: "Fusions",
  bytes: "Bytes accessed",
  precision: "Precision",
  layout: "Layout",
  order: "Schedule order",
});

/**
 * Cuts the steps where one pipeline ends or another begins.
 * @param {Index} index
 * @returns {Section[]}
 */
function sections({ steps, tree }) {
  const all = /** @type {Section[]} */ ([]);
  const seen = new Set();
  for (const [place, step] of steps.entries()) {
    const around = tree.filter(({ first, last }) => first <= place && place <= last);
    around.sort((left, right) => right.last - right.first - (left.last - left.first));
    const range = around.at(-1) ?? null;
    const last = all.at(-1);
    if (last && last.range === range) last.steps.push(step);
    else all.push({ range, depth: Math.max(0, around.length - 1), again: seen.has(range), steps: [step] });
    seen.add(range);
  }
  return all;
}

/** @param {Section} section */
function heading({ range, depth, again, steps }) {
  if (!range) return null;
  const run = range.run && range.run > 1 ? `, run ${range.run}` : "";
  const inside = steps.every(({ after, before }) => (after === null) !== (before === null));
  return element(
    "h2.xr-pipeline",
    { style: `--xr-depth: ${Math.min(depth, 4)}` },
    range.pipeline,
    (run || again || inside) &&
      element("span.xr-muted", null, run, inside ? ", inside the pass" : "", again ? ", continued" : ""),
  );
}

/**
 * Returns what a step is called in the list, below the name of its pipeline.
 * @param {Step} step
 */
function brief(step) {
  if (step.partitioner) return "SPMD partitioner";
  return step.after === "pipeline-start" ? "pipeline start" : (step.after ?? step.name);
}

/** @param {Step} step */
function word(step) {
  const pass = step.partitioner ?? step.after;
  return pass ? { "data-word": `pass:${pass}` } : null;
}

/** @param {Step} step */
function figures(step) {
  if (step.changed === null) return element("span.xr-muted", null, "not known");
  const parts = /** @type {[string, string, number | null][]} */ ([
    ["xr-added", "+", step.added],
    ["xr-removed", "\u2212", step.removed],
    ["xr-changed", "~", step.modified],
  ]);
  const shown = parts.filter(([, , number]) => number);
  return element(
    "span.xr-delta",
    null,
    ...shown.map(([look, sign, number]) => element(`span.${look}`, null, `${sign}${format.count(number ?? 0)}`)),
  );
}

/**
 * Tells whether this is the snapshot with which all began, to which no step leads.
 * @param {Step} step
 * @param {Index} index
 */
export const isFirst = (step, index) => step === index.steps[0] && step.changed === null;

/**
 * Returns what a step did to the program, a chip each.
 * @param {Step} step
 */
export function chipParts({ chips }) {
  if (!chips?.length) return null;
  return element(
    "span.xr-effects",
    null,
    ...chips.map(([kind, words]) => element(`span.xr-effect.xr-${kind}`, null, words)),
  );
}

/** The list. */
export class StepsList {
  /**
   * @param {Index} index
   * @param {(step: Step) => void} open shows a step
   */
  constructor(index, open) {
    this.index = index;
    this.open = open;
    /** @type {Map<string, HTMLElement>} */
    this.items = new Map();
    this.by = state.get("by") === "effect" ? "effect" : "";
    this.only = state.get("only") ?? "";
    this.body = element("div");
    this.root = element("nav.xr-steps-list", { "aria-label": "Steps" }, ...this.head(), this.body);
    this.draw();
  }

  *head() {
    const compared = this.index.steps.filter((step) => step.changed !== null);
    const changed = compared.filter((step) => step.changed).length;
    const words = `${format.count(changed)} of ${format.plural(compared.length, "step")} changed the module.`;
    yield element("p.xr-list-head", null, this.index.counted ?? words);
    const ranked = compared.filter((step) => step.weight !== undefined).length;
    if (ranked > 1) yield this.choices();
  }

  /** How the list is ordered, and which steps it has. */
  choices() {
    const kinds = Object.keys(CHIPS).filter((kind) => this.index.steps.some((step) => has(step, kind)));
    const by = [
      ["", "In order of execution"],
      ["effect", "By effect on the program"],
    ];
    const only = [["", "All changes"], ...kinds.map((kind) => [kind, CHIPS[kind]])];
    return element(
      "div.xr-steps-choices",
      null,
      this.choice("Order of steps", by, this.by, (value) => (this.by = value)),
      kinds.length > 1 && this.choice("Steps shown", only, this.only, (value) => (this.only = value)),
    );
  }

  /**
   * @param {string} label
   * @param {string[][]} options
   * @param {string} chosen
   * @param {(value: string) => void} choose
   */
  choice(label, options, chosen, choose) {
    const select = element(
      "select.xr-choice",
      { "aria-label": label },
      ...options.map(([value, words]) => element("option", { value, selected: value === chosen }, words)),
    );
    select.addEventListener("change", () => {
      choose(select.value);
      state.set({ by: this.by, only: this.only });
      this.draw();
    });
    return select;
  }

  draw() {
    this.items.clear();
    this.body.replaceChildren(...(this.by || this.only ? this.rankedParts() : this.listParts()));
    if (this.current) this.mark(this.current);
  }

  /** @returns {HTMLElement[]} the steps that are asked for, the first those that did most */
  rankedParts() {
    const shown = this.index.steps.filter((step) => step.changed && (!this.only || has(step, this.only)));
    if (this.by) shown.sort((left, right) => (right.weight ?? 0) - (left.weight ?? 0));
    return shown.map((step) => this.item(step));
  }

  *listParts() {
    if (this.index.hidden_note) yield element("p.xr-muted", null, this.index.hidden_note);
    let quiet = /** @type {Section[]} */ ([]);
    for (const section of sections(this.index)) {
      if (section.steps.some((step) => step.changed !== false)) {
        if (quiet.length) yield this.fold(quiet);
        quiet = [];
        yield* this.sectionParts(section);
      } else quiet.push(section);
    }
    if (quiet.length) yield this.fold(quiet);
  }

  /** @param {Section} section */
  *sectionParts(section) {
    const head = heading(section);
    if (head) yield head;
    let quiet = /** @type {Step[]} */ ([]);
    for (const step of section.steps) {
      if (step.changed === false) {
        quiet.push(step);
        continue;
      }
      if (quiet.length) yield this.fold([{ ...section, range: null, steps: quiet }]);
      quiet = [];
      yield this.item(step);
    }
    if (quiet.length) yield this.fold([{ ...section, range: null, steps: quiet }]);
  }

  /**
   * Folds steps that changed nothing into one line that opens.
   * @param {Section[]} quiet
   */
  fold(quiet) {
    const number = quiet.reduce((sum, section) => sum + section.steps.length, 0);
    const parts = quiet.flatMap((section) => [heading(section), ...section.steps.map((step) => this.item(step))]);
    const words = `${format.plural(number, "step")} without change`;
    return element("details.xr-fold", null, element("summary", null, words), ...parts);
  }

  /** @param {Step} step */
  item(step) {
    const look = step.changed === false ? "a.xr-item.xr-unchanged" : "a.xr-item";
    const item = element(
      look,
      { href: `#step=${encodeURIComponent(step.id)}`, title: `${step.label}. ${plainSentence(step.headline)}` },
      element("span.xr-item-label", word(step), brief(step)),
      isFirst(step, this.index) ? element("span.xr-muted", null, "start") : figures(step),
      chipParts(step),
    );
    item.addEventListener("click", (event) => {
      event.preventDefault();
      this.open(step);
    });
    this.items.set(step.id, item);
    return item;
  }

  /** @param {Step} step */
  mark(step) {
    this.current = step;
    for (const current of this.root.querySelectorAll("[aria-current]")) current.removeAttribute("aria-current");
    const item = this.items.get(step.id);
    if (!item) return;
    item.setAttribute("aria-current", "true");
    const fold = item.closest("details");
    if (fold) fold.open = true;
    const [around, place] = [this.root.getBoundingClientRect(), item.getBoundingClientRect()];
    if (place.top < around.top || place.bottom > around.bottom) {
      this.root.scrollTop += place.top - around.top - around.height / 3;
    }
  }
}

/** @param {Step} step @param {string} kind */
const has = ({ chips = [] }, kind) => chips.some(([other]) => other === kind);
