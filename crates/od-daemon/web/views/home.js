// @ts-check
// Designs: projects, and every live artifact as a card.

import { api } from "../core/api.js";
import { h, memo } from "../core/dom.js";
import { age, attention, badge, badges, plural, stateShown, time } from "../core/format.js";
import { listed, more } from "../core/lists.js";
import { current, go, to } from "../core/router.js";
import { expire, known, setUi, ui, use } from "../core/store.js";
import { running } from "../ui/actions.js";
import { button, copyable, empty, icon, loading, retry, searchField, toggle } from "../ui/controls.js";
import { askName } from "../ui/overlays.js";
import { thumb } from "../ui/thumbs.js";
import { windowed } from "../ui/windowed.js";

/**
 * @typedef {import("../core/schema.js").ArtifactLine} Summary
 * @typedef {import("../core/api.js").Project} Project
 * @typedef {import("../core/api.js").ProjectLine} ProjectLine
 * @typedef {import("../core/lists.js").Asked} Asked
 */

export function projects() {
  return use("projects", api.projects);
}

/**
 * What a list has, for lines that changed since they were fetched and stand in no list that was read anew.
 * @type {Record<import("../core/lists.js").Shown, (entry: Summary) => boolean>}
 */
const FITS = {
  all: () => true,
  active: ({ status }) => status !== "archived",
  pinned: ({ pinned }) => pinned,
  attention: (entry) => attention(entry) > 0,
};

/** What each place showed last, which stays while what was asked for next is on its way. @type {Map<string, {lines: Summary[], total: number}>} */
const before = new Map();

/**
 * A list as it is shown: first those of `lead` and then the others, as far as either was fetched.
 * @param {string} place @param {Asked} asked @param {import("../core/lists.js").Shown} lead
 */
export function leading(place, asked, lead) {
  const all = listed(asked);
  // A search has its own order: what was changed last.
  const first = asked.query ? undefined : listed({ ...asked, show: lead });
  const asks = FITS[asked.show ?? "all"];
  const own = (first?.value?.lines ?? []).filter((entry) => FITS[lead](entry) && asks(entry));
  const ids = new Set(own.map(({ id }) => id));
  const lines = [...own, ...(all.value?.lines ?? []).filter((entry) => !ids.has(entry.id) && asks(entry))];
  if (all.value && (!first || first.value)) before.set(place, { lines, total: all.value.total });
  return { value: before.get(place), error: all.error ?? first?.error };
}

/**
 * The counts of a project's artifacts; of all projects if there are several.
 * @param {ProjectLine[]} projects
 */
function countsOf(projects) {
  const sum = (/** @type {"total" | "archived" | "failed" | "damaged"} */ name) =>
    projects.reduce((sum, { artifacts }) => sum + (artifacts?.[name] ?? 0), 0);
  return { total: sum("total"), archived: sum("archived"), failed: sum("failed"), damaged: sum("damaged") };
}

export function designsView() {
  const archived = ui("show archived", false);
  const query = ui("search designs", "").trim();
  const needy = ui("show attention", false);
  /** @type {Asked} */
  const asked = { query, show: needy ? "attention" : archived ? "all" : "active" };
  const found = leading("designs", asked, needy ? "attention" : "pinned");
  const all = projects();
  if (!all.value || !found.value) {
    const error = found.error ?? all.error;
    return main(error ? retry(error, "") : loading());
  }
  if (all.value.length === 0) return main(firstRun());
  const visible = found.value.lines;
  const counts = countsOf(all.value);
  const hasNeedy = needy || counts.failed + counts.damaged > 0 || visible.some((entry) => attention(entry) > 0);
  return main(
    h(
      "div.page-head",
      h("h1", "Designs"),
      h("div.grow"),
      counts.total > 0 && searchField("search designs", "Search live artifacts", { hint: "/" }),
      createLink("New"),
    ),
    projectStrip(all.value),
    h(
      "section",
      { "aria-labelledby": "live-title", key: "live" },
      h(
        "div.section-head",
        h("h2", { id: "live-title" }, "Live artifacts"),
        h("span.count", String(found.value.total)),
        h("div.grow"),
        hasNeedy && toggle("Needs attention", needy, (on) => setUi("show attention", on)),
        counts.archived > 0 && toggle("Archived", archived, (on) => setUi("show archived", on)),
        h("a.button.quiet-link", { href: to.trash() }, icon("trash"), "Trash"),
      ),
      found.error ? retry(found.error, "artifacts") : cards(visible, all.value, asked),
    ),
  );
}


const LOOK_AGAIN_MS = 2000;
let looking = 0;

/** No event tells of a new project: while there is none it is looked for, and the page goes on by itself. */
function lookForProjects() {
  clearTimeout(looking);
  looking = window.setTimeout(() => {
    if (current().view === "designs" && known("projects")?.length === 0) expire("projects");
  }, LOOK_AGAIN_MS);
}

