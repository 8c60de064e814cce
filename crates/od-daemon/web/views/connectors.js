// @ts-check
// Connectors: what live artifacts may read from, under which account, and why each tool is safe.

import { api } from "../core/api.js";
import { h } from "../core/dom.js";
import { badge, plural, sentence } from "../core/format.js";
import { expire, setUi, ui, use } from "../core/store.js";
import { button, empty, icon, loading, problem, retry } from "../ui/controls.js";
import { openDialog, toast, toastError } from "../ui/overlays.js";
import { fact } from "./artifact/provenance.js";
import { projects } from "./home.js";
import { schemaOf, servicesSection } from "./services.js";
import { isDatabaseFile } from "./tables.js";
import { webhooksSection } from "./webhooks.js";

/**
 * @typedef {import("../core/schema.js").Connector} Connector
 * @typedef {import("../core/schema.js").Tool} Tool
 */

/** @type {Record<string, {label: string, tone: "good" | "bad" | "quiet" | "warn"}>} */
const STATUS = {
  connected: { label: "Connected", tone: "good" },
  available: { label: "Not connected", tone: "quiet" },
  error: { label: "Error", tone: "bad" },
  disabled: { label: "Disabled", tone: "warn" },
};

export function connectorsView() {
  const listed = use("connectors", api.connectors);
  return h(
    "main.page",
    { key: "connectors" },
    h("div.page-head", h("h1", "Connectors")),
    h(
      "p.lead",
      "Live artifacts read through these. Only tools that read and need no approval ever run, for agents and for refreshes alike; this is checked again at every call.",
    ),
    listed.error && retry(listed.error, "connectors"),
    !listed.value && !listed.error && loading(),
    listed.value?.length === 0 &&
      empty("plug", "No connectors", "This daemon was started without any. Restart it with “od serve”."),
    servicesSection(),
    listed.value && h("ul.connectors", listed.value.map(connectorCard)),
    webhooksSection(),
  );
}

/** @param {Connector} connector */
function connectorCard(connector) {
  const status = STATUS[connector.status] ?? { label: connector.status, tone: "quiet" };
  const runnable = connector.tools.filter(readable);
  const rest = connector.tools.filter((tool) => !readable(tool));
  return h(
    "li.connector",
    { key: connector.id },
    h(
      "header.row",
      h("span.connector-icon", icon(connector.category === "files" ? "folder" : "plug")),
      h(
        "div.grow",
        h("h2", connector.name),
        h("p.meta", [connector.category, connector.provider].filter(Boolean).join(" · ")),
      ),
      badge(status),
    ),
    connector.description && h("p.quiet", sentence(connector.description)),
    connector.lastError && h("p.field-error", sentence(connector.lastError)),
    h(
      "dl.facts",
      fact("Account", connector.accountLabel ?? (isLocal(connector) ? "this machine" : "none, public data only")),
    ),
    h(
      "details.tools",
      { open: true },
      h("summary", plural(runnable.length, "read-only tool"), rest.length > 0 && `, ${rest.length} never run`),
      h("ul", [...runnable, ...rest].map(toolRow)),
    ),
    connector.id === "sqlite" && connector.status === "connected" && databaseBrowser(),
    h("footer.row.end", connectorAction(connector)),
  );
}

/**
 * @typedef {{tables?: import("../core/schema.js").DatabaseTable[], error?: import("../core/api.js").ApiError, busy?: boolean}} Browsed
 */

