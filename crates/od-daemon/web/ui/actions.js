// @ts-check
// What a person can do to an artifact. Each action changes the daemon, then what the page knows, and
// says what happened.

import { ApiError, api } from "../core/api.js";
import { h } from "../core/dom.js";
import { plainSentence, plural } from "../core/format.js";
import { amend, dropped, startListsOver } from "../core/lists.js";
import { current, go, to } from "../core/router.js";
import { announce, change, expire, state } from "../core/store.js";
import { copyable } from "./controls.js";
import { askName, openDialog, toast, toastError } from "./overlays.js";

/**
 * @typedef {import("../core/schema.js").ArtifactLine} Summary
 * @typedef {import("../core/api.js").Detail} Detail
 */

/** @param {Summary | Detail} artifact @returns {boolean} */
export function running(artifact) {
  return state.progress.has(artifact.id) || artifact.refreshStatus === "running";
}

/** Loads again whatever the page shows of one artifact. @param {string} id */
export function reload(id) {
  for (const kind of ["artifact", "refreshes", "snapshots", "revisions", "template"]) expire(`${kind}/${id}`);
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
  announce(`Refresh failed: ${plainSentence(error.message)}`);
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
export async function settled(detail, answer) {
  const done = await told(answer);
  reload(detail.id);
  expire("artifacts");
  return done;
}

/** Makes an edit by hand a revision. @param {Detail} detail */
export async function adopt(detail) {
  const kept = await settled(detail, api.update(detail.id, { ifRevision: detail.revision }));
  if (!kept) return;
  const given = kept.warnings?.find(({ code }) => code === "source_values_kept");
  toast(given ? "info" : "good", `Kept as revision ${kept.artifact.revision}`, { detail: given ? plainSentence(given.message) : detail.title });
}

/**
 * Makes an earlier state the current one again.
 * @param {Detail} detail @param {string | number} id a revision by its number, a stored state by its refresh
 */
export async function rollBack(detail, id) {
  const done = await settled(detail, api.rollBack(detail.id, id));
  if (!done) return;
  const { revision } = done.artifact;
  const name = typeof id === "number" ? `revision ${id}` : id;
  toast("good", done.rollback.changed ? `Restored the state of ${name}` : "This is the current state already", {
    detail: `${detail.title}, revision ${revision}`,
    ...(done.rollback.changed && { action: "Undo", run: () => void back(detail, revision) }),
  });
}

/**
 * Brings back what was there before a restoring: an edit by hand became a revision of its own first.
 * @param {Detail} detail @param {number} revision the one that the restoring made
 */
async function back(detail, revision) {
  if (await settled(detail, api.rollBack(detail.id, revision - 1, revision))) announce("Back as it was");
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
  if (!detail.document) return;
  const refreshPermission = allowed ? "manual_refresh_granted_for_read_only" : "none";
  const input = { document: { refreshPermission } };
  if (await settled(detail, api.update(detail.id, { input }))) announce(allowed ? "Refresh allowed" : "Refresh switched off");
}

/** @param {Summary | Detail} artifact */
export async function remove(artifact) {
  if (!(await told(api.remove(artifact.id)))) return;
  const was = location.hash;
  dropped(artifact.id);
  expire("trash");
  expire("projects");
  if (current().artifact === artifact.id) go(to.project(artifact.projectId));
  toast("info", "Moved to trash", {
    detail: `${artifact.title} is kept there for 7 days.`,
    action: "Undo",
    run: () => void restore(artifact, was),
  });
}

/** @param {{id: string}} artifact @param {string} was */
async function restore(artifact, was) {
  if (!(await bringBack(artifact.id))) return;
  if (was.includes(encodeURIComponent(artifact.id))) go(was);
}

/** Brings an artifact back from the trash, and its project if that was removed. @param {string} id */
export async function bringBack(id) {
  const done = await told(api.restore(id));
  if (done) announce("Restored");
  reload(id);
  // It stands where it stood before, on whatever page that is.
  startListsOver();
  for (const kind of ["artifacts", "projects", "trash"]) expire(kind);
  return done;
}

/** @param {import("../core/api.js").Project} project */
export function renameProject(project) {
  askName("Rename", "Name", async (name) => {
    await api.renameProject(project.id, name);
    expire("projects");
  }, project.name);
}

/** Asks, and says what happens to what. @param {import("../core/api.js").Project} project @param {number} artifacts */
export function removeProject(project, artifacts) {
  openDialog({
    title: `Remove ${project.name}?`,
    confirm: "Remove project",
    kind: "danger",
    body: () =>
      h(
        "ul.consequences",
        h("li", artifacts === 0
          ? "It has no live artifacts."
          : `${plural(artifacts, "live artifact goes", "live artifacts go")} to the trash and can be brought back for 7 days.`),
        h("li", project.root ? ["The files in ", h("code", project.root), " stay as they are."] : "It has no folder."),
        h("li", "Agents that are running in it can no longer change anything."),
      ),
    run: async () => {
      const { trashed } = await api.removeProject(project.id);
      startListsOver();
      for (const kind of ["artifacts", "projects", "trash"]) expire(kind);
      go(to.designs());
      toast("info", `Removed ${project.name}`, {
        ...(trashed.length > 0 && {
          detail: `${plural(trashed.length, "live artifact is", "live artifacts are")} in the trash for 7 days.`,
          action: "Show trash",
          run: () => go(to.trash()),
        }),
      });
    },
  });
}

/** Says how to bind a project to another folder, which only the command line may do. @param {import("../core/api.js").Project} project */
export function rebindProject(project) {
  const now = project.root ? ["It reads the files of ", h("code", project.root), "."] : "It has no folder yet.";
  const how = "Only the command line may choose what is read. If the folder was moved, run this in its new place:";
  openDialog({ title: "Another folder", body: () => [h("p", { key: "now" }, now), h("p", { key: "how" }, how), copyable(`od projects rebind ${project.id}`)] });
}

/** @param {Summary | Detail} artifact @param {string | number} [earlier] */
export async function openInTab(artifact, earlier) {
  const url = await told(api.ticket(artifact.id, "rendered", earlier));
  if (url) window.open(url, "_blank", "noopener");
}
