/** Elements of the page. Strings become text, so that nothing in them is taken for markup. */

/** @typedef {Node | string | number | null | undefined | false} Child */
/**
 * @template {string} Tag
 * @typedef {Tag extends `${infer Name}.${string}` ? ElementNamed<Name> : ElementNamed<Tag>} ElementOf the class of `input.some.classes`
 */
/**
 * @template {string} Name
 * @typedef {Name extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Name] : HTMLElement} ElementNamed
 */

/**
 * Makes an element.
 * @template {string} Tag
 * @param {Tag} tag `div` or `div.some.classes`
 * @param {Record<string, any> | null} [attributes] `on...` are listeners, null ones are left out
 * @param {...Child} children
 * @returns {ElementOf<Tag>}
 */
export function element(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  const created = document.createElement(name);
  if (classes.length) created.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) created.addEventListener(key.slice(2), value);
    else created.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    created.append(child instanceof Node ? child : String(child));
  }
  return /** @type {ElementOf<Tag>} */ (created);
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children
 */
export function drawn(name, attributes, ...children) {
  const created = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, String(value));
  created.append(...children);
  return created;
}

/**
 * Returns a sentence in which names stand between backticks, with each name as code.
 * @param {string} sentence
 * @returns {(Node | string)[]}
 */
export function prose(sentence) {
  const parts = sentence.split("`");
  if (parts.length % 2 === 0) return [sentence];
  return parts.map((part, place) => (place % 2 ? element("code", null, part) : part)).filter(Boolean);
}

/**
 * Puts nodes into an element; those that stand there stay, which costs nothing.
 * @param {Element} parent
 * @param {Element[]} wanted
 */
export function exchange(parent, wanted) {
  const kept = new Set(wanted);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const child of wanted) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}

/**
 * Returns a table as wide as it needs to be, in a box that scrolls and can be reached by the keyboard.
 * @param {string} label
 * @param {string[]} heads of its columns; a column without one has an empty cell
 * @param {...Element} bodies
 */
export function scrolledTable(label, heads, ...bodies) {
  const cells = heads.map((head) => (head ? element("th", { scope: "col" }, head) : element("td")));
  const table = element("table.xr-static", null, element("thead", null, element("tr", null, ...cells)), ...bodies);
  return element("div.xr-scroll", { tabindex: 0, role: "region", "aria-label": label }, table);
}

/** @param {unknown} error @returns {string} what a caught value says */
export const errorMessage = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Returns a paragraph that says what could not be shown.
 * @param {...Child} words
 */
export const failure = (...words) => element("p.xr-failed", { role: "alert" }, ...words);

/**
 * Lets the reader save a file.
 * @param {Blob} content
 * @param {string} name
 */
export function saveFile(content, name) {
  const address = URL.createObjectURL(content);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
