// @ts-check
// Arrow keys in a tree, as the ARIA pattern has them. One item of a tree takes part in tabbing.

/** @param {KeyboardEvent} event */
export function treeKeys(event) {
  const tree = /** @type {HTMLElement} */ (event.currentTarget);
  const items = /** @type {HTMLElement[]} */ ([...tree.querySelectorAll("[role=treeitem]")]);
  const from = /** @type {HTMLElement | null} */ (
    /** @type {HTMLElement} */ (event.target).closest("[role=treeitem]")
  );
  if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
  const at = items.indexOf(from);
  const open = from.getAttribute("aria-expanded");
  let next;
  if (event.key === "ArrowDown") next = items[at + 1];
  else if (event.key === "ArrowUp") next = items[at - 1];
  else if (event.key === "Home") next = items[0];
  else if (event.key === "End") next = items[items.length - 1];
  else if (event.key === "ArrowRight") {
    if (open === "false") from.click();
    else if (open === "true") next = items[at + 1];
  } else if (event.key === "ArrowLeft") {
    if (open === "true") from.click();
    else next = parentOf(items, at);
  } else if (event.key === "Enter" || event.key === " ") from.click();
  else return;
  event.preventDefault();
  event.stopPropagation();
  if (next) {
    for (const item of items) item.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

/** @param {HTMLElement[]} items @param {number} at */
function parentOf(items, at) {
  const level = Number(items[at]?.getAttribute("aria-level"));
  for (let index = at - 1; index >= 0; index -= 1) {
    if (Number(items[index]?.getAttribute("aria-level")) < level) return items[index];
  }
  return undefined;
}
