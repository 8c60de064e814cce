// @ts-check
// Who talks to whom. This browser has a key that cannot be copied out of it, and knows the daemon by its
// public key. Before a bearer is used, both sign what the other chose: whoever merely took the daemon's port
// gets a number and nothing else. The bearer is in this page's memory only, and is dropped whenever a
// connection ends.

import { change, state } from "./store.js";

const KEY = { name: "ECDSA", namedCurve: "P-256" };
const SIGNING = { name: "ECDSA", hash: "SHA-256" };
const SLOT = "this browser";
/** An answer on loopback takes milliseconds; one that never comes must not hold the page. */
const ANSWER_MS = 10_000;
/** A bearer is renewed well before it ends. */
const RENEW_MS = 3 * 60_000;
/** Heartbeats come every 15 s: after a longer silence somebody else may have the port. */
const SILENCE_MS = 20_000;

/** @typedef {{id: string, daemonKey: string, keys: CryptoKeyPair}} Kept */

/** Why there is no bearer: nobody answers, somebody else does, or the session is over. */
export class NoBearer extends Error {
  /** @param {"unreachable" | "unproven" | "ended"} why */
  constructor(why) {
    super(why);
    this.why = why;
  }
}

/** Says that a tab got a session; it carries nothing else, for any page of this origin can listen. */
const tabs = new BroadcastChannel("od.session");

let token = "";
let renewAt = 0;
let seenAt = 0;
/** @type {Promise<string> | undefined} */
let meeting;
/** Where the browser keeps nothing (some private windows), the session lasts as long as this page. @type {Kept | undefined} */
let unsaved;

/** Notes that the daemon answered. */
export function seen() {
  seenAt = Date.now();
}

/** Forgets the bearer: the next request proves the daemon first. @param {string} [only] this one, if it is still the bearer */
export function drop(only = token) {
  if (only === token) token = "";
}

/** The bearer, from a daemon that has just proved itself or never went silent since. @returns {Promise<string>} */
export async function bearer() {
  const now = Date.now();
  if (token && now < renewAt && now - seenAt < SILENCE_MS) return token;
  meeting ??= meet().finally(() => {
    meeting = undefined;
  });
  return meeting;
}

async function meet() {
  token = "";
  const kept = await load();
  if (!kept) throw ended();
  const { nonce, challenge } = await prove(async (key) => key === kept.daemonKey);
  const signature = await sign(kept.keys, ["bearer", kept.daemonKey, nonce, challenge, kept.id]);
  const { status, body } = await post("/api/session/bearer", { sessionId: kept.id, nonce, challenge, signature });
  if (status === 401) {
    await forget(kept.id);
    throw ended();
  }
  return take(body);
}

/** @param {any} body */
function take(body) {
  if (typeof body?.token !== "string") throw doubt();
  token = body.token;
  renewAt = Date.parse(body.expiresAt) - RENEW_MS;
  seen();
  setUnproven(false);
  return token;
}

/**
 * Lets the daemon prove itself; nothing but a random number is sent for it.
 * @param {(key: string) => Promise<boolean>} trusts
 */
async function prove(trusts) {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  const { body } = await post("/api/session/challenge", { nonce });
  const { challenge, daemonKey, signature } = body ?? {};
  const isText = [challenge, daemonKey, signature].every((part) => typeof part === "string");
  if (!isText || !(await trusts(daemonKey))) throw doubt();
  const key = await crypto.subtle.importKey("raw", unbase64(daemonKey), KEY, false, ["verify"]).catch(() => null);
  const text = signedText(["daemon", daemonKey, nonce, challenge]);
  if (!key || !(await crypto.subtle.verify(SIGNING, key, unbase64(signature), text))) throw doubt();
  return { nonce, challenge, daemonKey };
}

/**
 * Registers a new key of this browser with a one-time code.
 * @param {string} code @param {string} daemon names the key that the daemon has to show first
 */
async function register(code, daemon) {
  const { nonce, challenge, daemonKey } = await prove(async (key) => {
    const digest = await crypto.subtle.digest("SHA-256", unbase64(key));
    return hex(new Uint8Array(digest).subarray(0, 16)) === daemon;
  });
  const keys = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey(KEY, false, ["sign", "verify"]));
  const publicKey = base64(await crypto.subtle.exportKey("raw", keys.publicKey));
  const signature = await sign(keys, ["register", daemonKey, nonce, challenge, code, publicKey]);
  const { status, body } = await post("/api/session", { code, nonce, challenge, publicKey, signature });
  if (status === 401) throw ended();
  take(body);
  await save({ id: body.sessionId, daemonKey, keys });
  tabs.postMessage({ signedIn: true });
}

