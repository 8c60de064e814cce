// @ts-check
// What stands between the title and the page: progress, failure, damage, edits by hand.

import { api } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { healthState, seconds, sentence, sourceNames, stateShown } from "../../core/format.js";
import { to } from "../../core/router.js";
import { change, state, use } from "../../core/store.js";
import { adopt, refresh, running } from "../../ui/actions.js";
import { button, icon, iconButton } from "../../ui/controls.js";
import { repairBrief } from "../chat/brief.js";
import { compose } from "../chat/pane.js";
import { refreshesOf } from "./history.js";

/** @typedef {import("../../core/api.js").Detail} Detail */

/** Everything a person should know before they trust the page. @param {Detail} artifact */
export function notices(artifact) {
  const progress = state.progress.get(artifact.id);
  return h(
    "div.notices",
    { key: "notices" },
    running(artifact) ? progressBar(artifact, progress) : null,
    healthState(artifact) !== "healthy" ? unhealthy(artifact.id, artifact.health.reason) : null,
    artifact.drift?.[0] ? drifted(artifact) : null,
    failure(artifact),
  );
}

/** @type {Record<string, string>} */
const STEPS = { "refresh:start": "Started", document: "Reading the source", "refresh:commit": "Saved", "refresh:failed": "Ended" };

/** @param {string} step */
export function stepName(step) {
  return STEPS[step] ?? step.replace(/[_:]/g, " ");
}

/**
 * Says what the refresh waits for, and for how long already.
 * @param {Detail} artifact @param {import("../../core/store.js").Progress | undefined} progress
 */
function progressBar(artifact, progress) {
  const source = sourceNames(artifact.document) || "the source";
  const waited = progress ? Math.max(0, Date.now() - progress.startedAt) : 0;
  return h(
    "div.progress",
    { role: "status", key: "progress" },
    h("div.bar", { "aria-hidden": "true" }),
    progress?.cancelling
      ? h("span.grow", "Cancelling: waiting for ", h("code", source), " to stop…")
      : progress?.step === "refresh:commit"
        ? h("span.grow", "Saving…")
        : h("span.grow", "Waiting for ", h("code", source), "…"),
    // A running clock is for the eyes: read out, it would talk over everything else.
    progress && h("span.meta", { "aria-hidden": "true" }, seconds(waited)),
    progress?.refreshId && h("span.meta.mono.wide-only", progress.refreshId),
  );
}

/** @param {Detail} artifact */
function failure(artifact) {
  if (running(artifact) || (!state.failures.has(artifact.id) && artifact.refreshStatus !== "failed")) return null;
  const error = state.failures.get(artifact.id) ?? lastError(artifact.id);
  // What the log says has to arrive first.
  if (!error) return null;
  const drift = String(/** @type {{details?: import("../../core/schema.js").Failure["details"]}} */ (error).details?.kind).endsWith("_drift");
  return h(
    "div.notice.bad",
    { role: "alert", key: "failure" },
    icon("warn"),
    h(
      "div.grow",
      h("p.strong", "Refresh failed: ", sentence(error.message)),
      error.suggestion && h("p", sentence(error.suggestion)),
      h("p", `Showing ${stateShown(artifact)}.`),
    ),
    h(
      "div.row",
      h("a.button.plain", { href: to.live(artifact, "history") }, "Details"),
      drift && button("Accept and refresh", () => void refresh(artifact, true)),
      artifact.refreshable && button("Try again", () => void refresh(artifact)),
      button("Repair", () => compose(artifact.projectId, repairBrief(artifact, error)), { full: "Ask your agent to repair the source" }),
      state.failures.has(artifact.id) && iconButton("close", "Dismiss", () => change(() => state.failures.delete(artifact.id))),
    ),
  );
}

/**
 * What the log says about the last refresh that nobody stopped, for a page that was not open when it failed.
 * @param {string} id
 */
function lastError(id) {
  const all = refreshesOf(use(`refreshes/${id}`, () => api.refreshes(id)).value ?? []);
  return all.find(({ last }) => last.status !== "cancelled")?.last.error;
}

/** @type {Record<string, string>} */
const REASONS = {
  pointer_unreadable: "artifact.json cannot be read",
  template_invalid: "template.html breaks a rule of templates",
  data_invalid: "data.json is not valid or does not fit the template",
};

/** @param {string} id @param {string | null | undefined} reason */
export function unhealthy(id, reason) {
  const edited = /^(template|data|provenance)_invalid$/.test(reason ?? "");
  return h(
    "div.notice.bad",
    { role: "alert", key: "health" },
    icon("warn"),
    h(
      "div.grow",
      h("p.strong", `Not healthy: ${REASONS[reason ?? ""] ?? (reason ?? "damaged").replace(/_/g, " ")}.`),
      h("p", "The last good page is shown, and nothing can be changed until this is repaired."),
      h(
        "p",
        edited ? "Put the file right, and it is healthy again at once. Or run " : "Run ",
        h("code", `od artifacts repair ${id}`),
        ": it says what it keeps and drops, and asks first.",
      ),
    ),
  );
}

/** @param {Detail} artifact */
function drifted(artifact) {
  const files = artifact.drift?.map((drift) => drift.file).join(", ");
  return h(
    "div.notice",
    { role: "status", key: "drift" },
    icon("file"),
    h(
      "div.grow",
      h("p.strong", `Edited by hand: ${files}.`),
      h(
        "p",
        "The edit is valid and shown here. Keep it as a revision of its own, or the next change takes it along. ",
        artifact.lastRefreshedAt && sourceNames(artifact.document) && ["Values that ", h("code", { key: "source" }, sourceNames(artifact.document)), " gives go back to what it gave last."],
      ),
    ),
    h("div.row", button("Keep as a revision", () => void adopt(artifact))),
  );
}
