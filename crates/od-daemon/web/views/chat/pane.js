// @ts-check
// The pane beside the preview: which agent, what it is asked, what it says, and what it made.

import { ApiError, api } from "../../core/api.js";
import { agents, chat, chats, isBusy } from "../../core/chat.js";
import { h } from "../../core/dom.js";
import { time } from "../../core/format.js";
import { current, to } from "../../core/router.js";
import { announce, change, expire, setUi, ui } from "../../core/store.js";
import { button, copyable, icon, iconButton, loading, problem } from "../../ui/controls.js";
import { toast } from "../../ui/overlays.js";
import { focusComposer, show, shownChat, toggleChat } from "../../ui/chat.js";
import { answerOldest, stream } from "./stream.js";
import { suggestions } from "./suggestions.js";

/** @typedef {import("../../core/chat.js").Session} Session */
/** @typedef {import("../../core/chat.js").Chat} Chat */
/** @typedef {import("../../core/schema.js").AgentListing} Agent */

const STATUS = {
  starting: "Starting…", idle: "Ready", working: "Working…", stopping: "Stopping…",
  stopped: "Stopped", interrupted: "Interrupted", closed: "Closed", failed: "Did not start",
};

/** Opens the pane with a prompt that the person can still change. @param {string} project @param {string} prompt */
export function compose(project, prompt) {
  saveDraft(project, prompt);
  setUi("chat", "open");
  const id = shownChat(project);
  const open = id ? chat(id).value : undefined;
  // What is under way is not disturbed: a brief begins a chat of its own.
  if (open && isBusy(open.session.status)) show(project, "");
  setUi(`chat draft ${project}`, prompt);
  focusComposer();
}

export function chatPane() {
  const { project } = current();
  const id = shownChat(project);
  const open = id ? chat(id) : undefined;
  const found = open?.value?.session.projectId === project ? open.value : undefined;
  const list = ui("chat list", false);
  return h(
    "aside.chat",
    { "aria-label": "Chat with your agent", key: "chat", onkeydown: (/** @type {KeyboardEvent} */ event) => keys(event, found) },
    head(project, found),
    list ? sessions(project) : null,
    !list && open?.error && problem(open.error, button("New chat", () => show(project, ""))),
    !list && id && !found && !open?.error && loading("Reading the chat"),
    !list && found && stream(found),
    !list && found && made(found.session),
    !list && !id && beginning(project),
    !list && composer(project, found),
  );
}

/** @param {KeyboardEvent} event @param {Chat | undefined} found */
function keys(event, found) {
  if (event.key === "Escape") {
    if (found?.session.status === "working") void stop(found.session);
    else toggleChat();
    event.preventDefault();
    event.stopPropagation();
  }
  if (!event.altKey || !found) return;
  const kind = event.code === "KeyY" ? "allow_once" : event.code === "KeyN" ? "reject_once" : undefined;
  if (kind && answerOldest(found, kind)) event.preventDefault();
}

/** @param {string} project @param {Chat | undefined} found */
function head(project, found) {
  const session = found?.session;
  const list = ui("chat list", false);
  return h(
    "div.chat-head",
    { key: "head" },
    h(
      "div.grow.title-block",
      h("h2.clip", session?.title ?? "New chat"),
      session && h("p.meta.clip", { key: "status" }, `${session.agent} · ${STATUS[session.status]}`, usage(session)),
    ),
    iconButton("plus", "New chat", () => show(project, "")),
    iconButton("clock", "Chats of this project", () => {
      expire(`chats/${project}`);
      setUi("chat list", !list);
    }, { pressed: list }),
    iconButton("close", "Close the chat pane", toggleChat),
  );
}

/** @param {Session} session */
function usage({ usage: used }) {
  if (!used) return "";
  const parts = [];
  if (typeof used.contextUsed === "number") {
    const share = used.contextSize ? ` (${Math.round((100 * used.contextUsed) / used.contextSize)} %)` : "";
    parts.push(`${used.contextUsed.toLocaleString("en")} tokens${share}`);
  }
  if (used.cost) parts.push(used.cost);
  return parts.length > 0 ? ` · ${parts.join(", ")}` : "";
}

/** @param {string} project */
function sessions(project) {
  const listed = chats(project);
  return h(
    "div.chat-stream",
    { key: "chats" },
    listed.error && problem(listed.error),
    !listed.value && !listed.error && loading(),
    listed.value?.length === 0 && h("p.quiet", "No chats yet."),
    h("ul.lines", (listed.value ?? []).map((session) =>
      h("li", { key: session.id },
        h("button.chat-line", { type: "button", onclick: () => show(project, session.id) },
          h("span.grow.clip.strong", session.title),
          h("span.meta", `${session.agent} · ${STATUS[session.status]} · `, time(session.updatedAt)))))),
  );
}

/** What was made in the chat, each a way to it. @param {Session} session */
function made(session) {
  if (session.made.length === 0) return null;
  return h(
    "div.chat-made",
    { key: "made" },
    session.made.slice(-5).map(({ artifactId, title }) =>
      h("a.button.plain", { key: artifactId, href: to.live({ projectId: session.projectId, id: artifactId }) },
        icon("live"), h("span.clip", `Made: ${title}`))),
  );
}

