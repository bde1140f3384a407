/** What a key that was pressed is meant for. */

const FIELDS = /^(INPUT|TEXTAREA|SELECT)$/;

/** @param {KeyboardEvent} event @returns {boolean} whether it is meant for the browser */
export const isOfBrowser = (event) => event.ctrlKey || event.metaKey || event.altKey;

/** @param {KeyboardEvent} event @returns {boolean} whether the reader types a text */
export function isTyping(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  return target.isContentEditable || FIELDS.test(target.tagName ?? "");
}
