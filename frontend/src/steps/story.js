/**
 * What one step did: its account in words, the groups of changes, opcodes, pictures, text.
 */

import { drawComponents } from "../core/components.js";
import { element, errorMessage, scrolledTable } from "../core/elements.js";
import { format } from "../core/format.js";
import { load } from "../core/payloads.js";
import { gradeChip, nameNode, sentence } from "../names/sentences.js";
import { drawDiff } from "./diff_view.js";

const SHOWN_OPCODES = 12;
const SHOWN_GROUPS = 8;
const ORDER = ["", "exact", "matched", "guessed"];

/** @typedef {import("../../types/payloads").Names} Names */
/** @typedef {import("../../types/payloads").Example} Example */
/** @typedef {import("../../types/payloads").Group} Group */
/** @typedef {import("../../types/payloads").PicturePlace} Drawn */
/** @typedef {import("../../types/payloads").ChangedPlace} Place */
/** @typedef {import("../../types/payloads").Story} Story */

/** @param {string} kind */
function look(kind) {
  if (/^(added|cloned|copied|defined|fused|leftover|outlined|parameter)$/.test(kind)) return "added";
  return /^(removed|dead|uncalled|unapplied|argument|merged|unified|inlined|absorbed)$/.test(kind)
    ? "removed"
    : "changed";
}

/** @param {Names} names */
function nameList(names) {
  if (names === null || names.length === 0) return element("span.xr-muted", null, "\u2014");
  const all = typeof names === "string" ? [names] : names;
  return element(
    "span",
    null,
    ...all.flatMap((name, place) => [
      place ? ", " : "",
      typeof name === "number" ? `and ${format.count(name)} more` : nameNode(name),
    ]),
  );
}

/** @param {Example} example */
function exampleRow(example) {
  return element(
    "tr",
    null,
    element("td", null, nameList(example.before)),
    element("td.xr-arrow", null, "\u2192"),
    element("td", null, nameList(example.after)),
    element("td.xr-muted", null, example.where ?? ""),
    element("td", null, ...sentence(example.reason ?? ""), " ", gradeChip(example.grade)),
  );
}

/**
 * Draws all groups of one kind of change.
 * @param {Group[]} groups
 * @param {number} place
 */
function kindPart(groups, place) {
  const [{ kind, label }] = groups;
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  const weakest = groups
    .map((group) => group.grade ?? "")
    .sort((left, right) => ORDER.indexOf(right) - ORDER.indexOf(left))[0];
  const tables = () => [
    groupTable(label, groups.slice(0, SHOWN_GROUPS)),
    groups.length > SHOWN_GROUPS && groupsMore(label, groups.slice(SHOWN_GROUPS)),
  ];
  const part = element(
    "details.xr-group",
    { open: place === 0 },
    element(
      "summary",
      null,
      element(`span.xr-mark-sign.xr-${look(kind)}`, { "aria-hidden": "true" }),
      element("span.xr-group-title", null, label),
      element("span.xr-count", null, `${format.count(count)}\u00d7`),
      gradeChip(weakest),
    ),
  );
  return filledOnOpening(part, tables);
}

/**
 * Fills what is folded when it is opened: there may be thousands of rows in it.
 * @param {HTMLDetailsElement} details
 * @param {() => (Node | false)[]} content
 */
function filledOnOpening(details, content) {
  const fill = () => details.append(...content().filter((part) => part !== false));
  if (details.open) fill();
  else details.addEventListener("toggle", fill, { once: true });
  return details;
}

/**
 * @param {string} label
 * @param {Group[]} groups
 */
function groupsMore(label, groups) {
  const summary = element("summary", null, `${format.plural(groups.length, "more group")}`);
  return filledOnOpening(element("details.xr-fold", null, summary), () => [groupTable(label, groups)]);
}

/**
 * @param {string} label
 * @param {Group[]} groups
 */
function groupTable(label, groups) {
  return scrolledTable(label, ["Before", "", "After", "Where", "Why"], ...groups.map(groupRows));
}

