import assert from "node:assert/strict";
import { test } from "node:test";
import { go, page, payloads, settled, textOf, textsOf } from "../page.js";
import { Observer } from "../page.js";
import { drawTpuPrograms } from "../../src/tpu/strip.js";

const SCHEDULE = {
  units: [
    ["vector", 2, `${"2".repeat(50)}${"0".repeat(50)}`],
    ["scalar", 1, "0".repeat(100)],
  ],
  cycles: 110,
  runs: [
    [1, 50],
    [7, 50],
  ],
  loops: [[10, 40, 1, "over rows"]],
  ranges: [[16, 0.5, 3, ["vadd", "vmul"]]],
  lines: [["kernel.py:3", 1200]],
  stages: [],
};
const PROGRAMS = {
  programs: [
    ["fusion.1", [["%a", "m/x.html#i=a"]]],
    ["top", []],
  ],
};

/** @returns {Promise<any>} the host with the programs drawn in a room of 492 pixels */
async function drawnPrograms(key, fragment) {
  payloads.set(key, PROGRAMS);
  for (const place of [0, 1]) payloads.set(`${key}-${place}`, SCHEDULE);
  const host = page();
  go(fragment);
  const done = drawTpuPrograms(host, key);
  Observer.all.at(-1).see([{ isIntersecting: true }]);
  await settled();
  await done;
  const room = host.querySelector(".xr-tpu-room");
  Object.defineProperty(room, "clientWidth", { value: 492 });
  Observer.all.at(-1).see([]);
  return host;
}
const press = (host, key) => {
  const event = Object.assign(new document.defaultView.Event("keydown", { cancelable: true }), { key });
  host.querySelector(".xr-tpu-room").dispatchEvent(event);
};
const note = (host) => textOf(host.querySelector("[aria-live]"));

test("a program is drawn with its loops, its instructions and its busiest bundles", async () => {
  const host = await drawnPrograms("strip", "");
  assert.equal(note(host), "Cycles 0x0 to 0x63 of 110. The last 10 cycles are not shown.");
  assert.deepEqual(textsOf(host, "g title"), ["0xa to 0x27: over rows"]);
  const [busy] = host.querySelectorAll("rect.xr-tpu-10");
  assert.deepEqual([busy.getAttribute("x"), busy.getAttribute("width")], ["92", "200"]);
  assert.match(textOf(host), /1 HLO instruction.*0x10 to 0x11: 50% of all slots, run 3 times/);
  assert.deepEqual(textsOf(host, "pre"), ["0x10 vadd 0x11 vmul"]);
  assert.match(textOf(host), /Cycles by line of the kernel \(1\)kernel\.py:3: 1,200/);
});

test("the address names a program", async () => {
  const host = await drawnPrograms("named", "#program=top");
  assert.equal(host.querySelector("select").value, "1");
  assert.match(textOf(host), /Top level\./);
});

test("keys enlarge and move it, never beyond its ends", async () => {
  const host = await drawnPrograms("keys", "");
  press(host, "+");
  assert.match(note(host), /^Cycles 0x19 to 0x4a /);
  press(host, "ArrowRight");
  assert.match(note(host), /^Cycles 0x26 to 0x57 /);
  for (let times = 0; times < 9; times += 1) press(host, "ArrowRight");
  assert.match(note(host), /^Cycles 0x32 to 0x63 /);
  for (let times = 0; times < 9; times += 1) press(host, "+");
  assert.match(note(host), /^Cycles 0x[0-9a-f]+ to 0x[0-9a-f]+ /);
  press(host, "0");
  assert.match(note(host), /^Cycles 0x0 to 0x63 /);
});

test("a pointer says what is used in a cycle and how often that runs", async () => {
  const host = await drawnPrograms("pointed", "");
  const room = host.querySelector(".xr-tpu-room");
  room.getBoundingClientRect = () => ({ left: 0, width: 492 });
  const at = (clientX) => {
    room.dispatchEvent(Object.assign(new document.defaultView.Event("pointermove"), { clientX }));
    return note(host);
  };
  assert.match(at(92), /Cycle 0x0, runs 1 time: vector 2 of 2\.$/);
  assert.match(at(400), /Cycle 0x4d, runs 7 times: no unit is used\.$/);
  assert.match(at(9999), /Cycle 0x63, /);
});
