// @ts-check
// What the page knows of chats: each one's stream, kept current by the daemon's events.

import { api } from "./api.js";
import { change, expire, held, put, use } from "./store.js";

/**
 * @typedef {import("./schema.js").AgentSession} Session
 * @typedef {import("./schema.js").Entry} Entry
 * @typedef {import("./schema.js").AgentTranscriptAnswer} Chat
 * @typedef {import("./schema.js").AgentEvent} AgentEvent
 */

/** @type {Map<string, number>} The newest change of each chat that was heard of. */
const heard = new Map();
const READS_MAX = 3;
const PAUSE_MS = 500;

/** @type {Set<string>} Chats that are read again after a gap. */
const reading = new Set();

/** @param {string} id */
const key = (id) => `chat/${id}`;

/** A chat with its stream. @param {string} id */
export function chat(id) {
  return use(key(id), () => read(id));
}

/** @param {string} project */
export function chats(project) {
  return use(`chats/${project}`, () => api.agentSessions(project));
}

export function agents() {
  return use("agents", () => api.agents());
}

/** Reads a chat; what was told while the answer was on its way is read once more. @param {string} id */
async function read(id) {
  let found = await api.agentSession(id);
  for (let reads = 1; reads < READS_MAX && found.session.changes < (heard.get(id) ?? 0); reads += 1) {
    found = await api.agentSession(id);
  }
  return found;
}

/**
 * Takes one change of a chat. One that leaves a gap means that the chat has to be read again.
 * @param {AgentEvent} event @returns {{before: string, session: Session} | undefined} a session whose state changed
 */
export function applyAgentEvent(event) {
  const { sessionId: id, change: number, what } = event;
  heard.set(id, Math.max(number, heard.get(id) ?? 0));
  const found = /** @type {Chat | undefined} */ (held(key(id)));
  if (what.kind === "session") listed(what.session);
  if (!found) return what.kind === "session" ? { before: "", session: what.session } : undefined;
  const last = found.session.changes;
  if (number <= last) return undefined;
  if (number > last + 1) {
    void readAgain(id);
    return undefined;
  }
  const before = found.session.status;
  change(() => apply(found, number, what));
  return what.kind === "session" ? { before, session: what.session } : undefined;
}

/**
 * Reads a chat anew after a gap. One reading at a time, and a pause between two: while an agent floods there
 * is a gap every few milliseconds, and readings that cut each other off would never end.
 * @param {string} id
 */
async function readAgain(id) {
  if (reading.has(id)) return;
  reading.add(id);
  try {
    put(key(id), await api.agentSession(id));
  } catch {
    expire(key(id));
  }
  setTimeout(() => {
    reading.delete(id);
    const found = /** @type {Chat | undefined} */ (held(key(id)));
    if (found && found.session.changes < (heard.get(id) ?? 0)) void readAgain(id);
  }, PAUSE_MS);
}

/** @param {Chat} found @param {number} number @param {AgentEvent["what"]} what */
function apply(found, number, what) {
  const { entries } = found;
  if (what.kind === "session") {
    found.session = what.session;
    return;
  }
  found.session = { ...found.session, changes: number };
  if (what.kind === "usage") found.session.usage = what.usage;
  if (what.kind === "words") {
    const at = place(entries, what.number);
    const entry = entries[at];
    // Another object for what changed: what did not is not drawn again.
    if (entry?.content.kind === "text") {
      entries[at] = { number: entry.number, content: { ...entry.content, text: entry.content.text + what.text } };
    }
  }
  if (what.kind === "entry") {
    const at = place(entries, what.entry.number);
    if (at < 0) entries.push(what.entry);
    else entries[at] = what.entry;
  }
}

/** Finds an entry, from the end: nearly everything happens there. @param {Entry[]} entries @param {number} number */
function place(entries, number) {
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const found = /** @type {Entry} */ (entries[at]).number;
    if (found === number) return at;
    if (found < number) return -1;
  }
  return -1;
}

/** @param {Session} session */
function listed(session) {
  const name = `chats/${session.projectId}`;
  const list = /** @type {Session[] | undefined} */ (/** @type {unknown} */ (held(name)));
  if (!list) return;
  const at = list.findIndex((entry) => entry.id === session.id);
  change(() => (at < 0 ? list.unshift(session) : list.splice(at, 1, session)));
}

/** @param {Session["status"]} status */
export function isBusy(status) {
  return status === "starting" || status === "working" || status === "stopping";
}
