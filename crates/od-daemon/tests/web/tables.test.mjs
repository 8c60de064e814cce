// The query that the console writes for rows.

import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";

const { exampleRows, isDatabaseFile, isTableFile, sourceId, writeQuery } = await import("../../web/views/tables.js");

const table = {
  schema: "",
  name: "rows",
  kind: "rows",
  columns: [
    { name: "Region", type: "text" },
    { name: 'Amount "EUR"', type: "number" },
    { name: "amount eur", type: "integer" },
    { name: "2026", type: "integer" },
  ],
};
const choice = { group: "", figure: "count", of: "", sort: "Region", down: false, limit: 10 };

test("rows are selected with names that a template can bind, each its own", () => {
  const { sql, columns } = writeQuery(table, "orders", choice);
  assert.equal(
    sql,
    'SELECT "Region", "Amount ""EUR""" AS "Amount_EUR", "amount eur" AS "amount_eur_2", "2026" AS "c_2026"\nFROM "orders"\nORDER BY "Region"\nLIMIT 10',
  );
  assert.deepEqual(columns.map(({ name }) => name), ["Region", "Amount_EUR", "amount_eur_2", "c_2026"]);
});

test("groups are counted or summed, and equal ones stand in the order of their names", () => {
  const grouped = { ...choice, group: "Region", sort: "", down: true };
  assert.equal(
    writeQuery(table, "orders", grouped).sql,
    'SELECT "Region", count(*) AS "rows"\nFROM "orders"\nGROUP BY "Region"\nORDER BY "rows" DESC, "Region"\nLIMIT 10',
  );
  const sum = writeQuery(table, "orders", { ...grouped, figure: "sum", of: 'Amount "EUR"' });
  assert.match(sum.sql, /sum\("Amount ""EUR"""\) AS "sum_Amount_EUR"/);
  assert.equal(sum.key, "sum_Amount_EUR_by_Region");
  assert.equal(sum.bars, "Region");
});

test("a limit is a number that a page can hold", () => {
  for (const [given, want] of [[0, 1], [Number.NaN, 1], [9_999, 500], [7.9, 7]]) {
    assert.match(writeQuery(table, "orders", { ...choice, limit: given }).sql, new RegExp(`LIMIT ${want}$`));
  }
});

test("the id of a source is made of the file's name", () => {
  assert.equal(sourceId("data/Orders 2026.csv"), "orders_2026");
  assert.equal(sourceId("2026.csv"), "c_2026");
  assert.equal(sourceId("データ.csv"), "c_");
  assert.match(sourceId("_x.db"), /^[a-z][a-z0-9_]*$/);
});

test("files are told by their extensions", () => {
  assert.ok(isTableFile("a/B.CSV") && isTableFile("x.jsonl") && !isTableFile("x.json"));
  assert.ok(isDatabaseFile("shop.sqlite3") && !isDatabaseFile("shop.db.txt"));
});

test("rows that rise are in the order of the query, each value once", () => {
  const written = writeQuery(table, "orders", { ...choice, group: "Region", sort: "Region" });
  const content = { rows: [{ Region: "b" }, { Region: "a" }, { Region: "b" }] };
  assert.deepEqual(exampleRows(written, content).map((row) => row.Region), ["a", "b"]);
});
