// @ts-check
// The prompt that a new live artifact starts from, before there is a chat.

import { agents } from "../../core/chat.js";
import { h } from "../../core/dom.js";
import { go, to } from "../../core/router.js";
import { setUi, ui } from "../../core/store.js";
import { agentCommand, button, copyable, icon } from "../../ui/controls.js";
import { compose } from "./pane.js";
import { suggestions } from "./suggestions.js";

/** What an agent makes: a prompt for the chat, or the same in a terminal. @param {string} project */
export function agentPanel(project) {
  return h(
    "section.panel",
    { "aria-labelledby": "by-agent" },
    h("h2", { id: "by-agent" }, "With your coding agent"),
    h(
      "p.quiet",
      "The agent designs the page and picks the source. It opens here by itself when it is ready.",
    ),
    project && promptForm(project),
    h("p.quiet", "Or in a terminal:"),
    h("ol.steps",
      h("li", "Install the skill once:", copyable("od skills install")),
      h("li", "Start the agent inside the project:", agentCommand(project),
        h("span.hint", "Any agent's command works after the two dashes.")),
      h("li", "Ask for it in your words:", copyable("Make a live dashboard of our releases and open issues.", "prompt")),
    ),
  );
}

/** A prompt, and what could be asked for; the chat has it next, where the agent is chosen. @param {string} project */
function promptForm(project) {
  const text = ui("first prompt", "");
  // Known before the button is pressed: the chat of a machine without an agent has nowhere to show a prompt.
  const isAlone = agents().value?.every((agent) => !agent.program) ?? false;
  const hand = (/** @type {string} */ prompt) => {
    setUi("first prompt", "");
    compose(project, prompt);
    go(to.project(project));
  };
  const suggest = (/** @type {string} */ prompt) => {
    setUi("first prompt", prompt);
    document.getElementById("first-prompt")?.focus();
  };
  return h(
    "form.field",
    {
      key: "prompt",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (text.trim() && !isAlone) hand(text.trim());
      },
    },
    h("label", { for: "first-prompt" }, "What do you want to see?"),
    h("textarea", {
      id: "first-prompt", rows: "3", value: text,
      oninput: (/** @type {Event} */ event) => setUi("first prompt", /** @type {HTMLTextAreaElement} */ (event.target).value),
    }),
    h("div.chat-suggestions", suggestions(project).map((each) => button(each, () => suggest(each), { key: each }))),
    h("div.row", h("button.button.primary", { type: "submit", disabled: isAlone || text.trim() === "" }, icon("chat"), h("span", "Ask your agent"))),
    isAlone &&
      h("p.hint", "No agent is installed on this machine. ",
        h("a", { href: to.project(project), onclick: () => setUi("chat", "open") }, "See which there are"),
        "; what you wrote stays here."),
  );
}
