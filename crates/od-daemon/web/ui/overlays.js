// @ts-check
// What lies over the page: toasts, dialogs and the sheet of shortcuts.

import { cls, h } from "../core/dom.js";
import { plainSentence } from "../core/format.js";
import { change, setUi, state, ui } from "../core/store.js";
import { button, iconButton } from "./controls.js";

const TOAST_MS = 8000;
const MOST_TOASTS = 4;
const MOST_DETAILS = 3;
let nextToast = 1;

/**
 * Says what happened. What was said already and is still shown is said once, with how often; but two offers to
 * undo are two.
 * @param {"info" | "good" | "bad"} tone @param {string} text
 * @param {{detail?: string, action?: string, run?: () => void}} [more]
 */
export function toast(tone, text, more = {}) {
  const id = nextToast++;
  const same = state.toasts.find((entry) => entry.tone === tone && entry.text === text &&
    (entry.detail === more.detail || (!entry.action && !more.action)));
  const details = [...new Set([...(same?.detail?.split("\n") ?? []), more.detail])].filter(Boolean);
  const merged = { id, tone, text, ...more, detail: details.slice(-MOST_DETAILS).join("\n"), times: (same?.times ?? 0) + 1 };
  change(() => {
    state.toasts = [...state.toasts.filter((entry) => entry !== same).slice(1 - MOST_TOASTS), merged];
  });
  setTimeout(() => dismissUnlessUsed(id), TOAST_MS);
}

/** @param {import("../core/api.js").ApiError} error */
export function toastError(error) {
  toast("bad", plainSentence(error.message), { detail: plainSentence(error.suggestion) });
}

/** A toast that someone points at or has focused stays until they leave it. @param {number} id */
function dismissUnlessUsed(id) {
  const el = document.querySelector(`[data-toast="${id}"]`);
  if (el?.matches(":hover, :focus-within")) setTimeout(() => dismissUnlessUsed(id), TOAST_MS / 4);
  else dismiss(id);
}

/** @param {number} id */
function dismiss(id) {
  change(() => {
    state.toasts = state.toasts.filter((entry) => entry.id !== id);
  });
}

export function toasts() {
  return h(
    "div.toasts",
    { key: "toasts", role: "region", "aria-label": "Notifications" },
    h(
      "div",
      { "aria-live": "polite", class: "toast-stack" },
      state.toasts.map((entry) =>
        h(
          "div",
          { class: cls("toast", entry.tone), key: String(entry.id), "data-toast": String(entry.id) },
          h(
            "div.grow",
            h("p.strong", entry.text, (entry.times ?? 1) > 1 && h("span.times", ` × ${entry.times}`)),
            entry.detail?.split("\n").map((line) => h("p.quiet", { key: line }, line)),
          ),
          entry.action &&
            button(entry.action, () => {
              dismiss(entry.id);
              entry.run?.();
            }),
          iconButton("close", "Dismiss", () => dismiss(entry.id)),
        ),
      ),
    ),
  );
}

/**
 * @typedef {object} Dialog
 * @property {string} title
 * @property {() => import("../core/dom.js").Child} body
 * @property {string=} confirm
 * @property {"primary" | "danger"=} kind
 * @property {((form: FormData) => Promise<void> | void)=} run
 */

/** @param {Dialog} dialog */
export function openDialog(dialog) {
  state.ui.delete("dialog error");
  state.ui.delete("dialog busy");
  setUi("dialog", dialog);
}

/**
 * Asks for a name.
 * @param {string} title @param {string} label @param {(name: string) => Promise<void>} run
 * @param {string} [now] @param {string} [hint]
 */
export function askName(title, label, run, now = "", hint) {
  openDialog({
    title,
    confirm: title,
    body: () =>
      h(
        "label.field",
        label,
        h("input", {
          name: "name",
          required: true,
          maxlength: "200",
          autofocus: true,
          autocomplete: "off",
          ref: (/** @type {HTMLInputElement} */ el) => {
            el.value = now;
          },
        }),
        hint && h("span.hint", hint),
      ),
    run: (form) => run(String(form.get("name")).trim()),
  });
}

function closeDialog() {
  setUi("dialog", undefined);
}

export function dialogs() {
  const dialog = ui("dialog", /** @type {Dialog | undefined} */ (undefined));
  if (!dialog) return null;
  const busy = ui("dialog busy", false);
  return h(
    "dialog",
    {
      key: `dialog ${dialog.title}`,
      "aria-labelledby": "dialog-title",
      ref: (/** @type {HTMLDialogElement} */ el) => el.showModal(),
      onclose: closeDialog,
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.target === event.currentTarget) closeDialog();
      },
    },
    h(
      "form",
      {
        onsubmit: (/** @type {SubmitEvent} */ event) => {
          event.preventDefault();
          void submit(dialog, new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)));
        },
      },
      h(
        "header.row",
        h("h2", { id: "dialog-title", class: "grow" }, dialog.title),
        iconButton("close", "Close", closeDialog),
      ),
      dialog.body(),
      ui("dialog error", "") && h("p.field-error", { role: "alert" }, ui("dialog error", "")),
      dialog.run &&
        h(
          "footer.row.end",
          button("Cancel", closeDialog),
          h(
            "button",
            { type: "submit", class: cls("button", dialog.kind ?? "primary"), disabled: busy },
            dialog.confirm ?? "OK",
          ),
        ),
    ),
  );
}

/** @param {Dialog} dialog @param {FormData} form */
async function submit(dialog, form) {
  if (!dialog.run || ui("dialog busy", false)) return;
  setUi("dialog busy", true);
  try {
    await dialog.run(form);
    closeDialog();
  } catch (error) {
    const { message, suggestion } = /** @type {import("../core/api.js").ApiError} */ (error);
    setUi("dialog error", [message, suggestion].filter(Boolean).map((text) => plainSentence(text ?? "")).join(" "));
  } finally {
    setUi("dialog busy", false);
  }
}
