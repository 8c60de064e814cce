import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";
const { absolute, age, attention, badges, clip, duration, isObject, isSkillFile, join, originSentence, pathEnd, plainSentence, plural, scalar, sentence, size, sourceName, stateShown, time } =
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
  const active = { status: "active", freshness: "fresh" };
  const words = { static: "Static", never: "Never refreshed", fresh: "Fresh", stale: "Stale", failed: "Failed" };
  for (const [freshness, label] of Object.entries(words)) assert.deepEqual(labels({ ...active, freshness }), [label]);
  assert.deepEqual(labels({ ...active, freshness: "failed" }, true), ["Refreshing…"]);
  assert.deepEqual(labels({ status: "archived", freshness: "static" }), ["Archived"]);
  assert.deepEqual(labels({ status: "archived", freshness: "failed" }), ["Archived", "Failed"]);
  assert.deepEqual(labels({ ...active, health: { state: "corrupt_tail" }, freshness: "static" }), ["Not healthy"]);
});

test("a message of the daemon becomes a sentence, its code without backticks", () => {
  const text = (parts) => parts.map((part) => (typeof part === "string" ? part : `<${part.children[0].text}>`)).join("");
  for (const [said, shown, plain] of [
    ["no file `a.json` in the project", "No file <a.json> in the project.", "No file “a.json” in the project."],
    ["`x` may not be read: it is a pipe", "<x> may not be read: it is a pipe.", "“x” may not be read: it is a pipe."],
    ["Run it again?", "Run it again?", "Run it again?"],
    ["", "", ""],
  ]) {
    assert.equal(text(sentence(said)), shown);
    assert.equal(plainSentence(said), plain);
  }
});

test("the end of a path stays whole, and skills are no files of the project", () => {
  const parts = (path) => pathEnd(path).children.map(({ children }) => children.map(({ text }) => text).join(""));
  assert.deepEqual(parts("src/deep/fleet.json"), ["src/deep/", "fleet.json"]);
  assert.deepEqual(parts("fleet.json"), ["", "fleet.json"]);
  const long = "reports/a-very-long-name-of-a-quarterly-report.json";
  assert.equal(parts(long).join(""), long);
  assert.match(parts(long)[1], /report\.json$/);
  for (const path of [".claude/skills/x/SKILL.md", ".agents/skills/x/SKILL.md"]) assert.ok(isSkillFile(path));
  for (const path of ["docs/.claude/notes.md", ".github/x.yml", "agents/a.json"]) assert.ok(!isSkillFile(path));
});

test("values are told apart from each other and from nothing", () => {
  assert.deepEqual(["1", 1, null, undefined, { a: 1 }].map(scalar), ['"1"', "1", "null", "nothing", '{"a":1}']);
  assert.deepEqual([{}, [], null, "x"].map(isObject), [true, false, false, false]);
  assert.deepEqual([join("", "a"), join("a.b", "c")], ["a", "a.b.c"]);
  assert.deepEqual([clip("abc", 3), clip("abcd", 3)], ["abc", "ab…"]);
});

test("a restored state is labelled as one, also when a refresh of it failed", () => {
  const restored = { revision: 3, at: "2026-05-01T11:58:00.000Z", stateOf: "2026-04-03T12:00:00.000Z" };
  const labels = (/** @type {string} */ freshness, running = false) =>
    badges({ health: { state: "healthy" }, status: "active", freshness, restored }, running).map(({ label }) => label);
  assert.deepEqual(labels("fresh"), ["Restored"]);
  assert.deepEqual(labels("failed"), ["Failed", "Restored"]);
  assert.deepEqual(labels("fresh", true), ["Refreshing…"]);
});

test("what is shown is the restored state and not the last refresh", () => {
  const lastRefreshedAt = "2026-05-01T12:00:00.000Z";
  const restored = { at: lastRefreshedAt, stateOf: "2026-04-03T12:00:00.000Z" };
  assert.match(stateShown({ lastRefreshedAt, updatedAt: lastRefreshedAt }), /^data from .*May/);
  assert.match(stateShown({ restored, lastRefreshedAt, updatedAt: lastRefreshedAt }), /^the state of .*Apr.*, restored /);
});

test("an origin is a sentence with the reader's time and without backticks", () => {
  const says = "read from local_file a.json, `n` of its output, at 2026-05-01T12:00:00.000Z";
  const said = originSentence({ says });
  assert.match(said, /^Read from local_file a\.json, “n” of its output, at .*2026/);
  assert.doesNotMatch(said, /`|T12:00/);
});

test("what needs a person comes before what does not", () => {
  const line = (fields) => ({ status: "active", health: { state: "healthy" }, freshness: "fresh", ...fields });
  const order = [
    line({ health: { state: "corrupt_tail" } }),
    line({ freshness: "failed" }),
    line({ freshness: "stale" }),
    line({ schedule: { state: "proposed" } }),
    line({}),
  ];
  const marks = order.map(attention);
  assert.deepEqual(marks, [...marks].sort((a, b) => b - a));
  assert.equal(attention(line({ schedule: { state: "active" } })), 0);
  assert.equal(attention(line({ status: "archived", freshness: "failed" })), 0);
});

test("a stale page says since when and why", () => {
  const stale = { status: "active", health: { state: "healthy" }, freshness: "stale", staleSince: "2026-04-30T00:00:00.000Z", staleReason: "overdue" };
  const [badge] = badges(stale, false);
  assert.equal(badge.label, "Stale");
  assert.match(badge.title, /Stale since .*nobody ran it/);
});
