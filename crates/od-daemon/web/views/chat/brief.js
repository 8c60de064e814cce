// @ts-check
// What an agent is told when a person asks it to change or repair an artifact. The person sees it first,
// and can change every word.

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
 * What failed, what the mapping is now, and what the refusal says of the new output.
 * @param {Detail} artifact @param {ApiError | Logged} error
 */
export function repairBrief(artifact, error) {
  const source = artifact.document?.sourceJson;
  const details = /** @type {{details?: unknown}} */ (error).details;
  const issues = /** @type {{issues?: import("../../core/schema.js").Issue[]}} */ (error).issues ?? [];
  const lines = [
    `Repair ${named(artifact)}: its last refresh failed, and the page shows the state before it.`,
    `What failed: ${error.code}: ${error.message}`,
    error.suggestion && `What od suggests: ${error.suggestion}`,
    ...issues.slice(0, 10).map((issue) => `At ${issue.path}: ${issue.message}${issue.fix ? ` Fix: ${issue.fix}` : ""}`),
    details !== undefined && `Details: ${clipped(details)}`,
    source && `The source now: ${clipped({ type: source.type, toolName: source.toolName, input: source.input, outputMapping: source.outputMapping })}`,
    "Look at what the source gives today, change the mapping so that it fits, validate, update, and refresh. Keep the page as it is.",
  ];
  return lines.filter(Boolean).join("\n");
}

/** @param {unknown} value */
function clipped(value) {
  const text = JSON.stringify(value) ?? "";
  return text.length > 4000 ? `${text.slice(0, 4000)}…` : text;
}
