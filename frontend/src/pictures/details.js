/**
 * What is known of a box in a picture: beside the picture, with ways on from it. Where the picture
 * shows the module as it was left (`data-graph` names its graph), everything; else what the box says.
 */

import { insideReport, shareableAddress, state } from "../core/address.js";
import { element, errorMessage, failure } from "../core/elements.js";
import { format } from "../core/format.js";
import { once } from "../core/once.js";
import { modulePageBeside, placeOf } from "../core/pages.js";
import { splitRows, unfold } from "../core/packing.js";
import { load } from "../core/payloads.js";
import { loadSnapshotGraph } from "../graphs/snapshot_graph.js";
import { gradeChip } from "../names/sentences.js";
import { openLevel } from "./levels.js";

const LISTED = 12;
/** Pixels of a picture beside which there is room for a panel; below a narrower one. */
const BESIDE = 760;

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("../graphs/graph.js").Graph} Graph */
/** @typedef {[string[], string, string, string, [number | null, number | null, number | null, string] | null, [number, number, number, number, number | null, number] | null, string]} Row the line in parts, shape, op_name, source, figures of one run, what was measured: how often, seconds in total, own and on average, part of all runs, the microsecond in which it ran first; the module that ran */

/**
 * Shows where a box leads to.
 * @param {Picture} picture
 * @param {Element} box
 * @param {string} target
 */
export async function openDetails(picture, box, target) {
  if (!target.startsWith("i=") && (await openLevel(picture, target))) return;
  const name = target.startsWith("i=") ? target.slice(2) : (box.getAttribute("data-node") ?? target.slice(2));
  const panel = element("section.xr-details", { "aria-label": `Details of ${name}`, tabindex: -1 });
  const close = () => {
    panel.remove();
    /** @type {SVGGElement} */ (box).focus({ preventScroll: true });
  };
  panel.addEventListener("keydown", (event) => event.key === "Escape" && (event.stopPropagation(), close()));
  picture.host.querySelector(".xr-details")?.remove();
  picture.host.classList.toggle("xr-beside", picture.host.clientWidth > BESIDE);
  picture.canvas.after(panel);
  panel.append(
    head(name, close, exploring(picture.host, name)),
    ways(picture, box, name),
    ...(await facts(picture, box, name)),
  );
  panel.focus({ preventScroll: true });
  const moved = () => requestAnimationFrame(() => picture.reveal(box)); // when the picture has its new width
  if (picture.host.classList.contains("xr-beside")) requestAnimationFrame(moved);
  const place = panel.getBoundingClientRect();
  if (place.bottom > innerHeight || place.top < 0) panel.scrollIntoView({ block: "nearest" });
}

/**
 * @param {string} name
 * @param {() => void} close
 * @param {string | null} around the address of what is around it
 */
function head(name, close, around) {
  const status = element("span.xr-muted", { role: "status" });
  const code = element("code", null, `%${name.replace(/^%/, "")}`);
  return element(
    "header",
    null,
    element("h3", null, code),
    element(
      "div.xr-details-tools",
      null,
      copier("Copy name", () => name, code, status),
      around && copier("Copy link", () => shareableAddress(around), code, status),
      element("button.xr-button", { type: "button", onclick: close }, "Close"),
      status,
    ),
  );
}

/**
 * @param {string} words
 * @param {() => string} text
 * @param {Element} shown selected where the browser does not let us copy
 * @param {HTMLElement} status
 */
function copier(words, text, shown, status) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      status.textContent = "copied";
    } catch {
      getSelection()?.selectAllChildren(shown);
      status.textContent = "selected: copy it with Ctrl+C";
    }
  };
  return element("button.xr-button", { type: "button", onclick: copy }, words);
}

/**
 * The ways on: what is around it, its history, the pictures of what it calls.
 * @param {Picture} picture
 * @param {Element} box
 * @param {string} name
 */
function ways(picture, box, name) {
  const around = exploring(picture.host, name);
  const marks = [...box.querySelectorAll("[data-target]")].map((mark) => {
    const target = mark.getAttribute("data-target") ?? "";
    const words = mark.querySelector("title")?.textContent ?? target.slice(2);
    return element("button.xr-button", { type: "button", onclick: () => openLevel(picture, target) }, `Open ${words}`);
  });
  return element(
    "p.xr-onward",
    null,
    around && element("a.xr-around", { href: around }, "Neighborhood"),
    document.querySelector("[data-xr-history]") &&
      element("a.xr-ask", { href: `#i=${encodeURIComponent(name)}` }, "History"),
    timelineLink(picture.host, box, name),
    inText(picture.host, name),
    ...marks,
  );
}

/**
 * @param {HTMLElement} host
 * @param {Element} box of a step's picture, which names the computation too
 * @param {string} name
 */