/** @param {CryptoKeyPair} keys @param {string[]} parts */
async function sign(keys, parts) {
  return base64(await crypto.subtle.sign(SIGNING, keys.privateKey, signedText(parts)));
}

/** One line each, as `od_core::console::Meeting` writes them. @param {string[]} parts */
function signedText([purpose = "", daemonKey = "", ...rest]) {
  const address = `${location.hostname}:${location.port || "80"}`;
  return new TextEncoder().encode(["od console v1", purpose, address, daemonKey, ...rest].join("\n"));
}

/** @param {string} path @param {unknown} body @returns {Promise<{status: number, body: any}>} */
async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    cache: "no-store",
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => null);
  if (!answer) throw new NoBearer("unreachable");
  return { status: answer.status, body: await answer.json().catch(() => null) };
}

function doubt() {
  setUnproven(true);
  return new NoBearer("unproven");
}

/** @param {boolean} unproven */
function setUnproven(unproven) {
  if (state.unproven === unproven) return;
  change(() => {
    state.unproven = unproven;
  });
}

function ended() {
  if (state.session !== "closed") {
    change(() => {
      state.session = "closed";
    });
  }
  return new NoBearer("ended");
}

/**
 * Takes the code out of the address (before anything can copy it from there) and returns it, with the name of
 * the daemon's key.
 * @returns {{code: string, daemon: string} | null}
 */
export function takeCode() {
  // `#code=…` alone, or behind the place to open: `#/p/…/preview?code=…`.
  const hash = location.hash.replace(/^#/, "");
  const [place = "", search = ""] = hash.startsWith("/") ? hash.split("?", 2) : ["/designs", hash];
  const found = new URLSearchParams(search);
  const code = found.get("code");
  if (!code) return null;
  const daemon = found.get("daemon") ?? "";
  found.delete("code");
  found.delete("daemon");
  history.replaceState(null, "", `#${place}${found.size > 0 ? `?${found}` : ""}`);
  return { code, daemon };
}

/**
 * Opens the session that this browser has, or a new one with a code.
 * @param {{code: string, daemon: string} | null} given
 */
export async function openSession(given) {
  tabs.onmessage = () => void resume();
  addEventListener("focus", resume);
  if (given) {
    // A browser that has a session goes on with it; the code then ends unused.
    const has = (await load()) && (await bearer().then(() => true, () => false));
    if (!has) await register(given.code, given.daemon).catch(() => {});
  }
  await resume();
  if (state.session === "unknown") ended();
}

/** Goes on if this browser has a session, from whichever tab. */
async function resume() {
  if (state.session === "open" || !(await load())) return;
  change(() => {
    state.session = "open";
  });
}

/** @param {"readonly" | "readwrite"} mode @param {(store: IDBObjectStore) => IDBRequest} act @returns {Promise<any>} */
function storage(mode, act) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("od", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("sessions");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const change = opening.result.transaction("sessions", mode);
      const asked = act(change.objectStore("sessions"));
      change.oncomplete = () => resolve(asked.result);
      change.onabort = () => reject(change.error);
      opening.result.close();
    };
  });
}

/** @returns {Promise<Kept | undefined>} */
async function load() {
  return (await storage("readonly", (store) => store.get(SLOT)).catch(() => undefined)) ?? unsaved;
}

/** The private key is kept as a handle that cannot be exported. @param {Kept} kept */
async function save(kept) {
  await storage("readwrite", (store) => store.put(kept, SLOT)).catch(() => {
    unsaved = kept;
  });
}

/** Forgets a session that is over, unless another took its place. @param {string} id */
async function forget(id) {
  unsaved = undefined;
  if ((await load())?.id === id) await storage("readwrite", (store) => store.delete(SLOT)).catch(() => {});
}

/** @param {Uint8Array} bytes */
function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {ArrayBuffer} bytes */
function base64(bytes) {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What is no base64 becomes no bytes, which are no key and no signature. @param {string} text @returns {Uint8Array<ArrayBuffer>} */
function unbase64(text) {
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}
