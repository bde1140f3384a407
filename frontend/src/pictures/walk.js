/**
 * Boxes of a picture for the keyboard: arrows lead along arrows, Enter opens, a field finds names.
 */

import { element } from "../core/elements.js";
import { format } from "../core/format.js";

/** How much nearer a box straight on counts than one aside. */
const ASIDE = 3;

/** @typedef {import("./picture.js").Picture} Picture */

/** @param {Element} box */
function middle(box) {
  const { left, top, width, height } = box.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}

/** @param {Element} box */
function words(box) {
  return (
    [...box.querySelectorAll(":scope > text:not(.on, .tag) > tspan")].map((line) => line.textContent).join(", ") ||
    (box.textContent ?? "")
  );
}

/** The way through the boxes of one picture. */
export class Walk {
  /** @param {Picture} picture */
  constructor(picture) {
    this.picture = picture;
    this.matches = /** @type {Element[]} */ ([]);
    this.shown = -1;
    /** @type {Element[]} */
    this.boxes = [];
    /** @type {Map<Element, number>} the position of each box */
    this.places = new Map();
    /** @type {{arrow: Element, from: number, to: number}[]} */
    this.ends = [];
    /** Boxes between which the arrows to the left and to the right choose. @type {Element[]} */
    this.choice = [];
    /** What can be gone to: boxes, and frames and marks that open something. @type {Element[]} */
    this.stops = [];
    this.take();
  }

  /** Takes in the boxes and arrows that the picture has now. */
  take() {
    const { picture } = this;
    this.boxes = [...picture.svg.querySelectorAll("g.n")];
    this.places = new Map(this.boxes.map((box, place) => [box, place]));
    this.ends = [...picture.svg.querySelectorAll("[data-e]")].map((arrow) => {
      const [from, to] = (arrow.getAttribute("data-e") ?? "").split(" ").map(Number);
      return { arrow, from, to };
    });
    this.choice = [];
    this.stops = [
      ...this.boxes,
      ...[...picture.svg.querySelectorAll(".gt[data-target], .open[data-target]")].filter(
        (mark) => !mark.closest("g.n"),
      ),
    ];
    for (const stop of this.stops) {
      for (const [name, value] of [
        ["tabindex", "-1"],
        ["role", "button"],
        ["aria-label", words(stop)],
      ]) {
        stop.setAttribute(name, value);
      }
    }
    picture.svg.addEventListener("focusin", (event) => picture.point(event.target));
  }

  /** @param {Element} box */
  arrows(box) {
    const place = this.places.get(box);
    return this.ends.filter(({ from, to }) => from === place || to === place).map(({ arrow }) => arrow);
  }

  /**
   * @param {Element} box
   * @param {boolean} down
   */
  next(box, down) {
    const place = this.places.get(box);
    const neighbors = this.ends
      .filter(({ from, to }) => (down ? from : to) === place)
      .map(({ from, to }) => this.boxes[down ? to : from]);
    return [...new Set(neighbors)]
      .filter((next) => next && next !== box)
      .sort((left, right) => middle(left).x - middle(right).x);
  }

  /** @param {Element} box */
  go(box) {
    /** @type {SVGGElement} */ (box).focus({ preventScroll: true });
    this.picture.reveal(box);
  }

  /** Goes to the box nearest to the middle of what is seen. */
  enter() {
    const around = middle(this.picture.canvas);
    const far = (/** @type {Element} */ box) => Math.hypot(middle(box).x - around.x, middle(box).y - around.y);
    const focused = this.boxes.find((box) => box.classList.contains("focus"));
    const nearest = focused ?? this.stops.reduce((best, box) => (far(box) < far(best) ? box : best), this.stops[0]);
    this.choice = [];
    if (nearest) this.go(nearest);
  }

  /**
   * @param {Element} box
   * @param {boolean} down
   */
  along(box, down) {
    const choice = this.next(box, down);
    if (!choice.length) return;
    const { x } = middle(box);
    this.choice = choice;
    this.go(
      choice.reduce((best, candidate) =>
        Math.abs(middle(candidate).x - x) < Math.abs(middle(best).x - x) ? candidate : best,
      ),
    );
  }

