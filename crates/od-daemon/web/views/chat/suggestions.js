// @ts-check
// What a person could ask for first: only what the connected sources and the project's files can give.

import { api } from "../../core/api.js";
import { isSkillFile } from "../../core/format.js";
import { use } from "../../core/store.js";

/** @typedef {Pick<import("../../core/schema.js").Connector, "id" | "status" | "allowedToolNames" | "services">} Connected */

const MOST = 5;
/** A folder that has one of these is a repository, or part of one; its `.git` is not listed. */
const REPOSITORY = /^\.(gitignore|gitattributes|gitmodules|github\/|gitlab-ci\.yml$)/;

/** The suggestions for a project; the general one alone until it is known what is there. @param {string} project */
export function suggestions(project) {
  const connectors = use("connectors", api.connectors).value ?? [];
  const files = use(`files/${project}`, () => api.files(project)).value ?? [];
  return suggest(connectors, files.map(({ path }) => path));
}

/** @param {Connected[]} connectors @param {string[]} paths @returns {string[]} */
export function suggest(connectors, paths) {
  const usable = connectors.filter(({ status, allowedToolNames }) => status === "connected" && allowedToolNames.length > 0);
  const can = (/** @type {string} */ id) => usable.some((connector) => connector.id === id);
  // A file of the top folder says more of a project than one of its settings far below.
  const near = paths.filter((path) => !isSkillFile(path) && !/(^|\/)(\.|node_modules\/|package(-lock)?\.json$|tsconfig)/.test(path))
    .sort((one, other) => one.split("/").length - other.split("/").length);
  const file = (/** @type {string} */ connector, /** @type {RegExp} */ end, /** @type {(path: string) => string} */ say) => {
    const path = can(connector) ? near.find((path) => end.test(path)) : undefined;
    return path ? [say(path)] : [];
  };
  const services = usable.flatMap(({ services: registered = [] }) => registered.map(({ name }) => name));
  return [
    ...file("project_files", /\.json$/i, (path) => `Make a live dashboard of ${path}.`),
    ...file("project_files", /\.(csv|tsv)$/i, (path) => `Make a live page of ${path}: totals by group, and a chart over time.`),
    ...file("sqlite", /\.(db|sqlite3?)$/i, (path) => `Look at the tables of ${path}, and make a live page of the figures that matter.`),
    ...services.slice(0, 1).map((name) => `Look at what ${name} offers, and make a live page of it.`),
    ...(can("git") && paths.some((path) => REPOSITORY.test(path)) ? ["Make a live page of this repository: recent commits, the busiest files, open branches."] : []),
    ...(can("github") ? ["Make a live page of the releases and open issues of a project on GitHub: "] : []),
    "Look at what is connected here, and propose a live page.",
  ].slice(-MOST);
}
