/**
 * One run of a module as a timeline: a row for each thread and for each depth in it, a bar for each
 * instruction that ran. Time can be enlarged and moved; a bar leads to its instruction, and a table
 * says the same. pages/profile/page.py has the form of the data.
 */

import { insideReport } from "../core/address.js";
import { drawn, element } from "../core/elements.js";
import { isOfBrowser } from "../core/events.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { waitUntilNear } from "../pictures/interactive.js";
import { Table } from "../tables/table.js";

const [AXIS, HEAD, LANE, BAR] = [22, 18, 18, 15];
const CHARACTER = 6.6;
const STEP = 1.5;
const MOST = 1e5;
const STILL = 4;
const NAMED = 5;
const MODES = /** @type {Record<string, string>} */ ({ opcode: "opcode category", scope: "scope" });

/** @typedef {import("../../types/payloads").Bar} Bar */
/** @typedef {import("../../types/payloads").Run} Step */
/** @typedef {import("../../types/payloads").Runs} Data */

/** @param {number} time microseconds */
const duration = (time) => format.seconds(time / 1e6);

/**
 * Returns the distance between the marks of an axis: 1, 2 or 5 of a power of ten.
 * @param {number} least
 */
function pace(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}

class Timeline {
  /**
   * @param {HTMLElement} host
   * @param {string} key
   * @param {Data} data
   * @param {string} css of pictures
   */
  constructor(host, key, data, css) {
    this.host = host;
    this.key = key;
    this.data = data;
    this.step = data.steps[0];
    this.from = 0;
    this.wide = this.step.length;
    this.mode = "opcode";
    this.style = drawn("style", {}, css);
    this.canvas = element("div.xr-canvas", {
      tabindex: 0,
      role: "group",
      "aria-label":
        "Timeline. Arrow keys move it, plus and minus change its size, 0 shows all of it; the table below says the same.",
    });
    this.legend = element("p.xr-timeline-legend");
    this.slowest = element("p.xr-timeline-legend");
    /** @type {Map<Bar, number>} the places of the slowest, from 1 */
    this.ranks = new Map();
    this.note = element("p.xr-muted");
    this.table = element("details.xr-more", null, element("summary", null, "Table"));
    this.shown = false;
    this.table.addEventListener("toggle", () => this.list());
    host.replaceChildren(this.toolbar(), this.canvas, this.legend, this.slowest, this.note, this.table);
    this.listen();
    this.choose(0);
  }

  toolbar() {
    const runs = this.data.steps.map(({ title }, at) => element("option", { value: at }, title));
    const run = element("select", { onchange: () => this.choose(Number(run.value)) }, ...runs);
    const modes = Object.entries(MODES).map(([mode, words]) => element("option", { value: mode }, words));
    const mode = element("select", { onchange: () => this.color(mode.value) }, ...modes);
    const button = (/** @type {string} */ words, /** @type {string} */ title, /** @type {() => void} */ act) =>
      element("button.xr-button", { type: "button", title, "aria-label": title, onclick: act }, words);
    return element(
      "div.xr-toolbar",
      null,
      element("label.xr-modes", null, "Run ", run),
      this.data.scopes.length > 0 && element("label.xr-modes", null, "Color by ", mode),
      button("\u2212", "Smaller", () => this.zoom(1 / STEP)),
      button("+", "Larger", () => this.zoom(STEP)),
      button("Fit", "Show all of it", () => this.fit()),
    );
  }

  /** @param {number} at */
  choose(at) {
    this.step = this.data.steps[at];
    const { merged, left_out: left } = this.step;
    const words = [
      merged && `${format.plural(merged, "short event")} share bars with their neighbors.`,
      left && `${format.plural(left, "event")} of the threads that did least are left out.`,
    ];
    this.note.textContent = words.filter(Boolean).join(" ");
    this.name();
    this.shown = false;
    this.list();
    this.fit();
  }

  /** Numbers the slowest instructions of the run, and names them below it. */
  name() {
    const alone = this.step.bars.filter(([, , , , count]) => count === 1);
    const first = alone.sort(([, , left], [, , right]) => right - left).slice(0, NAMED);
    this.ranks = new Map(first.map((bar, place) => [bar, place + 1]));
    const named = first.map(([, , length, place], at) => {
      const href = this.address(place);
      const name = element("code", null, `%${this.data.instructions[place][0]}`);
      return element(
        "span",
        null,
        `${at + 1} `,
        href ? element("a", { href: insideReport(href) }, name) : name,
        ` ${duration(length)}`,
      );
    });
    this.slowest.replaceChildren(element("span", null, "Longest:"), ...named);
  }

