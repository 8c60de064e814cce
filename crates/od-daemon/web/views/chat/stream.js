// @ts-check
// The stream of a chat: words, calls of tools, plans, questions, and what went wrong.

import { ApiError, api } from "../../core/api.js";
import { cls, h, memo } from "../../core/dom.js";
import { sentence } from "../../core/format.js";
import { setUi, ui } from "../../core/store.js";
import { button, icon } from "../../ui/controls.js";
import { toast } from "../../ui/overlays.js";
import { markdown } from "./markdown.js";

/**
 * @typedef {import("../../core/chat.js").Chat} Chat
 * @typedef {import("../../core/chat.js").Entry} Entry
 * @typedef {import("../../core/schema.js").ToolCall} ToolCall
 * @typedef {import("../../core/schema.js").Permission} Permission
 */

/** Entries that are drawn at first, and how many more each time: a long chat costs no more than a short one. */
const STEP = 120;
/** As near to its end a stream follows what is added. */
const FOLLOW_PX = 80;

/** @param {Chat} chat */
export function stream(chat) {
  const { session, entries } = chat;
  const shown = ui(`chat shown ${session.id}`, STEP);
  const from = Math.max(0, entries.length - shown);
  const more = () => setUi(`chat shown ${session.id}`, shown + STEP);
  return h(
    "div.chat-stream",
    {
      key: `stream ${session.id}`,
      role: "log",
      // The announcer says what matters; every word as it comes would drown it.
      "aria-live": "off",
      "aria-label": "Conversation",
      tabindex: "0",
      ref: keepAtEnd,
    },
    from > 0 && h("div.row.center", { key: "more" }, button(`Show earlier (${from})`, more)),
    entries.slice(from).map((entry) => memo(entry, "entry", stamp(session.id, entry), () => drawn(session.id, entry))),
  );
}

/** Follows what is added, unless the person has scrolled away from the end. @param {Element} el */
function keepAtEnd(el) {
  let follows = true;
  el.scrollTop = el.scrollHeight;
  el.addEventListener("scroll", () => {
    follows = el.scrollHeight - el.scrollTop - el.clientHeight < FOLLOW_PX;
  });
  const atEnd = () => {
    if (follows) el.scrollTop = el.scrollHeight;
  };
  new MutationObserver(atEnd).observe(el, { childList: true, subtree: true, characterData: true });
  // The chip of what was made, or a window made smaller, leaves less room.
  new ResizeObserver(atEnd).observe(el);
}

/** What an entry's picture depends on besides itself. @param {string} session @param {Entry} entry */
function stamp(session, entry) {
  return `${session} ${ui(`chat open ${session} ${entry.number}`, "")} ${ui(`chat answering ${session} ${entry.number}`, "")}`;
}

/** @param {string} session @param {Entry} entry */
function drawn(session, entry) {
  const { number, content } = entry;
  const key = `entry ${number}`;
  if (content.kind === "text") {
    if (content.speaker === "thought") return folded(session, number, "Thinking", "", h("div.chat-text", markdown(content.text)));
    const who = content.speaker === "person" ? "person" : "agent";
    return h(
      "div",
      { key, class: `chat-words ${who}` },
      h("span.sr", who === "person" ? "You: " : "Agent: "),
      who === "person" ? h("p.as-typed", content.text) : h("div.chat-text", markdown(content.text)),
    );
  }
  if (content.kind === "tool") return tool(session, number, content);
  if (content.kind === "permission") return permission(session, number, content);
  if (content.kind === "plan") {
    return h(
      "ol.chat-plan",
      { key, "aria-label": "Plan" },
      content.steps.map((step) =>
        h("li", { class: step.status }, h("span.sr", `${step.status.replace("_", " ")}: `), icon(step.status === "completed" ? "check" : "chevron"), step.text)),
    );
  }
  if (content.kind === "problem") {
    return h(
      "div.problem",
      { key },
      icon("warn"),
      h("div.grow", h("p.strong", sentence(content.message)), content.suggestion && h("p", sentence(content.suggestion))),
    );
  }
  const said = {
    cancelled: "Stopped. No program of the agent is left.",
    refused: "The model refused.",
    limit: "The agent reached a limit of its own.",
    interrupted: "Interrupted. Ask again to go on.",
  }[content.outcome];
  return h("p.meta.chat-end", { key }, said);
}

