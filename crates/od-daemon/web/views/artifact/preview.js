// @ts-check
// The page itself, in a sandboxed frame on its own origin; and beside it, on demand, where each of its
// values comes from.

import { api } from "../../core/api.js";
import { cls, h } from "../../core/dom.js";
import { clip, originSentence, plural, scalar } from "../../core/format.js";
import { current, go, to } from "../../core/router.js";
import { forget, state, use } from "../../core/store.js";
import { icon, iconButton, loading, problem, retry } from "../../ui/controls.js";
import { explain, explainLabel } from "./data.js";
import { originOf } from "./provenance.js";

/** @typedef {import("../../core/api.js").Detail} Detail */

/** Of the page's links only those that open a new tab work; scripts, forms and its origin are gone. */
const SANDBOX = "allow-popups allow-popups-to-escape-sandbox";

/**
 * @param {string} id @param {string} revision @param {string} title
 * @param {{variant?: string, earlier?: string | number, outgrown?: () => import("../../core/dom.js").VNode}} [options]
 */
export function frame(id, revision, title, options = {}) {
  const { variant = "rendered", earlier, outgrown } = options;
  const key = `ticket/${id}/${variant}/${earlier ?? ""}`;
  const ticket = use(`${key}/${revision}`, () => api.ticket(id, variant, earlier));
  if (outgrown && ticket.error?.code === "TEMPLATE_BINDING_INVALID") return outgrown();
  if (ticket.error) return retry(ticket.error, key);
  // The frame of the revision before stays until the new address is known.
  const url = ticket.value ?? shown.get(key)?.url;
  if (!url) return loading("Opening the preview");
  if (shown.get(key)?.url !== url) shown.set(key, { url, at: Date.now() });
  return h("iframe.preview-frame", { key,
    title: `Preview of ${title}`,
    sandbox: SANDBOX,
    referrerpolicy: "no-referrer",
    src: url,
  });
}

/** @type {Map<string, {url: string, at: number}>} */
const shown = new Map();
/** A ticket opens its page for five minutes; a frame that stays needs no other. */
const TICKET_MS = 4 * 60_000;

/**
 * Forgets tickets that are too old to open a page with, and all of them while the daemon does not answer: who
 * has its port meanwhile gets none. Called before another view is drawn.
 */
export function dropOldTickets() {
  for (const [key, { at }] of shown) {
    if (state.link === "live" && Date.now() - at < TICKET_MS) continue;
    shown.delete(key);
    forget(`${key}/`);
  }
}

/** What the page is made from: the revision, and edits by hand since. @param {Detail} artifact */
export function version({ revision, drift = [], health }) {
  return [revision, health?.state, ...drift.map(({ found }) => found)].join(" ");
}

function inspecting() {
  return current().query.get("inspect") === "1";
}

/** Chooses between the page as it is and the page with its bindings shown. @param {Detail} artifact */
export function modeSwitch(artifact) {
  const flip = (/** @type {boolean} */ on) =>
    go(to.live(artifact, "preview", "", { inspect: on ? "1" : undefined }));
  return h(
    "div.segments",
    { role: "group", "aria-label": "Preview mode" },
    segment("Page", !inspecting(), () => flip(false)),
    segment("Inspect", inspecting(), () => flip(true)),
  );
}

/** @param {Detail} artifact */
export function previewTab(artifact) {
  const variant = inspecting() ? "inspect" : "rendered";
  return h(
    "div.preview",
    h(
      "div.preview-split",
      h("div.preview-box", frame(artifact.id, version(artifact), artifact.title, { variant })),
      inspecting() && bindingsPanel(artifact),
    ),
  );
}

/** @param {string} label @param {boolean} on @param {() => void} run */
function segment(label, on, run) {
  return h(
    "button",
    { type: "button", "aria-pressed": String(on), onclick: run, key: label },
    label === "Inspect" && icon("inspect"),
    label,
  );
}

/**
 * @typedef {{path: string, each: string, times: number}} Binding
 */

/**
 * Lists what a template binds, in the order of the page, each path once. `row in data.rows` makes
 * `row.name` the path `rows[].name`.
 * @param {string} template @returns {Binding[]}
 */
export function bindings(template) {
  /** @type {Map<string, Binding>} */
  const found = new Map();
  /** @type {Map<string, string>} */
  const aliases = new Map();
  const pattern =
    /data-od-repeat\s*=\s*["']?\s*([A-Za-z_]\w*)\s+in\s+([\w.-]+)|\{\{\s*([\w.-]+)\s*(?:\|[^{}]*)?\}\}|data-od-(?:x|y|min|max)\s*=\s*["']([^"']*)["']/g;
  for (const [, alias, list, bound, drawn] of template.matchAll(pattern)) {
    // A chart draws several columns at once.
    for (const text of (list ?? bound ?? drawn ?? "").split(/[\s,]+/)) {
      const [head = "", ...rest] = text.split(".");
      const each = head === "data" ? "" : (aliases.get(head) ?? "");
      const path = each ? [`${each}[]`, ...rest].join(".") : rest.join(".");
      if (alias) {
        aliases.set(alias, path);
        continue;
      }
      if (head !== "data" && !each) continue;
      const before = found.get(path);
      if (before) before.times += 1;
      else if (path) found.set(path, { path, each, times: 1 });
    }
  }
  return [...found.values()];
}

/** @typedef {{[part: string]: Tree} | null | undefined} Tree */

/** @param {unknown} data @param {string} path @returns {unknown} */
export function valueAt(data, path) {
  let value = /** @type {Tree} */ (data);
  for (const part of path.split(".")) value = value?.[part];
  return value;
}

/** @param {Detail} artifact */
function bindingsPanel(artifact) {
  const template = use(`template/${artifact.id}`, () => api.text(artifact.id, "template"));
  const list = bindings(template.value ?? "");
  const data = artifact.document?.dataJson ?? {};
  return h(
    "aside.bindings",
    { "aria-label": "Values on this page", key: "bindings" },
    h("h2", "Values on this page"),
    h("p.meta", "Point at a value, or tab to it, to see its path, source and time."),
    template.error && problem(template.error),
    !template.value && !template.error && loading(),
    template.value !== undefined && list.length === 0 && h("p.quiet", "This page shows no data: its text is fixed."),
    h("ul", list.map((binding) => bindingRow(artifact, data, binding))),
  );
}

/** @param {Detail} artifact @param {unknown} data @param {Binding} binding */
function bindingRow(artifact, data, { path, each }) {
  const rows = each ? valueAt(data, each.replaceAll("[]", ".0")) : undefined;
  const first = path.replaceAll("[]", ".0");
  const value = valueAt(data, first);
  const count = Array.isArray(rows) ? rows.length : 0;
  const origin = originOf(artifact.origins ?? [], first);
  return h(
    "li",
    { key: path },
    h(
      "a",
      { href: to.live(artifact, "data", "", { path: (each || path).replaceAll("[]", ".0") }) },
      h("span.mono.clip", path),
      h(
        "span.meta.clip",
        each ? `${plural(count, "row")}, first ${clip(scalar(value), 40)}` : clip(scalar(value), 60),
      ),
      origin && h("span", { class: cls("meta", "origin", origin.writer === "author" && "fixed") }, originSentence(origin)),
    ),
    value !== undefined && (typeof value !== "object" || value === null) &&
      iconButton("help", `${explainLabel(value)}: ${first}`, () => explain(artifact, first, value), { key: "explain", extra: "row-action" }),
  );
}
