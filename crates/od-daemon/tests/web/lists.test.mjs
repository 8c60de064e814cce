import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";
const { amend, dropped, merged, summary } = await import("../../web/core/lists.js");
const { held, put } = await import("../../web/core/store.js");

const line = (id, at, more = {}) => ({ id, updatedAt: `2026-04-30T00:00:${at}.000Z`, ...more });
const ids = ({ lines }) => lines.map(({ id }) => id).join("");

test("a first page without a further one is the whole list", () => {
  const before = { lines: [line("a", 30), line("b", 20)], total: 2 };
  assert.equal(ids(merged(before, { lines: [line("b", 20)], total: 1 })), "b");
});

test("a new first page keeps what was fetched behind it, and nothing twice", () => {
  const before = { lines: [line("a", 50), line("b", 40), line("c", 30), line("d", 20)], total: 9, next: "after d" };
  // c was changed, e is new.
  const page = { lines: [line("e", 70), line("c", 60), line("a", 50)], total: 10, next: "after a" };
  const now = merged(before, page);
  assert.deepEqual([ids(now), now.total, now.next], ["ecabd", 10, "after d"]);
  assert.equal(now.lines[2], before.lines[0], "a line that is as it was stays the same object");
});

test("lines of one instant go on by their ids", () => {
  const before = { lines: ["a", "b", "c", "d"].map((id) => line(id, 10)), total: 4, next: "after d" };
  const page = { lines: [line("a", 10), line("b", 10)], total: 4, next: "after b" };
  assert.equal(ids(merged(before, page)), "abcd");
});

test("a first page in which everything is newer is gone on from, not joined to what is older", () => {
  const before = { lines: [line("a", 20)], total: 1 };
  const page = { lines: [line("x", 50), line("y", 40)], total: 200, next: "after y" };
  // Between y and a may be others, so the list goes on after y.
  const now = merged(before, page);
  assert.deepEqual([ids(now), now.next], ["xy", "after y"]);
});

test("an event changes a line in every list that has it, and takes it out of all", () => {
  for (const key of ["artifacts/all//", "artifacts/pinned//"]) put(key, { lines: [line("a", 10)], total: 1 });
  amend({ id: "a", refreshStatus: "failed" });
  assert.equal(summary("a").refreshStatus, "failed");
  dropped("a");
  assert.equal(summary("a"), undefined);
  assert.equal(held("artifacts/pinned//").total, 0);
});
