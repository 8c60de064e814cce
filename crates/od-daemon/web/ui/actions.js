// @ts-check
// What a person can do to an artifact. Each action changes the daemon, then what the page knows, and
// says what happened.

import { ApiError, api } from "../core/api.js";
import { current, go, to } from "../core/router.js";
import { announce, change, expire, known, put, state } from "../core/store.js";
import { askName, toast, toastError } from "./overlays.js";

/**
 * @typedef {import("../core/schema.js").ArtifactSummary} Summary
 * @typedef {import("../core/api.js").Detail} Detail
 */

/** @param {string} id @returns {Summary | undefined} */
export function summary(id) {
  return known("artifacts")?.find((entry) => entry.id === id);
}

/** @param {Summary | Detail} artifact @returns {boolean} */
export function running(artifact) {
  return state.progress.has(artifact.id) || artifact.refreshStatus === "running";
}

/** @param {Partial<Summary> & {id: string}} fields */
export function amend(fields) {
  const list = known("artifacts");
  if (!list) return;
  put(
    "artifacts",
    list.map((entry) => (entry.id === fields.id ? { ...entry, ...fields } : entry)),
  );
}

/** Loads again whatever the page shows of one artifact. @param {string} id */
export function reload(id) {
  for (const kind of ["artifact", "refreshes", "snapshots", "template"]) expire(`${kind}/${id}`);
}

/** @param {Summary | Detail} artifact @param {boolean} [acceptDrift] */
export async function refresh(artifact, acceptDrift) {
  if (state.progress.has(artifact.id)) return;
  change(() => {
    state.failures.delete(artifact.id);
    state.progress.set(artifact.id, {
      refreshId: "",
      step: "",
      startedAt: Date.now(),
      cancelling: false,
      mine: true,
    });
  });
  announce(`Refreshing ${artifact.title}`);
  try {
    const { refresh: outcome } = await api.refresh(artifact.id, acceptDrift);
    finish(artifact.id);
    toast("good", outcome.changed ? "Refreshed with new data" : "Refreshed: nothing had changed", {
      detail: artifact.title,
    });
  } catch (error) {
    failed(artifact, error);
  }
}

/** @param {Summary | Detail} artifact @param {unknown} error */
function failed(artifact, error) {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === "REFRESH_LOCKED") {
    // Someone else is at it: their progress arrives as events.
    const theirs = state.progress.get(artifact.id);
    if (theirs) theirs.mine = false;
    toast("info", "This artifact is already being refreshed", { detail: "Following that refresh." });
    reload(artifact.id);
    return;
  }
  finish(artifact.id);
  if (error.code === "REFRESH_CANCELLED") {
    toast("info", "Refresh cancelled", { detail: "The data is as it was." });
    return;
  }
  change(() => state.failures.set(artifact.id, error));
  announce(`Refresh failed: ${error.message}`);
}

/** @param {string} id */
export function finish(id) {
  change(() => state.progress.delete(id));
  reload(id);
  expire("artifacts");
}

/**
 * Waits for an answer, and says why there is none.
 * @template T @param {Promise<T>} answer @returns {Promise<T | undefined>}
 */
async function told(answer) {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toastError(error);
    return undefined;
  }
}

/** @param {string} id */
export async function cancel(id) {
  const progress = state.progress.get(id);
  if (!progress || progress.cancelling) return;
  const mark = (/** @type {boolean} */ on) =>
    change(() => {
      progress.cancelling = on;
    });
  mark(true);
  if (!(await told(api.cancel(id)))) mark(false);
}

/** @param {Summary | Detail} artifact @param {Record<string, unknown>} input @param {string} said */
async function update(artifact, input, said) {
  amend({ id: artifact.id, ...input });
  if (await told(api.update(artifact.id, { input }))) announce(said);
  expire(`artifact/${artifact.id}`);
  expire("artifacts");
}

/**
 * Waits for an answer that changes an artifact, and loads it again either way.
 * @template T @param {Detail} detail @param {Promise<T>} answer @returns {Promise<T | undefined>}
 */
async function settled(detail, answer) {
  const done = await told(answer);
  reload(detail.id);
  expire("artifacts");
  return done;
}

