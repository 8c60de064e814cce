// @ts-check
// One artifact: what it is, how fresh, from where, what can be done, and its five tabs.

import { api } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { absolute, badge, badges, isPermitted, sourceNames, time } from "../../core/format.js";
import { damagedLine, summary } from "../../core/lists.js";
import { current, TABS, to } from "../../core/router.js";
import { state, use } from "../../core/store.js";
import { archive, cancel, openInTab, permit, pin, refresh, remove, rename, running } from "../../ui/actions.js";
import { button, empty, icon, iconButton, loading, retry, toggle } from "../../ui/controls.js";
import { changeBrief } from "../chat/brief.js";
import { compose } from "../chat/pane.js";
import { dataTab } from "./data.js";
import { exportDialog } from "./export.js";
import { historyTab } from "./history.js";
import { notices, unhealthy } from "./notices.js";
import { frame, modeSwitch, previewTab } from "./preview.js";
import { provenanceTab } from "./provenance.js";
import { refreshIfOld } from "./schedule.js";
import { sourceTab } from "./source.js";

/** @typedef {import("../../core/api.js").Detail} Detail */

/** @type {Record<import("../../core/router.js").Tab, string>} */
const LABELS = {
  preview: "Preview",
  source: "Source",
  data: "Data",
  provenance: "Provenance",
  history: "History",
};

/** @param {string} id */
export function detail(id) {
  return use(`artifact/${id}`, () => api.artifact(id));
}

export function artifactView() {
  const route = current();
  const { value: artifact, error } = detail(route.artifact);
  if (error?.code === "LIVE_ARTIFACT_NOT_HEALTHY") return damagedView(route.artifact);
  if (artifact?.projectId !== route.project) {
    return h(
      "main.stage",
      { key: `live ${route.artifact}` },
      h("div.stage-body", error || artifact ? gone(error) : loading()),
    );
  }
  refreshIfOld(artifact);
  return h(
    "main.stage",
    { key: `live ${route.artifact}` },
    head(artifact),
    notices(artifact),
    h("div.tab-row", { key: "tabs" }, tabs(artifact, route.tab), route.tab === "preview" && modeSwitch(artifact)),
    h(
      "div",
      { class: `stage-body tab-${route.tab}`, role: "tabpanel", id: "panel", "aria-labelledby": `tab-${route.tab}`, key: route.tab },
      panel(route.tab, artifact),
    ),
  );
}

/** What is left of an artifact without a whole state: its last good page. @param {string} id */
function damagedView(id) {
  const known = summary(id);
  const title = known?.title || id;
  return h(
    "main.stage",
    { key: `damaged ${id}` },
    h("div.stage-head", h("div.row", h("h1.clip", title), badge({ label: "Not healthy", tone: "bad" }))),
    h("div.notices", unhealthy(id, (damagedLine(id) ?? known)?.health.reason)),
    h("div.stage-body.tab-preview", h("div.preview-split", h("div.preview-box", frame(id, "damaged", title)))),
  );
}

/** @param {import("../../core/api.js").ApiError | undefined} error */
function gone(error) {
  if (error && error.status !== 404) {
    return retry(error, "artifact/");
  }
  return empty(
    "live",
    h("h1", "There is no such live artifact here"),
    "It may have been deleted. What was deleted can be brought back from the trash for 7 days.",
    h("a.button.primary", { href: to.project(current().project) }, "Back to the project"),
    h("a.button", { href: to.trash() }, icon("trash"), "Trash"),
  );
}

/** @param {string} tab @param {Detail} artifact */
function panel(tab, artifact) {
  if (tab === "preview") return previewTab(artifact);
  if (tab === "source") return sourceTab(artifact);
  if (tab === "data") return dataTab(artifact);
  return tab === "provenance" ? provenanceTab(artifact) : historyTab(artifact);
}

