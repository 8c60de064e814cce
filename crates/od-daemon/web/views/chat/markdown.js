// @ts-check
// What agents write, drawn as nodes: a small part of Markdown. Text stays text, whatever it looks like;
// nothing here is ever parsed as HTML, and no address is followed by itself.

import { h } from "../../core/dom.js";

/** @typedef {import("../../core/dom.js").VNode} VNode */

// Every repetition is bounded: what is written to slow a page down costs no more than anything else.
const INLINE = /`([^`\n]{1,500})`|\*\*([^*\n]{1,500})\*\*|\*([^*\n]{1,500})\*|\[([^\]\n]{1,200})\]\((https?:\/\/[^\s)]{1,2000})\)/g;
const PARTS_MAX = 2000;

/** @param {string} text @returns {VNode[]} */
export function markdown(text) {
  /** @type {VNode[]} */
  const out = [];
  const lines = text.split("\n");
  let at = 0;
  while (at < lines.length && out.length < PARTS_MAX) {
    const line = lines[at] ?? "";
    const fence = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence) {
      let stop = at + 1;
      while (stop < lines.length && !(lines[stop] ?? "").trim().startsWith(fence)) stop += 1;
      out.push(h("pre", h("code", lines.slice(at + 1, stop).join("\n"))));
      at = stop + 1;
      continue;
    }
    const take = (/** @type {RegExp} */ mark) => {
      const start = at;
      while (at < lines.length && mark.test(lines[at] ?? "")) at += 1;
      return lines.slice(start, at);
    };
    const heading = /^#{1,6}\s+(.*)$/.exec(line);
    if (heading) {
      out.push(h("p.strong", inline(heading[1] ?? "")));
      at += 1;
    } else if (/^\s*[-*+]\s+/.test(line)) {
      out.push(h("ul", take(/^\s*[-*+]\s+/).map((item) => h("li", inline(item.replace(/^\s*[-*+]\s+/, ""))))));
    } else if (/^\s*\d+[.)]\s+/.test(line)) {
      out.push(h("ol", take(/^\s*\d+[.)]\s+/).map((item) => h("li", inline(item.replace(/^\s*\d+[.)]\s+/, ""))))));
    } else if (line.trim() === "") {
      at += 1;
    } else {
      const start = at;
      at += 1;
      while (at < lines.length && (lines[at] ?? "").trim() !== "" && !/^(\s*[-*+]\s|\s*\d+[.)]\s|#{1,6}\s|\s*```|\s*~~~)/.test(lines[at] ?? "")) at += 1;
      out.push(h("p", inline(lines.slice(start, at).join("\n"))));
    }
  }
  // A text in more parts than anybody reads is shown as it is.
  if (at < lines.length) out.push(h("p", lines.slice(at).join("\n")));
  return out;
}

/** @param {string} text @returns {(string | VNode)[]} */
function inline(text) {
  /** @type {(string | VNode)[]} */
  const out = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    if (out.length > PARTS_MAX) break;
    const [whole, code, strong, soft, label, href] = match;
    out.push(text.slice(from, match.index));
    if (code !== undefined) out.push(h("code", code));
    else if (strong !== undefined) out.push(h("strong", strong));
    else if (soft !== undefined) out.push(h("em", soft));
    // The address is shown beside its label: a label may say another one.
    else out.push(`${label} (`, h("a", { href, target: "_blank", rel: "noopener noreferrer" }, href), ")");
    from = match.index + whole.length;
  }
  out.push(text.slice(from));
  return out;
}
