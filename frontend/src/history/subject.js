/** The history of one subject: an instruction of the last snapshot, or a framework op of the first. */

import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { gradeChip, historyLink, sentence } from "../names/sentences.js";
import { carrierRow, carriersOf, carriersPart, isProduct, productsFirst } from "./carriers.js";
import { isOp } from "./columns.js";

const SHOWN = 8;
const GRADES = /** @type {Record<string, string>} */ ({ e: "exact", m: "matched", g: "guessed" });
const NAMING = /** @type {Record<string, string>} */ ({
  added: "Added in",
  cloned: "Cloned in",
  created: "Created in",
  expanded: "Created in",
  rebuilt: "Rebuilt in",
  replaced: "Replaced in",
  renamed: "Renamed in",
});

/** What goes on under another name. */
const CARRIES_ON = new Set(["renamed", "rebuilt"]);

/** @typedef {import("./columns.js").Index} Index */
/** @typedef {import("./columns.js").Event} Event */
/** @typedef {import("./columns.js").Listed} Listed */
/** @typedef {import("./columns.js").Standing} Standing */
/** @typedef {{title: string, subject: import("./columns.js").Subject, events: Event[], standings: Standing[], number: number}} SubjectHistory */

/**
 * Tells whether a snapshot was taken between two passes, not at the end of all.
 * @param {Index} index
 * @param {number} stage
 */
const isStep = ({ stages }, stage) => /^\d/.test(stages[stage][0]);

/** @param {string} place `computation/%instruction` */
const lastName = (place) => place.slice(place.lastIndexOf("/%") + 1);

/** @param {string | number} name an instruction's, or how many more there are */
const nameOrMore = (name) => (typeof name === "number" ? `and ${format.count(name)} more` : historyLink(name));

/** @param {import("./columns.js").Names} names */
const listed = (names) => names.flatMap((name, place) => [place ? ", " : "", nameOrMore(name)]);

/**
 * Returns the events that gave a name, the last first: back through renamings to what made it.
 * @param {string} name of an instruction
 * @param {Event[]} events by snapshot
 */
export function namings(name, events) {
  const found = /** @type {Event[]} */ ([]);
  let wanted = name;
  for (const event of [...events].reverse()) {
    const [, what, instruction, from] = event;
    if (lastName(instruction) !== wanted || !(what in NAMING)) continue;
    found.push(event);
    if (!CARRIES_ON.has(what) || from.length !== 1) break;
    wanted = `%${from[0]}`;
  }
  return found;
}

/** Writes the histories of subjects of one module. */
export class SubjectView {
  /**
   * @param {Index} index
   * @param {string} steps the address of the page of steps
   * @param {import("./facts.js").InstructionFacts | null} facts of the final snapshot
   */
  constructor(index, steps, facts) {
    this.index = index;
    this.facts = facts;
    this.steps = steps;
  }

  /**
   * @param {SubjectHistory} history
   * @param {boolean} open
   */
  part({ title, subject, events, standings, number }, open) {
    const between = number >= this.index.between[0];
    const backward = number < this.index.forward || between;
    const rows = (/** @type {Listed} */ numbers) => places(numbers, standings);
    const fusion = (/** @type {string} */ place) => this.facts?.fusionOf(place) ?? "";
    const ofOp = backward ? { products: [], others: [] } : carriersOf(title, subject.now, standings, this.facts);
    const products = ofOp.products.map((name) => carrierRow(name, this.facts));
    const now = places(subject.now, standings, fusion, products);
    const count = subject.now[0] + products.length;
    const isFinal = subject.now.slice(1).some((row) => standings[row][0] === title);
    const kind = backward
      ? between && !isFinal
        ? "intermediate only"
        : "in after_optimizations"
      : `in before_optimizations${subject.instructions > 1 ? `: ${format.count(subject.instructions)} instructions` : ""}`;
    return element(
      "details.xr-subject",
      { open },
      element(
        "summary",
        null,
        element("code", null, backward ? lastName(title) : title),
        " ",
        element("span.xr-muted", null, kind),
      ),
      backward ? this.since(lastName(title), events) : null,
      backward && !between ? now : null,
      (between || !backward) &&
        element("h3", null, `Maps to ${format.plural(count, "instruction")} in after_optimizations`),
      (between || !backward) && now,
      ...carriersPart(ofOp.others, this.facts),
      ...(subject.origins[0]
        ? [
            element(
              "h3",
              null,
              backward
                ? `Comes from ${format.plural(subject.origins[0], "instruction")} in before_optimizations`
                : "In before_optimizations",
            ),
            rows(subject.origins),
          ]
        : this.begun(
            events,
            subject.now.slice(1).map((row) => standings[row][3]),
          )),
      element("h3", null, "Changes by pass"),
      this.events(events, subject.instructions),
    );
  }

  /**
   * Says where a trail ends that leads back to nothing in the first snapshot.
   * @param {Event[]} events
   * @param {string[]} ops the op_names of the subject
   */
  begun(events, ops) {
    const added = events.filter(([, what]) => what === "added");
    const paragraphs = added.map(([stage, , instruction, , , grade]) => {
      const [before, after] = grade === "g" ? ["Not matched past ", " in "] : ["", " is first seen in "];
      return element(
        "p.xr-begun",
        null,
        before,
        historyLink(lastName(instruction), instruction),
        after,
        ...this.place(stage),
        " ",
        gradeChip(GRADES[grade]),
      );
    });
    const earlier = paragraphs.splice(0, Math.max(0, paragraphs.length - SHOWN));
    const folded =
      earlier.length > 0 &&
      element("details", null, element("summary", null, `${format.count(earlier.length)} more`), ...earlier);
    const isLost = added.some(([, , , , , grade]) => grade === "g");
    const named = [...new Set(ops)].filter((op) => isOp(this.index, op));
    const made = named.length
      ? "Compiler-generated for an op of before_optimizations"
      : "Compiler-generated; no origin in before_optimizations";
    return [
      element("h3", null, isLost ? "Origin in before_optimizations not known" : made),
      ...named.map((op) => element("p", null, "By op_name: ", opLink(op))),
      ...paragraphs,
      ...(folded ? [folded] : []),
    ];
  }

