// @ts-check
// Starts the console: session, events, and one painter for every change.

import { h, patch } from "./core/dom.js";
import { current, onRoute, reread, to } from "./core/router.js";
import { openSession, takeCode } from "./core/session.js";
import { change, known, onChange, setUi, state } from "./core/store.js";
import { empty } from "./ui/controls.js";
import { keepCurrent, lookAgain, startOver } from "./ui/live.js";
import { dialogs, toasts } from "./ui/overlays.js";
import { announcer, applyTheme, closedView, header, offlineBar } from "./ui/shell.js";
import { listen } from "./ui/shortcuts.js";
import { connectorsView } from "./views/connectors.js";
import { createView } from "./views/create.js";
import { designsView } from "./views/home.js";
import { dropOldTickets } from "./views/artifact/preview.js";
import { trashView } from "./views/trash.js";
import { workspaceView } from "./views/workspace.js";

const AGES_EVERY_MS = 20_000;
const PROGRESS_EVERY_MS = 500;

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
/** @type {import("./core/dom.js").VNode[]} */
let painted = [];
/** @type {import("./core/store.js").Session} */
let session = "unknown";

function view() {
  if (state.session === "closed") return closedView();
  if (state.session === "unknown") return h("main", { key: "starting" });
  const route = current();
  if (route.view === "designs") return designsView();
  if (route.view === "connectors") return connectorsView();
  if (route.view === "new") return createView();
  if (route.view === "trash") return trashView();
  if (route.view !== "unknown") return workspaceView();
  return h(
    "main.page",
    { key: "unknown" },
    empty("search", h("h1", "There is nothing at this address"), "The link may be from another version.",
      h("a.button.primary", { href: to.designs() }, "All designs")),
  );
}

function paint() {
  if (state.session === "open" && session !== "open") {
    if (session === "closed") startOver();
    void keepCurrent();
  }
  session = state.session;
  const next = [header(), offlineBar(), view(), toasts(), dialogs(), announcer()].filter((node) => node !== null);
  patch(root, painted, next);
  painted = next;
  document.title = titleOf();
}

function titleOf() {
  const { view: name, artifact } = current();
  if (state.session === "closed") return "Session ended · od";
  const open = name === "live" && known(`artifact/${artifact}`)?.title;
  const fixed = { designs: "Designs", connectors: "Connectors", new: "New live artifact", trash: "Trash" };
  return `${open || (fixed[/** @type {"designs"} */ (name)] ?? "Project")} · od`;
}

/** A new view starts at its top, and a screen reader starts at its heading. */
function arrive() {
  paint();
  const find = (/** @type {string} */ what) => /** @type {HTMLElement | null} */ (document.querySelector(what));
  (find("main h1") ?? find("main"))?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function tick() {
  // Ages and running times are the only things that change without an event.
  change();
  setTimeout(tick, state.progress.size > 0 ? PROGRESS_EVERY_MS : AGES_EVERY_MS);
}

applyTheme();
document.querySelector(".skip")?.addEventListener("click", (event) => {
  // The fragment is the address of the view: skipping must not change it.
  event.preventDefault();
  document.getElementById("main")?.focus();
});
onChange(paint);
listen();
onRoute((route, before) => {
  const code = takeCode();
  if (code) {
    reread();
    void openSession(code);
  }
  setUi("drawer", false);
  dropOldTickets();
  if (route.view !== before.view || route.artifact !== before.artifact) arrive();
});
// Edits by hand send no event: whoever comes back from an editor sees them.
addEventListener("focus", lookAgain);
const code = takeCode();
reread();
void openSession(code);
setTimeout(tick, PROGRESS_EVERY_MS);
