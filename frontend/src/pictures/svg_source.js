/** SVG text that is read as a picture and nothing else. */

const REMOVED = "script, foreignObject, iframe, object, embed, image, use, animate, set, a";

/**
 * Reads SVG text as a picture and nothing else: what could act or load is taken out.
 * @param {string} source
 * @returns {SVGSVGElement}
 */
export function parse(source) {
  const read = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  if (read.localName !== "svg") throw new Error("The picture is damaged.");
  for (const active of read.querySelectorAll(REMOVED)) active.remove();
  for (const part of [read, ...read.querySelectorAll("*")]) {
    for (const { name, value } of [...part.attributes]) {
      const leadsOut = /href$/i.test(name) && !value.startsWith("#");
      if (/^on/i.test(name) || leadsOut || /url\(\s*["']?(?!#)/i.test(value)) part.removeAttribute(name);
    }
  }
  return /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.adoptNode(read)));
}
