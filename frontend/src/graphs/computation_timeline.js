/**
 * The steps of one computation, one after the other: what stays stands still, what is new fades in, what is gone
 * fades out. All steps share one layout. `#computation=main.5&frame=0012&watch=dot.3` is the address.
 */

import { state } from "../core/address.js";
import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { bindKey } from "../keys.js";
import { interactivePicture, waitUntilNear } from "../pictures/interactive.js";
import { writeSvg } from "../pictures/svg.js";
import { Frames } from "./frames.js";
import { readVersions } from "./versions.js";

const FADE = 700;

/** @typedef {import("../../types/payloads").ComputationList} Index */

/** The slider, the keys and the picture. */
class ComputationTimeline {
  /**
   * @param {HTMLElement} host
   * @param {string} key
   * @param {Index} index
   */
  constructor(host, key, index) {
    this.key = key;
    this.index = index;
    this.steps = host.dataset.steps ?? "";
    this.at = 0;
    /** What the address named that is not drawn here. */
    this.unknown = "";
    this.choice = element(
      "select",
      { id: "xr-computations-computation", onchange: () => this.choose() },
      ...index.timelines.map(([name, frames], number) =>
        element("option", { value: number }, `${name}, ${format.plural(frames.length, "step")}`),
      ),
    );
    this.watch = element("input", {
      id: "xr-computations-watch",
      type: "search",
      placeholder: "any name it ever had",
      onchange: () => this.choose(),
      autocomplete: "off",
      spellcheck: "false",
    });
    this.slider = element("input.xr-computations-slider", {
      type: "range",
      min: 0,
      value: 0,
      "aria-label": "Step of the computation timeline",
      oninput: () => this.show(Number(this.slider.value)),
    });
    this.status = element("p.xr-computations-step", { role: "status" });
    this.figure = element("figure.xr-picture", { "data-alt": "Timeline of a computation" });
    host.replaceChildren(...this.parts());
    bindKey(",", "Computation timeline: previous step", () => this.show(this.at - 1));
    bindKey(".", "Computation timeline: next step", () => this.show(this.at + 1));
    window.addEventListener("hashchange", () => state.get("computation") && this.open());
    this.open();
    if (state.get("computation")) host.scrollIntoView({ block: "start" });
  }

  /** @returns {HTMLElement[]} the form, the slider and what they change */
  parts() {
    const move = (/** @type {1 | -1} */ way, /** @type {string} */ words, /** @type {string} */ letter) =>
      element(
        "button.xr-button",
        { type: "button", onclick: () => this.show(this.at + way) },
        words,
        " ",
        element("kbd", null, letter),
      );
    const part = (/** @type {string} */ words, /** @type {HTMLElement} */ input) =>
      element("div", null, element("label", { for: input.id }, words), input);
    const more = this.index.others
      ? element(
          "p.xr-muted",
          null,
          `${format.plural(this.index.others, "more computation")} changed, with fewer steps or too many instructions for a timeline.`,
        )
      : null;
    return [
      element("div.xr-explore-form", null, part("Computation", this.choice), part("Track an instruction", this.watch)),
      element("div.xr-computations-bar", null, move(-1, "Earlier", ","), this.slider, move(1, "Later", ".")),
      this.status,
      this.figure,
      ...(more ? [more] : []),
    ];
  }

  /** Opens the computation that the address names. */
  open() {
    const wanted = state.get("computation") ?? "";
    const named = this.index.timelines.findIndex(([name]) => name === wanted);
    this.unknown = named < 0 ? wanted : "";
    this.choice.value = String(Math.max(0, named));
    this.watch.value = state.get("watch") ?? "";
    return this.load(state.get("frame"));
  }

  choose() {
    this.unknown = "";
    state.set({
      computation: this.index.timelines[Number(this.choice.value)][0],
      watch: this.watch.value.trim(),
      frame: null,
    });
    return this.load(null);
  }

