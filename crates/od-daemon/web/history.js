// @ts-check
// Past refreshes, newest first: what each did, how long it took, why it failed; and the state it left.

import { openInTab } from "./actions.js";
import { api } from "./api.js";
import { button, empty, loading, retry } from "./controls.js";
import { compareView } from "./compare.js";
import { cls, h } from "./dom.js";
import { absolute, badge, duration, plural, time } from "./format.js";
import { icon } from "./icons.js";
import { frame } from "./preview.js";
import { current, go, to } from "./router.js";
import { setUi, ui, use } from "./store.js";
import { stepName } from "./viewer.js";

/**
 * One refresh, put together from its records.
 * @typedef {object} Refresh
 * @property {string} id
 * @property {string} status
 * @property {string} at
 * @property {number | undefined} durationMs
 * @property {any[]} steps
 * @property {any} error
 * @property {any} changes
 */

/** @param {any[]} records @returns {Refresh[]} */
export function refreshesOf(records) {
  /** @type {Map<string, any[]>} */
  const byId = new Map();
  for (const record of records) {
    const id = record.refreshId ?? record.id;
    byId.set(id, [...(byId.get(id) ?? []), ...(record.steps ?? [record])]);
  }
  return [...byId].map(([id, found]) => {
    const steps = [...found].sort((a, b) => String(a.at).localeCompare(String(b.at)));
    const own = records.find((record) => (record.refreshId ?? record.id) === id && record.steps);
    const last = own ?? steps[steps.length - 1];
    return {
      id,
      status: last.status,
      at: own?.startedAt ?? own?.at ?? steps[0].at,
      durationMs: own?.durationMs ?? last.totalMs ?? sum(steps),
      steps,
      error: own?.error ?? steps.find((step) => step.error)?.error,
      changes: own?.changes ?? steps.find((step) => step.changes)?.changes,
    };
  });
}

/** @param {any[]} steps */
function sum(steps) {
  return steps.reduce((total, step) => total + (step.durationMs ?? 0), 0);
}

/** @param {any} artifact */
export function historyTab(artifact) {
  const { rest } = current();
  if (rest.includes("..")) {
    const [from = "", until = ""] = rest.split("..");
    return compareView(artifact, from, until, snapshotsOf(artifact).value ?? []);
  }
  if (rest) return snapshotView(artifact, rest);
  const listed = use(`refreshes/${artifact.id}`, () => api.refreshes(artifact.id));
  const snapshots = snapshotsOf(artifact);
  if (listed.error) return retry(listed.error, `refreshes/${artifact.id}`);
  if (!listed.value) return loading();
  if (listed.value.length === 0) {
    return empty(
      "clock",
      "Never refreshed",
      artifact.refreshable
        ? "Press Refresh to read the source again. Every refresh is recorded here, with what it changed."
        : "Refreshes will be recorded here once this artifact has a source and the permission to use it.",
    );
  }
  const kept = new Set((snapshots.value ?? []).map(snapshotId));
  return h(
    "div.history",
    picker(artifact, [...kept]),
    h("ol.refreshes", refreshesOf(listed.value).map((refresh) => row(artifact, refresh, [...kept]))),
  );
}

/** @param {any} artifact */
function snapshotsOf(artifact) {
  return use(`snapshots/${artifact.id}`, () => api.snapshots(artifact.id));
}

/** @param {any} snapshot @returns {string} */
export function snapshotId(snapshot) {
  return snapshot.refreshId ?? snapshot.id;
}

/** @param {any} artifact @param {string[]} kept */
function picker(artifact, kept) {
  if (kept.length < 2) return null;
  const from = ui(`compare from ${artifact.id}`, kept[1] ?? "");
  const until = ui(`compare until ${artifact.id}`, kept[0] ?? "");
  const field = (/** @type {string} */ label, /** @type {string} */ name, /** @type {string} */ value) =>
    h(
      "label.inline-field",
      label,
      h(
        "select",
        { value, onchange: (/** @type {Event} */ event) => setUi(`${name} ${artifact.id}`, /** @type {HTMLSelectElement} */ (event.target).value) },
        kept.map((id) => h("option", { value: id, key: id }, id)),
      ),
    );
  return h(
    "div.compare-bar",
    field("Compare", "compare from", from),
    field("with", "compare until", until),
    button("Compare", () => go(to.live(artifact, "history", `${from}..${until}`)), { icon: "compare" }),
  );
}

