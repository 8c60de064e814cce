// @ts-check
// The daemon's routes, one function each. Every failure leaves here as an ApiError with the envelope's
// code, message, suggestion and issues.

import { bearer, sessionEnded } from "./session.js";

/**
 * @typedef {import("./schema.js").Artifact} Artifact
 * @typedef {import("./schema.js").ArtifactSummary} Summary
 * @typedef {import("./schema.js").Connector} Connector
 * @typedef {import("./schema.js").Issue} Issue
 */

export class ApiError extends Error {
  /**
   * @param {number} status @param {string} code @param {string} message
   * @param {{suggestion?: string, issues?: Issue[], requestId?: string, retry?: any, details?: any}} [more]
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

/** @param {number} status @param {any} answer */
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

/** @param {string} path @param {{method?: string, body?: unknown}} [options] @returns {Promise<any>} */
async function json(path, options) {
  return (await request(path, options)).json();
}

let previewOrigin = "";

const id = encodeURIComponent;
/** @param {string} artifact @param {string} [rest] */
const live = (artifact, rest = "") => `/api/live-artifacts/${id(artifact)}${rest}`;

export const api = {
  projects: async () => (await json("/api/projects")).projects,
  /** @param {string} name */
  createProject: async (name) =>
    (await json("/api/projects", { method: "POST", body: { name } })).project,
  /** @param {string} project */
  files: async (project) => (await json(`/api/projects/${id(project)}/files`)).files,
  /** @returns {Promise<Summary[]>} */
  artifacts: async () => (await json("/api/live-artifacts")).artifacts,
  /** @param {string} project @param {unknown} body @returns {Promise<Artifact>} */
  create: async (project, body) =>
    (await json(`/api/live-artifacts?projectId=${id(project)}`, { method: "POST", body })).artifact,
  /** The artifact with what the answer says beside it. @param {string} artifact */
  artifact: async (artifact) => {
    const { artifact: own, ...beside } = await json(live(artifact));
    return { ...own, ...beside };
  },
  /** @param {string} artifact @param {unknown} body */
  update: (artifact, body) => json(live(artifact), { method: "PATCH", body }),
  /** @param {string} artifact */
  remove: (artifact) => json(live(artifact), { method: "DELETE" }),
  /** @param {string} artifact */
  restore: (artifact) => json(live(artifact, "/restore"), { method: "POST" }),
  /** @param {string} artifact @param {boolean} [acceptDrift] */
  refresh: (artifact, acceptDrift) =>
    json(live(artifact, "/refresh"), { method: "POST", body: acceptDrift ? { acceptDrift } : {} }),
  /** @param {string} artifact */
  cancel: (artifact) => json(live(artifact, "/refresh/cancel"), { method: "POST" }),
  /** @param {string} artifact @returns {Promise<import("./schema.js").RefreshRecord[]>} */
  refreshes: async (artifact) => (await json(live(artifact, "/refreshes"))).refreshes,
  /** @param {string} artifact */
  snapshots: async (artifact) => (await json(live(artifact, "/snapshots"))).snapshots,
  /** @param {string} artifact @param {string} refresh */
  snapshot: async (artifact, refresh) => (await json(live(artifact, `/snapshots/${id(refresh)}`))).snapshot,
  /** @param {string} artifact @param {string} variant */
  text: async (artifact, variant) =>
    (await request(live(artifact, `/preview?variant=${variant}`))).text(),
  /** @param {string} artifact @param {string} variant @param {string} [snapshot] @returns {Promise<string>} */
  ticket: async (artifact, variant, snapshot) => {
    const body = snapshot ? { variant, snapshot } : { variant };
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
  connectors: async () => (await json("/api/connectors")).connectors,
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
