// @ts-check
// What has to hold of an artifact's data: what each check came to, and an editor that tries them on today's data.

import { ApiError, api } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { absolute, badge } from "../../core/format.js";
import { setUi, ui, use } from "../../core/store.js";
import { settled } from "../../ui/actions.js";
import { button, loading, problem } from "../../ui/controls.js";
import { toast } from "../../ui/overlays.js";

/**
 * @typedef {import("../../core/api.js").Detail} Detail
 * @typedef {import("../../core/schema.js").CheckResult} Result
 * @typedef {{id: string, path: string, op: string, value: string, severity: string, message: string}} Row
 */

/** @type {Record<Result["state"], import("../../core/format.js").Badge>} */
const STATES = {
  passing: { label: "Holds", tone: "good" },
  unknown: { label: "Unknown", tone: "warn" },
  failing: { label: "Does not hold", tone: "bad" },
};

const OPS = { lt: "<", lte: "≤", eq: "=", ne: "≠", gte: "≥", gt: ">" };
const MOST = 20;

/** @param {Detail} artifact */
export function checksSection(artifact) {
  const results = artifact.checkResults ?? [];
  const name = `checks ${artifact.id}`;
  const open = ui(`${name} open`, false);
  return h(
    "section",
    { key: "checks", "aria-labelledby": "checks-title" },
    h(
      "div.section-head",
      h("h2", { id: "checks-title" }, "Checks"),
      h("div.grow"),
      button(results.length > 0 ? "Change checks" : "Add a check", () => setUi(`${name} open`, !open), { icon: "edit" }),
    ),
    results.length > 0 ? outcomes(results, artifact.document?.checks ?? []) : h("p.quiet", "Nothing says what has to hold of its data."),
    open && editor(artifact, name),
  );
}

/**
 * Each check by its rule; its message is for the moment when the rule does not hold.
 * @param {Result[]} results @param {import("../../core/schema.js").Check[]} checks
 */
function outcomes(results, checks) {
  return h(
    "ul.rows.spaced.check-results",
    results.map((result) =>
      h(
        "li",
        { key: result.id },
        h("div.row", badge(STATES[result.state]), h("span.strong.grow", rule(checks, result)), h("span.badge.quiet", result.severity)),
        result.state !== "passing" && h("p", result.message),
        h("p.meta", h("code", result.id), ` ${result.found ?? "nothing stands at its path"}, since ${absolute(result.since)}`),
      ),
    ),
  );
}

/** @param {import("../../core/schema.js").Check[]} checks @param {Result} result */
function rule(checks, result) {
  const check = checks.find(({ id }) => id === result.id);
  return check ? `${check.path} ${OPS[check.op]} ${String(check.value)}` : result.message;
}

/** @param {Detail} artifact @returns {Row[]} */
function start(artifact) {
  const rows = (artifact.document?.checks ?? []).map((check) => ({
    id: check.id,
    path: check.path,
    op: check.op,
    value: String(check.value),
    severity: check.severity ?? "warning",
    message: check.message ?? "",
  }));
  return rows.length > 0 ? rows : [fresh([])];
}

/** @param {Row[]} rows @returns {Row} */
function fresh(rows) {
  let number = rows.length + 1;
  while (rows.some((row) => row.id === `check-${number}`)) number += 1;
  return { id: `check-${number}`, path: "", op: "lte", value: "0", severity: "warning", message: "" };
}

/** A value as it is meant: a number or a boolean if it reads as one, else a text such as an age. @param {string} text */
function meant(text) {
  if (text === "true" || text === "false") return text === "true";
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : text;
}

/** @param {Row[]} rows */
function checksOf(rows) {
  return rows.map(({ id, path, op, value, severity, message }) => ({ id, path, op, value: meant(value), severity, message: message || undefined }));
}

/** @param {Detail} artifact @param {string} name */
function editor(artifact, name) {
  /** @type {Row[]} */
  const rows = ui(`${name} draft`, start(artifact));
  const set = (/** @type {Row[]} */ next) => setUi(`${name} draft`, next);
  const checks = checksOf(rows);
  const ready = rows.every(({ path }) => path !== "");
  return h(
    "div.panel",
    { key: "editor" },
    rows.map((row, index) => fields(row, index, (next) => set(rows.map((old, i) => (i === index ? next : old))), () => set(rows.filter((_, i) => i !== index)))),
    rows.length < MOST && h("div.row", { key: "add" }, button("Another check", () => set([...rows, fresh(rows)]), { icon: "plus" })),
    ready ? preview(artifact, checks) : h("p.meta", { key: "waiting", role: "status" }, "Name the place in the data, such as errors.open or rows."),
    h("div.row", { key: "done" },
      button("Save checks", () => void save(artifact, name, checks), { kind: "primary", disabled: !ready }),
      button("Close", () => setUi(`${name} open`, false))),
  );
}

/** @param {Row} row @param {number} index @param {(row: Row) => void} set @param {() => void} remove */
function fields(row, index, set, remove) {
  const input = (/** @type {string} */ label, /** @type {"path" | "value" | "message"} */ key, /** @type {string} */ hint) =>
    h("label.field", { key }, label,
      h("input", { value: row[key], placeholder: hint, autocomplete: "off", spellcheck: "false", name: `${key}-${index}`,
        oninput: (/** @type {Event} */ event) => set({ ...row, [key]: /** @type {HTMLInputElement} */ (event.target).value }) }));
  const choice = (/** @type {string} */ label, /** @type {"op" | "severity"} */ key, /** @type {Record<string, string>} */ words) =>
    h("label.field", { key }, label,
      h("select", { name: `${key}-${index}`, onchange: (/** @type {Event} */ event) => set({ ...row, [key]: /** @type {HTMLSelectElement} */ (event.target).value }) },
        Object.entries(words).map(([word, shown]) => h("option", { key: word, value: word, selected: row[key] === word }, shown))));
  return h(
    "fieldset.check-fields",
    { key: `row ${index}` },
    h("legend.meta", { key: "legend" }, `Check ${index + 1}`),
    input("Place in the data", "path", "errors.open"),
    choice("has to be", "op", OPS),
    input("Value", "value", "5, true, green or 2h"),
    choice("If not", "severity", { info: "info", warning: "warning", critical: "critical" }),
    input("Say", "message", "Too many open errors"),
    h("div.row", { key: "remove" }, button("Remove", remove, { icon: "trash" })),
  );
}

/** What the checks come to on today's data, worked out by the daemon, which will do so at every commit. @param {Detail} artifact @param {unknown[]} checks */
function preview(artifact, checks) {
  const body = { input: { document: { checks } } };
  const asked = use(`checks/${artifact.id}/${artifact.revision}/${JSON.stringify(checks)}`, () => api.update(artifact.id, body, true));
  if (asked.error instanceof ApiError) return problem(asked.error);
  if (!asked.value) return loading();
  const results = asked.value.artifact.checkResults ?? [];
  return h("div", { key: "preview", role: "status" }, h("p.meta", "On today's data:"), outcomes(results, asked.value.artifact.document?.checks ?? []));
}

/** @param {Detail} artifact @param {string} name @param {unknown[]} checks */
async function save(artifact, name, checks) {
  const done = await settled(artifact, api.update(artifact.id, { input: { document: { checks } }, ifRevision: artifact.revision }));
  if (!done) return;
  setUi(`${name} open`, false);
  toast("good", "The checks are saved", { detail: artifact.title });
}
