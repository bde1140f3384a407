/**
 * Where an instruction came from and where it went: a box to ask in, and a panel that answers.
 * `#i=fusion.3` is the address of an instruction, `#op=jit(f)/mul` that of a framework op.
 */

import { state } from "../core/address.js";
import { element, errorMessage, failure } from "../core/elements.js";
import { format } from "../core/format.js";
import { once } from "../core/once.js";
import { load } from "../core/payloads.js";
import { historyLink } from "../names/sentences.js";
import { isOpcode } from "../names/words.js";
import { eventsOf, numbersOf, numbersOfOp, opsOf, readChunk, readIndex, titleOf } from "./columns.js";
import { loadFacts } from "./facts.js";
import { OpNames } from "../names/op_names.js";
import { productsFirst } from "./carriers.js";
import {
  countFinal,
  successorsFirst,
  successorsOf,
  renderLeading,
  renderLonger,
  renderUnnamed,
  unnamedSuccessors,
} from "./calls.js";
import { countPhases, literalPhases, matches, shares } from "./matches.js";
import { leftOutOp, leftOutPart, unknownName, withoutHistory } from "./left_out.js";
import { endingWith, joinedPaths, properEnds } from "./paths.js";
import { SubjectView, opEntry } from "./subject.js";
import { textOnTheWay } from "./on_the_way.js";

const FOUND = 30;

