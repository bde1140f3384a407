import assert from "node:assert/strict";
import { test } from "node:test";
import "../samples.js";
import { go, page, payloads, settled, textOf, textsOf } from "../page.js";
import { drawSteps } from "../../src/steps/steps.js";

const step = (id, changed) => ({
  ...{ id, label: `${id} algsimp`, name: `after ${id}`, pipeline: "simplification", after: "algsimp", before: "dce" },
  ...{ changed, instructions: 9, computations: null, added: 1, removed: 2, modified: 0 },
  ...{ headline: "`%a` went.", files: [`${id}.txt`] },
});
const STEPS = [step("0000", null), step("0001", true), step("0002", false), step("0003", true), step("0004", null)];
const STORY = {
  ...{ headline: "", account: ["It did `this`."], certain: null, figures: [], time: "", groups: [], opcodes: [] },
  pictures: null,
  diff: {
    ...{ hunks: [], titles: [[], [], []], signs: "", before: [], after: [], moves: [], texts: null },
    ...{ own: [[], [], []], total: 0, shown: 0 },
  },
};

/** @returns {Promise<any>} the host of the steps at an address */
async function drawn(slug, fragment) {
  payloads.set(`m/${slug}/steps`, { module: "m", slug, tree: [], steps: STEPS, hidden_note: null });
  for (const { id } of STEPS) payloads.set(`m/${slug}/step-${id}`, STORY);
  const host = page();
  go(fragment);
  await drawSteps(host, `m/${slug}/steps`);
  await settled();
  return host;
}
const title = (host) => textOf(host.querySelector("h2:not(.xr-pipeline)"));
const buttons = (host) => [...host.querySelectorAll(".xr-step-moves button")];

test("the first step with changes is shown, and its address is there", async () => {
  const host = await drawn("steps1", "");
  assert.equal(title(host), "after 0001");
  assert.equal(location.hash, "#step=0001");
  assert.match(textOf(host), /1 of 2 with changes.*It did this\./);
});

test("a step that there is not is named", async () => {
  const host = await drawn("steps2", "#step=9999");
  assert.match(textOf(host.querySelector(".xr-warning")), /^No step 9999 in this module/);
  go("#step=0003");
  assert.equal(title(host), "after 0003");
  assert.ok(!host.querySelector(".xr-warning"));
});

test("next and previous skip what changed nothing, and end at the ends", async () => {
  const host = await drawn("steps3", "#step=0001");
  assert.deepEqual(
    buttons(host).map((button) => button.hasAttribute("disabled")),
    [true, false],
  );
  buttons(host)[1].click();
  assert.equal(title(host), "after 0003");
  buttons(host)[1].click();
  assert.equal(title(host), "after 0004");
  buttons(host)[0].click();
  assert.equal(title(host), "after 0003");
});

test("what the pass does, figures and files stand at the head", async () => {
  const head = textOf((await drawn("steps4", "#step=0001")).querySelector("header"));
  assert.match(head, /algsimp — Simplifies\./);
  assert.match(head, /instructions9computations–added\+1removed−2changed0/);
  assert.match(head, /1 file0001\.txt$/);
});

test("a step without a story says why", async () => {
  const said = async (slug, id) => textsOf(await drawn(slug, `#step=${id}`), ".xr-empty")[0];
  assert.match(await said("steps5", "0000"), /^before_optimizations: the module as it was given to XLA/);
  assert.match(await said("steps6", "0002"), /^No changes in this step/);
  assert.match(await said("steps7", "0004"), /^Not known/);
});

test("a story that is missing says so in its place", async () => {
  const host = await drawn("steps8", "#step=0001");
  payloads.delete("m/steps8/step-0003");
  go("#step=0003");
  await settled();
  assert.match(textOf(host.querySelector(".xr-failed")), /^This step cannot be shown\. The file .*step-0003/);
});
