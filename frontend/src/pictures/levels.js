/**
 * Boxes that open into other pictures: the picture changes in its place, and a line above says where
 * it stands and leads back. `data-levels` names the index of the pictures behind one.
 */

import { element, prose } from "../core/elements.js";
import { unfold } from "../core/packing.js";
import { load } from "../core/payloads.js";
import { loadGraph } from "../graphs/graph.js";
import { Picture } from "./picture.js";
import { recordSvg } from "./records.js";

/** @typedef {{target: string, title: string, in: number, up: number}} Level what boxes name, the number of its bundle, which picture leads to it */
/** @typedef {{key: string, graph: string, pictures: Level[], note: string}} Levels the first one stands in the page */

/**
 * Loads what there is behind a picture.
 * @param {string} key
 * @returns {Promise<Levels>}
 */
async function loadLevels(key) {
  const {
    targets,
    titles,
    in: bundles,
    up,
    ...rest
  } = await /** @type {Promise<Payload<"m/x/pictures">>} */ (load(key));
  const words = unfold(titles);
  const pictures = unfold(targets).map((target, place) => ({
    target,
    title: words[place],
    in: bundles[place],
    up: up[place],
  }));
  return { key, pictures, ...rest };
}

/** The picture with which each element began. @type {WeakMap<HTMLElement, Picture>} */
const begun = new WeakMap();

/**
 * Opens the picture of a target in place of the one that names it.
 * @param {Picture} picture
 * @param {string} target `c=COMPUTATION` or `g=PART`
 * @returns {Promise<boolean>} whether there is such a picture
 */
export async function openLevel(picture, target) {
  const key = picture.host.dataset.levels;
  if (!key) return false;
  const levels = await loadLevels(key);
  const place = levels.pictures.findIndex((level) => level.target === target);
  if (place < 0) {
    say(picture.host, levels.note);
    return false;
  }
  await show(picture, levels, place);
  return true;
}

/**
 * Opens the picture in which an instruction stands.
 * @param {Picture} picture
 * @param {string} name
 * @returns {Promise<Picture | null>} null where no picture has it
 */
export async function openLevelWith(picture, name) {
  const key = picture.host.dataset.levels;
  if (!key) return null;
  const levels = await loadLevels(key);
  const [graph, runs] = await Promise.all([
    loadGraph(levels.graph),
    /** @type {Promise<Payload<"m/x/pictures-where">>} */ (load(`${key}-where`)),
  ]);
  const place = graph.find(name);
  const shown = place === null ? -1 : nth(runs, place);
  return shown < 0 ? null : show(picture, levels, shown);
}

/**
 * @param {number[]} runs what there is and how often, in turn
 * @param {number} place
 * @returns {number} what there is at a place, -1 beyond the end
 */
function nth(runs, place) {
  let end = 0;
  for (let at = 0; at < runs.length; at += 2) {
    end += runs[at + 1];
    if (place < end) return runs[at];
  }
  return -1;
}

/**
 * @param {Picture} picture
 * @param {Levels} levels
 * @param {number} place
 * @returns {Promise<Picture>}
 */
async function show(picture, levels, place) {
  const { host } = picture;
  const first = begun.get(host) ?? picture;
  begun.set(host, first);
  const { pictures } = levels;
  const svg = place ? await drawn(levels, pictures[place]) : first.source;
  const around = [];
  for (let { up } = pictures[place]; up >= 0; up = pictures[up].up) around.unshift(up);
  const back = around.map((outer) =>
    element("button.xr-button", { type: "button", onclick: () => show(picture, levels, outer) }, pictures[outer].title),
  );
  const crumbs = element(
    "nav.xr-levels",
    { "aria-label": "Enclosing graphs" },
    ...back.flatMap((button) => [button, " \u203a "]),
    element("span", { "aria-current": "true" }, pictures[place].title),
  );
  host.replaceChildren();
  const opened = new Picture(host, place ? `${first.key}-${place}` : first.key, svg, picture.openers);
  if (back.length) host.prepend(crumbs);
  opened.canvas.focus({ preventScroll: true });
  return opened;
}

/**
 * @param {Levels} levels
 * @param {Level} level
 * @returns {Promise<string>} its SVG
 */
async function drawn({ key, graph: known }, { in: bundle, target }) {
  const [{ pictures }, graph] = await Promise.all([
    /** @type {Promise<Payload<"m/x/pictures-0">>} */ (load(`${key}-${bundle}`)),
    loadGraph(known),
  ]);
  return recordSvg(pictures[target], 0, graph);
}

/**
 * @param {HTMLElement} host
 * @param {string} words
 */
function say(host, words) {
  if (!words) return;
  host.querySelector(".xr-levels-note")?.remove();
  host.append(element("p.xr-levels-note", { role: "status" }, ...prose(words)));
}
