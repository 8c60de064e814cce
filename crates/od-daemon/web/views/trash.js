// @ts-check
// What was deleted: bring it back, and when it goes for good.

import { api } from "../core/api.js";
import { h } from "../core/dom.js";
import { absolute, time } from "../core/format.js";
import { go, to } from "../core/router.js";
import { put, use } from "../core/store.js";
import { bringBack } from "../ui/actions.js";
import { button, empty, icon, loading, retry } from "../ui/controls.js";
import { toast } from "../ui/overlays.js";
import { projects } from "./home.js";

/** @typedef {import("../core/schema.js").TrashLine} Line */

export function trashView() {
  const listed = use("trash", () => api.trash());
  const lines = listed.value?.trash ?? [];
  const names = new Map((projects().value ?? []).map((project) => [project.id, project.name]));
  const trash = listed.value;
  return h(
    "main.page",
    { key: "trash" },
    h("div.page-head", h("h1.grow", "Trash"), h("a.button", { href: to.designs() }, "All designs")),
    h("p.lead", "Deleted live artifacts are kept here for 7 days with their whole history. After that they are gone for good."),
    listed.error && retry(listed.error, "trash"),
    !listed.value && !listed.error && loading(),
    listed.value && lines.length === 0 && empty("trash", "The trash is empty", "Nothing was deleted in the last 7 days."),
    lines.length > 0 && h("ul.lines", { key: "lines" }, lines.map((line) => row(line, names))),
    trash?.nextCursor && h("p.row", { key: "more" }, h("span.meta.grow", `${lines.length} of ${trash.total}`), button("Show more", () => void older(trash))),
  );
}

/** Fetches the page after those that are shown. @param {import("../core/schema.js").TrashAnswer} shown */
async function older(shown) {
  const page = await api.trash(shown.nextCursor ?? "");
  put("trash", { ...page, trash: [...shown.trash, ...page.trash] });
}

/** @param {Line} line @param {Map<string, string>} names */
function row(line, names) {
  const title = line.title ?? line.artifactId;
  return h(
    "li.line.trashed",
    { key: line.artifactId },
    icon("live"),
    h(
      "div.grow",
      h("p.strong.clip", { title }, title),
      h("p.meta", names.get(line.projectId) ?? `${line.projectId} (removed)`, " · deleted ", time(line.deletedAt), " · ",
        h("span", { title: absolute(line.restorableUntil) }, `gone for good ${until(line.restorableUntil)}`)),
    ),
    button("Restore", () => void restore(line), { full: `Restore ${title}` }),
  );
}

const DAY = 86_400_000;

/** @param {string} when */
export function until(when, now = Date.now()) {
  const left = Date.parse(when) - now;
  if (left < DAY / 24) return "within the hour";
  if (left < DAY) return `in ${Math.floor(left / (DAY / 24))} h`;
  const days = Math.floor(left / DAY);
  return days === 1 ? "in 1 day" : `in ${days} days`;
}

/** @param {Line} line */
async function restore({ artifactId: id, projectId, title }) {
  if (!(await bringBack(id))) return;
  toast("good", "Restored", { detail: title ?? id, action: "Open", run: () => go(to.live({ id, projectId })) });
}
