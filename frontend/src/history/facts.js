/**
 * What a panel shows of an instruction of the final snapshot beside its history: cost, consumers,
 * and the facts of pages/history/instruction_facts.py: why a collective is there, buffers, fusions.
 */

import { partAddress } from "../core/address.js";
import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { loadGraph } from "../graphs/graph.js";
import { gradeChip, historyLink, sentence } from "../names/sentences.js";
import { pieces } from "../tables/instructions.js";

const MOST_USERS = 6;
/** Titles of facts beside which nothing general is said of fusions: collectives are not fused. */
const SAID = new Set(["Not fused", "Reason"]);
/** Fusions in fusions that are followed. */
const DEEPEST = 16;
const MICRO = 1e6;
/** Halves of asynchronous instructions, which no compiler fuses. */
const HALVES = /-(start|update|done)$/;
/** Opcodes of which no compiler asks whether to fuse them. */
const NO_WORK = new Set(["parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while", "conditional"]);

/** Opcodes of values that no instruction computes. */
const PASSED = new Set(["parameter", "constant", "tuple", "get-tuple-element", "bitcast"]);

/** Opcodes whose called computation works on scalars: an adder, or the order of a sort. */
const APPLIERS = /^(all-reduce|map|reduce|reduce-scatter|reduce-window|scatter|select-and-scatter|sort)(-start)?$/;

/** Opcodes of which the cost is that of the computations they call. */
const CALLERS = new Set(["while", "conditional", "call"]);
/** Opcodes in a computation that run another one, whose instructions have the cost. */
const RUNNERS = new Set([...CALLERS, "async-start"]);

/** @typedef {import("../../types/payloads").Fact} Fact */
/** @typedef {import("../../types/payloads").Facts} Stored */
/** @typedef {import("../graphs/graph.js").Graph} Graph */
/** @typedef {{flops: number | null, bytes: number | null, stored: number | null, share: number | null, scope: string}} Figures */

/** The facts of one module. */
export class InstructionFacts {
  /**
   * @param {Stored} stored
   * @param {Graph} graph of the final snapshot
   * @param {Figures[]} figures of its instructions, in its order
   */
  constructor(stored, graph, figures) {
    this.stored = stored;
    this.graph = graph;
    this.figures = figures;
    /** @type {Map<string, string[]>} names of instructions by their op_names */
    this.scopes = new Map();
    for (const [place, { scope }] of figures.entries()) {
      if (!scope) continue;
      const names = this.scopes.get(scope) ?? [];
      names.push(graph.name(place));
      this.scopes.set(scope, names);
    }
  }

  /**
   * @param {string} name without `%`
   * @returns {HTMLElement | null} null for what the final snapshot does not have
   */
  part(name) {
    const place = this.graph.find(name);
    if (place === null) return null;
    const facts = this.stored.facts[name] ?? [];
    const rows = [this.cost(place), ...facts.map(factRow), ...this.fusion(place, facts)];
    return element("dl.xr-panel-facts", null, ...rows.filter(Boolean).flat());
  }

  /**
   * @param {string} op
   * @returns {string[]} the instructions with this op_name, without values that are only passed on
   */
  carriers(op) {
    const { graph } = this;
    const isApplied = (/** @type {number} */ place) =>
      (graph.callers.get(graph.inside[place]) ?? []).some((caller) => APPLIERS.test(graph.opcode(caller)));
    return (this.scopes.get(op) ?? []).filter((name) => {
      const place = graph.find(name);
      return place !== null && !PASSED.has(graph.opcode(place)) && !isApplied(place);
    });
  }

  /**
   * @param {string} name without `%`
   * @returns {string} its opcode; empty for what the final snapshot does not have
   */
  kind(name) {
    const place = this.graph.find(name);
    return place === null ? "" : this.graph.opcode(place);
  }

  /**
   * @param {string} name without `%`
   * @returns {string} its op_name; empty where it has none
   */
  scopeOf(name) {
    const place = this.graph.find(name);
    return place === null ? "" : (this.figures[place]?.scope ?? "");
  }

  /**
   * @param {string} name without `%`
   * @returns {number} its share of the estimated time of a run; 0 where it is not known
   */
  share(name) {
    const place = this.graph.find(name);
    return place === null ? 0 : (this.counted(place).share ?? 0);
  }

  /**
   * @param {string} address `computation/%instruction`
   * @returns {string} the fusion that runs it, the outermost of several; empty where none does
   */
  fusionOf(address) {
    return this.holder(this.graph.find(address));
  }

  /**
   * @param {number | null} inner
   * @returns {string} the outermost fusion around it; empty where there is none
   */
  holder(inner) {
    const { graph } = this;
    let name = "";
    let place = inner;
    for (let level = 0; place !== null && level < DEEPEST; level += 1) {
      const callers = graph.callers.get(graph.inside[place]) ?? [];
      if (callers.length !== 1 || graph.opcode(callers[0]) !== "fusion") break;
      place = callers[0];
      name = graph.name(place);
    }
    return name;
  }

