// @ts-check
// The small parts every view is made of.

import { cls, h } from "./dom.js";
import { icon } from "./icons.js";
import { announce, expire, setUi, ui } from "./store.js";

/**
 * @typedef {import("./dom.js").VNode} VNode
 * @typedef {import("./dom.js").Child} Child
 */

/**
 * @param {string} label @param {() => void} run
 * @param {{icon?: string, kind?: "primary" | "plain" | "danger", disabled?: boolean, busy?: boolean, key?: string, title?: string}} [look]
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
      title: look.title,
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
 * What a view shows when there is nothing yet: what this is and what to do next.
 * @param {string} name @param {string} title @param {Child} text @param {...Child} actions
 */
export function empty(name, title, text, ...actions) {
  return h(
    "div.empty",
    h("div.empty-icon", icon(name)),
    h("h2", title),
    h("p", text),
    h("div.row.center", ...actions),
  );
}

/**
 * Shows a refusal with its fix.
 * @param {import("./api.js").ApiError} error @param {...Child} actions
 */
export function problem(error, ...actions) {
  return h(
    "div.problem",
    { role: "alert" },
    icon("warn"),
    h(
      "div.grow",
      h("p.strong", error.message),
      error.suggestion && h("p", error.suggestion),
      error.issues?.length > 0 &&
        h(
          "ul",
          error.issues.map((issue, index) =>
            h(
              "li",
              { key: String(index) },
              issue.path && h("code", issue.path),
              ` ${issue.message}`,
              issue.fix && h("span.quiet", ` ${issue.fix}`),
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

/** Shows why something could not be loaded. @param {any} error @param {string} key */
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
