// @ts-check
// The values in which two states differ. Rows of a list are matched by a key where one exists, so that an
// insertion at the top is one added row and not a change of every row.

import { isObject, join } from "./format.js";

/**
 * @typedef {object} Change
 * @property {"added" | "removed" | "changed"} kind
 * @property {string} path
 * @property {unknown} before
 * @property {unknown} after
 */

/** Names that usually identify a row, most telling first. */
const USUAL = ["id", "key", "uuid", "slug", "number", "sha", "tag", "path", "url", "name", "title", "label", "date"];

/**
 * @param {unknown} before @param {unknown} after @param {string} [path]
 * @returns {Change[]}
 */
export function diff(before, after, path = "") {
  if (before === after) return [];
  if (isObject(before) && isObject(after)) return diffObjects(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return diffLists(before, after, path);
  if (before === undefined) return [{ kind: "added", path, before, after }];
  if (after === undefined) return [{ kind: "removed", path, before, after }];
  return [{ kind: "changed", path, before, after }];
}

/** @param {Record<string, unknown>} before @param {Record<string, unknown>} after @param {string} path */
function diffObjects(before, after, path) {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => diff(own(before, key), own(after, key), join(path, key)));
}

/** @param {Record<string, unknown>} object @param {string} key */
function own(object, key) {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** @param {unknown[]} before @param {unknown[]} after @param {string} path @returns {Change[]} */
function diffLists(before, after, path) {
  const key = rowKey(before, after);
  if (key === undefined) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => diff(before[index], after[index], join(path, String(index)))).flat();
  }
  const old = index(before, key);
  const now = index(after, key);
  const names = new Set([...now.keys(), ...old.keys()]);
  return [...names].flatMap((name) => diff(old.get(name), now.get(name), `${path}[${key}=${name}]`));
}

/** @param {unknown[]} rows @param {string} key @returns {Map<string, unknown>} */
function index(rows, key) {
  return new Map(rows.map((row) => [String(/** @type {Record<string, unknown>} */ (row)[key]), row]));
}

/**
 * Returns the field that tells the rows of both lists apart, if there is one: present in every row, a
 * string or number, and different in each.
 * @param {unknown[]} before @param {unknown[]} after @returns {string | undefined}
 */
function rowKey(before, after) {
  const rows = [...before, ...after];
  if (rows.length === 0 || !rows.every(isObject)) return undefined;
  const [first = {}] = /** @type {Record<string, unknown>[]} */ (rows);
  const fields = Object.keys(first);
  const usual = USUAL.filter((name) => fields.includes(name));
  const others = fields.filter((name) => !USUAL.includes(name) && /(id|key|name)$/i.test(name));
  return [...usual, ...others].find((name) => unique(before, name) && unique(after, name));
}

/** @param {unknown[]} rows @param {string} name */
function unique(rows, name) {
  const seen = new Set();
  for (const row of rows) {
    const value = /** @type {Record<string, unknown>} */ (row)[name];
    if (typeof value !== "string" && typeof value !== "number") return false;
    if (seen.has(String(value))) return false;
    seen.add(String(value));
  }
  return true;
}
