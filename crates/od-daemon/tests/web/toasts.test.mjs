import assert from "node:assert/strict";
import { mock, test } from "node:test";

import "./page.mjs";
const { toast } = await import("../../web/ui/overlays.js");
const { state } = await import("../../web/core/store.js");

// Nothing goes by itself while a test looks.
mock.timers.enable({ apis: ["setTimeout"] });
const said = () => state.toasts.map(({ text, detail, times }) => [text, detail, times]);

test("what is said again while it is shown is counted, with the newest three details", () => {
  state.toasts = [];
  for (const name of ["a", "b", "b", "c", "d"]) toast("bad", "Refresh failed.", { detail: name });
  toast("good", "Saved.");
  assert.deepEqual(said(), [["Refresh failed.", "b\nc\nd", 5], ["Saved.", "", 1]]);
});

test("two offers to undo are two, and at most four toasts are shown", () => {
  state.toasts = [];
  for (const name of ["a", "b"]) toast("info", "Deleted.", { detail: name, action: "Undo", run: () => {} });
  assert.deepEqual(said(), [["Deleted.", "a", 1], ["Deleted.", "b", 1]]);
  for (const name of ["c", "d", "e"]) toast("info", "Deleted.", { detail: name, action: "Undo", run: () => {} });
  assert.deepEqual(said().map(([, detail]) => detail), ["b", "c", "d", "e"]);
});
