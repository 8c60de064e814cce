// @ts-check
// Two snapshots side by side, value by value, by path. Rows of a list are matched by a key where one
// exists, so that an insertion at the top is one added row and not a change of every row.

import { api } from "../core/api.js";
import { cls, h } from "../core/dom.js";
import { clip, isObject, join, scalar } from "../core/format.js";
import { to } from "../core/router.js";
import { setUi, ui, use } from "../core/store.js";
import { empty, loading, problem } from "../ui/controls.js";

const MOST = 300;

/** @type {Record<string, string>} */
const KINDS = { added: "Added", removed: "Removed", changed: "Changed" };

/** @param {import("../core/api.js").Detail} artifact @param {string} id */
export function snapshotOf(artifact, id) {
  return use(`snapshot/${artifact.id}/${id}`, () => api.snapshot(artifact.id, id));
}

/** @param {import("../core/api.js").Detail} artifact @param {string} from @param {string} until */
export function compareView(artifact, from, until) {
  const [old, now] = [snapshotOf(artifact, from), snapshotOf(artifact, until)];
  const error = old.error ?? now.error;
  return h(
    "div.compare",
    h(
      "div.preview-bar.snapshot",
      h("a.button.plain", { href: to.live(artifact, "history") }, "Back to history"),
      h(
        "p.grow.mono",
        h("a", { href: to.live(artifact, "history", from) }, from),
        " → ",
        h("a", { href: to.live(artifact, "history", until) }, until),
      ),
    ),
    error && problem(error),
    !error && (!old.value || !now.value) && loading(),
    old.value && now.value && changes(diff(old.value.dataJson, now.value.dataJson)),
  );
}

/** @param {Change[]} all */
function changes(all) {
  if (all.length === 0) return empty("compare", "No difference", "Both states hold the same values.");
  const only = ui("diff only", "");
  const shown = all.filter((change) => !only || change.kind === only);
  return [
    h(
      "div.segments",
      { role: "group", "aria-label": "Show", key: "filter" },
      filter("", `All ${all.length}`, only),
      Object.entries(KINDS).map(([kind, label]) =>
        filter(kind, `${label} ${all.filter((change) => change.kind === kind).length}`, only),
      ),
    ),
    h(
      "div.scroll-x",
      { key: "table", tabindex: "0", role: "region", "aria-label": "Changes" },
      h(
        "table.diff",
        h("thead", h("tr", ["", "Path", "Before", "After"].map((name, index) =>
          h("th", { scope: "col", key: String(index) }, name || h("span.sr", "Kind"))))),
        h("tbody", shown.slice(0, MOST).map(changeRow)),
      ),
    ),
    shown.length > MOST && h("p.meta", { key: "more" }, `${shown.length - MOST} more changes are not shown.`),
  ];
}

/** @param {string} kind @param {string} label @param {string} only */
function filter(kind, label, only) {
  return h("button", { type: "button", key: kind, "aria-pressed": String(only === kind), onclick: () => setUi("diff only", kind) }, label);
}

/** @param {Change} change */
function changeRow(change) {
  return h(
    "tr",
    { key: `${change.kind} ${change.path}`, class: change.kind },
    h("td", h("span", { class: cls("kind", change.kind), title: KINDS[change.kind] }, { added: "+", removed: "−", changed: "~" }[change.kind]), h("span.sr", KINDS[change.kind])),
    h("td.mono.path", change.path),
    h("td.mono.was", change.kind === "added" ? "" : clip(scalar(change.before), 400)),
    h("td.mono.now", change.kind === "removed" ? "" : clip(scalar(change.after), 400)),
  );
}

/**
 * @typedef {object} Change
 * @property {"added" | "removed" | "changed"} kind
 * @property {string} path
 * @property {unknown} before
 * @property {unknown} after
 */

/** Names that usually identify a row, most telling first. */
const USUAL = ["id", "key", "uuid", "slug", "number", "sha", "tag", "path", "url", "name", "title", "label", "date"];

/**
 * @param {unknown} before @param {unknown} after @param {string} [path]
 * @returns {Change[]}
 */
function diff(before, after, path = "") {
  if (before === after) return [];
  if (isObject(before) && isObject(after)) return diffObjects(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return diffLists(before, after, path);
  if (before === undefined) return [{ kind: "added", path, before, after }];
  if (after === undefined) return [{ kind: "removed", path, before, after }];
  return [{ kind: "changed", path, before, after }];
}

/** @param {Record<string, unknown>} before @param {Record<string, unknown>} after @param {string} path */
function diffObjects(before, after, path) {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => diff(own(before, key), own(after, key), join(path, key)));
}

/** @param {Record<string, unknown>} object @param {string} key */
function own(object, key) {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** @param {unknown[]} before @param {unknown[]} after @param {string} path @returns {Change[]} */
function diffLists(before, after, path) {
  const key = rowKey(before, after);
  if (key === undefined) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => diff(before[index], after[index], join(path, String(index)))).flat();
  }
  const old = index(before, key);
  const now = index(after, key);
  const names = new Set([...now.keys(), ...old.keys()]);
  return [...names].flatMap((name) => diff(old.get(name), now.get(name), `${path}[${key}=${name}]`));
}

/** @param {unknown[]} rows @param {string} key @returns {Map<string, unknown>} */
function index(rows, key) {
  return new Map(rows.map((row) => [String(/** @type {Record<string, unknown>} */ (row)[key]), row]));
}

/**
 * Returns the field that tells the rows of both lists apart, if there is one: present in every row, a
 * string or number, and different in each.
 * @param {unknown[]} before @param {unknown[]} after @returns {string | undefined}
 */
function rowKey(before, after) {
  const rows = [...before, ...after];
  if (rows.length === 0 || !rows.every(isObject)) return undefined;
  const [first = {}] = /** @type {Record<string, unknown>[]} */ (rows);
  const fields = Object.keys(first);
  const usual = USUAL.filter((name) => fields.includes(name));
  const others = fields.filter((name) => !USUAL.includes(name) && /(id|key|name)$/i.test(name));
  return [...usual, ...others].find((name) => unique(before, name) && unique(after, name));
}

/** @param {unknown[]} rows @param {string} name */
function unique(rows, name) {
  const seen = new Set();
  for (const row of rows) {
    const value = /** @type {Record<string, unknown>} */ (row)[name];
    if (typeof value !== "string" && typeof value !== "number") return false;
    if (seen.has(String(value))) return false;
    seen.add(String(value));
  }
  return true;
}
