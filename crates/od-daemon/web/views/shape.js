// @ts-check
// Fits a bundled template to a JSON document: as it is where the document has its shape, otherwise with
// figures for the document's scalars, a table for each list of objects (with a chart where its rows are a
// series over time), a list for each list of scalars. Numbers and dates get the format their names suggest.
// The text goes to the daemon, which checks it like any other.

import { isObject } from "../core/format.js";
import { bindings, valueAt } from "./artifact/preview.js";

const KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const MOST_COLUMNS = 8;
const MOST_FIGURES = 12;

/**
 * @typedef {"dashboard" | "report"} Style
 * @typedef {{label: string, path: string, pipe: string}} Figure
 * @typedef {{label: string, path: string, columns: string[], numeric: Set<string>, pipes: Map<string, string>, time: string}} Table
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
    shape.figures.push({ label: label || "Value", path, pipe: pipeOf(path.split(".").at(-1) ?? "", [value]) });
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
  const pipes = new Map(columns.map((key) => [key, pipeOf(key, rows.map((row) => row[key]))]));
  const rises = (/** @type {string} */ key) =>
    rows.length > 2 && rows.every((row, at) => at === 0 || String(rows[at - 1]?.[key]) < String(row[key]));
  const time = columns.find((key) => /^(date|datetime):/.test(pipes.get(key) ?? "") && rises(key)) ?? "";
  return { label: label || "Rows", path, columns, numeric, pipes, time };
}

/**
 * Guesses the format of values from their key and all of them; empty: as they are.
 * @param {string} key @param {unknown[]} values
 */
function pipeOf(key, values) {
  const present = values.filter((value) => value !== null && value !== undefined);
  if (present.length === 0) return "";
  const words = title(key).toLowerCase().split(" ");
  const has = (/** @type {string[]} */ ...names) => names.some((name) => words.includes(name));
  if (present.every((value) => typeof value === "string" && /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?$/.test(value))) {
    return present.every((value) => String(value).length === 10) ? "date:medium" : "datetime:medium";
  }
  if (!present.every((value) => typeof value === "number") || has("id", "year", "port", "code")) return "";
  if (has("ms", "millis")) return "duration:ms";
  if (has("seconds")) return "duration:s";
  if (has("bytes")) return "bytes";
  const isShare = has("rate", "ratio", "share", "coverage", "uptime", "usage");
  return isShare && present.every((value) => Number(value) >= 0 && Number(value) <= 1) ? "percent:1" : "number";
}

/** @param {string} path @param {string} pipe */
function binding(path, pipe) {
  return pipe ? `{{${path} | ${pipe} | or:'–'}}` : `{{${path}}}`;
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
 * @param {string} [bars] the column whose values name the bars of a chart, where the rows are groups
 * @returns {{html: string, fits: boolean}}
 */
export function templateFor(bundled, style, name, data, bars = "") {
  if (!bars && isObject(data) && fits(bundled, data)) return { html: bundled, fits: true };
  const { figures, tables, lists } = shapeOf(data, "data.content");
  const wrap = (/** @type {string} */ label, /** @type {string} */ inner) =>
    style === "dashboard"
      ? `<section class="panel">\n<h2>${escape(label)}</h2>\n${inner}\n</section>`
      : `<h2>${escape(label)}</h2>\n${inner}`;
  const parts = [
    figures.length > 0 ? figureList(style, figures) : "",
    ...tables.filter(({ columns }) => columns.length > 0).map((table) => wrap(table.label, tableHtml(table, bars))),
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
  const items = figures.map(({ label, path, pipe }) =>
    style === "dashboard"
      ? `<li class="panel"><span class="label">${escape(label)}</span><span class="value">${binding(path, pipe)}</span></li>`
      : `<div><dt>${escape(label)}</dt><dd>${binding(path, pipe)}</dd></div>`,
  );
  const text = items.join("\n");
  return style === "dashboard"
    ? `<section>\n<ul class="metrics">\n${text}\n</ul>\n</section>`
    : `<dl class="figures">\n${text}\n</dl>`;
}

/** @param {Table} table @param {string} bars */
function tableHtml({ path, columns, numeric, pipes, time }, bars) {
  const cell = (/** @type {string} */ key) => (numeric.has(key) ? ' class="number"' : "");
  const head = columns.map((key) => `<th scope="col"${cell(key)}>${escape(title(key))}</th>`).join("");
  const row = columns.map((key) => `<td${cell(key)}>${binding(`row.${key}`, pipes.get(key) ?? "")}</td>`).join("");
  const first = columns.find((key) => numeric.has(key) && pipes.get(key));
  const drawn = columns.filter((key) => numeric.has(key) && pipes.get(key) === pipes.get(first ?? "")).slice(0, 3);
  const named = time || (columns.includes(bars) ? bars : "");
  const chart =
    named && first
      ? `<div data-od-chart="${time ? "line" : "bar"}" data-od-repeat="row in ${path}" data-od-x="row.${named}" data-od-y="${drawn.map((key) => `row.${key}`).join(" ")}" data-od-labels="${drawn.map((key) => escape(title(key))).join(", ")}" data-od-format="${pipes.get(first)}"></div>\n`
      : "";
  return `${chart}<div class="scroll" tabindex="0">
<table>
<thead><tr>${head}</tr></thead>
<tbody>
<tr data-od-repeat="row in ${path}">${row}</tr>
<tr data-od-else><td colspan="${columns.length}">–</td></tr>
</tbody>
</table>
</div>`;
}
