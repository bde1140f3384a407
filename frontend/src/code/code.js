/**
 * What instructions became: kernels and thunks on the left, the code of one on the right.
 * `#unit=fusion.3` is the address of an instruction, `#unit=` with `order` that of all thunks.
 */

import { state } from "../core/address.js";
import { element, errorMessage, failure, scrolledTable } from "../core/elements.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { gradeChip, historyLink } from "../names/sentences.js";
import { openTexts } from "../texts/store.js";
import { coloredLine, visible } from "../texts/syntax.js";

/** Characters of a text that are shown, and those of them that are colored. */
const SHOWN = 300_000;
const COLORED = 40_000;
const ORDER = "(order)";
/** Rows of the list of thunks that are drawn at once. */
const THUNKS = 100;

/** @typedef {import("../../types/payloads").CodeFile} CodeFile */
/** @typedef {import("../../types/payloads").Unit} Unit */
/** @typedef {import("../../types/payloads").Thunk} Thunk */
/** @typedef {import("../../types/payloads").Code} Index */

/** @param {Unit} unit */
const title = (unit) => unit.name || unit.computation;

/** @param {string} name */
const address = (name) => `#unit=${encodeURIComponent(name)}`;

/**
 * Writes a text with its tokens in colors.
 * @param {string} text
 */
function colored(text) {
  const looked = text.slice(0, COLORED).split("\n");
  const parts = looked.flatMap((line, place) => [place ? "\n" : "", ...coloredLine(line)]);
  const uncolored = visible(text.slice(COLORED, SHOWN));
  const cut =
    text.length > SHOWN &&
    element(
      "p.xr-muted",
      null,
      `The first ${format.count(SHOWN)} of ${format.count(text.length)} characters; the HLO tab has the rest.`,
    );
  return [element("pre.xr-code", { tabindex: 0 }, element("code", null, ...parts, uncolored)), cut || ""];
}