/** The databases of a project, and what is in the chosen one. */
function databaseBrowser() {
  const known = projects().value ?? [];
  const project = ui("browsed project", known[0]?.id ?? "");
  const listed = use(`files/${project}`, async () => (project ? api.files(project) : []));
  const databases = (listed.value ?? []).filter(({ path }) => isDatabaseFile(path));
  const held = ui("browsed file", "");
  const file = databases.some(({ path }) => path === held) ? held : databases[0]?.path ?? "";
  const browsed = ui(`browsed ${project}/${file}`, /** @type {Browsed} */ ({}));
  const chosen = (/** @type {string} */ name) => (/** @type {Event} */ event) =>
    setUi(name, /** @type {HTMLSelectElement} */ (event.target).value);
  return h(
    "section.browser",
    { key: "browser", "aria-label": "Databases of a project" },
    h(
      "div.choices",
      h("label.field", "Project", h("select", { value: project, name: "browsed project", onchange: chosen("browsed project") },
        known.map(({ id, name }) => h("option", { value: id, key: id, selected: id === project }, name ?? id)))),
      h("label.field", "Database", h("select", { value: file, name: "browsed file", disabled: databases.length === 0, onchange: chosen("browsed file") },
        databases.length === 0 && h("option", { value: "" }, "None in this project"),
        databases.map(({ path }) => h("option", { value: path, key: path, selected: path === file }, path)))),
    ),
    browsed.error && problem(browsed.error),
    browsed.tables && schemaOf(browsed.tables, "There is no table in it."),
    h("div.row.end", button("Test", () => void browse(project, file), { key: "test", full: file ? `Test ${file}` : "Test", busy: browsed.busy ?? false, disabled: !file })),
  );
}

/** @param {string} project @param {string} file */
async function browse(project, file) {
  const at = `browsed ${project}/${file}`;
  setUi(at, { busy: true });
  try {
    setUi(at, { tables: (await api.file(project, file)).tables ?? [] });
  } catch (error) {
    setUi(at, { error });
  }
}

/** @param {Connector} connector */
function isLocal(connector) {
  return connector.auth.provider === "none";
}

/** @param {Tool} tool */
function readable(tool) {
  return tool.safety.sideEffect === "read" && tool.safety.approval === "auto";
}

/** @param {Tool} tool */
function toolRow(tool) {
  return h(
    "li",
    { key: tool.name },
    h(
      "div.row",
      h("code.grow.clip", tool.name),
      badge(
        readable(tool)
          ? { label: "Read, automatic", tone: "good" }
          : { label: `${tool.safety.sideEffect}, ${tool.safety.approval}`, tone: "warn" },
      ),
    ),
    h("p", tool.title),
    h("p.meta", sentence(tool.safety.reason)),
  );
}

/** @param {Connector} connector */
function connectorAction(connector) {
  const local = isLocal(connector);
  // Public data needs no account: without a stored token there is only something to switch off.
  const off = local || !connector.auth.configured;
  const on = connector.status === "connected";
  return [
    (on || connector.status === "error") && button(off ? "Disable" : "Disconnect", () => disconnect(connector, off), { key: "off" }),
    !(on && (local || connector.auth.configured)) &&
      button(local ? "Enable" : "Connect account", () => connect(connector, local), { kind: "primary", key: "on" }),
  ];
}

/** @param {Connector} connector @param {boolean} local */
function connect(connector, local) {
  if (local) {
    void api.connect(connector.id).then(() => done(`${connector.name} is enabled`), toastError);
    return;
  }
  openDialog({
    title: `Connect ${connector.name}`,
    confirm: "Connect",
    body: () =>
      h(
        "label.field",
        "Access token",
        h("input", { name: "secret", type: "password", autocomplete: "off", autofocus: true, spellcheck: "false" }),
        h(
          "span.hint",
          "Kept encrypted in your own home directory. It never enters a project file, an artifact, a log or an agent's context. A token with read access is enough.",
        ),
      ),
    run: async (form) => {
      await api.connect(connector.id, String(form.get("secret") ?? ""));
      done(`${connector.name} is connected`);
    },
  });
}

/** @param {Connector} connector @param {boolean} off */
function disconnect(connector, off) {
  openDialog({
    title: `${off ? "Disable" : "Disconnect"} ${connector.name}?`,
    confirm: off ? "Disable" : "Disconnect",
    kind: "danger",
    body: () =>
      h(
        "p",
        "Live artifacts that read through it keep their last data but cannot be refreshed until you connect it again.",
        !off && " The stored token is deleted.",
      ),
    run: async () => {
      await api.disconnect(connector.id);
      done(`${connector.name} is ${off ? "disabled" : "disconnected"}`);
    },
  });
}

/** @param {string} said */
function done(said) {
  expire("connectors");
  expire("artifact");
  toast("good", said);
}
