// @ts-check
// Two snapshots side by side, value by value.

import { api } from "./api.js";
import { empty, loading, problem } from "./controls.js";
import { diff } from "./diff.js";
import { cls, h } from "./dom.js";
import { clip, scalar } from "./format.js";
import { to } from "./router.js";
import { setUi, ui, use } from "./store.js";

const MOST = 300;

/** @type {Record<string, string>} */
const KINDS = { added: "Added", removed: "Removed", changed: "Changed" };

/** @param {any} artifact @param {string} from @param {string} until */
export function compareView(artifact, from, until) {
  const load = (/** @type {string} */ id) => use(`snapshot/${artifact.id}/${id}`, () => api.snapshot(artifact.id, id));
  const [old, now] = [load(from), load(until)];
  const error = old.error ?? now.error;
  return h(
    "div.compare",
    h(
      "div.preview-bar.snapshot",
      h("a.button.plain", { href: to.live(artifact, "history") }, "Back to history"),
      h(
        "p.grow.mono",
        h("a", { href: to.live(artifact, "history", from) }, from),
        " → ",
        h("a", { href: to.live(artifact, "history", until) }, until),
      ),
    ),
    error && problem(error),
    !error && (!old.value || !now.value) && loading(),
    old.value && now.value && changes(diff(old.value.dataJson, now.value.dataJson)),
  );
}

/** @param {import("./diff.js").Change[]} all */
function changes(all) {
  if (all.length === 0) return empty("compare", "No difference", "Both states hold the same values.");
  const only = ui("diff only", "");
  const shown = all.filter((change) => !only || change.kind === only);
  return [
    h(
      "div.segments",
      { role: "group", "aria-label": "Show", key: "filter" },
      filter("", `All ${all.length}`, only),
      Object.entries(KINDS).map(([kind, label]) =>
        filter(kind, `${label} ${all.filter((change) => change.kind === kind).length}`, only),
      ),
    ),
    h(
      "div.scroll-x",
      { key: "table", tabindex: "0", role: "region", "aria-label": "Changes" },
      h(
        "table.diff",
        h("thead", h("tr", ["", "Path", "Before", "After"].map((name, index) =>
          h("th", { scope: "col", key: String(index) }, name || h("span.sr", "Kind"))))),
        h("tbody", shown.slice(0, MOST).map(changeRow)),
      ),
    ),
    shown.length > MOST && h("p.meta", { key: "more" }, `${shown.length - MOST} more changes are not shown.`),
  ];
}

/** @param {string} kind @param {string} label @param {string} only */
function filter(kind, label, only) {
  return h("button", { type: "button", key: kind, "aria-pressed": String(only === kind), onclick: () => setUi("diff only", kind) }, label);
}

/** @param {import("./diff.js").Change} change */
function changeRow(change) {
  return h(
    "tr",
    { key: `${change.kind} ${change.path}`, class: change.kind },
    h("td", h("span", { class: cls("kind", change.kind), title: KINDS[change.kind] }, { added: "+", removed: "−", changed: "~" }[change.kind]), h("span.sr", KINDS[change.kind])),
    h("td.mono.path", change.path),
    h("td.mono.was", change.kind === "added" ? "" : clip(scalar(change.before), 400)),
    h("td.mono.now", change.kind === "removed" ? "" : clip(scalar(change.after), 400)),
  );
}