/** The page of a module's code. */
class Code {
  /**
   * @param {HTMLElement} host
   * @param {Index} index
   */
  constructor(host, index) {
    this.index = index;
    this.filter = element("input", {
      type: "search",
      placeholder: "Part of a name",
      "aria-label": "Instructions whose name has",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.filter.addEventListener("input", () => this.narrow());
    this.items = index.units.map((unit) => this.item(unit));
    this.order = index.thunks.length
      ? element("a.xr-item", { href: address(ORDER) }, element("span.xr-item-label", null, "Thunk sequence"))
      : null;
    const head = element(
      "p.xr-list-head",
      null,
      format.plural(index.units.length, "instruction or computation", "instructions and computations"),
    );
    this.list = element(
      "nav.xr-steps-list",
      { "aria-label": "Instructions" },
      element("label.xr-ask-box", null, this.filter),
      head,
      this.order,
      ...this.items,
    );
    this.panel = element("section.xr-step", { "aria-label": "The code" });
    host.classList.add("xr-steps");
    host.replaceChildren(this.list, this.panel);
    window.addEventListener("hashchange", () => this.show());
    this.show();
  }

  /** @param {Unit} unit */
  item(unit) {
    const files = unit.files.filter((file) => file.path).length;
    return element(
      "a.xr-item",
      { href: address(title(unit)), title: unit.reason },
      element("span.xr-item-label", null, title(unit)),
      element("span.xr-muted", null, files ? format.plural(files, "file") : ""),
    );
  }

  narrow() {
    const wanted = this.filter.value.trim().replace(/^%/, "").toLowerCase();
    for (const [place, unit] of this.index.units.entries()) {
      this.items[place].hidden = !title(unit).toLowerCase().includes(wanted);
    }
  }

  /** Shows what the address names: an instruction, one inside of a fusion, or all thunks. */
  show() {
    const name = (state.get("unit") ?? "").replace(/^%/, "");
    const { units, inside } = this.index;
    let place = units.findIndex((unit) => title(unit) === name);
    const within = place < 0 && Object.hasOwn(inside, name);
    if (within) place = inside[name];
    for (const current of this.list.querySelectorAll("[aria-current]")) current.removeAttribute("aria-current");
    if (place < 0 && this.order && (!name || name === ORDER)) {
      this.order.setAttribute("aria-current", "true");
      this.panel.replaceChildren(...this.thunks());
      return;
    }
    const missing = place < 0 && name;
    if (place < 0) place = 0;
    if (!units[place]) return;
    this.items[place].setAttribute("aria-current", "true");
    const note = within
      ? `${name} is part of this instruction.`
      : missing
        ? `${name} has no code of its own here; this is the first instruction that has.`
        : "";
    this.panel.replaceChildren(...this.unit(units[place], note));
    if (this.panel.getBoundingClientRect().top < 0) this.panel.scrollIntoView();
  }

  /**
   * @param {Unit} unit
   * @param {string} note
   */
  unit(unit, note) {
    const name = unit.name ? historyLink(unit.name, "History") : element("code", null, unit.computation);
    const facts = /** @type {[string, string][]} */ ([
      ["In computation", unit.name ? unit.computation : ""],
      ["Opcode", unit.opcode],
      ["Shape", unit.shape],
      ["Scope", unit.scope],
      ["Source", unit.source],
      ...unit.kernels,
      ...unit.tuning.map(([key, value]) => /** @type {[string, string]} */ ([`Chosen: ${key}`, value])),
    ]);
    return [
      element("h2", null, name),
      note && element("p.xr-warning", null, note),
      element("p", null, gradeChip(unit.grade), " ", unit.reason),
      element(
        "dl.xr-facts",
        null,
        ...facts
          .filter(([, value]) => value)
          .map(([key, value]) =>
            element("div", null, element("dt", null, key), element("dd", null, element("code", null, value))),
          ),
      ),
      ...unit.thunks.map((place) => this.when(this.index.thunks[place])),
      ...unit.files.map((file, place) => this.file(file, place === 0)),
      this.decisions(unit.decisions, "Fusion decisions"),
    ].filter((part) => part !== null && part !== "");
  }

  /** @param {Thunk} thunk */
  when([id, kind, description, before, after, , , , waits]) {
    if (kind === undefined) return null;
    const named = (/** @type {number | null} */ number) => (number === null ? "none" : this.thunkLink(number));
    const isThunk = id !== null;
    return element(
      "p.xr-certain",
      null,
      isThunk ? `Runs as thunk ${id}, ` : "Runs as ",
      element("code", null, kind),
      ` ${description}. `,
      ...(isThunk
        ? [
            "Nearest earlier thunk that touches the same memory: ",
            named(before),
            "; the nearest later one: ",
            named(after),
            ".",
          ]
        : []),
      ...(waits.length ? [" It waits for ", ...this.waits(waits), "."] : []),
    );
  }

  /** @param {string[]} names */
  waits(names) {
    return names.flatMap((name, place) => [
      place ? ", " : "",
      element("a", { href: address(name) }, element("code", null, name)),
    ]);
  }

  /** @param {number} id */
  thunkLink(id) {
    const thunk = this.index.thunks.find(([number]) => number === id);
    const unit = thunk && thunk[7] !== null ? this.index.units[thunk[7]] : null;
    return unit ? element("a", { href: address(title(unit)) }, `${id} (${title(unit)})`) : String(id);
  }

  /**
   * @param {CodeFile} file
   * @param {boolean} open
   */
  file(file, open) {
    const size = file.size === null ? "" : ` ${format.bytes(file.size)}`;
    const body = element("div");
    const part = element(
      "details.xr-group.xr-code-file",
      { open },
      element("summary", null, element("span.xr-group-title", null, file.label), element("span.xr-count", null, size)),
      file.path && element("p.xr-muted", null, element("code", null, file.path)),
      file.note && element("p.xr-muted", null, file.note),
      body,
    );
    const fill = () => {
      if (part.open && file.text && !body.firstChild) this.fill(body, file);
    };
    part.addEventListener("toggle", fill);
    fill();
    return part;
  }

  /**
   * @param {HTMLElement} body
   * @param {CodeFile} file
   */
  async fill(body, file) {
    body.append(element("p.xr-muted", { "aria-busy": "true" }, "Loading"));
    try {
      body.replaceChildren(...colored(await this.text(file)));
    } catch (error) {
      body.replaceChildren(failure(`Cannot show this text. ${errorMessage(error)}`));
    }
  }

  /**
   * @param {CodeFile} file
   * @returns {Promise<string>}
   */
  async text({ path, text }) {
    if (Array.isArray(text)) {
      return (await /** @type {Promise<Payload<"m/x/code-0">>} */ (load(`${this.index.key}-${text[0]}`)))[text[1]];
    }
    const store = await openTexts(this.index.texts);
    const stored = store.texts.find((known) => known.path === path);
    if (!stored) throw new Error(`${path} is not among the texts of the module.`);
    return (await store.lines(stored)).join("\n");
  }

  /**
   * @param {Unit["decisions"]} decisions
   * @param {string} words
   */
  decisions(decisions, words) {
    if (!decisions) return null;
    const head = ["", "Producer", "Consumer", "Result", "Reason not fused", "µs fused", "µs unfused"];
    const number = (/** @type {number | null} */ value) => (value === null ? "" : format.float(value));
    const rows = decisions.steps.map(([what, producer, consumers, fusion, reason, fused, apart]) =>
      element(
        "tr",
        null,
        ...[what, producer, consumers.join(", "), fusion, reason].map((text, place) =>
          element("td", null, place && place < 4 ? element("code", null, text) : text),
        ),
        element("td.xr-number", null, number(fused)),
        element("td.xr-number", null, number(apart)),
      ),
    );
    const more = decisions.total - decisions.steps.length;
    return element(
      "details.xr-group",
      null,
      element(
        "summary",
        null,
        element("span.xr-group-title", null, words),
        element("span.xr-count", null, format.plural(decisions.total, "step")),
        gradeChip(decisions.grade),
      ),
      element(
        "p.xr-muted",
        null,
        "In pass order, with the pass's own time estimates. Names are those at the time of the pass.",
      ),
      scrolledTable(words, head, element("tbody", null, ...rows)),
      more > 0 && element("p.xr-muted", null, `${format.count(more)} more; priority_fusion_dump has them.`),
    );
  }

  *thunks() {
    yield element("h2", null, "Thunk sequence");
    yield element(
      "p",
      null,
      "The compiler's list of thunks: kernels, library calls, copies, collectives. It has no times. A thunk must follow the nearest earlier one that touches the same memory, and precede the nearest later one.",
    );
    const head = ["#", "Kind", "Details", "Instruction", "Depends on", "Successors"];
    const body = element("tbody");
    const pager = element("p.xr-muted");
    const turn = (/** @type {number} */ first) => {
      const all = this.index.thunks;
      body.replaceChildren(...all.slice(first, first + THUNKS).map((thunk) => this.thunkRow(thunk)));
      pager.replaceChildren(...pages(first, all.length, turn));
    };
    turn(0);
    if (this.index.thunks.length > THUNKS) yield pager;
    yield scrolledTable("Thunks", head, body);
    const gone = this.decisions(this.index.gone, "Fusion decisions about removed instructions");
    if (gone) yield gone;
  }

  /** @param {Thunk} thunk */
  thunkRow([id, kind, description, before, after, part, depth, unit, waits]) {
    const owner = unit === null ? null : this.index.units[unit];
    const within = `${"\u2003".repeat(Math.min(depth, 8))}${part ? `${part}: ` : ""}`;
    const link = (/** @type {number | null} */ number) => (number === null ? "" : this.thunkLink(number));
    return element(
      "tr",
      null,
      element("td.xr-number", null, id === null ? "" : id),
      element("td", null, within, element("code", null, kind)),
      element("td", null, description),
      element("td", null, owner && element("a", { href: address(title(owner)) }, element("code", null, title(owner)))),
      element("td", null, link(before), ...this.waits(waits)),
      element("td", null, link(after)),
    );
  }
}

/**
 * Returns which rows are shown, with buttons for those before and after them.
 * @param {number} first
 * @param {number} count of all rows
 * @param {(first: number) => void} turn shows the rows from one on
 */
function pages(first, count, turn) {
  const last = Math.min(first + THUNKS, count);
  const button = (/** @type {string} */ words, /** @type {number} */ start) =>
    element("button.xr-button", { type: "button", onclick: () => turn(start) }, words);
  return [
    `Thunks ${format.count(first + 1)} to ${format.count(last)} of ${format.count(count)} `,
    ...(first > 0 ? [button("Earlier", Math.max(0, first - THUNKS)), " "] : []),
    ...(last < count ? [button("Later", first + THUNKS)] : []),
  ];
}

/**
 * Draws the code of a module.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export async function drawCode(host, key) {
  host.setAttribute("aria-busy", "true");
  new Code(host, await /** @type {Promise<Payload<"m/x/code">>} */ (load(key)));
  host.removeAttribute("aria-busy");
}
