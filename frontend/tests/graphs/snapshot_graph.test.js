import assert from "node:assert/strict";
import { test } from "node:test";
import { payloads } from "../page.js";
import { assembleGraph, computationAt, loadSnapshotGraph } from "../../src/graphs/snapshot_graph.js";

const folded = (names) => [names, names.map((_, place) => place), []];
/** Two computations in a file: `main` calls `body`, whose `b` is called `c` from the second snapshot on. */
const VERSIONS = {
  names: folded(["p", "call", "b", "c"]),
  arguments: [folded(["0", ""]), [0, 1, 1, 1]],
  look: [0, 1, 2, 2],
  shape: [0, 0, 0, 0],
  shade: [0, 0, 0, 0],
  operands: [[0, 1, 0, 0], [1]],
  controls: {},
  calls: { 1: [["to_apply", 1]] },
  looks: [
    ["parameter", "", "gray", ""],
    ["call", "", "gray", ""],
    ["add", "", "green", ""],
  ],
  shapes: [["f32[]", 1, 4]],
  shades: [[null, "", ""]],
  lives: [0, 1, -1, 0],
  first: [0, 0, 0, 1],
  end: [3, 3, 1, 3],
  roots: [1, 2, 3],
};
const STAGES = [
  ["0000", "start"],
  ["0001", "middle"],
  ["0002", "end"],
];
const ALL = {
  names: folded(["main", "body"]),
  renamed: { 1: [[1, "body.1"]] },
  in: [0, 0],
  sizes: [2, 2],
  first: [0, 0],
  end: [3, 3],
  texts: ["0001"],
};

test("the graph of a snapshot has its computations under the names that they have there", async () => {
  payloads.set("m/snap/versions", { stages: STAGES, timelines: [], others: 0 });
  payloads.set("m/snap/versions-all", ALL);
  payloads.set("m/snap/versions-0", VERSIONS);
  const [start, middle] = await Promise.all(["0000", "0001"].map((at) => loadSnapshotGraph(`m/snap/versions@${at}`)));
  const written = (graph) => graph.index.computations.map(([name, size, does]) => `${name} ${size} ${does}`);
  assert.deepEqual(written(start), ["main 2 call", "body 1 add"]);
  assert.deepEqual(written(middle), ["main 2 call", "body.1 1 add"]);
  assert.deepEqual(
    [start.find("b") !== null, start.find("c"), middle.find("b"), middle.name(2)],
    [true, null, null, "c"],
  );
  assert.deepEqual(
    middle.calls(1).map(([attribute, called]) => [attribute, middle.index.computations[called][0]]),
    [["to_apply", "body.1"]],
  );
  assert.deepEqual([start.index.text, middle.index.text, middle.index.label], [null, "0001", "middle"]);
});

test("a graph is loaded once, and a snapshot that there is not is an error", async () => {
  assert.equal(loadSnapshotGraph("m/snap/versions@0001"), loadSnapshotGraph("m/snap/versions@0001"));
  await assert.rejects(loadSnapshotGraph("m/snap/versions@9999"), /There is no snapshot 9999\./);
});

test("what a computation does is said by its opcodes, the heavy ones first", () => {
  const looks = [
    ["add", "", "green", ""],
    ["dot", "", "dark-blue", ""],
    ["bitcast", "", "gray", ""],
    ["tanh", "", "green", ""],
    ["copy", "", "yellow", ""],
  ];
  const rows = [0, 0, 0, 1, 2, 3, 4];
  const nothing = rows.map(() => 0);
  const columns = {
    looks,
    look: rows,
    names: nothing,
    arguments: nothing,
    shape: nothing,
    shade: nothing,
    shapes: [],
    shades: [],
  };
  const part = {
    name: "f",
    number: 0,
    columns,
    rows: [...rows.keys()],
    controls: rows.map(() => []),
    calls: rows.map(() => []),
  };
  const graph = assembleGraph([{ ...part, operands: rows.map(() => []), root: null, does: "" }], {
    label: "",
    text: null,
    complete: true,
  });
  assert.equal(graph.index.computations[0][2], "6: dot, 3 add, copy, …");
});

test("operands that another snapshot has are left out, elements of tuples are kept", () => {
  const table = {
    versions: [
      [1, 0, 2, []],
      [2, 0, 2, ["1#3", "9"]],
    ],
    controls: { 1: [1, 9] },
    calls: {},
    roots: new Set(),
  };
  const { operands, controls, root } = computationAt(table, 0, { name: "f", number: 0 });
  assert.deepEqual([operands, controls, root], [[[], ["1#3"]], [[], [0]], null]);
});
