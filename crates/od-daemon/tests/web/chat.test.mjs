import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";
const { markdown } = await import("../../web/views/chat/markdown.js");

/** @param {any} node @returns {string} */
const text = (node) => (node.tag === "#text" ? node.text : node.children.map(text).join(""));
/** @param {any[]} nodes @returns {any[]} */
const all = (nodes) => nodes.flatMap((node) => [node, ...all(node.children)]);

test("what agents write is drawn as nodes, and the rest stays as it is", () => {
  const nodes = markdown("# Title\n\nOne **two** *three* `four`\n- a\n- b\n\n1. x\n\n```js\nlet a = '<b>';\n```\nend");
  assert.deepEqual(nodes.map((node) => node.tag), ["p", "p", "ul", "ol", "pre", "p"]);
  assert.equal(text(nodes[1]), "One two three four");
  assert.equal(text(nodes[4]), "let a = '<b>';");
});

test("an address is a link only if it leads to the web, and is shown beside its label", () => {
  for (const bad of ["[x](javascript:alert(1))", "[x](data:text/html,x)", "<img src=x onerror=alert(1)>", "[x](//host)"]) {
    const nodes = markdown(bad);
    assert.ok(!all(nodes).some((node) => node.tag === "a"), bad);
    assert.equal(nodes.map(text).join(""), bad);
  }
  const nodes = markdown("[bank](https://other.example/x)");
  assert.equal(text(nodes[0]), "bank (https://other.example/x)");
});

test("a text that is written to be slow is drawn in a bounded number of parts", () => {
  for (const part of ["`", "[", "*", "**", "```\n", "- \n", "[a](", "# \n", "a\n\n"]) {
    const long = part.repeat(60_000);
    // Where a repetition had no bound this would not end.
    const nodes = markdown(long);
    assert.ok(nodes.length <= 2001, JSON.stringify(part));
  }
});

const { explainBrief, repairBrief } = await import("../../web/views/chat/brief.js");
const { suggest } = await import("../../web/views/chat/suggestions.js");

const connected = (/** @type {string[]} */ ...ids) =>
  ids.map((id) => ({ id, status: "connected", allowedToolNames: ["x"], services: [] }));

test("nothing is suggested that the connected sources and the files of the project cannot give", () => {
  const general = "Look at what is connected here, and propose a live page.";
  assert.deepEqual(suggest([], ["metrics.json", ".gitignore"]), [general]);
  const files = ["deep/er/one.json", "metrics.json", "package.json", ".agents/skills/x/y.json", "sales.csv", "shop.db"];
  const local = suggest(connected("project_files", "sqlite", "git"), files);
  assert.match(local[0], / metrics\.json\.$/);
  assert.match(local[1], / sales\.csv:/);
  assert.match(local[2], / shop\.db,/);
  assert.equal(local.length, 4, "no repository: git has nothing to say");
  assert.ok(suggest(connected("git"), [".gitignore"])[0].includes("repository"));
  const service = { id: "http", status: "connected", allowedToolNames: ["http.get"], services: [{ name: "billing" }] };
  assert.match(suggest([service], [])[0], /what billing offers/);
  const off = { ...connected("github")[0], status: "disabled" };
  assert.deepEqual(suggest([off], []), [general]);
  const all = suggest([...connected("project_files", "sqlite", "git", "github"), service], [...files, ".gitignore"]);
  assert.deepEqual([all.length, all.at(-1)], [5, general]);
});

const artifact = {
  id: "la-x", title: "Sales", revision: 3, projectId: "web",
  document: { sourceJson: { type: "local_file", input: { path: "m.json" }, outputMapping: { dataPaths: [{ from: "a", to: "b" }] } } },
  provenance: { notes: "net of tax" },
};

test("a value is explained from what is recorded of it, and an author's has no source", () => {
  const origin = { path: "/b", writer: "source", label: "m.json", from: "a", at: "2026-01-01T00:00:00Z", says: "from m.json, `a`" };
  const brief = explainBrief(artifact, "b", 12, origin);
  for (const part of ["“b”", ": 12", "“Sales” (id la-x, revision 3)", "from m.json, `a`", '"path":"m.json"', '"from":"a"', "net of tax", "Change nothing."]) {
    assert.ok(brief.includes(part), `${part} is not in ${brief}`);
  }
  const own = explainBrief(artifact, "t", "x", { ...origin, writer: "author", says: "written by a person" });
  assert.ok(own.includes("written by a person") && !own.includes("The source now"), own);
});

test("a repair has what failed, the nearest paths, the mapping and the shape of the output", () => {
  const details = { from: "a", nearest: ["aa", "ab"], output: ["$: an object", "aa: a number"] };
  const error = { code: "OUTPUT_MAPPING_UNRESOLVED", message: "`a` names nothing", suggestion: "map from aa", details };
  const brief = repairBrief(artifact, error);
  for (const part of ["`a` names nothing", "Nearest paths: aa, ab", "- aa: a number", '"dataPaths":[{"from":"a","to":"b"}]', "map from aa"]) {
    assert.ok(brief.includes(part), `${part} is not in ${brief}`);
  }
  const two = { ...artifact, document: { sources: [{ id: "one", type: "local_file" }, { id: "two", type: "local_file" }], queries: [{ id: "q", sql: "SELECT 1" }] } };
  assert.match(repairBrief(two, error), /"id":"one".*"id":"two"[\s\S]*The queries now: .*SELECT 1/);
});
