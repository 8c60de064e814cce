// @ts-check
// Keys. Every key here has a visible control that does the same.

import { h } from "../core/dom.js";
import { current, go, TABS, to } from "../core/router.js";
import { listed, summary } from "../core/lists.js";
import { known, setUi, state, ui } from "../core/store.js";
import { cancel, openInTab, pin, refresh } from "./actions.js";
import { openDialog } from "./overlays.js";

/** @type {[string, string][]} */
const SHEET = [
  ["?", "This sheet"],
  ["/", "Search in the current view"],
  ["g d", "Go to designs"],
  ["g c", "Go to connectors"],
  ["n", "New live artifact"],
  ["1 – 5", "Preview, Source, Data, Provenance, History"],
  ["r", "Refresh the open artifact"],
  ["x", "Cancel its refresh"],
  ["i", "Inspect: show where each value comes from"],
  ["o", "Open the preview in a new tab"],
  ["p", "Pin or unpin"],
  ["j / k", "Next, previous artifact of the project"],
  ["↑ ↓ ← →", "Move in a tree; open and close its branches"],
  ["Esc", "Close, or leave a field"],
];

export function openShortcuts() {
  openDialog({
    title: "Keyboard shortcuts",
    body: () =>
      h(
        "dl.keys",
        SHEET.map(([keys, what]) =>
          h("div", { key: keys }, h("dt.row", keys.split(" ").map(keycap)), h("dd", what)),
        ),
      ),
  });
}

/** @param {string} key @param {number} index */
function keycap(key, index) {
  return key === "/" && index > 0 ? " or " : key === "–" ? " to " : h("kbd", { key: `${index}` }, key);
}

let prefix = "";

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = /** @type {HTMLElement} */ (event.target);
  const typing = target.matches?.("input, textarea, select, [contenteditable]");
  if (event.key === "Escape") {
    if (typing) target.blur();
    else if (ui("drawer", false)) setUi("drawer", false);
    return;
  }
  if (typing || ui("dialog", undefined)) return;
  const key = prefix + event.key;
  prefix = event.key === "g" && !prefix ? "g " : "";
  if (press(key)) event.preventDefault();
}

/** @param {string} key @returns {boolean} */
function press(key) {
  if (key === "?") openShortcuts();
  else if (key === "/") {
    const find = (/** @type {string} */ where) => /** @type {HTMLElement | null} */ (document.querySelector(where));
    const field = find("main [data-search]") ?? find("[data-search]");
    field?.focus();
    return Boolean(field);
  } else if (key === "g d") go(to.designs());
  else if (key === "g c") go(to.connectors());
  else if (key === "n") go(to.create(current().project || undefined));
  else return pressInArtifact(key);
  return true;
}

/** @param {string} key @returns {boolean} */
function pressInArtifact(key) {
  const { view, artifact, query } = current();
  const open = view === "live" ? (summary(artifact) ?? known(`artifact/${artifact}`)) : undefined;
  if (key === "j" || key === "k") return step(key === "j" ? 1 : -1);
  if (!open) return false;
  const tab = TABS[Number(key) - 1];
  if (tab) go(to.live(open, tab));
  else if (key === "r" && open.refreshable) void refresh(open);
  else if (key === "x" && state.progress.has(artifact)) void cancel(artifact);
  else if (key === "i") {
    const on = current().tab === "preview" && query.get("inspect");
    go(to.live(open, "preview", "", { inspect: on ? undefined : "1" }));
  } else if (key === "o") void openInTab(open);
  else if (key === "p") void pin(open);
  else return false;
  return true;
}

/** @param {number} by */
function step(by) {
  const { project, artifact, tab } = current();
  const list = listed({ project }).value?.lines ?? [];
  const at = list.findIndex((entry) => entry.id === artifact);
  const next = list[at + by];
  if (next) go(to.live(next, tab));
  return Boolean(next);
}

export function listen() {
  document.addEventListener("keydown", onKey);
}

/**
 * Moves in a tree with the arrow keys, as the ARIA pattern has them. One item of a tree takes part in
 * tabbing.
 * @param {KeyboardEvent} event
 */
export function treeKeys(event) {
  const tree = /** @type {HTMLElement} */ (event.currentTarget);
  const items = /** @type {HTMLElement[]} */ ([...tree.querySelectorAll("[role=treeitem]")]);
  const from = /** @type {HTMLElement | null} */ (
    /** @type {HTMLElement} */ (event.target).closest("[role=treeitem]")
  );
  if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
  const at = items.indexOf(from);
  const open = from.getAttribute("aria-expanded");
  let next;
  if (event.key === "ArrowDown") next = items[at + 1];
  else if (event.key === "ArrowUp") next = items[at - 1];
  else if (event.key === "Home") next = items[0];
  else if (event.key === "End") next = items[items.length - 1];
  else if (event.key === "ArrowRight") {
    if (open === "false") from.click();
    else if (open === "true") next = items[at + 1];
  } else if (event.key === "ArrowLeft") {
    if (open === "true") from.click();
    else next = parentOf(items, at);
  } else if (event.key === "Enter" || event.key === " ") from.click();
  else return;
  event.preventDefault();
  event.stopPropagation();
  if (next) {
    for (const item of items) item.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

/** @param {HTMLElement[]} items @param {number} at */
function parentOf(items, at) {
  const level = Number(items[at]?.getAttribute("aria-level"));
  for (let index = at - 1; index >= 0; index -= 1) {
    if (Number(items[index]?.getAttribute("aria-level")) < level) return items[index];
  }
  return undefined;
}