function timelineLink(host, box, name) {
  const [computation, rest] = (box.getAttribute("data-node") ?? "").split("/%");
  if (!page(host) || rest === undefined) return null;
  const asked = new URLSearchParams({ computation, frame: state.get("step") ?? "", watch: name });
  return element("a", { href: `${page(host)}#${asked}` }, "Neighborhood in every step");
}

/**
 * @param {HTMLElement} host a picture of a step has a side, and around it what each side's text is called
 * @param {string} name
 */
function inText({ dataset: { side = "" }, parentElement }, name) {
  const text = /** @type {HTMLElement | null} */ (parentElement?.closest(`[data-text-${side || "none"}]`))?.dataset[
    side === "before" ? "textBefore" : "textAfter"
  ];
  return text ? element("a", { href: `${text}&name=${encodeURIComponent(name)}` }, "In the HLO text") : null;
}

/**
 * @param {HTMLElement} host
 * @param {string} name
 * @returns {string | null} the address of what is around an instruction
 */
function exploring(host, name) {
  const here = /** @type {HTMLElement | null} */ (document.querySelector("[data-xr-graph]"));
  if (!here && !page(host)) return null;
  const asked = new URLSearchParams({ node: name });
  const [step, at] = [here && state.get("step"), snapshot(host, here)];
  if (step) asked.set("step", step);
  if (at) asked.set("at", at);
  return `${here ? "" : page(host)}#${asked}`;
}

/**
 * @param {HTMLElement} host a picture of a step has a side, and around it the snapshot of each side
 * @param {HTMLElement | null} here what draws what is around an instruction
 * @returns {string | undefined} the snapshot that it shows; none for the module as it was left
 */
function snapshot(host, here) {
  const { side } = host.dataset;
  const around = /** @type {HTMLElement | null} */ (host.closest("[data-at-after]"));
  if (side && around) return side === "before" ? around.dataset.atBefore : around.dataset.atAfter;
  const graph = /** @type {HTMLElement | null} */ (host.closest("[data-graph]"))?.dataset.graph;
  return graph && graph === here?.dataset.first ? "first" : graph?.split("@")[1];
}

/**
 * @param {HTMLElement} host
 * @returns {string | undefined} the page that draws what is around an instruction, where it is another one
 */
function page(host) {
  return /** @type {HTMLElement | null} */ (host.closest("[data-explore]"))?.dataset.explore;
}

/**
 * @param {Picture} picture
 * @param {Element} box
 * @param {string} name
 */
async function facts(picture, box, name) {
  const key = /** @type {HTMLElement | null} */ (picture.host.closest("[data-graph]"))?.dataset.graph;
  if (!key) return tooltipFacts(box);
  try {
    const graph = await loadSnapshotGraph(key);
    const place = graph.find(box.getAttribute("data-node") ?? "") ?? graph.find(name);
    return place === null ? tooltipFacts(box) : await known(graph, key, place);
  } catch (error) {
    return [...tooltipFacts(box), failure(errorMessage(error))];
  }
}

/** @param {Element} box what its tooltip says, a fact a line */
function tooltipFacts(box) {
  const lines = (box.querySelector("title")?.textContent ?? "").split("\n").filter(Boolean);
  if (!lines.length) return [element("p.xr-empty", null, box.getAttribute("aria-label") ?? "")];
  return [element("ul.xr-told", null, ...lines.map((fact) => element("li", null, element("code", null, fact))))];
}

/**
 * @param {Graph} graph
 * @param {string} key
 * @param {number} place
 * @returns {Promise<Row>}
 */
async function row(graph, key, place) {
  if (!graph.index.piece) return [[], graph.shape(place), graph.shade(place).scope.join("/"), "", null, null, ""];
  const { lines, shapes, scopes, sources, figures, times, module } = await piece(
    `${key}-${Math.floor(place / graph.index.piece)}`,
  );
  const at = place % graph.index.piece;
  const value = (/** @type {[any[], number[]]} */ [values, numbers]) => values[numbers[at]];
  return [
    lines[at],
    value(shapes),
    value(scopes),
    value(sources),
    value(figures),
    times ? value(times) : null,
    module ?? "",
  ];
}

/** @type {Map<string, Promise<any>>} */
const pieces = new Map();

/** @param {string} key of some details, whose lines are read once */
function piece(key) {
  return once(pieces, key, () =>
    /** @type {Promise<Payload<"m/x/graph-0">>} */ (load(key)).then(({ lines: [lengths, parts], ...rest }) => ({
      ...rest,
      lines: splitRows([lengths, unfold(parts)]),
    })),
  );
}

/**
 * @param {Graph} graph
 * @param {string} key
 * @param {number} place
 */