/** What a person sees who has nothing yet: three ways to begin. */
function firstRun() {
  lookForProjects();
  const folder = ui("first folder", "").trim();
  return h(
    "div.first-run",
    { key: "first" },
    h("h1", "Welcome to od"),
    h("p.lead", "A live artifact is a page made once and refreshed from its data whenever you want. Run one of these in a terminal; this page goes on by itself."),
    h(
      "ol.ways",
      h("li.panel", { key: "demo" }, h("h2", "Look around first"),
        h("p.quiet", "Three working live artifacts over files that come with them. Nothing of yours is touched."), copyable("od demo")),
      h("li.panel", { key: "here" }, h("h2", "Use the folder you are in"),
        h("p.quiet", "The folder becomes a project: its files can be shown, and agents started in it make live artifacts."), copyable("od init")),
      h("li.panel", { key: "folder" }, h("h2", "Use another folder"),
        h("label.field", "Its path",
          h("input", { value: ui("first folder", ""), placeholder: "~/work/site", autocomplete: "off", spellcheck: "false",
            oninput: (/** @type {Event} */ event) => setUi("first folder", /** @type {HTMLInputElement} */ (event.target).value) })),
        copyable(`od init ${folder ? quoted(folder) : "FOLDER"}`),
        h("p.hint", "Only the command line may choose what is read.")),
    ),
    h("p.meta", { role: "status" }, h("span.dot.busy", { "aria-hidden": "true" }), " Waiting for the first project…"),
    h("p.quiet", "Did you remove a project? What it held is ", h("a", { href: to.trash() }, "in the trash"), " for 7 days."),
  );
}

/** A path as a shell takes it; `~` keeps its meaning. @param {string} path */
export function quoted(path) {
  if (/^[\w@%+=:,./~-]+$/.test(path)) return path;
  const [, home = "", rest = ""] = /^(~\/)?(.*)$/s.exec(path) ?? [];
  return `${home}'${rest.replaceAll("'", "'\\''")}'`;
}

/** @param {string} label @param {string} [project] */
export function createLink(label, project) {
  return h("a.button.primary", { href: to.create(project) }, icon("plus"), h("span", label));
}

/** @param {...import("../core/dom.js").Child} children */
function main(...children) {
  return h("main.page", { key: "designs" }, ...children);
}

/** @param {ProjectLine[]} list */
function projectStrip(list) {
  return h(
    "section",
    { "aria-labelledby": "projects-title", key: "projects" },
    h(
      "div.section-head",
      h("h2", { id: "projects-title" }, "Projects"),
      h("span.count", String(list.length)),
      h("div.grow"),
      button("New project", () => newProject((project) => go(to.project(project.id))), { icon: "plus" }),
    ),
    list.length === 0
      ? h("p.quiet", "A project holds files and the live artifacts made from them.")
      : h("ul.projects", list.map(projectCard)),
  );
}

/** @param {ProjectLine} project */
function projectCard(project) {
  const { total, failed } = countsOf([project]);
  return h(
    "li",
    { key: project.id },
    h(
      "a.project-card",
      { href: to.project(project.id) },
      icon("folder"),
      h("span.grow.clip.strong", project.name ?? project.id),
      failed > 0 ? badge({ label: `${failed} of ${total} failed`, tone: "bad" }) : h("span.meta", plural(total, "live artifact")),
    ),
  );
}

/** @param {Summary[]} list @param {Project[]} all @param {Asked} asked */
function cards(list, all, asked) {
  const { query } = asked;
  if (list.length === 0 && query) {
    return empty("search", "Nothing matches", `No live artifact has “${query}” in its title, description, source or project.`,
      button("Clear the search", () => setUi("search designs", "")));
  }
  if (list.length === 0) {
    return empty(
      "live",
      "No live artifacts yet",
      "A live artifact is a page made once and refreshed from its data whenever you want. Make one from a JSON file, or let your coding agent make one.",
      createLink("New live artifact"),
    );
  }
  const names = new Map(all.map((project) => [project.id, project.name ?? project.id]));
  const { from, to: end, props } = windowed("cards", list.length);
  if (end >= list.length) more(asked);
  return h(
    "ul.cards",
    { key: "cards", ...props },
    list.slice(from, end).map((entry) => card(entry, names.get(entry.projectId) ?? entry.projectId)),
  );
}

/** @param {import("../core/schema.js").ArtifactLine} artifact */
function shownSince({ restored, lastRefreshedAt, updatedAt }) {
  return restored?.at ?? lastRefreshedAt ?? updatedAt;
}

/** @param {Summary} artifact @param {string} project */
function card(artifact, project) {
  const stamp = `${project} ${running(artifact)} ${age(shownSince(artifact))}`;
  return memo(artifact, "card", stamp, () => cardOf(artifact, project));
}

/** @param {Summary} artifact @param {string} project */
function cardOf(artifact, project) {
  return h(
    "li.card",
    { key: artifact.id },
    thumb(artifact),
    h(
      "div.card-body",
      h(
        "div.row",
        h(
          "a.card-title.grow.clip",
          { href: to.live(artifact) },
          artifact.title,
        ),
        artifact.pinned && h("span.pinned", { title: "Pinned" }, icon("pin"), h("span.sr", "Pinned")),
      ),
      // One line however much there is to say: a window of a long list counts on cards of one height.
      h(
        "p.meta.clip",
        { title: artifact.description },
        project,
        (artifact.description || artifact.sourceLabel) && ` · ${artifact.description || artifact.sourceLabel}`,
      ),
      h(
        "div.row.card-foot",
        badges(artifact, running(artifact)).slice(0, 1).map(badge),
        h("span.grow"),
        h("span.meta", { title: stateShown(artifact) }, artifact.restored ? "restored " : "", time(shownSince(artifact))),
      ),
    ),
  );
}

/** @param {(project: Project) => void} then */
export function newProject(then) {
  askName(
    "New project",
    "Name",
    async (name) => {
      const project = await api.createProject(name);
      expire("projects");
      then(project);
    },
    "",
    "To use files of a directory, run “od init” in it instead.",
  );
}
