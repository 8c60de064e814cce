// @ts-check
// Where the data comes from, and in words what a refresh does and what it can not do.

import { api } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { absolute, isPermitted, size, sourceName } from "../../core/format.js";
import { setUi, ui, use } from "../../core/store.js";
import { empty, icon, loading, problem } from "../../ui/controls.js";
import { dataTree } from "./data.js";
import { checksSection } from "./checks.js";
import { scheduleSection } from "./schedule.js";

/** @typedef {import("../../core/api.js").Detail} Detail */

/** The daemon stores no secret; a name that sounds like one is still not printed. */
const SECRET = /token|secret|credential|password|passwd|authorization|cookie|api_?key|private_?key/i;

/** @param {unknown} value @returns {unknown} */
function redact(value) {
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, SECRET.test(key) ? "•••" : redact(entry)]),
  );
}

/** @param {Detail} artifact */
export function sourceTab(artifact) {
  const source = artifact.document?.sourceJson;
  const several = artifact.document?.sources ?? [];
  if (several.length > 0) return severalSources(artifact, several);
  if (!source) {
    return [
      empty("plug", "This artifact has no source", "Its data was written once and cannot be refreshed. Ask an agent to give it a source, such as a JSON file of this project."),
      checksSection(artifact),
      templates(artifact),
    ];
  }
  return h(
    "div.prose",
    h(
      "div.does",
      h("section", h("h2", "What a refresh does"), h("ol", does(artifact, source).map(item))),
      h("section", h("h2", "What it can not do"), h("ul.crosses", CANNOT.map(item))),
    ),
    scheduleSection(artifact),
    checksSection(artifact),
    h("section", h("h2", "Source"), dataTree(redact(source), `source ${artifact.id}`)),
    templates(artifact),
  );
}

/** @typedef {import("../../core/schema.js").NamedSource} NamedSource */

/** @param {Detail} artifact @param {NamedSource[]} sources */
function severalSources(artifact, sources) {
  const queries = artifact.document?.queries ?? [];
  const listed = use(`refreshes/${artifact.id}`, () => api.refreshes(artifact.id));
  return h(
    "div.prose",
    h(
      "div.does",
      h("section", h("h2", "What a refresh does"), h("ol", [
        `Reads ${sources.length === 1 ? "one source" : `${sources.length} sources`}, at most four at once, and removes anything that looks like a credential.`,
        queries.length > 0 && `Works out ${queries.length === 1 ? "one value" : `${queries.length} values`} by SQL over their rows.`,
        "Checks the new data, draws the page with it, and saves everything in one step.",
        !isPermitted(artifact.document) && "At the moment nothing: refresh is switched off.",
      ].filter((line) => typeof line === "string").map(item))),
      h("section", h("h2", "What it can not do"), h("ul.crosses", CANNOT.map(item))),
    ),
    scheduleSection(artifact),
    checksSection(artifact),
    h("section", { key: "sources" }, h("h2", "Sources"), h("ul.rows.spaced", sources.map((source) => oneSource(artifact, source, listed.value)))),
    queries.length > 0 && h("section", { key: "queries" }, h("h2", "Queries"), h("ul.rows.spaced", queries.map((query) => oneQuery(artifact, query)))),
    templates(artifact),
  );
}

/** The newest step of a source. @param {import("../../core/schema.js").RefreshRecord[] | undefined} records @param {string} id */
const lastStep = (records, id) => (records ?? []).find((record) => record.step === "document" && record.source === id);

/** @param {Detail} artifact @param {NamedSource} source @param {import("../../core/schema.js").RefreshRecord[] | undefined} records */
function oneSource(artifact, source, records) {
  const stale = (artifact.stale ?? []).find((mark) => mark.source === source.id);
  const step = lastStep(records, source.id);
  const paths = source.outputMapping?.dataPaths ?? [];
  return h(
    "li",
    { key: source.id },
    h("div.row", h("code.strong", source.id), h("span.grow.clip", sourceName(source)), stale
      ? h("span.badge.warn", `Stale since ${absolute(stale.since)}`)
      : source.onFailure === "keep" && h("span.badge.quiet", "May fail")),
    h("p.meta", [
      step && `${step.status === "succeeded" ? "Read" : "Failed"} ${absolute(step.at)}`,
      step?.rows !== undefined && step.rows !== null && `${step.rows.toLocaleString("en")} ${step.rows === 1 ? "row" : "rows"}`,
      step?.error && step.error.message,
      paths.length > 0 && `writes ${paths.map(({ to }) => to).join(", ")}`,
    ].filter((part) => typeof part === "string").join(" · ")),
    dataTree(redact(source), `source ${artifact.id} ${source.id}`),
  );
}

