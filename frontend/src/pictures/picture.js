/**
 * Pictures: what a payload tells is drawn into the page, so that it follows the page's colors, and
 * can be moved, enlarged, searched and saved. Without the payload the plain image stays.
 *
 * A picture has boxes `g.n[data-node]`, and arrows `[data-e="FROM TO"]` with the positions of their
 * boxes. A click on what has `data-target="i=INSTRUCTION"` shows details; on any other target,
 * `c=COMPUTATION` or `g=PART`, the picture that the index named in `data-levels` has for it.
 */

import { element, saveFile } from "../core/elements.js";
import { isOfBrowser } from "../core/events.js";
import { load } from "../core/payloads.js";
import { applyMode, modeChoice } from "./modes.js";
import { MARGIN } from "./sizes.js";
import { parse } from "./svg_source.js";
import { Walk } from "./walk.js";

const STEP = 1.3;
/** Below this scale text is less than 11 px high; a picture that is larger shows a part of itself first. */
const READABLE = 1;
/** How much larger or smaller a picture becomes before it is drawn anew. */
const FAR = 2;
/** Milliseconds without a movement after which a picture is drawn anew. */
const REST = 150;
/** Pixels that the pointer may move in a click. */
const STILL = 4;

/**
 * What the boxes of a picture open.
 * @typedef {object} Openers
 * @property {(picture: Picture, box: Element, target: string) => Promise<void>} open shows what a box leads to
 * @property {(picture: Picture, name: string) => Promise<Picture | null>} openWith shows the picture in which an instruction stands
 */

/** A picture that can be moved and enlarged. */
export class Picture {
  /**
   * @param {HTMLElement} host
   * @param {string} key
   * @param {string} source SVG text
   * @param {Openers} openers
   */
  constructor(host, key, source, openers) {
    this.openers = openers;
    this.key = key;
    this.source = source;
    this.svg = this.read(source);
    const { width, height } = this.svg.viewBox.baseVal;
    this.whole = { x: 0, y: 0, width: width || 300, height: height || 150 };
    this.view = { ...this.whole };
    this.drawn = { ...this.whole };
    this.gliding = false;
    this.rest = 0;
    this.level = element("span.xr-zoom-level", { role: "status" });
    this.host = host;
    this.canvas = element("div.xr-canvas", { tabindex: 0, role: "group", "aria-label": this.label(host) }, this.svg);
    this.walk = new Walk(this);
    host.querySelector("img")?.remove();
    host.prepend(this.toolbar(), this.canvas);
    this.begun = false;
    this.room = 0;
    this.listen();
  }

  /** @param {string} source */
  read(source) {
    const svg = parse(source);
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    svg.setAttribute("role", "group");
    return svg;
  }

  /**
   * Puts another picture in the place of this one, in the same view.
   * @param {string} source SVG text
   * @returns {SVGSVGElement} the former one
   */
  exchange(source) {
    const former = this.svg;
    this.source = source;
    this.svg = this.read(source);
    former.replaceWith(this.svg);
    applyMode(this);
    this.walk.take();
    if (this.begun) this.show();
    return former;
  }

  /** @param {HTMLElement} host */
  label(host) {
    const description =
      host.dataset.alt ?? host.querySelector("img")?.alt ?? this.svg.querySelector("title")?.textContent;
    return `${description ?? "Picture"}. Arrow keys move it, plus and minus change its size, 0 shows all of it, Enter goes to a node.`;
  }

  toolbar() {
    return element(
      "div.xr-toolbar",
      null,
      ...this.walk.finder(),
      modeChoice(this),
      this.button("\u2212", "Smaller", () => this.zoom(1 / STEP)),
      this.level,
      this.button("+", "Larger", () => this.zoom(STEP)),
      this.button("Fit", "Show all of it", () => this.fit()),
      this.button("1:1", "Natural size", () => this.zoom(1 / this.scale())),
      this.button("Save", "Save as .svg", () => this.save()),
    );
  }

  /**
   * @param {string} sign
   * @param {string} words
   * @param {() => void} action
   */
  button(sign, words, action) {
    return element("button.xr-button", { type: "button", title: words, "aria-label": words, onclick: action }, sign);
  }

  listen() {
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.canvas.addEventListener("pointerdown", (event) => this.grab(event));
    this.canvas.addEventListener("pointerover", (event) => this.point(event.target));
    window.addEventListener("beforeprint", () => this.print());
    window.addEventListener("afterprint", () => this.show());
    new ResizeObserver(() => this.resized()).observe(this.canvas);
  }

  /** Nothing has a place while the picture is out of the page or folded away: its canvas has no size. */
  get placed() {
    return this.canvas.clientWidth > 0 && this.canvas.clientHeight > 0;
  }