  /** @param {string} mode */
  color(mode) {
    this.mode = mode;
    this.draw();
  }

  fit() {
    this.from = 0;
    this.wide = this.step.length || 1;
    this.draw();
  }

  /**
   * @param {number} factor
   * @param {number} [at] the part of the width that stays where it is
   */
  zoom(factor, at = 0.5) {
    const whole = this.step.length || 1;
    const wide = Math.min(whole, Math.max(whole / MOST, this.wide / factor));
    this.from += (this.wide - wide) * at;
    this.wide = wide;
    this.move(0);
  }

  /** @param {number} part of the width */
  move(part) {
    this.from = Math.max(0, Math.min((this.step.length || 1) - this.wide, this.from + part * this.wide));
    this.draw();
  }

  listen() {
    const keys = /** @type {Record<string, () => void>} */ ({
      ArrowLeft: () => this.move(-0.1),
      ArrowRight: () => this.move(0.1),
      "+": () => this.zoom(STEP),
      "=": () => this.zoom(STEP),
      "-": () => this.zoom(1 / STEP),
      0: () => this.fit(),
    });
    this.canvas.addEventListener("keydown", (event) => {
      const act = keys[event.key];
      if (!act || isOfBrowser(event)) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const { left, width } = this.canvas.getBoundingClientRect();
        this.zoom(Math.exp(-event.deltaY / 300), (event.clientX - left) / width);
      },
      { passive: false },
    );
    this.canvas.addEventListener("pointerdown", (event) => this.grab(event));
    let before = 0;
    new ResizeObserver(() => {
      if (this.canvas.clientWidth === before) return;
      before = this.canvas.clientWidth;
      this.draw();
    }).observe(this.canvas);
  }

  /** @param {PointerEvent} event moves the picture, and leads nowhere where it did */
  grab(event) {
    if (event.button !== 0 || event.pointerType === "touch") return;
    let [at, far] = [event.clientX, 0];
    const ended = new AbortController();
    const { signal } = ended;
    addEventListener(
      "pointermove",
      (next) => {
        const by = at - next.clientX;
        far += Math.abs(by);
        at = next.clientX;
        if (far >= STILL) this.move(by / this.canvas.clientWidth);
      },
      { signal },
    );
    addEventListener("pointerup", () => setTimeout(() => ended.abort()), { signal });
    addEventListener("click", (click) => far >= STILL && click.preventDefault(), { signal, capture: true });
  }

