// @ts-check
// The daemon's routes, one function each. Every failure leaves here as an ApiError with the envelope's
// code, message, suggestion and issues.

import { bearer, sessionEnded } from "./session.js";

/**
 * @typedef {import("./schema.js").Artifact} Artifact
 * @typedef {import("./schema.js").ArtifactSummary} Summary
 * @typedef {import("./schema.js").Connector} Connector
 * @typedef {import("./schema.js").Failure} Failure
 * @typedef {import("./schema.js").Issue} Issue
 * @typedef {import("./schema.js").Provenance} Provenance
 * @typedef {import("./schema.js").RefreshRecord} RefreshRecord
 * @typedef {import("./schema.js").ProjectView} Project
 * @typedef {import("./schema.js").ProjectFile} ProjectFile
 * @typedef {import("./schema.js").ProjectFilesAnswer} FilesAnswer
 * @typedef {import("./schema.js").SnapshotLine} SnapshotLine
 * @typedef {import("./schema.js").SnapshotView} Snapshot
 * @typedef {import("./schema.js").ArtifactAnswer} ArtifactAnswer
 * @typedef {import("./schema.js").RefreshedAnswer} RefreshedAnswer
 * @typedef {import("./schema.js").RolledBackAnswer} RolledBackAnswer
 * @typedef {import("./schema.js").TicketAnswer} TicketAnswer
 *
 * The artifact with what its answer says beside it.
 * @typedef {ArtifactAnswer["artifact"] & Omit<ArtifactAnswer, "artifact">} Detail
 */

export class ApiError extends Error {
  /**
   * @param {number} status @param {string} code @param {string} message
   * @param {{suggestion?: string, issues?: Issue[], requestId?: string, retry?: Failure["retry"], details?: Failure["details"]}} [more]
   */
  constructor(status, code, message, more = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.suggestion = more.suggestion ?? "";
    this.issues = more.issues ?? [];
    this.requestId = more.requestId ?? "";
    this.retry = more.retry;
    this.details = more.details;
  }
}

/** @param {number} status @param {import("./schema.js").ErrorAnswer | null} answer */
function refusal(status, answer) {
  const error = answer?.error;
  if (!error) return new ApiError(status, "INTERNAL", `The daemon answered ${status} without saying why.`);
  return new ApiError(status, String(error.code), String(error.message), {
    suggestion: error.suggestion,
    issues: error.details?.issues,
    requestId: error.requestId,
    retry: error.retry,
    details: error.details,
  });
}

/**
 * @param {string} path
 * @param {{method?: string, body?: unknown, signal?: AbortSignal, headers?: Record<string, string>}} [options]
 * @returns {Promise<Response>}
 */
export async function request(path, options = {}) {
  const method = options.method ?? "GET";
  /** @type {Record<string, string>} */
  const headers = { ...options.headers };
  const held = bearer();
  if (held) headers.authorization = `Bearer ${held}`;
  /** @type {RequestInit} */
  const init = { method, headers, cache: "no-store", signal: options.signal ?? null };
  if (method !== "GET") {
    headers["content-type"] = "application/json";
    init.body = JSON.stringify(options.body ?? {});
  }
  let response;
  try {
    response = await fetch(path, init);
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    throw new ApiError(0, "UNREACHABLE", "The daemon does not answer.", {
      suggestion: "Start it with `od serve`; this page reconnects by itself.",
    });
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => null);
  if (response.status === 401) sessionEnded(held);
  throw refusal(response.status, answer);
}

/**
 * An answer is taken to have the shape its route promises; the caller names it.
 * @template T @param {string} path @param {{method?: string, body?: unknown}} [options] @returns {Promise<T>}
 */
async function json(path, options) {
  return (await request(path, options)).json();
}

let previewOrigin = "";

const id = encodeURIComponent;
/** @param {string} artifact @param {string} [rest] */
const live = (artifact, rest = "") => `/api/live-artifacts/${id(artifact)}${rest}`;
/** @param {string} project */
const files = (project) => `/api/projects/${id(project)}/files`;

