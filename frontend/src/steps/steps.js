/**
 * The pass gallery: every step on the left, the story of one on the right. `#step=0017` is its
 * address; j and k go to the next and the previous step that changed something.
 */

import { insideReport, state } from "../core/address.js";
import { element, errorMessage, failure } from "../core/elements.js";
import { format } from "../core/format.js";
import { glossaryEntry, modulePageBeside, placeOf } from "../core/pages.js";
import { load } from "../core/payloads.js";
import { bindKey } from "../keys.js";
import { plainSentence, sentence } from "../names/sentences.js";
import { readDiff } from "./diff.js";
import { StepsList, chipParts, isFirst } from "./list.js";
import { drawStory } from "./story.js";

/** @typedef {import("../../types/payloads").Step} Step */
/** @typedef {import("../../types/payloads").StepList} Index */

/** Milliseconds after which the next step is loaded. */
const AHEAD = 200;

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
    /** @type {string | null} the step in the address, where there is none of that name */
    this.missing = null;
    this.list = new StepsList(index, (step) => this.open(step));
    this.panel = element("section.xr-step", { "aria-label": "The step" });
    this.status = element("p.xr-hidden", { role: "status" });
    host.classList.add("xr-steps");
    host.replaceChildren(this.list.root, this.panel, this.status);
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

  /** @param {Step} step that the reader chose in the list */
  open(step) {
    this.show(this.index.steps.indexOf(step));
    if (getComputedStyle(this.panel.parentElement ?? this.panel).display === "block") this.panel.scrollIntoView();
  }

  /** @param {number} place */
  show(place) {
    if ((place === this.current && !this.missing) || !this.index.steps.length) return;
    this.current = place;
    const step = this.index.steps[place];
    state.set({ step: step.id });
    this.list.mark(step);
    const body = element("div.xr-step-body");
    const isAbove = this.panel.getBoundingClientRect().top < 0; // while nothing is there that has no layout yet
    this.panel.replaceChildren(this.head(step), body);
    this.status.textContent = `${step.label}: ${plainSentence(step.headline)}`;
    if (isAbove) this.panel.scrollIntoView();
    this.missing = null;
    this.tell(step, body);
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
      element("h2", null, step.name),
      element("p.xr-headline", null, ...sentence(step.headline)),
      this.about(step),
      chipParts(step),
      this.facts(step),
      this.files(step),
    );
  }

  /** @param {string | null} pass */
  meaning(pass) {
    return pass ? { "data-word": `pass:${pass}` } : null;
  }

  /**
   * Says what the pass does that ran last, or the SPMD partitioner where it ran before that.
   * @param {Step} step
   */
  about(step) {
    const pass = step.partitioner ?? step.after;
    if (!pass || !Object.hasOwn(this.passes, pass)) return null;
    return element(
      "p.xr-about",
      null,
      element("a", { href: insideReport(glossaryEntry("pass", pass)) }, pass),
      ` \u2014 ${this.passes[pass]}`,
    );
  }

  /** @param {Step} step */
  facts(step) {
    const written = (/** @type {number | null} */ number) => (number === null ? format.unknown : format.count(number));
    const signed = (/** @type {string} */ sign, /** @type {number | null} */ number) =>
      number === null ? format.unknown : `${number ? sign : ""}${format.count(number)}`;
    const facts = /** @type {[string, string, string][]} */ ([
      ["instructions", written(step.instructions), ""],
      ["computations", written(step.computations), ""],
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
      void this.fetchNext();
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
    return modulePageBeside(this.index.slug, "texts", placeOf({ text: step.id }));
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

  /** Loads the next step ahead, once this one is drawn, so that it is there when its key is pressed. */
  async fetchNext() {
    const shown = this.current;
    await new Promise((resolve) => setTimeout(resolve, AHEAD));
    const place = this.neighbor(1);
    if (shown !== this.current || place === null || !this.index.steps[place].changed) return;
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
