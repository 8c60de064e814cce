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

/** A time that is still running: no digits that flicker. @param {number} ms */
export function seconds(ms) {
  return `${Math.floor(ms / 1000)} s`;
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
 * @param {import("./schema.js").Source | import("./schema.js").NamedSource | undefined | null} source
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

/** A document, as far as it says where its data comes from. @typedef {{sourceJson?: any, sources?: any, refreshPermission?: any}} Sourced */

/**
 * Names every source of a document, in a few words.
 * @param {Sourced | undefined | null} document
 */
export function sourceNames(document) {
  const sources = [document?.sourceJson, ...(document?.sources ?? [])];
  return sources.filter(Boolean).map(sourceName).join(", ");
}

/** Whether refreshes of a document are allowed. @param {Sourced | undefined | null} document */
export function isPermitted(document) {
  const permission = document?.sourceJson ? document.sourceJson.refreshPermission : document?.refreshPermission;
  return permission === "manual_refresh_granted_for_read_only";
}

/** @param {string} text */
function capital(text) {
  const trimmed = text.trim();
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
}

/** @param {string} text */
function ended(text) {
  return /[.!?:…]$/.test(text) || text === "" ? text : `${text}.`;
}

/**
 * Writes a message of the daemon as a sentence of the page: a capital, a full stop, and what stands between
 * backticks as code.
 * @param {string} text @returns {import("./dom.js").Leaf[]}
 */
export function sentence(text) {
  return ended(capital(text))
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? h("code", { key: String(index) }, part) : part));
}