/** @param {Detail} artifact @param {import("../../core/schema.js").Query} query */
function oneQuery(artifact, query) {
  const origin = (artifact.origins ?? []).find((one) => one.path === `/${query.to.replace(/^\$\./, "").replaceAll(".", "/")}`);
  const from = origin?.sources ?? [];
  return h(
    "li",
    { key: query.to },
    h("div.row", h("code.strong", query.to), h("span.badge.quiet", query.shape ?? "rows"), h("span.meta.grow", [
      from.length > 0 && `from ${from.join(", ")}`,
      origin?.query && origin.at && `worked out ${absolute(origin.at)}`,
    ].filter((part) => typeof part === "string").join(" · "))),
    h("pre", { tabindex: "0", role: "region", "aria-label": `Query of ${query.to}` }, query.sql),
  );
}

/** @param {string} text @param {number} index */
function item(text, index) {
  return h("li", { key: String(index) }, text);
}

const CANNOT = [
  "Run by itself, unless you switch its schedule on.",
  "Write, delete or send anything: tools that do more than read are refused at every call.",
  "Change the page's design: only its data is replaced.",
  "Use another account or another tool than the ones saved here, even if they have the same name.",
  "Leave half a result: if any step fails, everything stays as it was.",
];

/** @param {Detail} artifact @param {import("../../core/schema.js").Source} source */
function does(artifact, source) {
  const name = sourceName(source);
  const account = source.connector?.accountLabel ?? artifact.sourcePin?.accountLabel;
  const where =
    source.type === "local_file"
      ? `Reads the file ${name} of this project.`
      : `Calls ${name}${account ? ` as ${account}` : ""}, which only reads.`;
  const steps = [where, "Removes anything that looks like a credential from the answer."];
  const mapping = source.outputMapping;
  const transform = { compact_table: " as a compact table", metric_summary: " as a single figure" }[
    /** @type {"compact_table"} */ (mapping?.transform)
  ] ?? "";
  const paths = mapping?.dataPaths ?? [];
  if (paths.length === 0) steps.push(`Puts each top-level value of the answer in its place in the data${transform}.`);
  for (const { from, to } of paths.slice(0, 5)) {
    steps.push(`Takes ${from === "$" || from === "" ? "the whole answer" : `“${from}”`} of the answer${transform} and puts it at “${to}” in the data.`);
  }
  if (paths.length > 5) steps.push(`Does the same for ${paths.length - 5} more places.`);
  steps.push("Checks the new data and draws the page with it.", "Saves data, page and where they came from in one step, and keeps a copy in the history.");
  if (source.refreshPermission === "none") {
    return ["Nothing at the moment: refresh is switched off. Switched on, it does this:", ...steps];
  }
  return steps;
}

/** @param {Detail} artifact */
function templates(artifact) {
  return h(
    "section",
    { key: "templates" },
    h("h2", "Page"),
    textBlock(artifact, "template", "Template", "the page without its data"),
    textBlock(artifact, "rendered-source", "HTML", "the template with the data in it"),
  );
}

/** @param {Detail} artifact @param {string} variant @param {string} label @param {string} note */
function textBlock(artifact, variant, label, note) {
  const name = `source open ${variant}`;
  const open = ui(name, false);
  return h(
    "details.source-block",
    { key: variant,
      open,
      ontoggle: (/** @type {Event} */ event) => {
        const now = /** @type {HTMLDetailsElement} */ (event.target).open;
        if (now !== open) setUi(name, now);
      },
    },
    h("summary", icon("chevron"), h("span.strong", label), h("span.meta", note)),
    open && text(artifact, variant),
  );
}

/** @param {Detail} artifact @param {string} variant */
function text(artifact, variant) {
  const key = variant === "template" ? `template/${artifact.id}` : `rendered/${artifact.id}/${artifact.revision}`;
  const loaded = use(key, () => api.text(artifact.id, variant));
  if (loaded.error) return problem(loaded.error);
  if (loaded.value === undefined) return loading();
  return [
    h("p.meta", { key: "size" }, size(new Blob([loaded.value]).size)),
    h("pre", { tabindex: "0", key: "text", role: "region", "aria-label": variant === "template" ? "Template source" : "HTML source" }, loaded.value),
  ];
}
