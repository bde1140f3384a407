/**
 * The table of all instructions of a module as it was left: what they are from the index of the
 * graph, their figures from pieces of their own. Nothing of it is loaded until somebody asks.
 */

import { state } from "../core/address.js";
import { element } from "../core/elements.js";
import { load } from "../core/payloads.js";
import { loadGraph } from "../graphs/graph.js";
import { Table } from "./table.js";

const COLUMNS = [
  { title: "Instruction", kind: "code", of: "instruction" },
  { title: "Opcode", kind: "code", of: "opcode" },
  { title: "Shape", kind: "code", of: "shape", help: "long ones cut" },
  { title: "FLOPs", kind: "flops", help: "of all executions, by this report's cost model" },
  { title: "Bytes accessed", kind: "bytes", help: "of all executions; none inside a fusion" },
  {
    title: "In device memory",
    kind: "bytes",
    help: "the same as stored, which the share is of: padded to tiles, without on-chip memory; empty if equal",
  },
  {
    title: "Share",
    kind: "percent",
    help: "of the module's estimated time; fused instructions are part of the share of their fusion",
  },
  { title: "op_name scope", kind: "text", help: "scope of its op_name" },
  { title: "Source", kind: "text", help: "source line of its metadata" },
  { title: "Computation", kind: "code", of: "instruction", help: "computation that contains it" },
];
const SHARE = 6;

/** @typedef {import("../../types/payloads").InstructionFigures} Piece */

/**
 * @param {string} key
 * @returns {Promise<Piece[]>}
 */
export async function pieces(key) {
  const piece = (/** @type {number} */ number) => /** @type {Promise<Piece>} */ (load(`${key}-${number}`));
  const first = await piece(0);
  const others = Array.from({ length: first.pieces - 1 }, (_, place) => piece(place + 1));
  return [first, ...(await Promise.all(others))];
}

/**
 * Returns the rows of the table of all instructions.
 * @param {import("../graphs/graph.js").Index} index of the graph
 * @param {Piece[]} loaded
 * @returns {import("./rows.js").Cell[][]}
 */
export function rows(index, loaded) {
  const names = index.names.values();
  const inside = index.computations.flatMap(([name, count]) => Array(count).fill(name));
  /** @type {import("./rows.js").Cell[][]} */
  const listed = [];
  for (const piece of loaded) {
    for (let place = 0; place < piece.share.length; place += 1) {
      const at = listed.length;
      const [opcode] = index.looks[index.look[at]];
      const figures = [piece.flops[place], piece.bytes[place], piece.stored[place] ?? null, piece.share[place]];
      const from = [piece.scopes[piece.scope[place]], piece.sources[piece.source[place]]];
      listed.push([
        names.next().value ?? null,
        opcode,
        index.shapes[index.shape[at]][0],
        ...figures,
        ...from,
        inside[at],
      ]);
    }
  }
  return listed;
}

/**
 * @param {HTMLElement} host
 * @param {string} key
 */
async function show(host, key) {
  const room = element("div.xr-table", { "aria-busy": "true" }, "Loading\u2026");
  host.replaceChildren(room);
  const [{ index }, loaded] = await Promise.all([loadGraph(host.dataset.graph ?? ""), pieces(key)]);
  const note = index.complete ? "" : "Only part of the module is listed; the HLO text has the rest.";
  room.removeAttribute("aria-busy");
  /** @type {import("./rows.js").TableData} */
  const data = { columns: COLUMNS, rows: rows(index, loaded), sort: [SHARE, "desc"], empty: "No instructions." };
  new Table(room, key, data);
  host.append(element("p.xr-muted", null, note));
}

/**
 * Draws the table of all instructions, as soon as somebody asks for it.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export async function drawInstructions(host, key) {
  const open = () => show(host, key);
  const asked = () => state.get("t") === key;
  if (asked()) return open();
  const button = host.querySelector("button");
  const opened = new Promise((resolve) => {
    button?.addEventListener("click", resolve, { once: true });
    window.addEventListener("hashchange", () => asked() && resolve(null));
  });
  await opened;
  await open();
  host.querySelector("input")?.focus();
}
