// @ts-check
// Past refreshes, newest first: what each did, how long it took, why it failed; and the state it left.

import { api } from "../core/api.js";
import { cls, h } from "../core/dom.js";
import { absolute, badge, clip, duration, plural, time } from "../core/format.js";
import { current, go, to } from "../core/router.js";
import { setUi, ui, use } from "../core/store.js";
import { isShown, openInTab, rollBack } from "../ui/actions.js";
import { button, empty, icon, loading, problem, retry } from "../ui/controls.js";
import { compareView, snapshotOf } from "./compare.js";
import { dataTree } from "./data.js";
import { stepName } from "./notices.js";
import { frame, version } from "./preview.js";

/**
 * One refresh, put together from its records.
 * @typedef {object} Refresh
 * @property {string} id
 * @property {Record_} last
 * @property {Record_[]} records
 * @typedef {import("../core/schema.js").RefreshRecord} Record_
 * @typedef {import("../core/api.js").Detail} Detail
 * @typedef {import("../core/api.js").SnapshotLine} SnapshotLine
 */

/** @param {Record_[]} records newest first @returns {Refresh[]} */
export function refreshesOf(records) {
  /** @type {Map<string, Refresh>} */
  const found = new Map();
  for (const record of records) {
    const refresh = found.get(record.refreshId);
    if (refresh) refresh.records.unshift(record);
    else found.set(record.refreshId, { id: record.refreshId, last: record, records: [record] });
  }
  return [...found.values()];
}

/** @param {Detail} artifact */
export function historyTab(artifact) {
  const { rest } = current();
  if (rest.includes("..")) {
    const [from = "", until = ""] = rest.split("..");
    return compareView(artifact, from, until);
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
  const lines = snapshots.value ?? [];
  const kept = lines.map((line) => line.refreshId);
  return h(
    "div.history",
    picker(artifact, kept),
    h("ol.refreshes", refreshesOf(listed.value).map((refresh) => row(artifact, refresh, kept, lines))),
  );
}

/** @param {Detail} artifact */
function snapshotsOf(artifact) {
  return use(`snapshots/${artifact.id}`, () => api.snapshots(artifact.id));
}

/** @param {Detail} artifact @param {string[]} kept */
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
  timed_out: { label: "Timed out", tone: "bad" },
  abandoned: { label: "Broken off", tone: "bad" },
};

/** @param {Detail} artifact @param {SnapshotLine | undefined} line @param {string} label */
function restoreButton(artifact, line, label) {
  if (!line || isShown(artifact, line)) return null;
  return button(label, () => void rollBack(artifact, line.refreshId), { key: "restore", full: `Restore this state, ${line.refreshId}` });
}

/** @param {Detail} artifact @param {Refresh} refresh @param {string[]} kept @param {SnapshotLine[]} lines */
function row(artifact, refresh, kept, lines) {
  const { id, last } = refresh;
  const name = `refresh open ${artifact.id} ${id}`;
  const open = ui(name, false);
  const at = kept.indexOf(id);
  const before = kept[at + 1];
  return h(
    "li.refresh",
    { key: id },
    h(
      "div.refresh-head",
      h(
        "button.disclose.grow",
        { type: "button", "aria-expanded": String(open), onclick: () => setUi(name, !open) },
        icon("chevron", open ? "turned" : ""),
        badge(STATUS[last.status] ?? { label: last.status, tone: "quiet" }),
        h("span.strong.clip", outcome(last)),
        h("span.grow"),
        h("span.meta.mono.wide-only", id),
        h("span.meta", duration(last.durationMs)),
        h("span.meta", time(last.at)),
      ),
      at >= 0 &&
        h(
          "div.row",
          before &&
            h("a.button", { href: to.live(artifact, "history", `${before}..${id}`), "aria-label": `Changes of ${id}`, title: "Compare with the state before" }, "Changes"),
          h("a.button", { href: to.live(artifact, "history", id), "aria-label": `Open ${id}` }, "Open"),
          restoreButton(artifact, lines[at], "Restore"),
        ),
    ),
    open && steps(refresh),
  );
}

/** @param {Record_} last */
function outcome({ status, error, changes }) {
  if (error) return error.message;
  if (status === "running") return "Under way";
  if (!changes) return status;
  return changes.count === 0 ? "Nothing had changed" : plural(changes.count, "value changed", "values changed");
}

/** @param {Refresh} refresh */
function steps({ last, records }) {
  return h(
    "div.refresh-body",
    h("ol", records.map((record, index) =>
      h(
        "li",
        { key: String(index), class: cls("step", record.status) },
        h("span.dot", { "aria-hidden": "true" }),
        h("span.grow", stepName(record.step), h("span.sr", `, ${record.status}`),
          record.connector && h("span.meta.mono", ` ${record.connector.toolName} ${record.connector.outputSummary ?? ""}`)),
        h("span.meta", duration(record.durationMs)),
      ),
    )),
    (last.changes?.count ?? 0) > 0 && h("p.meta.mono", clip(last.changes?.paths.join("  ") ?? "", 400)),
    last.error && problem(last.error),
  );
}

/** @param {Detail} artifact @param {string} id */
function snapshotView(artifact, id) {
  const snapshot = (snapshotsOf(artifact).value ?? []).find((entry) => entry.refreshId === id);
  const at = snapshot?.generatedAt;
  return h(
    "div.preview",
    h(
      "div.preview-bar.snapshot",
      h("a.button.plain", { href: to.live(artifact, "history") }, "Back to history"),
      h("p.grow", h("span.strong", "An earlier state"), h("span.meta", ` ${id}${at ? `, ${absolute(at)}` : ""}`)),
      restoreButton(artifact, snapshot, "Restore this state"),
      button("Open in a new tab", () => void openInTab(artifact, id), { icon: "external" }),
    ),
    h("div.preview-split", h("div.preview-box", frame(artifact.id, version(artifact), artifact.title, {
      snapshot: id,
      outgrown: () => outgrown(artifact, id),
    }))),
  );
}

/** What is left of a state whose template is gone: its values. @param {Detail} artifact @param {string} id */
function outgrown(artifact, id) {
  const { value, error } = snapshotOf(artifact, id);
  return h(
    "div.outgrown",
    { key: "outgrown" },
    h("div.notice", { role: "status" }, icon("clock"),
      h("div", h("p.strong", "The template has changed since then."), h("p", "It does not fit the values of that time any more; here they are."))),
    error ? problem(error) : value ? dataTree(value.dataJson, `${artifact.id} ${id}`) : loading(),
  );
}
