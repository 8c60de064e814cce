// @ts-check
// The frame around every view: header, connection, theme, and what is shown without a session.

import { cls, h } from "../core/dom.js";
import { current, to } from "../core/router.js";
import { change, setUi, state, ui } from "../core/store.js";
import { copyable, icon, iconButton } from "./controls.js";
import { openShortcuts } from "./shortcuts.js";
import { chatButton } from "./chat.js";

const THEMES = /** @type {const} */ (["auto", "light", "dark"]);

export function applyTheme() {
  const theme = localStorage.getItem("od.theme") ?? "auto";
  document.documentElement.dataset.theme = theme;
  return theme;
}

function nextTheme() {
  const now = THEMES.findIndex((name) => name === applyTheme());
  localStorage.setItem("od.theme", THEMES[(now + 1) % THEMES.length] ?? "auto");
  applyTheme();
  change();
}

function themeButton() {
  const theme = applyTheme();
  const name = { auto: "auto", light: "sun", dark: "moon" }[theme] ?? "auto";
  return iconButton(name, `Theme: ${theme}`, nextTheme, { key: "theme" });
}

function linkState() {
  const label = { live: "Live", connecting: "Connecting…", lost: "Reconnecting…" }[state.link];
  return h(
    "span",
    { class: cls("link", state.link), role: "status", title: "Connection to the daemon" },
    h("span", { class: cls("dot", state.link !== "live" && "busy"), "aria-hidden": "true" }),
    h("span.label", label),
  );
}

/** @param {string} href @param {import("../core/dom.js").Child} label @param {boolean} on */
function navLink(href, label, on) {
  return h(
    "a",
    { href, class: "nav-link", "aria-current": on ? "page" : null, key: href },
    label,
  );
}

export function header() {
  const { view, project } = current();
  const inside = view === "project" || view === "file" || view === "live";
  return h(
    "header.top",
    { key: "top" },
    inside &&
      state.session === "open" &&
      iconButton("menu", "Show the project tree", () => setUi("drawer", !ui("drawer", false)), {
        extra: "drawer-button",
        key: "drawer",
      }),
    h(
      "a",
      { href: to.designs(), class: "wordmark", "aria-label": "Open Design, home", key: "home" },
      h("span.mark", { "aria-hidden": "true" }, icon("live")),
      h("span.name", "od"),
    ),
    h(
      "nav.grow",
      { "aria-label": "Main", key: "nav" },
      navLink(to.designs(), "Designs", view === "designs" || inside),
      navLink(to.connectors(), "Connectors", view === "connectors"),
      navLink(to.create(inside ? project : undefined), ["New", h("span.long", " live artifact")], view === "new"),
    ),
    inside && state.session === "open" && chatButton(),
    linkState(),
    themeButton(),
    iconButton("help", "Keyboard shortcuts", openShortcuts, { key: "help", extra: "help" }),
  );
}

/** What is shown when there is no session: how to get one. */
export function closedView() {
  return h(
    "main.narrow",
    { key: "closed" },
    h(
      "div.gate",
      h("div.mark.large", { "aria-hidden": "true" }, icon("live")),
      h("h1", "Open the console from your terminal"),
      h(
        "p.quiet",
        "This browser has no session with the daemon yet, or the session has ended. Start one with:",
      ),
      copyable("od open"),
      h(
        "p.meta",
        "It opens the console here with a one-time code, and this browser stays signed in for 30 days. This tab goes on by itself then, at the place the link leads to. Another browser is another session: run the command with this one as your default, or copy its link here.",
      ),
    ),
  );
}

export function announcer() {
  return h("div.sr", { "aria-live": "polite", key: "announcer" }, state.announcement);
}

export function offlineBar() {
  if (state.link !== "lost" || state.session !== "open") return null;
  return h(
    "div.offline",
    { role: "status", key: "offline" },
    icon("warn"),
    state.unproven
      ? "Another program answers at the daemon's address; it was sent nothing. What you see is the last known state, and goes on by itself once the daemon is back. If you made OD_HOME anew, run od open."
      : "The daemon does not answer. What you see is the last known state; it comes back by itself.",
  );
}
