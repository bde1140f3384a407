/**
 * The page that shows any text of a module whole: chosen from a list, searched, saved. Only the lines
 * in sight are drawn. Which text, line and words stands in the address: `#text=0017&line=12&find=words`,
 * and `#text=0017&name=fusion.3` goes to the line where that instruction is defined.
 */

import { state } from "../core/address.js";
import { element, saveFile } from "../core/elements.js";
import { format } from "../core/format.js";
import { openTexts, textBytes } from "./store.js";
import { coloredLine } from "./syntax.js";

const SPARE = 20;

/** @typedef {import("./store.js").Text} Text */

class Reader {
  /**
   * @param {HTMLElement} host
   * @param {import("./store.js").TextStore} store
   */
  constructor(host, store) {
    this.store = store;
    /** @type {string[]} */
    this.lines = [];
    /** @type {number[]} */
    this.hits = [];
    this.hit = -1;
    this.marked = -1;
    /** The first line that is drawn. */
    this.first = -1;
    /** @type {Text | null} */
    this.text = null;
    this.height = 18;
    this.choice = element(
      "select.xr-whole-choice",
      { "aria-label": "Text to show", onchange: () => this.choose() },
      ...this.options(),
    );
    this.find = element("input.xr-filter", {
      type: "search",
      placeholder: "Search in this text",
      "aria-label": "Search in this text",
      spellcheck: "false",
      oninput: () => this.search(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.press(event),
    });
    this.counter = element("span.xr-count", { role: "status" });
    this.body = element("ol.xr-whole-lines");
    this.scroller = element("div.xr-whole", { tabindex: 0, role: "region", "aria-label": "The text" }, this.body);
    const save = element("button.xr-button", { type: "button", onclick: () => this.save() }, "Save this text");
    const bar = element("div.xr-table-bar", null, this.choice, this.find, this.counter, save);
    host.replaceChildren(bar, this.scroller);
    this.scroller.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    this.body.addEventListener("click", (event) => this.follow(event));
    window.addEventListener("hashchange", () => this.show());
  }

  options() {
    /** @type {[string, Text[]][]} */
    const groups = [
      ["Snapshots", this.store.texts.filter((text) => text.key !== text.path)],
      ["Other texts", this.store.texts.filter((text) => text.key === text.path)],
    ];
    return groups
      .filter(([, texts]) => texts.length)
      .map(([title, texts]) =>
        element(
          "optgroup",
          { label: title },
          ...texts.map((text) => element("option", { value: text.key }, text.label)),
        ),
      );
  }

  /** @returns {Text} the text that the address names, else the last snapshot */
  wanted() {
    const named = this.store.texts.find((text) => text.key === state.get("text"));
    const snapshots = this.store.texts.filter((text) => text.key !== text.path);
    return named ?? snapshots.at(-1) ?? this.store.texts[0];
  }

  choose() {
    state.set({ text: this.choice.value, line: null, name: null });
    return this.show();
  }

  /** Shows what the address names. */
  async show() {
    const text = this.wanted();
    this.choice.value = text.key;
    this.counter.textContent = "Loading\u2026";
    this.lines = await this.store.lines(text);
    this.text = text;
    this.find.value = state.get("find") ?? "";
    this.body.style.setProperty(
      "--xr-widest",
      `${Math.min(2000, Math.max(...this.lines.map((line) => line.length)))}ch`,
    );
    this.search();
    const line = this.line();
    if (line >= 0) this.go(line);
  }

  /** @returns {number} the line that the address names, -1 where it names none */
  line() {
    const number = Number(state.get("line"));
    if (number >= 1 && number <= this.lines.length) return number - 1;
    const name = state.get("name");
    return name ? this.definition(name) : -1;
  }

  /** @param {string} name of an instruction or a computation */
  definition(name) {
    const bare = name.replace(/^%/, "");
    const begins = [
      `%${bare} = `,
      `ROOT %${bare} = `,
      `%${bare} (`,
      `ENTRY %${bare} (`,
      `${bare} = `,
      `ROOT ${bare} = `,
      `${bare} {`,
    ];
    return this.lines.findIndex((line) => begins.some((begin) => line.trimStart().startsWith(begin)));
  }

  search() {
    const words = this.find.value.toLowerCase();
    state.set({ find: words || null });
    this.hits = words ? this.lines.flatMap((line, place) => (line.toLowerCase().includes(words) ? [place] : [])) : [];
    this.hit = -1;
    const lines = `${format.plural(this.lines.length, "line")}, ${format.bytes(this.text?.size ?? 0)}`;
    this.counter.textContent = words ? `${format.plural(this.hits.length, "line")} found (Enter: next)` : lines;
    if (this.hits.length) this.next(1);
    else this.draw(true);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    this.next(event.shiftKey ? -1 : 1);
  }

  /** @param {number} step */
  next(step) {
    if (!this.hits.length) return;
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    this.counter.textContent = `${format.count(this.hit + 1)} of ${format.plural(this.hits.length, "line")} (Enter: next)`;
    this.go(this.hits[this.hit]);
  }

  /** @param {number} line */
  go(line) {
    this.marked = line;
    this.draw(true); // gives the list its whole height, without which nothing can be scrolled to
    this.scroller.scrollTop = Math.max(0, (line - 6) * this.height);
    this.draw(true);
  }

  /** @param {boolean} [again] draw even if the same lines are in sight */
  draw(again = false) {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / this.height) - SPARE);
    if (first === this.first && !again) return;
    this.first = first;
    const last = Math.min(
      this.lines.length,
      first + Math.ceil((this.scroller.clientHeight || 600) / this.height) + 2 * SPARE,
    );
    const shown = this.lines.slice(first, last).map((line, place) => this.row(line, first + place));
    this.body.style.paddingTop = `${first * this.height}px`;
    this.body.style.paddingBottom = `${(this.lines.length - last) * this.height}px`;
    this.body.replaceChildren(...shown);
    const height = shown[0]?.getBoundingClientRect().height;
    if (height && Math.abs(height - this.height) > 0.01) {
      this.height = height;
      this.draw(true);
    }
  }

  /**
   * @param {string} line
   * @param {number} place
   */
  row(line, place) {
    const number = element(
      "a.xr-whole-number",
      {
        href: `#${new URLSearchParams({ text: this.text?.key ?? "", line: String(place + 1) })}`,
        "aria-label": `Line ${place + 1}`,
      },
      place + 1,
    );
    return element(
      place === this.marked ? "li.xr-whole-marked" : "li",
      null,
      number,
      element("code", null, ...coloredLine(line)),
    );
  }

  /** @param {Event} event */
  follow(event) {
    const part = /** @type {HTMLElement} */ (event.target);
    const name = part.matches(".xr-code-variable") ? part.textContent : "";
    const line = name && !String(getSelection()) ? this.definition(name) : -1;
    if (line < 0) return;
    state.set({ line: String(line + 1), name: null });
    this.go(line);
  }

  save() {
    saveFile(new Blob([textBytes(this.lines)], { type: "text/plain" }), this.text?.path.split("/").at(-1) ?? "");
  }
}

/**
 * Draws the texts of a module.
 * @param {HTMLElement} host
 * @param {string} key of its payload
 */
export async function drawTexts(host, key) {
  const store = await openTexts(key);
  await new Reader(host, store).show();
}
