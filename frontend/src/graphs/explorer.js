/**
 * What is around an instruction: its neighborhood, what it is made from, what is made of it, the way
 * to another one. Laid out here, for any instruction of any snapshot: `#node=dot.3&radius=2` is the
 * address, and with `&at=first` it is of the module as it came in, with `&at=0012` of that snapshot.
 */

import { state } from "../core/address.js";
import { element, errorMessage } from "../core/elements.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { layeredLayout } from "../pictures/layout.js";
import { interactivePicture } from "../pictures/interactive.js";
import { boxSize, writeSvg } from "../pictures/svg.js";
import { View, drawnBox, neighborhood, shortestPath } from "./neighborhood.js";
import { loadSnapshotGraph } from "./snapshot_graph.js";

const MOST = 150;
const SUGGESTED = 12;
const RADII = [1, 2, 3, 4, 6, 8];
const SHOWS = /** @type {Record<string, string>} */ ({
  around: "neighborhood",
  producers: "operands (transitive)",
  consumers: "users (transitive)",
  path: "path to another",
});

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./neighborhood.js").Arrow} Arrow */
/** @typedef {import("../pictures/svg.js").Drawing} Drawing */
/** @typedef {{node: string, show: string, radius: number, to: string, at: string}} Wanted `at` is `last`, `first`, or the key of a snapshot */

/**
 * @param {string} usual the snapshot where none is named
 * @returns {Wanted} what the address asks for
 */
function wanted(usual) {
  const show = state.get("show") ?? "around";
  const radius = Number(state.get("radius"));
  return {
    node: state.get("node") ?? "",
    show: show in SHOWS ? show : "around",
    radius: RADII.includes(radius) ? radius : 2,
    to: state.get("to") ?? "",
    at: state.get("at") || usual,
  };
}

/**
 * @param {View} view
 * @param {number[]} places
 * @param {Arrow[]} arrows
 * @param {Set<number>} focus
 * @param {{title: string, notes: string[]}} words
 * @returns {Drawing}
 */
function drawing(view, places, arrows, focus, { title, notes }) {
  const positions = new Map(places.map((place, position) => [place, position]));
  const edges = arrows.map(({ source, target, label, style }) => ({
    source: positions.get(source) ?? 0,
    target: positions.get(target) ?? 0,
    label,
    style,
  }));
  return {
    title,
    notes,
    nodes: places.map((place) => ({ ...drawnBox(view, place), look: focus.has(place) ? "focus" : "" })),
    edges,
  };
}

/**
 * @param {Graph} graph
 * @param {number} start
 * @param {Wanted} asked
 * @returns {{drawing: Drawing, summary: string}}
 */
function near(graph, start, { show, radius }) {
  const view = new View(graph, [start]);
  const how = { up: show !== "consumers", down: show !== "producers", radius, most: MOST };
  const { places, more, hubs } = neighborhood(view, start, how);
  const shown = [...places.keys()].sort((left, right) => left - right);
  const arrows = shown.flatMap((place) => view.arriving(place)).filter(({ source }) => places.has(source));
  const notes = [
    more > 0 &&
      `Left out: ${format.plural(more, "more instruction")} at the same distance; the nearest ${MOST} are drawn.`,
    hubs > 0 && `Not followed: ${format.plural(hubs, "instruction")} with very many users or operands.`,
    "Constants are named in the nodes of their users.",
  ];
  const title = `%${graph.name(start)}: ${SHOWS[show]}, ${format.plural(radius, "step")}`;
  const summary = `${format.plural(shown.length, "instruction")}, ${format.plural(arrows.length, "arrow")}, in ${graph.computation(start)}.${more ? ` ${format.count(more)} more are left out.` : ""}`;
  return {
    drawing: drawing(view, shown, arrows, new Set([start]), {
      title,
      notes: /** @type {string[]} */ (notes.filter(Boolean)),
    }),
    summary,
  };
}

/**
 * @param {Graph} graph
 * @param {number} from
 * @param {number} to
 * @returns {{drawing: Drawing | null, summary: string}}
 */