  resized() {
    const room = this.canvas.clientWidth;
    if (!room) return;
    if (this.begun) {
      const former = this.view.width;
      this.view.width *= room / (this.room || room); // what is shown changes, not its size
      this.view.x += (former - this.view.width) / 2;
      this.show();
      for (const box of this.svg.querySelectorAll("g.focus")) this.reveal(box);
    } else this.begin();
    this.room = room;
  }

  /** @returns {number} pixels to a unit of the picture */
  scale() {
    return (this.canvas.clientWidth || this.whole.width) / this.view.width;
  }

  /** The scale in which the picture takes all of the width, where its names can be read so. */
  get readable() {
    return Math.min(1, Math.max(READABLE, this.canvas.clientWidth / this.whole.width));
  }

  /** Shows the whole picture where it can be read, else the first place where something changed. */
  begin() {
    this.begun = true;
    this.canvas.style.height = `${Math.max(90, Math.min(this.whole.height * this.readable, innerHeight * 0.75))}px`;
    this.fit();
    if (this.scale() >= READABLE) return;
    const all = this.svg.querySelectorAll("g.n");
    const changed = [...all].filter((box) => /s-(added|removed|changed)/.test(box.getAttribute("class") ?? ""));
    this.visit(changed.length ? changed : [...all]);
  }

  /**
   * Goes to the uppermost of some boxes, in a size in which it can be read.
   * @param {Element[]} boxes
   */
  visit(boxes) {
    const places = boxes.map((box) => box.getBoundingClientRect()).sort((left, right) => left.top - right.top);
    if (!places.length) return;
    const around = this.canvas.getBoundingClientRect();
    const x = this.view.x + (places[0].left + places[0].width / 2 - around.left) / this.scale();
    const y = this.view.y + (places[0].top - around.top) / this.scale();
    this.zoom(this.readable / this.scale());
    const spare = this.whole.width - this.view.width;
    const left = x < this.view.width * 0.8 ? 0 : x - this.view.width / 2;
    this.view.x = spare < 0 ? spare / 2 : Math.max(0, Math.min(left, spare));
    this.view.y = Math.max(0, Math.min(y - this.view.height / 4, this.whole.height - this.view.height));
    this.show();
  }

  /** Shows the boxes that the picture is about where the whole cannot be read. */
  showFocus() {
    if (this.scale() < READABLE) this.visit([...this.svg.querySelectorAll("g.focus")]);
    else for (const box of this.svg.querySelectorAll("g.focus")) this.reveal(box);
  }

  /** Shows the whole picture, never larger than its natural size; as soon as it has a place. */
  fit() {
    this.begun &&= this.placed;
    if (!this.placed) return;
    const { clientWidth, clientHeight } = this.canvas;
    const scale = Math.min(1, clientWidth / this.whole.width, clientHeight / this.whole.height);
    const width = clientWidth / scale;
    this.view = { x: (this.whole.width - width) / 2, y: 0, width, height: clientHeight / scale };
    this.show();
  }

  /** Shows the whole picture on paper, whatever stands on the screen. */
  print() {
    if (!this.placed) return;
    this.draw(this.whole);
  }

  show() {
    if (!this.placed) return;
    const ratio = this.canvas.clientHeight / this.canvas.clientWidth;
    this.view.height = this.view.width * ratio;
    this.level.textContent = `${Math.round(this.scale() * 100)}%`;
    if (this.gliding && this.glides()) return;
    this.draw(this.view);
    this.drawn = { ...this.view };
  }

  /**
   * Draws a part of the picture. Its title stays in sight where the left edge does not.
   * @param {{x: number, y: number, width: number, height: number}} part
   */
  draw({ x, y, width, height }) {
    this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    this.svg.style.transform = "";
    this.svg.querySelector("text.title")?.setAttribute("x", `${Math.max(0, x) + MARGIN}`);
  }

