// @ts-check
// Lists of live artifacts: as many pages of each as a person has scrolled to. The daemon orders, searches
// and counts; an event brings the first page anew, which is where everything that changed stands.

import { api } from "./api.js";
import { change, each, forget, held, put, state, use } from "./store.js";

/**
 * @typedef {import("./schema.js").ArtifactLine} Summary
 * @typedef {"all" | "active" | "pinned" | "attention"} Shown
 * @typedef {{project?: string, query?: string, show?: Shown}} Asked
 * @typedef {object} Listed
 * @property {Summary[]} lines the last updated first
 * @property {number} total on all pages
 * @property {string=} next gives the page after the lines
 */

/** Searches that stay known: a person who types makes one with every key. */
const MOST_SEARCHES = 4;
const PREFIX = "artifacts/";

/** @param {Asked} asked */
function keyOf({ project = "", query = "", show = "all" }) {
  return `${PREFIX}${show}/${project}/${query.trim()}`;
}

/** Keys of lists that are not to be continued, but read from their beginning. @type {Set<string>} */
const outdated = new Set();
/** Keys of lists whose next page is on its way. @type {Set<string>} */
const growing = new Set();
/** Keys of searches, the last one last. @type {string[]} */
let searches = [];

/**
 * Returns what is known of a list. A search shows what was found before until its first page is here.
 * @param {Asked} asked
 */
export function listed(asked) {
  const key = keyOf(asked);
  if (asked.query) noteSearch(key);
  return use(key, async () => {
    const page = await api.artifacts(asked);
    /** @type {Listed | undefined} */
    const before = outdated.delete(key) ? undefined : held(key);
    return merged(before, { lines: page.artifacts, total: page.total, next: page.nextCursor ?? undefined });
  });
}

/** @param {string} key */
function noteSearch(key) {
  if (searches.at(-1) === key) return;
  searches = [...searches.filter((other) => other !== key), key];
  while (searches.length > MOST_SEARCHES) forget(searches.shift() ?? PREFIX);
}

/**
 * Puts a new first page before what is known of the rest. Whatever changed since stands on that page or
 * is gone; lines that are as they were stay the same objects, so that nothing is drawn again for them.
 * @param {Listed | undefined} before @param {Listed} page @returns {Listed}
 */
export function merged(before, page) {
  const known = new Map((before?.lines ?? []).map((line) => [line.id, line]));
  const lines = page.lines.map((line) => {
    const old = known.get(line.id);
    return old && JSON.stringify(old) === JSON.stringify(line) ? old : line;
  });
  const last = lines.at(-1);
  // Without a line that is where it was, others may stand between the page and what is known.
  const joins = lines.some((line) => known.get(line.id)?.updatedAt === line.updatedAt);
  if (!before || !last || !page.next || !joins) return { ...page, lines };
  const first = new Set(lines.map(({ id }) => id));
  const rest = before.lines.filter((line) => !first.has(line.id) && isAfter(line, last));
  return { lines: [...lines, ...rest], total: page.total, next: rest.length > 0 ? before.next : page.next };
}

/** @param {Summary} line @param {Summary} other */
function isAfter(line, other) {
  return line.updatedAt < other.updatedAt || (line.updatedAt === other.updatedAt && line.id > other.id);
}

/** Fetches the page after what is known of a list. @param {Asked} asked */
export function more(asked) {
  const key = keyOf(asked);
  /** @type {Listed | undefined} */
  const before = held(key);
  const cursor = before?.next;
  if (!cursor || growing.has(key) || state.session !== "open") return;
  growing.add(key);
  api
    .artifacts(asked, cursor)
    .then((page) => {
      /** @type {Listed | undefined} */
      const now = held(key);
      // The list may have been read anew meanwhile; then this page is not the one after it.
      if (now?.next !== cursor) return;
      const own = new Set(now.lines.map(({ id }) => id));
      const lines = [...now.lines, ...page.artifacts.filter(({ id }) => !own.has(id))];
      put(key, { lines, total: page.total, next: page.nextCursor ?? undefined });
    })
    // Whoever scrolls on asks again.
    .catch(() => undefined)
    .finally(() => {
      growing.delete(key);
      change();
    });
}

/** @param {(listed: Listed, key: string) => void} visit */
function eachList(visit) {
  each(PREFIX, (key, value) => visit(/** @type {Listed} */ (value), key));
}

/** What a list says of an artifact, if one has it. @param {string} id @returns {Summary | undefined} */
export function summary(id) {
  /** @type {Summary | undefined} */
  let found;
  eachList(({ lines }) => {
    found ??= lines.find((line) => line.id === id);
  });
  return found;
}

/**
 * The line that calls an artifact damaged, if a list has one: lists are read at different times, and an older
 * one may still call it healthy.
 * @param {string} id @returns {Summary | undefined}
 */
export function damagedLine(id) {
  /** @type {Summary | undefined} */
  let found;
  eachList(({ lines }) => {
    found ??= lines.find((line) => line.id === id && line.health.state !== "healthy");
  });
  return found;
}

/** Changes what is known of an artifact, before the daemon says so. @param {Partial<Summary> & {id: string}} fields */
export function amend(fields) {
  eachList((list, key) => {
    if (!list.lines.some(({ id }) => id === fields.id)) return;
    put(key, { ...list, lines: list.lines.map((line) => (line.id === fields.id ? { ...line, ...fields } : line)) });
  });
}

/** Takes an artifact that is gone out of every list. @param {string} id */
export function dropped(id) {
  eachList((list, key) => {
    const lines = list.lines.filter((line) => line.id !== id);
    if (lines.length < list.lines.length) put(key, { ...list, lines, total: list.total - 1 });
  });
}

/** Reads every list from its beginning: more may have changed than its first page tells. */
export function startListsOver() {
  eachList((_, key) => outdated.add(key));
}