async function known(graph, key, place) {
  const [parts, shape, scope, source, figures, times, module] = await row(graph, key, place);
  const attributes = parts.slice(1).filter((part) => !part.startsWith("metadata="));
  const pairs = /** @type {[string, Node | string | null][]} */ ([
    ["opcode", `${graph.opcode(place)} ${graph.kind(place)}`.trim()],
    ["shape and layout", shape],
    ["cost", cost(figures)],
    ["measured", measured(times)],
    ["in Perfetto or XProf", traced(graph.name(place), module, times)],
    ["scope", scope],
    ["source", source],
    ["computation", standing(graph, place)],
    ["operands", names(graph, [...new Set(graph.operands(place).map((operand) => operand.place))])],
    ["used by", names(graph, [...graph.users(place)])],
    ["runs after", names(graph, graph.controls(place))],
    ["calls", called(graph, place)],
    [
      "attributes",
      attributes.length
        ? element("ul", null, ...attributes.map((part) => element("li", null, element("code", null, part))))
        : null,
    ],
    ["line", parts.length || graph.index.text ? line(graph, key, place, parts) : null],
  ]);
  const rows = pairs
    .filter(([, value]) => value)
    .map(([title, value]) => element("div", null, element("dt", null, title), element("dd", null, value ?? "")));
  return [element("dl", null, ...rows)];
}

/** @param {Row[4]} figures */
function cost(figures) {
  if (!figures) return null;
  const [flops, bytes, runs, grade] = figures;
  const shown = (/** @type {number | null} */ value, /** @type {(value: number) => string} */ words) =>
    value === null ? "not known" : words(value);
  const words = `${shown(flops, format.flops)}, ${shown(bytes, format.bytes)} accessed, in one run; runs ${runs === null ? "an unknown number of times" : runs === 1 ? "once" : format.plural(runs, "time")} `;
  return element("span", null, words, gradeChip(grade));
}

/** @param {Row[5]} times */
function measured(times) {
  if (!times) return null;
  const [count, total, own, mean, part] = times;
  const inside = own < total ? ` (${format.seconds(own)} without what ran inside of it)` : "";
  const share = part === null ? "" : `; ${format.percent(part)} of the time of all runs`;
  return `ran ${count === 1 ? "once" : format.plural(count, "time")}, ${format.seconds(total)} in total${inside}, ${format.seconds(mean)} on average${share}`;
}

/**
 * What to look for in a viewer of traces.
 * @param {string} name
 * @param {string} module
 * @param {Row[5]} times
 */
function traced(name, module, times) {
  if (!times) return null;
  const stamp = times[5].toLocaleString("en", { maximumFractionDigits: 3 });
  return element(
    "span",
    null,
    "search for ",
    element("code", null, name),
    " of module ",
    element("code", null, module),
    `; it began first at ${stamp} µs`,
  );
}

/**
 * @param {Graph} graph
 * @param {number} place
 */
function standing(graph, place) {
  const callers = graph.callers.get(graph.inside[place]) ?? [];
  const code = element("code", null, graph.computation(place));
  return element("span", null, code, callers.length > 0 && " called by ", callers.length > 0 && names(graph, callers));
}

/**
 * @param {Graph} graph
 * @param {number} place
 */
function called(graph, place) {
  const all = graph.calls(place).map(([attribute, computation]) => {
    const root = graph.root(computation);
    return element(
      "li",
      null,
      `${attribute} `,
      element("code", null, graph.index.computations[computation][0]),
      root !== null && " which ends in ",
      root !== null && link(graph, root),
    );
  });
  return all.length ? element("ul", null, ...all) : null;
}

/**
 * @param {Graph} graph
 * @param {number} place
 */
function link(graph, place) {
  return element(
    "a.xr-around",
    { href: `#node=${encodeURIComponent(graph.address(place))}` },
    element("code", null, `%${graph.name(place)}`),
  );
}

/**
 * @param {Graph} graph
 * @param {number[]} places
 */
function names(graph, places) {
  if (!places.length) return null;
  const shown = places.slice(0, LISTED).flatMap((place, at) => [at ? ", " : "", link(graph, place)]);
  const more = places.length - LISTED;
  return element("span", null, ...shown, more > 0 && ` and ${format.count(more)} more`);
}

/**
 * The line as written, and where it stands in the text of the snapshot.
 * @param {Graph} graph
 * @param {string} key
 * @param {number} place
 * @param {string[]} parts
 */
function line(graph, key, place, parts) {
  const { text, label } = graph.index;
  const address = modulePageBeside(
    key.replace(/\/(graph|versions)[^/]*$/, ""),
    "texts",
    placeOf({ text: text ?? "", name: graph.name(place) }),
  );
  return element(
    "div",
    null,
    parts.length > 0 &&
      element(
        "pre.xr-line-whole",
        { tabindex: 0, role: "region", "aria-label": "The line" },
        element("code", null, parts.join(", ")),
      ),
    text && element("a", { href: insideReport(address) }, `In the HLO text of ${label}`),
  );
}
