// @ts-check
// New live artifact: from a file of a project at once, or by an agent.

import { ApiError, api } from "../core/api.js";
import { h } from "../core/dom.js";
import { isSkillFile, pathEnd, size } from "../core/format.js";
import { current, go, to } from "../core/router.js";
import { expire, setUi, ui, use } from "../core/store.js";
import { button, empty, icon, loading, problem, retry, searchField } from "../ui/controls.js";
import { toast } from "../ui/overlays.js";
import { newProject, projects } from "./home.js";
import { templateFor, title as words } from "./shape.js";
import { agentPanel } from "./chat/first_prompt.js";
import { choiceOf, isDatabaseFile, isTableFile, makeOfRows, sourceId, tableForm, writeQuery } from "./tables.js";

const MOST_FILES = 60;

/** @type {{id: import("./shape.js").Style, name: string, text: string}[]} */
const STYLES = [
  { id: "dashboard", name: "Dashboard", text: "Figures as cards, lists as tables." },
  { id: "report", name: "Report", text: "One column to read, facts first." },
];

export function createView() {
  const known = projects();
  const route = current();
  const chosen = route.query.get("project") || known.value?.[0]?.id || "";
  return h(
    "main.page",
    { key: "new" },
    h("div.page-head", h("h1", "New live artifact")),
    known.error && problem(known.error),
    !known.value && !known.error && loading(),
    known.value &&
      h(
        "div.columns",
        h(
          "section.panel",
          { "aria-labelledby": "from-file" },
          h("h2", { id: "from-file" }, "From a file"),
          h("p.quiet", "Pick a JSON, CSV or SQLite file and a look. You get a page you can refresh whenever the file changes."),
          projectField(known.value, chosen),
          chosen && fileField(chosen, route.query.get("file") ?? ""),
        ),
        agentPanel(chosen),
      ),
  );
}

/** @param {import("../core/api.js").Project[]} list @param {string} chosen */
function projectField(list, chosen) {
  return h(
    "div.field",
    h("label", { for: "project" }, "Project"),
    h(
      "div.row",
      h(
        "select",
        {
          id: "project",
          class: "grow",
          value: chosen,
          disabled: list.length === 0,
          onchange: (/** @type {Event} */ event) =>
            go(to.create(/** @type {HTMLSelectElement} */ (event.target).value)),
        },
        list.length === 0 && h("option", { value: "" }, "No projects yet"),
        list.map((project) => h("option", { value: project.id, key: project.id }, project.name ?? project.id)),
      ),
      button("New project", () => newProject((project) => go(to.create(project.id))), { icon: "plus" }),
    ),
  );
}

/** @param {string} project @param {string} chosen */
function fileField(project, chosen) {
  const listed = use(`files/${project}`, () => api.files(project));
  if (listed.error) return retry(listed.error, `files/${project}`);
  if (!listed.value) return loading("Looking for files");
  const query = ui("search files", "").toLowerCase();
  const all = listed.value.filter(({ path }) => isReadable(path) && !isSkillFile(path));
  const found = all.filter((file) => file.path.toLowerCase().includes(query));
  if (all.length === 0) {
    return empty(
      "file",
      "No JSON, CSV or SQLite files in this project",
      "Put one into the project's directory and look again, or let an agent make the artifact from another source.",
      button("Look again", () => expire(`files/${project}`), { icon: "refresh" }),
    );
  }
  return [
    h(
      "fieldset.field",
      { key: "files" },
      h("legend", "File"),
      all.length > 8 && searchField("search files", "Search files"),
      h(
        "div.pick",
        found.slice(0, MOST_FILES).map((file) =>
          h(
            "label.option",
            { key: file.path },
            h("input", {
              type: "radio",
              name: "file",
              value: file.path,
              checked: file.path === chosen,
              onchange: () => go(to.create(project, file.path)),
            }),
            icon("file"),
            pathEnd(file.path),
            h("span.meta", size(file.size)),
          ),
        ),
        found.length > MOST_FILES && h("p.meta", `${found.length - MOST_FILES} more: search to narrow`),
        found.length === 0 && h("p.meta", "No file name matches."),
      ),
    ),
    chosen && (isTableFile(chosen) || isDatabaseFile(chosen) ? rowsField(project, chosen) : lookField(project, chosen)),
  ];
}

/** Whether a page can be made of a file without an agent. @param {string} path */
export function isReadable(path) {
  return /\.json$/i.test(path) || isTableFile(path) || isDatabaseFile(path);
}

