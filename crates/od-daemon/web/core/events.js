// @ts-check
// Server-sent events over fetch, so that the bearer travels in a header. Reconnects by itself and
// resumes after the last event it saw.

import { ApiError, request } from "./api.js";
import { drop, seen } from "./session.js";
import { change, state } from "./store.js";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;
/** A stream that lasted this long and then ends, ended with its bearer: the next one opens at once. */
const LASTING_MS = 5000;
/** The daemon sends a comment at least this often; silence means the line is dead. */
const SILENCE_MS = 45000;

/**
 * @typedef {{id: string, event: string, data: string}} Message
 */

/**
 * Follows the stream until the session ends.
 * @param {(message: Message) => void} receive
 * @param {(again: boolean) => void} connected
 */
export async function follow(receive, connected) {
  let last = "";
  let wait = FIRST_WAIT_MS;
  let again = false;
  while (state.session === "open") {
    let since = 0;
    try {
      await read(
        last,
        () => {
          wait = FIRST_WAIT_MS;
          setLink("live");
          connected(again);
          again = true;
          since = Date.now();
        },
        (message) => {
          if (message.id) last = message.id;
          receive(message);
        },
      );
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) break;
    }
    // Whoever answers next has to prove that it is the daemon.
    drop();
    if (since && Date.now() - since > LASTING_MS) continue;
    if (state.session !== "open") break;
    setLink("lost");
    await pause(wait * (0.7 + Math.random() * 0.6));
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
  setLink("connecting");
}

/** @param {import("./store.js").Link} link */
function setLink(link) {
  if (state.link !== link) {
    change(() => {
      state.link = link;
    });
  }
}

/** Waits, but no longer than until the browser says that the network is back or the tab is looked at. */
function pause(/** @type {number} */ ms) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      document.removeEventListener("visibilitychange", done);
      resolve(undefined);
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    document.addEventListener("visibilitychange", done);
  });
}

/**
 * @param {string} last @param {() => void} opened @param {(message: Message) => void} receive
 */
async function read(last, opened, receive) {
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(), SILENCE_MS);
  try {
    const response = await request("/api/events", {
      signal: abort.signal,
      headers: { accept: "text/event-stream", ...(last ? { "last-event-id": last } : {}) },
    });
    opened();
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new Parser(receive);
    while (reader && state.session === "open") {
      const { done, value } = await reader.read();
      if (done) return;
      seen();
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), SILENCE_MS);
      parser.push(value);
    }
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

/** Turns the text of a stream into messages, however it was cut into pieces. */
export class Parser {
  /** @param {(message: Message) => void} receive */
  constructor(receive) {
    this.receive = receive;
    this.rest = "";
    this.id = "";
    this.event = "";
    /** @type {string[]} */
    this.data = [];
  }

  /** @param {string} text */
  push(text) {
    const lines = (this.rest + text).split(/\r?\n/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.line(line);
  }

  /** @param {string} line */
  line(line) {
    if (line === "") {
      if (this.data.length > 0) {
        this.receive({ id: this.id, event: this.event, data: this.data.join("\n") });
      }
      this.id = this.event = "";
      this.data = [];
      return;
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "id") this.id = value;
    else if (name === "event") this.event = value;
    else if (name === "data") this.data.push(value);
  }
}
