// @ts-check
// Long lists: only the rows in and near the view exist, the rest is space. A thousand entries then cost
// no more than a screenful.

import { setUi, ui } from "../core/store.js";

/** Rows beyond the view on either side; also the step in which the window moves. */
const ROWS_AROUND = 2;
const FIRST = 24;

/** @typedef {{from: number, to: number, columns: number, pitch: number}} Range */

/** @type {Map<string, HTMLElement>} */
const lists = new Map();

/**
 * Says which entries of a list to show, and the properties of the element that holds them.
 * @param {string} name @param {number} total
 * @returns {{from: number, to: number, props: import("../core/dom.js").Props}}
 */
export function windowed(name, total) {
  /** @type {Range} */
  const { from, to, columns, pitch } = ui(`window ${name}`, { from: 0, to: FIRST, columns: 1, pitch: 0 });
  const start = from < total ? from : 0;
  const end = Math.min(to, total);
  const rows = (/** @type {number} */ entries) => `${Math.ceil(entries / columns) * pitch}px`;
  return {
    from: start,
    to: end,
    props: {
      style: { "padding-top": rows(start), "padding-bottom": rows(total - end) },
      ref: (/** @type {HTMLElement} */ el) => {
        lists.set(name, el);
        requestAnimationFrame(look);
      },
    },
  };
}

function look() {
  for (const [name, el] of lists) {
    if (el.isConnected) measure(name, el);
    else lists.delete(name);
  }
}

/**
 * How entries are laid out. Asking costs a layout of the page, so it is asked once for each width.
 * @type {WeakMap<HTMLElement, {width: number, columns: number, pitch: number}>}
 */
const grids = new WeakMap();

/** @param {HTMLElement} el */
function gridOf(el) {
  const known = grids.get(el);
  if (known?.width === innerWidth) return known;
  const all = /** @type {HTMLElement[]} */ ([...el.children]);
  const [first] = all;
  const columns = all.findIndex((child) => child.offsetTop !== first?.offsetTop);
  if (!first || columns < 1) return undefined;
  const grid = { width: innerWidth, columns, pitch: (all[columns]?.offsetTop ?? 0) - first.offsetTop };
  grids.set(el, grid);
  return grid;
}

/** @param {string} name @param {HTMLElement} el */
function measure(name, el) {
  const grid = gridOf(el);
  if (!grid) return;
  const { columns, pitch } = grid;
  const top = el.getBoundingClientRect().top;
  const step = (/** @type {number} */ row) => Math.max(0, Math.floor(row / ROWS_AROUND)) * ROWS_AROUND;
  const from = step(-top / pitch - ROWS_AROUND) * columns;
  const to = (step((innerHeight - top) / pitch + ROWS_AROUND) + ROWS_AROUND) * columns;
  const before = ui(`window ${name}`, /** @type {Range | undefined} */ (undefined));
  if (before?.from === from && before.to === to && before.pitch === pitch) return;
  setUi(`window ${name}`, { from, to, columns, pitch });
}

let asked = false;

function soon() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    look();
  });
}

document.addEventListener("scroll", soon, { capture: true, passive: true });
addEventListener("resize", soon);
