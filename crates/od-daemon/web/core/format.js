// @ts-check
// Values in words: ages, sizes, sources, badges.

import { h } from "./dom.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
// Making one of these costs as much as using it a hundred times.
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const NUMBER = new Intl.NumberFormat();

/** @param {string | number | undefined} when @returns {string} */
export function age(when, now = Date.now()) {
  const at = new Date(when ?? NaN).getTime();
  if (Number.isNaN(at)) return "never";
  const past = now - at;
  if (past < 45_000) return "just now";
  if (past < HOUR) return `${Math.max(1, Math.round(past / MINUTE))} min ago`;
  if (past < DAY) return `${Math.round(past / HOUR)} h ago`;
  const days = Math.round(past / DAY);
  if (days === 1) return "yesterday";
  if (days < 30) return `${days} days ago`;
  return DATE.format(at);
}

/** @param {string | number | undefined} when @returns {string} */
export function absolute(when) {
  const at = new Date(when ?? NaN);
  if (Number.isNaN(at.getTime())) return "";
  return DATE_TIME.format(at);
}

/** @param {string | undefined} when @returns {import("./dom.js").VNode} */
export function time(when) {
  return h("time", { datetime: when ?? "", title: absolute(when) }, age(when));
}

/** @param {number | null | undefined} ms */
export function duration(ms) {
  if (ms === undefined || ms === null) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

/** @param {number | undefined} bytes */
export function size(bytes) {
  if (bytes === undefined) return "";
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function plural(count, one, many = `${one}s`) {
  return `${NUMBER.format(count)} ${count === 1 ? one : many}`;
}

/**
 * Names where the data comes from, in a few words.
 * @param {import("./schema.js").Source | undefined | null} source
 */
export function sourceName(source) {
  if (!source) return "";
  if (source.type === "local_file") {
    const input = /** @type {Record<string, unknown>} */ (source.input ?? {});
    return String(input.path ?? input.file ?? input.name ?? "project file");
  }
  const tool = source.connector?.toolName ?? source.toolName ?? "";
  const connector = source.connector?.connectorId ?? "";
  return tool.startsWith(`${connector}.`) || !connector ? tool : `${connector}.${tool}`;
}

/**
 * @typedef {{label: string, tone: "accent" | "good" | "bad" | "warn" | "quiet", busy?: boolean}} Badge
 */

/**
 * The badges of an artifact, most urgent first.
 * @param {import("./schema.js").ArtifactSummary | import("./api.js").Detail} artifact @param {boolean} running
 * @returns {Badge[]}
 */
export function badges(artifact, running) {
  /** @type {Badge[]} */
  const out = [];
  if (healthState(artifact) !== "healthy") out.push({ label: "Not healthy", tone: "bad" });
  if (artifact.status === "archived") out.push({ label: "Archived", tone: "quiet" });
  if (running) out.push({ label: "Refreshing…", tone: "accent", busy: true });
  else if (artifact.refreshStatus === "failed") out.push({ label: "Refresh failed", tone: "bad" });
  else if (artifact.refreshable) out.push({ label: "Refreshable", tone: "good" });
  else if (artifact.status === "active") out.push({ label: "Live", tone: "quiet" });
  return out;
}

/** @param {{health?: import("./schema.js").Health}} artifact @returns {string} */
export function healthState(artifact) {
  return artifact.health?.state ?? "healthy";
}

/** @param {Badge} badge */
export function badge({ label, tone, busy }) {
  return h(
    "span",
    { class: `badge ${tone}`, key: label },
    h("span", { class: busy ? "dot busy" : "dot", "aria-hidden": "true" }),
    label,
  );
}

/** @param {unknown} value */
export function scalar(value) {
  if (typeof value === "string") return JSON.stringify(value);
  return value === undefined ? "nothing" : JSON.stringify(value);
}

/** @param {string} text @param {number} most */
export function clip(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The path of a key below another path. @param {string} path @param {string} key */
export function join(path, key) {
  return path ? `${path}.${key}` : key;
}
