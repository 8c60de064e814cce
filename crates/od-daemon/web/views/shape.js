// @ts-check
// Fits a bundled template to a JSON document: as it is where the document has its shape, otherwise with
// figures for the document's scalars, a table for each list of objects, a list for each list of scalars.
// The text goes to the daemon, which checks it like any other.

import { isObject } from "../core/format.js";
import { bindings, valueAt } from "./preview.js";

const KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const MOST_COLUMNS = 8;
const MOST_FIGURES = 12;

/**
 * @typedef {"dashboard" | "report"} Style
 * @typedef {{label: string, path: string}} Figure
 * @typedef {{label: string, path: string, columns: string[], numeric: Set<string>}} Table
 * @typedef {{figures: Figure[], tables: Table[], lists: {label: string, path: string}[]}} Shape
 */

/**
 * Finds what of a document a page can show.
 * @param {unknown} value @param {string} path @param {string} label @param {Shape} [shape]
 * @returns {Shape}
 */
function shapeOf(value, path, label = "", shape = { figures: [], tables: [], lists: [] }) {
  if (Array.isArray(value)) {
    const rows = value.filter(isObject);
    if (rows.length > 0 && rows.length === value.length) shape.tables.push(tableOf(rows, path, label));
    else if (value.length > 0 && value.every((entry) => !isObject(entry) && !Array.isArray(entry))) {
      shape.lists.push({ label: label || "Values", path });
    }
  } else if (isObject(value)) {
    for (const [key, entry] of Object.entries(value)) {
      if (!KEY.test(key) || path.split(".").length > 5) continue;
      shapeOf(entry, `${path}.${key}`, label ? `${label} · ${title(key)}` : title(key), shape);
    }
  } else if (shape.figures.length < MOST_FIGURES) {
    shape.figures.push({ label: label || "Value", path });
  }
  return shape;
}

/** @param {Record<string, unknown>[]} rows @param {string} path @param {string} label @returns {Table} */
function tableOf(rows, path, label) {
  /** @type {Set<string>} */
  const keys = new Set();
  for (const row of rows.slice(0, 50)) {
    for (const [key, value] of Object.entries(row)) {
      if (KEY.test(key) && !isObject(value) && !Array.isArray(value)) keys.add(key);
    }
  }
  // A key that holds an object in any row cannot be printed.
  const columns = [...keys]
    .filter((key) => rows.every((row) => !isObject(row[key]) && !Array.isArray(row[key])))
    .slice(0, MOST_COLUMNS);
  const numeric = new Set(columns.filter((key) => rows.every((row) => typeof (row[key] ?? 0) === "number")));
  return { label: label || "Rows", path, columns, numeric };
}

/** @param {string} key */
export function title(key) {
  const words = key.replace(/[_-]+/g, " ").replace(/([a-z0-9])([A-Z])/g, "$1 $2").trim().toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {string} text */
function escape(text) {
  return text.replace(/[&<>"'{}]/g, (found) => `&#${found.charCodeAt(0)};`);
}

/**
 * Returns a template for a document: the bundled one if the document has everything it binds, otherwise
 * a page in its look that is made for the document.
 * @param {string} bundled @param {Style} style @param {string} name @param {unknown} data
 * @returns {{html: string, fits: boolean}}
 */
export function templateFor(bundled, style, name, data) {
  if (isObject(data) && fits(bundled, data)) return { html: bundled, fits: true };
  const { figures, tables, lists } = shapeOf(data, "data.content");
  const wrap = (/** @type {string} */ label, /** @type {string} */ inner) =>
    style === "dashboard"
      ? `<section class="panel">\n<h2>${escape(label)}</h2>\n${inner}\n</section>`
      : `<h2>${escape(label)}</h2>\n${inner}`;
  const parts = [
    figures.length > 0 ? figureList(style, figures) : "",
    ...tables.filter(({ columns }) => columns.length > 0).map((table) => wrap(table.label, tableHtml(table))),
    ...lists.map(({ label, path }) => wrap(label, `<ul><li data-od-repeat="entry in ${path}">{{entry}}</li></ul>`)),
  ];
  const head = bundled.slice(0, bundled.indexOf("<body>")).replace(/<title>.*?<\/title>/s, () => `<title>${escape(name)}</title>`);
  const html = `${head}<body>\n<main>\n<header><h1>${escape(name)}</h1></header>\n${parts.filter(Boolean).join("\n")}\n</main>\n</body>\n</html>\n`;
  return { html, fits: false };
}

/** @param {string} template @param {Record<string, unknown>} data */
function fits(template, data) {
  return bindings(template).every(({ path, each }) =>
    each ? Array.isArray(valueAt(data, each)) : valueAt(data, path) !== undefined,
  );
}

/** @param {Style} style @param {Figure[]} figures */
function figureList(style, figures) {
  const items = figures.map(({ label, path }) =>
    style === "dashboard"
      ? `<li class="panel"><span class="label">${escape(label)}</span><span class="value">{{${path}}}</span></li>`
      : `<div><dt>${escape(label)}</dt><dd>{{${path}}}</dd></div>`,
  );
  const text = items.join("\n");
  return style === "dashboard"
    ? `<section>\n<ul class="metrics">\n${text}\n</ul>\n</section>`
    : `<dl class="figures">\n${text}\n</dl>`;
}

/** @param {Table} table */
function tableHtml({ path, columns, numeric }) {
  const cell = (/** @type {string} */ key) => (numeric.has(key) ? ' class="number"' : "");
  const head = columns.map((key) => `<th scope="col"${cell(key)}>${escape(title(key))}</th>`).join("");
  const row = columns.map((key) => `<td${cell(key)}>{{row.${key}}}</td>`).join("");
  return `<div class="scroll" tabindex="0">
<table>
<thead><tr>${head}</tr></thead>
<tbody>
<tr data-od-repeat="row in ${path}">${row}</tr>
</tbody>
</table>
</div>`;
}
