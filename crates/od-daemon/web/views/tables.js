// @ts-check
// A page from rows: a person picks columns, a group, a figure, an order and a number; this writes the query.

import { ApiError, api } from "../core/api.js";
import { h } from "../core/dom.js";
import { isObject, plural } from "../core/format.js";
import { go, to } from "../core/router.js";
import { expire, setUi, ui } from "../core/store.js";
import { toast } from "../ui/overlays.js";
import { templateFor } from "./shape.js";

/**
 * @typedef {import("../core/schema.js").DatabaseTable} DatabaseTable
 * @typedef {"count" | "sum" | "avg" | "min" | "max"} Figure
 * @typedef {{group: string, figure: Figure, of: string, sort: string, down: boolean, limit: number}} Choice
 * @typedef {{sql: string, key: string, columns: {name: string, type: string, from: string}[], bars: string, rising: string}} Written
 */

/** Rows that a page may hold. */
const MOST_ROWS = 500;
/** A page of a person's own has this many columns at most; the first ones. */
const MOST_COLUMNS = 12;
/** More bars than these are no chart. */
const MOST_BARS = 40;

/** The option that is no column: an empty value would be no value. No column has this name. */
const OTHER = "\u0001";

/** @type {Record<Figure, string>} */
const FIGURES = { count: "Number of rows", sum: "Sum", avg: "Average", min: "Smallest", max: "Largest" };

/** @param {string} path */
export function isTableFile(path) {
  return /\.(csv|tsv|tab|jsonl|ndjson)$/i.test(path);
}

/** @param {string} path */
export function isDatabaseFile(path) {
  return /\.(db|db3|sqlite|sqlite3)$/i.test(path);
}

/** @param {string} name */
const quoted = (name) => `"${name.replaceAll('"', '""')}"`;

/** A name that a template can bind. @param {string} name */
function key(name) {
  const plain = name.replace(/[^A-Za-z0-9_]+/g, "_").replace(/^_+|_+$/g, "");
  return /^[A-Za-z_]/.test(plain) ? plain : `c_${plain}`;
}

/** The id of the source, which is also the name of its table. @param {string} file */
export function sourceId(file) {
  const stem = (file.split("/").pop() ?? file).replace(/\.[^.]*$/, "");
  return key(stem).toLowerCase().replace(/^_+/, "").slice(0, 32).replace(/^([^a-z])/, "t$1") || "rows";
}

/** @param {string} type */
const isNumeric = (type) => /int|real|floa|doub|num|dec/i.test(type);

/** @param {DatabaseTable} table @returns {Choice} */
function firstChoice(table) {
  return { group: "", figure: "count", of: "", sort: table.columns[0]?.name ?? "", down: false, limit: 100 };
}

/** What a person chose for a table so far. @param {string} at @param {DatabaseTable} table @returns {Choice} */
export function choiceOf(at, table) {
  return ui(`query ${at}`, firstChoice(table));
}

/** Columns that a figure can be made of. @param {DatabaseTable} table @param {Figure} figure */
function measurable(table, figure) {
  const all = figure === "min" || figure === "max";
  return table.columns.filter(({ type }) => all || isNumeric(type));
}

/**
 * Writes the query of a choice: one SELECT over `from`.
 * @param {DatabaseTable} table @param {string} from @param {Choice} choice @returns {Written}
 */
