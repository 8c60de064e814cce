// @ts-check
// Every view has an address in the fragment, so that it can be linked, reloaded and gone back to.

/**
 * @typedef {"preview" | "source" | "data" | "provenance" | "history"} Tab
 * @typedef {object} Route
 * @property {"designs" | "connectors" | "new" | "trash" | "project" | "file" | "live" | "unknown"} view
 * @property {string} project
 * @property {string} artifact
 * @property {Tab} tab
 * @property {string} rest
 * @property {URLSearchParams} query
 */

/** @type {Tab[]} */
export const TABS = ["preview", "source", "data", "provenance", "history"];

/** Reads an address; one that names no view is `unknown`. @param {string} fragment @returns {Route} */
export function parse(fragment) {
  const [path = "", search = ""] = fragment.replace(/^#/, "").split(/\?(.*)/s);
  const parts = path.split("/").filter(Boolean).map(decode);
  /** @type {Route} */
  const route = {
    view: "unknown",
    project: "",
    artifact: "",
    tab: "preview",
    rest: "",
    query: new URLSearchParams(search),
  };
  const [head, project, kind, id, tab, ...rest] = parts;
  if (head === undefined) return { ...route, view: "designs" };
  if (head === "designs" || head === "connectors" || head === "new" || head === "trash") {
    return parts.length === 1 ? { ...route, view: head } : route;
  }
  if (head !== "p" || !project) return route;
  if (!kind) return { ...route, view: "project", project };
  if (kind === "file" && id) {
    return { ...route, view: "file", project, rest: parts.slice(3).join("/") };
  }
  if (kind !== "live" || !id) return route;
  const known = TABS.find((name) => name === (tab ?? "preview"));
  if (!known) return route;
  return { ...route, view: "live", project, artifact: id, tab: known, rest: rest.join("/") };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const to = {
  designs: () => "#/designs",
  connectors: () => "#/connectors",
  trash: () => "#/trash",
  /** @param {string} [project] @param {string} [file] */
  create: (project, file) => `#/new${query({ project, file })}`,
  /** @param {string} project */
  project: (project) => `#/p/${encodeURIComponent(project)}`,
  /** @param {string} project @param {string} path */
  file: (project, path) =>
    `#/p/${encodeURIComponent(project)}/file/${path.split("/").map(encodeURIComponent).join("/")}`,
  /**
   * @param {{projectId: string, id: string}} artifact @param {Tab} [tab] @param {string} [rest]
   * @param {Record<string, string | undefined>} [search]
   */
  live: ({ projectId, id }, tab = "preview", rest = "", search = {}) =>
    `#/p/${encodeURIComponent(projectId)}/live/${encodeURIComponent(id)}/${tab}` +
    `${rest ? `/${encodeURIComponent(rest)}` : ""}${query(search)}`,
};

/** @param {Record<string, string | undefined>} entries */
function query(entries) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(entries)) if (value) search.set(name, value);
  const text = search.toString();
  return text ? `?${text}` : "";
}

/** @type {Route} */
let route = parse(location.hash);
let followed = location.hash;
/** @type {(route: Route, before: Route) => void} */
let moved = () => {};

/** @returns {Route} */
export function current() {
  return route;
}

/**
 * Goes there at once: the event of the address comes later, and the next key must find the new view.
 * @param {string} href
 */
export function go(href) {
  location.hash = href;
  follow();
}

/** @param {(route: Route, before: Route) => void} listener */
export function onRoute(listener) {
  moved = listener;
  addEventListener("hashchange", follow);
}

function follow() {
  if (location.hash === followed) return;
  const before = route;
  reread();
  moved(route, before);
}

/** Reads the address again after it was changed without an event. */
export function reread() {
  followed = location.hash;
  route = parse(followed);
}
