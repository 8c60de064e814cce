// @ts-check
// The small parts every view is made of.

import { cls, h } from "../core/dom.js";
import { sentence } from "../core/format.js";
import { announce, expire, setUi, ui } from "../core/store.js";

/**
 * @typedef {import("../core/dom.js").VNode} VNode
 * @typedef {import("../core/dom.js").Child} Child
 * @typedef {import("../core/api.js").ApiError} ApiError
 * @typedef {import("../core/schema.js").CompactError & {issues?: undefined, requestId?: undefined}} Logged
 */

/**
 * @param {string} label @param {() => void} run
 * @param {{icon?: string, kind?: "primary" | "plain" | "danger", disabled?: boolean, busy?: boolean, key?: string, full?: string}} [look]
 */
export function button(label, run, look = {}) {
  return h(
    "button",
    {
      key: look.key,
      type: "button",
      class: cls("button", look.kind ?? "plain"),
      disabled: look.disabled ?? false,
      "aria-busy": look.busy ? "true" : null,
      title: look.full,
      "aria-label": look.full,
      onclick: run,
    },
    look.icon && icon(look.icon, look.busy ? "spin" : ""),
    h("span", label),
  );
}

/**
 * @param {string} name @param {string} label @param {() => void} run
 * @param {{pressed?: boolean, disabled?: boolean, key?: string, extra?: string}} [look]
 */
export function iconButton(name, label, run, look = {}) {
  return h(
    "button",
    {
      key: look.key ?? label,
      type: "button",
      class: cls("icon-button", look.extra),
      title: label,
      "aria-label": label,
      "aria-pressed": look.pressed === undefined ? null : String(look.pressed),
      disabled: look.disabled ?? false,
      onclick: run,
    },
    icon(name),
  );
}

/**
 * A switch with its label.
 * @param {string} label @param {boolean} on @param {(on: boolean) => void} flip @param {boolean} [disabled]
 */
export function toggle(label, on, flip, disabled = false) {
  return h(
    "button",
    {
      type: "button",
      class: "switch",
      role: "switch",
      "aria-checked": String(on),
      disabled,
      onclick: () => flip(!on),
    },
    h("span.track", { "aria-hidden": "true" }, h("span.thumb-dot")),
    h("span", label),
  );
}

/**
 * What a view shows when there is nothing yet: what this is and what to do next. Where it is the whole
 * view, its title is given as the view's heading.
 * @param {string} name @param {string | VNode} title @param {Child} text @param {...Child} actions
 */
export function empty(name, title, text, ...actions) {
  return h(
    "div.empty",
    h("div.empty-icon", icon(name)),
    typeof title === "string" ? h("h2", title) : title,
    h("p", text),
    h("div.row.center", ...actions),
  );
}

/**
 * Shows a refusal with its fix: an answer's, or the shorter one that the log keeps.
 * @param {ApiError | Logged} error @param {...Child} actions
 */
export function problem(error, ...actions) {
  return h(
    "div.problem",
    { role: "alert" },
    icon("warn"),
    h(
      "div.grow",
      h("p.strong", sentence(error.message)),
      error.suggestion && h("p", sentence(error.suggestion)),
      error.issues?.[0] &&
        h(
          "ul",
          error.issues.map((issue, index) =>
            h(
              "li",
              { key: String(index) },
              issue.path && h("code", issue.path),
              " ",
              sentence(issue.message),
              issue.fix && h("span.quiet", " ", sentence(issue.fix)),
            ),
          ),
        ),
      h(
        "p.meta",
        error.code,
        error.requestId && ` · request ${error.requestId}`,
      ),
      actions.length > 0 && h("div.row", ...actions),
    ),
  );
}

/** Shows why something could not be loaded. @param {ApiError} error @param {string} key */
export function retry(error, key) {
  return problem(error, button("Try again", () => expire(key)));
}

/** @param {string} [label] */
export function loading(label = "Loading") {
  return h("div.loading", { role: "status" }, h("span.dot.busy"), ` ${label}…`);
}

/**
 * A command or path with a button that copies it.
 * @param {string} text @param {string} [what]
 */
export function copyable(text, what = "command") {
  return h(
    "div.copyable",
    h("code", { tabindex: "0" }, text),
    iconButton(ui("copied", "") === text ? "check" : "copy", `Copy ${what}`, () => copy(text, what)),
  );
}

