/**
 * What lives in memory at a moment: a click on the chart, or the slider below it, lists the values in use
 * at that position of the schedule, the largest first. pages/memory/tables.py has the form of the data.
 */

import { element } from "../core/elements.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";

/** Where the chart begins and ends, and its width: pages/memory/chart.py. */
const [LEFT, RIGHT, WIDTH] = [64, 8, 760];
const SHOWN = 20;

/** @typedef {[name: string, bytes: number, kind: string, start: number, end: number, argument: string]} Living */

/**
 * Returns what is in use at a position, as it stands in the rows, and its bytes.
 * @param {Living[]} rows
 * @param {number} position
 * @returns {{ living: Living[]; bytes: number }}
 */
export function livingAt(rows, position) {
  const living = rows.filter(([, , , start, end]) => start <= position && position <= end);
  return { living, bytes: living.reduce((sum, row) => sum + row[1], 0) };
}

/**
 * @param {number} x of a pointer, from the left of the chart
 * @param {number} width of the chart
 * @param {number} positions
 */
export function positionAt(x, width, positions) {
  const share = ((x / width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
  return Math.round(Math.min(1, Math.max(0, share)) * (positions - 1));
}

/**
 * @param {HTMLElement} host the figure with the chart
 * @param {string} key
 */
export async function drawLiving(host, key) {
  const { rows } = /** @type {{ rows: Living[] }} */ (await load(key));
  const positions = Number(host.dataset.positions);
  const slider = element("input", { type: "range", min: 0, max: positions - 1, id: "xr-moment" });
  const said = element("p.xr-muted", { role: "status" });
  const body = element("tbody", null);
  const head = ["HLO value", "Size", "Kind", "Positions"].map((title) => element("th", { scope: "col" }, title));
  const table = element("table.xr-static", null, element("thead", null, element("tr", null, ...head)), body);
  const show = () => {
    const position = Number(slider.value);
    const { living, bytes } = livingAt(rows, position);
    const more = living.length > SHOWN ? `; the largest ${SHOWN} are listed` : "";
    said.textContent = `Position ${format.count(position)}: ${format.plural(living.length, "value")}, ${format.bytes(bytes)} in total${more}. Values that share memory are added.`;
    body.replaceChildren(...living.slice(0, SHOWN).map(line));
  };
  slider.addEventListener("input", show);
  const chart = host.querySelector("svg");
  chart?.addEventListener("click", (event) => {
    const box = chart.getBoundingClientRect();
    slider.value = String(positionAt(event.clientX - box.left, box.width, positions));
    show();
  });
  slider.value = host.dataset.peak ?? "0";
  show();
  host.append(
    element("label.xr-moment", { for: "xr-moment" }, "Live at schedule position", slider),
    said,
    element("details.xr-more", null, element("summary", null, "Values live there"), table),
  );
}

/** @param {Living} row */
function line([name, bytes, kind, start, end, argument]) {
  const value = element("code", null, `%${name}`);
  return element(
    "tr",
    null,
    element("td", null, ...(argument ? [element("code", null, argument), " (", value, ")"] : [value])),
    element("td.xr-number", null, format.bytes(bytes)),
    element("td", null, kind),
    element("td.xr-number", null, `${format.count(start)}\u2013${format.count(end)}`),
  );
}
