import assert from "node:assert/strict";
import { test } from "node:test";
import { page, textsOf } from "../page.js";
import { applyMode, modeChoice } from "../../src/pictures/modes.js";

/** @returns {any} a picture with some modes, as far as the choice looks at it */
function picture(modes, chosen) {
  const host = page("<figure><svg></svg></figure>");
  if (chosen) host.dataset.mode = chosen;
  const svg = host.firstElementChild;
  svg.dataset.modes = modes;
  return { host, svg, source: '<svg class="xg by-opcode">' };
}

test("a picture is shown in the mode that was chosen, else in the first", () => {
  const drawn = picture("opcode cost memory", "cost");
  applyMode(drawn);
  assert.equal(drawn.svg.getAttribute("class"), "by-cost");
  assert.equal(drawn.source, '<svg class="xg by-cost">');
  const other = picture("opcode cost", "time");
  applyMode(other);
  assert.equal(other.svg.getAttribute("class"), "by-opcode");
});

test("only known modes are offered, and no choice where there is none", () => {
  const choice = modeChoice(picture("opcode cost toString <b>"));
  assert.deepEqual(textsOf(choice, "option"), ["opcode category", "cost"]);
  assert.ok(modeChoice(picture("opcode")) === null);
  assert.ok(modeChoice(picture("")) === null);
});

test("the choice is kept for what opens in the same place", () => {
  const drawn = picture("opcode cost");
  const select = modeChoice(drawn).querySelector("select");
  select.value = "cost";
  select.dispatchEvent(new document.defaultView.Event("change"));
  assert.deepEqual([drawn.host.dataset.mode, drawn.svg.classList.contains("by-cost")], ["cost", true]);
});