  /**
   * @param {Element} box
   * @param {1 | -1} direction
   */
  aside(box, direction) {
    const place = this.choice.indexOf(box);
    const other = place >= 0 ? this.choice[place + direction] : undefined;
    if (other) return this.go(other);
    const from = middle(box);
    const far = (/** @type {Element} */ stop) =>
      Math.abs(middle(stop).x - from.x) + ASIDE * Math.abs(middle(stop).y - from.y);
    const there = this.stops.filter((stop) => (middle(stop).x - from.x) * direction > 2);
    this.choice = [];
    if (there.length) this.go(there.reduce((best, stop) => (far(stop) < far(best) ? stop : best)));
  }

  /**
   * Takes a key that was pressed on a box; says whether it meant something.
   * @param {KeyboardEvent} event
   */
  press(event) {
    const box = event.target instanceof Element ? event.target.closest("[tabindex='-1']") : null;
    if (!box) {
      if (event.key !== "Enter") return false;
      this.enter();
      return true;
    }
    const actions = /** @type {Record<string, () => void>} */ ({
      ArrowUp: () => this.along(box, false),
      ArrowDown: () => this.along(box, true),
      ArrowLeft: () => this.aside(box, -1),
      ArrowRight: () => this.aside(box, 1),
      Enter: () => this.follow(box),
      " ": () => this.follow(box),
      Escape: () => this.picture.canvas.focus(),
    });
    actions[event.key]?.();
    return event.key in actions;
  }

  /**
   * Opens what a box or a mark on it leads to.
   * @param {Element} marked
   */
  follow(marked) {
    const target = marked.getAttribute("data-target") ?? marked.closest("[data-target]")?.getAttribute("data-target");
    if (target) this.picture.openers.open(this.picture, marked.closest("g.n") ?? marked, target);
  }

  /** The field that finds boxes. */
  finder() {
    const status = element("span.xr-zoom-level", { role: "status" });
    const field = element("input.xr-find", {
      type: "search",
      placeholder: "Find node",
      "aria-label": "Find a node in this graph",
      autocomplete: "off",
      spellcheck: "false",
    });
    field.addEventListener("input", () => this.find(field.value, status));
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (this.matches.length) this.showFound(event.shiftKey ? -1 : 1, status);
      else this.lookBehind(field.value, status);
    });
    return [field, status];
  }

  /**
   * @param {string} wanted
   * @param {HTMLElement} status
   */
  find(wanted, status) {
    const asked = wanted.trim().toLowerCase().replace(/^%/, "").split(/\s+/).filter(Boolean);
    const text = (/** @type {Element} */ box) =>
      `${box.getAttribute("data-node")} ${words(box)} ${box.querySelector("title")?.textContent ?? ""}`.toLowerCase();
    this.matches = asked.length ? this.boxes.filter((box) => asked.every((word) => text(box).includes(word))) : [];
    for (const box of this.boxes) box.classList.toggle("xr-found", this.matches.includes(box));
    this.shown = -1;
    status.textContent = asked.length && !this.matches.length ? "none" : "";
    if (this.matches.length) this.showFound(1, status);
  }

  /**
   * Looks for an instruction in the pictures behind this one.
   * @param {string} name
   * @param {HTMLElement} status
   */
  async lookBehind(name, status) {
    const bare = name.trim().replace(/^%/, "");
    const picture = bare ? await this.picture.openers.openWith(this.picture, bare) : null;
    const box = picture?.walk.boxes.find((candidate) => candidate.getAttribute("data-target") === `i=${bare}`);
    if (picture && box) picture.walk.go(box);
    else if (!picture) status.textContent = "none";
  }

  /**
   * @param {1 | -1} direction
   * @param {HTMLElement} status
   */
  showFound(direction, status) {
    if (!this.matches.length) return;
    this.shown = (this.shown + direction + this.matches.length) % this.matches.length;
    status.textContent = `${format.count(this.shown + 1)} of ${format.count(this.matches.length)}`;
    this.picture.reveal(this.matches[this.shown]);
    this.picture.point(this.matches[this.shown]);
  }
}
