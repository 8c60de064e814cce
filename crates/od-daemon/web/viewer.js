// @ts-check
// One artifact: what it is, how fresh, from where, what can be done, and its five tabs.

import { archive, cancel, openInTab, permit, pin, refresh, remove } from "./actions.js";
import { api } from "./api.js";
import { button, empty, iconButton, loading, retry, toggle } from "./controls.js";
import { dataTab } from "./data.js";
import { h } from "./dom.js";
import { absolute, badge, badges, duration, healthState, sourceName, time } from "./format.js";
import { historyTab, refreshesOf } from "./history.js";
import { icon } from "./icons.js";
import { modeSwitch, previewTab } from "./preview.js";
import { provenanceTab } from "./provenance.js";
import { current, TABS, to } from "./router.js";
import { sourceTab } from "./source.js";
import { change, state, use } from "./store.js";

/** @type {Record<import("./router.js").Tab, string>} */
const LABELS = {
  preview: "Preview",
  source: "Source",
  data: "Data",
  provenance: "Provenance",
  history: "Refresh history",
};

/** @param {string} id */
export function detail(id) {
  return use(`artifact/${id}`, () => api.artifact(id));
}

export function artifactView() {
  const route = current();
  const { value: artifact, error } = detail(route.artifact);
  if (artifact?.projectId !== route.project) {
    return h(
      "main.stage",
      { key: `live ${route.artifact}` },
      h("div.stage-body", error || artifact ? gone(error) : loading()),
    );
  }
  return h(
    "main.stage",
    { key: `live ${route.artifact}` },
    head(artifact),
    notices(artifact),
    h("div.tab-row", { key: "tabs" }, tabs(artifact, route.tab), route.tab === "preview" && modeSwitch(artifact)),
    h(
      "div",
      { class: `stage-body tab-${route.tab}`, role: "tabpanel", id: "panel", "aria-labelledby": `tab-${route.tab}`, key: route.tab },
      panel(route.tab, artifact),
    ),
  );
}

/** @param {import("./api.js").ApiError | undefined} error */
function gone(error) {
  if (error && error.status !== 404) {
    return retry(error, "artifact/");
  }
  return empty(
    "live",
    "There is no such live artifact here",
    "It may have been deleted. A deleted artifact can be brought back for 7 days with “od artifacts restore”.",
    h("a.button.primary", { href: to.project(current().project) }, "Back to the project"),
  );
}

/** @param {string} tab @param {any} artifact */
function panel(tab, artifact) {
  if (tab === "preview") return previewTab(artifact);
  if (tab === "source") return sourceTab(artifact);
  if (tab === "data") return dataTab(artifact);
  return tab === "provenance" ? provenanceTab(artifact) : historyTab(artifact);
}

/** @param {any} artifact */
function head(artifact) {
  const source = artifact.document?.sourceJson;
  const account = source?.connector?.accountLabel ?? artifact.sourcePin?.accountLabel;
  const running = isRunning(artifact);
  return h(
    "div.stage-head",
    { key: "head" },
    h(
      "div.grow.title-block",
      h(
        "div.row",
        h("h1.clip", { title: artifact.title }, artifact.title),
        badges(artifact, running).map(badge),
      ),
      h(
        "p.meta.facts-line",
        h("span", { key: "age" }, artifact.lastRefreshedAt ? "Refreshed " : "Made ", time(artifact.lastRefreshedAt ?? artifact.createdAt)),
        source && h("span", { key: "source" }, "from ", h("span.mono", sourceName(source))),
        account && h("span", { key: "account" }, "as ", account),
        !source && h("span", { key: "static" }, "no source: its data only changes by an edit"),
      ),
    ),
    toolbar(artifact, running, source),
  );
}

/** @param {any} artifact */
function isRunning(artifact) {
  return state.progress.has(artifact.id) || artifact.refreshStatus === "running";
}

/** @param {any} artifact @param {boolean} running @param {any} source */
function toolbar(artifact, running, source) {
  const granted = source && source.refreshPermission !== "none";
  return h(
    "div.toolbar",
    { role: "toolbar", "aria-label": "Artifact", key: "toolbar" },
    source &&
      h(
        "span.permission",
        { key: "permission", title: "Only a person can switch refresh on again. It never runs by itself." },
        toggle(granted ? "Manual refresh only" : "Refresh is off", granted, (on) => void permit(artifact, on), running),
      ),
    iconButton("pin", artifact.pinned ? "Unpin" : "Pin", () => void pin(artifact), { pressed: Boolean(artifact.pinned), key: "pin" }),
    iconButton("external", "Open in a new tab", () => void openInTab(artifact), { key: "open" }),
    iconButton("archive", artifact.status === "archived" ? "Bring back from the archive" : "Archive", () => void archive(artifact), {
      pressed: artifact.status === "archived",
      key: "archive",
    }),
    iconButton("trash", "Delete", () => void remove(artifact), { key: "delete" }),
    running && button("Cancel", () => void cancel(artifact.id), { key: "cancel", disabled: state.progress.get(artifact.id)?.cancelling ?? false }),
    (artifact.refreshable || running) &&
      button(running ? "Refreshing…" : "Refresh", () => void refresh(artifact), {
        kind: "primary",
        icon: "refresh",
        disabled: running,
        busy: running,
        key: "refresh",
      }),
  );
}

