// @ts-check
// What an agent is told when a person asks it to change, explain or repair an artifact. The person sees it
// first, and can change every word.

import { clip, scalar } from "../../core/format.js";

/**
 * @typedef {import("../../core/api.js").Detail} Detail
 * @typedef {import("../../core/schema.js").CompactError} Logged
 * @typedef {import("../../core/api.js").ApiError} ApiError
 */

/** @param {Detail} artifact */
function named(artifact) {
  return `the live artifact “${artifact.title}” (id ${artifact.id}, revision ${artifact.revision})`;
}

/** @param {Detail} artifact */
export function changeBrief(artifact) {
  return `Change ${named(artifact)} with od's tools; read it first, and keep its source. The change: `;
}

/**
 * Where a value of the page comes from, as far as od knows: what an agent needs to explain it.
 * @param {Detail} artifact @param {string} path as the Data tab writes it @param {unknown} value
 * @param {import("../../core/schema.js").PathOrigin | undefined} origin
 */
export function explainBrief(artifact, path, value, origin) {
  const known = origin && { source: origin.label, call: origin.call, from: origin.from, query: origin.query, sources: origin.sources, at: origin.at, revision: origin.revision, staleSince: origin.staleSince };
  const lines = [
    `Explain the value of “${path}” in ${named(artifact)}: ${clip(scalar(value), 200)}`,
    origin && `What od recorded of it: ${origin.says}`,
    known && `Its provenance: ${clipped(known)}`,
    origin?.writer !== "author" && `${sourcesNow(artifact)}`,
    artifact.provenance?.notes && `Notes of its author: ${artifact.provenance.notes}`,
    "Say step by step how it came about, what it counts and what it leaves out; read its source again where you can, and say whether it would be the same today. Change nothing.",
  ];
  return lines.filter(Boolean).join("\n");
}

/** The sources of an artifact with their mappings, and its queries. @param {Detail} artifact */
function sourcesNow({ document }) {
  const of = (/** @type {import("../../core/schema.js").NamedSource | import("../../core/schema.js").Source} */ source) =>
    ({ id: "id" in source ? source.id : undefined, type: source.type, toolName: source.toolName, input: source.input, outputMapping: source.outputMapping });
  const several = (document?.sources ?? []).map(of);
  const one = document?.sourceJson ? [of(document.sourceJson)] : [];
  const sources = [...one, ...several];
  if (sources.length === 0) return "";
  const queries = document?.queries ?? [];
  return `The source now: ${clipped(sources.length === 1 ? sources[0] : sources)}${queries.length > 0 ? `\nThe queries now: ${clipped(queries)}` : ""}`;
}

/**
 * What failed, what the mapping is now, and what the refusal says of the new output: the paths nearest to the
 * one that leads nowhere, and its shape.
 * @param {Detail} artifact @param {ApiError | Logged} error
 */
export function repairBrief(artifact, error) {
  const details = /** @type {{details?: Record<string, unknown>}} */ (error).details;
  const { output, nearest, ...others } = details ?? {};
  const issues = /** @type {{issues?: import("../../core/schema.js").Issue[]}} */ (error).issues ?? [];
  const lines = [
    `Repair ${named(artifact)}: its last refresh failed, and the page shows the state before it.`,
    `What failed: ${error.code}: ${error.message}`,
    error.suggestion && `What od suggests: ${error.suggestion}`,
    ...issues.slice(0, 10).map((issue) => `At ${issue.path}: ${issue.message}${issue.fix ? ` Fix: ${issue.fix}` : ""}`),
    Array.isArray(nearest) && `Nearest paths: ${nearest.join(", ")}`,
    Array.isArray(output) && `The output of today has:\n${output.map((line) => `- ${line}`).join("\n")}`,
    Object.keys(others).length > 0 && `Details: ${clipped(others)}`,
    sourcesNow(artifact),
    "Look at what the source gives today, change the mapping so that it fits, validate, update, and refresh. Keep the page as it is.",
  ];
  return lines.filter(Boolean).join("\n");
}

/** @param {unknown} value */
function clipped(value) {
  const text = JSON.stringify(value) ?? "";
  return text.length > 4000 ? `${text.slice(0, 4000)}…` : text;
}
