import assert from "node:assert/strict";
import { test } from "node:test";
import { page, payloads, settled, textOf, textsOf } from "../page.js";
import { drawStory } from "../../src/steps/story.js";

const DIFF = { hunks: [], titles: [[], [], []], signs: "", before: [], after: [], moves: [], texts: null };
const STORY = {
  ...{ headline: "", account: [], certain: null, figures: [], time: "", groups: [], opcodes: [], pictures: null },
  diff: { ...DIFF, own: [[], [], []], total: 0, shown: 0 },
};
const drawn = (rest) => drawStory({ ...STORY, ...rest });
const group = (kind, grade, count = 1) => ({
  ...{ kind, label: `${kind} label`, title: `${kind} title`, count, grade },
  examples: [{ before: "a", after: ["%b", 3], where: null, reason: "went with `%c`", grade }],
});
const openFold = (details) => {
  details.open = true;
  details.dispatchEvent(new document.defaultView.Event("toggle"));
};

test("a story with nothing to say is empty", () => assert.equal(textOf(drawn({})), ""));

test("figures that stayed are one line", () => {
  const part = drawn({
    figures: [
      ["instructions", "5", "6", "+1"],
      ["fusions", "0", "0", ""],
    ],
    time: "1 ms",
  });
  assert.deepEqual(textsOf(part, "tr"), ["instructions5→6+1"]);
  assert.deepEqual(textsOf(part, "p"), ["Unchanged: fusions (0).", "1 ms"]);
});

test("groups of a kind stand together with their weakest grade, the first open", () => {
  const part = drawn({
    groups: [group("added", "exact", 2), group("removed", "matched"), group("added", "guessed", 1000)],
  });
  const [added, removed] = part.querySelectorAll(".xr-group");
  assert.deepEqual([added.open, removed.open], [true, false]);
  assert.deepEqual(textsOf(added, "summary .xr-count, summary .xr-grade"), ["1,002×", "guessed"]);
  assert.ok(added.querySelector(".xr-mark-sign.xr-added") && removed.querySelector(".xr-mark-sign.xr-removed"));
  assert.equal(removed.querySelector("table"), null);
  openFold(removed);
  assert.match(textOf(removed), /a→%b, and 3 more.*went with %c matched/);
});

test("more than eight groups are folded, more examples counted", () => {
  const part = drawn({ groups: Array.from({ length: 10 }, () => group("changed", null, 5)) });
  const details = part.querySelector(".xr-group");
  assert.equal(details.querySelectorAll("tbody").length, 8);
  assert.match(textOf(details), /2 more groups/);
  assert.match(textOf(details), /\+4 more/);
  openFold(details.querySelector(".xr-fold"));
  assert.equal(details.querySelectorAll("tbody").length, 10);
});

test("the other rows of a group are drawn payload by payload", async () => {
  const rows = (...names) => names.map((name) => ({ ...group("added", "exact").examples[0], before: name }));
  payloads.set("m/x/step~1-rows-0", [[], rows("%second", "%third")]);
  payloads.set("m/x/step~1-rows-1", [rows("%fourth")]);
  const rest = [
    ["m/x/step~1-rows-0", 1],
    ["m/x/step~1-rows-1", 0],
  ];
  const part = drawn({ groups: [{ ...group("added", "exact", 4), rest }] });
  assert.deepEqual(textsOf(part, "tbody button"), ["+3 more"]);
  part.querySelector("tbody button").click();
  await settled();
  assert.deepEqual(textsOf(part, "tbody button"), ["+1 more"]);
  part.querySelector("tbody button").click();
  await settled();
  assert.deepEqual(textsOf(part, "tbody tr td:first-child"), ["a", "%second", "%third", "%fourth"]);
  assert.equal(part.querySelector("tbody button"), null);
});

test("a payload that is missing says so in its place", async () => {
  const part = drawn({ groups: [{ ...group("added", "exact", 4), rest: [["m/x/step~2-rows-0", 0]] }] });
  part.querySelector("tbody button").click();
  await settled();
  assert.match(textOf(part), /\+3 more: ./);
});

test("opcodes whose count changed come first by how much, the others not at all", () => {
  const opcodes = [
    ["add", 1, 2],
    ["same", 4, 4],
    ["dot", 9, 2],
    ["new", null, 3],
  ];
  assert.deepEqual(textsOf(drawn({ opcodes }), ".xr-opcode"), ["dot−79 → 2", "add+11 → 2", "new±0– → 3"]);
  const many = Array.from({ length: 15 }, (_, place) => [`op${place}`, 0, place + 1]);
  assert.match(textOf(drawn({ opcodes: many })), /3 more$/);
});

test("passes are listed where the compiler did", () => {
  assert.match(
    textOf(
      drawn({
        ran: [
          ["a", true],
          ["b", false],
        ],
      }),
    ),
    /^All 2 passes, in order; 1 reported a changea reported a changeb$/,
  );
  assert.equal(textOf(drawn({ ran: [["a", true]] })), "");
});

test("a picture has its side, its place and its words; without one the note says why", () => {
  const before = { key: "m/x/step-1", name: "main", place: 2, alt: "3 boxes" };
  const part = drawn({ pictures: { before, after: null, note: "Too `large`." } });
  const figure = part.querySelector("figure");
  assert.deepEqual(
    { ...figure.dataset, xrDrawn: undefined },
    {
      ...{ xrPicture: before.key, name: "main", drawing: "2" },
      ...{ alt: "Before: 3 boxes", side: "before", xrDrawn: undefined },
    },
  );
  assert.match(textOf(part), /Too large\./);
  assert.equal(textOf(drawn({ pictures: { before: null, after: null, note: "" } })), "");
});

test("what a picture leaves out opens with pictures of its own", () => {
  const at = { key: "k", name: "n", place: 0, alt: "x" };
  const places = [{ name: "%a", line: 1, before: at, after: at }];
  const part = drawn({ pictures: { before: at, after: at, note: "", left_out: ["one", "two"], places } });
  page().append(part);
  const fold = part.querySelector(".xr-left-out");
  assert.equal(fold.querySelector("li"), null);
  openFold(fold);
  assert.deepEqual(
    [...fold.querySelectorAll("ul > li")].map((line) => line.querySelectorAll("figure").length),
    [0, 2],
  );
});
