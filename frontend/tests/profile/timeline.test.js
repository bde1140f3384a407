import assert from "node:assert/strict";
import { test } from "node:test";
import "../samples.js";
import { Observer, page, payloads, settled, textOf, textsOf } from "../page.js";
import { drawTimeline } from "../../src/profile/timeline.js";

const RUNS = {
  page: "m/x.html",
  steps: [
    {
      ...{ title: "Run 1", start: 0, length: 1000, merged: 3, left_out: 0 },
      lanes: [
        [1, 0],
        [1, 1],
        [7, 0],
      ],
      bars: [
        [0, 0, 600, 0, 1],
        [1, 100, 50, 1, 1],
        [2, 700, 10, -1, 3],
      ],
    },
    { ...{ title: "Run 2", start: 0, length: 10, merged: 0, left_out: 2 }, lanes: [[1, 0]], bars: [[0, 0, 10, 1, 1]] },
  ],
  instructions: [
    ["fusion.1", "fusion", "green", 0],
    ["call", "", "gray", -1],
  ],
  families: [["green", "elementwise"]],
  scopes: ["layer"],
};

/** @returns {Promise<any>} the host of the timeline */
async function drawn(key, runs = RUNS) {
  payloads.set(key, runs);
  const host = page();
  const done = drawTimeline(host, key);
  Observer.all.at(-1).see([{ isIntersecting: true }]);
  await settled();
  await done;
  return host;
}
const press = (host, key) => {
  const event = Object.assign(new document.defaultView.Event("keydown"), { key });
  host.querySelector(".xr-canvas").dispatchEvent(event);
};
const notes = (host, isHead) => textsOf(host, "text.note").filter((words) => words.startsWith("thread") === isHead);

test("bars say what ran, the longest have their rank and lead to their instructions", async () => {
  const host = await drawn("m/x/timeline-1");
  assert.deepEqual(textsOf(host, "g title"), [
    "%fusion.1, fusion: 600 µs, from 0 ns on",
    "%call: 50 µs, from 100 µs on",
    "3 short events: 10 µs, from 700 µs on",
  ]);
  assert.equal(textOf(host.querySelectorAll(".xr-timeline-legend")[1]), "Longest:1 %fusion.1 600 µs2 %call 50 µs");
  const links = [...host.querySelectorAll("svg a")].map((link) => link.getAttribute("href"));
  assert.deepEqual(links, ["file:///report/site/m/x.html#node=fusion.1"]);
  assert.match(textOf(host), /3 short events share bars with their neighbors\./);
});

test("each thread has a head, and the axis has round marks", async () => {
  const host = await drawn("m/x/timeline-2");
  assert.deepEqual(notes(host, true), ["thread 1", "thread 7"]);
  assert.deepEqual(notes(host, false), ["0", "500 µs"]);
});

test("keys enlarge and move it, never beyond its ends", async () => {
  const host = await drawn("m/x/timeline-3");
  press(host, "+");
  press(host, "+");
  assert.ok(!notes(host, false).includes("0"));
  for (let times = 0; times < 20; times += 1) press(host, "ArrowLeft");
  assert.equal(notes(host, false)[0], "0");
  press(host, "0");
  assert.deepEqual(notes(host, false), ["0", "500 µs"]);
});

test("another run and other colors are chosen", async () => {
  const host = await drawn("m/x/timeline-4");
  const [run, colors] = host.querySelectorAll("select");
  run.value = "1";
  run.dispatchEvent(new document.defaultView.Event("change"));
  assert.equal(host.querySelectorAll("g.n").length, 1);
  assert.match(textOf(host), /2 events of the threads that did least are left out\./);
  colors.value = "scope";
  colors.dispatchEvent(new document.defaultView.Event("change"));
  assert.ok(host.querySelector("svg.by-scope"));
  assert.equal(textOf(host.querySelector(".xr-timeline-legend")), "layer");
});

test("a trace without a whole run says so", async () => {
  const host = await drawn("m/x/timeline-5", { ...RUNS, steps: [] });
  assert.equal(textOf(host), "The trace has too many events to keep those of a whole run.");
});