/** The command that starts an agent in a project. @param {string} project */
export function agentCommand(project) {
  return copyable(`od run${project ? ` --project ${project}` : ""} -- claude`);
}

/** @param {string} text @param {string} what */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    setUi("copied", text);
    announce(`Copied ${what}`);
    setTimeout(() => ui("copied", "") === text && setUi("copied", ""), 1500);
  } catch {
    announce(`Could not copy the ${what}`);
  }
}

/**
 * @param {string} name @param {string} label @param {{hint?: string, key?: string}} [look]
 */
export function searchField(name, label, look = {}) {
  return h(
    "div.search",
    { key: look.key ?? name },
    icon("search"),
    h("input", {
      type: "search",
      "data-search": "",
      "aria-label": label,
      placeholder: label,
      value: ui(name, ""),
      autocomplete: "off",
      spellcheck: "false",
      oninput: (/** @type {InputEvent} */ event) =>
        setUi(name, /** @type {HTMLInputElement} */ (event.target).value),
    }),
    look.hint && h("kbd", { "aria-hidden": "true" }, look.hint),
  );
}

/** The few pictures, drawn with the text's own colour on a 16-unit grid. */
/** @type {Record<string, string>} */
const PATHS = {
  refresh: "M13.5 8a5.5 5.5 0 1 1-1.6-3.9M13.5 1.8v2.9h-2.9",
  external: "M6.5 3.5h-3v9h9v-3M9 2.5h4.5V7M13.2 2.8 7.5 8.5",
  download: "M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11",
  pin: "M9.8 2.2 13.8 6.2 11.4 7.1 9.4 9.1 9 12 4 7l2.9-.4 2-2zM6.4 9.6 2.5 13.5",
  edit: "m3 13 .6-3.2L10.4 3 13 5.6l-6.8 6.8z",
  archive: "M2 3h12v3H2zM3 6v7.5h10V6M6.3 9h3.4",
  trash: "M2.5 4.5h11M6 4.5V2.5h4v2M4 4.5l.6 9h6.8l.6-9M6.7 7v4M9.3 7v4",
  file: "M4 1.8h5L12.5 5.3v8.9H4zM9 1.8v3.5h3.5",
  live: "M2 8h2.6l1.8-4.6 3.1 9.2L11.3 8H14",
  folder: "M1.8 3.5h4.4l1.4 1.7h6.6v7.6H1.8z",
  plus: "M8 3v10M3 8h10",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.4 10.4l3.4 3.4",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "m3 8.5 3.3 3.2L13 4.8",
  chevron: "m6 3.8 4.2 4.2L6 12.2",
  close: "m4 4 8 8M12 4l-8 8",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  inspect: "M2.5 2.5h4M2.5 2.5v4M13.5 2.5v4M13.5 2.5h-4M2.5 13.5v-4M2.5 13.5h4M8 8l5.5 2-2.4 1.1L10 13.5z",
  warn: "M8 2 14.5 13.5h-13zM8 6.3v3.4M8 11.4v.3",
  plug: "M6 1.8v3M10 1.8v3M4 4.8h8v2.7a4 4 0 0 1-8 0zM8 11.5v2.7",
  sun: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2",
  moon: "M13.3 9.6A5.8 5.8 0 0 1 6.4 2.7a5.6 5.6 0 1 0 6.9 6.9z",
  auto: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 2v12M10 3.2v9.6M12 4.9v6.2",
  help: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM6.3 6.3a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.9.7-.9 1.3M8 11.1v.3",
  compare: "M5 2.5v11M11 2.5v11M2.5 5 5 2.5 7.5 5M8.5 11l2.5 2.5 2.5-2.5",
  chat: "M2.5 3h11v7.5H7L4 13.3v-2.8H2.5zM5 5.7h6M5 7.9h4",
  clock: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 4.8V8l2.2 1.6",
};

/**
 * Draws an icon. It is decoration: what it means is always said in words too.
 * @param {string} name @param {string} [extra]
 */
export function icon(name, extra = "") {
  return h(
    "svg",
    { class: `icon ${extra}`.trim(), viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    h("path", { d: PATHS[name] ?? "" }),
  );
}