/** Makes an edit by hand a revision. @param {Detail} detail */
export async function adopt(detail) {
  const kept = await settled(detail, api.update(detail.id, { ifRevision: detail.revision }));
  if (kept) toast("good", `Kept as revision ${kept.artifact.revision}`, { detail: detail.title });
}

/** Whether a stored state is the one that is shown. @param {Detail} detail @param {import("../core/schema.js").SnapshotLine} line */
export function isShown({ digests, drift, provenance }, line) {
  return !drift?.[0] && line.dataDigest === digests.data.content && line.generatedAt === provenance.generatedAt;
}

/** Makes a stored state the current one again. @param {Detail} detail @param {string} id */
export async function rollBack(detail, id) {
  const done = await settled(detail, api.rollBack(detail.id, id));
  if (!done) return;
  const { revision } = done.artifact;
  toast("good", done.rollback.changed ? `Restored the state of ${id}` : "This is the current state already", {
    detail: `${detail.title}, revision ${revision}`,
    ...(done.rollback.changed && { action: "Undo", run: () => void back(detail, revision) }),
  });
}

/**
 * Brings back what was there: as the stored state that it was, else as it was seen.
 * @param {Detail} detail @param {number} ifRevision
 */
async function back(detail, ifRevision) {
  const { id, document, provenance } = detail;
  const line = known(`snapshots/${id}`)?.find((entry) => isShown(detail, entry));
  /** @type {Promise<unknown>} */
  const answer = line
    ? api.rollBack(id, line.refreshId, ifRevision)
    : api.update(id, {
        input: { document: { dataJson: document?.dataJson } },
        provenanceJson: { ...provenance, generatedBy: undefined },
        ifRevision,
      });
  if (await settled(detail, answer)) announce("Back as it was");
}

/** @param {Summary | Detail} artifact */
export function pin(artifact) {
  return update(artifact, { pinned: !artifact.pinned }, artifact.pinned ? "Unpinned" : "Pinned");
}

/** @param {Detail} detail */
export function rename(detail) {
  askName("Rename", "Title", async (title) => {
    await api.update(detail.id, { input: { title } });
    reload(detail.id);
    expire("artifacts");
  }, detail.title);
}

/** @param {Summary | Detail} artifact */
export async function archive(artifact) {
  const status = artifact.status === "archived" ? "active" : "archived";
  await update(artifact, { status }, status === "archived" ? "Archived" : "Active again");
  if (status === "archived") {
    toast("info", "Archived", {
      detail: artifact.title,
      action: "Undo",
      run: () => void update(artifact, { status: "active" }, "Active again"),
    });
  }
}

/** @param {Detail} detail @param {boolean} allowed */
export async function permit(detail, allowed) {
  const source = detail.document?.sourceJson;
  if (!source) return;
  const refreshPermission = allowed ? "manual_refresh_granted_for_read_only" : "none";
  const input = { document: { sourceJson: { ...source, refreshPermission } } };
  if (await settled(detail, api.update(detail.id, { input }))) announce(allowed ? "Refresh allowed" : "Refresh switched off");
}

/** @param {Summary | Detail} artifact */
export async function remove(artifact) {
  if (!(await told(api.remove(artifact.id)))) return;
  const was = location.hash;
  dropped(artifact.id);
  if (current().artifact === artifact.id) go(to.project(artifact.projectId));
  toast("info", "Moved to trash", {
    detail: `${artifact.title} is kept there for 7 days.`,
    action: "Undo",
    run: () => void restore(artifact, was),
  });
}

/** @param {string} id */
export function dropped(id) {
  const list = known("artifacts");
  if (list) put("artifacts", list.filter((entry) => entry.id !== id));
}

/** @param {Summary | Detail} artifact @param {string} was */
async function restore(artifact, was) {
  if (!(await told(api.restore(artifact.id)))) return;
  announce("Restored");
  reload(artifact.id);
  expire("artifacts");
  if (was.includes(encodeURIComponent(artifact.id))) go(was);
}

/** @param {Summary | Detail} artifact @param {string} [snapshot] */
export async function openInTab(artifact, snapshot) {
  const url = await told(api.ticket(artifact.id, "rendered", snapshot));
  if (url) window.open(url, "_blank", "noopener");
}