function way(graph, from, to) {
  const view = new View(graph, [from, to]);
  const names = [`%${graph.name(from)}`, `%${graph.name(to)}`];
  const there = shortestPath(view, from, to);
  const hops = there ?? shortestPath(view, to, from);
  if (!hops) return { drawing: null, summary: `No path between ${names[0]} and ${names[1]}.` };
  const [first, last] = there ? names : names.reverse();
  const arrows = hops.length > MOST ? [...hops.slice(0, MOST / 2), ...hops.slice(-MOST / 2)] : hops;
  const places = [...new Set([there ? from : to, ...arrows.flatMap(({ source, target }) => [source, target])])];
  const summary = `A shortest way from ${first} to ${last}: ${format.plural(hops.length, "step")}.`;
  const notes =
    hops.length > arrows.length
      ? [`Left out: ${format.plural(hops.length - arrows.length, "step")} in the middle.`]
      : [];
  return { drawing: drawing(view, places, arrows, new Set([from, to]), { title: summary, notes }), summary };
}

/**
 * @param {string} words
 * @param {HTMLElement} input
 * @param {...HTMLElement} rest
 */
function labeled(words, input, ...rest) {
  input.id = `xr-explore-${words.toLowerCase()}`;
  return element("div", null, element("label", { for: input.id }, words), input, ...rest);
}

/** The form, and the picture that answers. */
class Explorer {
  /**
   * @param {HTMLElement} host
   * @param {string} key of the graph's index
   */
  constructor(host, key) {
    this.host = host;
    this.key = key;
    this.node = this.field("Instruction", "node");
    this.to = this.field("To", "to");
    this.show = this.choice("Show", Object.entries(SHOWS));
    this.radius = this.choice(
      "Within",
      RADII.map((radius) => [String(radius), format.plural(radius, "step")]),
    );
    this.first = host.dataset.first ?? "";
    this.timelines = host.dataset.computations ?? "";
    this.at = this.choice("Snapshot", [["last", "final"], ...(this.first ? [["first", "first"]] : [])]);
    this.at.part.hidden = !this.first && !this.timelines;
    /** Every snapshot by its key, once somebody asks for one. @type {Promise<void> | null} */
    this.listed = null;
    this.at.input.addEventListener("focus", () => this.list());
    this.status = element("p.xr-muted", { role: "status" });
    this.figure = element("figure.xr-picture", { hidden: true });
    this.form = element(
      "form.xr-explore-form",
      null,
      this.node.part,
      this.at.part,
      this.show.part,
      this.radius.part,
      this.to.part,
      element("button.xr-button", { type: "submit" }, "Draw"),
    );
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    host.replaceChildren(this.form, this.status, this.figure);
    this.drawn = "";
    document.addEventListener("click", (event) => this.clicked(event));
    window.addEventListener("hashchange", () => this.answer(true));
    this.answer(false);
  }

  /**
   * @param {string} at
   * @returns {Promise<Graph>} that of a snapshot
   */
  graph(at) {
    const between = at !== "last" && at !== "first" && this.timelines;
    const key = between ? `${this.timelines}@${at}` : at === "first" && this.first ? this.first : this.key;
    this.host.dataset.graph = key;
    return loadSnapshotGraph(key);
  }

  /** Lists the snapshots between the first and the last. */
  list() {
    if (!this.timelines) return Promise.resolve();
    this.listed ??= /** @type {Promise<Payload<"m/x/versions">>} */ (load(this.timelines)).then(({ stages }) => {
      const between = stages.slice(1, -1).map(([key, label]) => element("option", { value: key }, label));
      this.at.input.append(element("optgroup", { label: "Snapshots in between" }, ...between));
    });
    return this.listed;
  }

  /** @returns {string} the snapshot that is meant where the address names none: that of the step which is shown */
  usual() {
    return (this.host.dataset.computations && document.querySelector("[data-xr-steps]") && state.get("step")) || "last";
  }

  /**
   * @param {string} words
   * @param {string} name
   */
  field(words, name) {
    const list = element("datalist", { id: `xr-explore-names-${name}` });
    const input = element("input", {
      type: "search",
      list: list.id,
      placeholder: "name or opcode",
      autocomplete: "off",
      spellcheck: "false",
    });
    input.addEventListener("input", () => this.suggest(input, list));
    input.addEventListener("change", () => this.ask());
    return { input, part: labeled(words, input, list) };
  }

  /**
   * @param {string} words
   * @param {string[][]} options
   */
  choice(words, options) {
    const input = element("select", null, ...options.map(([value, label]) => element("option", { value }, label)));
    input.addEventListener("change", () => this.ask());
    return { input, part: labeled(words, input) };
  }