/** @typedef {import("./columns.js").Index} Index */
/** @typedef {import("./columns.js").Chunk} Chunk */
/** @typedef {import("./subject.js").SubjectHistory} SubjectHistory */

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
    /** @type {Promise<import("./facts.js").InstructionFacts | null> | undefined} */
    this.knownFacts = undefined;
    /** @type {Promise<Map<string, string[]>> | undefined} */
    this.joined = undefined;
    /** @type {Promise<OpNames> | undefined} */
    this.knownOps = undefined;
    /** @type {Map<number, Promise<Chunk>>} */
    this.chunks = new Map();
    this.steps = host.dataset.steps ?? "";
    this.code = host.dataset.code ?? "";
    this.input = element("input", {
      type: "search",
      placeholder: "%fusion.3, layer_3/mlp/dot_general",
      "aria-label": "Instruction or framework op",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.results = element("ul.xr-ask-results", { "aria-label": "Matches" });
    this.status = element("p.xr-muted", { role: "status" });
    this.panel = element("dialog.xr-history", { "aria-label": "History" });
    host.replaceChildren(
      element("label.xr-ask-box", null, element("span", null, "Trace an instruction or op_name"), this.input),
      this.status,
      this.results,
    );
    document.body.append(this.panel);
    this.input.addEventListener("focus", () => Promise.all([this.index(), this.facts()]).catch(() => {}));
    this.input.addEventListener("input", () => this.search());
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // else the key presses what the panel focuses
      this.openFirst();
    });
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

  /** @returns {Promise<import("./facts.js").InstructionFacts | null>} null where they cannot be loaded */
  facts() {
    this.knownFacts ??= loadFacts(this.key.replace(/[^/]*$/, "facts")).catch(() => null);
    return this.knownFacts;
  }

  /** @returns {Promise<Map<string, string[]>>} paths that inlining made, with their parts in the first snapshot */
  paths() {
    this.joined ??= Promise.all([this.index(), this.facts()]).then(([index, facts]) =>
      joinedPaths(facts?.scopes.keys() ?? [], new Set(opsOf(index))),
    );
    return this.joined;
  }

  /** @returns {Promise<OpNames>} op_names of the first and the final snapshot */
  opNames() {
    this.knownOps ??= Promise.all([this.index(), this.facts(), this.paths()]).then(([index, facts, paths]) => {
      const first = new Set(opsOf(index));
      const ends = properEnds(first);
      const finals = [...(facts?.scopes.keys() ?? [])].filter((op) => first.has(op) || !ends.has(op));
      const ops = new Set([...first, ...finals]);
      for (const part of [...paths.values()].flat()) ops.delete(part); // the path that has it stands for both
      return new OpNames(ops);
    });
    return this.knownOps;
  }

  /**
   * @param {number} number
   * @returns {Promise<Chunk>}
   */
  chunk(number) {
    return once(this.chunks, number, () =>
      /** @type {Promise<Payload<"m/x/history-0">>} */ (load(`${this.key}-${number}`)).then(readChunk),
    );
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
    const [index, known, isOp] = await Promise.all([this.index(), this.opNames(), isOpcode(wanted)]);
    const phases = known.find(wanted);
    const names = matches(Object.keys(index.names), wanted);
    const links = names.map((name) => element("li", null, historyLink(name)));
    const entries = phases.map((ops) => ops.map(opEntry));
    const before = literalPhases(names, phases, wanted, isOp);
    const groups = [...entries.slice(0, before), links, ...entries.slice(before)].filter((group) => group.length);
    const count = groups.reduce((sum, group) => sum + group.length, 0);
    const shown = shares(groups, FOUND);
    const told = countPhases(phases);
    this.status.textContent = count
      ? `${format.plural(count, "name")}${told && `, ${told}`}${shown.length < count ? `; ${shown.length} are shown.` : ""}`
      : "No instruction or op_name contains this text.";
    this.results.replaceChildren(...shown);
  }

  /** Opens the history of the name that was typed, or of the first that contains it. */
  async openFirst() {
    await this.search();
    this.results.querySelector("a")?.click();
  }

  /**
   * @param {string | null} name
   * @param {string | null} op
   */
  async open(name, op) {
    const title = name ? `%${name.replace(/^%/, "")}` : (op ?? "");
    const body = element("div", { "aria-busy": "true" });
    const close = element("button.xr-button", { type: "button", onclick: () => this.close() }, "Close");
    const code =
      name && this.code
        ? element("a", { href: `${this.code}#unit=${encodeURIComponent(name.replace(/^%/, ""))}` }, "Its code")
        : null;
    this.panel.replaceChildren(
      element(
        "div.xr-history-head",
        null,
        element("h2", { tabindex: "-1", autofocus: true }, element("code", null, title)),
        code,
        close,
      ),
      body,
    );
    if (!this.panel.open) this.panel.show();
    this.panel.scrollTop = 0;
    try {
      const [index, facts] = await Promise.all([this.index(), this.facts()]);
      const numbers = name ? numbersOf(index, name) : numbersOfOp(index, op ?? "");
      const part = name ? facts?.part(name.replace(/^%/, "")) : null;
      if (part) body.append(part);
      if (numbers.length) body.append(...(await this.answer(index, numbers)));
      else if (name) body.append(...(await this.unnumbered(index, name.replace(/^%/, ""))));
      else body.append(...(await this.unlisted(index, op ?? "")));
      if (op && numbers.length) body.append(...(await this.untraced(index, op, numbers[0])));
    } catch (error) {
      body.append(failure(`The history cannot be shown. ${errorMessage(error)}`));
    }
    body.removeAttribute("aria-busy");
  }

  /**
   * @param {Index} index
   * @param {number[]} numbers
   */
  async answer(index, numbers) {
    if (!numbers.length) return [element("p.xr-empty", null, unknownName(index))];
    const view = new SubjectView(index, this.steps, await this.facts());
    const all = await Promise.all(numbers.slice(0, FOUND).map((number) => this.subject(index, number)));
    const count = format.plural(numbers.length, "history", "histories");
    const words = `${count} with this name in some snapshot; that of the last snapshot comes first.`;
    const intro = numbers.length > 1 ? [element("p.xr-muted", null, words)] : [];
    return [...intro, ...all.map((answer, place) => view.part(answer, place === 0))];
  }

  /**
   * Tells of an instruction without a history: a part of a fusion, one that was left out, or one on the way.
   * @param {Index} index
   * @param {string} name without `%`
   */
  async unnumbered(index, name) {
    const facts = await this.facts();
    if (!facts?.kind(name)) {
      const op = leftOutOp(index, name);
      return op ? this.leftOut(index, op) : ((await textOnTheWay(this.key, name)) ?? this.answer(index, []));
    }
    const fusion = facts.fusionOf(name);
    const numbers = numbersOf(index, fusion);
    const words = withoutHistory(index, name, fusion, facts.scopeOf(name));
    return numbers.length ? [...words, ...(await this.answer(index, numbers))] : words;
  }

  /**
   * Lists the instructions of an op_name without a history in both snapshots.
   * @param {Index} index
   * @param {string} op
   */
  async leftOut(index, op) {
    const facts = await this.facts();
    const names = facts?.scopes.get(op) ?? [];
    return [...leftOutPart(index, op), ...(names.length ? await this.carried(index, names, facts) : [])];
  }

  /**
   * Tells of an op_name without a history: the first snapshot, the final one or both may have it, or one that ends so.
   * @param {Index} index
   * @param {string} op
   */
  async unlisted(index, op) {
    if (index.leftOut.has(op)) return this.leftOut(index, op);
    const facts = await this.facts();
    const bearers = facts?.scopes.get(op);
    if (bearers && !endingWith(op, opsOf(index)).length) return this.bearers(index, op, bearers);
    const longer = endingWith(op, [...opsOf(index), ...(facts?.scopes.keys() ?? [])]);
    if (!longer.length) return this.answer(index, []);
    const intro = renderLonger(longer, FOUND);
    if (longer.length > 1) return intro;
    const [only] = longer;
    const names = facts?.scopes.get(only);
    const numbers = numbersOfOp(index, only);
    if (numbers.length) return [...intro, ...(await this.answer(index, numbers))];
    if (index.leftOut.has(only)) return [...intro, ...(await this.leftOut(index, only))];
    return names ? [...intro, ...(await this.bearers(index, only, names))] : intro;
  }

  /**
   * Lists the final instructions of an op_name whose trails from the first snapshot end before.
   * @param {Index} index
   * @param {string} op
   * @param {number} number of the op_name
   */
  async untraced(index, op, number) {
    const [{ subject }, facts] = await Promise.all([this.subject(index, number), this.facts()]);
    const names = facts?.scopes.get(op) ?? [];
    if (subject.now[0] || !names.length) return [];
    return this.carried(index, names, facts);
  }

  /**
   * @param {Index} index
   * @param {string[]} names of the final instructions that have an op_name
   * @param {import("./facts.js").InstructionFacts | null} facts
   */
  async carried(index, names, facts) {
    return [element("p", null, `By op_name: ${countFinal(names, FOUND)}`), await this.list(index, names, facts)];
  }

  /**
   * Lists the instructions of an op_name that only the final snapshot has, and what it is of in the first one.
   * @param {Index} index
   * @param {string} op
   * @param {string[]} names of the instructions
   */
  async bearers(index, op, names) {
    const [paths, facts] = await Promise.all([this.paths(), this.facts()]);
    const parts = paths.get(op) ?? [];
    const numbers = parts.flatMap((part) => numbersOfOp(index, part));
    const successors = successorsOf(await Promise.all(numbers.map((number) => this.subject(index, number))));
    const count = countFinal(names, FOUND);
    const list = await this.list(index, successorsFirst(names, successors), facts);
    if (!parts.length) {
      const words = `No instruction of before_optimizations has this op_name; ${count}`;
      return [element("p.xr-muted", null, words), list];
    }
    const written = parts.flatMap((part, place) => [place ? ", " : "", element("code", null, part)]);
    const itself = renderUnnamed(unnamedSuccessors(successors, names));
    const verb = names.length === 1 ? "carries" : "carry";
    const carried = itself.length ? count.replace(".", ` only ${verb} its op_name.`) : count;
    const words = ["In before_optimizations it is ", ...written, ", relative to a call that was inlined; ", carried];
    const histories = numbers.length ? await this.ofCall(index, names, numbers) : [];
    const others = parts.flatMap((part) => leftOutPart(index, part));
    return [...itself, element("p.xr-muted", null, ...words), list, ...histories, ...others];
  }

  /**
   * Lists the first of some final instructions, matrix products before others.
   * @param {Index} index
   * @param {string[]} names
   * @param {import("./facts.js").InstructionFacts | null} facts
   */
  async list(index, names, facts) {
    const sorted = facts ? productsFirst(names, (name) => facts.kind(name)) : names;
    const lines = await Promise.all(sorted.slice(0, FOUND).map((name) => this.bearer(index, name, facts)));
    return element("ul.xr-places", null, ...lines);
  }

  /**
   * Tells the histories of op_names of the first snapshot; first which of their instructions one call is.
   * @param {Index} index
   * @param {string[]} names of instructions of the final snapshot
   * @param {number[]} numbers of the op_names
   */
  async ofCall(index, names, numbers) {
    const firstNumbers = names.map((name) => numbersOf(index, name).find((number) => number < index.forward));
    const subjectNumbers = firstNumbers.filter((number) => number !== undefined).slice(0, FOUND);
    const read = (/** @type {number} */ number) => this.subject(index, number);
    const [subjects, answers] = await Promise.all([
      Promise.all(subjectNumbers.map(read)),
      Promise.all(numbers.map(read)),
    ]);
    const intro = answers.flatMap((answer) => renderLeading(answer, subjects));
    if (!intro.length) return this.answer(index, numbers);
    const view = new SubjectView(index, this.steps, await this.facts());
    return [
      ...intro,
      element("p.xr-muted", null, "Of all calls together:"),
      ...answers.map((answer) => view.part(answer, false)),
    ];
  }

  /**
   * @param {Index} index
   * @param {string} name of an instruction of the final snapshot
   * @param {import("./facts.js").InstructionFacts | null} facts
   */
  async bearer(index, name, facts) {
    const number = numbersOf(index, name).find((subject) => subject < index.forward);
    const made = number === undefined ? null : (await this.subject(index, number)).events;
    const since = made && new SubjectView(index, this.steps, null).since(`%${name}`, made);
    const fusion = facts?.fusionOf(name) ?? "";
    const inside = fusion ? [" in ", historyLink(fusion)] : [];
    return element(
      "li",
      null,
      historyLink(name),
      " ",
      element("span.xr-muted", null, facts?.kind(name) ?? ""),
      ...inside,
      since,
    );
  }

  /**
   * @param {Index} index
   * @param {number} number
   * @returns {Promise<SubjectHistory>}
   */
  async subject(index, number) {
    const chunk = await this.chunk(Math.floor(number / index.chunk));
    const place = number % index.chunk;
    return {
      title: titleOf(index, number),
      subject: chunk.subjects[place],
      events: eventsOf(chunk, place),
      standings: chunk.standings,
      number,
    };
  }
}

/**
 * Draws the search for histories of a module.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export function drawHistory(host, key) {
  new Histories(host, key);
}
