// @ts-check
// Whether the chat is open, and which one: what the shell, the stream of events and the pane agree on.

import { cls } from "../core/dom.js";
import { current } from "../core/router.js";
import { change, setUi, state, ui } from "../core/store.js";
import { iconButton } from "./controls.js";

export function isChatOpen() {
  return ui("chat", /** @type {string} */ ("")) === "open" && Boolean(current().project);
}

export function toggleChat() {
  setUi("chat", isChatOpen() ? "" : "open");
  if (isChatOpen()) focusComposer();
}

/** The chat that is shown in a project; none while a new one is composed. @param {string} project */
export function shownChat(project) {
  return ui(`chat of ${project}`, sessionStorage.getItem(`od.chat.${project}`) ?? "");
}

/** @param {string} project @param {string} id */
export function show(project, id) {
  sessionStorage.setItem(`od.chat.${project}`, id);
  change(() => {
    state.ui.set(`chat of ${project}`, id);
    state.ui.set("chat list", false);
  });
}

export function focusComposer() {
  requestAnimationFrame(() => requestAnimationFrame(() => {
    /** @type {HTMLElement | null} */ (document.querySelector(".chat-composer textarea"))?.focus();
  }));
}

/** The button in the frame that opens the pane. */
export function chatButton() {
  return iconButton("chat", isChatOpen() ? "Close the chat pane" : "Chat with your agent", toggleChat, {
    key: "chat", pressed: isChatOpen(), extra: cls("chat-button"),
  });
}
