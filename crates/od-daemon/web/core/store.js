// @ts-check
// One place for what the page knows. Views read it, events and actions change it, and every change
// leads to one repaint.

/**
 * @typedef {object} Progress
 * @property {string} refreshId
 * @property {string} step
 * @property {number} startedAt
 * @property {boolean} cancelling
 * @property {boolean} mine
 *
 * @typedef {object} Toast
 * @property {number} id
 * @property {"info" | "good" | "bad"} tone
 * @property {string} text
 * @property {string=} detail one line for each that was merged
 * @property {number=} times
 * @property {string=} action
 * @property {(() => void)=} run
 *
 * @typedef {"unknown" | "open" | "closed"} Session
 * @typedef {"connecting" | "live" | "lost"} Link
 *
 * What is known under which key, as far as others than its loader read it.
 * @typedef {object} Known
 * @property {import("./api.js").ProjectLine[]} projects
 * @typedef {Known & Record<`artifact/${string}`, import("./api.js").Detail>} Keyed
 */

export const state = {
  /** @type {Session} */
  session: "unknown",
  /** @type {Link} */
  link: "connecting",
  /** Whether somebody answers who cannot prove to be the daemon. */
  unproven: false,
  /** @type {Map<string, Progress>} */
  progress: new Map(),
  /** @type {Map<string, import("./api.js").ApiError>} */
  failures: new Map(),
  /** @type {Toast[]} */
  toasts: [],
  /** What a screen reader hears next. */
  announcement: "",
  /** Names of fields and panels that a person opened, typed or picked. */
  /** @type {{get: <T>(name: string) => T} & Map<string, unknown>} */
  ui: new Map(),
};

/** @type {(() => void) | undefined} */
let paint;
let scheduled = false;

/** @param {() => void} painter */
export function onChange(painter) {
  paint = painter;
}

/**
 * Applies a change and repaints once, soon.
 * @param {() => void} [mutate]
 */
export function change(mutate) {
  mutate?.();
  if (scheduled) return;
  scheduled = true;
  const run = () => {
    scheduled = false;
    paint?.();
  };
  // Animation frames stop in a hidden tab; the page must stay current there as well.
  if (document.visibilityState === "visible") requestAnimationFrame(run);
  else setTimeout(run, 30);
}

/** @template T @param {string} name @param {T} fallback @returns {T} */
export function ui(name, fallback) {
  return state.ui.has(name) ? state.ui.get(name) : fallback;
}

/** @param {string} name @param {unknown} value */
export function setUi(name, value) {
  change(() => state.ui.set(name, value));
}

/** @param {string} text */
export function announce(text) {
  change(() => {
    state.announcement = text;
  });
}

/**
 * @template T
 * @typedef {object} Resource
 * @property {T=} value
 * @property {import("./api.js").ApiError=} error
 * @property {boolean} loading
 * @property {boolean} stale
 * @property {number} turn
 */

/**
 * The key says what the value is; whoever asks by a key names its type.
 * @typedef {object} ByKey
 * @property {{<K extends keyof Keyed>(key: K): Resource<Keyed[K]> | undefined, <T>(key: string): Resource<T> | undefined}} get
 */

/** @type {ByKey & Map<string, Resource<unknown>>} */
const resources = new Map();

/**
 * Returns what is known under `key`, loading it when nothing is or when it went stale. The old value
 * stays until the new one has arrived.
 * @template T
 * @param {string} key
 * @param {() => Promise<T>} load
 * @returns {Resource<T>}
 */
export function use(key, load) {
  /** @type {Resource<T> | undefined} */
  let found = resources.get(key);
  if (!found) {
    found = { loading: false, stale: true, turn: 0 };
    resources.set(key, found);
  }
  const resource = found;
  if (resource.stale && !resource.loading && state.session === "open") {
    resource.loading = true;
    resource.stale = false;
    const turn = ++resource.turn;
    load().then(
      (value) => settle(resource, turn, { value }),
      (error) => settle(resource, turn, { error }),
    );
  }
  return resource;
}

/** @template T @param {Resource<T>} resource @param {number} turn @param {{value?: T, error?: Resource<T>["error"]}} outcome */
function settle(resource, turn, outcome) {
  if (turn !== resource.turn) return;
  change(() => {
    resource.loading = false;
    resource.error = outcome.error;
    if (!outcome.error) resource.value = outcome.value;
  });
}

/** @template {keyof Keyed} K @param {K} key @returns {Keyed[K] | undefined} */
export function known(key) {
  return resources.get(key)?.value;
}

/**
 * The value under a key whose type its asker knows.
 * @template T @param {string} key @returns {T | undefined}
 */
export function held(key) {
  return /** @type {Resource<T> | undefined} */ (resources.get(key))?.value;
}

/** @param {string} prefix @param {(key: string, value: unknown) => void} visit */
export function each(prefix, visit) {
  for (const [key, { value }] of [...resources]) if (key.startsWith(prefix) && value !== undefined) visit(key, value);
}

/**
 * Replaces a known value without asking the daemon.
 * @param {string} key @param {unknown} value
 */
export function put(key, value) {
  change(() => {
    const resource = resources.get(key);
    if (resource) {
      resource.value = value;
      resource.error = undefined;
    } else {
      resources.set(key, { value, loading: false, stale: false, turn: 0 });
    }
  });
}

/**
 * Marks everything under a prefix as to be loaded again.
 * @param {string} prefix
 */
export function expire(prefix) {
  change(() => {
    for (const [key, resource] of resources) {
      if (!key.startsWith(prefix)) continue;
      // A load under way may have read the old state: its answer no longer counts.
      resource.turn += 1;
      resource.loading = false;
      resource.stale = true;
    }
  });
}

/** @param {string} prefix */
export function forget(prefix) {
  for (const key of [...resources.keys()]) if (key.startsWith(prefix)) resources.delete(key);
  change();
}
