import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";
const { absolute, age, badges, clip, duration, isObject, join, plural, scalar, size, sourceName, time } =
  await import("../../web/core/format.js");

const NOW = Date.parse("2026-05-01T12:00:00.000Z");
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

test("an age is told in the unit a person would use", () => {
  for (const [past, said] of [
    [-DAY, "just now"],
    [0, "just now"],
    [45 * SECOND - 1, "just now"],
    [45 * SECOND, "1 min ago"],
    [59 * MINUTE, "59 min ago"],
    [HOUR, "1 h ago"],
    [23 * HOUR, "23 h ago"],
    [DAY, "yesterday"],
    [3 * DAY, "3 days ago"],
    [29 * DAY, "29 days ago"],
  ]) {
    assert.equal(age(NOW - past, NOW), said, String(past));
  }
  assert.match(age(NOW - 60 * DAY, NOW), /2026/);
  for (const never of [undefined, "", "soon"]) assert.equal(age(never, NOW), "never");
  assert.equal(absolute("soon"), "");
});

test("a time shows its age and carries the moment", () => {
  const node = time("2026-05-01T12:00:00.000Z");
  assert.equal(node.props.datetime, "2026-05-01T12:00:00.000Z");
  assert.match(String(node.props.title), /2026/);
});

test("durations and sizes have one figure and its unit", () => {
  for (const [ms, said] of [[0, "0 ms"], [999.4, "999 ms"], [1000, "1.0 s"], [59_900, "59.9 s"], [60_000, "1 min"]]) {
    assert.equal(duration(ms), said);
  }
  assert.equal(duration(null), "");
  for (const [bytes, said] of [[0, "0 B"], [999, "999 B"], [1000, "1.0 KB"], [262_144, "262.1 KB"], [1_000_000, "1.0 MB"]]) {
    assert.equal(size(bytes), said);
  }
  assert.equal(size(undefined), "");
});

test("one is one and everything else is many", () => {
  assert.deepEqual([0, 1, 2].map((n) => plural(n, "row")), ["0 rows", "1 row", "2 rows"]);
  assert.equal(plural(2, "match", "matches"), "2 matches");
});

test("a source is named by its file or its qualified tool", () => {
  for (const [source, said] of [
    [null, ""],
    [{ type: "local_file", input: { path: "a.json" } }, "a.json"],
    [{ type: "local_file", input: { file: "b.json" } }, "b.json"],
    [{ type: "local_file" }, "project file"],
    [{ type: "daemon_tool", toolName: "git.summary" }, "git.summary"],
    [{ type: "connector_tool", connector: { connectorId: "github", toolName: "github.list_releases" } }, "github.list_releases"],
    [{ type: "connector_tool", connector: { connectorId: "github", toolName: "list_releases" } }, "github.list_releases"],
  ]) {
    assert.equal(sourceName(source), said);
  }
});

test("the most urgent badge comes first, and a running refresh hides how the last one went", () => {
  const labels = (artifact, running = false) => badges(artifact, running).map(({ label }) => label);
  const active = { status: "active", refreshStatus: "idle", refreshable: true };
  assert.deepEqual(labels(active), ["Refreshable"]);
  assert.deepEqual(labels({ ...active, refreshable: false }), ["Live"]);
  assert.deepEqual(labels({ ...active, refreshStatus: "failed" }), ["Refresh failed"]);
  assert.deepEqual(labels({ ...active, refreshStatus: "failed" }, true), ["Refreshing…"]);
  assert.deepEqual(labels({ ...active, status: "archived", refreshable: false }), ["Archived"]);
  assert.deepEqual(labels({ ...active, health: { state: "corrupt_tail" } }), ["Not healthy", "Refreshable"]);
});

test("values are told apart from each other and from nothing", () => {
  assert.deepEqual(["1", 1, null, undefined, { a: 1 }].map(scalar), ['"1"', "1", "null", "nothing", '{"a":1}']);
  assert.deepEqual([{}, [], null, "x"].map(isObject), [true, false, false, false]);
  assert.deepEqual([join("", "a"), join("a.b", "c")], ["a", "a.b.c"]);
  assert.deepEqual([clip("abc", 3), clip("abcd", 3)], ["abc", "ab…"]);
});