  /** Draws the part of the run that is seen. */
  draw() {
    const width = Math.max(280, this.canvas.clientWidth);
    const tops = /** @type {number[]} */ ([]);
    const heads = /** @type {SVGElement[]} */ ([]);
    let y = AXIS;
    for (const [at, [thread]] of this.step.lanes.entries()) {
      if (!at || this.step.lanes[at - 1][0] !== thread) {
        heads.push(
          /** @type {SVGElement} */ (drawn("text", { class: "note", x: 4, y: (y += HEAD) - 5 }, `thread ${thread}`)),
        );
      }
      tops.push(y);
      y += LANE;
    }
    const height = y + 4;
    const bars = this.step.bars.filter(
      ([, start, length]) => start + length >= this.from && start <= this.from + this.wide,
    );
    const svg = drawn("svg", {
      class: `xg by-${this.mode}`,
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "group",
    });
    const title = drawn("title", {}, `Timeline, ${this.step.title}`);
    svg.append(
      title,
      this.style,
      drawn("rect", { class: "paper", width: "100%", height: "100%" }),
      ...this.axis(width, height),
      ...heads,
      ...bars.map((bar) => this.bar(bar, tops[bar[0]], width)),
    );
    this.canvas.replaceChildren(svg);
    this.describe();
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  axis(width, height) {
    const apart = pace((this.wide * 90) / width);
    const marks = [];
    for (let time = Math.ceil(this.from / apart) * apart; time <= this.from + this.wide; time += apart) {
      const x = ((time - this.from) / this.wide) * width;
      marks.push(drawn("path", { class: "e e-thin", d: `M${x.toFixed(1)} ${AXIS - 6}V${height}` }));
      if (x < width - 40) {
        marks.push(drawn("text", { class: "note", x: (x + 3).toFixed(1), y: AXIS - 8 }, time ? duration(time) : "0"));
      }
    }
    return marks;
  }

  /**
   * @param {Bar} bar
   * @param {number} y
   * @param {number} width
   */
  bar(bar, y, width) {
    const [, start, length, place, count] = bar;
    const [left, right] = [start, start + length].map((time) => ((time - this.from) / this.wide) * width);
    const [x, wide] = [Math.max(-2, left), Math.max(1, Math.min(width + 2, right) - Math.max(-2, left))];
    const [name, opcode, family, scope] = this.data.instructions[place] ?? ["", "", "gray", -1];
    const words = count > 1 ? format.plural(count, "short event") : [`%${name}`, opcode].filter(Boolean).join(", ");
    const tooltip = `${words}: ${duration(length)}, from ${duration(start)} on`;
    const box = drawn("rect", {
      class: "box",
      x: x.toFixed(1),
      y,
      width: wide.toFixed(1),
      height: BAR,
      rx: Math.min(2, wide / 4),
    });
    const fits = Math.floor((wide - 6) / CHARACTER) - (this.ranks.has(bar) ? 2 : 0);
    const whole = count > 1 ? `${count} short` : name;
    const rank = this.ranks.has(bar) ? String(this.ranks.get(bar)) : "";
    const cut = whole.length > fits ? `${whole.slice(0, fits - 1)}\u2026` : whole;
    const shown = fits >= 4 ? `${rank && `${rank} `}${cut}` : rank;
    const label = shown ? [drawn("text", { x: (x + wide / 2).toFixed(1), y: y + 11 }, shown)] : [];
    const group = drawn(
      "g",
      { class: `n n-${family}`, "data-scope": scope },
      drawn("title", {}, tooltip),
      box,
      ...label,
    );
    const href = count > 1 ? null : this.address(place);
    return href ? drawn("a", { href: insideReport(href) ?? "", tabindex: -1, "aria-label": tooltip }, group) : group;
  }

  /** @param {number} place of an instruction: the address of what is around it, seen from the root */
  address(place) {
    const [name, opcode] = this.data.instructions[place];
    return opcode ? `${this.data.page}#node=${encodeURIComponent(name)}` : null;
  }

  /** Says what the colors mean. */
  describe() {
    const { families, scopes } = this.data;
    const entries =
      this.mode === "scope"
        ? scopes.map((words, at) => [`t-${at}`, words])
        : families.map(([name, words]) => [`f-${name}`, words]);
    this.legend.replaceChildren(
      ...entries.map(([look, words]) => {
        const swatch = drawn(
          "svg",
          { class: `xg by-${this.mode}`, width: 16, height: 10, "aria-hidden": "true" },
          drawn("rect", { class: look, width: 16, height: 10, rx: 1 }),
        );
        return element("span", null, swatch, ` ${words}`);
      }),
    );
  }

  /** Writes the table of the run, once it is asked for. */
  list() {
    const open = /** @type {HTMLDetailsElement} */ (this.table).open;
    if (this.shown || !open) return void (open || this.table.querySelector(".xr-table")?.remove());
    this.shown = true;
    const room = element("div.xr-table");
    this.table.querySelector(".xr-table")?.remove();
    this.table.append(room);
    const rows = this.step.bars.map(([lane, start, length, place, count]) => {
      const [name, opcode] = this.data.instructions[place] ?? ["", ""];
      const href = count > 1 ? null : this.address(place);
      const shown = count > 1 ? format.plural(count, "short event") : name;
      /** @type {import("../tables/rows.js").Cell[]} */
      const cells = [start, length, href ? [shown, href] : shown, opcode || null, ...this.step.lanes[lane]];
      return cells;
    });
    const columns = [
      { title: "Start \u00b5s", kind: "float", help: "since the run began" },
      { title: "Duration \u00b5s", kind: "float" },
      { title: "Instruction", kind: "link" },
      { title: "Opcode", kind: "code", of: "opcode" },
      { title: "Thread", kind: "int" },
      { title: "Depth", kind: "int", help: "nesting depth" },
    ];
    new Table(room, this.key, { columns, rows, sort: [1, "desc"], empty: "Nothing ran." });
  }
}

/**
 * Draws the runs of a module.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export async function drawTimeline(host, key) {
  await waitUntilNear(host);
  const [data, { css }] = await Promise.all([
    /** @type {Promise<Payload<"m/x/timeline">>} */ (load(key)),
    load("pictures/look"),
  ]);
  if (data.steps.length) new Timeline(host, key, data, css);
  else host.append(element("p", null, "The trace has too many events to keep those of a whole run."));
}
