/**
 * The pass gallery: every step on the left, the story of one on the right. `#step=0017` is its
 * address; j and k go to the next and the previous step that changed something.
 */

import { insideReport, state } from "../core/address.js";
import { element, errorMessage, failure } from "../core/elements.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { bindKey } from "../keys.js";
import { plainSentence, sentence } from "../names/sentences.js";
import { readDiff } from "./diff.js";
import { drawStory } from "./story.js";

/** @typedef {import("../../types/payloads").Step} Step */
/** @typedef {import("../../types/payloads").PipelineRange} Range */
/** @typedef {import("../../types/payloads").StepList} Index */
/** @typedef {{range: Range | null, depth: number, again: boolean, steps: Step[]}} Section */

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
  const round = range.round && range.round > 1 ? `, round ${range.round}` : "";
  const inside = steps.every(({ after, before }) => (after === null) !== (before === null));
  return element(
    "h2.xr-pipeline",
    { style: `--xr-depth: ${Math.min(depth, 4)}` },
    range.pipeline,
    (round || again || inside) &&
      element("span.xr-muted", null, round, inside ? ", at work inside the pass" : "", again ? ", continued" : ""),
  );
}

/**
 * Returns what to call a step where its pipeline and its number stand beside it.
 * @param {Step} step
 */
function name(step) {
  const start = `${step.id} `;
  const label = step.label.startsWith(start) ? step.label.slice(start.length) : step.label;
  const pipeline = `${step.pipeline}: `;
  return label.startsWith(pipeline) ? label.slice(pipeline.length) : label;
}

/**
 * Returns what a step is called in the list, below the name of its pipeline.
 * @param {Step} step
 */
function brief(step) {
  return step.after === "pipeline-start" ? "pipeline start" : (step.after ?? name(step));
}

/**
 * Tells whether this is the snapshot with which all began, to which no step leads.
 * @param {Step} step
 * @param {Index} index
 */
const isFirst = (step, index) => step === index.steps[0] && step.changed === null;

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

/** The page of a module's steps. */
class Gallery {
  /**
   * @param {HTMLElement} host
   * @param {Index} index
   * @param {Record<string, string>} passes what each of them does
   */
  constructor(host, index, passes) {
    this.index = index;
    this.passes = passes;
    /** @type {Map<string, HTMLElement>} */
    this.items = new Map();
    /** @type {string | null} the step in the address, where there is none of that name */
    this.missing = null;
    this.list = element("nav.xr-steps-list", { "aria-label": "Steps" }, ...this.listParts());
    this.panel = element("section.xr-step", { "aria-label": "The step" });
    this.status = element("p.xr-hidden", { role: "status" });
    host.classList.add("xr-steps");
    host.replaceChildren(this.list, this.panel, this.status);
    window.addEventListener("hashchange", () => this.show(this.wanted()));
    bindKey("j", "Next step with changes", () => this.go(1));
    bindKey("k", "Previous step with changes", () => this.go(-1));
    this.current = -1;
    this.show(this.wanted());
  }

  /**
   * Returns the step in the address, or the first that changed something; says so where the
   * address names a step that there is not.
   * @returns {number}
   */
  wanted() {
    const asked = state.get("step");
    const named = this.index.steps.findIndex((step) => step.id === asked);
    this.missing = asked && named < 0 ? asked : null;
    if (named >= 0) return named;
    return Math.max(
      0,
      this.index.steps.findIndex((step) => step.changed),
    );
  }