  /** @param {string | null} wanted the key of a snapshot */
  async load(wanted) {
    const number = Number(this.choice.value);
    const versions = readVersions(
      await /** @type {Promise<Payload<"m/x/versions-0">>} */ (load(`${this.key}-${number}`)),
    );
    this.frames = new Frames(versions, this.index.timelines[number], this.watch.value.trim());
    this.picture = null;
    this.slider.max = String(this.frames.stages.length - 1);
    if (!this.frames.stages.length) return this.nothing();
    const stage = this.unknown ? -1 : this.index.stages.findIndex(([key]) => key === wanted);
    const last = this.frames.stages.findLastIndex((snapshot) => stage < 0 || snapshot <= stage);
    return this.show(Math.max(0, last), stage < 0);
  }

  nothing() {
    this.frames = null;
    this.figure.replaceChildren();
    this.status.textContent = `No instruction of this computation was ever called %${this.watch.value.trim().replace(/^%/, "")}.`;
  }

  /**
   * @param {number} wanted
   * @param {boolean} [quiet] whether the address stays as it is
   */
  async show(wanted, quiet = false) {
    if (!this.frames) return;
    const look = await load("pictures/look");
    this.at = Math.min(Math.max(0, wanted), this.frames.stages.length - 1);
    const [key, label] = this.index.stages[this.frames.stages[this.at]];
    const { drawing, layout, counts } = this.frames.drawn(this.at, label);
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", label);
    if (!quiet) this.unknown = "";
    if (!quiet) state.set({ computation: this.frames.name, frame: key });
    this.play(writeSvg(drawing, layout, look));
    const changes = this.at
      ? `${counts.added} new, ${counts.removed} gone, ${counts.changed} changed among the nodes shown.`
      : "First version.";
    const warning = this.unknown
      ? [element("strong", null, `No timeline for computation ${this.unknown}; showing ${this.frames.name}.`), " "]
      : [];
    this.status.replaceChildren(
      ...warning,
      element("a", { href: `${this.steps}#step=${encodeURIComponent(key)}` }, label),
      ` (${format.count(this.at + 1)} of ${format.count(this.frames.stages.length)}). ${changes}`,
    );
  }

  /** @param {string} svg the next frame */
  play(svg) {
    if (!this.picture) {
      this.figure.replaceChildren();
      this.picture = interactivePicture(this.figure, "computation-timeline", svg);
      requestAnimationFrame(() => this.picture?.showFocus());
      return;
    }
    const { picture } = this;
    const former = picture.exchange(svg);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    fade(former, picture.svg);
  }
}

/**
 * Lets fade in what a picture has new, and fade out what it has no longer.
 * @param {SVGSVGElement} before
 * @param {SVGSVGElement} after
 */
function fade(before, after) {
  const here = new Map([...after.querySelectorAll("g.n")].map((box) => [box.getAttribute("data-node"), box]));
  const there = new Map([...before.querySelectorAll("g.n")].map((box) => [box.getAttribute("data-node"), box]));
  for (const [life, box] of here) if (!there.has(life)) box.classList.add("xr-born");
  const drawn = new Set([...before.querySelectorAll("[data-e]")].map((arrow) => arrow.getAttribute("d")));
  const paths = new Set([...after.querySelectorAll("[data-e]")].map((arrow) => arrow.getAttribute("d")));
  for (const arrow of after.querySelectorAll("[data-e]")) {
    if (!drawn.has(arrow.getAttribute("d"))) arrow.classList.add("xr-born");
  }
  const gone = [
    ...[...there].filter(([life]) => !here.has(life)).map(([, box]) => box),
    ...[...before.querySelectorAll("path[data-e]")].filter((arrow) => !paths.has(arrow.getAttribute("d"))),
  ];
  const stage = after.querySelector(":scope > g[transform]");
  for (const shape of gone) {
    shape.removeAttribute("data-e");
    shape.removeAttribute("data-target");
    shape.removeAttribute("role");
    shape.setAttribute("class", `${shape.getAttribute("class")} xr-dying`);
    shape.setAttribute("aria-hidden", "true");
    stage?.append(shape);
    setTimeout(() => shape.remove(), FADE);
  }
}

/**
 * Draws the computations of a module in all snapshots.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export async function drawComputationTimelines(host, key) {
  if (!state.get("computation")) await waitUntilNear(host);
  const index = await /** @type {Promise<Payload<"m/x/versions">>} */ (load(key));
  if (index.timelines.length) new ComputationTimeline(host, key, index);
  else {
    host.append(
      element("p.xr-empty", null, "No computation of three or more instructions differs between two of its snapshots."),
    );
  }
}