export function writeQuery(table, from, choice) {
  /** @type {Map<string, string>} */
  const keys = new Map();
  for (const { name } of table.columns) {
    let free = key(name);
    for (let n = 2; [...keys.values()].some((held) => held.toLowerCase() === free.toLowerCase()); n += 1) free = `${key(name)}_${n}`;
    keys.set(name, free);
  }
  const named = (/** @type {string} */ name) => {
    const free = keys.get(name) ?? key(name);
    return free === name ? quoted(name) : `${quoted(name)} AS ${quoted(free)}`;
  };
  const type = (/** @type {string} */ name) => table.columns.find((column) => column.name === name)?.type ?? "";
  const limit = Math.min(MOST_ROWS, Math.max(1, Math.trunc(choice.limit) || 1));
  const way = choice.down ? " DESC" : "";
  if (!choice.group) {
    const shown = table.columns.slice(0, MOST_COLUMNS);
    const order = choice.sort ? `\nORDER BY ${quoted(choice.sort)}${way}` : "";
    const sql = `SELECT ${shown.map(({ name }) => named(name)).join(", ")}\nFROM ${quoted(from)}${order}\nLIMIT ${limit}`;
    const columns = shown.map(({ name, type }) => ({ name: keys.get(name) ?? "", type, from: name }));
    const rising = choice.down ? "" : columns.find(({ from: held }) => held === choice.sort)?.name ?? "";
    return { sql, key: "rows", columns, bars: "", rising };
  }
  const group = keys.get(choice.group) ?? "";
  const counted = choice.figure === "count";
  const of = counted ? "" : choice.of;
  let figure = counted ? "rows" : `${choice.figure}_${keys.get(of) ?? ""}`;
  if (figure.toLowerCase() === group.toLowerCase()) figure = `${figure}_2`;
  const made = counted ? "count(*)" : `${choice.figure}(${quoted(of)})`;
  const by = choice.sort === choice.group ? quoted(choice.group) : quoted(figure);
  // Equal figures stand in the order of their groups: the same rows give the same page.
  const tie = choice.sort === choice.group ? "" : `, ${quoted(choice.group)}`;
  const sql = `SELECT ${named(choice.group)}, ${made} AS ${quoted(figure)}\nFROM ${quoted(from)}\nGROUP BY ${quoted(choice.group)}\nORDER BY ${by}${way}${tie}\nLIMIT ${limit}`;
  const figureType = counted ? "integer" : choice.figure === "avg" ? "number" : type(of);
  const columns = [
    { name: group, type: type(choice.group), from: choice.group },
    { name: figure, type: figureType, from: of },
  ];
  const bars = limit <= MOST_BARS && isNumeric(figureType) ? group : "";
  const rising = choice.sort === choice.group && !choice.down ? group : "";
  return { sql, key: `${figure}_by_${group}`, columns, bars, rising };
}

/**
 * Rows of the shape that a query will give, by which a page is made before it has run.
 * @param {Written} written @param {unknown} content
 */
export function exampleRows(written, content) {
  const sample = isObject(content) && Array.isArray(content["rows"]) ? content["rows"].filter(isObject) : [];
  const rows = (sample.length > 0 ? sample : [{}]).map((row) =>
    Object.fromEntries(
      written.columns.map(({ name, type, from }) => {
        const held = from in row ? row[from] : null;
        return [name, isNumeric(type) ? (typeof held === "number" ? held : 1) : typeof held === "string" ? held : "x"];
      }),
    ),
  );
  const at = written.rising;
  if (!at) return rows.slice(0, 3);
  // In the order of the query: whether a column rises decides whether its rows are drawn as a line.
  const sorted = rows.sort((one, other) => (String(one[at]) < String(other[at]) ? -1 : 1));
  return sorted.filter((row, i) => i === 0 || row[at] !== sorted[i - 1]?.[at]);
}

/**
 * The columns of a table, and what a person may choose to see of it.
 * @param {string} at @param {DatabaseTable} table @param {string} from @param {unknown} content
 */