  *listParts() {
    const known = this.index.steps.filter((step) => step.changed !== null);
    const changed = known.filter((step) => step.changed).length;
    const words = `${format.count(changed)} of ${format.plural(known.length, "step")} changed the module.`;
    yield element("p.xr-list-head", null, this.index.counted ?? words);
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
      element("span.xr-item-label", this.meaning(step.after), brief(step)),
      isFirst(step, this.index) ? element("span.xr-muted", null, "start") : figures(step),
    );
    item.addEventListener("click", (event) => {
      event.preventDefault();
      this.show(this.index.steps.indexOf(step));
      if (getComputedStyle(this.panel.parentElement ?? this.panel).display === "block") this.panel.scrollIntoView();
    });
    this.items.set(step.id, item);
    return item;
  }

  /** @param {1 | -1} direction */
  neighbor(direction) {
    const { steps } = this.index;
    let place = this.current + direction;
    const skipped = (/** @type {Step} */ step) => step.changed === false || isFirst(step, this.index);
    while (place >= 0 && place < steps.length && skipped(steps[place])) place += direction;
    return place >= 0 && place < steps.length ? place : null;
  }

  /** @param {1 | -1} direction */
  go(direction) {
    const place = this.neighbor(direction);
    if (place !== null) this.show(place);
  }

  /** @param {number} place */
  show(place) {
    if ((place === this.current && !this.missing) || !this.index.steps.length) return;
    this.current = place;
    const step = this.index.steps[place];
    state.set({ step: step.id });
    this.mark(step);
    const body = element("div.xr-step-body");
    this.panel.replaceChildren(this.head(step), body);
    this.status.textContent = `${step.label}: ${plainSentence(step.headline)}`;
    if (this.panel.getBoundingClientRect().top < 0) this.panel.scrollIntoView();
    this.missing = null;
    this.tell(step, body);
  }

  /** @param {Step} step */
  mark(step) {
    for (const current of this.list.querySelectorAll("[aria-current]")) current.removeAttribute("aria-current");
    const item = this.items.get(step.id);
    if (!item) return;
    item.setAttribute("aria-current", "true");
    const fold = item.closest("details");
    if (fold) fold.open = true;
    const [around, place] = [this.list.getBoundingClientRect(), item.getBoundingClientRect()];
    if (place.top < around.top || place.bottom > around.bottom) {
      this.list.scrollTop += place.top - around.top - around.height / 3;
    }
  }

  /** @param {Step} step */
  head(step) {
    const move = (/** @type {1 | -1} */ direction, /** @type {string} */ words, /** @type {string} */ key) =>
      element(
        "button.xr-button",
        {
          type: "button",
          disabled: this.neighbor(direction) === null,
          title: `${words} step with changes (${key})`,
          onclick: () => this.go(direction),
        },
        words,
        " ",
        element("kbd", null, key),
      );
    const number = this.index.steps.slice(0, this.current + 1).filter((earlier) => earlier.changed).length;
    const total = this.index.steps.filter((earlier) => earlier.changed).length;
    const counted = step.changed ? `${format.count(number)} of ${format.count(total)} with changes` : "";
    return element(
      "header.xr-step-head",
      null,
      this.missing &&
        element(
          "p.xr-warning",
          { role: "alert" },
          `No step ${this.missing} in this module; showing the first step with changes.`,
        ),
      element(
        "div.xr-step-moves",
        null,
        move(-1, "Previous", "k"),
        move(1, "Next", "j"),
        element("span.xr-muted", null, counted),
      ),
      !this.index.counted &&
        element(
          "p.xr-kicker",
          null,
          step.pipeline ? element("span", this.meaning(step.pipeline), step.pipeline) : "",
          step.pipeline ? " \u203a " : "",
          step.id,
        ),
      element("h2", null, name(step)),
      element("p.xr-headline", null, ...sentence(step.headline)),
      this.about(step),
      this.facts(step),
      this.files(step),
    );
  }

  /** @param {string | null} pass */
  meaning(pass) {
    return pass ? { "data-word": `pass:${pass}` } : null;
  }

  /**
   * Says what the pass that ran last does.
   * @param {Step} step
   */
  about(step) {
    if (!step.after || !Object.hasOwn(this.passes, step.after)) return null;
    const anchor = `glossary.html#pass-${step.after.replace(/[^a-zA-Z0-9_-]/g, "-")}`;
    return element(
      "p.xr-about",
      null,
      element("a", { href: insideReport(anchor) }, step.after),
      ` \u2014 ${this.passes[step.after]}`,
    );
  }

  /** @param {Step} step */
  facts(step) {
    const known = (/** @type {number | null} */ number) => (number === null ? format.unknown : format.count(number));
    const signed = (/** @type {string} */ sign, /** @type {number | null} */ number) =>
      number === null ? format.unknown : `${number ? sign : ""}${format.count(number)}`;
    const facts = /** @type {[string, string, string][]} */ ([
      ["instructions", known(step.instructions), ""],
      ["computations", known(step.computations), ""],
      ["added", signed("+", step.added), "xr-added"],
      ["removed", signed("\u2212", step.removed), "xr-removed"],
      ["changed", signed("~", step.modified), "xr-changed"],
    ]);
    return element(
      "dl.xr-step-facts",
      null,
      ...facts.map(([what, value, look]) =>
        element("div", null, element("dt", null, what), element(look ? `dd.${look}` : "dd", null, value)),
      ),
    );
  }

  /** @param {Step} step */
  files(step) {
    if (!step.files.length) return null;
    const files = step.files.map((file) => element("li", null, element("code", null, file)));
    return element(
      "details.xr-files",
      null,
      element("summary", null, format.plural(step.files.length, "file")),
      element("ul", null, ...files),
    );
  }

  /**
   * @param {Step} step
   * @param {HTMLElement} body
   */
  async tell(step, body) {
    if (!step.changed) {
      body.append(element("p.xr-empty", null, this.whyEmpty(step)));
      return;
    }
    body.dataset.atBefore = this.index.steps[this.index.steps.indexOf(step) - 1]?.id ?? "";
    body.dataset.atAfter = step.id;
    body.dataset.textBefore = this.text(this.index.steps[this.index.steps.indexOf(step) - 1]);
    body.dataset.textAfter = this.text(step);
    try {
      body.append(drawStory(await this.load(step)));
      this.fetchNext();
    } catch (error) {
      body.append(failure(`This step cannot be shown. ${errorMessage(error)}`));
    }
  }

  /**
   * @param {Step | undefined} step
   * @returns {string} the address of the text behind it, empty where it has none
   */
  text(step) {
    if (!step?.files.some((file) => file.endsWith(".txt"))) return "";
    return `${this.index.slug}.html?texts#text=${encodeURIComponent(step.id)}`;
  }

  /** @param {Step} step */
  whyEmpty(step) {
    if (isFirst(step, this.index)) {
      return "before_optimizations: the module as it was given to XLA. Press j for the first step with changes.";
    }
    if (step.changed === null) {
      return "Not known: one of the two snapshots could not be read.";
    }
    return "No changes in this step. Press j for the next step with changes.";
  }

  /** @param {Step} step */
  load(step) {
    return /** @type {Promise<Payload<"m/x/step-0">>} */ (load(`m/${this.index.slug}/step-${step.id}`));
  }

  /** Loads the next step ahead, so that it is there when its key is pressed. */
  fetchNext() {
    const place = this.neighbor(1);
    if (place === null || !this.index.steps[place].changed) return;
    this.load(this.index.steps[place])
      .then((story) => readDiff(story.diff))
      .catch(() => {});
  }
}

/**
 * Draws the steps of a module.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export async function drawSteps(host, key) {
  host.setAttribute("aria-busy", "true");
  const [index, { words }] = await Promise.all([
    /** @type {Promise<Payload<"m/x/steps">>} */ (load(key)),
    load("words"),
  ]);
  new Gallery(host, index, words.pass);
  host.removeAttribute("aria-busy");
}
