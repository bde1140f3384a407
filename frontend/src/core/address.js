/**
 * Addresses: the root of the site, what the address of a page says behind `?` and `#`, links that stay
 * inside the report.
 */

const script = /** @type {HTMLScriptElement | null} */ (document.currentScript)?.src ?? "";

/** Whether this is a report in one file, which holds its scripts and data itself. */
export const isSingleFile = !script;

/** The root of the site, as an address that ends in a slash; of a report in one file, its folder. */
export const root = new URL(isSingleFile ? "./" : "../", script || location.href).href;

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
    history.replaceState(history.state, "", text ? `#${text}` : location.pathname + location.search);
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