export function tableForm(at, table, from, content) {
  const choice = choiceOf(at, table);
  const set = (/** @type {Partial<Choice>} */ change) => setUi(`query ${at}`, { ...choiceOf(at, table), ...change });
  const count = isObject(content) && typeof content["count"] === "number" ? content["count"] : undefined;
  const about = [count !== undefined && plural(count, "row"), plural(table.columns.length, "column")].filter(Boolean).join(", ");
  const names = table.columns.map(({ name }) => /** @type {[string, string]} */ ([name, name]));
  const sorts = choice.group
    ? [[choice.group, choice.group], [OTHER, choice.figure === "count" ? FIGURES.count : `${FIGURES[choice.figure]} of ${choice.of}`]]
    : names;
  return h(
    "section.table-form",
    { key: `form ${at}`, "aria-label": "What the page shows" },
    h(
      "details.tools",
      { open: table.columns.length <= 12 },
      h("summary", about),
      h("ul.schema", table.columns.map((column) => h("li", { key: column.name }, h("code", column.name), ` ${column.type || "any"}`))),
    ),
    h(
      "div.choices",
      pick("Group by", choice.group || OTHER, [[OTHER, "Nothing: show the rows"], ...names], (group) => set(group === OTHER ? firstChoice(table) : { group, sort: OTHER, down: true, limit: 20 })),
      choice.group && pick("Show", choice.figure, Object.entries(FIGURES).filter(([figure]) => figure === "count" || measurable(table, /** @type {Figure} */ (figure)).length > 0), (value) => {
        const figure = /** @type {Figure} */ (value);
        const possible = measurable(table, figure);
        const of = possible.some(({ name }) => name === choice.of) ? choice.of : possible[0]?.name ?? "";
        set({ figure, of: figure === "count" ? "" : of });
      }),
      choice.group && choice.figure !== "count" && pick("Of", choice.of, measurable(table, choice.figure).map(({ name }) => [name, name]), (of) => set({ of })),
      pick("Sort by", choice.sort, /** @type {[string, string][]} */ (sorts), (sort) => set({ sort })),
      pick("Order", choice.down ? "down" : "up", [["up", "Smallest first"], ["down", "Largest first"]], (way) => set({ down: way === "down" })),
      h(
        "label.field",
        { key: "limit" },
        "Rows at most",
        h("input", {
          type: "number", min: "1", max: String(MOST_ROWS), required: true, value: String(choice.limit), name: "limit",
          oninput: (/** @type {Event} */ event) => set({ limit: Number(/** @type {HTMLInputElement} */ (event.target).value) }),
        }),
      ),
    ),
    h("details.tools", { open: true, key: "sql" }, h("summary", "The query this writes"), h("pre.sql", writeQuery(table, from, choice).sql)),
  );
}

/** @param {string} label @param {string} value @param {[string, string][]} options @param {(value: string) => void} chosen */
function pick(label, value, options, chosen) {
  return h(
    "label.field",
    { key: label },
    label,
    h(
      "select",
      { value, name: label, onchange: (/** @type {Event} */ event) => chosen(/** @type {HTMLSelectElement} */ (event.target).value) },
      options.map(([id, text]) => h("option", { value: id, key: id, selected: id === value }, text)),
    ),
  );
}

/**
 * Creates an artifact of a query over rows, and refreshes it once, so that the page opens with them.
 * @param {string} project @param {string} file @param {string} name @param {import("./shape.js").Style} style
 * @param {Written} written @param {unknown} content
 */
export async function makeOfRows(project, file, name, style, written, content) {
  if (ui("creating", false)) return;
  setUi("creating", true);
  setUi("create error", undefined);
  try {
    const bundled = await api.template(style);
    const { html } = templateFor(bundled, style, name, { [written.key]: exampleRows(written, content) }, written.bars);
    const target = `content.${written.key}`;
    // A database answers the query itself, however large its tables are; the rows of a file are a table here.
    const read = isDatabaseFile(file)
      ? {
          sources: [{
            id: sourceId(file), type: "daemon_tool", toolName: "sqlite.query", input: { path: file, sql: written.sql },
            outputMapping: { dataPaths: [{ from: "rows", to: target }] },
          }],
        }
      : {
          sources: [{ id: sourceId(file), type: "local_file", input: { path: file } }],
          queries: [{ to: target, sql: written.sql, shape: "rows" }],
        };
    const { id } = await api.create(project, {
      input: {
        title: name,
        document: {
          format: "html_template_v2",
          dataJson: { content: { [written.key]: [] } },
          ...read,
          refreshPermission: "manual_refresh_granted_for_read_only",
        },
      },
      templateHtml: html,
      provenanceJson: { sources: [{ label: file, type: "local_file" }] },
    });
    await api.refresh(id);
    expire("artifacts");
    go(to.live({ projectId: project, id }));
    toast("good", "Live artifact created", { detail: name });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expire("artifacts");
    setUi("create error", error);
  } finally {
    setUi("creating", false);
  }
}
