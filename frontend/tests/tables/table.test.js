import assert from "node:assert/strict";
import { test } from "node:test";
import { go, page, payloads, settled, textOf, textsOf } from "../page.js";
import { drawTable } from "../../src/tables/table.js";

const COLUMNS = [
  { title: "Name", kind: "code" },
  { title: "Size", kind: "bytes" },
  { title: "Grade", kind: "chip" },
];
const rowsOf = (count) =>
  Array.from({ length: count }, (_, row) => [`fusion.${row}`, (row * 7) % 5, ["exact", "xr-exact"]]);

/** @returns {Promise<any>} the host of a table at an address */
async function drawn(key, fragment, table = {}) {
  payloads.set(key, { columns: COLUMNS, rows: rowsOf(12), ...table });
  const host = page();
  go(fragment);
  await drawTable(host, key);
  await settled();
  return host;
}
const names = (host) => [...host.querySelectorAll("tr[data-row]")].map((line) => textOf(line.firstElementChild));
const counter = (host) => textOf(host.querySelector(".xr-count"));
const type = (host, words) => {
  const field = host.querySelector(".xr-filter");
  field.value = words;
  field.dispatchEvent(new document.defaultView.Event("input"));
};
const head = (host, title) => [...host.querySelectorAll("th button")].find((button) => textOf(button) === title);

test("every word of the filter must stand in a row, and the address says which", async () => {
  const host = await drawn("table1", "");
  type(host, "FUSION.1 exact");
  assert.deepEqual(names(host), ["fusion.1", "fusion.10", "fusion.11"]);
  assert.equal(counter(host), "3 of 12 rows");
  assert.equal(location.hash, "#t=table1&q=FUSION.1+exact");
  type(host, "nothing");
  assert.match(textOf(host.querySelector(".xr-empty")), /No row contains “nothing”\. Show all rows/);
  host.querySelector(".xr-empty button").click();
  assert.equal(counter(host), "12 rows");
});

test("a column sorts, numbers the largest first, and a third time not at all", async () => {
  const host = await drawn("table2", "");
  head(host, "Size").click();
  assert.deepEqual(names(host).slice(0, 2), ["fusion.2", "fusion.7"]);
  assert.match(location.hash, /s=1d/);
  head(host, "Size").click();
  assert.deepEqual(names(host).slice(0, 2), ["fusion.0", "fusion.5"]);
  assert.equal(host.querySelectorAll("th")[1].getAttribute("aria-sort"), "ascending");
  head(host, "Size").click();
  assert.deepEqual(names(host).slice(0, 2), ["fusion.0", "fusion.1"]);
  head(host, "Name").click();
  assert.deepEqual(names(host).slice(1, 3), ["fusion.1", "fusion.2"]);
});

test("an address of this table is followed, one of another is not", async () => {
  const own = await drawn("table3", "#t=table3&q=fusion&s=0d&c=0.2");
  assert.deepEqual([names(own)[0], own.querySelectorAll("th").length], ["fusion.11", 2]);
  const other = await drawn("table4", "#t=table3&q=nothing&s=0d");
  assert.equal(counter(other), "12 rows");
  const impossible = await drawn("table5", "#t=table5&s=99d&c=77");
  assert.deepEqual([names(impossible)[0], impossible.querySelectorAll("th").length], ["fusion.0", 3]);
});

test("sentences are read whole in a table of up to 200 rows, the most that a document has", async () => {
  const columns = [COLUMNS[0], { title: "Why", kind: "sentence" }];
  const rows = (count) => Array.from({ length: count }, (_, row) => [`fusion.${row}`, "Reshards x for y."]);
  const host = await drawn("sentences1", "", { columns, rows: rows(200) });
  assert.equal(names(host).length, 200);
  assert.ok(host.querySelector("table").classList.contains("xr-told"));
  const long = await drawn("sentences2", "", { columns, rows: rows(201) });
  assert.ok(names(long).length < 100);
  assert.ok(!long.querySelector("table").classList.contains("xr-told"));
});

test("columns are chosen, never none", async () => {
  const host = await drawn("table6", "");
  const [name, size, grade] = host.querySelectorAll(".xr-columns input");
  const choose = (box, checked) => {
    box.checked = checked;
    box.dispatchEvent(new document.defaultView.Event("change"));
  };
  choose(grade, false);
  assert.equal(textOf(host.querySelector("summary")), "Columns: 2 of 3");
  assert.match(location.hash, /c=0\.1/);
  choose(size, false);
  choose(name, false);
  assert.deepEqual(textsOf(host, "th"), ["Name"]);
});

test("a row shows all its columns below, and hides them again", async () => {
  const host = await drawn("table7", "#t=table7&c=0");
  const line = host.querySelector("tr[data-row='3']");
  line.click();
  assert.equal(textOf(host.querySelector("dl")), "Namefusion.3Size1 BGradeexact");
  host.querySelector("tr[data-row='3']").click();
  assert.ok(host.querySelector("dl").hidden);
});

test("of many rows those in sight are drawn", async () => {
  const host = await drawn("table8", "", { rows: rowsOf(5000) });
  assert.ok(names(host).length < 60);
  assert.equal(counter(host), "5,000 rows");
  type(host, "fusion.4999");
  assert.deepEqual(names(host), ["fusion.4999"]);
});

test("rows of other payloads come when a filter asks for them", async () => {
  payloads.set("table9-1", rowsOf(12).slice(6));
  const host = await drawn("table9", "", { rows: rowsOf(6), pages: { rows: 12, size: 6 } });
  assert.equal(counter(host), "12 rows");
  type(host, "fusion.9");
  await settled();
  assert.deepEqual([names(host), counter(host)], [["fusion.9"], "1 of 12 rows"]);
});

test("an empty table says so in its own words, and needs no bar", async () => {
  const host = await drawn("table10", "", { rows: [], empty: "No files." });
  assert.match(textOf(host.querySelector("tbody")), /^No files\./);
  assert.ok(host.querySelector(".xr-table-bar").hidden);
});

test("columns that many tables have come by their name", async () => {
  payloads.set("columns", { few: COLUMNS });
  assert.equal((await drawn("table11", "", { columns: "few" })).querySelectorAll("th").length, 3);
});
