// @ts-check
// Registered services: what a person lets live artifacts read beyond this machine, and what agents asked for.

import { api } from "../core/api.js";
import { h } from "../core/dom.js";
import { age, badge, plural } from "../core/format.js";
import { expire, setUi, ui, use } from "../core/store.js";
import { button, empty, loading, problem, retry } from "../ui/controls.js";
import { openDialog, toast } from "../ui/overlays.js";

/**
 * @typedef {import("../core/schema.js").RegisteredService} Service
 * @typedef {import("../core/schema.js").ServiceRequest} ServiceRequest
 * @typedef {import("../core/schema.js").DatabaseTable} DatabaseTable
 * @typedef {{answered?: string, tables?: DatabaseTable[], error?: import("../core/api.js").ApiError, busy?: boolean}} Tested
 * @typedef {"http" | "postgres"} Kind
 */

const NAMES = { http: "HTTP", postgres: "PostgreSQL" };

export function servicesSection() {
  const listed = use("services", api.services);
  const services = listed.value?.services ?? [];
  const requests = listed.value?.requests ?? [];
  return h(
    "section.services",
    { key: "services", "aria-labelledby": "services-title" },
    h(
      "div.row",
      h("h2.grow", { id: "services-title" }, "Registered services"),
      button("Register a service", () => register("http"), { kind: "primary", key: "register" }),
    ),
    h("p.quiet", "Addresses and databases that sources may read by name. Agents can use them and ask for more; only you register."),
    listed.error && retry(listed.error, "services"),
    !listed.value && !listed.error && loading(),
    requests.length > 0 && h("ul.service-list", { key: "requests" }, requests.map(requestRow)),
    listed.value && services.length === 0 && requests.length === 0 &&
      empty("plug", "No services yet", "Register an HTTP address or a PostgreSQL database, and live artifacts can read it."),
    services.length > 0 && h("ul.service-list", { key: "list" }, services.map(serviceRow)),
  );
}

/** @param {Service} service @returns {Kind} */
function kindOf(service) {
  return service.url.startsWith("postgresql:") ? "postgres" : "http";
}

/** @param {ServiceRequest} request */
function requestRow(request) {
  return h(
    "li.panel.service",
    { key: `asked ${request.name}` },
    h(
      "div.row",
      h(
        "div.grow",
        h("h3", request.name),
        h("p.meta", `An agent asked for this in project ${request.projectId}, ${age(request.askedAt)}`),
      ),
      badge({ label: `${NAMES[request.kind]}, asked for`, tone: "warn" }),
    ),
    h(
      "div.row.end",
      button("Dismiss", () => void api.dismissRequest(request.name).then(() => expire("services"), failed), { key: "dismiss" }),
      button("Register…", () => register(request.kind, request.name), { kind: "primary", key: "register" }),
    ),
  );
}

/** @param {Service} service */
function serviceRow(service) {
  const kind = kindOf(service);
  const tested = ui(`tested ${service.name}`, /** @type {Tested} */ ({}));
  return h(
    "li.panel.service",
    { key: service.name },
    h(
      "div.row",
      h("div.grow", h("h3", service.name), h("p.meta", h("code.clip", service.url), service.header && ` · secret in ${service.header}`)),
      badge({ label: NAMES[kind], tone: "quiet" }),
    ),
    tested.error && problem(tested.error),
    tested.answered && h("p", { role: "status" }, `It answers: ${tested.answered}`),
    tested.tables && schemaOf(tested.tables),
    h(
      "div.row.end",
      button("Remove", () => remove(service), { key: "remove", full: `Remove ${service.name}` }),
      button("Test", () => test(service), { key: "test", full: `Test ${service.name}`, busy: tested.busy ?? false }),
    ),
  );
}

/** @param {DatabaseTable[]} tables @param {string} [none] */
export function schemaOf(tables, none = "Its role may read no table. Grant it SELECT, or register another role.") {
  if (tables.length === 0) return h("p.quiet", none);
  return h(
    "details.tools",
    { open: true },
    h("summary", plural(tables.length, "table")),
    h(
      "ul.schema",
      tables.map((table) =>
        h(
          "li",
          { key: `${table.schema}.${table.name}` },
          h(
            "details",
            h("summary", h("code", table.schema ? `${table.schema}.${table.name}` : table.name), ` ${table.kind}, ${plural(table.columns.length, "column")}`),
            h("ul", table.columns.map((column) => h("li", { key: column.name }, h("code", column.name), ` ${column.type}`))),
          ),
        ),
      ),
    ),
  );
}

