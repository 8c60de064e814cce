// @ts-check
// A project: its tree at the side, and what is selected beside it.

import { api } from "../core/api.js";
import { cls, h, memo } from "../core/dom.js";
import { attention, badge, badges, isSkillFile, pathEnd, plural, size } from "../core/format.js";
import { more } from "../core/lists.js";
import { current, to } from "../core/router.js";
import { expire, setUi, ui, use } from "../core/store.js";
import { rebindProject, removeProject, renameProject, running } from "../ui/actions.js";
import { agentCommand, button, empty, icon, iconButton, loading, problem, searchField } from "../ui/controls.js";
import { treeKeys } from "../ui/shortcuts.js";
import { windowed } from "../ui/windowed.js";
import { isReadable } from "./create.js";
import { createLink, leading, projects } from "./home.js";
import { artifactView } from "./artifact/viewer.js";
import { isChatOpen } from "../ui/chat.js";
import { chatPane } from "./chat/pane.js";

/** @typedef {import("../core/schema.js").ArtifactLine} Summary */

/** @type {Set<string>} */
const sought = new Set();

export function workspaceView() {
  const route = current();
  const known = projects();
  const project = known.value?.find((entry) => entry.id === route.project);
  if (known.value && !project) {
    // No event tells of a new project: an unknown one is looked for once.
    if (!sought.has(route.project)) {
      sought.add(route.project);
      expire("projects");
    }
    return h(
      "main.page",
      { key: "lost" },
      empty("folder", h("h1", "There is no such project"), `Nothing here is called “${route.project}”.`,
        h("a.button.primary", { href: to.designs() }, "All designs")),
    );
  }
  return h(
    "div",
    { class: cls("workspace", ui("drawer", false) && "drawer-open", isChatOpen() && "chat-open"), key: "workspace" },
    h("button", { type: "button", class: "scrim", tabindex: "-1", "aria-label": "Close the project tree", onclick: () => setUi("drawer", false) }),
    sidebar(route.project, project?.name ?? route.project),
    route.view === "live" ? artifactView() : route.view === "file" ? fileView() : overview(project),
    isChatOpen() ? chatPane() : null,
  );
}

/** @param {string} project @param {string} name */
function sidebar(project, name) {
  const files = use(`files/${project}`, () => api.files(project));
  const typed = ui(`tree ${project}`, "");
  const query = typed.toLowerCase();
  const asked = { project, query: typed };
  const live = leading(`tree ${project}`, asked, "pinned").value;
  const found = (files.value ?? []).filter(({ path }) => !isSkillFile(path) && path.toLowerCase().includes(query));
  return h(
    "aside.sidebar",
    { "aria-label": "Project", key: "sidebar" },
    h(
      "div.sidebar-head",
      h("a", { href: to.project(project), class: "grow clip strong" }, name),
      iconButton("refresh", "Look for files again", () => expire(`files/${project}`)),
    ),
    searchField(`tree ${project}`, "Filter"),
    h(
      "div.tree",
      { role: "tree", "aria-label": `Contents of ${name}`, onkeydown: treeKeys },
      group(project, "live", "Live artifacts", live?.total ?? 0, live?.lines ?? [], liveNode, () => more(asked)),
      group(project, "files", "Files", found.length, found, (file) => fileNode(project, file)),
    ),
    files.error && problem(files.error),
  );
}

/**
 * @template T
 * @param {string} project @param {string} id @param {string} label @param {number} count
 * @param {T[]} list @param {(entry: T) => import("../core/dom.js").VNode} node
 * @param {() => void} [grow] fetches what comes after the list
 */
function group(project, id, label, count, list, node, grow) {
  const name = `group ${project} ${id}`;
  const open = ui(name, true);
  const { from, to: end, props } = windowed(name, list.length);
  if (open && end >= list.length) grow?.();
  return [
    h(
      "div",
      {
        key: name,
        class: "tree-group",
        role: "treeitem",
        tabindex: id === "live" ? "0" : "-1",
        "aria-level": "1",
        "aria-expanded": String(open),
        "aria-label": `${label}, ${count}`,
        onclick: () => setUi(name, !open),
      },
      icon("chevron", open ? "turned" : ""),
      h("span.grow", label),
      h("span.count", String(count)),
    ),
    open ? h("div", { key: `${name} leaves`, role: "group", ...props }, list.slice(from, end).map(node)) : null,
    open && list.length === 0
      ? h("p.meta.tree-empty", { key: `${name} empty`, role: "none" }, id === "live" ? "None yet." : "No files.")
      : null,
  ];
}

