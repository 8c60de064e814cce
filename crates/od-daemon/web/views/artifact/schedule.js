// @ts-check
// When an artifact is refreshed by itself: what was proposed, the next runs, and the switch.

import { ApiError, api } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { absolute, plural } from "../../core/format.js";
import { setUi, ui, use } from "../../core/store.js";
import { finish, reload, settled } from "../../ui/actions.js";
import { button, loading, problem, toggle } from "../../ui/controls.js";
import { toast } from "../../ui/overlays.js";

/**
 * @typedef {import("../../core/api.js").Detail} Detail
 * @typedef {import("../../core/schema.js").ScheduleSummary} Schedule
 * @typedef {{kind: "every" | "cron", every: string, cron: string, timeZone: string, maxAge: string, onChange: boolean, missed: string}} Draft
 */

/** @type {Record<Schedule["state"], string>} */
const STATES = {
  proposed: "An agent proposed this schedule. Nothing runs until you switch it on.",
  off: "Switched off.",
  active: "Switched on.",
  changed: "It was switched on for another pace or other sources, and does not run. Switch it on again if this is right.",
  elsewhere: "It was switched on in a copy of this directory or on another machine, and does not run here. Switch it on if this is right.",
  blocked: "Switched on, but refresh is not allowed, or the artifact is not active.",
};

/** @param {Detail} artifact */
export function scheduleSection(artifact) {
  const schedule = artifact.schedule;
  const name = `schedule ${artifact.id}`;
  const open = ui(`${name} open`, false);
  const on = schedule?.state === "active" || schedule?.state === "blocked";
  return h(
    "section",
    { key: "schedule", "aria-labelledby": "schedule-title" },
    h(
      "div.section-head",
      h("h2", { id: "schedule-title" }, "Schedule"),
      h("div.grow"),
      schedule && toggle("Refresh by itself", on, (want) => setSchedule(artifact, { on: want })),
      button(schedule ? "Change" : "Set a schedule", () => setUi(`${name} open`, !open), { icon: "edit" }),
    ),
    schedule ? says(artifact, schedule) : h("p.quiet", "It is refreshed when somebody asks for it."),
    open && editor(artifact, name),
  );
}

/** @param {Detail} artifact @param {Schedule} schedule */
function says(artifact, schedule) {
  const failures = schedule.runs?.failures ?? 0;
  return [
    h("p", { key: "what" }, h("code", words(schedule.refresh)), " ", h("span.quiet", STATES[schedule.state])),
    failures > 0 && h("p.meta", { key: "failures" }, `${plural(failures, "failure")} in a row: the pause doubles with each, up to a day.`),
    artifact.nextDue && h("p.meta", { key: "due" }, `Next run ${absolute(artifact.nextDue)}`),
    artifact.staleSince && h("p.meta", { key: "stale" }, `Stale since ${absolute(artifact.staleSince)}`),
  ];
}

/** @param {Schedule["refresh"]} refresh */
function words(refresh) {
  const parts = [];
  if (refresh.every) parts.push(`every ${refresh.every}`);
  if (refresh.cron) parts.push(`cron ${refresh.cron}${refresh.timeZone ? ` ${refresh.timeZone}` : ""}`);
  if (refresh.onChange) parts.push("on change");
  if (refresh.maxAge) parts.push(`stale after ${refresh.maxAge}`);
  return parts.join(", ");
}

/** @param {Detail} artifact @returns {Draft} */
function start(artifact) {
  const refresh = artifact.schedule?.refresh;
  return {
    kind: refresh?.cron ? "cron" : "every",
    every: refresh?.every ?? "1h",
    cron: refresh?.cron ?? "0 9 * * 1-5",
    timeZone: refresh?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    maxAge: refresh?.maxAge ?? "",
    onChange: refresh?.onChange ?? false,
    missed: refresh?.missed ?? "once",
  };
}

