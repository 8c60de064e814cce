// @ts-check
// Keeps the page current: what each event of the daemon means for what the page knows.

import { ApiError, api } from "../core/api.js";
import { applyAgentEvent, chat } from "../core/chat.js";
import { follow } from "../core/events.js";
import { amend, dropped, startListsOver, summary } from "../core/lists.js";
import { plainSentence } from "../core/format.js";
import { current, go, to } from "../core/router.js";
import { announce, change, expire, state } from "../core/store.js";
import { finish, reload } from "./actions.js";
import { toast } from "./overlays.js";
import { isChatOpen, shownChat } from "./chat.js";

/** Views in which nothing is lost when another artifact opens by itself. */
const IDLE_VIEWS = new Set(["designs", "project"]);
const BATCH_MS = 150;

/**
 * @typedef {import("../core/schema.js").ArtifactEvent} ArtifactEvent
 * @typedef {import("../core/schema.js").RefreshEvent} RefreshEvent
 * @typedef {import("../core/schema.js").CheckEvent} CheckEvent
 */

let following = false;

/** Follows the daemon's events for as long as the session lives. */
export async function keepCurrent() {
  if (following) return;
  following = true;
  await follow(receive, (again) => {
    // What happened while the line was down may be more than the daemon replays.
    if (!again) return;
    for (const [id, { mine }] of state.progress) if (!mine) state.progress.delete(id);
    readAgain();
  });
  following = false;
}

/** @param {import("../core/events.js").Message} received */
function receive({ event, data }) {
  /** @type {import("../core/schema.js").StreamEvent} */
  let message;
  try {
    message = /** @type {typeof message} */ ({ event, data: JSON.parse(data) });
  } catch {
    return;
  }
  if (message.event === "resync") readAgain();
  else if (message.event === "live_artifact") artifactEvent(message.data);
  else if (message.event === "live_artifact_refresh") refreshEvent(message.data);
  else if (message.event === "live_artifact_check") checkEvent(message.data);
  else if (message.event.startsWith("agent_")) agentEvent(/** @type {import("../core/schema.js").AgentEvent} */ (message.data));
}

/**
 * A check that changed is told wherever the person is; the badges follow from the list.
 * @param {CheckEvent} event
 */
function checkEvent({ projectId, artifactId, title, check }) {
  soonReadFirstPages();
  const here = current().artifact === artifactId;
  const found = check.found ? ` (${check.found})` : "";
  const words = { passing: "holds again", unknown: "cannot be worked out", failing: "does not hold" };
  /** @type {Record<string, "good" | "info" | "bad">} */
  const tones = { passing: "good", unknown: "info", failing: "bad" };
  const tone = check.severity === "info" && check.state !== "passing" ? "info" : tones[check.state];
  toast(tone ?? "info", here ? `Check ${check.id} ${words[check.state]}` : `${title}: ${check.id} ${words[check.state]}`, {
    detail: check.state === "passing" ? found.trim() : `${check.message}${found}`,
    ...(here ? {} : { action: "Open", run: () => go(to.live({ projectId, id: artifactId })) }),
  });
}

/**
 * Says aloud what a person waits for, and nothing of what streams by.
 * @param {import("../core/schema.js").AgentEvent} event
 */
function agentEvent(event) {
  const moved = applyAgentEvent(event);
  if (event.sessionId !== shownChat(current().project)) return;
  const { what } = event;
  if (what.kind === "entry" && what.entry.content.kind === "permission" && !what.entry.content.answer) {
    announce(`The agent asks: ${what.entry.content.call.title}. Alt+Y allows it once, Alt+N rejects it.`);
  }
  if (moved && moved.before === "working" && moved.session.status !== "working") {
    announce(moved.session.status === "idle" ? "The agent has answered." : `The agent is ${moved.session.status}.`);
  }
}

function readAgain() {
  startListsOver();
  expire("");
}

