import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import "./samples.js";
import { page, settled, textOf, textsOf } from "./page.js";
import { bindKey, installKeys } from "../src/keys.js";

const press = (key, rest = {}) => {
  const event = new document.defaultView.Event("keydown", { bubbles: true, cancelable: true });
  (rest.on ?? document.body).dispatchEvent(Object.assign(event, { key }, rest));
  return event.defaultPrevented;
};
let count = 0;

describe("a page with keys", () => {
  before(() => {
    page(
      '<div><a data-xr-key="]" title="Next module" href="#">next</a><input><b data-word="opcode:dot">dot</b><i data-meaning="A sentence.">x</i></div>',
    );
    installKeys();
    bindKey("j", "Count", () => (count += 1));
  });

  test("a key that is bound acts, but not while the reader types or holds another one", () => {
    assert.ok(press("j"));
    assert.equal(count, 1);
    assert.ok(!press("j", { on: document.querySelector("input") }));
    for (const held of ["ctrlKey", "metaKey", "altKey"]) press("j", { [held]: true });
    assert.equal(count, 1);
    assert.ok(!press("x"));
  });

  test("a key that an element names presses it", () => {
    let clicks = 0;
    document.querySelector("[data-xr-key]").addEventListener("click", () => (clicks += 1));
    press("]");
    assert.equal(clicks, 1);
  });

  test("all keys of the page are listed", () => {
    press("?");
    assert.deepEqual(textsOf(document, ".xr-keys tr"), ["?Show this help", "]Next module", "jCount", "EscClose"]);
  });

  test("what has a meaning says it where the pointer or the focus is", async () => {
    const [word, meaning] = ["b", "i"].map((tag) => document.querySelector(`div > ${tag}`));
    const tip = document.querySelector(".xr-tip");
    for (const node of [word, meaning]) node.getBoundingClientRect = () => ({ left: 1, bottom: 2, top: 0 });
    word.dispatchEvent(new document.defaultView.Event("focusin", { bubbles: true }));
    await settled();
    assert.deepEqual(
      [textOf(tip), tip.hidden, word.getAttribute("aria-describedby")],
      ["Multiplies matrices.", false, "xr-tip"],
    );
    meaning.dispatchEvent(new document.defaultView.Event("focusin", { bubbles: true }));
    await settled();
    assert.deepEqual([textOf(tip), word.hasAttribute("aria-describedby")], ["A sentence.", false]);
    press("Escape");
    assert.ok(tip.hidden);
  });
});