/**
 * @param {string} session @param {number} number @param {string} title @param {string} note
 * @param {...import("../../core/dom.js").Child} inside
 */
function folded(session, number, title, note, ...inside) {
  const name = `chat open ${session} ${number}`;
  const open = ui(name, /** @type {string} */ ("")) === "open";
  return h(
    "div.chat-card",
    { key: `entry ${number}` },
    h(
      "button.chat-fold",
      { type: "button", "aria-expanded": String(open), onclick: () => setUi(name, open ? "" : "open") },
      icon("chevron", open ? "turned" : ""),
      h("span.grow.clip", title),
      note && h("span.meta", note),
    ),
    open && h("div.chat-inside", ...inside),
  );
}

/** @param {string} session @param {number} number @param {ToolCall} call */
function tool(session, number, call) {
  const note = { pending: "waiting", in_progress: "running", completed: "done", failed: "failed" }[call.status];
  return folded(session, number, call.title || call.tool || "Tool", note, ...raw(call));
}

/** The input as it goes to the tool, and the result. @param {ToolCall} call */
function raw(call) {
  return [
    call.tool && h("p.meta", { key: "tool" }, "Tool ", h("code", call.tool)),
    call.input !== undefined && h("p.meta", { key: "input title" }, "Input"),
    call.input !== undefined && h("pre", { key: "input" }, h("code", call.input)),
    call.result !== undefined && h("p.meta", { key: "result title" }, "Result"),
    call.result !== undefined && h("pre", { key: "result" }, h("code", call.result)),
  ];
}

/** @param {string} session @param {number} number @param {Permission} asked */
function permission(session, number, asked) {
  const { call, answer, choices } = asked;
  const busy = ui(`chat answering ${session} ${number}`, "") !== "";
  const said = answer && (answer.by === "nobody" ? "Not answered: the turn ended." : `Answered: ${answer.choice?.name ?? ""}`);
  return h(
    "div",
    {
      key: `entry ${number}`,
      class: cls("chat-ask", answer && "answered"),
      role: "group",
      "aria-label": `The agent asks: ${call.title}`,
      "data-question": answer ? null : String(number),
    },
    h("div.row", icon(answer ? "check" : "help"), h("span.strong.grow", answer ? call.title : `May the agent do this? ${call.title}`)),
    // What is run, not what it is called.
    h("pre", { tabindex: "0" }, h("code", call.input ?? "The agent shows no input.")),
    asked.inputCut && h("p.meta", "The rest is not shown: say no if you do not know it."),
    answer
      ? h("p.meta", said)
      : h(
          "div.row.chat-choices",
          choices.map((choice) =>
            button(choice.name || choice.kind.replace("_", " "), () => void reply(session, number, choice.id), {
              key: choice.id,
              kind: choice.kind === "allow_once" ? "primary" : "plain",
              disabled: busy,
              full: { allow_once: "Allow this once", allow_always: `${choice.name}: the agent will not ask again`, reject_once: "Reject", reject_always: `${choice.name}: never` }[choice.kind],
            })),
        ),
  );
}

/** @param {string} session @param {number} number @param {string} choice */
async function reply(session, number, choice) {
  const name = `chat answering ${session} ${number}`;
  setUi(name, "busy");
  try {
    await api.answerPermission(session, number, choice);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast("bad", error.message, { detail: error.suggestion });
  } finally {
    setUi(name, "");
  }
}

/** Answers the oldest open question by its kind, from the keyboard. @param {Chat} chat @param {"allow_once" | "reject_once"} kind */
export function answerOldest(chat, kind) {
  const open = chat.entries.find((entry) => entry.content.kind === "permission" && !entry.content.answer);
  if (open?.content.kind !== "permission") return false;
  const choice = open.content.choices.find((offered) => offered.kind === kind);
  if (!choice) return false;
  void reply(chat.session.id, open.number, choice.id);
  return true;
}
