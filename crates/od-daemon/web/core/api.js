// @ts-check
// The daemon's routes, one function each. Every failure leaves here as an ApiError with the envelope's
// code, message, suggestion and issues.

import { bearer, drop, NoBearer, seen } from "./session.js";

/**
 * @typedef {import("./schema.js").Artifact} Artifact
 * @typedef {import("./schema.js").ArtifactLine} Summary
 * @typedef {import("./schema.js").Connector} Connector
 * @typedef {import("./schema.js").Failure} Failure
 * @typedef {import("./schema.js").Issue} Issue
 * @typedef {import("./schema.js").Provenance} Provenance
 * @typedef {import("./schema.js").RefreshRecord} RefreshRecord
 * @typedef {import("./schema.js").ProjectView} Project
 * @typedef {import("./schema.js").ProjectLine} ProjectLine
 * @typedef {import("./schema.js").ProjectFile} ProjectFile
 * @typedef {import("./schema.js").ProjectFilesAnswer} FilesAnswer
 * @typedef {import("./schema.js").SnapshotLine} SnapshotLine
 * @typedef {import("./schema.js").SnapshotView} Snapshot
 * @typedef {import("./schema.js").ArtifactAnswer} ArtifactAnswer
 * @typedef {import("./schema.js").RefreshedAnswer} RefreshedAnswer
 * @typedef {import("./schema.js").RolledBackAnswer} RolledBackAnswer
 * @typedef {import("./schema.js").TicketAnswer} TicketAnswer
 * @typedef {import("./schema.js").AddService} AddService
 * @typedef {import("./schema.js").ServiceAnswer} ServiceAnswer
 * @typedef {import("./schema.js").ServicesAnswer} ServicesAnswer
 * @typedef {import("./schema.js").AddWebhook} AddWebhook
 * @typedef {import("./schema.js").WebhookAnswer} WebhookAnswer
 * @typedef {import("./schema.js").WebhooksAnswer} WebhooksAnswer
 * @typedef {import("./schema.js").RevisionsAnswer} RevisionsAnswer
 * @typedef {import("./schema.js").RevisionLine} RevisionLine
 * @typedef {import("./schema.js").ComparisonView} Comparison
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
  const held = await proven();
  let response = await send(path, held, options);
  if (response.status === 401) {
    // The daemon refuses a bearer before its time when it restarted: the session may still be good.
    drop(held);
    response = await send(path, await proven(), options);
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => null);
  throw refusal(response.status, answer);
}

/** A bearer for a daemon that has proved itself. */
async function proven() {
  try {
    return await bearer();
  } catch (cause) {
    if (!(cause instanceof NoBearer)) throw cause;
    if (cause.why === "ended") {
      throw new ApiError(401, "UNAUTHORIZED", "The session has ended.", { suggestion: "Run `od open`." });
    }
    throw unreachable();
  }
}

function unreachable() {
  return new ApiError(0, "UNREACHABLE", "The daemon does not answer.", {
    suggestion: "Start it with `od serve`; this page reconnects by itself.",
  });
}

/**
 * @param {string} path @param {string} held
 * @param {{method?: string, body?: unknown, signal?: AbortSignal, headers?: Record<string, string>}} options
 */
