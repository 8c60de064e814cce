// @ts-check
// Taking an artifact away as a file: which form, and what is in it.

import { api } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { announce } from "../../core/store.js";
import { copyable } from "../../ui/controls.js";
import { openDialog } from "../../ui/overlays.js";

/** @typedef {import("../../core/api.js").Detail} Detail */

/** What each form contains is said before it is made. */
const FORMS = [
  { id: "html", name: "Page", text: "One file that opens anywhere and asks for nothing, with date, sources and digest below it." },
  { id: "csv", name: "Table", text: "One table of the data, or the values of one chart, for a spreadsheet." },
  { id: "md", name: "Markdown", text: "All of the data as lists and tables." },
  { id: "json", name: "JSON", text: "All of the data, and where it came from. No template, no history." },
];

/**
 * Forms that need a program or a key of this machine, which no page of a browser has: the commands that make them.
 * @type {{flag: string, end: string, name: string, text: string}[]}
 */
const BY_COMMAND = [
  { flag: "--bundle", end: "odb", name: "Bundle", text: "Template, data, provenance, page, kept revisions and audit log, signed with your key; od verify checks it on any machine." },
  { flag: "--png", end: "png", name: "Picture", text: "The page as it looks now, drawn by a Chromium that is installed." },
  { flag: "--pdf", end: "pdf", name: "PDF", text: "The page as it is printed, with texts that can be selected." },
];

/** @param {Detail} artifact */
export function exportDialog(artifact) {
  const tables = listTables(artifact.document?.dataJson);
  openDialog({
    title: "Export",
    confirm: "Download",
    body: () =>
      h(
        "div",
        h("p.quiet", "A copy of this moment: it does not refresh, and holds no secret, permission or history."),
        h(
          "fieldset.field",
          h("legend", "Form"),
          FORMS.map((form, at) =>
            h(
              "label.choice",
              { key: form.id },
              h("input", { type: "radio", name: "format", value: form.id, checked: at === 0 }),
              h("span", h("span.strong", form.name), h("span.hint", ` ${form.text}`)),
            ),
          ),
        ),
        h(
          "label.field",
          "Table, for a spreadsheet",
          h("input", { name: "table", list: "export-tables", autocomplete: "off", placeholder: tables[0] ?? "chart:1" }),
          h("datalist", { id: "export-tables" }, [...tables, "chart:1"].map((table) => h("option", { key: table, value: table }))),
          h("span.hint", "A path in the data, or chart:1 for the first chart of the page."),
        ),
        h(
          "details",
          h("summary.meta", "Bundle, picture and PDF, by a command"),
          BY_COMMAND.map(({ flag, end, name, text }) =>
            h("div", { key: flag }, h("p", h("span.strong", name), h("span.hint", ` ${text}`)),
              copyable(`od artifacts export ${artifact.id} ${flag} ${artifact.slug}.${end}`))),
        ),
      ),
    run: async (form) => {
      const table = String(form.get("table") ?? "").trim();
      const file = await api.exported(artifact.id, String(form.get("format") ?? "html"), table || tables[0]);
      save(file);
      announce(`${file.name} is saved`);
    },
  });
}

/** @param {import("../../core/schema.js").ExportView} file */
function save(file) {
  const url = URL.createObjectURL(new Blob([file.text], { type: file.mediaType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = file.name;
  link.click();
  URL.revokeObjectURL(url);
}

/**
 * The paths of all lists outside other lists.
 * @param {unknown} value @param {string} [path] @returns {string[]}
 */
export function listTables(value, path = "") {
  if (Array.isArray(value)) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => listTables(inner, path ? `${path}.${key}` : key));
}
