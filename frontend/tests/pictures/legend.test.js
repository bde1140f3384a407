import assert from "node:assert/strict";
import { test } from "node:test";
import { LOOK } from "../samples.js";
import { pictureFooter, stateSign } from "../../src/pictures/legend.js";

const node = (family, state = "same", mix = []) => ({ id: family, lines: [family], family, state, mix });
const PLACE = { left: 12, top: 100, width: 600 };
const DRAWING = { title: "", notes: [], nodes: [node("green", "added")], edges: [] };
const footer = (drawing, modes = [], place = PLACE) => pictureFooter({ ...DRAWING, ...drawing }, modes, LOOK, place);

test("the legend has the colors and the states that the picture has, no others", () => {
  const [parts] = footer({});
  const text = parts.join("");
  assert.match(text, /elementwise/);
  assert.match(text, /sign-added/);
  assert.doesNotMatch(text, /parameters|removed|runs after/);
});

test("colors of what a fusion contains are in the legend", () => {
  const [parts] = footer({ nodes: [node("green", "same", [["gray", 2]])] });
  assert.match(parts.join(""), /parameters/);
});

test("legends of modes stand in the same place, the highest gives the height", () => {
  const words = Array.from({ length: 9 }, (_, level) => [level, `level ${level} of the cost of all`]);
  const [parts, end] = footer({}, [{ mode: "cost", palette: "heat", words }]);
  const [, withoutMode] = footer({});
  assert.ok(end > withoutMode);
  const tops = ["opcode", "cost"].map(
    (mode) => /y="([\d.]+)"/.exec(parts[parts.indexOf(`<g class="legend of-${mode}">`) + 1])[1],
  );
  assert.equal(tops[0], tops[1]);
});

test("notes are wrapped to the width of the picture, and escaped", () => {
  const [parts] = footer({ notes: [`<b> ${"word ".repeat(40)}${"x".repeat(200)}`] });
  const notes = parts.filter((part) => part.startsWith('<text class="note"'));
  assert.ok(notes.length >= 4);
  assert.match(notes[0], /&lt;b&gt; word/);
  assert.ok(notes.at(-1).includes("x".repeat(200)));
});

test("a plain picture has notes alone", () => {
  assert.deepEqual(footer({ plain: true })[0], []);
});

test("only changes have a sign", () => {
  assert.match(stateSign("removed", 1, 2), /−/);
  assert.equal(stateSign("same", 1, 2), "");
  assert.equal(stateSign(undefined, 1, 2), "");
});