  /**
   * Says first which step gave an instruction its name: that is what most people come to ask.
   * @param {string} name
   * @param {Event[]} events
   */
  since(name, events) {
    const names = namings(name, events);
    const [named, ...earlier] = names;
    if (!named) return null;
    const made = earlier.at(-1);
    const verb = (/** @type {Event} */ event) => (isStep(this.index, event[0]) ? NAMING[event[1]] : "First seen in");
    if (!made) return element("p", null, `${verb(named)} `, ...this.place(named[0]));
    return element(
      "p",
      null,
      `${verb(made)} `,
      ...this.place(made[0]),
      " as ",
      historyLink(lastName(made[2]), made[2]),
      `; ${verb(named).toLowerCase()} `,
      ...this.place(named[0]),
    );
  }

  /**
   * Names a snapshot within a sentence.
   * @param {number} stage
   */
  place(stage) {
    const [key] = this.index.stages[stage];
    return isStep(this.index, stage) ? [this.stepLink(stage)] : ["the text ", this.stepLink(stage, key)];
  }

  /**
   * @param {number} stage
   * @param {string} [words]
   */
  stepLink(stage, words) {
    const [key, label] = this.index.stages[stage];
    return element("a.xr-event-step", { href: `${this.steps}#step=${encodeURIComponent(key)}` }, words ?? label);
  }

  /**
   * @param {Event[]} events
   * @param {number} instructions
   */
  events(events, instructions) {
    if (!events.length) {
      return element("p.xr-empty", null, "None: unchanged from the first snapshot to the last.");
    }
    const shown = events.slice(0, 5 * SHOWN).map((event) => this.event(event));
    const more = events.length - shown.length;
    const note = [
      more > 0 && `${format.count(more)} more events.`,
      instructions > 6 && "Events of the first 6 instructions.",
    ]
      .filter(Boolean)
      .join(" ");
    return element("div", null, element("ol.xr-events", null, ...shown), note && element("p.xr-muted", null, note));
  }

  /**
   * @param {Event} event
   */
  event([stage, what, instruction, from, to, grade, reason]) {
    const name = lastName(instruction);
    return element(
      "li",
      null,
      this.stepLink(stage),
      element(
        "p",
        null,
        historyLink(name, instruction),
        " ",
        element("b", null, what),
        ...(from.length ? [/^(replaced|absorbed)$/.test(what) ? " " : " from ", ...listed(from)] : []),
        ...(to.length ? [" to ", ...listed(to)] : []),
        " ",
        gradeChip(GRADES[grade]),
      ),
      element("p.xr-muted", null, ...sentence(reason)),
    );
  }
}

/**
 * Lists instructions: matrix products first, and all of these.
 * @param {Listed} some
 * @param {Standing[]} standings
 * @param {(place: string) => string} [fusion] the fusion that runs what is at a place, or empty
 * @param {HTMLElement[]} [products] rows of further matrix products
 */
function places([count, ...numbers], standings, fusion = () => "", products = []) {
  if (!count) return element("p.xr-empty", null, "None found.");
  const sorted = productsFirst(numbers, (number) => standings[number][1]);
  const first = sorted.filter((number) => isProduct(standings[number][1])).length;
  /** @type {HTMLElement[]} */
  const rows = sorted.map((number) => standingRow(standings[number], fusion(standings[number][0])));
  rows.splice(first, 0, ...products);
  const hidden = rows.splice(Math.max(SHOWN, first + products.length));
  const left = count - numbers.length;
  return element(
    "div",
    null,
    element("ul.xr-places", null, ...rows),
    hidden.length > 0 &&
      element(
        "details",
        null,
        element("summary", null, `${format.count(hidden.length + left)} more`),
        element("ul.xr-places", null, ...hidden),
        left > 0 && element("p.xr-muted", null, `and ${format.count(left)} that are not listed`),
      ),
  );
}

/** @param {Standing[]} standings */
export const standingRows = (standings) =>
  element("ul.xr-places", null, ...standings.map((standing) => standingRow(standing, "")));

/**
 * @param {Standing} standing
 * @param {string} fusion that runs it; empty where none does
 */
function standingRow([place, opcode, shape, op, source], fusion) {
  return element(
    "li",
    null,
    historyLink(lastName(place), place),
    " ",
    element("span.xr-muted", null, [opcode, shape].filter(Boolean).join(" ")),
    ...(fusion ? [" in ", historyLink(fusion)] : []),
    op && element("p", null, opLink(op), source && ` ${source}`),
  );
}

/** @param {string} op */
export function opLink(op) {
  return element("a.xr-ask", { href: `#op=${encodeURIComponent(op)}` }, op);
}

/** @param {import("../names/op_names.js").OpName} op */
export const opEntry = ({ name, phase }) =>
  element("li", null, opLink(name), phase && element("span.xr-muted", null, ` ${phase}`));