async function send(path, held, options) {
  const method = options.method ?? "GET";
  /** @type {Record<string, string>} */
  const headers = { ...options.headers, authorization: `Bearer ${held}` };
  /** @type {RequestInit} */
  const init = { method, headers, cache: "no-store", signal: options.signal ?? null };
  if (method !== "GET") {
    headers["content-type"] = "application/json";
    init.body = JSON.stringify(options.body ?? {});
  }
  try {
    const response = await fetch(path, init);
    seen();
    return response;
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    drop(held);
    throw unreachable();
  }
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
  /** @returns {Promise<ProjectLine[]>} */
  projects: async () => /** @type {{projects: ProjectLine[]}} */ (await json("/api/projects")).projects,
  /** @param {string} name @returns {Promise<Project>} */
  createProject: async (name) =>
    /** @type {{project: Project}} */ (await json("/api/projects", { method: "POST", body: { name } })).project,
  /** @param {string} project @param {string} name */
  renameProject: (project, name) => json(`/api/projects/${id(project)}`, { method: "PATCH", body: { name } }),
  /** @param {string} project @returns {Promise<import("./schema.js").RemovedProjectAnswer>} */
  removeProject: (project) => json(`/api/projects/${id(project)}`, { method: "DELETE" }),
  /** @param {string} [cursor] @returns {Promise<import("./schema.js").TrashAnswer>} */
  trash: (cursor) => json(`/api/live-artifacts?trash=true${cursor ? `&cursor=${id(cursor)}` : ""}`),
  /** @param {string} project @returns {Promise<ProjectFile[]>} */
  files: async (project) => /** @type {FilesAnswer} */ (await json(files(project))).files,
  /** What a refresh from a file would read. @param {string} project @param {string} path @returns {Promise<unknown>} */
  content: async (project, path) => (await api.file(project, path)).content,
  /** What a source would read of a file, and the tables in it. @param {string} project @param {string} path @returns {Promise<FilesAnswer>} */
  file: (project, path) => json(`${files(project)}?path=${id(path)}`),
  /**
   * One page of a list.
   * @param {import("./lists.js").Asked} asked @param {string} [cursor] @returns {Promise<import("./schema.js").ArtifactsAnswer>}
   */
  artifacts: ({ project, query, show }, cursor) => {
    const given = Object.entries({ projectId: project, query: query?.trim(), show, cursor }).filter(([, value]) => value);
    return json(`/api/live-artifacts?${given.map(([name, value]) => `${name}=${id(value ?? "")}`).join("&")}`);
  },
  /** @param {string} project @param {unknown} body @returns {Promise<Artifact>} */
  create: async (project, body) =>
    /** @type {{artifact: Artifact}} */ (await json(`/api/live-artifacts?projectId=${id(project)}`, { method: "POST", body })).artifact,
  /** The artifact with what the answer says beside it. @param {string} artifact @returns {Promise<Detail>} */
  artifact: async (artifact) => {
    /** @type {ArtifactAnswer} */
    const { artifact: own, ...beside } = await json(live(artifact));
    return { ...own, ...beside };
  },
  /** @param {string} artifact @param {unknown} body @param {boolean} [dryRun] @returns {Promise<ArtifactAnswer>} */
  update: (artifact, body, dryRun) => json(live(artifact, dryRun ? "?dryRun=true" : ""), { method: "PATCH", body }),
  /** @param {string} artifact */
  remove: (artifact) => json(live(artifact), { method: "DELETE" }),
  /** @param {string} artifact */
  restore: (artifact) => json(live(artifact, "/restore"), { method: "POST" }),
  /** @param {string} artifact @param {boolean} [acceptDrift] @returns {Promise<RefreshedAnswer>} */
  refresh: (artifact, acceptDrift) =>
    json(live(artifact, "/refresh"), { method: "POST", body: acceptDrift ? { acceptDrift } : {} }),
  /** Refreshes a page that was opened, if it is older than its schedule allows. @param {string} artifact @returns {Promise<RefreshedAnswer>} */
  refreshOpened: (artifact) => json(live(artifact, "/refresh"), { method: "POST", body: { onOpen: true } }),
  /**
   * Sets a schedule, switches it on, or switches it off; a dry run only says what its next runs would be.
   * @param {string} artifact @param {{refresh?: unknown, on?: boolean}} body @param {boolean} [dryRun]
   * @returns {Promise<import("./schema.js").ScheduleAnswer>}
   */
  schedule: (artifact, body, dryRun) =>
    json(live(artifact, `/schedule${dryRun ? "?dryRun=true" : ""}`), { method: "POST", body }),
  /** @param {string} artifact */
  cancel: (artifact) => json(live(artifact, "/refresh/cancel"), { method: "POST" }),
  /** @param {string} artifact @returns {Promise<RefreshRecord[]>} */
  refreshes: async (artifact) => /** @type {{refreshes: RefreshRecord[]}} */ (await json(live(artifact, "/refreshes"))).refreshes,
  /** @param {string} artifact @returns {Promise<SnapshotLine[]>} */
  snapshots: async (artifact) => /** @type {{snapshots: SnapshotLine[]}} */ (await json(live(artifact, "/snapshots"))).snapshots,
  /** @param {string} artifact @param {string} refresh @returns {Promise<Snapshot>} */
  snapshot: async (artifact, refresh) => /** @type {{snapshot: Snapshot}} */ (await json(live(artifact, `/snapshots/${id(refresh)}`))).snapshot,
  /** The commits, newest first. @param {string} artifact @returns {Promise<RevisionsAnswer>} */
  revisions: (artifact) => json(live(artifact, "/revisions?limit=100")),
  /** @param {string} artifact @param {number} revision @returns {Promise<import("./schema.js").RevisionView>} */
  revision: async (artifact, revision) =>
    /** @type {import("./schema.js").RevisionAnswer} */ (await json(live(artifact, `/revisions/${revision}`))).revision,
  /** @param {string} artifact @param {number} from @param {number} to @returns {Promise<Comparison>} */
  compare: async (artifact, from, to) =>
    /** @type {{comparison: Comparison}} */ (await json(live(artifact, `/compare?from=${from}&to=${to}`))).comparison,
  /**
   * A file made of the artifact as it is now.
   * @param {string} artifact @param {string} format @param {string} [table] @returns {Promise<import("./schema.js").ExportView>}
   */
  exported: async (artifact, format, table) =>
    /** @type {import("./schema.js").ExportAnswer} */ (
      await json(live(artifact, `/export?format=${format}${format === "csv" && table ? `&table=${encodeURIComponent(table)}` : ""}`))
    ).export,
  /**
   * Makes an earlier state the current one again: a revision by its number, a stored state by its refresh.
   * @param {string} artifact @param {string | number} state @param {number} [ifRevision] @returns {Promise<RolledBackAnswer>}
   */
  rollBack: (artifact, state, ifRevision) =>
    json(live(artifact, `/${typeof state === "number" ? "revisions" : "snapshots"}/${id(state)}/restore`), { method: "POST", body: { ifRevision } }),
  /** @param {string} artifact @param {string} variant */
  text: async (artifact, variant) =>
    (await request(live(artifact, `/preview?variant=${variant}`))).text(),
  /**
   * @param {string} artifact @param {string} variant
   * @param {string | number} [state] an earlier state: a revision by its number, a stored state by its refresh
   * @returns {Promise<string>}
   */
  ticket: async (artifact, variant, state) => {
    const body = { variant, ...(typeof state === "number" ? { revision: state } : state && { snapshot: state }) };
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
  /** @returns {Promise<ServicesAnswer>} */
  services: () => json("/api/sources"),
  /** @param {AddService} service */
  addService: (service) => json("/api/sources", { method: "POST", body: service }),
  /** @param {string} service @returns {Promise<ServiceAnswer>} */
  testService: (service) => json(`/api/sources/${id(service)}/test`, { method: "POST" }),
  /** @param {string} service */
  removeService: (service) => json(`/api/sources/${id(service)}`, { method: "DELETE" }),
  /** @param {string} service */
  dismissRequest: (service) => json(`/api/source-requests/${id(service)}`, { method: "DELETE" }),
  /** @returns {Promise<WebhooksAnswer>} */
  webhooks: () => json("/api/webhooks"),
  /** @param {AddWebhook} webhook */
  addWebhook: (webhook) => json("/api/webhooks", { method: "POST", body: webhook }),
  /** @param {string} webhook @returns {Promise<WebhookAnswer>} */
  testWebhook: (webhook) => json(`/api/webhooks/${id(webhook)}/test`, { method: "POST" }),
  /** @param {string} webhook */
  removeWebhook: (webhook) => json(`/api/webhooks/${id(webhook)}`, { method: "DELETE" }),
  /** @returns {Promise<import("./schema.js").AgentListing[]>} */
  agents: async () => /** @type {import("./schema.js").AgentsAnswer} */ (await json("/api/agents")).agents,
  /** @param {string} project @returns {Promise<import("./schema.js").AgentSession[]>} */
  agentSessions: async (project) =>
    /** @type {import("./schema.js").AgentSessionsAnswer} */ (await json(`/api/agent-sessions?projectId=${id(project)}`)).sessions,
  /** @param {string} session @returns {Promise<import("./schema.js").AgentTranscriptAnswer>} */
  agentSession: (session) => json(`/api/agent-sessions/${id(session)}`),
  /** @param {string} projectId @param {string} agent @param {string} prompt @returns {Promise<import("./schema.js").AgentSession>} */
  openAgentSession: async (projectId, agent, prompt) =>
    /** @type {{session: import("./schema.js").AgentSession}} */ (
      await json("/api/agent-sessions", { method: "POST", body: { projectId, agent, prompt } })
    ).session,
  /** @param {string} session @param {string} text */
  promptAgent: (session, text) => json(`/api/agent-sessions/${id(session)}/prompt`, { method: "POST", body: { text } }),
  /** @param {string} session */
  cancelAgent: (session) => json(`/api/agent-sessions/${id(session)}/cancel`, { method: "POST" }),
  /** @param {string} session @param {number} question @param {string} choice */
  answerPermission: (session, question, choice) =>
    json(`/api/agent-sessions/${id(session)}/permissions/${question}`, { method: "POST", body: { choice } }),
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
