// @ts-check
/** @typedef {any} Artifact */
/**
 * @typedef {object} ArtifactSummary
 * @property {string} id
 * @property {string} projectId
 * @property {string} title
 * @property {"active" | "archived" | "error"} status
 * @property {boolean} pinned
 * @property {"never" | "idle" | "running" | "succeeded" | "failed"} refreshStatus
 * @property {string} createdAt
 * @property {string} updatedAt
 * @property {string=} lastRefreshedAt
 * @property {number} revision
 * @property {boolean} refreshable
 * @property {any=} health
 * @property {string=} source
 */
/** @typedef {any} Connector */
/** @typedef {any} Source */
/** @typedef {{path: string, code: string, message: string, got?: string, want?: string, fix?: string}} Issue */
export {};