  /**
   * @param {HTMLInputElement} input
   * @param {HTMLElement} list
   */
  async suggest(input, list) {
    const graph = await this.graph(this.at.input.value);
    const places = graph.search(input.value, SUGGESTED);
    list.replaceChildren(
      ...places.map((place) =>
        element("option", { value: graph.address(place) }, `${graph.opcode(place)} ${graph.shape(place)}`),
      ),
    );
  }

  /** Puts what the form says into the address, and answers it. */
  ask() {
    state.set({
      node: this.node.input.value.trim(),
      show: this.show.input.value,
      radius: this.radius.input.value,
      to: this.show.input.value === "path" ? this.to.input.value.trim() : null,
      at: this.at.input.value === this.usual() ? null : this.at.input.value,
    });
    this.answer(false);
  }

  /** @param {MouseEvent} event a click on a link to an instruction keeps the rest of the address */
  clicked(event) {
    const link = event.target instanceof Element ? event.target.closest("a.xr-around") : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const asked = new URLSearchParams((link.getAttribute("href") ?? "").slice(1));
    const inside = this.host.contains(link) ? state.get("at") : null;
    state.set({ node: asked.get("node"), show: null, to: null, at: asked.get("at") ?? inside });
    this.answer(true);
  }

  /** @param {boolean} follow whether to bring the picture into sight */
  async answer(follow) {
    const asked = wanted(this.usual());
    if (asked.at !== "last" && asked.at !== "first") await this.list();
    this.node.input.value = asked.node;
    this.to.input.value = asked.to;
    this.show.input.value = asked.show;
    this.radius.input.value = String(asked.radius);
    this.at.input.value = asked.at;
    this.to.part.hidden = asked.show !== "path";
    this.radius.part.hidden = asked.show === "path";
    if (!asked.node) {
      return this.empty("Enter an instruction, or click a node in a graph above and then \u201cNeighborhood\u201d.");
    }
    if (JSON.stringify(asked) === this.drawn) return;
    this.drawn = JSON.stringify(asked);
    try {
      await this.draw(await this.graph(asked.at), asked);
      if (follow || !this.begun) this.host.scrollIntoView({ block: "start" });
      this.begun = true;
    } catch (error) {
      this.empty(`Cannot draw this. ${errorMessage(error)}`);
    }
  }

  /** @param {string} words */
  empty(words) {
    this.drawn = "";
    this.status.textContent = words;
    this.figure.hidden = true;
    this.figure.replaceChildren();
  }

  /**
   * @param {Graph} graph
   * @param {Wanted} asked
   */
  async draw(graph, asked) {
    const [from, to] = [asked.node, asked.to].map((name) => graph.find(name) ?? graph.find(name.replace(/^.*\/%/, "")));
    if (from === null) return this.unknown(graph, asked.node);
    if (asked.show === "path" && to === null) {
      return asked.to ? this.unknown(graph, asked.to) : this.empty("Enter the instruction at the end of the path.");
    }
    const answer = asked.show === "path" ? way(graph, from, to ?? from) : near(graph, from, asked);
    if (!answer.drawing) return this.empty(answer.summary);
    const look = await load("pictures/look");
    const { nodes, edges } = answer.drawing;
    const layout = layeredLayout(
      nodes.map(boxSize),
      edges.map(({ source, target }) => [source, target]),
    );
    this.figure.hidden = false;
    this.figure.replaceChildren();
    this.figure.dataset.alt = answer.drawing.title;
    const picture = interactivePicture(
      this.figure,
      `graph-of-${graph.name(from)}`,
      writeSvg(answer.drawing, layout, look),
    );
    this.status.textContent = `${answer.summary} From ${graph.index.label}.`;
    requestAnimationFrame(() => picture.showFocus());
  }

  /**
   * @param {Graph} graph
   * @param {string} name
   */
  unknown(graph, name) {
    const similar = graph
      .search(name, SUGGESTED)
      .map((place) =>
        element("a.xr-around", { href: `#node=${encodeURIComponent(graph.address(place))}` }, `%${graph.name(place)}`),
      );
    const most = graph.index.complete ? "" : " This module is so large that not all of its computations are here.";
    const other = this.timelines ? " It may be there in another snapshot." : "";
    this.empty(
      `${graph.index.label} has no instruction %${name.replace(/^%/, "")}.${most}${other}${similar.length ? " Is one of these meant? " : ""}`,
    );
    this.status.append(...similar.flatMap((link, place) => [place ? ", " : "", link]));
  }
}

/**
 * Draws the form that asks what is around an instruction.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export function drawExplorer(host, key) {
  new Explorer(host, key);
}
