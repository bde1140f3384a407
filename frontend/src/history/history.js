/**
 * Where an instruction came from and where it went: a box to ask in, and a panel that answers.
 * `#i=fusion.3` is the address of an instruction, `#op=jit(f)/mul` that of a framework op.
 */

import { state } from "../core/address.js";
import { element, errorMessage, failure } from "../core/elements.js";
import { format } from "../core/format.js";
import { once } from "../core/once.js";
import { load } from "../core/payloads.js";
import { gradeChip, historyLink, sentence } from "../names/sentences.js";
import { readChunk, readIndex } from "./columns.js";

const FOUND = 30;
const SHOWN = 8;
const GRADES = /** @type {Record<string, string>} */ ({ e: "exact", m: "matched", g: "guessed" });
const NAMING = /** @type {Record<string, string>} */ ({ born: "Made in", copied: "Copied in", replaced: "Put in place in", renamed: "Named so since" });
const byName = new Intl.Collator("en", { numeric: true });

/** @typedef {import("./columns.js").Index} Index */
/** @typedef {import("./columns.js").Event} Event */
/** @typedef {import("./columns.js").Listed} Listed */
/** @typedef {import("./columns.js").Subject} Subject */
/** @typedef {import("./columns.js").Standing} Standing */
/** @typedef {import("./columns.js").Chunk} Chunk */
/** @typedef {{title: string, subject: Subject, events: Event[], standings: Standing[], number: number}} Found */

/**
 * Tells whether a snapshot was taken between two passes, not at the end of all.
 * @param {Index} index
 * @param {number} stage
 */
const isStep = ({ stages }, stage) => /^\d/.test(stages[stage][0]);

/** @param {string} place `computation/%instruction` */
const lastName = (place) => place.slice(place.lastIndexOf("/%") + 1);

/** @param {string} name an instruction's, or how many more there are */
const nameOrMore = (name) => (name.startsWith("and ") ? name : historyLink(name));

/** @param {string[]} names */
const listed = (names) => names.flatMap((name, place) => [place ? ", " : "", nameOrMore(name)]);

/** The box and the panel of one module. */
class Histories {
  /**
   * @param {HTMLElement} host
   * @param {string} key of the index
   */
  constructor(host, key) {
    this.key = key;
    /** @type {Promise<Index> | undefined} */
    this.known = undefined;
    /** @type {Map<number, Promise<Chunk>>} */
    this.chunks = new Map();
    this.steps = host.dataset.steps ?? "";
    this.code = host.dataset.code ?? "";
    this.input = element("input", { type: "search", placeholder: "%fusion.3, layer_3/mlp/dot_general", "aria-label": "Instruction or framework op", autocomplete: "off", spellcheck: "false" });
    this.results = element("ul.xr-ask-results", { "aria-label": "What was found" });
    this.status = element("p.xr-muted", { role: "status" });
    this.panel = element("dialog.xr-history", { "aria-label": "History" });
    host.replaceChildren(element("label.xr-ask-box", null, element("span", null, "Where did it come from, where did it go?"), this.input), this.status, this.results);
    document.body.append(this.panel);
    this.input.addEventListener("focus", () => this.index().catch(() => {}));
    this.input.addEventListener("input", () => this.search());
    document.addEventListener("click", (event) => this.clicked(event));
    document.addEventListener("keydown", (event) => this.panel.open && event.key === "Escape" && this.close());
    window.addEventListener("hashchange", () => this.openWanted());
    this.openWanted();
  }

  /** @returns {Promise<Index>} */
  index() {
    this.known ??= /** @type {Promise<Payload<"m/x/history">>} */ (load(this.key)).then(readIndex);
    return this.known;
  }

  /**
   * @param {number} number
   * @returns {Promise<Chunk>}
   */
  chunk(number) {
    return once(this.chunks, number, () => /** @type {Promise<Payload<"m/x/history-0">>} */ (load(`${this.key}-${number}`)).then(readChunk));
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const target = event.target instanceof Element ? event.target.closest("a.xr-ask") : null;
    if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const wanted = new URLSearchParams((target.getAttribute("href") ?? "").slice(1));
    state.set({ i: wanted.get("i"), op: wanted.get("op") });
    this.openWanted();
  }

  openWanted() {
    const name = state.get("i");
    const op = state.get("op");
    if (name || op) this.open(name, op);
  }

  close() {
    this.panel.close();
    state.set({ i: null, op: null });
  }

  async search() {
    const wanted = this.input.value.trim().replace(/^%/, "").toLowerCase();
    if (!wanted) {
      this.results.replaceChildren();
      this.status.textContent = "";
      return;
    }
    const index = await this.index();
    const links = [...matches(Object.keys(index.names), wanted).map((name) => historyLink(name)), ...matches(opsOf(index), wanted).map(opLink)];
    this.status.textContent = links.length ? format.plural(links.length, "name") : "No instruction and no framework op has this in its name.";
    if (links.length > FOUND) this.status.textContent += `; the first ${FOUND} are shown.`;
    this.results.replaceChildren(...links.slice(0, FOUND).map((link) => element("li", null, link)));
  }