/** @param {ArtifactEvent} event */
function artifactEvent(event) {
  if (event.action === "deleted") {
    dropped(event.artifactId);
    soonReadFirstPages();
    return;
  }
  reload(event.artifactId);
  if (event.action === "created") void created(event.artifactId);
  amend({ id: event.artifactId, title: event.title, refreshStatus: event.refreshStatus });
  soonReadFirstPages();
}

let pending = 0;

/** Many events in a row lead to one reading of what stands first, and of the counts. */
function soonReadFirstPages() {
  if (pending) return;
  pending = window.setTimeout(() => {
    pending = 0;
    expire("artifacts");
    expire("projects");
  }, BATCH_MS);
}

/** The run of the chat that is shown. */
function shownRun() {
  const id = shownChat(current().project);
  return id ? chat(id).value?.session.runId : undefined;
}

/**
 * An artifact made by an agent opens by itself, unless the person is reading something else.
 * @param {string} id
 */
async function created(id) {
  let artifact;
  try {
    artifact = await api.artifact(id);
  } catch (error) {
    if (error instanceof ApiError) return;
    throw error;
  }
  if (!artifact.createdByRunId) return;
  const href = to.live(artifact);
  const route = current();
  if (location.hash === href) return;
  // Made in the chat that is open beside: that is what the person waits for.
  const beside = isChatOpen() && route.project === artifact.projectId && shownRun() === artifact.createdByRunId;
  if (beside && !state.ui.get("dialog")) {
    go(href);
    announce(`The agent made ${artifact.title}. It is open now.`);
    return;
  }
  const elsewhere = route.view === "project" && route.project !== artifact.projectId;
  const busy = state.ui.get("dialog") || document.visibilityState === "hidden";
  if (IDLE_VIEWS.has(route.view) && !elsewhere && !busy) {
    go(href);
    announce(`An agent made ${artifact.title}. It is open now.`);
    return;
  }
  toast("info", "An agent made a live artifact", {
    detail: artifact.title,
    action: "Open",
    run: () => go(href),
  });
}

/** @param {RefreshEvent} event */
function refreshEvent(event) {
  const { artifactId, refreshId, phase } = event;
  if (phase === "started" || phase === "progress") {
    change(() => {
      const before = state.progress.get(artifactId);
      state.failures.delete(artifactId);
      state.progress.set(artifactId, {
        refreshId,
        step: event.step ?? before?.step ?? "",
        startedAt: before?.startedAt ?? Date.now(),
        cancelling: before?.cancelling ?? false,
        mine: before?.mine ?? false,
      });
    });
    return;
  }
  const here = current().artifact === artifactId;
  const before = state.progress.get(artifactId);
  finish(artifactId);
  const { errorCode, errorMessage } = event;
  // A refresh that commits nothing leaves the artifact where it stands, beyond the first page perhaps.
  if (phase === "succeeded") amend({ id: artifactId, refreshStatus: "succeeded", freshness: "fresh", lastRefreshedAt: new Date().toISOString() });
  else if (errorCode !== "REFRESH_CANCELLED") amend({ id: artifactId, refreshStatus: "failed", freshness: "failed" });
  if (phase === "failed" && errorCode !== "REFRESH_CANCELLED") {
    // The person who asked for the refresh gets the whole refusal as its answer.
    if (!before?.mine && !state.failures.has(artifactId)) change(() => state.failures.set(artifactId, new ApiError(0, errorCode ?? "", errorMessage ?? "")));
    if (!here) {
      const title = summary(artifactId)?.title ?? artifactId;
      toast("bad", `Refresh failed: ${title}`, { detail: plainSentence(errorMessage ?? "") });
    }
  }
}

/** Reads again what may have changed on disk while the person was elsewhere. */
export function lookAgain() {
  const { artifact } = current();
  if (state.session !== "open") return;
  if (artifact) reload(artifact);
  expire("artifacts");
  expire("projects");
}

/** Forgets everything learned under an earlier session. */
export function startOver() {
  change(() => state.progress.clear());
  readAgain();
}