/** @param {Detail} artifact */
function head(artifact) {
  const source = sourceNames(artifact.document);
  const account = artifact.document?.sourceJson?.connector?.accountLabel ?? artifact.sourcePin?.accountLabel;
  const busy = running(artifact);
  return h(
    "div.stage-head",
    { key: "head" },
    h(
      "div.grow.title-block",
      h(
        "div.row",
        h("h1.clip", { title: artifact.title }, artifact.title),
        badges(artifact, busy).map(badge),
      ),
      artifact.description && h("p.quiet", { key: "description" }, artifact.description),
      h(
        "div.meta.facts-line",
        artifact.restored
          ? h("span.strong", { key: "restored" }, `State of ${absolute(artifact.restored.stateOf)}, restored `, time(artifact.restored.at))
          : h("span", { key: "age" }, artifact.lastRefreshedAt ? "Refreshed " : "Made ", time(artifact.lastRefreshedAt ?? artifact.createdAt)),
        source && h("span", { key: "source" }, "from ", h("span.mono.clip", source)),
        account && h("span", { key: "account" }, "as ", account),
        source ? permission(artifact, busy) : h("span", { key: "static" }, "no source: its data only changes by an edit"),
      ),
    ),
    toolbar(artifact, busy),
  );
}

/** @param {Detail} artifact @param {boolean} busy */
function permission(artifact, busy) {
  const granted = isPermitted(artifact.document);
  return h(
    "span.permission",
    { key: "permission", title: granted
      ? "You, and an agent that you started, may refresh it. It never runs by itself."
      : artifact.grantedElsewhere
        ? "It was allowed in a copy of this directory or on another machine. Look at its source, and allow it here if it is right."
        : "Nobody may refresh it. Only a person can allow it again." },
    toggle(artifact.grantedElsewhere ? "Allow refresh here" : "Allow refresh", granted, (on) => void permit(artifact, on), busy),
  );
}

/** @param {Detail} artifact @param {boolean} busy */
function toolbar(artifact, busy) {
  return h(
    "div.toolbar",
    { role: "toolbar", "aria-label": "Artifact", key: "toolbar" },
    iconButton("pin", artifact.pinned ? "Unpin" : "Pin", () => void pin(artifact), { pressed: Boolean(artifact.pinned), key: "pin" }),
    iconButton("edit", "Rename", () => rename(artifact)),
    iconButton("chat", "Ask to change this", () => compose(artifact.projectId, changeBrief(artifact)), { key: "ask" }),
    iconButton("external", "Open in a new tab", () => void openInTab(artifact)),
    iconButton("download", "Export", () => exportDialog(artifact)),
    iconButton("archive", artifact.status === "archived" ? "Bring back from the archive" : "Archive", () => void archive(artifact), {
      pressed: artifact.status === "archived",
      key: "archive",
    }),
    iconButton("trash", "Delete", () => void remove(artifact)),
    busy && button("Cancel", () => void cancel(artifact.id), { key: "cancel", disabled: state.progress.get(artifact.id)?.cancelling ?? false }),
    (artifact.refreshable || busy) &&
      button(busy ? "Refreshing…" : "Refresh", () => void refresh(artifact), {
        kind: "primary",
        icon: "refresh",
        disabled: busy,
        busy,
        key: "refresh",
      }),
  );
}

/** @param {Detail} artifact @param {string} on */
function tabs(artifact, on) {
  return h(
    "div.tabs",
    { role: "tablist", "aria-label": "Views of this artifact", onkeydown: tabKeys },
    TABS.map((name) =>
      h(
        "a",
        {
          key: name,
          id: `tab-${name}`,
          href: to.live(artifact, name),
          role: "tab",
          "aria-selected": String(name === on),
          "aria-controls": "panel",
          tabindex: name === on ? "0" : "-1",
        },
        LABELS[name],
      ),
    ),
  );
}

/** @param {KeyboardEvent} event */
function tabKeys(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const all = /** @type {HTMLElement[]} */ ([.../** @type {Element} */ (event.currentTarget).children]);
  const next = all[(all.indexOf(/** @type {HTMLElement} */ (event.target)) + by + all.length) % all.length];
  event.preventDefault();
  next?.focus();
  next?.click();
}
