/**
 * Addresses: the root of the site, what the address of a page says behind `?` and `#`, links that stay
 * inside the report.
 */

const script = /** @type {HTMLScriptElement | null} */ (document.currentScript)?.src ?? "";

/** Whether this is a report in one file, which holds its scripts and data itself. */
export const isSingleFile = !script;

/** Stands for the folder of a file that has none: in `<iframe srcdoc>` and under `blob:`. */
export const NO_FOLDER = "https://report.invalid/";

/** Whether this page is in a place that no address is relative to: `about:srcdoc`, `blob:`, `data:`. */
export const isPlaceless = /^(?:about|blob|data):$/.test(location.protocol);

/** The root of the site, as an address that ends in a slash; of a report in one file, its folder. */
export const root = new URL(isSingleFile ? "./" : "../", script || (isPlaceless ? NO_FOLDER : location.href)).href;

/**
 * Whether the browser refuses to go anywhere from this page: a frame with an address of its own that
 * is made up, or that only the page around it may load.
 */
export const isFixed =
  location.protocol === "blob:" || (location.protocol === "file:" && window.parent !== window && isSandboxed());

function isSandboxed() {
  try {
    return !window.localStorage;
  } catch {
    return true;
  }
}

/**
 * Goes to an address in this page, as a link does.
 * @param {string} fragment with its `#`
 */
export function goToFragment(fragment) {
  if (!isFixed) {
    location.hash = fragment;
    return;
  }
  history.pushState(null, "", location.href.split("#")[0] + fragment);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

/**
 * Puts what stands behind `#` into the address, without a step in the history. Where the page has no
 * place, a lone `#` would mean the page around it.
 * @param {string} fragment with its `#`, or empty
 */
export function replaceFragment(fragment) {
  if (fragment === location.hash) return; // to replace an address costs a browser some 20 ms, even by itself
  const whole = location.href.split("#")[0] + fragment;
  history.replaceState(history.state, "", isPlaceless ? whole : fragment || location.pathname + location.search);
}

/**
 * Returns an address inside the report, or null for one that leads out of it.
 * @param {string} address relative to the root of the site
 */
export function insideReport(address) {
  const resolved = new URL(address, root).href;
  return resolved.startsWith(root) ? resolved : null;
}

/** The values that stand in the address behind `#`: `#step=0017&find=dot`. */
export const state = {
  /**
   * @param {string} name
   * @returns {string | null} its value, null where the address does not have it
   */
  get(name) {
    return parameters().get(name);
  },
  /**
   * Puts values into the address; empty ones and null leave it.
   * @param {Record<string, string | null>} values
   */
  set(values) {
    const all = parameters();
    for (const [name, value] of Object.entries(values)) {
      if (value) all.set(name, value);
      else all.delete(name);
    }
    const text = all.toString().replaceAll("%2F", "/").replaceAll("%3F", "?");
    replaceFragment(text && `#${text}`);
  },
};

/**
 * Returns the part of this page that the address asks for, `cost` in `x.html?cost`; a report in one
 * file says it in the page that it names.
 * @returns {string} empty for the page itself
 */
export function askedPart() {
  const query = isSingleFile ? (state.get("page") ?? "").split("?")[1] : location.search.slice(1);
  const [[name, value] = ["", ""]] = new URLSearchParams(query);
  return value ? "" : name;
}

/**
 * Returns the address of a part of this module's page; empty where there is no such part.
 * @param {string} name `collectives`
 * @param {string} [anchor] a heading in it
 */
export function partAddress(name, anchor) {
  const tab = /** @type {HTMLAnchorElement | null} */ (
    document.querySelector(`[data-xr-parts] a[data-part="${name}"]`)
  );
  if (!tab) return "";
  if (!anchor) return tab.href;
  return isSingleFile ? `${tab.hash}&at=${anchor}` : `${tab.href}#${anchor}`;
}

/**
 * Returns the address of what this page shows under other values, to be pasted elsewhere.
 * @param {string} fragment `#node=x`
 */
export function shareableAddress(fragment) {
  const page = state.get("page");
  return new URL(page ? `#page=${page}&${fragment.slice(1)}` : fragment, location.href).href;
}

/** @returns {URLSearchParams} what stands behind `#`, where it is no plain anchor */
function parameters() {
  const hash = location.hash.slice(1);
  return new URLSearchParams(hash.includes("=") ? hash : "");
}