  /**
   * Changes the view while the reader moves: the picture is moved as it is, which any machine does
   * fast, and drawn anew when the reader rests or has gone far.
   * @param {() => void} change
   */
  glide(change) {
    this.gliding = true;
    change();
    this.gliding = false;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.show(), REST);
  }

  /** Moves the picture as it is drawn; says whether that is near enough. */
  glides() {
    const { view, drawn } = this;
    const scale = this.scale();
    const [larger, x, y] = [drawn.width / view.width, (drawn.x - view.x) * scale, (drawn.y - view.y) * scale];
    if (
      larger > FAR ||
      larger < 1 / FAR ||
      Math.abs(x) > this.canvas.clientWidth ||
      Math.abs(y) > this.canvas.clientHeight
    ) {
      return false;
    }
    this.svg.style.transform = `translate(${x}px, ${y}px) scale(${larger})`;
    return true;
  }

  /**
   * Moves the view until a box is in it and can be read.
   * @param {Element} box
   */
  reveal(box) {
    if (!this.canvas.clientWidth) return;
    if (this.scale() < READABLE) this.zoom(READABLE / this.scale());
    const place = box.getBoundingClientRect();
    const around = this.canvas.getBoundingClientRect();
    const beyond = (
      /** @type {number} */ start,
      /** @type {number} */ end,
      /** @type {number} */ from,
      /** @type {number} */ to,
    ) => (start < from ? start - from : end > to ? end - to : 0);
    this.move(
      beyond(place.left, place.right, around.left + 12, around.right - 12),
      beyond(place.top, place.bottom, around.top + 12, around.bottom - 12),
    );
  }

  /**
   * @param {number} factor
   * @param {number} [atX] where to stay, as a share of the width
   * @param {number} [atY]
   */
  zoom(factor, atX = 0.5, atY = 0.5) {
    if (!this.placed) return;
    const scale = Math.min(8, Math.max(0.02, this.scale() * factor));
    const width = this.canvas.clientWidth / scale;
    const height = this.canvas.clientHeight / scale;
    this.view.x += (this.view.width - width) * atX;
    this.view.y += (this.view.height - height) * atY;
    Object.assign(this.view, { width, height });
    this.show();
  }

  /**
   * @param {number} x pixels
   * @param {number} y pixels
   */
  move(x, y) {
    if (!this.placed) return;
    this.view.x += x / this.scale();
    this.view.y += y / this.scale();
    this.show();
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const place = this.canvas.getBoundingClientRect();
    const [x, y] = [(event.clientX - place.left) / place.width, (event.clientY - place.top) / place.height];
    this.glide(() => this.zoom(Math.exp(-event.deltaY / 300), x, y));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (isOfBrowser(event)) return;
    if (this.walk.press(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const actions = /** @type {Record<string, () => void>} */ ({
      ArrowLeft: () => this.move(-60, 0),
      ArrowRight: () => this.move(60, 0),
      ArrowUp: () => this.move(0, -60),
      ArrowDown: () => this.move(0, 60),
      "+": () => this.zoom(STEP),
      "=": () => this.zoom(STEP),
      "-": () => this.zoom(1 / STEP),
      0: () => this.fit(),
    });
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  /** @param {PointerEvent} event */
  grab(event) {
    if (event.button !== 0) return;
    const pressed = event.target instanceof Element ? event.target.closest("[data-target]") : null;
    const scrolls = event.pointerType === "touch" && !this.canvas.contains(document.activeElement);
    let { clientX, clientY } = event;
    const [startX, startY] = [clientX, clientY];
    const drag = (/** @type {PointerEvent} */ next) => {
      this.glide(() => this.move(clientX - next.clientX, clientY - next.clientY));
      ({ clientX, clientY } = next);
    };
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.classList.add("xr-grabbed");
    if (!scrolls) this.canvas.addEventListener("pointermove", drag);
    const ended = new AbortController();
    const release = (/** @type {PointerEvent} */ last) => {
      this.canvas.classList.remove("xr-grabbed");
      this.canvas.removeEventListener("pointermove", drag);
      ended.abort();
      const still = Math.hypot(last.clientX - startX, last.clientY - startY) < STILL;
      if (pressed && still && last.type === "pointerup") this.walk.follow(pressed);
    };
    this.canvas.addEventListener("pointerup", release, { signal: ended.signal });
    this.canvas.addEventListener("pointercancel", release, { signal: ended.signal });
  }

  /**
   * Lights up what the pointer is on: its arrows here, and the same thing in the other picture.
   * @param {EventTarget | null} target
   */
  point(target) {
    const node = target instanceof Element ? target.closest("g.n") : null;
    const id = node?.getAttribute("data-node");
    const group = this.canvas.closest(".xr-pair") ?? this.canvas;
    for (const lit of group.querySelectorAll(".xr-lit")) lit.classList.remove("xr-lit");
    if (!node || !id) return;
    for (const edge of this.walk.arrows(node)) edge.classList.add("xr-lit");
    for (const same of group.querySelectorAll(`g.n[data-node="${CSS.escape(id)}"]`)) same.classList.add("xr-lit");
  }

  /** Saves the picture with rules for a dark system, which a page has by itself. */
  async save() {
    const { dark } = await load("pictures/look");
    const whole = this.source.replace("</style>", () => `${dark}</style>`);
    saveFile(new Blob([whole], { type: "image/svg+xml" }), `${this.key.replaceAll("/", "-")}.svg`);
  }
}
