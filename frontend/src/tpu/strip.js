/**
 * One program of a TPU: its units over the cycles of its schedule, loops as brackets, the busiest
 * bundles below. `#program=fusion.3` is the address of a program.
 */

import { insideReport, state } from "../core/address.js";
import { drawn, element } from "../core/elements.js";
import { isOfBrowser } from "../core/events.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { waitUntilNear } from "../pictures/interactive.js";

/** @typedef {import("../../types/payloads").TpuPrograms} Programs */
/** @typedef {import("../../types/payloads").TpuSchedule} Schedule */

const LABEL = 92;
const ROW = 16;
const BRACKET = 9;
const SMALLEST = 16;
const LEVELS = 10;

/** @param {number} cycle */
const hex = (cycle) => `0x${cycle.toString(16)}`;

/** The strip of one program. */
class Strip {
  /**
   * @param {HTMLElement} host
   * @param {Schedule} data
   */
  constructor(host, data) {
    this.data = data;
    this.length = data.units[0]?.[2].length ?? 0;
    this.begin = 0;
    this.end = this.length;
    this.room = element("div.xr-tpu-room", { tabindex: 0, role: "group", "aria-label": "Units over the schedule" });
    this.note = element("p.xr-muted", { "aria-live": "polite" });
    const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ act) =>
      element("button.xr-button", { type: "button", "aria-label": label, onclick: act }, text);
    const bar = element(
      "p.xr-tpu-bar",
      null,
      button("+", "Zoom in", () => this.zoom(0.5)),
      button("\u2212", "Zoom out", () => this.zoom(2)),
      button("\u2190", "Earlier", () => this.move(-0.5)),
      button("\u2192", "Later", () => this.move(0.5)),
      button("All", "The whole schedule", () => this.show(0, this.length)),
    );
    host.append(bar, this.room, this.note);
    this.room.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.room.addEventListener("keydown", (event) => this.key(event));
    this.room.addEventListener("pointermove", (event) => this.point(event));
    new ResizeObserver(() => this.draw()).observe(this.room);
  }

  /**
   * @param {number} begin
   * @param {number} end
   */
  show(begin, end) {
    const span = Math.min(this.length, Math.max(SMALLEST, Math.round(end - begin)));
    this.begin = Math.max(0, Math.min(Math.round(begin), this.length - span));
    this.end = this.begin + span;
    this.draw();
  }

  /**
   * @param {number} factor
   * @param {number} [at] share of the width that stays in place
   */
  zoom(factor, at = 0.5) {
    const span = this.end - this.begin;
    const next = Math.min(this.length, Math.max(SMALLEST, span * factor));
    const begin = this.begin + (span - next) * at;
    this.show(begin, begin + next);
  }

  /** @param {number} share of the width */
  move(share) {
    const by = (this.end - this.begin) * share;
    this.show(this.begin + by, this.end + by);
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
    event.preventDefault();
    this.zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, this.share(event));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, () => void>} */
    const acts = {
      "+": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      ArrowLeft: () => this.move(-0.25),
      ArrowRight: () => this.move(0.25),
      0: () => this.show(0, this.length),
    };
    const act = acts[event.key];
    if (!act || isOfBrowser(event)) return;
    event.preventDefault();
    act();
  }

  /** @param {MouseEvent} event */
  share(event) {
    const box = this.room.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left - LABEL) / Math.max(1, box.width - LABEL)));
  }

  /** @param {PointerEvent} event */
  point(event) {
    const cycle = Math.min(this.end - 1, this.begin + Math.floor(this.share(event) * (this.end - this.begin)));
    const used = this.data.units
      .filter(([, , column]) => column[cycle] !== "0")
      .map(([unit, capacity, column]) => `${unit} ${parseInt(column[cycle], 36)} of ${capacity}`);
    const runs = this.runs(cycle);
    const often = runs === null ? "" : `, runs ${format.plural(runs, "time")}`;
    this.say(`Cycle ${hex(cycle)}${often}: ${used.join(", ") || "no unit is used"}.`);
  }

  /** @param {number} cycle @returns {number | null} how often it runs */
  runs(cycle) {
    let at = 0;
    for (const [count, length] of this.data.runs) {
      at += length;
      if (cycle < at) return count;
    }
    return null;
  }

  /** @param {string} [words] */
  say(words) {
    const left = this.data.cycles - this.length;
    const cut = left > 0 ? ` The last ${format.count(left)} cycles are not shown.` : "";
    const span = `Cycles ${hex(this.begin)} to ${hex(this.end - 1)} of ${format.count(this.data.cycles)}.`;
    this.note.textContent = `${span}${cut} ${words ?? ""}`;
  }

  /** Draws what is shown now. */
  draw() {
    const width = this.room.clientWidth;
    if (!width || !this.length) return;
    const depth = Math.max(0, ...this.data.loops.map(([, , level]) => level));
    const top = depth * BRACKET + 4;
    const height = top + this.data.units.length * ROW + 4;
    const scale = (width - LABEL) / (this.end - this.begin);
    const rows = this.data.units.flatMap(([unit, capacity, column], row) =>
      this.row(unit, capacity, column, top + row * ROW, scale),
    );
    const marks = this.data.ranges.map(([begin, , , bundles]) =>
      this.box("xr-tpu-hot", begin, begin + bundles.length, top - 3, 2, scale),
    );
    const picture = drawn(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" },
      drawn("title", {}, "Units over the schedule"),
      ...this.brackets(scale),
      ...marks,
      ...rows,
    );
    this.room.replaceChildren(picture);
    this.say();
  }

  /**
   * @param {string} look
   * @param {number} begin
   * @param {number} end
   * @param {number} y
   * @param {number} height
   * @param {number} scale
   */
  box(look, begin, end, y, height, scale) {
    const from = Math.max(begin, this.begin);
    const to = Math.min(end, this.end);
    const wide = Math.max(0, to - from) * scale;
    return drawn("rect", { class: look, x: LABEL + (from - this.begin) * scale, y, width: wide, height });
  }

  /** @param {number} scale */
  brackets(scale) {
    return this.data.loops
      .filter(([begin, end]) => begin < this.end && end > this.begin)
      .map(([begin, end, depth, words]) => {
        const y = (depth - 1) * BRACKET + 2;
        const bar = this.box("xr-tpu-loop", begin, end, y, 4, scale);
        return drawn("g", {}, drawn("title", {}, `${hex(begin)} to ${hex(end - 1)}: ${words}`), bar);
      });
  }

  /**
   * One unit: neighbors of the same level are one box.
   * @param {string} unit
   * @param {number} capacity
   * @param {string} column
   * @param {number} y
   * @param {number} scale
   */
  row(unit, capacity, column, y, scale) {
    const label = drawn("text", { x: LABEL - 6, y: y + 11, "text-anchor": "end" }, unit);
    const bins = Math.max(1, Math.min(this.end - this.begin, Math.floor((this.room.clientWidth - LABEL) / 2)));
    const each = (this.end - this.begin) / bins;
    const boxes = [label];
    let level = 0;
    let from = this.begin;
    for (let bin = 0; bin <= bins; bin++) {
      const begin = this.begin + Math.round(bin * each);
      const next = bin < bins ? this.level(column, capacity, begin, begin + Math.max(1, Math.round(each))) : -1;
      if (next === level) continue;
      if (level > 0) boxes.push(this.box(`xr-tpu-${level}`, from, begin, y + 1, ROW - 2, scale));
      level = next;
      from = begin;
    }
    return boxes;
  }

  /**
   * @param {string} column
   * @param {number} capacity
   * @param {number} begin
   * @param {number} end
   * @returns {number} 0 for idle to 10 for full
   */
  level(column, capacity, begin, end) {
    let sum = 0;
    const last = Math.min(end, column.length);
    for (let cycle = begin; cycle < last; cycle++) sum += parseInt(column[cycle], 36);
    const share = sum / Math.max(1, (last - begin) * capacity);
    return sum ? Math.max(1, Math.min(LEVELS, Math.round(share * LEVELS))) : 0;
  }
}

