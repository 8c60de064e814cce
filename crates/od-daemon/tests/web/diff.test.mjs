import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";
const { diff } = await import("../../web/core/diff.js");

const told = (before, after) => diff(before, after).map(({ kind, path }) => `${kind} ${path}`);

test("a row that is put first is one added row", () => {
  const rows = [{ id: 1, n: 1 }, { id: 2, n: 2 }];
  assert.deepEqual(told({ rows }, { rows: [{ id: 3, n: 3 }, ...rows] }), ["added rows[id=3]"]);
});

test("a list whose rows have no key is compared place by place", () => {
  assert.deepEqual(told({ a: [1, 2] }, { a: [1, 3, 4] }), ["changed a.1", "added a.2"]);
  // Two rows of one id: the id tells nothing apart.
  const twins = [{ id: 1, n: 1 }, { id: 1, n: 2 }];
  assert.deepEqual(told({ a: twins }, { a: [twins[1], twins[0]] }), ["changed a.0.n", "changed a.1.n"]);
});

test("a key of one state alone is added or removed, and equal states differ nowhere", () => {
  assert.deepEqual(told({ a: 1, b: { c: null } }, { b: { c: null }, d: 0 }), ["removed a", "added d"]);
  assert.deepEqual(told({ a: [{ id: 1 }] }, { a: [{ id: 1 }] }), []);
  // A value named like something every object has.
  assert.deepEqual(told({}, { constructor: 1 }), ["added constructor"]);
});