/** @type {Record<string, {label: string, tone: "good" | "bad" | "accent" | "warn"}>} */
const STATUS = {
  succeeded: { label: "Succeeded", tone: "good" },
  failed: { label: "Failed", tone: "bad" },
  running: { label: "Running", tone: "accent" },
  cancelled: { label: "Cancelled", tone: "warn" },
};

/** @param {any} artifact @param {Refresh} refresh @param {string[]} kept */
function row(artifact, refresh, kept) {
  const name = `refresh open ${artifact.id} ${refresh.id}`;
  const open = ui(name, false);
  const at = kept.indexOf(refresh.id);
  const cancelled = refresh.error?.code === "REFRESH_CANCELLED";
  const status = cancelled ? STATUS.cancelled : STATUS[refresh.status];
  const before = kept[at + 1];
  return h(
    "li",
    { key: refresh.id, class: "refresh" },
    h(
      "div.refresh-head",
      h(
        "button",
        { type: "button", class: "disclose grow", "aria-expanded": String(open), onclick: () => setUi(name, !open) },
        icon("chevron", open ? "turned" : ""),
        badge(status ?? { label: refresh.status, tone: "quiet" }),
        h("span.strong.clip", outcome(refresh)),
        h("span.grow"),
        h("span.meta.mono.wide-only", refresh.id),
        h("span.meta", duration(refresh.durationMs)),
        h("span.meta", time(refresh.at)),
      ),
      at >= 0 && h("a.button.plain", { href: to.live(artifact, "history", refresh.id) }, "Open"),
      at >= 0 && before &&
        h("a.button.plain", { href: to.live(artifact, "history", `${before}..${refresh.id}`), title: "Compare with the state before" }, "Changes"),
    ),
    open && steps(refresh),
  );
}

/** @param {Refresh} refresh */
function outcome({ status, error, changes }) {
  if (error) return error.message ?? error.code ?? "It failed";
  if (status === "running") return "Under way";
  if (status !== "succeeded") return status;
  const count = changeCount(changes);
  if (count === undefined) return "Data is current";
  return count === 0 ? "Nothing had changed" : plural(count, "value changed", "values changed");
}

/** @param {any} changes @returns {number | undefined} */
function changeCount(changes) {
  if (changes === undefined || changes === null) return undefined;
  if (Array.isArray(changes)) return changes.length;
  if (typeof changes.total === "number") return changes.total;
  const counts = ["added", "removed", "changed"].map((kind) => changes[kind]);
  return counts.reduce((total, part) => total + (Array.isArray(part) ? part.length : Number(part ?? 0)), 0);
}

/** @param {Refresh} refresh */
function steps(refresh) {
  return h(
    "div.refresh-body",
    h(
      "ol.step-list",
      refresh.steps.map((step, index) =>
        h(
          "li",
          { key: String(index), class: cls("step", step.status) },
          h("span.dot", { "aria-hidden": "true" }),
          h("span.grow", stepName(String(step.step ?? step.name ?? "step")), h("span.sr", `, ${step.status}`)),
          h("span.meta", duration(step.durationMs)),
        ),
      ),
    ),
    refresh.error &&
      h(
        "div.problem",
        icon("warn"),
        h(
          "div",
          h("p.strong", refresh.error.message ?? refresh.error.code),
          refresh.error.suggestion && h("p", refresh.error.suggestion),
          h("p.meta", refresh.error.code),
        ),
      ),
  );
}

/** @param {any} artifact @param {string} id */
function snapshotView(artifact, id) {
  const snapshot = (snapshotsOf(artifact).value ?? []).find((/** @type {any} */ entry) => snapshotId(entry) === id);
  const at = snapshot?.at ?? snapshot?.createdAt ?? snapshot?.generatedAt;
  return h(
    "div.preview",
    h(
      "div.preview-bar.snapshot",
      h("a.button.plain", { href: to.live(artifact, "history") }, "Back to history"),
      h("p.grow", h("span.strong", "An earlier state"), h("span.meta", ` ${id}${at ? `, ${absolute(at)}` : ""}. Nothing is restored by looking.`)),
      button("Open in a new tab", () => void openInTab(artifact, id), { icon: "external" }),
    ),
    h("div.preview-split", h("div.preview-box", frame(artifact.id, id, artifact.title, { snapshot: id }))),
  );
}