/** @param {Service} service */
async function test(service) {
  const key = `tested ${service.name}`;
  setUi(key, { busy: true });
  try {
    const answer = await api.testService(service.name);
    const tables = kindOf(service) === "postgres" ? { tables: answer.tables ?? [] } : {};
    setUi(key, { answered: answer.answered ?? "", ...tables });
  } catch (error) {
    setUi(key, { error });
  }
}

/** @param {Kind} kind @param {string} [name] */
function register(kind, name = "") {
  setUi("service kind", kind);
  openDialog({
    title: "Register a service",
    confirm: "Register",
    body: () => registration(name),
    run: async (form) => {
      const text = (/** @type {string} */ field) => String(form.get(field) ?? "").trim();
      const named = text("name");
      const chosen = ui("service kind", /** @type {Kind} */ ("http"));
      const secret = text("secret");
      const header = text("header");
      await api.addService(
        chosen === "postgres"
          ? { name: named, kind: chosen, secret }
          : { name: named, kind: chosen, url: text("url"), ...(header && { header }), ...(secret && { secret }) },
      );
      setUi(`tested ${named}`, {});
      expire("services");
      expire("connectors");
      toast("good", `${named} is registered`, { detail: "Test it to see what it answers" });
    },
  });
}

/** @param {string} name */
function registration(name) {
  const kind = ui("service kind", /** @type {Kind} */ ("http"));
  return [
    h(
      "label.field",
      "Kind",
      h(
        "select",
        { name: "kind", onchange: (/** @type {Event & {currentTarget: HTMLSelectElement}} */ event) => setUi("service kind", event.currentTarget.value) },
        Object.entries(NAMES).map(([value, label]) => h("option", { value, selected: value === kind }, label)),
      ),
    ),
    h(
      "label.field",
      "Name",
      h("input", {
        name: "name", required: true, maxlength: "32", autofocus: true, autocomplete: "off", spellcheck: "false",
        ref: (/** @type {HTMLInputElement} */ el) => {
          if (name) el.value = name;
        },
      }),
      h("span.hint", "Sources use this name: lower-case letters, digits, _ and -."),
    ),
    ...(kind === "postgres"
      ? [
          h(
            "label.field",
            { key: "connection" },
            "Connection string",
            h("input", { name: "secret", type: "password", required: true, autocomplete: "off", spellcheck: "false" }),
            h("span.hint", "User, password, host, port and database in one line, as psql takes it. Kept encrypted in your own home directory. Use a role that may only read; superusers are refused."),
          ),
        ]
      : [
          h(
            "label.field",
            { key: "url" },
            "Address",
            h("input", { name: "url", type: "url", required: true, autocomplete: "off", spellcheck: "false" }),
            h("span.hint", "The whole address, with its scheme. Sources may read below it, by GET only."),
          ),
          h("label.field", { key: "header" }, "Header of its secret", h("input", { name: "header", autocomplete: "off", spellcheck: "false", placeholder: "Authorization, or leave it empty" })),
          h("label.field", { key: "secret" }, "Secret", h("input", { name: "secret", type: "password", autocomplete: "off", spellcheck: "false" })),
        ]),
  ];
}

/** @param {Service} service */
function remove(service) {
  openDialog({
    title: `Remove ${service.name}?`,
    confirm: "Remove",
    kind: "danger",
    body: () => h("p", "Live artifacts that read it keep their last data; their next refresh says that it is gone. Its secret is deleted."),
    run: async () => {
      await api.removeService(service.name);
      expire("services");
      expire("connectors");
      toast("good", `${service.name} is removed`);
    },
  });
}

/** @param {import("../core/api.js").ApiError} error */
function failed(error) {
  expire("services");
  toast("bad", error.message, { detail: error.suggestion });
}
