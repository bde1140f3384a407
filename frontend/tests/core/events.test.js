import assert from "node:assert/strict";
import { test } from "node:test";
import { element } from "../../src/core/elements.js";
import { isOfBrowser, isTyping } from "../../src/core/events.js";

test("a key with another one that is held is meant for the browser", () => {
  assert.ok(!isOfBrowser({ ctrlKey: false, metaKey: false, altKey: false }));
  for (const held of ["ctrlKey", "metaKey", "altKey"]) assert.ok(isOfBrowser({ [held]: true }), held);
});

test("in a field the reader types", () => {
  for (const tag of ["input", "textarea", "select"]) assert.ok(isTyping({ target: element(tag) }), tag);
  assert.ok(isTyping({ target: { isContentEditable: true } }));
  assert.ok(!isTyping({ target: element("a") }) && !isTyping({ target: document }));
});
