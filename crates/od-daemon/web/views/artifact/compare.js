// @ts-check
// Two states of an artifact: value by value, both pages side by side, and what changed in template and source.

import { api } from "../../core/api.js";
import { cls, h } from "../../core/dom.js";
import { absolute, clip, isObject, plural, scalar } from "../../core/format.js";
import { current, go, to } from "../../core/router.js";
import { setUi, ui, use } from "../../core/store.js";
import { button, empty, loading, problem } from "../../ui/controls.js";
import { frame } from "./preview.js";
import { dotted } from "./provenance.js";

const MOST = 300;
const DAY_MS = 24 * 60 * 60_000;

/** @type {Record<string, string>} */
const KINDS = { added: "Added", removed: "Removed", changed: "Changed" };

/**
 * @typedef {import("../../core/api.js").Detail} Detail
 * @typedef {import("../../core/api.js").RevisionLine} RevisionLine
 * @typedef {import("../../core/schema.js").ValueChange} ValueChange
 * @typedef {import("../../core/schema.js").ValueDiff} ValueDiff
 *
 * An earlier state: a revision by its number; one from before revisions were kept by its refresh.
 * @typedef {number | string} State
 */

/** The data of an earlier state. @param {Detail} artifact @param {State} state @returns {import("../../core/store.js").Resource<{dataJson: unknown}>} */
export function valuesOf(artifact, state) {
  /** @returns {Promise<{dataJson: unknown}>} */
  const load = () => (typeof state === "number" ? api.revision(artifact.id, state) : api.snapshot(artifact.id, state));
  return use(`state/${artifact.id}/${state}`, load);
}

/** @param {State} state */
export function nameOf(state) {
  return typeof state === "number" ? `Revision ${state}` : state;
}

/**
 * The states that people compare the current one with; one that is not there, or is the current one, has no line.
 * @param {RevisionLine[]} kept newest first @param {number} [now] @returns {Array<[string, RevisionLine | undefined]>}
 */
export function presets(kept, now = Date.now()) {
  const [shown, ...earlier] = kept;
  const since = (/** @type {number} */ ms) => {
    const line = kept.find(({ at }) => Date.parse(at) <= now - ms);
    return line === shown ? undefined : line;
  };
  return [["Previous", earlier[0]], ["Yesterday", since(DAY_MS)], ["A week ago", since(7 * DAY_MS)], ["First", earlier.at(-1)]];
}

/**
 * Chooses two states by date, or one of the usual pairs.
 * @param {Detail} artifact @param {RevisionLine[]} kept newest first @param {State} from @param {State} until
 */
export function comparePicker(artifact, kept, from, until) {
  const shown = kept[0];
  if (!shown || kept.length < 2) return null;
  const open = (/** @type {State} */ a, /** @type {State} */ b) => go(to.live(artifact, "history", `${a}..${b}`, { show: current().query.get("show") ?? undefined }));
  const field = (/** @type {string} */ label, /** @type {State} */ value, /** @type {(state: number) => void} */ pick) =>
    h(
      "label.inline-field",
      { key: label },
      label,
      h(
        "select",
        { value: String(value), onchange: (/** @type {Event} */ event) => pick(Number(/** @type {HTMLSelectElement} */ (event.target).value)) },
        kept.map(({ revision, at }) => h("option", { value: String(revision), key: String(revision) }, `${absolute(at)} · revision ${revision}`)),
      ),
    );
  return h(
    "div.compare-bar",
    { key: "picker" },
    field("Compare", from, (state) => open(state, until)),
    field("with", until, (state) => open(from, state)),
    h(
      "div.row.presets",
      { role: "group", "aria-label": "Compare the current state with", key: "presets" },
      presets(kept).map(([label, line]) =>
        button(label, () => line && open(line.revision, shown.revision), {
          key: label,
          disabled: !line,
          full: line ? `${label}: compare the current state with that of ${absolute(line.at)}` : `${label}: there is no other state from then`,
        })),
    ),
  );
}

/** @param {Detail} artifact @param {RevisionLine[]} kept @param {State} from @param {State} until */
export function compareView(artifact, kept, from, until) {
  const show = current().query.get("show") ?? "values";
  const segment = (/** @type {string} */ name, /** @type {string} */ label) =>
    h("button", {
      type: "button",
      key: name,
      "aria-pressed": String(show === name),
      onclick: () => go(to.live(artifact, "history", `${from}..${until}`, { show: name })),
    }, label);
  return h(
    "div.compare",
    h(
      "div.preview-bar.snapshot",
      { key: "bar" },
      h("a.button.plain", { href: to.live(artifact, "history") }, "Back to history"),
      h(
        "p.grow",
        h("a", { href: to.live(artifact, "history", String(from)) }, nameOf(from)),
        " → ",
        h("a", { href: to.live(artifact, "history", String(until)) }, nameOf(until)),
      ),
      h("div.segments", { role: "group", "aria-label": "What to compare" }, segment("values", "Values"), segment("pages", "Pages"), segment("design", "Design")),
    ),
    comparePicker(artifact, kept, from, until),
    show === "pages" ? pages(artifact, kept, from, until) : null,
    show === "design" ? design(artifact, from, until) : null,
    show === "values" ? values(artifact, from, until) : null,
  );
}

