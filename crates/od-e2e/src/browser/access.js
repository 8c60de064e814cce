// What a page must have for everyone to use it. Returns one line for each place that has it not.
// Evaluated in the page; names and roles are checked apart, on the browser's own accessibility tree.
(() => {
  const found = [];
  const at = (el) => `${el.tagName.toLowerCase()}${el.id ? `#${el.id}` : ""}${typeof el.className === "string" && el.className ? `.${el.className.trim().split(/\s+/).join(".")}` : ""}`;
  const tell = (rule, el, more = "") => found.push(`${rule}: ${at(el)} ${more}`.trim());
  const all = [...document.querySelectorAll("body *")];
  const shown = (el) => el.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && !el.closest("[inert], .sr");
  const focusable = (el) => !el.disabled && !el.closest("[inert]") && el.matches("a[href], button, input, select, textarea, summary, iframe, [tabindex]") && el.tabIndex >= 0;

  // The page as a whole.
  if (!document.documentElement.lang) tell("html-has-lang", document.documentElement);
  if (!document.title) tell("document-title", document.documentElement);
  if (/maximum-scale|user-scalable\s*=\s*no/.test(document.querySelector("meta[name=viewport]")?.content ?? "")) tell("meta-viewport", document.documentElement);
  const open = document.querySelector("dialog[open]");
  if (document.querySelectorAll("main").length !== 1) tell("one-main", document.body);
  const headings = [...document.querySelectorAll("h1, h2, h3, h4")].filter((el) => shown(el) && (!open || open.contains(el)));
  if (!open && headings.filter((el) => el.tagName === "H1").length !== 1) tell("one-h1", document.body, headings.map(at).join(" "));

  // Ids and what refers to them.
  const ids = new Set();
  for (const el of document.querySelectorAll("[id]")) {
    if (ids.has(el.id)) tell("duplicate-id", el);
    ids.add(el.id);
  }
  for (const el of all) {
    for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "for"]) {
      for (const id of (el.getAttribute(name) ?? "").split(/\s+/).filter(Boolean)) if (!ids.has(id)) tell("reference", el, `${name}=${id}`);
    }
  }

  // Roles: what they need around them, on them, and what their attributes may say.
  const parents = { treeitem: "[role=tree], [role=group]", tab: "[role=tablist]", option: "[role=listbox], select", row: "[role=table], [role=grid], table" };
  const needs = { switch: "aria-checked", checkbox: "aria-checked", tab: "aria-selected", heading: "aria-level", slider: "aria-valuenow" };
  const roles = new Set("alert button dialog group link list listitem none presentation region search status switch tab tablist tabpanel toolbar tree treeitem".split(" "));
  const words = { "aria-expanded": /^(true|false)$/, "aria-pressed": /^(true|false|mixed)$/, "aria-checked": /^(true|false|mixed)$/, "aria-selected": /^(true|false)$/, "aria-busy": /^(true|false)$/, "aria-hidden": /^(true|false)$/, "aria-current": /^(page|step|location|date|time|true|false)$/, "aria-level": /^[1-9]\d*$/, "aria-live": /^(polite|assertive|off)$/, "aria-label": /\S/ };
  for (const el of all) {
    const role = el.getAttribute("role");
    if (role && !roles.has(role)) tell("unknown-role", el, role);
    if (role && parents[role] && !el.parentElement.closest(parents[role])) tell("required-parent", el, role);
    if (role && needs[role] && !el.hasAttribute(needs[role])) tell("required-attribute", el, needs[role]);
    for (const { name, value } of el.attributes) if (words[name] && !words[name].test(value)) tell("attribute-value", el, `${name}=${value}`);
    if (el.matches("[aria-hidden=true]") && [el, ...el.querySelectorAll("*")].some(focusable)) tell("aria-hidden-focus", el);
    if (el.matches("button, [role=button], [role=tab], [role=switch], a[href]:not([role=treeitem])") && [...el.querySelectorAll("*")].some(focusable)) tell("nested-interactive", el);
    if (el.tabIndex > 0) tell("tabindex", el);
    if (el.matches("ul, ol") && [...el.children].some((child) => child.tagName !== "LI")) tell("list", el);
    if (el.matches("li") && !el.parentElement.matches("ul, ol")) tell("listitem", el);
    if (el.matches("dl") && [...el.children].some((child) => !child.matches("dt, dd, div"))) tell("definition-list", el);
    if (el.matches("dt, dd") && !el.parentElement.closest("dl")) tell("dlitem", el);
    if (el.matches("th") && !el.scope) tell("scope", el);
    if (el.matches("iframe") && shown(el) && !el.title) tell("frame-title", el);
    if (el.matches("img") && !el.hasAttribute("alt")) tell("image-alt", el);
    const style = getComputedStyle(el);
    const scrolls = (/auto|scroll/.test(style.overflowY) && el.scrollHeight > el.clientHeight + 2) || (/auto|scroll/.test(style.overflowX) && el.scrollWidth > el.clientWidth + 2);
    if (scrolls && shown(el) && !focusable(el) && ![...el.querySelectorAll("*")].some(focusable)) tell("scrollable-region-focusable", el);
  }

  // Contrast of text: 4.5, or 3 for large text, as painted on what lies below it.
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const below = (el) => {
    const layers = [];
    for (let up = el; up; up = up.parentElement) { layers.push(rgba(getComputedStyle(up).backgroundColor)); if (layers.at(-1)[3] === 1) break; if (up === open) break; }
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return layers.reverse().reduce((ground, layer) => over(layer, ground), dark ? [0, 0, 0, 1] : [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => [r, g, b].map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const ratio = (a, b) => { const [high, low] = [light(a), light(b)].sort((x, y) => y - x); return (high + 0.05) / (low + 0.05); };
  const check = (el, color, ground, what) => {
    const style = getComputedStyle(el);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const measured = ratio(over(rgba(color), ground), ground);
    if (measured < (large ? 3 : 4.5)) tell("color-contrast", el, `${what} ${measured.toFixed(2)}`);
  };
  for (const el of all) {
    if (!shown(el) || el.closest(":disabled, [aria-disabled=true], [aria-hidden=true], svg") || (open && !open.contains(el))) continue;
    const own = [...el.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (own) check(el, getComputedStyle(el).color, below(el), JSON.stringify(el.innerText.slice(0, 30)));
    if (el.matches("input") && el.placeholder && !el.value) check(el, getComputedStyle(el, "::placeholder").color, below(el), "placeholder");
  }
  return [...new Set(found)];
})()