/** @param {Group} group */
function groupRows({ title, count, grade: surest, examples, rest = [] }) {
  const head = element(
    "th",
    { colspan: 5, scope: "rowgroup" },
    title,
    " ",
    element("span.xr-count", null, `${format.count(count)}\u00d7`),
    " ",
    gradeChip(surest),
  );
  const rows = examples.map(exampleRow);
  return element("tbody", null, element("tr.xr-group-head", null, head), ...rows, moreRow(count - rows.length, rest));
}

/**
 * Says how many rows of a group are not drawn; a click draws those of the next payload in its place.
 * @param {number} count
 * @param {[string, number][]} rest
 * @returns {HTMLTableRowElement | false}
 */
function moreRow(count, [next, ...rest]) {
  if (count <= 0) return false;
  const words = `+${format.count(count)} more`;
  const row = (/** @type {Node | string} */ content) =>
    element("tr", null, element("td.xr-muted", { colspan: 5 }, content));
  if (!next) return row(words);
  const [key, place] = next;
  const button = element("button.xr-button", { type: "button" }, words);
  const shown = row(button);
  button.onclick = async () => {
    button.disabled = true;
    try {
      const rows = /** @type {Example[][]} */ (await load(key))[place].map(exampleRow);
      const more = moreRow(count - rows.length, rest);
      shown.replaceWith(...rows, ...(more ? [more] : []));
      rows[0].tabIndex = -1;
      rows[0].focus();
    } catch (error) {
      shown.replaceWith(row(`${words}: ${errorMessage(error)}`));
    }
  };
  return shown;
}

/** @param {Group[]} groups */
function kindParts(groups) {
  const kinds = [...new Set(groups.map(({ kind }) => kind))];
  return kinds.map((kind, place) =>
    kindPart(
      groups.filter((group) => group.kind === kind),
      place,
    ),
  );
}

/** @param {[string, boolean][]} ran every pass of the step, where the compiler listed them */
function ranPart(ran) {
  if (ran.length < 2) return null;
  const changed = ran.filter(([, change]) => change).length;
  const rows = ran.map(([name, change]) =>
    element("li", null, element("code", null, name), change && element("b", null, " reported a change")),
  );
  const words = `All ${format.count(ran.length)} passes, in order; ${changed ? format.count(changed) : "none"} reported a change`;
  return element("details.xr-fold", null, element("summary", null, words), element("ol", null, ...rows));
}

/** @param {Story} story */
function figuresPart({ figures, uncounted, time }) {
  const changed = figures.filter(([, , , difference]) => difference);
  const same = figures.filter(([, , , difference]) => !difference);
  const rows = changed.map(([what, before, after, difference]) =>
    element(
      "tr",
      null,
      element("th", { scope: "row" }, what),
      element("td", null, before),
      element("td.xr-arrow", null, "\u2192"),
      element("td", null, after),
      element("td.xr-figure-delta", null, difference),
    ),
  );
  const unchanged = same.map(([what, before]) => `${what} (${before})`);
  return element(
    "div.xr-step-figures",
    null,
    rows.length > 0 &&
      element("table.xr-static", { "aria-label": "Figures before and after" }, element("tbody", null, ...rows)),
    unchanged.length > 0 && element("p.xr-muted", null, `Unchanged: ${unchanged.join(", ")}.`),
    uncounted && element("p.xr-muted", null, uncounted),
    time && element("p.xr-muted", null, time),
  );
}

/** @param {[string, number | null, number | null][]} opcodes */
function opcodePart(opcodes) {
  const changed = opcodes.filter(([, before, after]) => before !== after);
  changed.sort((left, right) => Math.abs(delta(right) ?? 0) - Math.abs(delta(left) ?? 0));
  if (!changed.length) return null;
  const hidden = changed.splice(SHOWN_OPCODES);
  const all = (/** @type {typeof opcodes} */ shown) => element("div.xr-opcodes", null, ...shown.map(opcodeRow));
  const more = () => [all(hidden)];
  return element(
    "section",
    null,
    element("h3", null, "Opcode counts"),
    all(changed),
    hidden.length > 0 &&
      filledOnOpening(element("details.xr-fold", null, element("summary", null, `${hidden.length} more`)), more),
  );
}

