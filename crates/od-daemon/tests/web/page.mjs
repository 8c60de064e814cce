// The little of a browser that the console's core needs: enough of a document to build and patch, an
// address, and listeners that a test calls itself. Imported before the module under test.

class Node {
  childNodes = [];
  parent = null;

  insertBefore(node, before) {
    node.remove();
    const at = before === null ? this.childNodes.length : this.childNodes.indexOf(before);
    if (at < 0) throw new Error("not a child of this node");
    this.childNodes.splice(at, 0, node);
    node.parent = this;
  }

  remove() {
    if (!this.parent) return;
    const siblings = this.parent.childNodes;
    siblings.splice(siblings.indexOf(this), 1);
    this.parent = null;
  }
}

export class Element extends Node {
  attributes = new Map();
  style = new Map();

  constructor(tag, namespace) {
    super();
    this.tag = tag;
    this.namespace = namespace;
    this.style.setProperty = (name, value) => this.style.set(name, value);
  }

  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  /** The tree below as text, for comparing. */
  get html() {
    const attributes = [...this.attributes].map(([name, value]) => ` ${name}="${value}"`).join("");
    return `<${this.tag}${attributes}>${this.inner}</${this.tag}>`;
  }

  get inner() {
    return this.childNodes.map((node) => (node instanceof Text ? `[${node.data}]` : node.html)).join("");
  }
}

export class Text extends Node {
  constructor(data) {
    super();
    this.data = data;
  }
}

/** Listeners of the window by event name; a test fires them. */
export const listeners = new Map();
export const fire = (name) => listeners.get(name)?.({});

Object.assign(globalThis, {
  Element,
  Text,
  document: {
    visibilityState: "hidden",
    createElement: (tag) => new Element(tag),
    createElementNS: (namespace, tag) => new Element(tag, namespace),
    createTextNode: (data) => new Text(data),
    addEventListener: () => {},
    removeEventListener: () => {},
  },
  location: { hash: "", hostname: "127.0.0.1", port: "7456" },
  history: { replaceState: (state, title, hash) => void (location.hash = hash) },
  // Node's own keeps the process alive.
  BroadcastChannel: class {
    postMessage() {}
  },
  addEventListener: (name, listener) => listeners.set(name, listener),
  removeEventListener: (name, listener) => {
    if (listeners.get(name) === listener) listeners.delete(name);
  },
});