/**
 * The busiest bundles of a program, each as a range that can be opened.
 * @param {Schedule} data
 * @param {Strip} strip
 */
function ranges(data, strip) {
  return data.ranges.map(([begin, share, often, bundles]) => {
    const runs = often === null ? "" : `, run ${format.plural(often, "time")}`;
    const words = `${hex(begin)} to ${hex(begin + bundles.length - 1)}: ${Math.round(share * 100)}% of all slots${runs}`;
    const text = bundles.map((bundle, place) => `${hex(begin + place).padStart(7)}  ${bundle}`).join("\n");
    const find = element(
      "button.xr-button",
      { type: "button", onclick: () => strip.show(begin - bundles.length, begin + 2 * bundles.length) },
      "Show in the chart",
    );
    return element(
      "details",
      null,
      element("summary", null, words),
      find,
      element("pre.xr-code", { tabindex: 0 }, element("code", null, text)),
    );
  });
}

/**
 * A list that can be opened; nothing where it is empty.
 * @param {string} title
 * @param {string[]} items
 */
function listed(title, items) {
  if (!items.length) return "";
  const list = element("ul", null, ...items.map((item) => element("li", null, element("code", null, item))));
  return element("details", null, element("summary", null, `${title} (${format.count(items.length)})`), list);
}

/**
 * Draws the programs of a module.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export async function drawTpuPrograms(host, key) {
  await waitUntilNear(host);
  const loaded = /** @type {Programs} */ (await load(key));
  const choice = element(
    "select",
    { "aria-label": "Program" },
    ...loaded.programs.map(([name], place) => element("option", { value: place }, name)),
  );
  const room = element("div");
  host.append(element("label.xr-ask-box", null, "Program ", choice), room);
  const show = async (/** @type {number} */ place) => {
    const schedule = /** @type {Schedule} */ (await load(`${key}-${place}`));
    choice.value = String(place);
    const links = loaded.programs[place][1].map(([name, address]) =>
      element("li", null, element("a", { href: insideReport(address) }, name)),
    );
    const chart = element("div");
    const strip = new Strip(chart, schedule);
    room.replaceChildren(
      element("p", null, links.length ? format.plural(links.length, "HLO instruction") : "Top level."),
      element("ul", null, ...links),
      chart,
      element("h3", null, "Busiest bundles"),
      ...ranges(schedule, strip),
      listed(
        "Cycles by line of the kernel",
        schedule.lines.map(([line, cycles]) => `${line}: ${format.count(cycles)}`),
      ),
      listed("Compiler stages in the dump", schedule.stages),
      schedule.ranges.length ? "" : element("p", null, "The dump has no listing of the schedule."),
    );
  };
  choice.addEventListener("change", () => {
    state.set({ program: loaded.programs[Number(choice.value)][0] });
    void show(Number(choice.value));
  });
  const asked = () =>
    Math.max(
      0,
      loaded.programs.findIndex(([name]) => name === state.get("program")),
    );
  window.addEventListener("hashchange", () => void show(asked()));
  await show(asked());
}
