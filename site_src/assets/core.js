/**
 * The ground of the page script: data by script tags (a page opened from file:// cannot fetch),
 * components found by their data attributes, elements, formats, state in the address.
 * Plain scripts without a framework; `xlareport` is their only global name.
 */
"use strict";

const xlareport = (() => {
  const file = /** @type {HTMLScriptElement} */ (document.currentScript).src;

  /** The root of the site, as an address that ends in a slash; of a report in one file, its folder. */
  const root = new URL(file ? "../" : "./", file || location.href).href;

  /** @type {Map<string, (value: any) => void>} */
  const awaited = new Map();

  /**
   * Takes the value of a payload; called by payload scripts.
   * @param {string} key the payload's key
   * @param {string} body JSON, or with `packing` its compressed form in base 85
   * @param {"gzip"} [packing] how the body is compressed
   */
  function deliver(key, body, packing) {
    awaited.get(key)?.(opened(body, packing));
  }

  /**
   * @param {string} body
   * @param {"gzip" | null} [packing]
   */
  function opened(body, packing) {
    return packing ? inflate(body, packing) : JSON.parse(body);
  }

  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;.=>?@^_`{|}~";
  const values = new Uint8Array(128);
  for (const [value, digit] of [...DIGITS].entries()) values[digit.charCodeAt(0)] = value;

  /**
   * Returns the bytes that base 85 stands for; the other side is storage/payloads.py.
   * @param {string} body
   */
  function decoded(body) {
    const groups = Math.ceil(body.length / 5);
    const bytes = new DataView(new ArrayBuffer(groups * 4));
    const whole = body.padEnd(groups * 5, "~");
    for (let group = 0, at = 0; group < groups; group += 1) {
      let value = 0;
      for (const end = at + 5; at < end; at += 1) value = value * 85 + values[whole.charCodeAt(at)];
      bytes.setUint32(group * 4, value);
    }
    return bytes.buffer.slice(0, Math.floor((body.length * 4) / 5));
  }

  /**
   * @param {string} body base 85
   * @param {"gzip"} packing
   * @returns {Promise<any>}
   */
  function inflate(body, packing) {
    const stream = new Blob([decoded(body)]).stream().pipeThrough(new DecompressionStream(packing));
    return new Response(stream).json();
  }

  /** @type {Set<string>} payloads that a packed report leaves out; a script before this one lists them */
  const leftOut = new Set(/** @type {any} */ (window).xlareportLacks);

  /** The folder and the name of a payload that may lie in `small`; the others are loaded without its module's pages. */
  const MAY_BE_SMALL = /^(m\/[^/]+\/)(?!(?:small|search|texts(?:-\d+)?)$)(.+)$/;

  /** @type {Map<string, Promise<any>>} */
  const loaded = new Map();

  /**
   * Loads a payload, once.
   * @param {string} key the payload's key, `m/x/steps`
   * @returns {Promise<any>} its value
   */
  function load(key) {
    const known = loaded.get(key) ?? found(key);
    loaded.set(key, known);
    known.catch(() => loaded.delete(key));
    return known;
  }

  /**
   * Finds a payload among the small ones of its module, or else by itself.
   * @param {string} key
   */
  async function found(key) {
    const [, folder, name] = MAY_BE_SMALL.exec(key) ?? [];
    if (folder) {
      const small = await load(`${folder}small`);
      if (Object.hasOwn(small, name)) return small[name];
    }
    if (leftOut.has(key)) throw new Error("It was left out of this packed report, to keep it small. LEFT-OUT.txt lists what else was.");
    return file ? fetched(key) : held(key);
  }

  /**
   * Runs the script of a payload.
   * @param {string} key
   * @returns {Promise<any>}
   */
  function fetched(key) {
    return new Promise((resolve, reject) => {
      awaited.set(key, resolve);
      const script = document.createElement("script");
      script.src = `${root}assets/data/${key.split("/").map(encodeURIComponent).join("/")}.js`;
      script.onload = () => script.remove();
      script.onerror = () => reject(new Error(`The file ${decodeURI(script.src)} is missing from this report. If it is a packed one, LEFT-OUT.txt lists what it leaves out.`));
      document.head.append(script);
    });
  }

  /**
   * Finds a payload in a report in one file, which holds its data behind its pages.
   * @param {string} key
   * @returns {Promise<any>}
   */
  async function held(key) {
    const read = new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
    if (document.readyState === "loading") await read;
    const block = document.getElementById(`assets/data/${key}.js`);
    if (!block) throw new Error(`Its data (${key}) is not in this file; the foot of the page leads to what is not.`);
    const [, body, packing] = JSON.parse(block.textContent ?? "");
    return opened(body, packing);
  }

  /**
   * Gives folded strings back: patterns with slots, the pattern of each string, and the numbers in the
   * slots. The other side is storage/folding.py.
   * @param {[(string | [string])[], number[], number[]]} folded
   * @returns {string[]}
   */
  function unfold([patterns, uses, steps]) {
    const counts = new Int32Array(patterns.length);
    for (const use of uses) counts[use] += 1;
    const numbers = Int32Array.from(steps);
    let end = 0;
    const made = patterns.map((pattern, place) => {
      const parts = typeof pattern === "string" ? pattern.split("\x7f") : pattern;
      const [start, count] = [end, counts[place]];
      for (let slot = 1; slot < parts.length; slot += 1, end += count) {
        for (let row = 1; row < count; row += 1) numbers[end + row] += numbers[end + row - 1];
      }
      return { parts, next: start, count };
    });
    return uses.map((use) => {
      const one = made[use];
      let text = one.parts[0];
      for (let slot = 1, place = one.next; slot < one.parts.length; slot += 1, place += one.count) text += numbers[place] + one.parts[slot];
      one.next += 1;
      return text;
    });
  }

  /**
   * Adds up the distances between numbers.
   * @param {number[]} steps
   * @returns {number[]}
   */
  function sums(steps) {
    let sum = 0;
    return steps.map((step) => (sum += step));
  }

  /**
   * Makes an element. Strings become text, so that nothing in them is taken for markup.
   * @param {string} tag `div` or `div.some.classes`
   * @param {Record<string, any> | null} [attributes] `on...` are listeners, null ones are left out
   * @param {...(Node | string | number | null | undefined | false)} children
   * @returns {HTMLElement}
   */
  function element(tag, attributes, ...children) {
    const [name, ...classes] = tag.split(".");
    const made = document.createElement(name);
    if (classes.length) made.className = classes.join(" ");
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value === true ? "" : String(value));
    }
    for (const child of children) {
      if (child !== null && child !== undefined && child !== false) {
        made.append(child instanceof Node ? child : String(child));
      }
    }
    return made;
  }

  /**
   * Returns a sentence in which names stand between backticks, with each name as code.
   * @param {string} sentence
   * @returns {(Node | string)[]}
   */
  function prose(sentence) {
    const parts = sentence.split("`");
    if (parts.length % 2 === 0) return [sentence];
    return parts.map((part, place) => (place % 2 ? element("code", null, part) : part)).filter(Boolean);
  }

  /**
   * Returns an address inside the report, or null for one that leads out of it.
   * @param {string} address relative to the root of the site
   */
  function inside(address) {
    const resolved = new URL(address, root).href;
    return resolved.startsWith(root) ? resolved : null;
  }

  const state = {
    /**
     * @param {string} name
     * @returns {string | null} what the address says behind `#` for this name
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
  function part() {
    const query = file ? location.search.slice(1) : (state.get("page") ?? "").split("?")[1];
    const [[name, value] = ["", ""]] = new URLSearchParams(query);
    return value ? "" : name;
  }

  /** @returns {URLSearchParams} what stands behind `#`, where it is no plain anchor */
  function parameters() {
    const hash = location.hash.slice(1);
    return new URLSearchParams(hash.includes("=") ? hash : "");
  }

  /**
   * Returns the address of what this page shows under other values, to be pasted elsewhere.
   * @param {string} fragment `#node=x`
   */
  function pasted(fragment) {
    const page = state.get("page");
    return new URL(page ? `#page=${page}&${fragment.slice(1)}` : fragment, location.href).href;
  }

  const EN_DASH = "\u2013";
  const whole = new Intl.NumberFormat("en-US");
  const fraction = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

  /**
   * Divides a number until it reads well, as the pages do.
   * @param {number} number
   * @param {number} base
   * @param {string[]} units
   */
  function scaled(number, base, units) {
    let value = number;
    let unit = 0;
    while (unit < units.length - 1 && Math.round(value) >= base) {
      value /= base;
      unit += 1;
    }
    return `${value.toFixed(unit === 0 || value >= 99.95 ? 0 : 1)} ${units[unit]}`;
  }

  const format = {
    unknown: EN_DASH,
    /** @param {number} number */
    count: (number) => whole.format(number).replace("-", "\u2212"),
    /** @param {number} number */
    float: (number) => fraction.format(number).replace("-", "\u2212"),
    /** @param {number} number a difference, or null where it is not known */
    signed(number) {
      return number === 0 ? "\u00b10" : number < 0 ? format.count(number) : `+${format.count(number)}`;
    },
    /** @param {number} share */
    percent(share) {
      const percent = share * 100;
      if (percent > 0 && percent < 0.1) return "<0.1%";
      if (percent > 99.9 && percent < 100) return ">99.9%";
      return `${percent.toFixed(percent >= 10 || percent === 0 ? 0 : 1)}%`;
    },
    /** @param {number} number */
    bytes: (number) => scaled(number, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]),
    /** @param {number} number */
    flops: (number) => `${scaled(number, 1000, ["", "k", "M", "G", "T", "P", "E"])}flop`,
    /** @param {number} time seconds */
    seconds(time) {
      const [factor, unit] = [[1, "s"], [1e3, "ms"], [1e6, "\u00b5s"]].find(([factor]) => time * Number(factor) >= 1) ?? [1e9, "ns"];
      return `${Number((time * Number(factor)).toPrecision(3))} ${unit}`;
    },
    /**
     * @param {number} number
     * @param {string} singular
     * @param {string} [plural]
     */
    plural(number, singular, plural) {
      return `${format.count(number)} ${number === 1 ? singular : (plural ?? `${singular}s`)}`;
    },
  };

  /** @type {Map<string, (host: HTMLElement, key: string) => Promise<void> | void>} */
  const components = new Map();

  /**
   * Says how elements with a data attribute are drawn.
   * @param {string} attribute `data-xr-table`
   * @param {(host: HTMLElement, key: string) => Promise<void> | void} draw
   */
  function component(attribute, draw) {
    components.set(attribute, draw);
    drawAll(document, attribute);
  }

  /**
   * Draws every component inside an element that was made by script.
   * @param {ParentNode} parent
   * @returns {Promise<void[]>} kept when all are drawn
   */
  function draw(parent) {
    return Promise.all([...components.keys()].flatMap((attribute) => drawAll(parent, attribute)));
  }

  /**
   * @param {ParentNode} parent
   * @param {string} attribute
   * @returns {Promise<void>[]}
   */
  function drawAll(parent, attribute) {
    const hosts = /** @type {HTMLElement[]} */ ([...parent.querySelectorAll(`[${attribute}]`)]);
    return hosts.map((host) =>
      drawOne(host, attribute).catch((/** @type {Error} */ error) => {
        host.removeAttribute("aria-busy");
        host.append(element("p.xr-failed", { role: "alert" }, `This part could not be drawn. ${error.message}`));
      }),
    );
  }

  /**
   * @param {HTMLElement} host
   * @param {string} attribute
   */
  async function drawOne(host, attribute) {
    if (host.dataset.xrDrawn) return;
    host.dataset.xrDrawn = "yes";
    await components.get(attribute)?.(host, host.getAttribute(attribute) ?? "");
  }

  return { root, deliver, load, unfold, sums, element, prose, inside, part, pasted, state, format, component, draw };
})();