  /**
   * @param {string | null} name
   * @param {string | null} op
   */
  async open(name, op) {
    const title = name ? `%${name.replace(/^%/, "")}` : (op ?? "");
    const body = element("div", { "aria-busy": "true" });
    const close = element("button.xr-button", { type: "button", onclick: () => this.close() }, "Close");
    const code = name && this.code ? element("a", { href: `${this.code}#unit=${encodeURIComponent(name.replace(/^%/, ""))}` }, "Its code") : null;
    this.panel.replaceChildren(element("header", null, element("h2", null, element("code", null, title)), code, close), body);
    if (!this.panel.open) this.panel.show();
    this.panel.scrollTop = 0;
    try {
      const index = await this.index();
      body.append(...(await this.answer(index, this.numbers(index, name, op))));
    } catch (error) {
      body.append(failure(`The history cannot be shown. ${errorMessage(error)}`));
    }
    body.removeAttribute("aria-busy");
  }

  /**
   * @param {Index} index
   * @param {string | null} name
   * @param {string | null} op
   * @returns {number[]}
   */
  numbers(index, name, op) {
    if (name) {
      const bare = name.replace(/^%/, "");
      return Object.hasOwn(index.names, bare) ? index.names[bare] : [];
    }
    const number = index.titles.indexOf(op ?? "", index.forward);
    return number < 0 ? [] : [number];
  }

  /**
   * @param {Index} index
   * @param {number[]} numbers
   */
  async answer(index, numbers) {
    if (!numbers.length) return [element("p.xr-empty", null, this.unknown(index))];
    const all = await Promise.all(numbers.slice(0, FOUND).map((number) => this.subject(index, number)));
    const intro = numbers.length > 1 ? [element("p.xr-muted", null, `${format.plural(numbers.length, "subject")} bore this name at some time; the one of the last snapshot comes first.`)] : [];
    return [...intro, ...all.map((answer, place) => this.part(index, answer, place === 0))];
  }

  /** @param {Index} index */
  unknown(index) {
    const most = index.complete ? "" : " This module is so large that not all of its instructions are here.";
    return `No instruction of this name has a history here; it may be the name of a computation.${most} The command xlareport history DUMP NAME looks into every snapshot.`;
  }

  /**
   * @param {Index} index
   * @param {number} number
   * @returns {Promise<Found>}
   */
  async subject(index, number) {
    const chunk = await this.chunk(Math.floor(number / index.chunk));
    const place = number % index.chunk;
    return { title: titleOf(index, number), subject: chunk.subjects[place], events: eventsOf(chunk, place), standings: chunk.standings, number };
  }

  /**
   * @param {Index} index
   * @param {Found} found
   * @param {boolean} open
   */
  part(index, { title, subject, events, standings, number }, open) {
    const between = number >= index.between[0];
    const backward = number < index.forward || between;
    const rows = (/** @type {Listed} */ numbers) => places(numbers, standings);
    const kind = between ? "came and went on the way" : backward ? "an instruction of the last snapshot" : `in the first snapshot${subject.instructions > 1 ? `: ${format.count(subject.instructions)} instructions` : ""}`;
    return element(
      "details.xr-subject",
      { open },
      element("summary", null, element("code", null, backward ? lastName(title) : title), " ", element("span.xr-muted", null, kind)),
      backward ? this.since(index, lastName(title), events) : null,
      backward && !between ? rows(subject.now) : null,
      ...(subject.origins[0] ? [element("h3", null, backward ? `It comes from ${format.plural(subject.origins[0], "instruction")} of the first snapshot` : "Where it stands in the first snapshot"), rows(subject.origins)] : this.begun(index, events)),
      element("h3", null, "What happened to it"),
      this.events(index, events, subject.instructions),
      (between || !backward) && element("h3", null, `Its work is done by ${format.plural(subject.now[0], "instruction")} of the last snapshot`),
      (between || !backward) && rows(subject.now),
    );
  }

  /**
   * Says where a trail ends that leads back to nothing in the first snapshot.
   * @param {Index} index
   * @param {Event[]} events
   */
  begun(index, events) {
    const births = events.filter(([, what, , from]) => what === "born" && !from.length).slice(-SHOWN);
    const paragraphs = births.map(([stage, , instruction, , , grade]) => {
      const [before, after] = grade === "g" ? ["The trail is lost at ", " in "] : ["", " is first seen in "];
      return element("p.xr-begun", null, before, historyLink(lastName(instruction), instruction), after, ...this.place(index, stage), " ", gradeChip(GRADES[grade]));
    });
    return [element("h3", null, "No instruction of the first snapshot is known to have become it"), ...paragraphs];
  }

