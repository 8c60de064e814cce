// @ts-check
// Builds and patches the page from plain values. Text only ever becomes text nodes and attributes:
// there is no way to hand this module a string that is parsed as HTML.

/**
 * @typedef {string | number | boolean | null | undefined | VNode} Leaf
 * @typedef {Leaf | Leaf[] | Leaf[][]} Child
 * @typedef {Record<string, unknown>} Props
 * @typedef {object} VNode
 * @property {string} tag
 * @property {Props} props
 * @property {VNode[]} children
 * @property {string} text
 * @property {(Element | Text)=} el
 */

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "path", "circle", "rect"]);
/** Set as properties, because the attribute only carries the initial value. */
const LIVE = new Set(["value", "checked", "indeterminate"]);

/**
 * Describes one element: `tag.class.class`, its properties if it has any, its children.
 * @param {string} selector
 * @param {...(Child | Props)} parts
 * @returns {VNode}
 */
export function h(selector, ...parts) {
  const [tag = "", ...classes] = selector.split(".");
  const [first] = parts;
  const given = typeof first === "object" && first !== null && !Array.isArray(first) && !("tag" in first);
  const props = given ? /** @type {Props} */ (parts.shift()) : {};
  if (classes.length > 0) props.class = classes.join(" ");
  // Where a view begins, and its heading, can be focused by name.
  if (tag === "main") props.id = tag;
  if (tag === "main" || tag === "h1") props.tabindex = -1;
  return { tag, props, children: flatten(/** @type {Child[]} */ (parts)), text: "" };
}

/** @param {Child[]} children @returns {VNode[]} */
function flatten(children) {
  /** @type {VNode[]} */
  const out = [];
  for (const child of /** @type {Leaf[]} */ (children.flat(3))) {
    if (child === null || child === undefined || typeof child === "boolean") continue;
    if (typeof child === "object") out.push(child);
    else out.push({ tag: "#text", props: {}, children: [], text: String(child) });
  }
  return out;
}

/**
 * Makes the children of `parent` match `next`, reusing what `previous` built.
 * @param {Element} parent
 * @param {VNode[]} previous
 * @param {VNode[]} next
 */
export function patch(parent, previous, next) {
  const pool = byKey(previous);
  const wanted = byKey(next);
  for (const [key, node] of pool) {
    if (wanted.get(key)?.tag !== node.tag) {
      node.el?.remove();
      pool.delete(key);
    }
  }
  let index = 0;
  // Nodes that a `ref` added by hand stay behind the described ones.
  for (const [key, node] of wanted) {
    const old = pool.get(key);
    const el = old ? update(old, node) : create(node);
    const here = parent.childNodes[index] ?? null;
    if (here !== el) parent.insertBefore(el, here);
    index += 1;
    if (!old && typeof node.props.ref === "function") node.props.ref(el);
  }
}

/** @param {VNode[]} nodes @returns {Map<string, VNode>} */
function byKey(nodes) {
  const map = new Map();
  /** @type {Record<string, number>} */
  const counts = {};
  for (const node of nodes) {
    if (node.props.key !== undefined) {
      map.set(`key ${node.props.key}`, node);
      continue;
    }
    counts[node.tag] = (counts[node.tag] ?? 0) + 1;
    map.set(`${node.tag} ${counts[node.tag]}`, node);
  }
  return map;
}

/** @param {VNode} node @returns {Element | Text} */
function create(node) {
  if (node.tag === "#text") {
    node.el = document.createTextNode(node.text);
    return node.el;
  }
  const el = SVG_TAGS.has(node.tag)
    ? document.createElementNS(SVG, node.tag)
    : document.createElement(node.tag);
  node.el = el;
  for (const [name, value] of Object.entries(node.props)) assign(el, name, undefined, value);
  patch(el, [], node.children);
  // A select only knows its options once they exist.
  if (node.tag === "select") assign(el, "value", undefined, node.props.value);
  return el;
}

/**
 * Returns the description made last time for the same thing, if nothing it depends on has changed:
 * patching skips it whole.
 * @param {object} owner @param {string} kind @param {string} stamp @param {() => VNode} build
 * @returns {VNode}
 */
export function memo(owner, kind, stamp, build) {
  const kinds = made.get(owner) ?? new Map();
  made.set(owner, kinds);
  const known = kinds.get(kind);
  if (known?.stamp === stamp) return known.node;
  const node = build();
  kinds.set(kind, { stamp, node });
  return node;
}

/** @type {WeakMap<object, Map<string, {stamp: string, node: VNode}>>} */
const made = new WeakMap();

/** @param {VNode} old @param {VNode} node @returns {Element | Text} */
function update(old, node) {
  const el = old.el;
  if (old === node && el) return el;
  if (el instanceof Text) {
    if (el.data !== node.text) el.data = node.text;
    node.el = el;
    return el;
  }
  if (!(el instanceof Element)) return create(node);
  node.el = el;
  for (const name of Object.keys(old.props)) {
    if (!(name in node.props)) assign(el, name, old.props[name], undefined);
  }
  for (const [name, value] of Object.entries(node.props)) assign(el, name, old.props[name], value);
  patch(el, old.children, node.children);
  return el;
}

/** @param {Element} el @param {string} name @param {unknown} before @param {unknown} value */
function assign(el, name, before, value) {
  if (name === "key" || name === "ref") return;
  const target = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (el));
  if (name.startsWith("on")) {
    if (before !== value) target[name] = typeof value === "function" ? value : null;
    return;
  }
  if (LIVE.has(name)) {
    if (value !== undefined && target[name] !== value) target[name] = value;
    return;
  }
  if (before === value) return;
  if (name === "style") {
    for (const [key, part] of Object.entries(value ?? {})) {
      /** @type {HTMLElement} */ (el).style.setProperty(key, String(part));
    }
    return;
  }
  if (value === false || value === null || value === undefined) el.removeAttribute(name);
  else el.setAttribute(name, value === true ? "" : String(value));
}

/**
 * Joins class names, leaving out what is not set.
 * @param {...(string | false | null | undefined)} names
 */
export function cls(...names) {
  return names.filter(Boolean).join(" ");
}
