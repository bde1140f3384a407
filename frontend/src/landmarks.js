/** Names for the landmarks that the theme adds without one: the bar of each code block. */

/** Names each bar as soon as the theme has added it. */
export function nameCodeBars() {
  for (const [number, block] of document.querySelectorAll("article pre:has(> code)").entries()) {
    const name = () => block.querySelector(".md-code__nav")?.setAttribute("aria-label", `Code block ${number + 1}`);
    new MutationObserver(name).observe(block, { childList: true });
    name();
  }
}