  /**
   * Says first which step gave an instruction its name: that is what most people come to ask.
   * @param {Index} index
   * @param {string} name
   * @param {Event[]} events
   */
  since(index, name, events) {
    const first = events.find(([, what, instruction]) => lastName(instruction) === name && what in NAMING);
    if (!first) return null;
    const named = isStep(index, first[0]) ? NAMING[first[1]] : "First seen in";
    return element("p", null, `${named} `, ...this.place(index, first[0]));
  }

  /**
   * Names a snapshot within a sentence.
   * @param {Index} index
   * @param {number} stage
   */
  place(index, stage) {
    const [key] = index.stages[stage];
    return isStep(index, stage) ? [this.stepLink(index, stage)] : ["the text ", this.stepLink(index, stage, key)];
  }

  /**
   * @param {Index} index
   * @param {number} stage
   * @param {string} [words]
   */
  stepLink(index, stage, words) {
    const [key, label] = index.stages[stage];
    return element("a.xr-event-step", { href: `${this.steps}#step=${encodeURIComponent(key)}` }, words ?? label);
  }

  /**
   * @param {Index} index
   * @param {Event[]} events
   * @param {number} instructions
   */
  events(index, events, instructions) {
    if (!events.length) return element("p.xr-empty", null, "Nothing: it is the same from the first snapshot to the last.");
    const shown = events.slice(0, 5 * SHOWN).map((event) => this.event(index, event));
    const more = events.length - shown.length;
    const note = [more > 0 && `${format.count(more)} more events.`, instructions > 6 && "Events of the first 6 instructions."].filter(Boolean).join(" ");
    return element("div", null, element("ol.xr-events", null, ...shown), note && element("p.xr-muted", null, note));
  }

  /**
   * @param {Index} index
   * @param {Event} event
   */
  event(index, [stage, what, instruction, from, to, grade, reason]) {
    const name = lastName(instruction);
    return element(
      "li",
      null,
      this.stepLink(index, stage),
      element("p", null, historyLink(name, instruction), " ", element("b", null, what), ...(from.length ? [/^(replaced|absorbed)$/.test(what) ? " " : " from ", ...listed(from)] : []), ...(to.length ? [" to ", ...listed(to)] : []), " ", gradeChip(GRADES[grade])),
      element("p.xr-muted", null, ...sentence(reason)),
    );
  }
}

/**
 * @param {Index} index
 * @param {number} number
 * @returns {string} the title of a subject
 */
function titleOf({ titles, between: [first, ...others] }, number) {
  return number < first ? titles[number] : others[number - first];
}

/**
 * Returns the events of a subject. Each stands once in a chunk; -n stands for the next n new ones.
 * @param {Chunk} chunk
 * @param {number} place
 */
function eventsOf({ subjects, events }, place) {
  const isNew = (/** @type {number} */ number) => number < 0;
  let next = -subjects.slice(0, place).flatMap((subject) => subject.events.filter(isNew)).reduce((sum, number) => sum + number, 0);
  return subjects[place].events.flatMap((number) => (isNew(number) ? events.slice(next, (next -= number)) : [events[number]]));
}

/**
 * @param {Listed} some
 * @param {Standing[]} standings
 */
function places([count, ...numbers], standings) {
  if (!count) return element("p.xr-empty", null, "None that could be found.");
  const rows = numbers.map((number) => standingRow(standings[number]));
  const rest = rows.splice(SHOWN);
  const left = count - numbers.length;
  return element(
    "div",
    null,
    element("ul.xr-places", null, ...rows),
    rest.length > 0 && element("details", null, element("summary", null, `${format.count(rest.length + left)} more`), element("ul.xr-places", null, ...rest), left > 0 && element("p.xr-muted", null, `and ${format.count(left)} that are not listed`)),
  );
}

/** @param {Standing} standing */
function standingRow([place, opcode, shape, op, source]) {
  return element("li", null, historyLink(lastName(place), place), " ", element("span.xr-muted", null, [opcode, shape].filter(Boolean).join(" ")), op && element("p", null, opLink(op), source && ` ${source}`));
}

/** @param {string} op */
function opLink(op) {
  return element("a.xr-ask", { href: `#op=${encodeURIComponent(op)}` }, op);
}

/** @param {Index} index */
function opsOf(index) {
  return index.titles.slice(index.forward).filter((title) => !title.includes("/%"));
}

/**
 * Returns the names that hold what is wanted: equal ones first, then by how early it stands.
 * @param {string[]} names
 * @param {string} wanted in lower case
 */
function matches(names, wanted) {
  const ranked = /** @type {[number, string][]} */ ([]);
  for (const name of names) {
    const place = name.toLowerCase().indexOf(wanted);
    if (place >= 0) ranked.push([name.length === wanted.length ? -1 : place, name]);
  }
  return ranked.sort(([left, a], [right, b]) => left - right || byName.compare(a, b)).map(([, name]) => name);
}

/**
 * Draws the search for histories of a module.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export function drawHistory(host, key) {
  new Histories(host, key);
}
