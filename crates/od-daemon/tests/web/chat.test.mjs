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
