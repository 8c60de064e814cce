// @ts-check
// The data as a tree: open and close, search, copy a path, link to a place.

import { cls, h } from "../../core/dom.js";
import { clip, join, originSentence, plural, scalar } from "../../core/format.js";
import { current, go, to } from "../../core/router.js";
import { setUi, ui } from "../../core/store.js";
import { copy, empty, iconButton, searchField } from "../../ui/controls.js";
import { treeKeys } from "../../ui/shortcuts.js";
import { explainBrief } from "../chat/brief.js";
import { compose } from "../chat/pane.js";
import { dotted, originOf } from "./provenance.js";

const MOST_ROWS = 400;
const OPEN_LEVELS = 2;

/**
 * @typedef {{path: string, name: string, level: number, value: unknown, branch: boolean, open: boolean}} Row
 */

/** @param {import("../../core/api.js").Detail} artifact */
export function dataTab(artifact) {
  const data = artifact.document?.dataJson;
  if (!data || Object.keys(data).length === 0) {
    return empty("file", "No data yet", "The data is an empty object. Refresh the artifact, or ask the agent to fill it.");
  }
  return dataTree(data, artifact.id, {
    target: current().query.get("path") ?? "",
    link: (path) => to.live(artifact, "data", "", { path }),
    origins: artifact.origins ?? [],
    explain: (path, value) => explain(artifact, path, value),
  });
}

/** Hands a value and its provenance to the agent. @param {import("../../core/api.js").Detail} artifact @param {string} path @param {unknown} value */
export function explain(artifact, path, value) {
  compose(artifact.projectId, explainBrief(artifact, path, value, originOf(artifact.origins ?? [], path)));
}

/** @param {unknown} value */
export function explainLabel(value) {
  return `Explain this ${typeof value === "number" ? "number" : "value"}`;
}

/**
 * @typedef {{
 *   target?: string, link?: (path: string) => string, explain?: (path: string, value: unknown) => void,
 *   origins?: import("../../core/schema.js").PathOrigin[],
 * }} TreeOptions
 */

/** @param {unknown} data @param {string} scope @param {TreeOptions} [options] */
export function dataTree(data, scope, options = {}) {
  const name = `search data ${scope}`;
  const query = ui(name, "").trim().toLowerCase();
  const limit = ui(`data rows ${scope}`, MOST_ROWS);
  const matching = query ? matches(data, query) : undefined;
  const rows = flatten(data, scope, options.target ?? "", matching, limit + 1);
  return h(
    "div.data",
    h(
      "div.data-bar",
      searchField(name, "Search keys and values", { hint: "/" }),
      h("span.meta", { role: "status" }, matching ? plural(matching.hits, "match", "matches") : ""),
    ),
    h(
      "div.data-tree.mono",
      { role: "tree", "aria-label": "Data", onkeydown: treeKeys },
      rows.slice(0, limit).map((row, index) => treeRow(row, index, scope, options)),
    ),
    matching?.hits === 0 && h("p.quiet", "No key or value contains that."),
    rows.length > limit &&
      h("button", { type: "button", class: "button plain", onclick: () => setUi(`data rows ${scope}`, limit + MOST_ROWS) }, "Show more"),
  );
}

/** @param {unknown} value @returns {value is Record<string, unknown> | unknown[]} */
function isBranch(value) {
  return typeof value === "object" && value !== null;
}

/**
 * Finds the paths to show for a search: every match and everything above it.
 * @param {unknown} data @param {string} query
 */
function matches(data, query) {
  /** @type {Set<string>} */
  const paths = new Set();
  let hits = 0;
  const walk = (/** @type {unknown} */ value, /** @type {string} */ path, /** @type {string} */ key) => {
    let found = key.toLowerCase().includes(query);
    if (!isBranch(value)) found ||= String(value).toLowerCase().includes(query);
    if (found) hits += 1;
    if (isBranch(value)) {
      for (const [name, entry] of Object.entries(value)) found = walk(entry, join(path, name), name) || found;
    }
    if (found) paths.add(path);
    return found;
  };
  walk(data, "", "");
  return { paths, hits };
}

/**
 * @param {unknown} data @param {string} scope @param {string} target
 * @param {{paths: Set<string>} | undefined} matching @param {number} most
 * @returns {Row[]}
 */
function flatten(data, scope, target, matching, most) {
  /** @type {Row[]} */
  const rows = [];
  const walk = (/** @type {unknown} */ value, /** @type {string} */ path, /** @type {number} */ level) => {
    for (const [name, entry] of Object.entries(/** @type {object} */ (value))) {
      if (rows.length >= most) return;
      const here = join(path, name);
      if (matching && !matching.paths.has(here)) continue;
      const branch = isBranch(entry) && Object.keys(entry).length > 0;
      const onTheWay = target === here || target.startsWith(`${here}.`);
      const open = branch && (matching !== undefined || ui(`open ${scope} ${here}`, level < OPEN_LEVELS || onTheWay));
      rows.push({ path: here, name, level, value: entry, branch, open });
      if (open) walk(entry, here, level + 1);
    }
  };
  walk(data, "", 1);
  return rows;
}

/** @param {Row} row @param {number} index @param {string} scope @param {TreeOptions} options */
function treeRow({ path, name, level, value, branch, open }, index, scope, options) {
  const selected = options.target === path;
  const origin = originOf(options.origins ?? [], path);
  // Said once at the place itself, at the row that was asked for, and where nothing above it has said it: what the
  // author wrote has no place of its own but the whole data, which is no row.
  const place = origin && dotted(origin);
  const says = origin && (selected || place === path || (place === "" && level === 1)) ? originSentence(origin) : "";
  return h(
    "div",
    {
      key: path,
      class: cls("data-row", selected && "selected"),
      role: "treeitem",
      tabindex: selected || (index === 0 && !options.target) ? "0" : "-1",
      "aria-level": String(level),
      "aria-expanded": branch ? String(open) : null,
      "aria-selected": String(selected),
      title: origin ? originSentence(origin) : null,
      style: { "--level": level },
      ref: selected ? (/** @type {Element} */ el) => requestAnimationFrame(() => el.scrollIntoView({ block: "center" })) : undefined,
      onclick: () => {
        if (branch) setUi(`open ${scope} ${path}`, !open);
        else if (options.link) go(options.link(path));
      },
    },
    h("span", { class: cls("twist", branch && "branch", open && "turned"), "aria-hidden": "true" }),
    h("span.data-key", name),
    h("span", { class: cls("data-value", "grow", kind(value)) }, shown(value)),
    says && h("span.meta.origin", says),
    options.explain && !isBranch(value) && iconButton("help", `${explainLabel(value)}: ${path}`, () => options.explain?.(path, value), { extra: "row-action", key: "explain" }),
    iconButton(ui("copied", "") === path ? "check" : "copy", `Copy path ${path}`, () => void copy(path, "path"), { extra: "row-action", key: "copy" }),
  );
}

/** @param {unknown} value */
function kind(value) {
  if (value === null) return "null";
  return isBranch(value) ? "branch-note" : typeof value;
}

/** @param {unknown} value */
function shown(value) {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : plural(value.length, "entry", "entries");
  if (isBranch(value)) return gist(value);
  return clip(scalar(value), 600);
}

/** An object in one line: its first plain values. @param {object} value */
function gist(value) {
  const plain = Object.entries(value).filter(([, entry]) => !isBranch(entry));
  if (plain.length === 0) return plural(Object.keys(value).length, "key");
  return clip(plain.slice(0, 4).map(([key, entry]) => `${key}: ${clip(scalar(entry), 32)}`).join(", "), 96);
}