  /** @param {number} place of an instruction; the cost of what an `async-start` runs is its cost */
  cost(place) {
    const body = this.wrapped(place);
    const { flops, bytes, stored, share } = this.counted(body);
    const { seconds } = this.stored;
    if (share === null && flops === null && bytes === null) return null;
    if (this.graph.opcode(place) === "parameter") return null; // it costs nothing by itself
    const time = share !== null && seconds !== null ? `${format.float(share * seconds * MICRO)} µs` : "";
    const fusion = share ? this.holder(body) : "";
    const part = fusion && `, its part of ${fusion}`;
    const words = [
      share !== null &&
        `${[time, format.percent(share)].filter(Boolean).join(", ")} of the estimated time of a run${part}`,
      flops !== null && flops > 0 && format.flops(flops),
      bytes !== null && (bytes || !fusion) && `${format.bytes(bytes)} accessed`, // those of a fusion count at it
      stored !== null &&
        stored !== bytes &&
        (stored ? `${format.bytes(stored)} as stored in device memory` : "none of it in device memory"),
    ].filter(Boolean);
    const whose = body === place ? [] : [" Counted at ", historyLink(this.graph.name(body)), ", which it runs."];
    const inside = CALLERS.has(this.graph.opcode(body)) ? " of all that it runs" : "";
    const estimate = `${words.join("; ")}. Estimate, all executions${inside}.`;
    return row("Cost", "cost#heaviest-instructions", estimate, ...whose);
  }

  /**
   * @param {number} place
   * @param {number} levels of calls that are followed
   * @returns {Omit<Figures, "scope">} its figures; of a loop, conditional, call or start with those of what it calls
   */
  counted(place, levels = DEEPEST) {
    const { graph } = this;
    const { flops = null, bytes = null, stored = null, share = null } = this.figures[place] ?? {};
    const called = levels && RUNNERS.has(graph.opcode(place)) ? graph.calls(place) : [];
    const inner = called
      .flatMap(([, computation]) => graph.members(computation))
      .map((member) => this.counted(member, levels - 1));
    const figures = { flops, bytes, stored, share };
    return inner.reduce(
      (total, part) => ({
        flops: plus(total.flops, part.flops),
        bytes: plus(total.bytes, part.bytes),
        stored: plus(total.stored, part.stored),
        share: plus(total.share, part.share),
      }),
      figures,
    );
  }

  /**
   * @param {number} place
   * @returns {number} the instruction that an `async-start` runs, which has its cost; others themselves
   */
  wrapped(place) {
    const { graph } = this;
    if (graph.opcode(place) !== "async-start") return place;
    const [called] = graph.calls(place);
    return (called && graph.root(called[1])) ?? place;
  }

  /**
   * @param {number} place
   * @param {Fact[]} facts
   * @returns {boolean} whether it is in no fusion, and nothing of its own says why
   */
  isUnfused(place, facts) {
    const halved = HALVES.test(this.graph.opcode(place));
    return !halved && !this.holder(place) && !facts.some(([title]) => SAID.has(title));
  }

  /**
   * @param {number} place
   * @param {Fact[]} facts
   */
  fusion(place, facts) {
    const { graph } = this;
    if (NO_WORK.has(graph.opcode(place))) return [];
    const users = [...graph.users(place)];
    const shown = users
      .slice(0, MOST_USERS)
      .flatMap((user, at) => [at ? ", " : "", historyLink(graph.name(user)), ` (${graph.opcode(user)})`]);
    const more = users.length > MOST_USERS ? ` and ${format.count(users.length - MOST_USERS)} more` : "";
    const holder = this.holder(place);
    return [
      users.length > 0 && row("Consumers", "", ...shown, more),
      holder && row("Fusion", "", graph.isRoot(place) ? "The root of " : "In ", historyLink(holder), "."),
      this.isUnfused(place, facts) && row("Fusion", "", ...sentence(this.stored.fusion)),
    ];
  }
}

/**
 * @param {number | null} first
 * @param {number | null} second
 * @returns {number | null} the sum of what is known of two figures; null where neither is
 */
function plus(first, second) {
  return first === null || second === null ? (first ?? second) : first + second;
}

/** @param {Fact} fact */
function factRow([title, words, part, grade, text]) {
  const folded = text
    ? element("details.xr-own-words", null, element("summary", null, "XLA's own text"), ...sentence(text))
    : null;
  return row(title, part, ...sentence(words), " ", gradeChip(grade), folded);
}

/**
 * @param {string} title
 * @param {string} part of the module's page with more, and a place in it; empty for none
 * @param {...(Node | string | null)} words
 */
function row(title, part, ...words) {
  const [name, anchor] = part.split("#");
  const href = name && partAddress(name, anchor);
  return [element("dt", null, href ? element("a", { href }, title) : title), element("dd", null, ...words)];
}

/**
 * Loads the facts of a module; they are large, so only when somebody asks.
 * @param {string} key of the payload of facts, `m/x/facts`
 * @returns {Promise<InstructionFacts>}
 */
export async function loadFacts(key) {
  const folder = key.slice(0, key.lastIndexOf("/"));
  const [stored, graph, loaded] = await Promise.all([
    /** @type {Promise<Payload<"m/x/facts">>} */ (load(key)),
    loadGraph(`${folder}/graph`),
    pieces(`${folder}/instructions`),
  ]);
  const figures = loaded.flatMap((piece) =>
    piece.share.map((share, place) => ({
      share,
      flops: piece.flops[place],
      bytes: piece.bytes[place],
      stored: piece.stored[place] ?? piece.bytes[place],
      scope: piece.scopes[piece.scope[place]],
    })),
  );
  return new InstructionFacts(stored, graph, figures);
}