/** @param {[string, number | null, number | null]} opcode */
const delta = ([, before, after]) => (before === null || after === null ? null : after - before);

/** @param {[string, number | null, number | null]} opcode */
function opcodeRow(opcode) {
  const [name, before, after] = opcode;
  const change = delta(opcode) ?? 0;
  const shown = (/** @type {number | null} */ number) => (number === null ? format.unknown : format.count(number));
  return element(
    "div.xr-opcode",
    { title: `${shown(before)} before, ${shown(after)} after` },
    element("code", null, name),
    element(`span.xr-delta.${change > 0 ? "xr-added" : "xr-removed"}`, null, format.signed(change)),
    element("span.xr-muted", null, `${shown(before)} \u2192 ${shown(after)}`),
  );
}

/** @param {Story} story */
function picturePart({ pictures }) {
  if (!pictures) return null;
  const { note, left_out: leftOut, places = [] } = pictures;
  const figures = [drawn("Before", pictures.before), drawn("After", pictures.after)];
  if (!figures.some(Boolean) && !note) return null;
  return element(
    "section",
    null,
    element("h3", null, "Graph diff"),
    note && element("p.xr-muted", null, ...sentence(note)),
    figures.some(Boolean) && element("div.xr-pair", null, ...figures),
    leftOut?.length ? leftOutPart(leftOut, places) : null,
  );
}

/**
 * @param {string[]} lines what changed besides, each line of one kind
 * @param {Place[]} places
 */
function leftOutPart(lines, places) {
  const item = (/** @type {string} */ line, /** @type {number} */ number) =>
    element("li", null, ...sentence(line), ...places.filter((place) => place.line === number).map(placePart));
  const summary = element("summary", null, `Other changes (${lines.length})`);
  return filledOnOpening(element("details.xr-fold.xr-left-out", null, summary), () => {
    const list = element("ul", null, ...lines.map(item));
    drawComponents(list);
    return [list];
  });
}

/** @param {Place} place whose pictures are drawn when it is opened */
function placePart({ name, before, after }) {
  return element(
    "details.xr-fold",
    null,
    element("summary", null, "Drawn: ", element("code", null, name)),
    element("div.xr-pair", null, drawn("Before", before), drawn("After", after)),
  );
}

/**
 * @param {string} words
 * @param {Drawn | null} picture
 */
function drawn(words, picture) {
  if (!picture) return null;
  return element(
    "figure.xr-picture",
    {
      "data-xr-picture": picture.key,
      "data-name": picture.name,
      "data-drawing": picture.place,
      "data-alt": `${words}: ${picture.alt}`,
      "data-side": words.toLowerCase(),
    },
    element("figcaption", null, words),
  );
}

/** @param {Story} story */
function textPart({ diff }) {
  if (!diff?.hunks.length) return null;
  return element("section", null, element("h3", null, "HLO diff"), drawDiff(diff));
}

/**
 * Draws everything that the payload of a step holds.
 * @param {Story} story
 * @returns {HTMLElement}
 */
export function drawStory(story) {
  const part = element(
    "div",
    null,
    story.certain && element("p.xr-certain", null, ...sentence(story.certain)),
    ranPart(story.ran ?? []),
    story.account.length > 0 &&
      element("ul.xr-account", null, ...story.account.map((words) => element("li", null, ...sentence(words)))),
    figuresPart(story),
    story.groups.length > 0 && element("h3", null, "Changes by instruction"),
    ...kindParts(story.groups),
    opcodePart(story.opcodes),
    picturePart(story),
    textPart(story),
  );
  drawComponents(part);
  return part;
}
