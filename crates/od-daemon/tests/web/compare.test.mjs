import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";
const { placeByPlace } = await import("../../web/views/artifact/compare.js");

const told = (before, after) => placeByPlace(before, after).changes.map(({ change, path }) => `${change} ${path}`);

test("states from before revisions were kept are compared place by place", () => {
  assert.deepEqual(told({ a: [1, 2] }, { a: [1, 3, 4] }), ["changed /a/1", "added /a/2"]);
  assert.deepEqual(told({ a: 1, "b/c": { d: null } }, { "b/c": { d: 0 }, e: 0 }), ["removed /a", "changed /b~1c/d", "added /e"]);
  assert.equal(placeByPlace({ a: [{ id: 1 }] }, { a: [{ id: 1 }] }).count, 0);
  // A value named like something every object has.
  assert.deepEqual(told({}, { constructor: 1 }), ["added /constructor"]);
});
