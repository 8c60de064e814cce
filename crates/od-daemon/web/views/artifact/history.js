// @ts-check
// Everything that happened to an artifact, newest first: every commit with who made it, every refresh with what it
// did, how long it took and why it failed; and the states they left, to open, compare and restore.

import { api } from "../../core/api.js";
import { cls, h } from "../../core/dom.js";
import { absolute, badge, clip, duration, plural, sentence, time } from "../../core/format.js";
import { current, to } from "../../core/router.js";
import { setUi, ui, use } from "../../core/store.js";
import { openInTab, rollBack } from "../../ui/actions.js";
import { button, empty, icon, loading, problem, retry } from "../../ui/controls.js";
import { comparePicker, compareView, nameOf, valuesOf } from "./compare.js";
import { dataTree } from "./data.js";
import { stepName } from "./notices.js";
import { frame, version } from "./preview.js";

/**
 * One refresh, put together from its records.
 * @typedef {object} Refresh
 * @property {string} id
 * @property {Record_} last
 * @property {Record_[]} records
 * @typedef {import("../../core/schema.js").RefreshRecord} Record_
 * @typedef {import("../../core/api.js").Detail} Detail
 * @typedef {import("../../core/api.js").RevisionLine} RevisionLine
 * @typedef {import("./compare.js").State} State
 *
 * What happened at one time: a commit, a refresh, or both.
 * @typedef {object} Entry
 * @property {string} at
 * @property {RevisionLine=} commit
 * @property {Refresh=} refresh
 * @property {State=} state the state it left, if that is kept
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

/**
 * Puts commits and refreshes in one order, newest first; a refresh that was committed is one entry with its commit.
 * @param {RevisionLine[]} commits @param {Refresh[]} refreshes @param {string[]} stored the refreshes whose states were kept before revisions were
 * @returns {Entry[]}
 */
