// @ts-check
// Who made this state, when, from what, and how to check that it is what it says.

import { h } from "../../core/dom.js";
import { absolute, age, healthState, originSentence } from "../../core/format.js";
import { copy, empty, iconButton } from "../../ui/controls.js";
import { title as words } from "../shape.js";

/** @type {Record<string, string>} */
const TYPES = { connector: "Connector", local_file: "Project file", user_input: "Given by a person", derived: "Derived" };

/** @param {import("../../core/api.js").Detail} artifact */
export function provenanceTab(artifact) {
  const provenance = artifact.provenance;
  if (!provenance) return empty("clock", "Nothing recorded", "This artifact was stored without provenance. The next refresh writes it.");
  return h(
    "div.prose",
    h(
      "section",
      h("h2", "This state"),
      h(
        "dl.facts",
        fact("Made by", provenance.generatedBy === "refresh_runner" ? "a refresh" : artifact.createdByRunId ? "an agent" : "a person"),
        fact("Made at", `${absolute(provenance.generatedAt)} (${age(provenance.generatedAt)})`),
        fact("Revision", String(artifact.revision)),
        artifact.createdByRunId && fact("Agent run", artifact.createdByRunId, true),
        fact("Health", healthState(artifact).replace(/_/g, " ")),
        provenance.notes && fact("Notes", provenance.notes),
      ),
    ),
    h("section", h("h2", "Sources"), sources(provenance.sources ?? [])),
    pathByPath(artifact.origins ?? []),
    pinned(artifact.sourcePin),
    digests(artifact.digests),
  );
}

/**
 * The place of an origin as the Data tab writes paths; the whole data is the empty one.
 * @param {{path: string}} origin
 */
export function dotted(origin) {
  return origin.path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");
}

/**
 * The origin of what stands at a path: its own, or that of the nearest place above it.
 * @param {import("../../core/schema.js").PathOrigin[]} origins @param {string} path
 */
export function originOf(origins, path) {
  return origins
    .map((origin) => ({ origin, place: dotted(origin) }))
    .filter(({ place }) => place === "" || place === path || path.startsWith(`${place}.`))
    .sort((one, other) => other.place.length - one.place.length)[0]?.origin;
}

/** @param {import("../../core/schema.js").PathOrigin[]} origins */
function pathByPath(origins) {
  if (origins.length === 0) return null;
  return h(
    "section",
    { key: "paths" },
    h("h2", "Path by path"),
    h("p.quiet", "What a source writes, only a refresh changes. Everything else stays as its author wrote it."),
    h(
      "ul.lines.plain",
      // What is left over comes after what has a name.
      [...origins].sort((one, other) => Number(one.path === "") - Number(other.path === "")).map((origin) =>
        h(
          "li",
          { key: origin.path, class: "line" },
          h("span.badge.quiet", origin.writer === "author" ? "Fixed" : origin.staleSince ? "Stale" : "Refreshed"),
          h("span.strong.mono", dotted(origin) || (origins.length > 1 ? "everything else" : "everything")),
          h("span.meta.grow", originSentence(origin)),
        ),
      ),
    ),
  );
}

/** @param {string} name @param {string} value @param {boolean} [mono] */
export function fact(name, value, mono) {
  return h(
    "div",
    { key: name },
    h("dt", name),
    h("dd", { class: mono ? "mono" : "" }, value, mono && iconButton("copy", `Copy ${name}`, () => void copy(value, name))),
  );
}

/** @param {import("../../core/schema.js").ProvenanceSource[]} list */
function sources(list) {
  if (list.length === 0) return h("p.quiet", "No sources are named.");
  return h(
    "ul.lines.plain",
    list.map((source, index) =>
      h(
        "li",
        { key: String(index), class: "line" },
        h("span.badge.quiet", TYPES[source.type] ?? source.type),
        h("span.strong", source.label),
        source.accountLabel && h("span", "as ", source.accountLabel),
        h("span.meta.mono.grow.clip", source.ref === source.label ? "" : (source.ref ?? "")),
      ),
    ),
  );
}

/** @param {import("../../core/schema.js").SourcePin | null | undefined} pin */
function pinned(pin) {
  if (!pin) return null;
  return h(
    "section",
    { key: "pin" },
    h("h2", "Pinned when the source was set"),
    h("p.quiet", "A refresh stops when the tool's contract or the account differs from this, until you accept the change."),
    h("dl.facts", Object.entries(pin)
      .filter(([, value]) => typeof value === "string")
      .map(([name, value]) => fact(words(name), String(value), true))),
  );
}

/** @param {import("../../core/schema.js").Digests} digests */
function digests(digests) {
  if (!digests) return null;
  return h(
    "section",
    { key: "digests" },
    h("h2", "Digests"),
    h("p.quiet", "Checked on every read. “od artifacts verify” checks them all, and the chain of the refresh log."),
    h("dl.facts", Object.entries(digests)
      .map(([name, value]) => fact(words(name), value.content, true))),
  );
}
