// @ts-check
// Who may talk to the daemon: a bearer got for a one-time code in the address's fragment, kept for this
// tab only, and lent to other tabs of this very origin on request.

import { change, state } from "./store.js";

const KEY = "od.bearer";
const tabs = new BroadcastChannel("od.session");

export function bearer() {
  return sessionStorage.getItem(KEY) ?? "";
}

/** @param {string} value */
function keep(value) {
  sessionStorage.setItem(KEY, value);
  change(() => {
    state.session = "open";
  });
}

/**
 * Says that the daemon refused a bearer. A newer one, got meanwhile, is left alone.
 * @param {string} refused
 */
export function sessionEnded(refused) {
  if (bearer() !== refused) return;
  sessionStorage.removeItem(KEY);
  change(() => {
    state.session = "closed";
  });
  tabs.postMessage({ ask: true });
}

tabs.onmessage = (/** @type {MessageEvent} */ message) => {
  const { ask, give } = message.data ?? {};
  if (ask && bearer() && state.session === "open") tabs.postMessage({ give: bearer() });
  if (typeof give === "string" && state.session !== "open") keep(give);
};

/**
 * Takes the code out of the address (before anything can copy it from there) and returns it.
 * @returns {string}
 */
export function takeCode() {
  const found = /[#?&]code=([^&?#/]+)/.exec(location.hash);
  if (!found?.[1]) return "";
  history.replaceState(null, "", "#/designs");
  return decodeURIComponent(found[1]);
}

/**
 * Opens the session with a code, a kept bearer, or one lent by another tab.
 * @param {string} code
 */
export async function openSession(code) {
  if (code) {
    const answer = await fetch("/api/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    }).catch(() => null);
    if (answer?.ok) {
      const { token } = await answer.json();
      keep(token);
      tabs.postMessage({ give: token });
      return;
    }
  }
  if (bearer()) {
    change(() => {
      state.session = "open";
    });
    return;
  }
  change(() => {
    state.session = "closed";
  });
  tabs.postMessage({ ask: true });
}