export function entriesOf(commits, refreshes, stored) {
  const byId = new Map(refreshes.map((refresh) => [refresh.id, refresh]));
  const committed = commits.map((commit) => {
    const refresh = byId.get(commit.refreshId ?? "");
    byId.delete(commit.refreshId ?? "");
    return { at: commit.at, commit, refresh, state: commit.kept ? commit.revision : undefined };
  });
  const others = [...byId.values()].map((refresh) => ({
    at: refresh.last.at,
    refresh,
    state: stored.includes(refresh.id) ? refresh.id : undefined,
  }));
  return [...committed, ...others].sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

/** @param {Detail} artifact */
export function historyTab(artifact) {
  const { rest } = current();
  const listed = use(`refreshes/${artifact.id}`, () => api.refreshes(artifact.id));
  const timeline = use(`revisions/${artifact.id}`, () => api.revisions(artifact.id));
  const snapshots = use(`snapshots/${artifact.id}`, () => api.snapshots(artifact.id));
  if (timeline.error) return retry(timeline.error, `revisions/${artifact.id}`);
  if (listed.error) return retry(listed.error, `refreshes/${artifact.id}`);
  if (!listed.value || !timeline.value) return loading();
  const { revisions } = timeline.value;
  const kept = revisions.filter((line) => line.kept);
  // The state of a refresh is that of its revision, where revisions are kept.
  const state = (/** @type {string} */ name) =>
    /^\d+$/.test(name) ? Number(name) : (kept.find(({ refreshId }) => refreshId === name)?.revision ?? name);
  if (rest.includes("..")) {
    const [from = "", until = ""] = rest.split("..");
    return compareView(artifact, kept, state(from), state(until));
  }
  if (rest) return stateView(artifact, revisions, state(rest));
  const stored = (snapshots.value ?? []).map((line) => line.refreshId);
  const entries = entriesOf(revisions, refreshesOf(listed.value), stored);
  if (entries.length === 0) {
    return empty("clock", "Nothing has happened yet", "Every change and every refresh is recorded here from now on, with what it changed.");
  }
  const states = entries.flatMap((entry) => entry.state ?? []);
  return h(
    "div.history",
    comparePicker(artifact, kept, kept[1]?.revision ?? 0, kept[0]?.revision ?? 0),
    h("ol.refreshes", entries.map((entry) => row(artifact, entry, states, revisions))),
    timeline.value.nextCursor && h("p.meta", "Earlier changes are listed by ", h("code", `od artifacts revisions ${artifact.id}`), "."),
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

/** @type {Record<RevisionLine["kind"], string>} */
const COMMITS = {
  create: "Created",
  update: "Updated",
  refresh: "Refreshed",
  restore: "Restored",
  edit: "Edited by hand",
  permission: "Permission",
  schedule: "Schedule",
  repair: "Repaired",
};

/** @type {Record<RevisionLine["door"], string>} */
const DOORS = {
  console: "in this console",
  command_line: "at the command line",
  http: "over HTTP",
  mcp: "through MCP",
  tool_shell: "with a tool command",
  clock: "by its schedule",
  files: "in its files",
};

/** Whether a state is the one that is shown. @param {Detail} artifact @param {RevisionLine[]} revisions @param {State} state */
function isShown(artifact, revisions, state) {
  const now = revisions[0]?.digests;
  const then = revisions.find(({ revision }) => revision === state)?.digests;
  return !artifact.drift?.[0] && then !== undefined && JSON.stringify(now) === JSON.stringify(then);
}

/** @param {Detail} artifact @param {RevisionLine[]} revisions @param {State | undefined} state @param {string} label */
function restoreButton(artifact, revisions, state, label) {
  if (state === undefined || isShown(artifact, revisions, state)) return null;
  return button(label, () => void rollBack(artifact, state), { key: "restore", full: `Restore this state, ${nameOf(state)}` });
}

/** @param {Detail} artifact @param {Entry} entry @param {State[]} states newest first @param {RevisionLine[]} revisions */
function row(artifact, { at, commit, refresh, state }, states, revisions) {
  const id = String(commit?.revision ?? refresh?.id);
  const name = `history open ${artifact.id} ${id}`;
  const open = ui(name, false);
  const before = state === undefined ? undefined : states[states.indexOf(state) + 1];
  const last = refresh?.last;
  return h(
    "li",
    { key: id, class: cls("entry", refresh ? "refresh" : "commit") },
    h(
      "div.refresh-head",
      h(
        "button.disclose.grow",
        { type: "button", "aria-expanded": String(open), onclick: () => setUi(name, !open) },
        icon("chevron", open ? "turned" : ""),
        badge(last ? (STATUS[last.status] ?? { label: last.status, tone: "quiet" }) : { label: commit ? COMMITS[commit.kind] : "", tone: "quiet" }),
        h("span.strong.clip", last ? outcome(last) : commit && parts(commit)),
        h("span.grow"),
        h("span.meta.wide-only", commit ? `Revision ${commit.revision}` : ""),
        h("span.meta", duration(last?.durationMs)),
        h("span.meta", time(at)),
      ),
      state !== undefined &&
        h(
          "div.row",
          before !== undefined &&
            h("a.button", { href: to.live(artifact, "history", `${before}..${state}`), "aria-label": `Changes of ${nameOf(state)}`, title: "Compare with the state before" }, "Changes"),
          h("a.button", { href: to.live(artifact, "history", String(state)), "aria-label": `Open ${nameOf(state)}` }, "Open"),
          restoreButton(artifact, revisions, state, "Restore"),
        ),
    ),
    open && h(
      "div.refresh-body",
      commit && h("p.meta", { key: "who" }, who(commit)),
      refresh && steps(refresh),
      !refresh && (commit?.changes?.count ?? 0) > 0 && h("p.meta.mono", { key: "paths" }, clip(commit?.changes?.paths.join("  ") ?? "", 400)),
    ),
  );
}

/** @param {RevisionLine} commit */
function who({ actor, door, revision, at }) {
  const name = actor.kind === "agent" ? `${actor.agent ?? "An agent"} (${actor.runId})` : actor.kind === "schedule" ? "The schedule" : "A person";
  return `${name}, ${DOORS[door]}, ${absolute(at)}: revision ${revision}.`;
}

/** What a commit changed, in a few words. @param {RevisionLine} commit */
function parts({ kind, changed = [], changes, restoredFrom }) {
  if (kind === "create") return "The first state";
  if (kind === "restore") return restoredFrom ? `The state of revision ${restoredFrom}` : "An earlier state";
  if (kind === "permission") return "Who may refresh it";
  const told = changed.filter((part) => part !== "provenance" && (part !== "data" || !changes));
  const words = [...(changes ? [plural(changes.count, "value")] : []), ...told];
  const text = words.join(", ");
  return text ? `${text.charAt(0).toUpperCase()}${text.slice(1)} changed` : "Nothing had changed";
}

/** @param {Record_} last */
function outcome({ status, error, changes }) {
  if (error) return sentence(error.message);
  if (status === "running") return "Under way";
  if (!changes) return status;
  return changes.count === 0 ? "Nothing had changed" : plural(changes.count, "value changed", "values changed");
}

/** @param {Refresh} refresh */
function steps({ last, records }) {
  return [
    h("ol", { key: "steps" }, records.map((record, index) =>
      h(
        "li",
        { key: String(index), class: cls("step", record.status) },
        h("span.dot", { "aria-hidden": "true" }),
        h("span.grow", stepName(record.step), h("span.sr", `, ${record.status}`),
          record.connector && h("span.meta.mono", ` ${record.connector.toolName} ${record.connector.outputSummary ?? ""}`)),
        h("span.meta", duration(record.durationMs)),
      ),
    )),
    (last.changes?.count ?? 0) > 0 && h("p.meta.mono", { key: "paths" }, clip(last.changes?.paths.join("  ") ?? "", 400)),
    last.error && problem(last.error),
  ];
}

/** A state as it looked. @param {Detail} artifact @param {RevisionLine[]} revisions @param {State} state */
function stateView(artifact, revisions, state) {
  const at = revisions.find(({ revision }) => revision === state)?.at;
  return h(
    "div.preview",
    h(
      "div.preview-bar.snapshot",
      h("a.button.plain", { href: to.live(artifact, "history") }, "Back to history"),
      h("p.grow", h("span.strong", isShown(artifact, revisions, state) ? "The current state" : "An earlier state"), h("span.meta", ` ${nameOf(state)}${at ? `, ${absolute(at)}` : ""}`)),
      restoreButton(artifact, revisions, state, "Restore this state"),
      button("Open in a new tab", () => void openInTab(artifact, state), { icon: "external" }),
    ),
    h("div.preview-split", h("div.preview-box", frame(artifact.id, typeof state === "number" ? "" : version(artifact), artifact.title, {
      earlier: state,
      outgrown: () => outgrown(artifact, state),
    }))),
  );
}

/** What is left of a state whose template is gone: its values. @param {Detail} artifact @param {State} state */
function outgrown(artifact, state) {
  const { value, error } = valuesOf(artifact, state);
  return h(
    "div.outgrown",
    { key: "outgrown" },
    h("div.notice", { role: "status" }, icon("clock"),
      h("div", h("p.strong", "The template has changed since then."), h("p", "It does not fit the values of that time any more; here they are."))),
    error ? problem(error) : value ? dataTree(value.dataJson, `${artifact.id} ${state}`) : loading(),
  );
}