export const api = {
  /** @returns {Promise<Project[]>} */
  projects: async () => /** @type {{projects: Project[]}} */ (await json("/api/projects")).projects,
  /** @param {string} name @returns {Promise<Project>} */
  createProject: async (name) =>
    /** @type {{project: Project}} */ (await json("/api/projects", { method: "POST", body: { name } })).project,
  /** @param {string} project @returns {Promise<ProjectFile[]>} */
  files: async (project) => /** @type {FilesAnswer} */ (await json(files(project))).files,
  /** What a refresh from a file would read. @param {string} project @param {string} path @returns {Promise<unknown>} */
  content: async (project, path) => /** @type {FilesAnswer} */ (await json(`${files(project)}?path=${id(path)}`)).content,
  /** @returns {Promise<Summary[]>} */
  artifacts: async () => /** @type {{artifacts: Summary[]}} */ (await json("/api/live-artifacts")).artifacts,
  /** @param {string} project @param {unknown} body @returns {Promise<Artifact>} */
  create: async (project, body) =>
    /** @type {{artifact: Artifact}} */ (await json(`/api/live-artifacts?projectId=${id(project)}`, { method: "POST", body })).artifact,
  /** The artifact with what the answer says beside it. @param {string} artifact @returns {Promise<Detail>} */
  artifact: async (artifact) => {
    /** @type {ArtifactAnswer} */
    const { artifact: own, ...beside } = await json(live(artifact));
    return { ...own, ...beside };
  },
  /** @param {string} artifact @param {unknown} body @returns {Promise<ArtifactAnswer>} */
  update: (artifact, body) => json(live(artifact), { method: "PATCH", body }),
  /** @param {string} artifact */
  remove: (artifact) => json(live(artifact), { method: "DELETE" }),
  /** @param {string} artifact */
  restore: (artifact) => json(live(artifact, "/restore"), { method: "POST" }),
  /** @param {string} artifact @param {boolean} [acceptDrift] @returns {Promise<RefreshedAnswer>} */
  refresh: (artifact, acceptDrift) =>
    json(live(artifact, "/refresh"), { method: "POST", body: acceptDrift ? { acceptDrift } : {} }),
  /** @param {string} artifact */
  cancel: (artifact) => json(live(artifact, "/refresh/cancel"), { method: "POST" }),
  /** @param {string} artifact @returns {Promise<RefreshRecord[]>} */
  refreshes: async (artifact) => /** @type {{refreshes: RefreshRecord[]}} */ (await json(live(artifact, "/refreshes"))).refreshes,
  /** @param {string} artifact @returns {Promise<SnapshotLine[]>} */
  snapshots: async (artifact) => /** @type {{snapshots: SnapshotLine[]}} */ (await json(live(artifact, "/snapshots"))).snapshots,
  /** @param {string} artifact @param {string} refresh @returns {Promise<Snapshot>} */
  snapshot: async (artifact, refresh) => /** @type {{snapshot: Snapshot}} */ (await json(live(artifact, `/snapshots/${id(refresh)}`))).snapshot,
  /** @param {string} artifact @param {string} refresh @param {number} [ifRevision] @returns {Promise<RolledBackAnswer>} */
  rollBack: (artifact, refresh, ifRevision) =>
    json(live(artifact, `/snapshots/${id(refresh)}/restore`), { method: "POST", body: { ifRevision } }),
  /** @param {string} artifact @param {string} variant */
  text: async (artifact, variant) =>
    (await request(live(artifact, `/preview?variant=${variant}`))).text(),
  /** @param {string} artifact @param {string} variant @param {string} [snapshot] @returns {Promise<string>} */
  ticket: async (artifact, variant, snapshot) => {
    const body = snapshot ? { variant, snapshot } : { variant };
    /** @type {TicketAnswer} */
    const { url } = await json(live(artifact, "/preview-ticket"), { method: "POST", body });
    // This page may only frame the preview origin it was loaded with. A daemon that came back with
    // another one needs the page anew.
    const { origin } = new URL(url);
    previewOrigin ||= origin;
    if (origin !== previewOrigin) location.reload();
    return url;
  },
  /** @param {string} name */
  template: async (name) => (await request(`/templates/${name}.html`)).text(),
  /** @returns {Promise<Connector[]>} */
  connectors: async () => /** @type {{connectors: Connector[]}} */ (await json("/api/connectors")).connectors,
  /** @param {string} connector @param {string} [secret] */
  connect: (connector, secret) =>
    json(`/api/connectors/${id(connector)}/connect`, {
      method: "POST",
      body: secret ? { secret } : {},
    }),
  /** @param {string} connector */
  disconnect: (connector) =>
    json(`/api/connectors/${id(connector)}/connection`, { method: "DELETE" }),
};
