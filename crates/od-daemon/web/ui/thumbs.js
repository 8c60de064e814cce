// @ts-check
// Small previews on cards: a sandboxed frame each, loaded when it comes into view and unloaded when it
// leaves, a few at a time.

import { api } from "../core/api.js";
import { h } from "../core/dom.js";

const MOST_AT_ONCE = 2;
const WIDTH = 1120;
const SETTLE_MS = 200;

/** @type {WeakMap<Element, {id: string, title: string}>} */
const wanted = new WeakMap();
/** @type {Set<Element>} */
const queue = new Set();
let busy = 0;
let settled = 0;

const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) queue.add(target);
      else {
        queue.delete(target);
        // A frame that is taken away never loads: whoever waits for it is told.
        target.firstChild?.dispatchEvent(new Event("load"));
        target.replaceChildren();
      }
    }
    // Cards that only fly past are not worth a request.
    clearTimeout(settled);
    settled = window.setTimeout(work, SETTLE_MS);
  },
  { rootMargin: "120px" },
);

const sized = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    /** @type {HTMLElement} */ (target).style.setProperty("--scale", String(contentRect.width / WIDTH));
  }
});

function work() {
  for (const box of queue) {
    if (busy >= MOST_AT_ONCE) return;
    queue.delete(box);
    if (box.isConnected) void load(box);
  }
}

/** @param {Element} box */
async function load(box) {
  const want = wanted.get(box);
  if (!want) return;
  busy += 1;
  try {
    const frame = previewFrame(`Preview of ${want.title}`);
    frame.src = await api.ticket(want.id, "rendered");
    frame.tabIndex = -1;
    await new Promise((done) => {
      frame.onload = frame.onerror = done;
      if (wanted.get(box) === want && box.isConnected) box.replaceChildren(frame);
      else done(undefined);
    });
  } catch {
    // A card without its small preview is still a card.
  } finally {
    busy -= 1;
    work();
  }
}

/** @param {string} title */
function previewFrame(title) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "");
  frame.referrerPolicy = "no-referrer";
  frame.title = title;
  return frame;
}

/** @param {import("../core/schema.js").ArtifactLine} artifact */
export function thumb(artifact) {
  const { id, title, revision, edited, health } = artifact;
  const want = { id, title };
  // Another page, by a commit or by an edit of its files, is another picture.
  return h("div.thumb", { key: [id, revision, edited, health.state].join(" "),
    inert: true,
    "aria-hidden": "true",
    ref: (/** @type {Element} */ el) => {
      wanted.set(el, want);
      seen.observe(el);
      sized.observe(el);
    },
  });
}