/** @param {any} artifact */
function notices(artifact) {
  const progress = state.progress.get(artifact.id);
  return h(
    "div.notices",
    { key: "notices" },
    progress || artifact.refreshStatus === "running" ? progressBar(progress) : null,
    healthState(artifact) !== "healthy" ? unhealthy(artifact) : null,
    artifact.drift?.length > 0 ? drifted(artifact) : null,
    failure(artifact),
  );
}

/** @type {Record<string, string>} */
const STEPS = { "refresh:start": "Started", document: "Reading the source", "refresh:commit": "Saved", "refresh:failed": "Ended" };

/** @param {string} step */
export function stepName(step) {
  return STEPS[step] ?? step.replace(/[_:]/g, " ");
}

/** @param {import("./store.js").Progress | undefined} progress */
function progressBar(progress) {
  const step = progress?.cancelling ? "Cancelling" : stepName(progress?.step ?? "") || "Starting";
  return h(
    "div.progress",
    { role: "status", key: "progress" },
    h("div.bar", { "aria-hidden": "true" }),
    h("span", `${step}…`),
    progress && h("span.meta", duration(Math.max(0, Date.now() - progress.startedAt))),
    progress?.refreshId && h("span.meta.mono.wide-only", progress.refreshId),
  );
}

/** @param {any} artifact */
function failure(artifact) {
  if (isRunning(artifact) || (!state.failures.has(artifact.id) && artifact.refreshStatus !== "failed")) return null;
  const error = state.failures.get(artifact.id) ?? lastError(artifact.id);
  const when = artifact.lastRefreshedAt ?? artifact.updatedAt;
  const drift = String(/** @type {any} */ (error)?.details?.kind).endsWith("_drift");
  return h(
    "div.notice.bad",
    { role: "alert", key: "failure" },
    icon("warn"),
    h(
      "div.grow",
      h("p.strong", error?.message ? `Refresh failed: ${error.message}` : "The last refresh failed."),
      error?.suggestion && h("p", error.suggestion),
      h("p", "Showing data from ", h("time", { datetime: when, title: absolute(when) }, absolute(when)), "."),
    ),
    h(
      "div.row",
      h("a.button.plain", { href: to.live(artifact, "history") }, "Details"),
      drift && button("Accept and refresh", () => void refresh(artifact, true)),
      artifact.refreshable && button("Try again", () => void refresh(artifact)),
      state.failures.has(artifact.id) && iconButton("close", "Dismiss", () => change(() => state.failures.delete(artifact.id))),
    ),
  );
}

/** What the log says about the last refresh, for a page that was not open when it failed. @param {string} id */
function lastError(id) {
  return refreshesOf(use(`refreshes/${id}`, () => api.refreshes(id)).value ?? [])[0]?.last.error;
}

/** @param {any} artifact */
function unhealthy(artifact) {
  const reason = artifact.health.reason ?? healthState(artifact);
  return h(
    "div.notice.bad",
    { role: "alert", key: "health" },
    icon("warn"),
    h("div.grow",
      h("p.strong", `Not healthy: ${String(reason).replace(/_/g, " ")}.`),
      h("p", "The last good preview is shown and nothing can be written. Look at it with ", h("code", `od artifacts repair ${artifact.id}`), ", which asks before it changes anything."),
    ),
  );
}

/** @param {any} artifact */
function drifted(artifact) {
  return h(
    "div.notice",
    { role: "status", key: "drift" },
    icon("file"),
    h("p.grow", `Edited by hand: ${artifact.drift.map((/** @type {any} */ drift) => drift.file).join(", ")}. The edit is shown here and becomes a revision with the next change.`),
  );
}

/** @param {any} artifact @param {string} on */
function tabs(artifact, on) {
  return h(
    "div.tabs",
    { role: "tablist", "aria-label": "Views of this artifact", onkeydown: tabKeys },
    TABS.map((name) =>
      h(
        "a",
        {
          key: name,
          id: `tab-${name}`,
          href: to.live(artifact, name),
          role: "tab",
          "aria-selected": String(name === on),
          "aria-controls": "panel",
          tabindex: name === on ? "0" : "-1",
        },
        LABELS[name],
      ),
    ),
  );
}

/** @param {KeyboardEvent} event */
function tabKeys(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const all = /** @type {HTMLElement[]} */ ([.../** @type {Element} */ (event.currentTarget).children]);
  const next = all[(all.indexOf(/** @type {HTMLElement} */ (event.target)) + by + all.length) % all.length];
  event.preventDefault();
  next?.focus();
  next?.click();
}