/** The same where only plain text can stand. @param {string} text @returns {string} */
export function plainSentence(text) {
  return ended(capital(text)).replace(/`([^`]+)`/g, "“$1”");
}

const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * Says where a value comes from, with its time as this reader's clock shows it.
 * @param {{says: string}} origin @returns {string}
 */
export function originSentence({ says }) {
  return plainSentence(says.replace(MOMENT, (moment) => absolute(moment)));
}

/**
 * The state that is shown, in words: one that was restored is not as new as the last refresh.
 * @param {{restored?: import("./schema.js").Restored | null, lastRefreshedAt?: string | null, updatedAt: string}} artifact
 */
export function stateShown({ restored, lastRefreshedAt, updatedAt }) {
  if (restored) return `the state of ${absolute(restored.stateOf)}, restored ${age(restored.at)}`;
  return `data from ${absolute(lastRefreshedAt ?? updatedAt)}`;
}

/** Folders into which agents' skills are installed; nothing in them is data of the project. */
const SKILL_FOLDER = /^\.(agents|claude|codex|cursor|gemini|opencode|qwen)\//;

/** @param {string} path */
export function isSkillFile(path) {
  return SKILL_FOLDER.test(path);
}

const LONGEST_TAIL = 26;

/**
 * A path whose end stays readable however narrow its place: where it does not fit, its middle gives way.
 * @param {string} path
 */
export function pathEnd(path) {
  const name = path.length - path.lastIndexOf("/") - 1;
  const cut = path.length - (name > LONGEST_TAIL ? Math.floor(LONGEST_TAIL * 0.7) : name);
  return h("span.path-end.grow", { title: path }, h("span.clip", path.slice(0, cut)), h("span.tail", path.slice(cut)));
}

/**
 * @typedef {{label: string, tone: "accent" | "good" | "bad" | "warn" | "quiet", busy?: boolean, title?: string}} Badge
 */

/** @type {Record<import("./schema.js").ArtifactLine["freshness"], Badge>} */
const FRESHNESS = {
  static: { label: "Static", tone: "quiet", title: "No refresh changes this page: it has no source, or refresh is not allowed." },
  never: { label: "Never refreshed", tone: "quiet", title: "It may be refreshed and never was: its values are those its author wrote." },
  fresh: { label: "Fresh", tone: "good", title: "Its source was read a short while ago." },
  stale: { label: "Stale", tone: "warn", title: "Its source was last read longer ago than it may be." },
  failed: { label: "Failed", tone: "bad", title: "The last refresh failed. The values before it are kept." },
};

/** Why a page is older than it should be, as a sentence. @type {Record<string, string>} */
const STALE = {
  refresh_failed: "The last refresh failed; the next attempt waits.",
  schedule_off: "Its schedule is not switched on.",
  not_scheduled: "Nothing refreshes it by itself.",
  overdue: "A run is due and nobody ran it.",
  seldom_scheduled: "Its schedule runs less often than its greatest age asks for.",
};

/** @param {import("./schema.js").ArtifactLine | import("./api.js").Detail} artifact @returns {Badge} */
function freshness(artifact) {
  const base = FRESHNESS[artifact.freshness];
  const { staleSince, staleReason } = artifact;
  if (!staleSince) return base;
  return { ...base, title: `${base.title} Stale since ${absolute(staleSince)}. ${STALE[staleReason ?? ""] ?? ""}`.trim() };
}

/**
 * How much an artifact needs a person: 0 is nothing, more is sooner.
 * @param {import("./schema.js").ArtifactLine} artifact @returns {number}
 */
export function attention(artifact) {
  if (artifact.status === "archived") return 0;
  if (healthState(artifact) !== "healthy") return 8;
  if (artifact.checks?.failing) return artifact.checks.worst?.severity === "critical" ? 7 : 6;
  if (artifact.freshness === "failed") return 4;
  if (artifact.freshness === "stale") return 3;
  if (artifact.checks?.unknown) return 2.5;
  if (artifact.grantedElsewhere) return 2;
  if (artifact.schedule && ["proposed", "changed", "elsewhere", "blocked"].includes(artifact.schedule.state)) return 2;
  return 0;
}

/**
 * A badge for checks that do not hold; none if all do.
 * @param {import("./schema.js").ArtifactLine | import("./api.js").Detail} artifact @returns {Badge[]}
 */
function checkBadges(artifact) {
  const results = "checkResults" in artifact ? artifact.checkResults ?? [] : [];
  const line = "checks" in artifact ? artifact.checks : undefined;
  const failing = line?.failing ?? results.filter(({ state }) => state === "failing").length;
  const unknown = line?.unknown ?? results.filter(({ state }) => state === "unknown").length;
  const worst = line?.worst ?? results.find(({ state }) => state === (failing > 0 ? "failing" : "unknown"));
  if (failing > 0) {
    return [{ label: plural(failing, "check") + " failing", tone: worst?.severity === "info" ? "warn" : "bad", title: worst ? `${worst.message} (${worst.found ?? "nothing there"})` : "" }];
  }
  if (unknown > 0) return [{ label: plural(unknown, "check") + " unknown", tone: "warn", title: "It could not be worked out: nothing stands at its path, or something that does not compare." }];
  return [];
}

/**
 * The badges of an artifact, most urgent first.
 * @param {import("./schema.js").ArtifactLine | import("./api.js").Detail} artifact @param {boolean} running
 * @returns {Badge[]}
 */
export function badges(artifact, running) {
  /** @type {Badge[]} */
  const out = [];
  if (healthState(artifact) !== "healthy") out.push({ label: "Not healthy", tone: "bad" });
  if (artifact.status === "archived") out.push({ label: "Archived", tone: "quiet" });
  else out.push(...checkBadges(artifact));
  if (running) out.push({ label: "Refreshing…", tone: "accent", busy: true });
  else if (artifact.freshness === "failed" || (!artifact.restored && (out.length === 0 || artifact.freshness === "stale"))) out.push(freshness(artifact));
  if (artifact.restored && !running) {
    // Whatever was read lately, or failed to be, it is not what is shown.
    out.push({ label: "Restored", tone: "warn", title: `It shows the state of ${absolute(artifact.restored.stateOf)} again, until the next change.` });
  }
  for (const { source, since, code } of artifact.stale ?? []) {
    out.push({ label: `${source} stale`, tone: "warn", title: `The source ${source} has failed since ${absolute(since)} (${code}). Its values are from before.` });
  }
  return out;
}

/** @param {{health?: import("./schema.js").Health}} artifact @returns {string} */
export function healthState(artifact) {
  return artifact.health?.state ?? "healthy";
}

/** @param {Badge} badge */
export function badge({ label, tone, busy, title }) {
  return h(
    "span",
    { class: `badge ${tone}`, key: label, title },
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