/** @param {string} key @param {string} href @param {boolean} on @param {...import("../core/dom.js").Child} children */
function leaf(key, href, on, ...children) {
  return h(
    "a",
    {
      key,
      href,
      class: "tree-leaf",
      role: "treeitem",
      tabindex: on ? "0" : "-1",
      "aria-level": "2",
      "aria-selected": String(on),
      onclick: () => setUi("drawer", false),
    },
    ...children,
  );
}

/** @param {Summary} artifact */
function liveNode(artifact) {
  const on = current().artifact === artifact.id;
  const tab = current().view === "live" ? current().tab : "preview";
  return memo(artifact, "node", `${on} ${tab} ${running(artifact)}`, () =>
    leaf(
      `live:${artifact.id}`,
      to.live(artifact, tab),
      on,
      icon("live"),
      h("span.grow.clip", { title: artifact.title }, artifact.title),
      badges(artifact, running(artifact)).slice(0, 1).map(badge),
    ),
  );
}

/** @param {string} project @param {import("../core/api.js").ProjectFile} file */
function fileNode(project, file) {
  const route = current();
  const on = route.view === "file" && route.rest === file.path;
  return leaf(
    `file:${file.path}`,
    to.file(project, file.path),
    on,
    icon("file"),
    pathEnd(file.path),
  );
}

/** @param {import("../core/api.js").ProjectLine | undefined} project */
function overview(project) {
  const asked = { project: current().project };
  // What needs a person stands first; the rest as everywhere.
  const all = leading(`overview ${current().project}`, asked, "attention").value;
  const pinned = (/** @type {Summary} */ entry) => Number(entry.pinned ?? false);
  const own = [...(all?.lines ?? [])].sort((a, b) => attention(b) - attention(a) || pinned(b) - pinned(a));
  const { from, to: end, props } = windowed(`overview ${current().project}`, own.length);
  if (end >= own.length) more(asked);
  return h(
    "main.stage",
    { key: "overview" },
    h(
      "div.stage-head",
      h(
        "div.grow.title-block",
        h("h1.clip", project?.name ?? current().project),
        project && h("p.meta", project.root ? pathEnd(project.root) : "No folder: it has no files of its own."),
      ),
      project &&
        h(
          "div.toolbar",
          { role: "toolbar", "aria-label": "Project", key: "toolbar" },
          iconButton("edit", "Rename project", () => renameProject(project)),
          iconButton("folder", "Another folder", () => rebindProject(project)),
          iconButton("trash", "Remove project", () => removeProject(project, all?.total ?? 0), { disabled: !all }),
        ),
      createLink("New live artifact", current().project),
    ),
    h(
      "div.stage-body",
      !all && loading(),
      all && own.length === 0
        ? empty(
            "live",
            "Nothing live in this project yet",
            "Pick one of its JSON, CSV or SQLite files, or start an agent here and ask for a live dashboard.",
            createLink("Make one now", current().project),
            agentCommand(current().project),
          )
        : [
            h("p.quiet", { key: "count" }, plural(all?.total ?? 0, "live artifact")),
            h("ul.lines", { key: "lines", ...props }, own.slice(from, end).map(line)),
          ],
    ),
  );
}

/** @param {Summary} artifact */
function line(artifact) {
  return memo(artifact, "line", String(running(artifact)), () =>
    h(
      "li",
      { key: artifact.id },
      h(
        "a.line",
        { href: to.live(artifact) },
        icon("live"),
        h("span.grow.clip.strong", artifact.title),
        h("span.meta.clip.wide-only", artifact.sourceLabel ?? ""),
        badges(artifact, running(artifact)).map(badge),
      ),
    ),
  );
}

function fileView() {
  const { project, rest: path } = current();
  const files = use(`files/${project}`, () => api.files(project));
  const file = files.value?.find((entry) => entry.path === path);
  const offered = isReadable(path);
  return h(
    "main.stage",
    { key: `file ${path}` },
    h("div.stage-head", h("h1.grow.clip", path)),
    h(
      "div.stage-body",
      !files.value && !files.error && loading(),
      files.error && problem(files.error),
      files.value && !file
        ? empty("file", "This file is gone", "It may have been moved or deleted.",
            button("Look again", () => expire(`files/${project}`)))
        : file &&
          empty(
            "file",
            offered ? "Turn this file into a live artifact" : "An agent can make a page of this file",
            offered
              ? `${size(file.size)}. The page is made for its shape and refreshed from it whenever you want.`
              : "JSON, CSV and SQLite files become a page at once. For another one start an agent in the project and say what you want to see.",
            offered
              ? h("a.button.primary", { href: to.create(project, path) }, "Use this file")
              : agentCommand(project),
          ),
    ),
  );
}
