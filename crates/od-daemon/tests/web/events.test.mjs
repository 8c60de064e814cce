import assert from "node:assert/strict";
import { test } from "node:test";

import { FakeDaemon } from "./daemon.mjs";
import { fire } from "./page.mjs";
const { Parser, follow } = await import("../../web/core/events.js");
const { openSession, takeCode } = await import("../../web/core/session.js");
const { state } = await import("../../web/core/store.js");

const STREAM =
  ": alive\n\nid: 1-1\nevent: ready\ndata: {\"resumed\":false}\n\n" +
  "id: 1-2\r\nevent: live_artifact\r\ndata: one\r\ndata: two\r\n\r\nid: 1-3\nevent: nothing\n\n" +
  "retry: 5\nid:1-4\nevent:x\ndata:é\n\nid: 1-5\nevent: cut\ndata: off";

const MESSAGES = [
  { id: "1-1", event: "ready", data: '{"resumed":false}' },
  { id: "1-2", event: "live_artifact", data: "one\ntwo" },
  { id: "1-4", event: "x", data: "é" },
];

test("messages are the same however the stream was cut into pieces", () => {
  for (let first = 0; first <= STREAM.length; first += 1) {
    for (const second of [first, Math.min(first + 7, STREAM.length)]) {
      const received = [];
      const parser = new Parser((message) => received.push(message));
      for (const piece of [STREAM.slice(0, first), STREAM.slice(first, second), STREAM.slice(second)]) parser.push(piece);
      assert.deepEqual(received, MESSAGES, `cut at ${first} and ${second}`);
    }
  }
});

/** A stream that ends after its text. */
const stream = (text) => new Response(text, { status: 200 });
const refused = (status) => new Response(JSON.stringify({ error: { code: "X", message: "no" } }), { status });

/** Signs the page in at a daemon; what it does not answer itself is given to `others`. */
async function signIn(others) {
  const daemon = await FakeDaemon.start();
  globalThis.fetch = async (path, options) => (await daemon.answer(path, options)) ?? others(path, options);
  location.hash = `#/p/web/live/la-x/preview?code=one&daemon=${daemon.name}`;
  await openSession(takeCode());
  assert.equal(location.hash, "#/p/web/live/la-x/preview", "the code left the address, the place stayed");
  return daemon;
}

test("whoever has another key than the address names is told nothing and trusted in nothing", async () => {
  const impostor = await FakeDaemon.start();
  const sent = [];
  globalThis.fetch = (path, options) => {
    sent.push(`${path} ${options.body}`);
    return impostor.answer(path, options);
  };
  await openSession({ code: "secret code", daemon: "0".repeat(32) });
  assert.equal(state.session, "closed");
  assert.equal(sent.length, 1, "it was asked for its proof, once");
  assert.ok(!sent.join().includes("secret code"));
});

test("a line that breaks is taken up after the last event, until the session is refused", async () => {
  const answers = [
    () => stream("id: 7-1\nevent: ready\ndata: {}\n\nid: 7-2\nevent: a\ndata: 1\n\n"),
    () => { throw new TypeError("the daemon is away"); },
    () => refused(500),
    () => stream("id: 7-2\nevent: ready\ndata: {}\n\nid: 7-3\nevent: b\ndata: 2\n\n"),
    () => {
      daemon.browser = null;
      return refused(401);
    },
  ];
  const asked = [];
  const daemon = await signIn(async (path, { headers }) => {
    asked.push([path, headers.authorization, headers["last-event-id"]]);
    return answers[asked.length - 1]();
  });
  assert.equal(state.session, "open");
  const [received, connected, links] = [[], [], []];
  // The wait between two tries ends when the browser says that the network is back.
  let waiting = true;
  const back = () => {
    links.push(state.link);
    fire("online");
    if (waiting) setImmediate(back);
  };
  setImmediate(back);
  await follow((message) => received.push(message.event), (again) => connected.push(again));
  waiting = false;
  assert.deepEqual(received, ["ready", "a", "ready", "b"]);
  assert.deepEqual(connected, [false, true], "only the second time something may have been missed");
  assert.deepEqual(asked.map(([, , last]) => last), [undefined, "7-2", "7-2", "7-2", "7-3"]);
  // After every line that ended, the daemon proved itself again before it was sent a bearer.
  assert.deepEqual(asked.map(([path, bearer]) => `${path} ${bearer}`), [1, 2, 3, 4, 5].map((n) => `/api/events Bearer bearer ${n}`));
  assert.ok(links.includes("lost"));
  assert.equal(state.link, "connecting");
});

test("nobody is followed without a session", async () => {
  globalThis.fetch = () => assert.fail("asked");
  state.session = "closed";
  await follow(() => assert.fail("received"), () => assert.fail("connected"));
});
