/** Which columns of a table stand side by side, and how wide they are. */

import { NUMBERS, bareShape, formatted } from "./rows.js";

/** @typedef {import("./rows.js").TableData} TableData */

/** Columns that a table shows at first, and in a narrow window. */
const FIRST = 7;
const NARROW = 3;
/** The same of a table with a column of sentences: its first column and the sentence. */
const NARROW_SENTENCES = 2;
/** Characters of a line of a sentence at least. */
const LEAST_SENTENCE = 24;
/** Part of the room that sentences take where there is more text than room. */
const SENTENCE = 0.4;
const WIDEST = 64;
/** Characters to which a column of names shrinks before the table becomes wider than the window. */
const LEAST = 18;
/** The same of the first column, by which rows are told apart; at most half of the room. */
const LEAST_KEY = 34;
/** Rows of which numbers are written to see how long they are; all are about as long. */
const SAMPLE = 1000;
/** Characters beside the text: the sign of the order, the padding. */
const BESIDE = 4;
/** Part of the room that columns may want and still be squeezed into it: their widths are estimates, a bit large. */
const SQUEEZED = 1.05;

/**
 * Returns the columns that stand there at first: the leading ones that have a value in any row, and the one that
 * rows are ordered by.
 * @param {TableData} data
 * @param {boolean} narrow
 * @returns {number[]}
 */
export function firstColumns({ columns, rows, sort }, narrow) {
  const told = columns.some((column) => column.kind === "sentence");
  const most = narrow ? (told ? NARROW_SENTENCES : NARROW) : FIRST;
  const places = [...columns.keys()];
  if (columns.length <= most) return places;
  const filled = places.filter((place) => !place || !rows.length || rows.some((row) => isFilled(row[place])));
  const shown = filled.slice(0, most);
  if (sort && !shown.includes(sort[0])) shown[Math.min(most, shown.length) - 1] = sort[0];
  return shown;
}

/** @param {unknown} value */
const isFilled = (value) => value !== null && value !== undefined && value !== "";

/**
 * Reads what `chosenText` writes; null where it names no column.
 * @param {string | null} text
 * @param {number} count of all columns
 */
export function chosenColumns(text, count) {
  const places = [...new Set((text ?? "").split(".").filter(Boolean).map(Number))];
  const valid = places.filter((place) => Number.isInteger(place) && place >= 0 && place < count);
  return valid.length ? valid.sort((left, right) => left - right) : null;
}

/** @param {number[]} shown */
export const chosenText = (shown) => shown.join(".");

/**
 * Returns the characters of the longest text of each column.
 * @param {TableData} data
 * @returns {number[]}
 */
export function textWidths({ columns, rows }) {
  return columns.map((column, index) => {
    let longest = column.title.length + 2;
    for (const row of NUMBERS.has(column.kind) ? rows.slice(0, SAMPLE) : rows) {
      longest = Math.max(longest, bareShape(formatted(column, row[index]), column).length);
      if (longest >= WIDEST) return WIDEST + BESIDE;
    }
    return longest + BESIDE;
  });
}

/** @param {TableData["columns"][number]} column @returns {boolean} whether it has numbers, which are not cut */
export const isNumber = ({ kind }) => NUMBERS.has(kind);

/** @param {TableData["columns"][number]} column @returns {number} characters of its title with the sign of the order */
export const headWidth = ({ title }) => title.length + 2 + BESIDE;

/**
 * Divides the room of a table among its columns: names shrink, numbers do not.
 * @param {number[]} wanted characters
 * @param {boolean[]} firm whether a column keeps its width
 * @param {number} room characters
 * @param {boolean[]} [told] whether a column has sentences, which take what the names leave
 * @param {number[]} [heads] characters of the titles, below which a column does not shrink
 * @returns {number[]} characters, more than the room where it is too small
 */
export function dividedRoom(wanted, firm, room, told = [], heads = []) {
  const total = wanted.reduce((sum, width) => sum + width, 0);
  const key = Math.max(LEAST, Math.min(LEAST_KEY, room / 2));
  const names = wanted.map((width, place) =>
    firm[place] ? width : Math.min(width, Math.max(heads[place] ?? 0, place ? LEAST : key)),
  );
  const sentences = told.filter(Boolean).length;
  const others = names.reduce((sum, width, place) => sum + (told[place] ? 0 : width), 0);
  const left = Math.min(room * SENTENCE, (room - others) / Math.max(1, sentences));
  const least = wanted.map((width, place) =>
    told[place] ? Math.min(width, Math.max(LEAST_SENTENCE, left)) : names[place],
  );
  const spare = total - least.reduce((sum, width) => sum + width, 0);
  if (total <= room) return wanted.map((width) => (width * room) / total);
  const share = spare ? Math.max(0, room - total + spare) / spare : 0;
  const widths = wanted.map((width, place) => least[place] + (width - least[place]) * share);
  const sum = widths.reduce((all, width) => all + width, 0);
  return sum > room && sum <= SQUEEZED * room ? widths.map((width) => (width * room) / sum) : widths;
}