/** Rows of a file or of a table of a database: what of them the page shows. @param {string} project @param {string} file */
function rowsField(project, file) {
  const at = `file/${project}/${file}`;
  const read = use(at, () => api.file(project, file));
  if (read.error) return problem(read.error, button("Look again", () => expire(at), { icon: "refresh" }));
  if (!read.value) return loading("Looking at the columns");
  const tables = read.value.tables ?? [];
  const names = tables.map(({ name }) => name);
  const held = ui(`table ${file}`, "");
  const table = tables.find(({ name }) => name === held) ?? tables[0];
  if (!table || table.columns.length === 0) {
    return empty("file", "No columns", "There is no table with columns in this file.", button("Look again", () => expire(at), { icon: "refresh" }));
  }
  const from = isDatabaseFile(file) ? table.name : sourceId(file);
  const key = `${file} ${table.name}`;
  return h(
    "div",
    { key: "rows" },
    names.length > 1 &&
      h(
        "label.field",
        { key: "table" },
        "Table",
        h(
          "select",
          { value: table.name, name: "table", onchange: (/** @type {Event} */ event) => setUi(`table ${file}`, /** @type {HTMLSelectElement} */ (event.target).value) },
          names.map((name) => h("option", { value: name, key: name, selected: name === table.name }, name)),
        ),
      ),
    tableForm(key, table, from, read.value.content),
    lookField(project, file, (name, style) => makeOfRows(project, file, name, style, writeQuery(table, from, choiceOf(key, table)), read.value?.content)),
  );
}

/**
 * @param {string} project @param {string} file
 * @param {(name: string, style: import("./shape.js").Style) => Promise<void>} [create]
 */
function lookField(project, file, create = (name, style) => make(project, file, name, style)) {
  const name = ui(`title ${file}`, words((file.split("/").pop() ?? file).replace(/\.[a-z0-9]+$/i, "")));
  const style = ui("style", "dashboard");
  const busy = ui("creating", false);
  /** @type {ApiError | undefined} */
  const error = ui("create error", undefined);
  return h(
    "form",
    {
      key: "look",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void create(name.trim(), style);
      },
    },
    h(
      "label.field",
      "Title",
      h("input", {
        value: name,
        required: true,
        maxlength: "200",
        oninput: (/** @type {Event} */ event) =>
          setUi(`title ${file}`, /** @type {HTMLInputElement} */ (event.target).value),
      }),
    ),
    h(
      "fieldset.field",
      h("legend", "Template"),
      h(
        "div.looks",
        STYLES.map(({ id, name: label, text }) =>
          h(
            "label.look",
            { key: id },
            h("input", { type: "radio", name: "style", value: id, checked: style === id, onchange: () => setUi("style", id) }),
            h("span", { class: `sketch ${id}`, "aria-hidden": "true" }, h("i"), h("i"), h("i"), h("i")),
            h("span", h("span.strong", label), h("span.hint", text)),
          ),
        ),
      ),
    ),
    error && problem(error),
    h(
      "div.row",
      h("button", { type: "submit", class: "button primary", disabled: busy, "aria-busy": String(busy) },
        busy ? "Creating…" : "Create live artifact"),
    ),
  );
}

/**
 * Reads the file as a refresh will read it later, and creates the artifact with a template for what is there.
 * If the file cannot be used nothing is left behind.
 * @param {string} project @param {string} file @param {string} name @param {import("./shape.js").Style} style
 */
async function make(project, file, name, style) {
  if (ui("creating", false)) return;
  setUi("creating", true);
  setUi("create error", undefined);
  try {
    const [content, bundled] = await Promise.all([api.content(project, file), api.template(style)]);
    const { html, fits } = templateFor(bundled, style, name, content);
    // A file that has the template's own shape becomes the data as a whole; any other stands under one key.
    const sourceJson = {
      type: "local_file",
      input: { path: file },
      outputMapping: fits ? undefined : { dataPaths: [{ from: "$", to: "content" }] },
      refreshPermission: "manual_refresh_granted_for_read_only",
    };
    const document = { format: "html_template_v2", dataJson: fits ? content : { content }, sourceJson };
    const { id } = await api.create(project, {
      input: { title: name, document },
      templateHtml: html,
      provenanceJson: { sources: [{ label: file, type: "local_file" }] },
    });
    expire("artifacts");
    go(to.live({ projectId: project, id }));
    toast("good", "Live artifact created", { detail: name });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    setUi("create error", error);
  } finally {
    setUi("creating", false);
  }
}
