// A document as plain values, to be compared as text. What a renderer may add or leave out is not part of it:
// `target` and `rel` of links, and links that are only hints to the browser.
const treeOf = (node) => {
  if (node.nodeType === 3) return node.data;
  if (node.nodeType === 8) return { comment: node.data };
  if (node.nodeType === 10) return { doctype: node.name };
  const kids = [];
  for (const child of node.childNodes) {
    // Which texts of a chart's picture have room depends on them; its table has them all.
    if (child.localName === "svg" && child.classList.contains("od-s")) continue;
    if (child.localName === "link" && !/^(stylesheet|icon)$/i.test(child.rel)) continue;
    const kid = treeOf(child);
    if (typeof kid === "string" && typeof kids.at(-1) === "string") kids.push(kids.pop() + kid);
    else if (kid !== "") kids.push(kid);
  }
  if (node.nodeType === 9) return kids;
  const attributes = [...node.attributes]
    .filter(({ name }) => !(/^(a|area|form)$/.test(node.localName) && /^(target|rel)$/.test(name)))
    .map(({ name, value }) => `${name}=${value}`)
    .sort();
  return [`${node.namespaceURI.split("/").pop()} ${node.localName}`, attributes, kids];
};

// The template's own tree with the data put where its bindings stand: what the page has to be.
const expectedTree = (template, bindings, data) => {
  const at = (from, path) => path.reduce((value, key) => (value !== null && typeof value === "object" && Object.hasOwn(value, key) ? value[key] : undefined), from);
  const fill = (text, row) => text.replace(/\uE000(\d+)\uE001/g, (_, index) => {
    const { item, path } = bindings[Number(index)];
    const value = at(item ? row : data, path);
    return value === null || value === undefined ? "" : String(value);
  });
  const substitute = (node, row) => {
    if (node.nodeType === 3) node.data = fill(node.data, row);
    if (node.nodeType === 1) for (const attribute of node.attributes) attribute.value = fill(attribute.value, row);
    for (const child of [...node.childNodes]) {
      const repeat = child.nodeType === 1 && child.getAttribute("data-od-repeat");
      if (!repeat) { substitute(child, row); continue; }
      const path = /\sin\s+data\.(\S+)/.exec(repeat)[1].split(".");
      for (const item of at(data, path)) {
        const copy = child.cloneNode(true);
        copy.removeAttribute("data-od-repeat");
        node.insertBefore(copy, child);
        substitute(copy, item);
      }
      child.remove();
    }
  };
  const page = new DOMParser().parseFromString(template, "text/html");
  substitute(page, undefined);
  return treeOf(page);
};