/** What changed in the data. @param {Detail} artifact @param {State} from @param {State} until */
function values(artifact, from, until) {
  if (typeof from === "number" && typeof until === "number") {
    const { value, error } = compared(artifact, from, until);
    return error ? problem(error) : value ? changes(value.data) : loading();
  }
  // The daemon compares revisions; one of these states is from before they were kept.
  const [old, now] = [valuesOf(artifact, from), valuesOf(artifact, until)];
  const error = old.error ?? now.error;
  if (error) return problem(error);
  return old.value && now.value ? changes(placeByPlace(old.value.dataJson, now.value.dataJson)) : loading();
}

/** @param {Detail} artifact @param {number} from @param {number} until */
function compared(artifact, from, until) {
  return use(`compare/${artifact.id}/${from}..${until}`, () => api.compare(artifact.id, from, until));
}

/** @param {unknown} before @param {unknown} after @param {string} [path] @returns {ValueDiff} */
export function placeByPlace(before, after, path = "") {
  if (before === after) return { count: 0, changes: [] };
  if ((isObject(before) && isObject(after)) || (Array.isArray(before) && Array.isArray(after))) {
    const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
    const found = [...new Set([...was.keys(), ...is.keys()])].flatMap((key) =>
      placeByPlace(was.get(key), is.get(key), `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).changes);
    return { count: found.length, changes: found };
  }
  const change = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  return { count: 1, changes: [{ path, change, before, after }] };
}

/** Both pages as they looked. @param {Detail} artifact @param {RevisionLine[]} kept @param {State} from @param {State} until */
function pages(artifact, kept, from, until) {
  const half = (/** @type {State} */ state, /** @type {string} */ label) => {
    const at = kept.find(({ revision }) => revision === state)?.at;
    const name = `${nameOf(state)}${at ? `, ${absolute(at)}` : ""}`;
    return h(
      "section.half",
      { key: label },
      h("h2", `${label}: `, h("span.quiet", name)),
      h("div.preview-box", frame(artifact.id, String(state), `${artifact.title}, ${name}`, { earlier: state })),
    );
  };
  return h("div.halves", { key: "pages" }, half(from, "Before"), half(until, "After"));
}

/** What changed in template and source. @param {Detail} artifact @param {State} from @param {State} until */
function design(artifact, from, until) {
  if (typeof from !== "number" || typeof until !== "number") {
    return empty("compare", "Nothing to compare", "These states are from before their designs were kept.");
  }
  const { value, error } = compared(artifact, from, until);
  if (error) return problem(error);
  if (!value) return loading();
  const { template, source } = value;
  if (template.hunks.length === 0 && source.changes.length === 0) {
    return empty("compare", "The same design", "Both states have the same template and the same source.");
  }
  return h(
    "div.prose.design",
    { key: "design" },
    template.hunks.length > 0 && h(
      "section",
      { key: "template" },
      h("h2", "Template"),
      h("p.quiet", `${plural(template.added, "line")} added, ${plural(template.removed, "line")} removed.`),
      template.hunks.map((hunk, index) => h(
        "pre.hunk",
        { key: String(index), tabindex: "0" },
        hunk.removed.map((line, at) => h("del", { key: `- ${at}` }, `− ${line}\n`)),
        hunk.added.map((line, at) => h("ins", { key: `+ ${at}` }, `+ ${line}\n`)),
      )),
    ),
    source.changes.length > 0 && h(
      "section",
      { key: "source" },
      h("h2", "Source"),
      changeTable(source.changes),
    ),
  );
}

/** @param {ValueDiff} diff */
function changes({ count, changes: all }) {
  if (count === 0) return empty("compare", "No difference", "Both states hold the same values.");
  const only = ui("diff only", "");
  const shown = all.filter(({ change }) => !only || change === only);
  const unnamed = only ? 0 : count - all.length;
  return [
    h(
      "div.segments",
      { role: "group", "aria-label": "Show", key: "filter" },
      filter("", `All ${count}`, only),
      Object.entries(KINDS).map(([kind, label]) =>
        filter(kind, `${label} ${all.filter(({ change }) => change === kind).length}`, only),
      ),
    ),
    changeTable(shown.slice(0, MOST)),
    shown.length + unnamed > MOST && h("p.meta", { key: "more" }, `${shown.length + unnamed - Math.min(shown.length, MOST)} more changes are not shown.`),
  ];
}

/** @param {ValueChange[]} shown */
function changeTable(shown) {
  return h(
    "div.scroll-x",
    { key: "table", tabindex: "0", role: "region", "aria-label": "Changes" },
    h(
      "table.diff",
      h("thead", h("tr", ["", "Path", "Before", "After"].map((name, index) =>
        h("th", { scope: "col", key: String(index) }, name || h("span.sr", "Kind"))))),
      h("tbody", shown.map(changeRow)),
    ),
  );
}

/** @param {string} kind @param {string} label @param {string} only */
function filter(kind, label, only) {
  return h("button", { type: "button", key: kind, "aria-pressed": String(only === kind), onclick: () => setUi("diff only", kind) }, label);
}

/** @param {ValueChange} line */
function changeRow({ path, place, change, before, after, omitted }) {
  const told = (/** @type {unknown} */ value) => (omitted && value === undefined ? "too large to show" : clip(scalar(value), 400));
  return h(
    "tr",
    { key: `${change} ${path}`, class: change },
    h("td", h("span", { class: cls("kind", change), title: KINDS[change] }, { added: "+", removed: "−", changed: "~" }[change]), h("span.sr", KINDS[change])),
    h("td.mono.path", place ?? dotted({ path })),
    h("td.mono.was", change === "added" ? "" : told(before)),
    h("td.mono.now", change === "removed" ? "" : told(after)),
  );
}
