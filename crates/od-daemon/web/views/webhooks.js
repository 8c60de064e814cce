// @ts-check
// Webhooks: where a person lets this machine tell that a check has changed.

import { api } from "../core/api.js";
import { h } from "../core/dom.js";
import { age, badge } from "../core/format.js";
import { expire, setUi, ui, use } from "../core/store.js";
import { button, empty, loading, problem, retry } from "../ui/controls.js";
import { openDialog, toast } from "../ui/overlays.js";

/**
 * @typedef {import("../core/schema.js").Webhook} Webhook
 * @typedef {{answered?: number, error?: import("../core/api.js").ApiError, busy?: boolean}} Tested
 */

export function webhooksSection() {
  const listed = use("webhooks", api.webhooks);
  const webhooks = listed.value?.webhooks ?? [];
  return h(
    "section.services",
    { key: "webhooks", "aria-labelledby": "webhooks-title" },
    h(
      "div.row",
      h("h2.grow", { id: "webhooks-title" }, "Webhooks"),
      button("Add a webhook", add, { key: "add" }),
    ),
    h("p.quiet", "Addresses that are told when a check changes: title, check, state, value and a link, signed with your secret. Only you register them."),
    listed.error && retry(listed.error, "webhooks"),
    !listed.value && !listed.error && loading(),
    listed.value && webhooks.length === 0 && empty("plug", "No webhooks", "Changed checks are shown here, and on your desktop if you switch that on."),
    webhooks.length > 0 && h("ul.service-list", { key: "list" }, webhooks.map(webhookRow)),
  );
}

/** @param {Webhook} webhook */
function webhookRow(webhook) {
  const { name, url, reach, deliveries } = webhook;
  const tested = ui(`tested webhook ${name}`, /** @type {Tested} */ ({}));
  return h(
    "li.panel.service",
    { key: name },
    h(
      "div.row",
      h("div.grow", h("h3", name), h("p.meta", h("code.clip", url), reach === "private" && " · private networks allowed")),
      badge(state(webhook)),
    ),
    deliveries.lost > 0 && !tested.error && h("p.field-error", `The last was lost: ${deliveries.lostBecause ?? "it did not arrive"}`),
    tested.error && problem(tested.error),
    tested.answered && h("p", { role: "status" }, `It took the test (${tested.answered})`),
    h(
      "div.row.end",
      button("Remove", () => remove(name), { key: "remove", full: `Remove ${name}` }),
      button("Test", () => void test(name), { key: "test", full: `Test ${name}`, busy: tested.busy ?? false }),
    ),
  );
}

/** @param {Webhook} webhook @returns {import("../core/format.js").Badge} */
function state({ deliveries }) {
  if (deliveries.lost > 0) return { label: `${deliveries.lost} lost`, tone: "bad" };
  if (deliveries.deliveredAt) return { label: `Arrived ${age(deliveries.deliveredAt)}`, tone: "good" };
  return { label: "Nothing sent yet", tone: "quiet" };
}

/** @param {string} name */
async function test(name) {
  const key = `tested webhook ${name}`;
  setUi(key, { busy: true });
  try {
    setUi(key, { answered: (await api.testWebhook(name)).answered ?? 200 });
  } catch (error) {
    setUi(key, { error });
  }
  expire("webhooks");
}

function add() {
  const field = { autocomplete: "off", spellcheck: "false", required: true };
  openDialog({
    title: "Add a webhook",
    confirm: "Add",
    body: () => [
      h("label.field", "Name", h("input", { name: "name", maxlength: "32", autofocus: true, ...field }), h("span.hint", "Lower-case letters, digits, _ and -.")),
      h("label.field", "Address", h("input", { name: "url", type: "url", ...field }), h("span.hint", "Secured by TLS, or plain HTTP of this machine. Redirects are not followed.")),
      h("label.field", "Secret", h("input", { name: "secret", type: "password", minlength: "8", ...field }), h("span.hint", "Signs what is sent, so that the receiver knows it is yours. Kept encrypted in your own home directory.")),
      h("label.choice", h("input", { name: "private", type: "checkbox" }), " Its host may be in a private network"),
    ],
    run: async (form) => {
      const text = (/** @type {string} */ name) => String(form.get(name) ?? "").trim();
      const name = text("name");
      await api.addWebhook({ name, url: text("url"), secret: text("secret"), ...(form.get("private") && { private: true }) });
      setUi(`tested webhook ${name}`, {});
      expire("webhooks");
      toast("good", `${name} is registered`, { detail: "Test it to see whether it answers" });
    },
  });
}

/** @param {string} name */
function remove(name) {
  openDialog({
    title: `Remove ${name}?`,
    confirm: "Remove",
    kind: "danger",
    body: () => h("p", "It hears of no changed check any more, and its secret is deleted."),
    run: async () => {
      await api.removeWebhook(name);
      expire("webhooks");
      toast("good", `${name} is removed`);
    },
  });
}