/** @param {Draft} draft */
function refreshOf(draft) {
  const when = draft.kind === "every" ? { every: draft.every } : { cron: draft.cron, timeZone: draft.timeZone || undefined };
  return { ...when, maxAge: draft.maxAge || undefined, onChange: draft.onChange || undefined, missed: draft.missed };
}

/** @param {Detail} artifact @param {string} name */
function editor(artifact, name) {
  /** @type {Draft} */
  const draft = ui(`${name} draft`, start(artifact));
  const set = (/** @type {Partial<Draft>} */ fields) => setUi(`${name} draft`, { ...draft, ...fields });
  const field = (/** @type {string} */ label, /** @type {"every" | "cron" | "timeZone" | "maxAge"} */ key, /** @type {string} */ hint) =>
    h("label.field", { key }, label,
      h("input", { value: draft[key], placeholder: hint, autocomplete: "off", spellcheck: "false",
        oninput: (/** @type {Event} */ event) => set({ [key]: /** @type {HTMLInputElement} */ (event.target).value }) }));
  const refresh = refreshOf(draft);
  return h(
    "div.panel",
    { key: "editor" },
    h("div.row.wrap", { key: "kind" },
      toggle("Times of the clock", draft.kind === "cron", (cron) => set({ kind: cron ? "cron" : "every" })),
      toggle("On change of its files", draft.onChange, (onChange) => set({ onChange })),
      toggle("Skip missed runs", draft.missed === "skip", (skip) => set({ missed: skip ? "skip" : "once" }))),
    draft.kind === "every"
      ? field("Every", "every", "15m, 2h, 1d")
      : [field("Minute, hour, day, month, weekday", "cron", "0 9 * * 1-5"), field("Time zone", "timeZone", "UTC")],
    field("Stale when older than", "maxAge", "1h"),
    preview(artifact, refresh),
    h("div.row", { key: "done" },
      button("Save and switch on", () => setSchedule(artifact, { refresh }), { kind: "primary" }),
      button("Close", () => setUi(`${name} open`, false))),
  );
}

/** The next five runs, asked of the daemon, which is the one that will run them. @param {Detail} artifact @param {unknown} refresh */
function preview(artifact, refresh) {
  const asked = use(`next runs/${artifact.id}/${JSON.stringify(refresh)}`, () => api.schedule(artifact.id, { refresh }, true));
  if (asked.error instanceof ApiError) return problem(asked.error);
  if (!asked.value) return loading();
  const runs = asked.value.nextRuns;
  return h(
    "div",
    { key: "runs", role: "status" },
    h("p.meta", runs.length > 0 ? "Its next runs:" : "It runs when a file changes, or when its page is opened too old."),
    h("ol.next-runs", runs.map((run) => h("li", { key: run }, absolute(run)))),
  );
}

/**
 * Sets a schedule, switches it on, or switches it off.
 * @param {Detail} artifact @param {{refresh?: unknown, on?: boolean}} body
 */
async function setSchedule(artifact, body) {
  const done = await settled(artifact, api.schedule(artifact.id, body));
  if (!done) return;
  const next = done.nextRuns[0];
  toast("good", body.on === false ? "The schedule is switched off" : "The schedule is switched on", {
    detail: next ? `${artifact.title}: next run ${absolute(next)}` : artifact.title,
  });
}

/** The pages that were refreshed because they were opened, each once for what it showed. @type {Set<string>} */
const opened = new Set();

/** Refreshes a page that is opened older than its schedule allows. @param {Detail} artifact */
export function refreshIfOld(artifact) {
  const { schedule, staleSince } = artifact;
  const stamp = `${artifact.id} ${artifact.lastRefreshedAt}`;
  if (schedule?.state !== "active" || !schedule.refresh.maxAge || !staleSince || opened.has(stamp)) return;
  opened.add(stamp);
  // A refusal means that somebody else was faster; a failure is told by its event.
  api.refreshOpened(artifact.id).then(() => finish(artifact.id), () => reload(artifact.id));
}