/** Before the first prompt: the agent, and what could be asked. @param {string} project */
function beginning(project) {
  const listed = agents();
  const installed = listed.value?.filter((agent) => agent.program) ?? [];
  return h(
    "div.chat-stream",
    { key: "beginning" },
    listed.error && problem(listed.error),
    !listed.value && !listed.error && loading("Looking for agents"),
    listed.value && installed.length === 0 && none(listed.value),
    installed.length > 0 && picker(listed.value ?? []),
    installed.length > 0 && h("div.chat-suggestions", { key: "suggestions" },
      suggestions(project).map((text) => button(text, () => compose(project, text), { key: text }))),
    installed.length > 0 && h("p.meta", { key: "note" },
      "The agent works in the project's folder as you do. Whatever it wants to run is shown here and asked first; od's own tools are not."),
  );
}

/** @param {Agent[]} list */
function picker(list) {
  const chosen = chosenAgent(list);
  return h(
    "fieldset.field",
    { key: "agents" },
    h("legend", "Agent"),
    list.map((agent) =>
      h(
        "label.option",
        { key: agent.id },
        h("input", {
          type: "radio", name: "agent", value: agent.id, disabled: !agent.program, checked: chosen === agent.id,
          onchange: () => {
            localStorage.setItem("od.agent", agent.id);
            change();
          },
        }),
        h("span.grow", h("span.strong", agent.name),
          h("span.hint", agent.program
            ? `${agent.version ?? "installed"}${agent.testedVersion ? `, tried with ${agent.testedVersion}` : ", not tried"}`
            : "not installed")),
      )),
    list.some((agent) => !agent.program) && h(
      "details",
      { key: "install" },
      h("summary.meta", "Install another one"),
      list.filter((agent) => !agent.program).map((agent) => h("div", { key: agent.id }, h("p.meta", agent.name), copyable(agent.install))),
    ),
  );
}

/** @param {Agent[]} list */
function none(list) {
  return h(
    "div",
    { key: "none" },
    h("p.strong", "No agent is installed"),
    h("p.quiet", "A chat is with an agent of your own. Install one, sign in to it once in a terminal, and look again."),
    list.map((agent) => h("div", { key: agent.id }, h("p.meta", `${agent.name}; signs in with `, h("code", agent.login)), copyable(agent.install))),
    h("p.meta", "Installed, and not found? The daemon looks in the PATH of your login shell; od config set agents-path says another one."),
    button("Look again", () => expire("agents")),
  );
}

/** @param {Agent[]} list */
function chosenAgent(list) {
  const known = list.filter((agent) => agent.program);
  const last = localStorage.getItem("od.agent");
  return known.find((agent) => agent.id === last)?.id ?? known[0]?.id ?? "";
}

/** @param {string} project */
function draft(project) {
  return ui(`chat draft ${project}`, sessionStorage.getItem(`od.draft.${project}`) ?? "");
}

/** @param {string} project @param {string} text */
function saveDraft(project, text) {
  sessionStorage.setItem(`od.draft.${project}`, text);
}

/** @param {string} project @param {Chat | undefined} found */
function composer(project, found) {
  const session = found?.session;
  const busy = session ? isBusy(session.status) : false;
  const listed = agents().value;
  const nobody = !session && listed !== undefined && !listed.some((agent) => agent.program);
  // Until the agents are known there is nobody to send it to.
  const ready = Boolean(session) || chosenAgent(listed ?? []) !== "";
  if (nobody) return null;
  const text = draft(project);
  const sending = ui("chat sending", false);
  const submit = () => void send(project, session);
  return h(
    "form.chat-composer",
    {
      key: "composer",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        submit();
      },
    },
    h("textarea", {
      rows: "3",
      "aria-label": "Message to the agent",
      placeholder: session ? "Ask for more, or for a change" : "What do you want to see?",
      value: text,
      oninput: (/** @type {Event} */ event) => {
        const { value } = /** @type {HTMLTextAreaElement} */ (event.target);
        saveDraft(project, value);
        setUi(`chat draft ${project}`, value);
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        submit();
      },
    }),
    h(
      "div.row",
      h("span.meta.grow", "Enter sends, Shift+Enter breaks the line"),
      session?.status === "working" || session?.status === "starting"
        ? button("Stop", () => void stop(session), { key: "stop" })
        : null,
      h("button.button.primary", { key: "send", type: "submit", disabled: busy || sending || !ready || text.trim() === "" }, h("span", "Send")),
    ),
  );
}

/** @param {string} project @param {Session | undefined} session */
async function send(project, session) {
  const text = draft(project).trim();
  if (!text || ui("chat sending", false) || (session && isBusy(session.status))) return;
  setUi("chat sending", true);
  try {
    if (session) await api.promptAgent(session.id, text);
    else {
      const agent = chosenAgent(agents().value ?? []);
      if (!agent) return;
      const opened = await api.openAgentSession(project, agent, text);
      show(project, opened.id);
      expire(`chats/${project}`);
    }
    saveDraft(project, "");
    setUi(`chat draft ${project}`, "");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast("bad", error.message, { detail: error.suggestion });
  } finally {
    setUi("chat sending", false);
  }
}

/** @param {Session} session */
async function stop(session) {
  announce("Stopping the agent");
  try {
    await api.cancelAgent(session.id);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // It ended by itself in this very moment.
    if (error.status !== 409) toast("bad", error.message, { detail: error.suggestion });
  }
}

