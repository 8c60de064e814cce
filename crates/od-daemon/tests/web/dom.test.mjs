import assert from "node:assert/strict";
import { test } from "node:test";

import { Element, Text } from "./page.mjs";
const { cls, h, memo, patch } = await import("../../web/core/dom.js");

/** A root that is drawn again and again. */
function stage() {
  const root = new Element("root");
  let drawn = [];
  return {
    root,
    draw: (...nodes) => {
      patch(root, drawn, nodes);
      drawn = nodes;
      return root.inner;
    },
  };
}

test("a selector gives tag and classes, and what is not set is left out", () => {
  const { draw } = stage();
  const shown = draw(h("p.a.b", { title: "t", hidden: false }, "one", null, undefined, false, 0, [["two"]]));
  assert.equal(shown, '<p title="t" class="a b">[one][0][two]</p>');
  assert.equal(cls("a", false, null, "b"), "a b");
});

test("text stays text, whatever it looks like", () => {
  const { root, draw } = stage();
  draw(h("p", "<img src=x onerror=alert(1)>"));
  const [text] = root.childNodes[0].childNodes;
  assert.ok(text instanceof Text);
  assert.equal(text.data, "<img src=x onerror=alert(1)>");
});

test("what stays the same kind keeps its element and only changes what differs", () => {
  const { root, draw } = stage();
  draw(h("p", { title: "a", lang: "en" }, "one"));
  const [p] = root.childNodes;
  const [text] = p.childNodes;
  assert.equal(draw(h("p", { title: "b" }, "two")), '<p title="b">[two]</p>');
  assert.equal(root.childNodes[0], p);
  assert.equal(p.childNodes[0], text);
});

test("keyed children move with their elements; another tag under a key is another element", () => {
  const { root, draw } = stage();
  const item = (key, tag = "li") => h(tag, { key }, key);
  draw(item("a"), item("b"), item("c"));
  const [a, b, c] = root.childNodes;
  assert.equal(draw(item("c"), item("a"), item("d")), "<li>[c]</li><li>[a]</li><li>[d]</li>");
  assert.equal(root.childNodes[0], c);
  assert.equal(root.childNodes[1], a);
  assert.equal(b.parent, null);
  draw(item("c", "dd"));
  assert.equal(root.inner, "<dd>[c]</dd>");
  assert.notEqual(root.childNodes[0], c);
});

test("a handler is replaced and taken away", () => {
  const { root, draw } = stage();
  const [one, two] = [() => 1, () => 2];
  draw(h("button", { onclick: one }));
  const [button] = root.childNodes;
  assert.equal(button.onclick, one);
  draw(h("button", { onclick: two }));
  assert.equal(button.onclick, two);
  draw(h("button"));
  assert.equal(button.onclick, null);
});

test("a field keeps what was typed unless the page says otherwise", () => {
  const { root, draw } = stage();
  draw(h("input", { value: "" }));
  const [input] = root.childNodes;
  input.value = "typed";
  draw(h("input"));
  assert.equal(input.value, "typed");
  draw(h("input", { value: "set" }));
  assert.equal(input.value, "set");
  assert.ok(!input.attributes.has("value"));
});

test("a select gets its value after its options", () => {
  const { root, draw } = stage();
  const set = [];
  const { createElement } = document;
  document.createElement = (tag) => {
    const el = new Element(tag);
    if (tag === "select") Object.defineProperty(el, "value", { set: () => set.push(el.childNodes.length) });
    return el;
  };
  draw(h("select", { value: "b" }, h("option"), h("option")));
  document.createElement = createElement;
  assert.equal(root.childNodes.length, 1);
  assert.equal(set.at(-1), 2);
});

test("a ref hears of its element once, and what it adds stays behind the described nodes", () => {
  const { root, draw } = stage();
  let heard = 0;
  const list = (...keys) =>
    h("ul", { ref: (el) => { heard += 1; el.insertBefore(new Element("hand"), null); } },
      keys.map((key) => h("li", { key })));
  draw(list("a"));
  draw(list("a", "b"));
  assert.equal(heard, 1);
  assert.deepEqual(root.childNodes[0].childNodes.map((node) => node.tag), ["li", "li", "hand"]);
});

test("a remembered description is not looked at again until its stamp changes", () => {
  const owner = {};
  let built = 0;
  const build = () => { built += 1; return h("p", { key: "x" }, String(built)); };
  const first = memo(owner, "row", "1", build);
  assert.equal(memo(owner, "row", "1", build), first);
  const { root, draw } = stage();
  draw(first);
  root.childNodes[0].childNodes[0].data = "by hand";
  assert.equal(draw(memo(owner, "row", "1", build)), "<p>[by hand]</p>");
  assert.equal(built, 1);
  assert.notEqual(memo(owner, "row", "2", build), first);
  assert.equal(built, 2);
});

test("pictures are made in their namespace and styles as properties", () => {
  const { root, draw } = stage();
  draw(h("svg", h("path", { d: "M0 0" })), h("p", { style: { "--depth": 2 } }));
  const [svg, p] = root.childNodes;
  assert.equal(svg.namespace, "http://www.w3.org/2000/svg");
  assert.equal(svg.childNodes[0].namespace, "http://www.w3.org/2000/svg");
  assert.equal(p.style.get("--depth"), "2");
});
