// Made from frontend/src by `make bundle`: changes here are lost.
"use strict";
var xlareport = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target2, all) => {
    for (var name in all)
      __defProp(target2, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // src/main.js
  var main_exports = {};
  __export(main_exports, {
    deliver: () => deliver,
    element: () => element,
    explainWord: () => explainWord,
    interactivePicture: () => interactivePicture,
    load: () => load,
    loadGraph: () => loadGraph,
    loadSnapshotGraph: () => loadSnapshotGraph,
    prose: () => prose,
    readDrawing: () => readDrawing,
    recordLayout: () => recordLayout,
    recordSvg: () => recordSvg,
    state: () => state
  });

  // src/core/elements.js
  function element(tag, attributes, ...children) {
    const [name, ...classes] = tag.split(".");
    const created = document.createElement(name);
    if (classes.length) created.className = classes.join(" ");
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (value === null || value === void 0 || value === false) continue;
      if (key.startsWith("on")) created.addEventListener(key.slice(2), value);
      else created.setAttribute(key, value === true ? "" : String(value));
    }
    for (const child of children) {
      if (child === null || child === void 0 || child === false) continue;
      created.append(child instanceof Node ? child : String(child));
    }
    return (
      /** @type {ElementOf<Tag>} */
      created
    );
  }
  var SVG = "http://www.w3.org/2000/svg";
  function drawn(name, attributes, ...children) {
    const created = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, String(value));
    created.append(...children);
    return created;
  }
  function prose(sentence2) {
    const parts = sentence2.split("`");
    if (parts.length % 2 === 0) return [sentence2];
    return parts.map((part2, place2) => place2 % 2 ? element("code", null, part2) : part2).filter(Boolean);
  }
  function exchange(parent, wanted2) {
    const kept2 = new Set(wanted2);
    for (const child of [...parent.children]) if (!kept2.has(child)) child.remove();
    let next = parent.firstElementChild;
    for (const child of wanted2) {
      if (child === next) next = next.nextElementSibling;
      else parent.insertBefore(child, next);
    }
  }
  function scrolledTable(label, heads, ...bodies) {
    const cells = heads.map((head2) => head2 ? element("th", { scope: "col" }, head2) : element("td"));
    const table = element("table.xr-static", null, element("thead", null, element("tr", null, ...cells)), ...bodies);
    return element("div.xr-scroll", { tabindex: 0, role: "region", "aria-label": label }, table);
  }
  var errorMessage = (error) => error instanceof Error ? error.message : String(error);
  var failure = (...words2) => element("p.xr-failed", { role: "alert" }, ...words2);
  function saveFile(content, name) {
    const address3 = URL.createObjectURL(content);
    element("a", { href: address3, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address3), 1e3);
  }

  // src/core/components.js
  var components = /* @__PURE__ */ new Map();
  function component(attribute, draw) {
    components.set(attribute, draw);
    drawAll(document, attribute);
  }
  function drawComponents(parent) {
    return Promise.all([...components.keys()].flatMap((attribute) => drawAll(parent, attribute)));
  }
  function drawAll(parent, attribute) {
    const hosts = (
      /** @type {HTMLElement[]} */
      [...parent.querySelectorAll(`[${attribute}]`)]
    );
    return hosts.map(
      (host) => drawOne(host, attribute).catch((error) => {
        host.removeAttribute("aria-busy");
        host.append(failure(`This part could not be drawn. ${errorMessage(error)}`));
      })
    );
  }
  async function drawOne(host, attribute) {
    if (host.dataset.xrDrawn) return;
    host.dataset.xrDrawn = "yes";
    await components.get(attribute)?.(host, host.getAttribute(attribute) ?? "");
  }

  // src/core/address.js
  var script = (
    /** @type {HTMLScriptElement | null} */
    document.currentScript?.src ?? ""
  );
  var isSingleFile = !script;
  var NO_FOLDER = "https://report.invalid/";
  var isPlaceless = /^(?:about|blob|data):$/.test(location.protocol);
  var root = new URL(isSingleFile ? "./" : "../", script || (isPlaceless ? NO_FOLDER : location.href)).href;
  var isFixed = location.protocol === "blob:" || location.protocol === "file:" && window.parent !== window && isSandboxed();
  function isSandboxed() {
    try {
      return !window.localStorage;
    } catch {
      return true;
    }
  }
  function goToFragment(fragment) {
    if (!isFixed) {
      location.hash = fragment;
      return;
    }
    history.pushState(null, "", location.href.split("#")[0] + fragment);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  }
  function replaceFragment(fragment) {
    if (fragment === location.hash) return;
    const whole2 = location.href.split("#")[0] + fragment;
    history.replaceState(history.state, "", isPlaceless ? whole2 : fragment || location.pathname + location.search);
  }
  function insideReport(address3) {
    const resolved = new URL(address3, root).href;
    return resolved.startsWith(root) ? resolved : null;
  }
  var state = {
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
    set(values3) {
      const all = parameters();
      for (const [name, value] of Object.entries(values3)) {
        if (value) all.set(name, value);
        else all.delete(name);
      }
      const text = all.toString().replaceAll("%2F", "/").replaceAll("%3F", "?");
      replaceFragment(text && `#${text}`);
    }
  };
  function askedPart() {
    const query = isSingleFile ? (state.get("page") ?? "").split("?")[1] : location.search.slice(1);
    const [[name, value] = ["", ""]] = new URLSearchParams(query);
    return value ? "" : name;
  }
  function partAddress(name, anchor) {
    const tab = (
      /** @type {HTMLAnchorElement | null} */
      document.querySelector(`[data-xr-parts] a[data-part="${name}"]`)
    );
    if (!tab) return "";
    if (!anchor) return tab.href;
    return isSingleFile ? `${tab.hash}&at=${anchor}` : `${tab.href}#${anchor}`;
  }
  function shareableAddress(fragment) {
    const page2 = state.get("page");
    return new URL(page2 ? `#page=${page2}&${fragment.slice(1)}` : fragment, location.href).href;
  }
  function parameters() {
    const hash = location.hash.slice(1);
    return new URLSearchParams(hash.includes("=") ? hash : "");
  }

  // src/core/format.js
  var EN_DASH = "\u2013";
  var whole = new Intl.NumberFormat("en-US");
  var TIMES = [
    [1, "s"],
    [1e3, "ms"],
    [1e6, "\xB5s"]
  ];
  var LEAST = 1e-3;
  var fraction = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
  function scaled(number, base, units, significant) {
    let value = number;
    let unit = 0;
    while (unit < units.length - 1 && Math.round(value) >= base) {
      value /= base;
      unit += 1;
    }
    const decimals = significant ? Math.max(0, significant - value.toFixed(0).length) : value < 99.95 ? 1 : 0;
    return `${value.toFixed(unit === 0 && Number.isInteger(value) ? 0 : unit === 0 && !significant ? 0 : decimals)} ${units[unit]}`;
  }
  var format = {
    unknown: EN_DASH,
    /** @param {number} number */
    count: (number) => whole.format(number).replace("-", "\u2212"),
    /** @param {number} number @returns {string} four digits; what is nearly nothing is told as such */
    float(number) {
      if (number > 0 && number < LEAST) return `<${LEAST}`;
      return fraction.format(number).replace("-", "\u2212");
    },
    /** @param {number} number a difference, or null where it is not known */
    signed(number) {
      return number === 0 ? "\xB10" : number < 0 ? format.count(number) : `+${format.count(number)}`;
    },
    /** @param {number} share */
    percent(share) {
      const percent = share * 100;
      if (percent > 0 && percent < 0.1) return "<0.1%";
      if (percent > 99.9 && percent < 100) return ">99.9%";
      return `${percent.toFixed(percent >= 10 || percent === 0 ? 0 : 1)}%`;
    },
    /** @param {number} share shown with three digits: occupancies differ by half a percent */
    precise(share) {
      const isMiddle = share >= 1e-3 && share <= 0.999;
      return isMiddle ? `${Number((share * 100).toPrecision(3))}%` : format.percent(share);
    },
    /** @param {number} number */
    bytes: (number) => scaled(number, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]),
    /** @param {number} number */
    flops: (number) => number ? `${scaled(number, 1e3, ["", "k", "M", "G", "T", "P", "E"], 3)}FLOP` : "0",
    /** @param {number} time seconds */
    seconds(time) {
      const [factor, unit] = TIMES.find(([each]) => time * each >= 1) ?? [1e9, "ns"];
      return `${Number((time * factor).toPrecision(3))} ${unit}`;
    },
    /**
     * @param {number} number
     * @param {string} singular
     * @param {string} [plural]
     */
    plural(number, singular, plural) {
      return `${format.count(number)} ${number === 1 ? singular : plural ?? `${singular}s`}`;
    }
  };

  // src/core/once.js
  function once(kept2, key, make) {
    const known4 = kept2.get(key);
    if (known4) return known4;
    const value = make();
    kept2.set(key, value);
    value.catch(() => kept2.delete(key));
    return value;
  }

  // src/core/packing.js
  var DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;.=>?@^_`{|}~";
  var values = new Uint8Array(128);
  for (const [value, digit] of [...DIGITS].entries()) values[digit.charCodeAt(0)] = value;
  function decoded(body) {
    const groups = Math.ceil(body.length / 5);
    const bytes = new DataView(new ArrayBuffer(groups * 4));
    const whole2 = body.padEnd(groups * 5, "~");
    for (let group = 0, at = 0; group < groups; group += 1) {
      let value = 0;
      for (const end = at + 5; at < end; at += 1) value = value * 85 + values[whole2.charCodeAt(at)];
      bytes.setUint32(group * 4, value);
    }
    return bytes.buffer.slice(0, Math.floor(body.length * 4 / 5));
  }
  function inflate(body, packing) {
    const stream = new Blob([decoded(body)]).stream().pipeThrough(new DecompressionStream(packing));
    return new Response(stream).json();
  }
  var FoldedStrings = class {
    /** @param {import("../../types/payloads").Folded} folded */
    constructor([patterns, uses, steps]) {
      this.uses = uses;
      this.ranks = new Int32Array(uses.length);
      this.numbers = Int32Array.from(steps);
      const counts = new Int32Array(patterns.length);
      for (let place2 = 0; place2 < uses.length; place2 += 1) this.ranks[place2] = counts[uses[place2]]++;
      let end = 0;
      this.columns = patterns.map((pattern, place2) => {
        const parts = typeof pattern === "string" ? pattern.split("\x7F") : pattern;
        const [start, count] = [end, counts[place2]];
        for (let slot = 1; slot < parts.length; slot += 1, end += count) {
          for (let row4 = 1; row4 < count; row4 += 1) this.numbers[end + row4] += this.numbers[end + row4 - 1];
        }
        return { parts, start, count };
      });
    }
    /**
     * Writes one string; of many thousand only those in sight are needed.
     * @param {number} place
     * @returns {string | undefined} nothing where there is no such string
     */
    at(place2) {
      const column = this.columns[this.uses[place2]];
      if (!column) return void 0;
      const { parts, start, count } = column;
      let text = parts[0];
      for (let slot = 1, at = start + this.ranks[place2]; slot < parts.length; slot += 1, at += count) {
        text += this.numbers[at] + parts[slot];
      }
      return text;
    }
    /** @returns {string[]} */
    all() {
      return this.uses.map((_, place2) => this.at(place2) ?? "");
    }
  };
  var unfold = (folded) => new FoldedStrings(folded).all();
  function sums(steps) {
    let sum2 = 0;
    return steps.map((step) => sum2 += step);
  }
  function splitRows([lengths, all]) {
    let end = 0;
    return lengths.map((length) => all.slice(end, end += length));
  }

  // src/core/payloads.js
  var awaited = /* @__PURE__ */ new Map();
  function deliver(key, body, packing) {
    awaited.get(key)?.(opened(body, packing));
  }
  function opened(body, packing) {
    return packing ? inflate(body, packing) : JSON.parse(body);
  }
  var leftOut = new Set(JSON.parse(document.documentElement.dataset.xrLeftOut ?? "[]"));
  var MAY_BE_SMALL = /^(m\/[^/]+\/)(?!(?:small|search|texts(?:-\d+)?)$)(.+)$/;
  var loaded = /* @__PURE__ */ new Map();
  function load(key) {
    return once(loaded, key, () => locate(key));
  }
  async function locate(key) {
    const [, folder, name] = MAY_BE_SMALL.exec(key) ?? [];
    if (folder) {
      const small = (
        /** @type {Payloads["m/x/small"]} */
        await load(`${folder}small`)
      );
      if (Object.hasOwn(small, name)) return small[name];
    }
    if (leftOut.has(key)) {
      throw new Error("It was left out of this packed report, to keep it small. LEFT-OUT.txt lists what else was.");
    }
    return isSingleFile ? embedded(key) : fetched(key);
  }
  function fetched(key) {
    return new Promise((resolve, reject) => {
      awaited.set(key, resolve);
      const script2 = document.createElement("script");
      script2.src = `${root}assets/data/${key.split("/").map(encodeURIComponent).join("/")}.js`;
      script2.onload = () => script2.remove();
      script2.onerror = () => reject(
        new Error(
          `The file ${decodeURI(script2.src)} is missing from this report. If it is a packed one, LEFT-OUT.txt lists what it leaves out.`
        )
      );
      document.head.append(script2);
    });
  }
  async function embedded(key) {
    const read = new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
    if (document.readyState === "loading") await read;
    const block = document.getElementById(`assets/data/${key}.js`);
    if (!block) {
      throw new Error(`Its data (${key}) is not in this file. The footer of the page links to the list of omitted data.`);
    }
    const [, body, packing] = JSON.parse(block.textContent ?? "");
    return opened(body, packing);
  }

  // src/names/sentences.js
  var NAME = /(%[\w.-]*\w)/;
  var GRADES = (
    /** @type {Record<string, string>} */
    {
      exact: "Follows directly from the dump.",
      matched: "Matched by operation, operands and users.",
      guessed: "Likely, but not certain."
    }
  );
  function gradeChip(grade) {
    if (!grade || !Object.hasOwn(GRADES, grade)) return null;
    return element(`span.xr-grade.xr-${grade}`, { title: GRADES[grade] }, grade);
  }
  function historyLink(name, title2) {
    const bare2 = name.replace(/^%/, "");
    return element(
      "a.xr-ask",
      { href: `#i=${encodeURIComponent(bare2)}`, title: title2 ?? null },
      element("code", null, `%${bare2}`)
    );
  }
  function nameNode(name) {
    return name.startsWith("%") ? historyLink(name, "History") : element("code", null, name);
  }
  function sentence(words2) {
    const parts = words2.split("`");
    if (parts.length % 2 === 0) return [words2];
    return parts.flatMap((part2, place2) => place2 % 2 ? [nameNode(part2)] : withNames(part2)).filter(Boolean);
  }
  var withNames = (words2) => words2.split(NAME).map((part2, place2) => place2 % 2 ? nameNode(part2) : part2);
  var plainSentence = (words2) => words2.replaceAll("`", "");

  // src/texts/store.js
  var TextStore = class {
    /**
     * @param {string} key `m/x/texts`
     * @param {import("../../types/payloads").TextList["texts"]} records
     * @param {number[]} starts the number of the first line of each chunk
     */
    constructor(key, records, starts) {
      this.key = key;
      this.starts = starts;
      this.texts = /** @type {Text[]} */
      records.map(([path, size, , chunk, runs, name, label]) => ({ path, size, key: name, label, chunk, runs }));
      this.blocks = [];
      this.chunks = /* @__PURE__ */ new Map();
      this.taken = 0;
      this.loading = Promise.resolve();
    }
    /**
     * @param {Text} text
     * @returns {Promise<string[]>} its lines, without their ends
     */
    async lines(text) {
      await this.need(text.chunk);
      const numbers = this.numbers(this.texts.indexOf(text));
      return numbers.flatMap((number, place2) => place2 ? ["", ...this.blocks[number]] : this.blocks[number]);
    }
    /**
     * Returns lines by their numbers; only the chunks that hold them are loaded.
     * @param {number[]} numbers
     * @returns {Promise<string[]>}
     */
    async numbered(numbers) {
      const places2 = numbers.map((number) => this.starts.findLastIndex((start) => start <= number));
      const wanted2 = [...new Set(places2)];
      const loaded2 = new Map(
        await Promise.all(
          wanted2.map(async (place2) => (
            /** @type {[number, FoldedStrings]} */
            [place2, (await this.chunk(place2)).lines]
          ))
        )
      );
      return numbers.map((number, at) => loaded2.get(places2[at])?.at(number - this.starts[places2[at]]) ?? "");
    }
    /**
     * @param {number} number
     * @returns {Promise<Chunk>}
     */
    chunk(number) {
      return once(
        this.chunks,
        number,
        () => (
          /** @type {Promise<Payload<"m/x/texts-0">>} */
          load(`${this.key}-${number}`).then(({ lines: lines3, blocks }) => ({
            lines: new FoldedStrings(lines3),
            blocks
          }))
        )
      );
    }
    /**
     * Takes the blocks of all chunks up to one; a chunk may copy from those before it.
     * @param {number} last
     */
    need(last) {
      this.loading = this.loading.then(async () => {
        const wanted2 = Array.from({ length: Math.max(0, last + 1 - this.taken) }, (_, place2) => this.taken + place2);
        const loaded2 = await Promise.all(wanted2.map((number) => this.chunk(number)));
        for (const { lines: lines3, blocks } of loaded2) this.take(lines3.all(), blocks);
        this.taken += wanted2.length;
      });
      return this.loading;
    }
    /**
     * @param {string[]} lines
     * @param {number[][]} blocks
     */
    take(lines3, blocks) {
      let fresh = 0;
      for (const runs of blocks) {
        const block = (
          /** @type {string[]} */
          []
        );
        const ends = /* @__PURE__ */ new Map();
        this.blocks.push(block);
        for (let at = 0; at < runs.length; ) {
          const age = runs[at++];
          const source = age ? this.blocks[this.blocks.length - age] : lines3;
          const start = age ? runs[at++] + (ends.get(age) ?? block.length) : fresh;
          const count = runs[at++];
          if (age) ends.set(age, start + count);
          else fresh += count;
          for (let place2 = start; place2 < start + count; place2 += 1) block.push(source[place2]);
        }
      }
    }
    /**
     * @param {number} wanted the place of a text
     * @returns {number[]} its blocks; each text is told by the one before it
     */
    numbers(wanted2) {
      let count = 0;
      let former = (
        /** @type {number[]} */
        []
      );
      for (const { runs } of this.texts.slice(0, wanted2 + 1)) {
        const numbers = (
          /** @type {number[]} */
          []
        );
        for (let at = 0; at < runs.length; ) {
          const [kind, first] = [runs[at], runs[at + 1]];
          at += 2;
          if (kind === 0) for (const end = count + first; count < end; count += 1) numbers.push(count);
          else if (kind === 1) numbers.push(...former.slice(first, first + runs[at++]));
          else numbers.push(first);
        }
        former = numbers;
      }
      return former;
    }
  };
  var stores = /* @__PURE__ */ new Map();
  function openTexts(key) {
    return once(
      stores,
      key,
      () => (
        /** @type {Promise<Payload<"m/x/texts">>} */
        load(key).then(
          (index) => new TextStore(key, index.texts, index.chunks)
        )
      )
    );
  }
  function textBytes(lines3) {
    const text = lines3.join("\n");
    if (!/[\udc80-\udcff]/u.test(text)) return new TextEncoder().encode(text);
    const parts = text.split(/([\udc80-\udcff])/u);
    const encoder = new TextEncoder();
    const encoded = parts.map(
      (part2, place2) => place2 % 2 ? Uint8Array.of(part2.charCodeAt(0) - 56320) : encoder.encode(part2)
    );
    return new Blob(encoded);
  }

  // src/texts/syntax.js
  var LONGEST = 2e3;
  var FORMS = [
    ["comment", String.raw`\/\/.*|\/\*.*?\*\/|;\s.*|#\s.*`],
    ["string", String.raw`c?"(?:[^"\\]|\\.)*"?`],
    ["label", String.raw`\^\w+|^\s*[$\w.-]+:(?=\s|$)`],
    ["variable", String.raw`%[\w.$#-]+|[A-Za-z_][\w.-]*(?= = )`],
    ["function", String.raw`@(?:"[^"]*"|[\w.$-]+)|[a-z]\w*(?:\.[a-z]\w*)+|[a-z][\w-]*(?=\()`],
    [
      "type",
      String.raw`\b(?:pred|token|opaque|[busif]\d+|[cf]\d\w*|bf\d+|i\d+|float|double|half|bfloat|ptr|void|tensor|memref|vector)\b|\.(?:[busf]\d+|pred|v\d)\b`
    ],
    ["attribute", String.raw`[#!][\w.$]+|\b[a-z_]\w*(?==[^\s=])`],
    ["number", String.raw`-?\b(?:0x[\da-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\b`],
    [
      "keyword",
      String.raw`\b(?:HloModule|ENTRY|ROOT|FileNames|FunctionNames|FileLocations|StackFrames|true|false|inf|nan)\b|\.[a-z]\w+`
    ],
    ["word", String.raw`[A-Za-z_][\w.-]*`],
    ["equals", String.raw`=(?=\s)`]
  ];
  var NAMES = FORMS.map(([name]) => name);
  var PATTERN = FORMS.map(([, form]) => `(${form})`).join("|");
  var INVISIBLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff\ud800-\udfff]/gu;
  function visible(text) {
    return text.replace(INVISIBLE, (character) => {
      const number = character.charCodeAt(0);
      if (number < 32) return String.fromCharCode(9216 + number);
      return number < 256 ? `\\x${number.toString(16).padStart(2, "0")}` : `\\u${number.toString(16).padStart(4, "0")}`;
    });
  }
  function* tokens(line3) {
    if (line3.length > LONGEST) return yield [line3, ""];
    let end = 0;
    let first = true;
    for (const match of line3.matchAll(new RegExp(PATTERN, "g"))) {
      const part2 = match[0];
      if (match.index > end) yield [line3.slice(end, match.index), ""];
      end = match.index + part2.length;
      let look2 = NAMES[match.slice(1).findIndex((group) => group !== void 0)];
      if (look2 === "word") look2 = first ? "keyword" : "";
      first = look2 === "equals";
      yield [part2, look2 === "equals" ? "" : look2];
    }
    if (end < line3.length) yield [line3.slice(end), ""];
  }
  function coloredLine(line3) {
    return [...tokens(visible(line3))].map(([part2, look2]) => look2 ? element(`span.xr-code-${look2}`, null, part2) : part2);
  }

  // src/code/code.js
  var SHOWN = 3e5;
  var COLORED = 4e4;
  var ORDER = "(order)";
  var THUNKS = 100;
  var title = (unit) => unit.name || unit.computation;
  var address = (name) => `#unit=${encodeURIComponent(name)}`;
  function colored(text) {
    const looked = text.slice(0, COLORED).split("\n");
    const parts = looked.flatMap((line3, place2) => [place2 ? "\n" : "", ...coloredLine(line3)]);
    const uncolored = visible(text.slice(COLORED, SHOWN));
    const cut = text.length > SHOWN && element(
      "p.xr-muted",
      null,
      `The first ${format.count(SHOWN)} of ${format.count(text.length)} characters; the HLO tab has the rest.`
    );
    return [element("pre.xr-code", { tabindex: 0 }, element("code", null, ...parts, uncolored)), cut || ""];
  }
  var Code = class {
    /**
     * @param {HTMLElement} host
     * @param {Index} index
     */
    constructor(host, index) {
      this.index = index;
      this.filter = element("input", {
        type: "search",
        placeholder: "Part of a name",
        "aria-label": "Instructions whose name has",
        autocomplete: "off",
        spellcheck: "false"
      });
      this.filter.addEventListener("input", () => this.narrow());
      this.items = index.units.map((unit) => this.item(unit));
      this.order = index.thunks.length ? element("a.xr-item", { href: address(ORDER) }, element("span.xr-item-label", null, "Thunk sequence")) : null;
      const head2 = element(
        "p.xr-list-head",
        null,
        format.plural(index.units.length, "instruction or computation", "instructions and computations")
      );
      this.list = element(
        "nav.xr-steps-list",
        { "aria-label": "Instructions" },
        element("label.xr-ask-box", null, this.filter),
        head2,
        this.order,
        ...this.items
      );
      this.panel = element("section.xr-step", { "aria-label": "The code" });
      host.classList.add("xr-steps");
      host.replaceChildren(this.list, this.panel);
      window.addEventListener("hashchange", () => this.show());
      this.show();
    }
    /** @param {Unit} unit */
    item(unit) {
      const files = unit.files.filter((file) => file.path).length;
      return element(
        "a.xr-item",
        { href: address(title(unit)), title: unit.reason },
        element("span.xr-item-label", null, title(unit)),
        element("span.xr-muted", null, files ? format.plural(files, "file") : "")
      );
    }
    narrow() {
      const wanted2 = this.filter.value.trim().replace(/^%/, "").toLowerCase();
      for (const [place2, unit] of this.index.units.entries()) {
        this.items[place2].hidden = !title(unit).toLowerCase().includes(wanted2);
      }
    }
    /** Shows what the address names: an instruction, one inside of a fusion, or all thunks. */
    show() {
      const name = (state.get("unit") ?? "").replace(/^%/, "");
      const { units, inside } = this.index;
      let place2 = units.findIndex((unit) => title(unit) === name);
      const within = place2 < 0 && Object.hasOwn(inside, name);
      if (within) place2 = inside[name];
      for (const current of this.list.querySelectorAll("[aria-current]")) current.removeAttribute("aria-current");
      if (place2 < 0 && this.order && (!name || name === ORDER)) {
        this.order.setAttribute("aria-current", "true");
        this.panel.replaceChildren(...this.thunks());
        return;
      }
      const missing = place2 < 0 && name;
      if (place2 < 0) place2 = 0;
      if (!units[place2]) return;
      this.items[place2].setAttribute("aria-current", "true");
      const note2 = within ? `${name} is part of this instruction.` : missing ? `${name} has no code of its own here; this is the first instruction that has.` : "";
      this.panel.replaceChildren(...this.unit(units[place2], note2));
      if (this.panel.getBoundingClientRect().top < 0) this.panel.scrollIntoView();
    }
    /**
     * @param {Unit} unit
     * @param {string} note
     */
    unit(unit, note2) {
      const name = unit.name ? historyLink(unit.name, "History") : element("code", null, unit.computation);
      const facts2 = (
        /** @type {[string, string][]} */
        [
          ["In computation", unit.name ? unit.computation : ""],
          ["Opcode", unit.opcode],
          ["Shape", unit.shape],
          ["Scope", unit.scope],
          ["Source", unit.source],
          ...unit.kernels,
          ...unit.tuning.map(([key, value]) => (
            /** @type {[string, string]} */
            [`Chosen: ${key}`, value]
          ))
        ]
      );
      return [
        element("h2", null, name),
        note2 && element("p.xr-warning", null, note2),
        element("p", null, gradeChip(unit.grade), " ", unit.reason),
        element(
          "dl.xr-facts",
          null,
          ...facts2.filter(([, value]) => value).map(
            ([key, value]) => element("div", null, element("dt", null, key), element("dd", null, element("code", null, value)))
          )
        ),
        ...unit.thunks.map((place2) => this.when(this.index.thunks[place2])),
        ...unit.files.map((file, place2) => this.file(file, place2 === 0)),
        this.decisions(unit.decisions, "Fusion decisions")
      ].filter((part2) => part2 !== null && part2 !== "");
    }
    /** @param {Thunk} thunk */
    when([id, kind, description, before, after, , , , waits]) {
      if (kind === void 0) return null;
      const named2 = (number) => number === null ? "none" : this.thunkLink(number);
      const isThunk = id !== null;
      return element(
        "p.xr-certain",
        null,
        isThunk ? `Runs as thunk ${id}, ` : "Runs as ",
        element("code", null, kind),
        ` ${description}. `,
        ...isThunk ? [
          "Nearest earlier thunk that touches the same memory: ",
          named2(before),
          "; the nearest later one: ",
          named2(after),
          "."
        ] : [],
        ...waits.length ? [" It waits for ", ...this.waits(waits), "."] : []
      );
    }
    /** @param {string[]} names */
    waits(names2) {
      return names2.flatMap((name, place2) => [
        place2 ? ", " : "",
        element("a", { href: address(name) }, element("code", null, name))
      ]);
    }
    /** @param {number} id */
    thunkLink(id) {
      const thunk = this.index.thunks.find(([number]) => number === id);
      const unit = thunk && thunk[7] !== null ? this.index.units[thunk[7]] : null;
      return unit ? element("a", { href: address(title(unit)) }, `${id} (${title(unit)})`) : String(id);
    }
    /**
     * @param {CodeFile} file
     * @param {boolean} open
     */
    file(file, open) {
      const size = file.size === null ? "" : ` ${format.bytes(file.size)}`;
      const body = element("div");
      const part2 = element(
        "details.xr-group.xr-code-file",
        { open },
        element("summary", null, element("span.xr-group-title", null, file.label), element("span.xr-count", null, size)),
        file.path && element("p.xr-muted", null, element("code", null, file.path)),
        file.note && element("p.xr-muted", null, file.note),
        body
      );
      const fill = () => {
        if (part2.open && file.text && !body.firstChild) this.fill(body, file);
      };
      part2.addEventListener("toggle", fill);
      fill();
      return part2;
    }
    /**
     * @param {HTMLElement} body
     * @param {CodeFile} file
     */
    async fill(body, file) {
      body.append(element("p.xr-muted", { "aria-busy": "true" }, "Loading"));
      try {
        body.replaceChildren(...colored(await this.text(file)));
      } catch (error) {
        body.replaceChildren(failure(`Cannot show this text. ${errorMessage(error)}`));
      }
    }
    /**
     * @param {CodeFile} file
     * @returns {Promise<string>}
     */
    async text({ path, text }) {
      if (Array.isArray(text)) {
        return (await /** @type {Promise<Payload<"m/x/code-0">>} */
        load(`${this.index.key}-${text[0]}`))[text[1]];
      }
      const store = await openTexts(this.index.texts);
      const stored = store.texts.find((known4) => known4.path === path);
      if (!stored) throw new Error(`${path} is not among the texts of the module.`);
      return (await store.lines(stored)).join("\n");
    }
    /**
     * @param {Unit["decisions"]} decisions
     * @param {string} words
     */
    decisions(decisions, words2) {
      if (!decisions) return null;
      const head2 = ["", "Producer", "Consumer", "Result", "Reason not fused", "\xB5s fused", "\xB5s unfused"];
      const number = (value) => value === null ? "" : format.float(value);
      const rows2 = decisions.steps.map(
        ([what, producer, consumers, fusion, reason, fused, apart]) => element(
          "tr",
          null,
          ...[what, producer, consumers.join(", "), fusion, reason].map(
            (text, place2) => element("td", null, place2 && place2 < 4 ? element("code", null, text) : text)
          ),
          element("td.xr-number", null, number(fused)),
          element("td.xr-number", null, number(apart))
        )
      );
      const more = decisions.total - decisions.steps.length;
      return element(
        "details.xr-group",
        null,
        element(
          "summary",
          null,
          element("span.xr-group-title", null, words2),
          element("span.xr-count", null, format.plural(decisions.total, "step")),
          gradeChip(decisions.grade)
        ),
        element(
          "p.xr-muted",
          null,
          "In pass order, with the pass's own time estimates. Names are those at the time of the pass."
        ),
        scrolledTable(words2, head2, element("tbody", null, ...rows2)),
        more > 0 && element("p.xr-muted", null, `${format.count(more)} more; priority_fusion_dump has them.`)
      );
    }
    *thunks() {
      yield element("h2", null, "Thunk sequence");
      yield element(
        "p",
        null,
        "The compiler's list of thunks: kernels, library calls, copies, collectives. It has no times. A thunk must follow the nearest earlier one that touches the same memory, and precede the nearest later one."
      );
      const head2 = ["#", "Kind", "Details", "Instruction", "Depends on", "Successors"];
      const body = element("tbody");
      const pager = element("p.xr-muted");
      const turn = (first) => {
        const all = this.index.thunks;
        body.replaceChildren(...all.slice(first, first + THUNKS).map((thunk) => this.thunkRow(thunk)));
        pager.replaceChildren(...pages(first, all.length, turn));
      };
      turn(0);
      if (this.index.thunks.length > THUNKS) yield pager;
      yield scrolledTable("Thunks", head2, body);
      const gone = this.decisions(this.index.gone, "Fusion decisions about removed instructions");
      if (gone) yield gone;
    }
    /** @param {Thunk} thunk */
    thunkRow([id, kind, description, before, after, part2, depth, unit, waits]) {
      const owner = unit === null ? null : this.index.units[unit];
      const within = `${"\u2003".repeat(Math.min(depth, 8))}${part2 ? `${part2}: ` : ""}`;
      const link2 = (number) => number === null ? "" : this.thunkLink(number);
      return element(
        "tr",
        null,
        element("td.xr-number", null, id === null ? "" : id),
        element("td", null, within, element("code", null, kind)),
        element("td", null, description),
        element("td", null, owner && element("a", { href: address(title(owner)) }, element("code", null, title(owner)))),
        element("td", null, link2(before), ...this.waits(waits)),
        element("td", null, link2(after))
      );
    }
  };
  function pages(first, count, turn) {
    const last = Math.min(first + THUNKS, count);
    const button = (words2, start) => element("button.xr-button", { type: "button", onclick: () => turn(start) }, words2);
    return [
      `Thunks ${format.count(first + 1)} to ${format.count(last)} of ${format.count(count)} `,
      ...first > 0 ? [button("Earlier", Math.max(0, first - THUNKS)), " "] : [],
      ...last < count ? [button("Later", first + THUNKS)] : []
    ];
  }
  async function drawCode(host, key) {
    host.setAttribute("aria-busy", "true");
    new Code(host, await /** @type {Promise<Payload<"m/x/code">>} */
    load(key));
    host.removeAttribute("aria-busy");
  }

  // src/core/events.js
  var FIELDS = /^(INPUT|TEXTAREA|SELECT)$/;
  var isOfBrowser = (event) => event.ctrlKey || event.metaKey || event.altKey;
  function isTyping(event) {
    const target2 = (
      /** @type {HTMLElement} */
      event.target
    );
    return target2.isContentEditable || FIELDS.test(target2.tagName ?? "");
  }

  // src/core/pages.js
  var FILE_NAMES = "names.html#file-names";
  var INSTRUCTION_NAMES = "names.html#instruction-and-computation-names";
  var ELEMENT_TYPES = "glossary.html#element-types";
  var LAYOUTS = glossaryEntry("word", "layout");
  function modulePage(slug, part2 = "", place2 = "") {
    return `m/${modulePageBeside(slug, part2, place2)}`;
  }
  function modulePageBeside(slug, part2 = "", place2 = "") {
    return `${slug}.html${part2 && `?${part2}`}${place2 && `#${place2}`}`;
  }
  function placeOf(values3) {
    return Object.entries(values3).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  }
  function glossaryEntry(kind, name) {
    return `glossary.html#${kind}-${name.replace(/[^a-zA-Z0-9_-]/g, "-")}`;
  }
  function listedFile(name) {
    return `coverage.html#${placeOf({ t: "files", q: name })}`;
  }
  function listedScopes(slug, query) {
    return modulePage(slug, "cost", `t=m/${slug}/scopes&${placeOf({ q: query })}`);
  }
  function listedInstructions(slug, query) {
    return modulePage(slug, "", `t=m/${slug}/instructions&${placeOf({ q: query })}`);
  }
  function listedLines(slug, query) {
    return modulePage(slug, "source", `t=m/${slug}/lines&${placeOf({ q: query })}`);
  }

  // src/names/words.js
  var LONGEST2 = 4096;
  var OUTPUT = "Tuple index, counted from 0.";
  var WHOLE = "The whole result.";
  var PAGES = (
    /** @type {Record<string, string>} */
    {
      instruction: INSTRUCTION_NAMES,
      shape: ELEMENT_TYPES,
      layout: LAYOUTS
    }
  );
  var TOLD_BY_SIGN = (
    /** @type {[RegExp, string][]} */
    [
      [/^%[\w.#$-]+$/, "instruction"],
      [/^(?:pred|token|opaque|bf16|[sufc]\d+\w*)\[[^\]]*\](?:\{[^}]*\})?$/, "shape"],
      [/^--\w+(?:=.*)?$/, "flag"],
      [/^(?!sm_|module_)[A-Za-z_][\w-]*(?:\.[\w-]+)*\.(?:\d+(?:_spmd)?|clone|remat\d*)(?:\{[\d,]*\})?$/, "instruction"],
      [/^\{\d+(?:,\d+)*:[^{}]*\}$|^\{\d+(?:,\d+)+\}$/, "layout"]
    ]
  );
  var FUSED = /^(?:(?:loop|input|output|wrapped|gemm_fusion)_\w+|\w+_fusion)$/;
  var COMPUTATION = /^%?\w*computation(?:\.|$)/;
  var tables = () => load("words");
  function divide(word2) {
    const colon = word2.indexOf(":");
    return (
      /** @type {[string, string]} */
      [word2.slice(0, colon), word2.slice(colon + 1)]
    );
  }
  var bareFlag = (name) => name.replace(/^-+/, "").replace(/=.*$/s, "");
  function overview() {
    const tabs = (
      /** @type {HTMLElement | null} */
      document.querySelector("[data-xr-histories]")
    );
    return `${root}${tabs?.dataset.xrParts?.split("/page-")[0]}.html`;
  }
  function address2(kind, name) {
    if (kind === "instruction" && document.querySelector("[data-xr-history], [data-xr-histories]")) {
      const asked2 = `#i=${encodeURIComponent(name.replace(/^%|\{[\d,]*\}$/g, ""))}`;
      return document.querySelector("[data-xr-history]") ? asked2 : overview() + asked2;
    }
    const entry = kind === "flag" ? bareFlag(name) : name;
    return root + (PAGES[kind] ?? glossaryEntry(kind, entry));
  }
  function traceAddress(shown, word2) {
    const page2 = shown.closest("[data-xr-traces]")?.getAttribute("data-xr-traces");
    const [kind, name] = divide(word2);
    const traced2 = page2 && kind === "instruction" && !COMPUTATION.test(name);
    return traced2 ? `${page2}#i=${encodeURIComponent(name.replace(/^%|\{[\d,]*\}$/g, ""))}` : "";
  }
  var isOpcode = (name) => tables().then(
    ({ words: words2 }) => own(words2.opcode, name) !== "",
    () => false
  );
  var entryAddress = (word2) => address2(...divide(word2));
  function nameLink(kind, name, ...shown) {
    const inside = shown.length ? shown : [element("code", null, name)];
    return element("a.xr-word", { "data-word": `${kind}:${name}`, href: address2(kind, name) }, ...inside);
  }
  async function explainWord(word2) {
    const loaded2 = await tables();
    const [kind, name] = divide(word2);
    if (kind === "instruction") return instruction(name, loaded2);
    if (kind === "shape") return shape(name, loaded2);
    if (kind === "layout") return layoutParts(name.slice(1, -1), loaded2);
    return kinds(name, loaded2).filter(([other]) => other === kind).map(([, meaning]) => ["", meaning]);
  }
  function kinds(name, known4) {
    const meanings = Object.entries(known4.words).map(([kind, words2]) => [
      kind,
      own(words2, kind === "flag" ? bareFlag(name) : name)
    ]);
    return (
      /** @type {Part[]} */
      meanings.filter(([, meaning]) => meaning)
    );
  }
  var own = (words2, name) => Object.hasOwn(words2, name) ? words2[name] : "";
  function instruction(name, known4) {
    const { fields, suffix } = known4.instruction;
    const output = /\{([\d,]*)\}$/.exec(name);
    const match = /^%?((?:wide\.)*)([^.#]+)((?:\.[^.#]*)*)((?:#\d+)*)$/.exec(name.slice(0, output?.index ?? LONGEST2));
    if (!match) return [[name, fields.born]];
    const [, wide, first, later, elements] = match;
    return [
      ...Array.from(wide.matchAll(/wide/g), () => (
        /** @type {Part} */
        ["wide", suffix.wide]
      )),
      ...firstParts(first, known4),
      ...later.split(".").slice(1).flatMap((piece2) => laterParts(piece2, known4.instruction)),
      ...elements.split("#").slice(1).map((number) => (
        /** @type {Part} */
        [number, fields.element.replace("{text}", number)]
      )),
      ...output ? [
        /** @type {Part} */
        [output[0], output[1] ? OUTPUT : WHOLE]
      ] : []
    ];
  }
  function firstParts(text, known4) {
    for (const form of known4.instruction.forms) {
      const match = new RegExp(`^(?:${form})$`, "ds").exec(text);
      if (match) return innermost(match).map(([field, start, end]) => part(field, text.slice(start, end), known4));
    }
    return [part("born", text, known4)];
  }
  function innermost(match) {
    const all = Object.entries(match.indices?.groups ?? {}).filter(([, span]) => span && span[0] < span[1]);
    const spans = all.map(([field, [start, end]]) => (
      /** @type {[string, number, number]} */
      [field, start, end]
    ));
    spans.sort((left, right) => left[1] - right[1] || right[2] - left[2]);
    return spans.filter(([, , end], place2) => place2 + 1 === spans.length || spans[place2 + 1][1] >= end);
  }
  function part(field, text, known4) {
    const { fields, manner } = known4.instruction;
    if (field === "manner") return [text, own(manner, text) || fields.manner];
    const opcode = /^(?:born|operation|async)$/.test(field) ? own(known4.words.opcode, text) : "";
    return [text, `${fields[field].replace("{text}", text)}${opcode ? ` As an opcode: ${opcode}` : ""}`];
  }
  function laterParts(text, { fields, suffix }) {
    const numbered = /^(\d+)_([A-Za-z]\w*)$/.exec(text);
    const [, word2, number] = numbered ? [text, numbered[2], numbered[1]] : (
      /** @type {string[]} */
      /^(.*?)(\d*)$/s.exec(text)
    );
    const parts = (
      /** @type {Part[]} */
      [
        [word2, own(suffix, word2) || fields.later],
        [number, fields.number]
      ]
    );
    return (numbered ? parts.reverse() : parts).filter(([piece2]) => piece2);
  }
  function shape(text, known4) {
    const match = /^(\w+)\[([^\]]*)\](?:\{(.*)\})?$/s.exec(text);
    if (!match) return [["( )", "A tuple: several arrays, or further tuples, as one value."]];
    const [, type, dimensions, layout] = match;
    return [
      [type, own(known4.words.type, type) || "A type of element that is not known here."],
      [`[${dimensions}]`, sizes(dimensions, known4.bits[type])],
      ...layout ? layoutParts(layout, known4) : []
    ];
  }
  function sizes(dimensions, bits) {
    if (!dimensions) return "No dimensions: a single value.";
    const numbers = dimensions.split(",").map((size) => Number(size.replace("<=", "")));
    const total = numbers.reduce((product2, size) => product2 * size, 1);
    if (Number.isNaN(total)) return "The size of each dimension; ? is one that is known only when the program runs.";
    const bytes = bits ? `, ${format.bytes(total * bits / 8)} without padding` : "";
    const most = dimensions.includes("<=") ? " at most; <= marks a size that is known only when the program runs" : "";
    const product = numbers.length > 1 ? `${numbers.map(format.count).join(" \xD7 ")}, ` : "";
    return `The size of each dimension: ${product}${format.plural(total, "element")}${bytes}${most}.`;
  }
  function layoutParts(layout, known4) {
    const order = /^[\d,]*/.exec(layout)?.[0] ?? "";
    const words2 = (name, value) => known4.layout[name].replace("{}", value);
    const parts = (
      /** @type {Part[]} */
      []
    );
    if (order) parts.push([`{${order}}`, words2("order", order.split(",")[0])]);
    for (const [written3, letter2, inside] of layout.matchAll(/([TSE])((?:\([^)]*\))+)/g)) {
      const value = inside.slice(1, -1);
      if (letter2 === "T") parts.push([written3, words2("tiles", inside)]);
      if (letter2 === "S") parts.push([written3, own(known4.spaces, value) || words2("space", value)]);
      if (letter2 === "E") parts.push([written3, words2("bits", value)]);
    }
    return parts;
  }
  function recognized(text, known4) {
    for (const [pattern, kind] of TOLD_BY_SIGN) {
      if (pattern.test(text) && (kind !== "flag" || own(known4.words.flag, bareFlag(text)))) return `${kind}:${text}`;
    }
    const meaning = kinds(text, known4).find(([kind]) => kind !== "word");
    if (!meaning && FUSED.test(text)) return `instruction:${text}`;
    return meaning ? `${meaning[0]}:${text}` : "";
  }
  var IN_TEXT = /%[\w.#$-]+|[a-z]+\d*\w*\[[^\]]{0,200}\](?:\{[^}]{0,200}\})?|[A-Za-z_][\w.-]*/g;
  async function wordAtPoint(line3, x, y) {
    const caret = document.caretRangeFromPoint?.(x, y);
    return caret && wordAtCaret(line3, caret);
  }
  async function wordAtCaret(line3, caret) {
    if (!line3.contains(caret.startContainer)) return null;
    const loaded2 = await tables();
    const before = document.createRange();
    before.setStart(line3, 0);
    before.setEnd(caret.startContainer, caret.startOffset);
    const offset = before.toString().length;
    const text = (line3.textContent ?? "").slice(0, offset + LONGEST2);
    for (const match of text.matchAll(IN_TEXT)) {
      if (match.index > offset) return null;
      if (match.index + match[0].length < offset) continue;
      const word2 = kindInText(text, match.index, match[0], loaded2);
      return word2 ? { word: word2, place: caret.getBoundingClientRect() } : null;
    }
    return null;
  }
  function kindInText(text, start, name, known4) {
    const follows = text.slice(start + name.length);
    if (follows.startsWith("(") && own(known4.words.opcode, name)) return `opcode:${name}`;
    if (follows.startsWith(" = ") || name.startsWith("%")) return `instruction:${name}`;
    const form = TOLD_BY_SIGN.find(([pattern, kind]) => kind !== "flag" && pattern.test(name));
    return form ? `${form[1]}:${name}` : "";
  }
  var UNMARKED = "code:not(pre code, h1 code, button code, summary code, [data-word] code, .xr-table code, .xr-meanings code, .xr-parts code, .xr-glossary dt code, .xr-whole, .xr-whole code)";
  async function mark(parent) {
    for (
      const link2 of
      /** @type {NodeListOf<HTMLAnchorElement>} */
      parent.querySelectorAll("a[data-word]:not([href])")
    ) {
      link2.href = entryAddress(link2.dataset.word ?? "");
    }
    const names2 = (
      /** @type {HTMLElement[]} */
      [...parent.querySelectorAll(UNMARKED)]
    );
    if (!names2.length) return;
    const loaded2 = await tables();
    for (const code of names2) {
      const around = code.closest("a");
      const word2 = around?.matches(".xr-ask, [href*='#i=']") ? `instruction:${code.textContent}` : recognized(code.textContent ?? "", loaded2);
      if (!word2 || !code.parentNode) continue;
      if (around) around.dataset.word ??= word2;
      else wrap(code, word2);
    }
  }
  function wrap(shown, word2) {
    const link2 = element("a.xr-word", { "data-word": word2, href: traceAddress(shown, word2) || entryAddress(word2) });
    shown.replaceWith(link2);
    link2.append(shown);
  }
  var DRAWN = ".xr-data, .xr-lines";
  function watchNames() {
    const observer = new MutationObserver((changes) => {
      const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((node2) => node2 instanceof HTMLElement);
      for (const parent of new Set(added.map((node2) => node2.parentElement))) {
        if (parent && !parent.closest(DRAWN)) void mark(parent);
      }
    });
    for (const article of document.querySelectorAll("article")) {
      void mark(article);
      observer.observe(article, { childList: true, subtree: true });
    }
  }

  // src/keys.js
  var bound = /* @__PURE__ */ new Map();
  function bindKey(key, help, action) {
    bound.set(key, { help, action });
  }
  function pressed(event) {
    if (isTyping(event) || isOfBrowser(event) || event.defaultPrevented) return;
    const binding = bound.get(event.key);
    if (!binding) return;
    event.preventDefault();
    binding.action();
  }
  var overlay = element("dialog.xr-keys", { "aria-label": "Keys" });
  function showKeys() {
    if (overlay.open) return overlay.close();
    const ofPage = [...bound].map(([key, { help }]) => [key, help]);
    const theme = document.querySelector("[data-md-component=search]") ? [["s", "Full-text search"]] : [];
    const all = [...ofPage, ...theme, ["Esc", "Close"]];
    const rows2 = all.map(
      ([key, help]) => element("tr", null, element("th", { scope: "row" }, element("kbd", null, key)), element("td", null, help))
    );
    overlay.replaceChildren(
      element("h2", null, "Keys on this page"),
      element("table", null, element("tbody", null, ...rows2)),
      element("button.xr-button", { type: "button", onclick: () => overlay.close() }, "Close")
    );
    overlay.showModal();
  }
  var tip = element("div.xr-tip", { role: "tooltip", id: "xr-tip", hidden: true });
  var asked = null;
  var TEXT = ".xr-text, .xr-whole-lines code";
  var EXPLAINED = "[data-meaning], [data-word], [data-whole]";
  var LONGEST3 = 600;
  async function explain(event) {
    const target2 = event.target instanceof Element ? event.target.closest(EXPLAINED) : null;
    if (!(target2 instanceof HTMLElement)) return tip.contains(
      /** @type {Node} */
      event.target
    ) || hide();
    if (target2 === asked && !tip.hidden) return;
    hide();
    asked = target2;
    const { meaning, word: word2, further } = target2.dataset;
    const parts = meaning ? [["", meaning]] : word2 ? await explainWord(word2) : [];
    if (further) parts.push(...await explainWord(further));
    const whole2 = cutText(target2);
    if (whole2) parts.unshift(["", whole2]);
    if (asked !== target2 || !parts.length) return;
    show(target2.getBoundingClientRect(), parts);
    target2.setAttribute("aria-describedby", tip.id);
  }
  function cutText(target2) {
    const cell = (
      /** @type {HTMLElement | null} */
      target2.closest("[data-whole]")
    );
    const whole2 = cell?.dataset.whole ?? "";
    return cell && (cell.scrollWidth > cell.clientWidth || cell.textContent !== whole2) ? whole2.slice(0, LONGEST3) : "";
  }
  async function explainText(event) {
    const target2 = event.target instanceof Element ? event.target : null;
    const line3 = target2?.closest(TEXT);
    if (!(line3 instanceof HTMLElement) || target2?.closest("[data-word], [data-meaning]")) return;
    await showFound(await wordAtPoint(line3, event.clientX, event.clientY));
  }
  async function explainMarked() {
    const marked2 = getSelection();
    const node2 = marked2?.anchorNode;
    const line3 = (node2 instanceof Element ? node2 : node2?.parentElement)?.closest(TEXT);
    if (!marked2?.rangeCount || !(line3 instanceof HTMLElement)) return;
    await showFound(await wordAtCaret(line3, marked2.getRangeAt(0)));
  }
  async function showFound(name) {
    const parts = name ? await explainWord(name.word) : [];
    if (name && parts.length) show(name.place, parts);
    else if (!asked) hide();
  }
  function show(place2, parts) {
    tip.replaceChildren(
      ...parts.map(([part2, meaning]) => element("p", null, part2 && element("code", null, part2), part2 && " ", meaning))
    );
    tip.hidden = false;
    const left = Math.min(place2.left, document.documentElement.clientWidth - tip.offsetWidth - 8);
    const below2 = place2.bottom + tip.offsetHeight + 12 < innerHeight;
    tip.style.left = `${Math.max(8, left) + scrollX}px`;
    tip.style.top = `${(below2 ? place2.bottom + 6 : place2.top - tip.offsetHeight - 6) + scrollY}px`;
  }
  function hide() {
    asked = null;
    tip.hidden = true;
    document.querySelector("[aria-describedby=xr-tip]")?.removeAttribute("aria-describedby");
  }
  var named = 0;
  function reachWide() {
    const wanted2 = [".xr-scroll", ".md-typeset__scrollwrap", ".xr-figure-chart"];
    const boxes = [...document.querySelectorAll(wanted2.map((box3) => `${box3}:not([tabindex])`).join())];
    for (const wide of boxes.filter((box3) => box3.scrollWidth > box3.clientWidth)) {
      wide.setAttribute("tabindex", "0");
      wide.setAttribute("role", "region");
      wide.setAttribute("aria-label", wide.matches("figure") ? `Wide chart ${++named}` : `Wide table ${++named}`);
    }
  }
  function installKeys() {
    reachWide();
    window.addEventListener("load", reachWide);
    new ResizeObserver(reachWide).observe(document.querySelector(".md-content") ?? document.body);
    document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
    document.body.append(overlay, tip);
    document.addEventListener("keydown", pressed);
    document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
    document.addEventListener("pointerover", explain);
    document.addEventListener("pointermove", explainText);
    document.addEventListener("selectionchange", explainMarked);
    document.addEventListener("focusin", explain);
    document.addEventListener("focusout", hide);
    watchNames();
    bindKey("?", "Show this help", showKeys);
    for (
      const link2 of
      /** @type {NodeListOf<HTMLElement>} */
      document.querySelectorAll("[data-xr-key]")
    ) {
      bindKey(link2.dataset.xrKey ?? "", link2.title || link2.textContent || "", () => link2.click());
    }
  }

  // src/pictures/sizes.js
  var CHARACTER_WIDTH = 7.25;
  var LINE_HEIGHT = 15;
  var PADDING_X = 8;
  var PADDING_Y = 5;
  var STACK_OFFSET = 5;
  var BAR_HEIGHT = 4;
  var OPENING_WIDTH = 15;
  var LONGEST_LINE = 36;
  var MARGIN = 12;
  var TITLE_HEIGHT = 28;
  var NARROWEST = 380;
  var BASELINE = 11.5;
  var HEAD_LENGTH = 6.5;
  var HEAD_ANGLE = 0.42;
  var LEGEND_LINE = 16;
  var LEGEND_CHARACTER = 6.7;
  var LEGEND_SWATCH = 22;
  var LEGEND_GAP = 16;
  var LEGEND_WORDS = 48;
  var MOST_KINDS = 10;
  var BOOKKEEPING = /* @__PURE__ */ new Set(["bitcast", "constant", "get-tuple-element", "parameter", "tuple"]);
  var SPREADING = /* @__PURE__ */ new Set(["bitcast", "broadcast", "reshape"]);
  var LARGE_INPUT = 4096;

  // src/graphs/graph.js
  var Graph = class {
    /** @param {Index} index */
    constructor(index) {
      this.index = index;
      this.size = index.names.length;
      this.first = /** @type {number[]} */
      [];
      this.inside = new Int32Array(this.size);
      let place2 = 0;
      for (const [number, [, count]] of index.computations.entries()) {
        this.first.push(place2);
        this.inside.fill(number, place2, place2 + count);
        place2 += count;
      }
      this.numbers = new Map(index.computations.map(([name], number) => [name, number]));
      this.backwards = this.reversed();
      this.callers = this.calling();
      this.places = null;
    }
    /** @param {number} place */
    name(place2) {
      return this.index.names[place2];
    }
    /** @param {number} place */
    opcode(place2) {
      return this.index.looks[this.index.look[place2]][0];
    }
    /** @param {number} place */
    kind(place2) {
      return this.index.looks[this.index.look[place2]][1];
    }
    /** @param {number} place */
    family(place2) {
      return this.index.looks[this.index.look[place2]][2];
    }
    /** @param {number} place */
    says(place2) {
      return this.index.looks[this.index.look[place2]][3];
    }
    /** @param {number} place */
    shape(place2) {
      return this.index.shapes[this.index.shape[place2]][0];
    }
    /**
     * @param {number} place
     * @returns {number | null} how many numbers its value is
     */
    elements(place2) {
      return this.index.shapes[this.index.shape[place2]][1];
    }
    /**
     * @param {number} place
     * @returns {import("../pictures/scales.js").Shade & {scope: string[]}} what its box can be colored by
     */
    shade(place2) {
      const [cost2, sharding, scope, time] = this.index.shades[this.index.shade[place2]];
      return {
        cost: cost2,
        time,
        memory: this.index.shapes[this.index.shape[place2]][2],
        sharding,
        scope: scope ? scope.split("\n") : []
      };
    }
    /** @param {number} place */
    computation(place2) {
      return this.index.computations[this.inside[place2]][0];
    }
    /** @param {number} place */
    argument(place2) {
      return this.index.arguments[place2];
    }
    /** @param {number} place */
    isRoot(place2) {
      return place2 === this.root(this.inside[place2]);
    }
    /**
     * @param {number} computation
     * @returns {number | null} where its root stands
     */
    root(computation) {
      const root2 = this.index.roots[computation];
      return root2 === null || root2 === void 0 ? null : this.first[computation] + root2;
    }
    /**
     * @param {number} computation
     * @returns {number[]} the places of its instructions
     */
    members(computation) {
      const [, count] = this.index.computations[computation];
      return Array.from({ length: count }, (_, at) => this.first[computation] + at);
    }
    /** @param {number} place */
    calls(place2) {
      return this.index.calls[place2] ?? [];
    }
    /**
     * @param {number} place
     * @returns {Use[]} its operands as written
     */
    operands(place2) {
      return this.index.operands[place2].map((operand) => {
        const [distance, element2] = String(operand).split("#");
        return { place: place2 - Number(distance), element: element2 ?? "" };
      });
    }
    /** @param {number} place */
    controls(place2) {
      return this.index.controls[place2] ?? [];
    }
    /** @param {number} place */
    users(place2) {
      const { starts, users } = this.backwards;
      return users.subarray(starts[place2], starts[place2 + 1]);
    }
    /** Who uses each instruction, as one list with the start of each one's part. */
    reversed() {
      const starts = new Int32Array(this.size + 1);
      const used = (place2) => /* @__PURE__ */ new Set([...this.operands(place2).map((operand) => operand.place), ...this.controls(place2)]);
      for (let place2 = 0; place2 < this.size; place2 += 1) for (const source of used(place2)) starts[source + 1] += 1;
      for (let place2 = 0; place2 < this.size; place2 += 1) starts[place2 + 1] += starts[place2];
      const users = new Int32Array(starts[this.size]);
      const next = starts.slice();
      for (let place2 = 0; place2 < this.size; place2 += 1) for (const source of used(place2)) users[next[source]++] = place2;
      return { starts, users };
    }
    /** @returns {Map<number, number[]>} who calls each computation */
    calling() {
      const callers = /* @__PURE__ */ new Map();
      for (const [place2, called3] of Object.entries(this.index.calls)) {
        for (const [, computation] of called3) {
          callers.set(computation, [...callers.get(computation) ?? [], Number(place2)]);
        }
      }
      return callers;
    }
    /**
     * @param {string} name with or without `%`, alone or behind its computation: `region_0/%add.1`
     * @returns {number | null}
     */
    find(name) {
      if (!this.places) {
        this.places = /* @__PURE__ */ new Map();
        for (let place2 = this.size - 1; place2 >= 0; place2 -= 1) {
          this.places.set(this.name(place2), place2);
          this.places.set(`${this.computation(place2)}/%${this.name(place2)}`, place2);
        }
      }
      return this.places.get(name) ?? this.places.get(name.replace(/^%/, "")) ?? null;
    }
    /**
     * @param {number} place
     * @returns {string} the shortest that `find` takes for it
     */
    address(place2) {
      const name = this.name(place2);
      return this.find(name) === place2 ? name : `${this.computation(place2)}/%${name}`;
    }
    /**
     * Returns the instructions with all the words in their name or opcode, the best first.
     * @param {string} wanted
     * @param {number} most
     */
    search(wanted2, most) {
      const words2 = wanted2.trim().toLowerCase().replace(/^%/, "").split(/\s+/).filter(Boolean);
      if (!words2.length) return [];
      const ranked = (
        /** @type {[number, number][]} */
        []
      );
      for (let place2 = 0; place2 < this.size; place2 += 1) {
        const name = this.name(place2).toLowerCase();
        const text = `${name} ${this.opcode(place2)}`;
        if (!words2.every((word2) => text.includes(word2))) continue;
        ranked.push([name === words2[0] ? -1 : name.startsWith(words2[0]) ? name.length : 1e3 + name.length, place2]);
      }
      ranked.sort(([left, a], [right, b]) => left - right || a - b);
      return ranked.slice(0, most).map(([, place2]) => place2);
    }
    /**
     * @param {number} place
     * @returns {number | null} the constant that it is, or that it only spreads or reads in another shape
     */
    constantBehind(place2) {
      let behind = place2;
      for (let hops = 0; hops < 100; hops += 1) {
        if (this.opcode(behind) === "constant") return behind;
        const operands = SPREADING.has(this.opcode(behind)) ? this.operands(behind) : [];
        if (operands.length !== 1) return null;
        behind = operands[0].place;
      }
      return null;
    }
  };
  function readInstructions(columns2) {
    const [words2, numbers] = columns2.arguments;
    const values3 = unfold(words2);
    return {
      ...columns2,
      names: unfold(columns2.names),
      arguments: numbers.map((number) => values3[number]),
      operands: splitRows(columns2.operands)
    };
  }
  var graphs = /* @__PURE__ */ new Map();
  function loadGraph(key) {
    return once(
      graphs,
      key,
      () => (
        /** @type {Promise<Payload<"m/x/graph">>} */
        load(key).then((index) => new Graph(readInstructions(index)))
      )
    );
  }

  // src/graphs/versions.js
  function readVersions(columns2) {
    const { lives, first, end, ...rest2 } = columns2;
    const read = readInstructions(rest2);
    const numbers = sums(lives);
    const used = (operand, instruction2) => String(operand).replace(/^-?\d+/, (above) => String(instruction2 - Number(above)));
    return {
      ...read,
      roots: new Set(read.roots),
      versions: numbers.map((instruction2, at) => [
        instruction2,
        first[at],
        end[at],
        read.operands[at].map((operand) => used(operand, instruction2))
      ])
    };
  }

  // src/graphs/snapshot_graph.js
  var HEAVY = ["dark-blue", "dark-green", "brown", "gray", "purple"];
  var NAMED = 3;
  var [AT_THE_END, AT_THE_START] = [-1, -2];
  function computationAt(table, snapshot2, { name, number, from = 0, to = table.versions.length }) {
    const rows2 = [];
    for (let at = from; at < to; at += 1) {
      if (table.versions[at][1] <= snapshot2 && snapshot2 < table.versions[at][2]) rows2.push(at);
    }
    rows2.sort((left, right) => table.versions[left][0] - table.versions[right][0]);
    const instructions = rows2.map((at) => table.versions[at][0]);
    const places2 = new Map(instructions.map((instruction2, place2) => [instruction2, place2]));
    const operands = rows2.map(
      (at, place2) => table.versions[at][3].flatMap((used) => {
        const [instruction2, element2] = String(used).split("#");
        const source = places2.get(Number(instruction2));
        return source === void 0 ? [] : [element2 === void 0 ? place2 - source : `${place2 - source}#${element2}`];
      })
    );
    const controls = rows2.map((at) => (table.controls[at] ?? []).flatMap((instruction2) => places2.get(instruction2) ?? []));
    const root2 = rows2.findIndex((at) => table.roots.has(at));
    return {
      name,
      number,
      columns: table,
      rows: rows2,
      instructions,
      operands,
      controls,
      calls: rows2.map((at) => table.calls[at] ?? []),
      root: root2 < 0 ? null : root2,
      does: ""
    };
  }
  function doing({ columns: columns2, rows: rows2 }) {
    const counts = (
      /** @type {Map<string, {rank: number, count: number}>} */
      /* @__PURE__ */ new Map()
    );
    for (const row4 of rows2) {
      const [opcode, , color] = columns2.looks[columns2.look[row4]];
      const rank2 = HEAVY.includes(color) ? HEAVY.indexOf(color) : HEAVY.length;
      if (!BOOKKEEPING.has(opcode)) counts.set(opcode, { rank: rank2, count: (counts.get(opcode)?.count ?? 0) + 1 });
    }
    const most = [...counts].sort(
      ([left, a], [right, b]) => a.rank - b.rank || b.count - a.count || (left < right ? -1 : 1)
    );
    const total = most.reduce((sum2, [, { count }]) => sum2 + count, 0);
    if (total <= 1) return most[0]?.[0] ?? "no-op";
    const words2 = most.slice(0, NAMED).map(([opcode, { count }]) => count > 1 ? `${count} ${opcode}` : opcode);
    return `${total}: ${words2.join(", ")}${most.length > NAMED ? ", \u2026" : ""}`;
  }
  function unchangedComputation(graph, number, name, numbers) {
    const place2 = graph.numbers.get(name);
    if (place2 === void 0) return null;
    const first = graph.first[place2];
    const [, size, does] = graph.index.computations[place2];
    const rows2 = Array.from({ length: size }, (_, row4) => first + row4);
    const calls = rows2.map(
      (row4) => graph.calls(row4).map(
        ([attribute, called3]) => (
          /** @type {[string, number]} */
          [attribute, numbers.get(graph.index.computations[called3][0]) ?? -1]
        )
      )
    );
    const operands = rows2.map((row4) => graph.index.operands[row4]);
    const controls = rows2.map((row4) => graph.controls(row4).map((other) => other - first));
    return { name, number, columns: graph.index, rows: rows2, operands, controls, calls, root: graph.index.roots[place2], does };
  }
  function assembleGraph(parts, description) {
    const places2 = new Map(parts.map(({ number }, place2) => [number, place2]));
    const tables2 = {
      looks: (
        /** @type {any[]} */
        []
      ),
      shapes: (
        /** @type {any[]} */
        []
      ),
      shades: (
        /** @type {any[]} */
        []
      )
    };
    const starts = new Map(
      [...new Set(parts.map(({ columns: columns2 }) => columns2))].map((columns2) => [columns2, appended(tables2, columns2)])
    );
    const index = (
      /** @type {Index} */
      {
        ...description,
        ...tables2,
        piece: 0,
        computations: [],
        inside: [[[false, []]], []],
        roots: [],
        names: [],
        arguments: [],
        look: [],
        shape: [],
        shade: [],
        operands: [],
        controls: {},
        calls: {}
      }
    );
    for (const part2 of parts) {
      const { name, columns: columns2, rows: rows2, operands, controls, calls, root: root2, does } = part2;
      const first = index.names.length;
      const [look2, shape2, shade] = starts.get(columns2) ?? [0, 0, 0];
      index.computations.push([name, rows2.length, does || doing(part2)]);
      index.inside[1].push(0);
      index.roots.push(root2);
      for (const [place2, row4] of rows2.entries()) {
        index.names.push(columns2.names[row4]);
        index.arguments.push(columns2.arguments[row4]);
        index.look.push(look2 + columns2.look[row4]);
        index.shape.push(shape2 + columns2.shape[row4]);
        index.shade.push(shade + columns2.shade[row4]);
        index.operands.push(operands[place2]);
        if (controls[place2].length) index.controls[first + place2] = controls[place2].map((source) => first + source);
        const called3 = calls[place2].flatMap(
          ([attribute, number]) => places2.has(number) ? [
            /** @type {[string, number]} */
            [attribute, places2.get(number) ?? 0]
          ] : []
        );
        if (called3.length) index.calls[first + place2] = called3;
      }
    }
    return new Graph(index);
  }
  function appended(tables2, { looks, shapes: shapes2, shades }) {
    const starts = [tables2.looks.length, tables2.shapes.length, tables2.shades.length];
    for (const [all, own2] of [
      [tables2.looks, looks],
      [tables2.shapes, shapes2],
      [tables2.shades, shades]
    ]) {
      for (const value of own2) all.push(value);
    }
    return starts;
  }
  async function computations(key, snapshot2, all) {
    const numbers = numbersAt(all, snapshot2);
    const files = new Set(numbers.map((number) => all.in[number]));
    const tables2 = new Map(
      await Promise.all(
        [...files].filter((file) => file >= 0).map(
          async (file) => (
            /** @type {[number, VersionTable]} */
            [
              file,
              readVersions(await /** @type {Promise<Payload<"m/x/versions-0">>} */
              load(`${key}-${file}`))
            ]
          )
        )
      )
    );
    const graph = key.replace(/versions$/, "graph");
    const last = files.has(AT_THE_END) ? await loadGraph(graph) : null;
    const first = files.has(AT_THE_START) ? await loadGraph(`${graph}-first`) : null;
    const [namedLast, namedFirst] = [Math.max(...all.end) - 1, 0].map(
      (end) => new Map(numbersAt(all, end).map((number) => [nameAt(all, number, end), number]))
    );
    const starts = firstRows(all);
    return numbers.map((number) => {
      const name = nameAt(all, number, snapshot2);
      const file = all.in[number];
      if (file === AT_THE_END) return last && unchangedComputation(last, number, name, namedLast);
      if (file === AT_THE_START) return first && unchangedComputation(first, number, name, namedFirst);
      const table = tables2.get(file);
      return table ? computationAt(table, snapshot2, { name, number, from: starts[number], to: starts[number] + all.sizes[number] }) : null;
    });
  }
  var numbersAt = ({ first, end }, snapshot2) => [...first.keys()].filter((number) => first[number] <= snapshot2 && snapshot2 < end[number]);
  function nameAt({ names: names2, renamed }, number, snapshot2) {
    return renamed[number]?.findLast(([first]) => first <= snapshot2)?.[1] ?? names2[number];
  }
  function firstRows({ in: files, sizes: sizes2 }) {
    const filled = (
      /** @type {Map<number, number>} */
      /* @__PURE__ */ new Map()
    );
    return files.map((file, number) => {
      const start = filled.get(file) ?? 0;
      filled.set(file, start + sizes2[number]);
      return start;
    });
  }
  async function graphAt(key) {
    const [timelines, name] = key.split("@");
    const [{ stages }, all] = await Promise.all([
      /** @type {Promise<Payload<"m/x/versions">>} */
      load(timelines),
      /** @type {Promise<Payload<"m/x/versions-all">>} */
      load(`${timelines}-all`)
    ]);
    const snapshot2 = stages.findIndex(([known4]) => known4 === name);
    if (snapshot2 < 0) throw new Error(`There is no snapshot ${name}.`);
    const parts = await computations(timelines, snapshot2, { ...all, names: unfold(all.names) });
    const present = parts.filter((part2) => part2 !== null);
    return assembleGraph(present, {
      label: stages[snapshot2][1],
      text: all.texts.includes(name) ? name : null,
      complete: present.length === parts.length
    });
  }
  var graphs2 = /* @__PURE__ */ new Map();
  function loadSnapshotGraph(key) {
    if (!key.includes("@")) return loadGraph(key);
    return once(graphs2, key, () => graphAt(key));
  }

  // src/pictures/modes.js
  var FIRST = "opcode";
  var WORDS = (
    /** @type {Record<string, string>} */
    {
      opcode: "opcode category",
      cost: "cost",
      time: "measured time",
      memory: "memory",
      scope: "scope",
      sharding: "sharding"
    }
  );
  function modes(picture) {
    return (picture.svg.dataset.modes ?? "").split(" ").filter((mode) => Object.hasOwn(WORDS, mode));
  }
  function applyMode(picture) {
    const available = modes(picture);
    if (!available.length) return;
    const wanted2 = picture.host.dataset.mode ?? FIRST;
    const now = available.includes(wanted2) ? wanted2 : FIRST;
    for (const mode of available) picture.svg.classList.toggle(`by-${mode}`, mode === now);
    picture.source = picture.source.replace(/ class="xg by-[a-z]+"/, ` class="xg by-${now}"`);
  }
  function modeChoice(picture) {
    applyMode(picture);
    const known4 = modes(picture);
    if (known4.length < 2) return null;
    const chosen = picture.host.dataset.mode ?? FIRST;
    const options = known4.map((mode) => element("option", { value: mode, selected: mode === chosen }, WORDS[mode]));
    const select = element("select", { onchange: () => choose(picture, select.value) }, ...options);
    return element("label.xr-modes", null, "Color by ", select);
  }
  function choose(picture, mode) {
    picture.host.dataset.mode = mode;
    applyMode(picture);
  }

  // src/pictures/svg_source.js
  var REMOVED = "script, foreignObject, iframe, object, embed, image, use, animate, set, a";
  function parse(source) {
    const read = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
    if (read.localName !== "svg") throw new Error("The picture is damaged.");
    for (const active of read.querySelectorAll(REMOVED)) active.remove();
    for (const part2 of [read, ...read.querySelectorAll("*")]) {
      for (const { name, value } of [...part2.attributes]) {
        const leadsOut = /href$/i.test(name) && !value.startsWith("#");
        if (/^on/i.test(name) || leadsOut || /url\(\s*["']?(?!#)/i.test(value)) part2.removeAttribute(name);
      }
    }
    return (
      /** @type {SVGSVGElement} */
      /** @type {unknown} */
      document.adoptNode(read)
    );
  }

  // src/pictures/walk.js
  var ASIDE = 3;
  function middle(box3) {
    const { left, top, width, height } = box3.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  }
  function words(box3) {
    return [...box3.querySelectorAll(":scope > text:not(.on, .tag) > tspan")].map((line3) => line3.textContent).join(", ") || (box3.textContent ?? "");
  }
  var Walk = class {
    /** @param {Picture} picture */
    constructor(picture) {
      this.picture = picture;
      this.matches = /** @type {Element[]} */
      [];
      this.shown = -1;
      this.boxes = [];
      this.places = /* @__PURE__ */ new Map();
      this.ends = [];
      this.choice = [];
      this.stops = [];
      this.take();
    }
    /** Takes in the boxes and arrows that the picture has now. */
    take() {
      const { picture } = this;
      this.boxes = [...picture.svg.querySelectorAll("g.n")];
      this.places = new Map(this.boxes.map((box3, place2) => [box3, place2]));
      this.ends = [...picture.svg.querySelectorAll("[data-e]")].map((arrow2) => {
        const [from, to] = (arrow2.getAttribute("data-e") ?? "").split(" ").map(Number);
        return { arrow: arrow2, from, to };
      });
      this.choice = [];
      this.stops = [
        ...this.boxes,
        ...[...picture.svg.querySelectorAll(".gt[data-target], .open[data-target]")].filter(
          (mark2) => !mark2.closest("g.n")
        )
      ];
      for (const stop of this.stops) {
        for (const [name, value] of [
          ["tabindex", "-1"],
          ["role", "button"],
          ["aria-label", words(stop)]
        ]) {
          stop.setAttribute(name, value);
        }
      }
      picture.svg.addEventListener("focusin", (event) => picture.point(event.target));
    }
    /** @param {Element} box */
    arrows(box3) {
      const place2 = this.places.get(box3);
      return this.ends.filter(({ from, to }) => from === place2 || to === place2).map(({ arrow: arrow2 }) => arrow2);
    }
    /**
     * @param {Element} box
     * @param {boolean} down
     */
    next(box3, down) {
      const place2 = this.places.get(box3);
      const neighbors = this.ends.filter(({ from, to }) => (down ? from : to) === place2).map(({ from, to }) => this.boxes[down ? to : from]);
      return [...new Set(neighbors)].filter((next) => next && next !== box3).sort((left, right) => middle(left).x - middle(right).x);
    }
    /** @param {Element} box */
    go(box3) {
      box3.focus({ preventScroll: true });
      this.picture.reveal(box3);
    }
    /** Goes to the box nearest to the middle of what is seen. */
    enter() {
      const around = middle(this.picture.canvas);
      const far = (box3) => Math.hypot(middle(box3).x - around.x, middle(box3).y - around.y);
      const focused = this.boxes.find((box3) => box3.classList.contains("focus"));
      const nearest = focused ?? this.stops.reduce((best, box3) => far(box3) < far(best) ? box3 : best, this.stops[0]);
      this.choice = [];
      if (nearest) this.go(nearest);
    }
    /**
     * @param {Element} box
     * @param {boolean} down
     */
    along(box3, down) {
      const choice = this.next(box3, down);
      if (!choice.length) return;
      const { x } = middle(box3);
      this.choice = choice;
      this.go(
        choice.reduce(
          (best, candidate) => Math.abs(middle(candidate).x - x) < Math.abs(middle(best).x - x) ? candidate : best
        )
      );
    }
    /**
     * @param {Element} box
     * @param {1 | -1} direction
     */
    aside(box3, direction2) {
      const place2 = this.choice.indexOf(box3);
      const other = place2 >= 0 ? this.choice[place2 + direction2] : void 0;
      if (other) return this.go(other);
      const from = middle(box3);
      const far = (stop) => Math.abs(middle(stop).x - from.x) + ASIDE * Math.abs(middle(stop).y - from.y);
      const there = this.stops.filter((stop) => (middle(stop).x - from.x) * direction2 > 2);
      this.choice = [];
      if (there.length) this.go(there.reduce((best, stop) => far(stop) < far(best) ? stop : best));
    }
    /**
     * Takes a key that was pressed on a box; says whether it meant something.
     * @param {KeyboardEvent} event
     */
    press(event) {
      const box3 = event.target instanceof Element ? event.target.closest("[tabindex='-1']") : null;
      if (!box3) {
        if (event.key !== "Enter") return false;
        this.enter();
        return true;
      }
      const actions = (
        /** @type {Record<string, () => void>} */
        {
          ArrowUp: () => this.along(box3, false),
          ArrowDown: () => this.along(box3, true),
          ArrowLeft: () => this.aside(box3, -1),
          ArrowRight: () => this.aside(box3, 1),
          Enter: () => this.follow(box3),
          " ": () => this.follow(box3),
          Escape: () => this.picture.canvas.focus()
        }
      );
      actions[event.key]?.();
      return event.key in actions;
    }
    /**
     * Opens what a box or a mark on it leads to.
     * @param {Element} marked
     */
    follow(marked2) {
      const target2 = marked2.getAttribute("data-target") ?? marked2.closest("[data-target]")?.getAttribute("data-target");
      if (target2) this.picture.openers.open(this.picture, marked2.closest("g.n") ?? marked2, target2);
    }
    /** The field that finds boxes. */
    finder() {
      const status = element("span.xr-zoom-level", { role: "status" });
      const field = element("input.xr-find", {
        type: "search",
        placeholder: "Find node",
        "aria-label": "Find a node in this graph",
        autocomplete: "off",
        spellcheck: "false"
      });
      field.addEventListener("input", () => this.find(field.value, status));
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        if (this.matches.length) this.showFound(event.shiftKey ? -1 : 1, status);
        else this.lookBehind(field.value, status);
      });
      return [field, status];
    }
    /**
     * @param {string} wanted
     * @param {HTMLElement} status
     */
    find(wanted2, status) {
      const asked2 = wanted2.trim().toLowerCase().replace(/^%/, "").split(/\s+/).filter(Boolean);
      const text = (box3) => `${box3.getAttribute("data-node")} ${words(box3)} ${box3.querySelector("title")?.textContent ?? ""}`.toLowerCase();
      this.matches = asked2.length ? this.boxes.filter((box3) => asked2.every((word2) => text(box3).includes(word2))) : [];
      for (const box3 of this.boxes) box3.classList.toggle("xr-found", this.matches.includes(box3));
      this.shown = -1;
      status.textContent = asked2.length && !this.matches.length ? "none" : "";
      if (this.matches.length) this.showFound(1, status);
    }
    /**
     * Looks for an instruction in the pictures behind this one.
     * @param {string} name
     * @param {HTMLElement} status
     */
    async lookBehind(name, status) {
      const bare2 = name.trim().replace(/^%/, "");
      const picture = bare2 ? await this.picture.openers.openWith(this.picture, bare2) : null;
      const box3 = picture?.walk.boxes.find((candidate) => candidate.getAttribute("data-target") === `i=${bare2}`);
      if (picture && box3) picture.walk.go(box3);
      else if (!picture) status.textContent = "none";
    }
    /**
     * @param {1 | -1} direction
     * @param {HTMLElement} status
     */
    showFound(direction2, status) {
      if (!this.matches.length) return;
      this.shown = (this.shown + direction2 + this.matches.length) % this.matches.length;
      status.textContent = `${format.count(this.shown + 1)} of ${format.count(this.matches.length)}`;
      this.picture.reveal(this.matches[this.shown]);
      this.picture.point(this.matches[this.shown]);
    }
  };

  // src/pictures/picture.js
  var STEP = 1.3;
  var READABLE = 1;
  var FAR = 2;
  var REST = 150;
  var STILL = 4;
  var Picture = class {
    /**
     * @param {HTMLElement} host
     * @param {string} key
     * @param {string} source SVG text
     * @param {Openers} openers
     */
    constructor(host, key, source, openers) {
      this.openers = openers;
      this.key = key;
      this.source = source;
      this.svg = this.read(source);
      const { width, height } = this.svg.viewBox.baseVal;
      this.whole = { x: 0, y: 0, width: width || 300, height: height || 150 };
      this.view = { ...this.whole };
      this.drawn = { ...this.whole };
      this.gliding = false;
      this.rest = 0;
      this.level = element("span.xr-zoom-level", { role: "status" });
      this.host = host;
      this.canvas = element("div.xr-canvas", { tabindex: 0, role: "group", "aria-label": this.label(host) }, this.svg);
      this.walk = new Walk(this);
      host.querySelector("img")?.remove();
      host.prepend(this.toolbar(), this.canvas);
      this.begun = false;
      this.room = 0;
      this.listen();
    }
    /** @param {string} source */
    read(source) {
      const svg = parse(source);
      svg.removeAttribute("width");
      svg.removeAttribute("height");
      svg.setAttribute("role", "group");
      return svg;
    }
    /**
     * Puts another picture in the place of this one, in the same view.
     * @param {string} source SVG text
     * @returns {SVGSVGElement} the former one
     */
    exchange(source) {
      const former = this.svg;
      this.source = source;
      this.svg = this.read(source);
      former.replaceWith(this.svg);
      applyMode(this);
      this.walk.take();
      if (this.begun) this.show();
      return former;
    }
    /** @param {HTMLElement} host */
    label(host) {
      const description = host.dataset.alt ?? host.querySelector("img")?.alt ?? this.svg.querySelector("title")?.textContent;
      return `${description ?? "Picture"}. Arrow keys move it, plus and minus change its size, 0 shows all of it, Enter goes to a node.`;
    }
    toolbar() {
      return element(
        "div.xr-toolbar",
        null,
        ...this.walk.finder(),
        modeChoice(this),
        this.button("\u2212", "Smaller", () => this.zoom(1 / STEP)),
        this.level,
        this.button("+", "Larger", () => this.zoom(STEP)),
        this.button("Fit", "Show all of it", () => this.fit()),
        this.button("1:1", "Natural size", () => this.zoom(1 / this.scale())),
        this.button("Save", "Save as .svg", () => this.save())
      );
    }
    /**
     * @param {string} sign
     * @param {string} words
     * @param {() => void} action
     */
    button(sign, words2, action) {
      return element("button.xr-button", { type: "button", title: words2, "aria-label": words2, onclick: action }, sign);
    }
    listen() {
      this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      this.canvas.addEventListener("keydown", (event) => this.press(event));
      this.canvas.addEventListener("pointerdown", (event) => this.grab(event));
      this.canvas.addEventListener("pointerover", (event) => this.point(event.target));
      window.addEventListener("beforeprint", () => this.print());
      window.addEventListener("afterprint", () => this.show());
      new ResizeObserver(() => this.resized()).observe(this.canvas);
    }
    /** Nothing has a place while the picture is out of the page or folded away: its canvas has no size. */
    get placed() {
      return this.canvas.clientWidth > 0 && this.canvas.clientHeight > 0;
    }
    resized() {
      const room = this.canvas.clientWidth;
      if (!room) return;
      if (this.begun) {
        const former = this.view.width;
        this.view.width *= room / (this.room || room);
        this.view.x += (former - this.view.width) / 2;
        this.show();
        for (const box3 of this.svg.querySelectorAll("g.focus")) this.reveal(box3);
      } else this.begin();
      this.room = room;
    }
    /** @returns {number} pixels to a unit of the picture */
    scale() {
      return (this.canvas.clientWidth || this.whole.width) / this.view.width;
    }
    /** The scale in which the picture takes all of the width, where its names can be read so. */
    get readable() {
      return Math.min(1, Math.max(READABLE, this.canvas.clientWidth / this.whole.width));
    }
    /** Shows the whole picture where it can be read, else the first place where something changed. */
    begin() {
      this.begun = true;
      this.canvas.style.height = `${Math.max(90, Math.min(this.whole.height * this.readable, innerHeight * 0.75))}px`;
      this.fit();
      if (this.scale() >= READABLE) return;
      const all = this.svg.querySelectorAll("g.n");
      const changed = [...all].filter((box3) => /s-(added|removed|changed)/.test(box3.getAttribute("class") ?? ""));
      this.visit(changed.length ? changed : [...all]);
    }
    /**
     * Goes to the uppermost of some boxes, in a size in which it can be read.
     * @param {Element[]} boxes
     */
    visit(boxes) {
      const places2 = boxes.map((box3) => box3.getBoundingClientRect()).sort((left2, right) => left2.top - right.top);
      if (!places2.length) return;
      const around = this.canvas.getBoundingClientRect();
      const x = this.view.x + (places2[0].left + places2[0].width / 2 - around.left) / this.scale();
      const y = this.view.y + (places2[0].top - around.top) / this.scale();
      this.zoom(this.readable / this.scale());
      const spare = this.whole.width - this.view.width;
      const left = x < this.view.width * 0.8 ? 0 : x - this.view.width / 2;
      this.view.x = spare < 0 ? spare / 2 : Math.max(0, Math.min(left, spare));
      this.view.y = Math.max(0, Math.min(y - this.view.height / 4, this.whole.height - this.view.height));
      this.show();
    }
    /** Shows the boxes that the picture is about where the whole cannot be read. */
    showFocus() {
      if (this.scale() < READABLE) this.visit([...this.svg.querySelectorAll("g.focus")]);
      else for (const box3 of this.svg.querySelectorAll("g.focus")) this.reveal(box3);
    }
    /** Shows the whole picture, never larger than its natural size; as soon as it has a place. */
    fit() {
      this.begun &&= this.placed;
      if (!this.placed) return;
      const { clientWidth, clientHeight } = this.canvas;
      const scale = Math.min(1, clientWidth / this.whole.width, clientHeight / this.whole.height);
      const width = clientWidth / scale;
      this.view = { x: (this.whole.width - width) / 2, y: 0, width, height: clientHeight / scale };
      this.show();
    }
    /** Shows the whole picture on paper, whatever stands on the screen. */
    print() {
      if (!this.placed) return;
      this.draw(this.whole);
    }
    show() {
      if (!this.placed) return;
      const ratio = this.canvas.clientHeight / this.canvas.clientWidth;
      this.view.height = this.view.width * ratio;
      this.level.textContent = `${Math.round(this.scale() * 100)}%`;
      if (this.gliding && this.glides()) return;
      this.draw(this.view);
      this.drawn = { ...this.view };
    }
    /**
     * Draws a part of the picture. Its title stays in sight where the left edge does not.
     * @param {{x: number, y: number, width: number, height: number}} part
     */
    draw({ x, y, width, height }) {
      this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
      this.svg.style.transform = "";
      this.svg.querySelector("text.title")?.setAttribute("x", `${Math.max(0, x) + MARGIN}`);
    }
    /**
     * Changes the view while the reader moves: the picture is moved as it is, which any machine does
     * fast, and drawn anew when the reader rests or has gone far.
     * @param {() => void} change
     */
    glide(change) {
      this.gliding = true;
      change();
      this.gliding = false;
      clearTimeout(this.rest);
      this.rest = setTimeout(() => this.show(), REST);
    }
    /** Moves the picture as it is drawn; says whether that is near enough. */
    glides() {
      const { view, drawn: drawn5 } = this;
      const scale = this.scale();
      const [larger, x, y] = [drawn5.width / view.width, (drawn5.x - view.x) * scale, (drawn5.y - view.y) * scale];
      if (larger > FAR || larger < 1 / FAR || Math.abs(x) > this.canvas.clientWidth || Math.abs(y) > this.canvas.clientHeight) {
        return false;
      }
      this.svg.style.transform = `translate(${x}px, ${y}px) scale(${larger})`;
      return true;
    }
    /**
     * Moves the view until a box is in it and can be read.
     * @param {Element} box
     */
    reveal(box3) {
      if (!this.canvas.clientWidth) return;
      if (this.scale() < READABLE) this.zoom(READABLE / this.scale());
      const place2 = box3.getBoundingClientRect();
      const around = this.canvas.getBoundingClientRect();
      const beyond = (start, end, from, to) => start < from ? start - from : end > to ? end - to : 0;
      this.move(
        beyond(place2.left, place2.right, around.left + 12, around.right - 12),
        beyond(place2.top, place2.bottom, around.top + 12, around.bottom - 12)
      );
    }
    /**
     * @param {number} factor
     * @param {number} [atX] where to stay, as a share of the width
     * @param {number} [atY]
     */
    zoom(factor, atX = 0.5, atY = 0.5) {
      if (!this.placed) return;
      const scale = Math.min(8, Math.max(0.02, this.scale() * factor));
      const width = this.canvas.clientWidth / scale;
      const height = this.canvas.clientHeight / scale;
      this.view.x += (this.view.width - width) * atX;
      this.view.y += (this.view.height - height) * atY;
      Object.assign(this.view, { width, height });
      this.show();
    }
    /**
     * @param {number} x pixels
     * @param {number} y pixels
     */
    move(x, y) {
      if (!this.placed) return;
      this.view.x += x / this.scale();
      this.view.y += y / this.scale();
      this.show();
    }
    /** @param {WheelEvent} event */
    wheel(event) {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const place2 = this.canvas.getBoundingClientRect();
      const [x, y] = [(event.clientX - place2.left) / place2.width, (event.clientY - place2.top) / place2.height];
      this.glide(() => this.zoom(Math.exp(-event.deltaY / 300), x, y));
    }
    /** @param {KeyboardEvent} event */
    press(event) {
      if (isOfBrowser(event)) return;
      if (this.walk.press(event)) {
        event.preventDefault();
        event.stopPropagation();
        return;
      }
      const actions = (
        /** @type {Record<string, () => void>} */
        {
          ArrowLeft: () => this.move(-60, 0),
          ArrowRight: () => this.move(60, 0),
          ArrowUp: () => this.move(0, -60),
          ArrowDown: () => this.move(0, 60),
          "+": () => this.zoom(STEP),
          "=": () => this.zoom(STEP),
          "-": () => this.zoom(1 / STEP),
          0: () => this.fit()
        }
      );
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    }
    /** @param {PointerEvent} event */
    grab(event) {
      if (event.button !== 0) return;
      const pressed2 = event.target instanceof Element ? event.target.closest("[data-target]") : null;
      const scrolls = event.pointerType === "touch" && !this.canvas.contains(document.activeElement);
      let { clientX, clientY } = event;
      const [startX, startY] = [clientX, clientY];
      const drag = (next) => {
        this.glide(() => this.move(clientX - next.clientX, clientY - next.clientY));
        ({ clientX, clientY } = next);
      };
      this.canvas.setPointerCapture(event.pointerId);
      this.canvas.classList.add("xr-grabbed");
      if (!scrolls) this.canvas.addEventListener("pointermove", drag);
      const ended = new AbortController();
      const release = (last) => {
        this.canvas.classList.remove("xr-grabbed");
        this.canvas.removeEventListener("pointermove", drag);
        ended.abort();
        const still = Math.hypot(last.clientX - startX, last.clientY - startY) < STILL;
        if (pressed2 && still && last.type === "pointerup") this.walk.follow(pressed2);
      };
      this.canvas.addEventListener("pointerup", release, { signal: ended.signal });
      this.canvas.addEventListener("pointercancel", release, { signal: ended.signal });
    }
    /**
     * Lights up what the pointer is on: its arrows here, and the same thing in the other picture.
     * @param {EventTarget | null} target
     */
    point(target2) {
      const node2 = target2 instanceof Element ? target2.closest("g.n") : null;
      const id = node2?.getAttribute("data-node");
      const group = this.canvas.closest(".xr-pair") ?? this.canvas;
      for (const lit of group.querySelectorAll(".xr-lit")) lit.classList.remove("xr-lit");
      if (!node2 || !id) return;
      for (const edge of this.walk.arrows(node2)) edge.classList.add("xr-lit");
      for (const same of group.querySelectorAll(`g.n[data-node="${CSS.escape(id)}"]`)) same.classList.add("xr-lit");
    }
    /** Saves the picture with rules for a dark system, which a page has by itself. */
    async save() {
      const { dark } = await load("pictures/look");
      const whole2 = this.source.replace("</style>", () => `${dark}</style>`);
      saveFile(new Blob([whole2], { type: "image/svg+xml" }), `${this.key.replaceAll("/", "-")}.svg`);
    }
  };

  // src/pictures/svg_text.js
  function escaped(value) {
    const printable = String(value).replace(
      /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu,
      (character) => character === "\n" ? character : " "
    );
    return printable.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#x27;");
  }
  var decimal = (value) => String(Math.round(value * 10) / 10);
  function shorten(line3, columns2 = LONGEST_LINE) {
    const letters = [...line3];
    if (letters.length <= columns2) return line3;
    const tail = Math.floor((columns2 - 1) / 3);
    return `${letters.slice(0, columns2 - 1 - tail).join("")}\u2026${letters.slice(-tail).join("")}`;
  }

  // src/graphs/neighborhood.js
  var HUB = 12;
  var View = class {
    /**
     * @param {Graph} graph
     * @param {Iterable<number>} kept
     */
    constructor(graph, kept2) {
      this.graph = graph;
      this.kept = new Set(kept2);
    }
    /** @param {number} place */
    isElement(place2) {
      return this.graph.opcode(place2) === "get-tuple-element" && !this.kept.has(place2);
    }
    /**
     * Says what a user of an instruction says of it where it has no box of its own.
     * @param {number} place
     * @returns {string | null} null for one that has a box
     */
    words(place2) {
      const behind = this.graph.constantBehind(place2);
      if (behind === null || this.kept.has(place2) || this.kept.has(behind)) return null;
      return `constant ${this.graph.argument(behind) || this.graph.shape(behind).replace(/\{.*$/, "")}`;
    }
    /** @param {number} place */
    hasBox(place2) {
      return !this.isElement(place2) && this.words(place2) === null;
    }
    /**
     * Follows elements of tuples to what makes the tuple.
     * @param {Use} use
     * @returns {Use}
     */
    origin(use) {
      let { place: place2, element: element2 } = use;
      for (let hops = 0; hops < 100 && this.isElement(place2); hops += 1) {
        const [operand] = this.graph.operands(place2);
        if (!operand) break;
        element2 = [operand.element, this.graph.argument(place2), element2].filter(Boolean).join("#");
        place2 = operand.place;
      }
      return { place: place2, element: element2 };
    }
    /**
     * @param {number} place
     * @returns {Arrow[]} the arrows that arrive at its box
     */
    arriving(place2) {
      const arrows = (
        /** @type {Map<number, Arrow>} */
        /* @__PURE__ */ new Map()
      );
      const operands = this.graph.operands(place2);
      for (const [number, use] of operands.entries()) {
        const { place: source, element: element2 } = this.origin(use);
        if (this.words(source) !== null || source === place2) continue;
        const label = `${operands.length > 1 ? number : ""}${element2 ? `#${element2}` : ""}`;
        const arrow2 = arrows.get(source);
        if (arrow2) arrow2.label = arrow2.label.length > 10 ? arrow2.label : `${arrow2.label},${label}`;
        else {
          arrows.set(source, {
            source,
            target: place2,
            label,
            style: (this.graph.elements(use.place) ?? LARGE_INPUT) < LARGE_INPUT ? "thin" : ""
          });
        }
      }
      for (const source of this.graph.controls(place2)) {
        if (!arrows.has(source)) arrows.set(source, { source, target: place2, label: "", style: "control" });
      }
      return [...arrows.values()].filter((arrow2) => this.hasBox(arrow2.source));
    }
    /**
     * @param {number} place
     * @returns {[number, string][]} its operands without a box, by their numbers
     */
    foldedOperands(place2) {
      const named2 = this.graph.operands(place2).map((use, number) => (
        /** @type {[number, string | null]} */
        [number, this.words(this.origin(use).place)]
      ));
      return (
        /** @type {[number, string][]} */
        named2.filter(([, words2]) => words2 !== null)
      );
    }
    /** @param {number} place */
    producers(place2) {
      return this.arriving(place2).map((arrow2) => arrow2.source);
    }
    /**
     * @param {number} place
     * @returns {number[]} boxes that use it, directly or through elements of tuples
     */
    consumers(place2) {
      const boxes = /* @__PURE__ */ new Set(
        /** @type {number[]} */
        []
      );
      const waiting = [place2];
      for (let producer = waiting.pop(); producer !== void 0; producer = waiting.pop()) {
        for (const user of this.graph.users(producer)) {
          if (this.isElement(user)) waiting.push(user);
          else if (this.words(user) === null) boxes.add(user);
        }
      }
      return [...boxes].sort((left, right) => left - right);
    }
  };
  function neighborhood(view, start, { up, down, radius, most }) {
    const places2 = /* @__PURE__ */ new Map([[start, 0]]);
    const seen = /* @__PURE__ */ new Set([start]);
    let hubs = 0;
    let ring = [start];
    for (let distance = 1; distance <= radius && ring.length; distance += 1) {
      const next = (
        /** @type {number[]} */
        []
      );
      for (const place2 of ring) {
        const sides = [up ? view.producers(place2) : [], down ? view.consumers(place2) : []];
        const followed = sides.filter((side) => side.length <= HUB || place2 === start);
        hubs += sides.length - followed.length;
        for (const near3 of followed.flat()) {
          if (seen.has(near3)) continue;
          seen.add(near3);
          next.push(near3);
          if (places2.size < most) places2.set(near3, distance);
        }
      }
      ring = next;
    }
    return { places: places2, more: seen.size - places2.size, hubs };
  }
  function* onwards(view, place2) {
    const { graph } = view;
    for (const target2 of view.consumers(place2)) {
      yield { source: place2, target: target2, label: "", style: graph.controls(target2).includes(place2) ? "control" : "" };
      for (const [attribute, computation] of graph.calls(target2)) {
        const parameter = taken(view, place2, target2, attribute, computation);
        if (parameter !== null) yield { source: place2, target: parameter, label: `into ${attribute}`, style: "call" };
      }
    }
    if (!graph.isRoot(place2)) return;
    for (const target2 of graph.callers.get(graph.inside[place2]) ?? []) {
      yield { source: place2, target: target2, label: "result", style: "call" };
    }
  }
  function taken({ graph }, place2, caller, attribute, computation) {
    const number = graph.operands(caller).findIndex((operand) => operand.place === place2);
    if (number < 0) return null;
    const wanted2 = graph.opcode(caller) === "while" || /branch|true_|false_/.test(attribute) ? "0" : String(number);
    const first = graph.first[computation];
    const last = first + graph.index.computations[computation][1];
    for (let parameter = first; parameter < last; parameter += 1) {
      if (graph.opcode(parameter) === "parameter" && graph.argument(parameter) === wanted2) return parameter;
    }
    return null;
  }
  function shortestPath(view, from, to) {
    const came = (
      /** @type {Map<number, Arrow | null>} */
      /* @__PURE__ */ new Map([[from, null]])
    );
    const waiting = [from];
    for (let next = 0; next < waiting.length && !came.has(to); next += 1) {
      for (const arrow2 of onwards(view, waiting[next])) {
        if (came.has(arrow2.target)) continue;
        came.set(arrow2.target, arrow2);
        waiting.push(arrow2.target);
      }
    }
    if (!came.has(to)) return null;
    const way2 = [];
    for (let arrow2 = came.get(to); arrow2; arrow2 = came.get(arrow2.source)) way2.unshift(arrow2);
    return way2;
  }
  function plainBox(graph, place2, operands) {
    const name = graph.name(place2);
    const opcode = `${graph.opcode(place2)} ${graph.kind(place2)}`.trim();
    const kind = graph.opcode(place2) === "parameter" ? `parameter ${graph.argument(place2)}` : opcode;
    const isPlain = name.startsWith(graph.opcode(place2)) && graph.opcode(place2) !== "fusion";
    const attribute = [graph.says(place2)].filter(Boolean);
    return {
      id: `${graph.computation(place2)}/%${name}`,
      lines: [
        name,
        ...isPlain ? [] : [kind],
        ...called(graph, place2),
        ...attribute,
        ...operands,
        graph.shape(place2)
      ].map((line3) => shorten(line3)),
      family: graph.family(place2),
      tooltip: [name, `${opcode} ${graph.shape(place2)}`, `in ${graph.computation(place2)}`].join("\n"),
      target: `i=${graph.address(place2)}`,
      shade: graph.shade(place2)
    };
  }
  function called(graph, place2) {
    const all = graph.calls(place2);
    const inside = all.slice(0, 2).filter(([attribute]) => attribute !== "condition");
    const words2 = inside.map(
      ([attribute, computation]) => (graph.opcode(place2) === "fusion" ? "" : `${attribute} `) + graph.index.computations[computation][2]
    );
    return all.length > 2 ? [...words2, `${all.length - 2} more computations`] : words2;
  }
  function calledPictures(graph, place2) {
    const inside = (computation) => graph.index.inside[0][graph.index.inside[1][computation]];
    const worth = graph.calls(place2).filter(([, computation]) => inside(computation)[0]);
    const opens = new Map(worth.map(([attribute, computation]) => [graph.index.computations[computation][0], attribute]));
    const fused = graph.opcode(place2) === "fusion" ? graph.calls(place2).find(([attribute]) => attribute === "calls") : void 0;
    const mix = (
      /** @type {any[]} */
      fused ? inside(fused[1])[1] : []
    );
    return {
      opens: [...opens].map(([name, attribute]) => [`c=${name}`, `${attribute} ${name}`]),
      mix: mix.flatMap((color, at) => at % 2 ? [] : [[color, mix[at + 1]]])
    };
  }
  function drawnBox(view, place2) {
    const { graph } = view;
    const folded = view.foldedOperands(place2).slice(0, 3).map(([number, words2]) => `operand ${number} = ${words2}`);
    return { ...plainBox(graph, place2, folded), badge: graph.isRoot(place2) ? "ROOT" : "" };
  }

  // src/pictures/layout.js
  var GAP_X = 22;
  var GAP_Y = 38;
  var PASSING = 10;
  var WIDEST = 14;
  var SWEEPS = 8;
  function layeredLayout(sizes2, edges) {
    const directed = withoutCycles(sizes2.length, edges);
    const rank2 = ranks(sizes2.length, directed);
    const { rows: rows2, chains } = slots(sizes2, directed, rank2);
    for (let sweep = 0; sweep < SWEEPS; sweep += 1) reorder(rows2, sweep % 2 === 0);
    for (const row4 of rows2) pack(row4);
    for (let sweep = 0; sweep < SWEEPS; sweep += 1) settle(rows2, sweep % 2 === 0);
    return drawn2(sizes2, edges, directed, rank2, rows2, chains);
  }
  function withoutCycles(count, edges) {
    const after = (
      /** @type {number[][]} */
      Array.from({ length: count }, () => [])
    );
    for (const [from, to] of edges) after[from].push(to);
    const state2 = new Uint8Array(count);
    const finished = new Int32Array(count);
    let number = 0;
    const waiting = [...state2.keys()].reverse();
    while (waiting.length) {
      const node2 = waiting[waiting.length - 1];
      if (state2[node2] === 0) {
        state2[node2] = 1;
        for (const next of after[node2]) if (state2[next] === 0) waiting.push(next);
      } else {
        waiting.pop();
        if (state2[node2] === 1) finished[node2] = number++;
        state2[node2] = 2;
      }
    }
    return edges.map(([from, to]) => finished[from] >= finished[to] ? [from, to] : [to, from]);
  }
  function ranks(count, edges) {
    const before = (
      /** @type {number[][]} */
      Array.from({ length: count }, () => [])
    );
    const after = (
      /** @type {number[][]} */
      Array.from({ length: count }, () => [])
    );
    for (const [from, to] of edges) {
      if (from === to) continue;
      before[to].push(from);
      after[from].push(to);
    }
    const open = before.map((all) => all.length);
    const rank2 = new Array(count).fill(0);
    const ready = [...rank2.keys()].filter((node2) => open[node2] === 0);
    for (const node2 of ready) {
      for (const next of after[node2]) {
        rank2[next] = Math.max(rank2[next], rank2[node2] + 1);
        open[next] -= 1;
        if (open[next] === 0) ready.push(next);
      }
    }
    for (let node2 = 0; node2 < count; node2 += 1) {
      if (!before[node2].length && after[node2].length) rank2[node2] = Math.min(...after[node2].map((next) => rank2[next])) - 1;
    }
    return narrowed(rank2, before);
  }
  function narrowed(rank2, before) {
    const members = (
      /** @type {Map<number, number[]>} */
      /* @__PURE__ */ new Map()
    );
    for (const [node2, layer] of rank2.entries()) members.set(layer, [...members.get(layer) ?? [], node2]);
    const layers = new Array(rank2.length).fill(0);
    const key = (node2) => Math.min(...before[node2].map((source) => layers[source] * 1e3 + source), 1e9);
    let next = 0;
    for (const layer of [...members.keys()].sort((left, right) => left - right)) {
      const all = members.get(layer) ?? [];
      const parts = Math.ceil(all.length / WIDEST);
      const each = Math.ceil(all.length / parts);
      const keys = new Map(all.map((node2) => [node2, key(node2)]));
      all.sort((left, right) => (keys.get(left) ?? 0) - (keys.get(right) ?? 0) || left - right);
      for (const [place2, node2] of all.entries()) layers[node2] = next + Math.floor(place2 / each);
      next += parts;
    }
    return layers;
  }
  function slots(sizes2, edges, rank2) {
    const rows2 = (
      /** @type {Slot[][]} */
      Array.from({ length: Math.max(-1, ...rank2) + 1 }, () => [])
    );
    const slot = (node2, width, layer) => {
      const added = (
        /** @type {Slot} */
        { node: node2, width, x: 0, above: [], below: [] }
      );
      rows2[layer].push(added);
      return added;
    };
    const nodeSlots = sizes2.map(({ width }, node2) => slot(node2, width, rank2[node2]));
    const chains = edges.map(([from, to]) => {
      const chain = [nodeSlots[from]];
      for (let layer = rank2[from] + 1; layer < rank2[to]; layer += 1) chain.push(slot(null, PASSING, layer));
      if (from !== to) chain.push(nodeSlots[to]);
      for (let place2 = 1; place2 < chain.length; place2 += 1) {
        chain[place2 - 1].below.push(chain[place2]);
        chain[place2].above.push(chain[place2 - 1]);
      }
      return chain;
    });
    for (const row4 of rows2) for (const [place2, member] of row4.entries()) member.x = place2;
    return { rows: rows2, chains };
  }
  function reorder(rows2, down) {
    for (const row4 of down ? rows2 : [...rows2].reverse()) {
      const wish = new Map(row4.map((slot) => [slot, mean(down ? slot.above : slot.below) ?? slot.x]));
      row4.sort((left, right) => (wish.get(left) ?? 0) - (wish.get(right) ?? 0));
      const scale = 1 / Math.max(1, row4.length);
      for (const [place2, slot] of row4.entries()) slot.x = (place2 + 0.5) * scale;
    }
  }
  function mean(joined) {
    return joined.length ? joined.reduce((sum2, slot) => sum2 + slot.x, 0) / joined.length : null;
  }
  function pack(row4) {
    let x = 0;
    for (const slot of row4) {
      slot.x = x + slot.width / 2;
      x += slot.width + GAP_X;
    }
    for (const slot of row4) slot.x -= x / 2;
  }
  function settle(rows2, down) {
    for (const row4 of down ? rows2 : [...rows2].reverse()) {
      placeRow(
        row4,
        row4.map((slot) => mean(down ? slot.above : slot.below) ?? slot.x)
      );
    }
  }
  function placeRow(row4, wishes) {
    const offsets = [0];
    for (let at2 = 1; at2 < row4.length; at2 += 1) {
      offsets.push(offsets[at2 - 1] + (row4[at2 - 1].width + row4[at2].width) / 2 + GAP_X);
    }
    const blocks = (
      /** @type {{sum: number, count: number}[]} */
      []
    );
    for (const [at2, wish] of wishes.entries()) {
      let block = { sum: wish - offsets[at2], count: 1 };
      for (let last = blocks.at(-1); last && last.sum / last.count >= block.sum / block.count; last = blocks.at(-1)) {
        block = { sum: block.sum + last.sum, count: block.count + last.count };
        blocks.pop();
      }
      blocks.push(block);
    }
    let at = 0;
    for (const { sum: sum2, count } of blocks) {
      for (let end = at + count; at < end; at += 1) row4[at].x = sum2 / count + offsets[at];
    }
  }
  function drawn2(sizes2, edges, directed, rank2, rows2, chains) {
    const left = Math.min(0, ...rows2.map((row4) => row4[0].x - row4[0].width / 2));
    const right = Math.max(0, ...rows2.map((row4) => row4[row4.length - 1].x + row4[row4.length - 1].width / 2));
    const tops = [0];
    for (const row4 of rows2) {
      const tallest = Math.max(0, ...row4.map((slot) => slot.node === null ? 0 : sizes2[slot.node].height));
      tops.push(tops[tops.length - 1] + tallest + GAP_Y);
    }
    const boxes = (
      /** @type {Box[]} */
      []
    );
    for (const [layer, row4] of rows2.entries()) {
      const tall = tops[layer + 1] - GAP_Y - tops[layer];
      for (const { node: node2, x, width } of row4) {
        if (node2 === null) continue;
        const { height } = sizes2[node2];
        boxes[node2] = { x: x - width / 2 - left, y: tops[layer] + (tall - height) / 2, width, height };
      }
    }
    const ends = ports(boxes, chains, left);
    const curves = edges.map(([from], number) => {
      const curve2 = bent(chains[number], ends[number], rank2[directed[number][0]], tops, left);
      return directed[number][0] === from ? curve2 : curve2.reverse();
    });
    return { boxes, curves, width: right - left, height: tops[tops.length - 1] - GAP_Y };
  }
  function ports(boxes, chains, left) {
    const ends = (
      /** @type {[Point, Point][]} */
      chains.map(() => [
        [0, 0],
        [0, 0]
      ])
    );
    for (const side of [0, 1]) {
      const at = (
        /** @type {Map<number, [number, number][]>} */
        /* @__PURE__ */ new Map()
      );
      for (const [number, chain] of chains.entries()) {
        const end = (side ? chain[chain.length - 1] : chain[0]).node ?? 0;
        const other = side ? chain[Math.max(0, chain.length - 2)] : chain[Math.min(1, chain.length - 1)];
        at.set(end, [...at.get(end) ?? [], [other.x - left, number]]);
      }
      for (const [node2, arrows] of at) {
        const { x, y, width, height } = boxes[node2];
        arrows.sort(([start], [end]) => start - end);
        const apart = Math.min(16, (width - 16) / arrows.length);
        for (const [place2, [, number]] of arrows.entries()) {
          ends[number][side] = [x + width / 2 + (place2 - (arrows.length - 1) / 2) * apart, side ? y : y + height];
        }
      }
    }
    return ends;
  }
  function bent(chain, [start, end], layer, tops, left) {
    const points = [start];
    const bend = (to) => {
      const from = points[points.length - 1];
      const middle2 = (from[1] + to[1]) / 2;
      points.push([from[0], middle2], [to[0], middle2], to);
    };
    for (const [place2, slot] of chain.slice(1, -1).entries()) {
      const at = layer + 1 + place2;
      bend([slot.x - left, tops[at]]);
      bend([slot.x - left, tops[at + 1] - GAP_Y]);
    }
    bend(end);
    return points;
  }

  // src/pictures/legend.js
  var SIGNS = (
    /** @type {Record<string, string>} */
    { added: "+", removed: "\u2212", changed: "~" }
  );
  var KINDS = (
    /** @type {("families" | "states" | "edges")[]} */
    ["families", "states", "edges"]
  );
  var PALETTES = (
    /** @type {Record<string, string>} */
    { heat: "h", tint: "t" }
  );
  function pictureFooter(drawing2, modes2, look2, { left, top, width }) {
    const columns2 = Math.floor((width - 2 * left) / LEGEND_CHARACTER);
    const lines3 = drawing2.notes.flatMap((words2) => wrapped(words2, columns2));
    const below2 = lines3.map((line3, row4) => note(line3, left, top + 12 + LEGEND_LINE * row4));
    let start = top + LEGEND_LINE * lines3.length + 6;
    let ends = [start];
    for (const [mode, entries] of drawing2.plain ? [] : sections(drawing2, modes2, look2)) {
      const [elements, end] = section(mode, entries, left, start, width - left);
      below2.push(...elements);
      if (mode) ends.push(end);
      else {
        start = end;
        ends = [end];
      }
    }
    return [below2, Math.max(...ends) + 8];
  }
  function sections({ nodes, edges, groups = [] }, modes2, look2) {
    const used = {
      families: new Set(nodes.flatMap(({ family, mix = [] }) => [family, ...mix.map(([name]) => name)])),
      states: new Set([...nodes, ...edges, ...groups].map(({ state: state2 }) => state2)),
      edges: new Set(edges.map(({ style }) => style))
    };
    const entries = KINDS.flatMap(
      (kind) => look2[kind].filter(([name]) => used[kind].has(name)).map(([name, words2]) => (
        /** @type {Entry} */
        [kind, name, words2]
      ))
    );
    return [
      ["", entries.filter(([kind]) => kind !== "families")],
      ["opcode", entries.filter(([kind]) => kind === "families")],
      ...modes2.map(
        ({ mode, palette, words: words2 }) => (
          /** @type {Section} */
          [mode, words2.map(([level, text]) => [palette, String(level), text])]
        )
      )
    ];
  }
  function section(mode, entries, left, top, right) {
    let [x, row4] = [left, 0];
    const swatches = entries.map((entry) => {
      const wide = LEGEND_SWATCH + LEGEND_CHARACTER * entry[2].length;
      if (x > left && x + wide > right) [x, row4] = [left, row4 + 1];
      const drawn5 = swatch(entry, x, top + 12 + LEGEND_LINE * row4);
      x += wide + LEGEND_GAP;
      return drawn5;
    });
    const end = top + LEGEND_LINE * (entries.length ? row4 + 1 : 0);
    return [mode && swatches.length ? [`<g class="legend of-${mode}">`, ...swatches, "</g>"] : swatches, end];
  }
  function swatch([kind, name, words2], x, y) {
    return `<g>${sample(kind, name, x, y)}${note(words2, x + LEGEND_SWATCH, y)}</g>`;
  }
  function sample(kind, name, x, y) {
    const place2 = `x="${decimal(x)}" y="${decimal(y - 9)}" width="16" height="10"`;
    if (kind === "families") return `<rect class="f-${name}" ${place2} rx="1"/>`;
    if (kind in PALETTES) return `<rect class="${PALETTES[kind]}-${name}" ${place2} rx="1"/>`;
    if (kind === "edges") return `<path class="e e-${name}" d="M${decimal(x)} ${decimal(y - 4)}h16"/>`;
    return stateSign(name, x + 8, y - 4) || `<g class="s-${name}"><rect class="box frame" ${place2}/></g>`;
  }
  function stateSign(state2, x, y) {
    const mark2 = SIGNS[state2 ?? ""];
    return mark2 ? `<circle class="sign-${state2}" cx="${decimal(x)}" cy="${decimal(y)}" r="7"/><text class="on" x="${decimal(x)}" y="${decimal(y + 3.5)}">${mark2}</text>` : "";
  }
  function note(words2, x, y) {
    return `<text class="note" x="${decimal(x)}" y="${decimal(y)}">${escaped(words2)}</text>`;
  }
  function wrapped(words2, columns2) {
    const lines3 = [""];
    for (const word2 of words2.split(" ")) {
      const last = lines3[lines3.length - 1];
      if (last && last.length + 1 + word2.length > columns2) lines3.push(word2);
      else lines3[lines3.length - 1] = last ? `${last} ${word2}` : word2;
    }
    return lines3;
  }

  // src/pictures/scales.js
  function colorScales(nodes, look2) {
    const shades = new Map(nodes.map(({ id, shade }) => [id, shade ?? {}]));
    const modes2 = [
      ordered(
        "cost",
        values2(shades, ({ cost: cost2 }) => cost2),
        format.percent,
        look2
      ),
      ordered(
        "time",
        values2(shades, ({ time }) => time),
        format.percent,
        look2
      ),
      ordered(
        "memory",
        values2(shades, ({ memory }) => memory),
        format.bytes,
        look2
      ),
      kinds2("scope", scopes(shades)),
      kinds2(
        "sharding",
        values2(shades, ({ sharding }) => sharding || null)
      )
    ];
    return modes2.filter(({ levels }) => levels.size);
  }
  function values2(shades, value) {
    const all = [...shades].map(([id, shade]) => [id, value(shade)]);
    return new Map(
      /** @type {[string, T][]} */
      all.filter(([, figure]) => figure !== null && figure !== void 0)
    );
  }
  function ordered(mode, figures2, written3, look2) {
    const { from, words: words2 } = look2.scales[mode];
    const level = (figure) => from.filter((limit) => limit <= figure).length - 1;
    const levels = new Map([...figures2].map(([id, figure]) => [id, level(figure)]));
    const marks = new Map([...figures2].map(([id, figure]) => [id, written3(figure)]));
    const used = [...new Set(levels.values())].sort((left, right) => left - right);
    return { mode, palette: "heat", levels, marks, words: used.map((place2) => [place2, words2[place2]]) };
  }
  function kinds2(mode, named2) {
    const counts = (
      /** @type {Map<string, number>} */
      /* @__PURE__ */ new Map()
    );
    for (const name of named2.values()) if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
    let names2 = [...counts].sort(([, left], [, right]) => right - left).map(([name]) => name);
    if (mode === "scope" && names2.length < 2) names2 = [];
    const numbers = new Map(names2.map((name, place2) => [name, Math.min(place2, MOST_KINDS - 1)]));
    const levels = new Map([...named2].flatMap(([id, name]) => numbers.has(name) ? [[id, numbers.get(name) ?? 0]] : []));
    const marks = new Map([...levels].map(([id, level]) => [id, letter(level)]));
    return {
      mode,
      palette: "tint",
      levels: (
        /** @type {Map<string, number>} */
        levels
      ),
      marks: (
        /** @type {Map<string, string>} */
        marks
      ),
      words: kindWords(names2)
    };
  }
  var letter = (level) => String.fromCharCode(65 + level);
  function kindWords(names2) {
    return names2.slice(0, MOST_KINDS).map((name, place2) => {
      const last = place2 === MOST_KINDS - 1 && names2.length > MOST_KINDS;
      return [place2, `${letter(place2)} ${last ? "others" : shorten(name, LEGEND_WORDS)}`];
    });
  }
  function scopes(shades) {
    const paths = new Map(
      [...shades].map(([id, { scope }]) => [id, (scope ?? []).map((word2) => word2.replace(/\d+/g, "#"))])
    );
    const deepest = Math.max(0, ...[...paths.values()].map((path) => path.length));
    const cut = (depth) => new Map([...paths].map(([id, path]) => [id, path.slice(0, depth).join("/")]));
    let best = cut(1);
    for (let depth = 2; depth <= deepest; depth += 1) {
      const deeper = cut(depth);
      if (new Set(deeper.values()).size > MOST_KINDS) break;
      best = deeper;
    }
    return best;
  }

  // src/pictures/svg.js
  var LEAVES = "\u2192";
  var WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]/u;
  function columns(line3) {
    return [...line3].reduce((sum2, letter2) => sum2 + (WIDE.test(letter2) ? 2 : 1), 0);
  }
  function boxSize({ lines: rows2, shape: shape2, mix = [], opens = [] }) {
    const longest = Math.max(...rows2.map(columns), 0) * CHARACTER_WIDTH + 2 * PADDING_X;
    const behind = shape2 === "stack" ? STACK_OFFSET : 0;
    return {
      width: Math.max(longest, OPENING_WIDTH * opens.length) + behind,
      height: rows2.length * LINE_HEIGHT + 2 * PADDING_Y + (mix.length ? BAR_HEIGHT + 2 : 0) + behind
    };
  }
  function writeSvg(drawing2, layout, look2, together = drawing2.nodes) {
    const modes2 = colorScales(together, look2);
    const width = Math.max(layout.width, NARROWEST) + 2 * MARGIN;
    const below2 = { left: MARGIN, top: layout.height + TITLE_HEIGHT + MARGIN, width };
    const [footer, height] = pictureFooter(drawing2, modes2, look2, below2);
    const [wide, high] = [decimal(width), decimal(height)];
    const title2 = shorten(drawing2.title, Math.trunc((width - 2 * MARGIN) / (CHARACTER_WIDTH * 14 / 12)));
    const frames = (drawing2.groups ?? []).map(
      (group, at) => (
        /** @type {[Group, Box]} */
        [group, (layout.groups ?? [])[at]]
      )
    );
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" class="xg by-opcode" role="img" data-modes="${["opcode", ...modes2.map(({ mode }) => mode)].join(" ")}" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}">`,
      `<title>${escaped(drawing2.title)}</title>`,
      `<desc>${escaped([`${drawing2.nodes.length} boxes, ${drawing2.edges.length} arrows`, ...drawing2.notes].join(". "))}</desc>`,
      `<style>${look2.css}</style>`,
      '<rect class="paper" width="100%" height="100%"/>',
      `<text class="title" x="${MARGIN}" y="19">${escaped(title2)}</text>`,
      `<g transform="translate(${decimal((width - layout.width) / 2)} ${TITLE_HEIGHT})">`,
      ...frames.map(([group, place2]) => frame(group, place2)),
      ...drawing2.edges.map((edge, at) => arrow(edge, layout.curves[at])),
      ...frames.map(([group, place2]) => frameTitle(group, place2)),
      ...drawing2.nodes.map((node2, at) => box(node2, layout.boxes[at], modes2)),
      "</g>",
      ...footer,
      "</svg>\n"
    ].join("\n");
  }
  function frame({ id, kind, state: state2 = "same", target: opened2 }, { x, y, width, height }) {
    const around = `<rect class="frame" x="${decimal(x)}" y="${decimal(y)}" rx="6" width="${decimal(width)}" height="${decimal(height)}"/>`;
    return `<g class="g g-${kind} s-${state2}" data-node="${escaped(id)}"${target(opened2)}>${around}</g>`;
  }
  function frameTitle({ title: title2, state: state2, target: opened2, opens }, { x, y, width, height }) {
    const words2 = shorten(title2, Math.max(3, Math.trunc((width - 12) / CHARACTER_WIDTH)));
    const line3 = `<text class="b" x="${decimal(x + 8)}" y="${decimal(y + 13)}">${escaped(words2)}</text>`;
    return `<g class="gt"${target(opened2)}>${line3}${stateSign(state2, x, y)}</g>${openings(opens, x + width, y + height)}`;
  }
  function target(opened2) {
    return opened2 ? ` data-target="${escaped(opened2)}"` : "";
  }
  function box(node2, place2, modes2) {
    const shading = modes2.filter(({ levels: levels2 }) => levels2.has(node2.id));
    const [width, height] = front(node2, place2);
    const levels = shading.map((scale) => ` data-${scale.mode}="${scale.levels.get(node2.id)}"`).join("");
    const marks = shading.map(
      (scale) => `<text class="mark of-${scale.mode}" x="3" y="${decimal(height + 3)}">${escaped(scale.marks.get(node2.id))}</text>`
    ).join("");
    const tooltip = node2.tooltip ? `<title>${escaped(node2.tooltip)}</title>` : "";
    return `<g class="n n-${node2.family} s-${node2.state ?? "same"}${node2.look ? ` ${node2.look}` : ""}" data-node="${escaped(node2.id)}"${target(node2.target)}${levels} transform="translate(${decimal(place2.x)} ${decimal(place2.y)})">${tooltip}${shapes(node2, width, height)}${lines(node2, width, height)}${stateSign(node2.state, 0, 0)}${openings(node2.opens, width, height)}${badge(node2.badge, width)}${marks}</g>`;
  }
  function front({ shape: shape2 }, { width, height }) {
    const behind = shape2 === "stack" ? STACK_OFFSET : 0;
    return [width - behind, height - behind];
  }
  function shapes({ shape: shape2 = "rect", mix = [] }, width, height) {
    const around = `width="${decimal(width)}" height="${decimal(height)}" rx="${shape2 === "rect" ? 2 : 7}"`;
    const behind = shape2 === "stack" ? `<rect class="box" x="${STACK_OFFSET}" y="${STACK_OFFSET}" ${around}/>` : "";
    const total = mix.reduce((sum2, [, count]) => sum2 + count, 0);
    let x = 8;
    const bar = mix.map(([family, count]) => {
      const part2 = (width - 16) * count / total;
      const piece2 = `<rect class="mix f-${family}" x="${decimal(x)}" y="${decimal(height - BAR_HEIGHT - 4)}" width="${decimal(part2)}" height="${BAR_HEIGHT}"/>`;
      x += part2;
      return piece2;
    });
    return `${behind}<rect class="box" ${around}/>${bar.join("")}`;
  }
  function lines({ lines: [name, ...rest2], mix = [] }, width, height) {
    const x = decimal(width / 2);
    const first = (height - (mix.length ? BAR_HEIGHT + 2 : 0) - (rest2.length + 1) * LINE_HEIGHT) / 2 + BASELINE;
    const spans = rest2.map((line3) => `<tspan x="${x}" dy="${LINE_HEIGHT}">${escaped(line3)}</tspan>`);
    return `<text><tspan class="b" x="${x}" y="${decimal(first)}">${escaped(name)}</tspan>${spans.join("")}</text>`;
  }
  function openings(opens, x, y) {
    return (opens ?? []).map(([opened2, words2], place2) => {
      const at = `${decimal(x - OPENING_WIDTH * place2)} ${decimal(y)}`;
      return `<g class="open"${target(opened2)} transform="translate(${at})"><title>${escaped(words2)}</title><rect x="-8" y="-8" width="12" height="12" rx="2"/><path d="M-5-2h6M-2-5v6"/></g>`;
    }).join("");
  }
  function badge(words2, right) {
    if (!words2) return "";
    const width = 6.8 * [...words2].length + 8;
    const x = right - width + 5;
    const quiet = words2 === LEAVES ? " quiet" : "";
    return `<rect class="badge${quiet}" x="${decimal(x)}" y="-8" width="${decimal(width)}" height="14" rx="7"/><text class="tag" x="${decimal(x + width / 2)}" y="2.5">${escaped(words2)}</text>`;
  }
  function arrow({ source, target: to, label, style = "normal", state: state2 = "same" }, curve2) {
    const [[startX, startY], ...rest2] = curve2;
    const [tipX, tipY] = curve2[curve2.length - 1];
    const classes = ["e", style && style !== "normal" && `e-${style}`, state2 !== "same" && `s-${state2}`].filter(Boolean).join(" ");
    const bends = rest2.map(([x, y]) => `${decimal(x)} ${decimal(y)}`).join(" ");
    const angle = direction(curve2);
    const barb = (turn) => `${decimal(tipX - HEAD_LENGTH * Math.cos(angle + turn))} ${decimal(tipY - HEAD_LENGTH * Math.sin(angle + turn))}`;
    const path = `<path class="${classes}" data-e="${source} ${to}" d="M${decimal(startX)} ${decimal(startY)}C${bends}M${barb(HEAD_ANGLE)}L${decimal(tipX)} ${decimal(tipY)}L${barb(-HEAD_ANGLE)}"/>`;
    if (!label) return path;
    const [along, across] = [Math.cos(angle), Math.sin(angle)];
    return `${path}<text class="small" x="${decimal(tipX - 10 * along + 4 * across)}" y="${decimal(tipY - 10 * across - 4 * along)}">${escaped(label)}</text>`;
  }
  function direction(curve2) {
    const [x, y] = curve2[curve2.length - 1];
    const [fromX, fromY] = curve2.findLast(([x1, y1]) => Math.hypot(x - x1, y - y1) > 1) ?? [x, y - 1];
    return Math.atan2(y - fromY, x - fromX);
  }

  // src/pictures/records.js
  function node([lines3, family, target2, id, state2, tooltip, opens, shape2, badge2, mix, shade]) {
    const [cost2, memory, sharding, scope, time] = shade || [];
    return {
      id: id || String(target2).replace(/^i=/, ""),
      lines: lines3,
      family,
      target: target2 || null,
      state: state2 || "same",
      tooltip: tooltip || "",
      opens: pairs(opens),
      shape: shape2 || "rect",
      badge: badge2 || "",
      mix: pairs(mix),
      shade: { cost: cost2, time, memory, sharding: sharding || "", scope: scope ? scope.split("\n") : [] }
    };
  }
  function known([place2, operands, badge2, shape2], graph) {
    const box3 = plainBox(graph, place2, operands || []);
    return {
      ...box3,
      ...calledPictures(graph, place2),
      id: graph.name(place2),
      target: `i=${graph.name(place2)}`,
      badge: badge2 || "",
      shape: shape2 || "rect"
    };
  }
  function pairs(flat) {
    return (flat || []).flatMap((member, place2, all) => place2 % 2 ? [] : [[member, all[place2 + 1]]]);
  }
  function readDrawing({ title: title2, nodes, edges, notes = [], groups = [], plain = false }, graph) {
    return {
      title: title2,
      notes,
      plain,
      nodes: nodes.map((row4) => graph && typeof row4[0] === "number" ? known(row4, graph) : node(row4)),
      edges: edges.map(([source = 0, target2 = 0, label, style, state2]) => ({
        source,
        target: target2,
        label: label || "",
        style: style || "normal",
        state: state2 || "same"
      })),
      groups: groups.map(([id, words2, kind, target2, state2, opens]) => ({
        id,
        title: words2,
        kind,
        target: target2 || null,
        state: state2 || "same",
        opens: pairs(opens)
      }))
    };
  }
  function recordLayout({ size, boxes = [], curves = [], frames = [] }, { nodes, edges }) {
    if (!size) {
      return layeredLayout(
        nodes.map(boxSize),
        edges.map(({ source, target: target2 }) => [source, target2])
      );
    }
    const [width, height] = size;
    return { width, height, boxes: boxes.map(placedBox), groups: frames.map(placedBox), curves: curves.map(curve) };
  }
  function ofPair(pair, shown) {
    const boxes = /* @__PURE__ */ new Map();
    const arrows = /* @__PURE__ */ new Map();
    const key = ({ nodes }, { source, target: target2, style }) => [nodes[source].id, nodes[target2].id, style].join("\n");
    for (const drawing2 of pair) {
      for (const box3 of drawing2.nodes) {
        const { width, height } = boxSize(box3);
        const other = boxes.get(box3.id) ?? { place: boxes.size, width, height };
        boxes.set(box3.id, {
          place: other.place,
          width: Math.max(width, other.width),
          height: Math.max(height, other.height)
        });
      }
      const place2 = (end) => (
        /** @type {{place: number}} */
        boxes.get(drawing2.nodes[end].id).place
      );
      for (const edge of drawing2.edges) {
        const name = key(drawing2, edge);
        if (!arrows.has(name)) arrows.set(name, { place: arrows.size, ends: [place2(edge.source), place2(edge.target)] });
      }
    }
    const whole2 = layeredLayout(
      [...boxes.values()],
      [...arrows.values()].map(({ ends }) => ends)
    );
    const taken2 = (all, name) => (
      /** @type {{place: number}} */
      all.get(name).place
    );
    return {
      ...whole2,
      boxes: shown.nodes.map(({ id }) => whole2.boxes[taken2(boxes, id)]),
      curves: shown.edges.map((edge) => whole2.curves[taken2(arrows, key(shown, edge))])
    };
  }
  var placedBox = ([x, y, width, height]) => ({ x, y, width, height });
  function curve(steps) {
    let [x, y] = [0, 0];
    return pairs(steps).map(([right, down]) => [x += right, y += down]);
  }
  async function recordSvg(records, place2, graph) {
    const look2 = await load("pictures/look");
    const drawings = records.map((record) => readDrawing(record, graph));
    const together = drawings.flatMap(({ nodes }) => nodes);
    const pair = drawings.slice(place2 - place2 % 2, place2 - place2 % 2 + 2);
    const where = records[place2].size || pair.length < 2 ? recordLayout(records[place2], drawings[place2]) : ofPair(pair, drawings[place2]);
    return writeSvg(drawings[place2], where, look2, together);
  }

  // src/pictures/levels.js
  async function loadLevels(key) {
    const {
      targets,
      titles,
      in: bundles,
      up,
      ...rest2
    } = await /** @type {Promise<Payload<"m/x/pictures">>} */
    load(key);
    const words2 = unfold(titles);
    const pictures = unfold(targets).map((target2, place2) => ({
      target: target2,
      title: words2[place2],
      in: bundles[place2],
      up: up[place2]
    }));
    return { key, pictures, ...rest2 };
  }
  var begun = /* @__PURE__ */ new WeakMap();
  async function openLevel(picture, target2) {
    const key = picture.host.dataset.levels;
    if (!key) return false;
    const levels = await loadLevels(key);
    const place2 = levels.pictures.findIndex((level) => level.target === target2);
    if (place2 < 0) {
      say(picture.host, levels.note);
      return false;
    }
    await show2(picture, levels, place2);
    return true;
  }
  async function openLevelWith(picture, name) {
    const key = picture.host.dataset.levels;
    if (!key) return null;
    const levels = await loadLevels(key);
    const [graph, runs] = await Promise.all([
      loadGraph(levels.graph),
      /** @type {Promise<Payload<"m/x/pictures-where">>} */
      load(`${key}-where`)
    ]);
    const place2 = graph.find(name);
    const shown = place2 === null ? -1 : nth(runs, place2);
    return shown < 0 ? null : show2(picture, levels, shown);
  }
  function nth(runs, place2) {
    let end = 0;
    for (let at = 0; at < runs.length; at += 2) {
      end += runs[at + 1];
      if (place2 < end) return runs[at];
    }
    return -1;
  }
  async function show2(picture, levels, place2) {
    const { host } = picture;
    const first = begun.get(host) ?? picture;
    begun.set(host, first);
    const { pictures } = levels;
    const svg = place2 ? await drawn3(levels, pictures[place2]) : first.source;
    const around = [];
    for (let { up } = pictures[place2]; up >= 0; up = pictures[up].up) around.unshift(up);
    const back = around.map(
      (outer) => element("button.xr-button", { type: "button", onclick: () => show2(picture, levels, outer) }, pictures[outer].title)
    );
    const crumbs = element(
      "nav.xr-levels",
      { "aria-label": "Enclosing graphs" },
      ...back.flatMap((button) => [button, " \u203A "]),
      element("span", { "aria-current": "true" }, pictures[place2].title)
    );
    host.replaceChildren();
    const opened2 = new Picture(host, place2 ? `${first.key}-${place2}` : first.key, svg, picture.openers);
    if (back.length) host.prepend(crumbs);
    opened2.canvas.focus({ preventScroll: true });
    return opened2;
  }
  async function drawn3({ key, graph: known4 }, { in: bundle, target: target2 }) {
    const [{ pictures }, graph] = await Promise.all([
      /** @type {Promise<Payload<"m/x/pictures-0">>} */
      load(`${key}-${bundle}`),
      loadGraph(known4)
    ]);
    return recordSvg(pictures[target2], 0, graph);
  }
  function say(host, words2) {
    if (!words2) return;
    host.querySelector(".xr-levels-note")?.remove();
    host.append(element("p.xr-levels-note", { role: "status" }, ...prose(words2)));
  }

  // src/pictures/details.js
  var LISTED = 12;
  var BESIDE = 760;
  async function openDetails(picture, box3, target2) {
    if (!target2.startsWith("i=") && await openLevel(picture, target2)) return;
    const name = target2.startsWith("i=") ? target2.slice(2) : box3.getAttribute("data-node") ?? target2.slice(2);
    const panel = element("section.xr-details", { "aria-label": `Details of ${name}`, tabindex: -1 });
    const close = () => {
      panel.remove();
      box3.focus({ preventScroll: true });
    };
    panel.addEventListener("keydown", (event) => event.key === "Escape" && (event.stopPropagation(), close()));
    picture.host.querySelector(".xr-details")?.remove();
    picture.host.classList.toggle("xr-beside", picture.host.clientWidth > BESIDE);
    picture.canvas.after(panel);
    panel.append(
      head(name, close, exploring(picture.host, name)),
      ways(picture, box3, name),
      ...await facts(picture, box3, name)
    );
    panel.focus({ preventScroll: true });
    const moved = () => requestAnimationFrame(() => picture.reveal(box3));
    if (picture.host.classList.contains("xr-beside")) requestAnimationFrame(moved);
    const place2 = panel.getBoundingClientRect();
    if (place2.bottom > innerHeight || place2.top < 0) panel.scrollIntoView({ block: "nearest" });
  }
  function head(name, close, around) {
    const status = element("span.xr-muted", { role: "status" });
    const code = element("code", null, `%${name.replace(/^%/, "")}`);
    return element(
      "header",
      null,
      element("h3", null, code),
      element(
        "div.xr-details-tools",
        null,
        copier("Copy name", () => name, code, status),
        around && copier("Copy link", () => shareableAddress(around), code, status),
        element("button.xr-button", { type: "button", onclick: close }, "Close"),
        status
      )
    );
  }
  function copier(words2, text, shown, status) {
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(text());
        status.textContent = "copied";
      } catch {
        getSelection()?.selectAllChildren(shown);
        status.textContent = "selected: copy it with Ctrl+C";
      }
    };
    return element("button.xr-button", { type: "button", onclick: copy }, words2);
  }
  function ways(picture, box3, name) {
    const around = exploring(picture.host, name);
    const marks = [...box3.querySelectorAll("[data-target]")].map((mark2) => {
      const target2 = mark2.getAttribute("data-target") ?? "";
      const words2 = mark2.querySelector("title")?.textContent ?? target2.slice(2);
      return element("button.xr-button", { type: "button", onclick: () => openLevel(picture, target2) }, `Open ${words2}`);
    });
    return element(
      "p.xr-onward",
      null,
      around && element("a.xr-around", { href: around }, "Neighborhood"),
      document.querySelector("[data-xr-history]") && element("a.xr-ask", { href: `#i=${encodeURIComponent(name)}` }, "History"),
      timelineLink(picture.host, box3, name),
      inText(picture.host, name),
      ...marks
    );
  }
  function timelineLink(host, box3, name) {
    const [computation, rest2] = (box3.getAttribute("data-node") ?? "").split("/%");
    if (!page(host) || rest2 === void 0) return null;
    const asked2 = new URLSearchParams({ computation, frame: state.get("step") ?? "", watch: name });
    return element("a", { href: `${page(host)}#${asked2}` }, "Neighborhood in every step");
  }
  function inText({ dataset: { side = "" }, parentElement }, name) {
    const text = (
      /** @type {HTMLElement | null} */
      parentElement?.closest(`[data-text-${side || "none"}]`)?.dataset[side === "before" ? "textBefore" : "textAfter"]
    );
    return text ? element("a", { href: `${text}&name=${encodeURIComponent(name)}` }, "In the HLO text") : null;
  }
  function exploring(host, name) {
    const here = (
      /** @type {HTMLElement | null} */
      document.querySelector("[data-xr-graph]")
    );
    if (!here && !page(host)) return null;
    const asked2 = new URLSearchParams({ node: name });
    const [step, at] = [here && state.get("step"), snapshot(host, here)];
    if (step) asked2.set("step", step);
    if (at) asked2.set("at", at);
    return `${here ? "" : page(host)}#${asked2}`;
  }
  function snapshot(host, here) {
    const { side } = host.dataset;
    const around = (
      /** @type {HTMLElement | null} */
      host.closest("[data-at-after]")
    );
    if (side && around) return side === "before" ? around.dataset.atBefore : around.dataset.atAfter;
    const graph = (
      /** @type {HTMLElement | null} */
      host.closest("[data-graph]")?.dataset.graph
    );
    return graph && graph === here?.dataset.first ? "first" : graph?.split("@")[1];
  }
  function page(host) {
    return (
      /** @type {HTMLElement | null} */
      host.closest("[data-explore]")?.dataset.explore
    );
  }
  async function facts(picture, box3, name) {
    const key = (
      /** @type {HTMLElement | null} */
      picture.host.closest("[data-graph]")?.dataset.graph
    );
    if (!key) return tooltipFacts(box3);
    try {
      const graph = await loadSnapshotGraph(key);
      const place2 = graph.find(box3.getAttribute("data-node") ?? "") ?? graph.find(name);
      return place2 === null ? tooltipFacts(box3) : await known2(graph, key, place2);
    } catch (error) {
      return [...tooltipFacts(box3), failure(errorMessage(error))];
    }
  }
  function tooltipFacts(box3) {
    const lines3 = (box3.querySelector("title")?.textContent ?? "").split("\n").filter(Boolean);
    if (!lines3.length) return [element("p.xr-empty", null, box3.getAttribute("aria-label") ?? "")];
    return [element("ul.xr-told", null, ...lines3.map((fact) => element("li", null, element("code", null, fact))))];
  }
  async function row(graph, key, place2) {
    if (!graph.index.piece) return [[], graph.shape(place2), graph.shade(place2).scope.join("/"), "", null, null, ""];
    const { lines: lines3, shapes: shapes2, scopes: scopes2, sources, figures: figures2, times, module } = await piece(
      `${key}-${Math.floor(place2 / graph.index.piece)}`
    );
    const at = place2 % graph.index.piece;
    const value = ([values3, numbers]) => values3[numbers[at]];
    return [
      lines3[at],
      value(shapes2),
      value(scopes2),
      value(sources),
      value(figures2),
      times ? value(times) : null,
      module ?? ""
    ];
  }
  var pieces = /* @__PURE__ */ new Map();
  function piece(key) {
    return once(
      pieces,
      key,
      () => (
        /** @type {Promise<Payload<"m/x/graph-0">>} */
        load(key).then(({ lines: [lengths, parts], ...rest2 }) => ({
          ...rest2,
          lines: splitRows([lengths, unfold(parts)])
        }))
      )
    );
  }
  async function known2(graph, key, place2) {
    const [parts, shape2, scope, source, figures2, times, module] = await row(graph, key, place2);
    const attributes = parts.slice(1).filter((part2) => !part2.startsWith("metadata="));
    const pairs2 = (
      /** @type {[string, Node | string | null][]} */
      [
        ["opcode", `${graph.opcode(place2)} ${graph.kind(place2)}`.trim()],
        ["shape and layout", shape2],
        ["cost", cost(figures2)],
        ["measured", measured(times)],
        ["in Perfetto or XProf", traced(graph.name(place2), module, times)],
        ["scope", scope],
        ["source", source],
        ["computation", standing(graph, place2)],
        ["operands", names(graph, [...new Set(graph.operands(place2).map((operand) => operand.place))])],
        ["used by", names(graph, [...graph.users(place2)])],
        ["runs after", names(graph, graph.controls(place2))],
        ["calls", called2(graph, place2)],
        [
          "attributes",
          attributes.length ? element("ul", null, ...attributes.map((part2) => element("li", null, element("code", null, part2)))) : null
        ],
        ["line", parts.length || graph.index.text ? line(graph, key, place2, parts) : null]
      ]
    );
    const rows2 = pairs2.filter(([, value]) => value).map(([title2, value]) => element("div", null, element("dt", null, title2), element("dd", null, value ?? "")));
    return [element("dl", null, ...rows2)];
  }
  function cost(figures2) {
    if (!figures2) return null;
    const [flops, bytes, runs, grade] = figures2;
    const shown = (value, words3) => value === null ? "not known" : words3(value);
    const words2 = `${shown(flops, format.flops)}, ${shown(bytes, format.bytes)} accessed, in one run; runs ${runs === null ? "an unknown number of times" : runs === 1 ? "once" : format.plural(runs, "time")} `;
    return element("span", null, words2, gradeChip(grade));
  }
  function measured(times) {
    if (!times) return null;
    const [count, total, own2, mean2, part2] = times;
    const inside = own2 < total ? ` (${format.seconds(own2)} without what ran inside of it)` : "";
    const share = part2 === null ? "" : `; ${format.percent(part2)} of the time of all runs`;
    return `ran ${count === 1 ? "once" : format.plural(count, "time")}, ${format.seconds(total)} in total${inside}, ${format.seconds(mean2)} on average${share}`;
  }
  function traced(name, module, times) {
    if (!times) return null;
    const stamp = times[5].toLocaleString("en", { maximumFractionDigits: 3 });
    return element(
      "span",
      null,
      "search for ",
      element("code", null, name),
      " of module ",
      element("code", null, module),
      `; it began first at ${stamp} \xB5s`
    );
  }
  function standing(graph, place2) {
    const callers = graph.callers.get(graph.inside[place2]) ?? [];
    const code = element("code", null, graph.computation(place2));
    return element("span", null, code, callers.length > 0 && " called by ", callers.length > 0 && names(graph, callers));
  }
  function called2(graph, place2) {
    const all = graph.calls(place2).map(([attribute, computation]) => {
      const root2 = graph.root(computation);
      return element(
        "li",
        null,
        `${attribute} `,
        element("code", null, graph.index.computations[computation][0]),
        root2 !== null && " which ends in ",
        root2 !== null && link(graph, root2)
      );
    });
    return all.length ? element("ul", null, ...all) : null;
  }
  function link(graph, place2) {
    return element(
      "a.xr-around",
      { href: `#node=${encodeURIComponent(graph.address(place2))}` },
      element("code", null, `%${graph.name(place2)}`)
    );
  }
  function names(graph, places2) {
    if (!places2.length) return null;
    const shown = places2.slice(0, LISTED).flatMap((place2, at) => [at ? ", " : "", link(graph, place2)]);
    const more = places2.length - LISTED;
    return element("span", null, ...shown, more > 0 && ` and ${format.count(more)} more`);
  }
  function line(graph, key, place2, parts) {
    const { text, label } = graph.index;
    const address3 = modulePageBeside(
      key.replace(/\/(graph|versions)[^/]*$/, ""),
      "texts",
      placeOf({ text: text ?? "", name: graph.name(place2) })
    );
    return element(
      "div",
      null,
      parts.length > 0 && element(
        "pre.xr-line-whole",
        { tabindex: 0, role: "region", "aria-label": "The line" },
        element("code", null, parts.join(", "))
      ),
      text && element("a", { href: insideReport(address3) }, `In the HLO text of ${label}`)
    );
  }

  // src/pictures/interactive.js
  var REST2 = 150;
  var LATEST = 1e3;
  var interactivePicture = (host, key, svg) => new Picture(host, key, svg, { open: openDetails, openWith: openLevelWith });
  function waitUntilNear(host) {
    return new Promise((resolve) => {
      const observer = new IntersectionObserver(
        (entries) => {
          if (!entries.some((entry) => entry.isIntersecting)) return;
          observer.disconnect();
          resolve();
        },
        { rootMargin: "600px" }
      );
      observer.observe(host);
    });
  }
  function rest() {
    return new Promise((resolve) => {
      if ("requestIdleCallback" in window) requestIdleCallback(resolve, { timeout: LATEST });
      else setTimeout(resolve, REST2);
    });
  }
  async function drawPicture(host, key) {
    await waitUntilNear(host);
    const { pictures } = await /** @type {Promise<Payload<"m/x/picture">>} */
    load(key);
    await rest();
    if (!host.isConnected) return;
    const { name, drawing: drawing2 = 0 } = host.dataset;
    const svg = await recordSvg(Array.isArray(pictures) ? pictures : pictures[name ?? ""], Number(drawing2));
    interactivePicture(host, name ? `${key}-${name}` : key, svg);
  }

  // src/graphs/frames.js
  var MOST_NEAR = 60;
  var MOST = 200;
  var RADIUS = 2;
  function snapshotView(table, name, stage, watched) {
    const part2 = computationAt(table, stage, { name, number: -1 });
    const { instructions, rows: rows2 } = part2;
    const places2 = new Map(instructions.map((instruction2, place2) => [instruction2, place2]));
    const graph = assembleGraph([{ ...part2, does: name }], { label: "", text: null, complete: true });
    const watchedPlace = watched === null ? void 0 : places2.get(watched);
    return { view: new View(graph, watchedPlace === void 0 ? [] : [watchedPlace]), instructions, versions: rows2 };
  }
  function near({ view, instructions }, watched) {
    const all = [...instructions.keys()];
    if (watched === null) return all.filter((place2) => view.hasBox(place2));
    const start = instructions.indexOf(watched);
    return start < 0 ? [] : [...neighborhood(view, start, { up: true, down: true, radius: RADIUS, most: MOST_NEAR }).places.keys()];
  }
  function frame2({ view, instructions, versions }, shown) {
    const there = new Set(shown);
    const nodes = new Map(
      shown.map((place2) => [
        instructions[place2],
        { ...drawnBox(view, place2), instruction: instructions[place2], id: `instruction ${instructions[place2]}` }
      ])
    );
    const arrows = shown.flatMap((place2) => view.arriving(place2)).filter(({ source }) => there.has(source));
    const ends = arrows.map(({ source, target: target2, label, style }) => ({
      source: instructions[source],
      target: instructions[target2],
      label,
      style
    }));
    return {
      nodes,
      arrows: new Map(ends.map((arrow2) => [`${arrow2.source} ${arrow2.target}`, arrow2])),
      version: new Map(shown.map((place2) => [instructions[place2], versions[place2]]))
    };
  }
  var Frames = class {
    /**
     * @param {VersionTable} table
     * @param {Title} title
     * @param {string} watch a name, or empty for what changes most often
     */
    constructor(table, [name, frames, , most], watch) {
      this.table = table;
      this.name = name;
      this.versions = /* @__PURE__ */ new Map();
      for (const [at, [instruction2]] of table.versions.entries()) {
        this.versions.set(instruction2, [...this.versions.get(instruction2) ?? [], at]);
      }
      this.stages = frames;
      this.left = 0;
      this.size = { width: 0, height: 0 };
      this.boxes = /* @__PURE__ */ new Map();
      this.curves = /* @__PURE__ */ new Map();
      this.watched = watch || most > MOST ? this.named(watch) : null;
      const views = frames.map((stage) => snapshotView(table, name, stage, this.watched));
      const shown = views.map((view) => near(view, this.watched));
      const chosen = this.chosen(views, shown);
      this.frames = views.map(
        (view, at) => frame2(
          view,
          shown[at].filter((place2) => chosen.has(view.instructions[place2]))
        )
      );
      this.cut();
      this.place(chosen);
    }
    /** Leaves out the steps in which nothing of what is shown is there or differs. */
    cut() {
      const words2 = this.frames.map(
        ({ version, arrows }) => version.size ? JSON.stringify([[...version].sort(([left], [right]) => left - right), [...arrows.keys()].sort()]) : null
      );
      const differs = words2.map((description, at) => description !== null && description !== words2[at - 1]);
      this.frames = this.frames.filter((_, at) => differs[at]);
      this.stages = this.stages.filter((_, at) => differs[at]);
    }
    /**
     * @param {string} wanted
     * @returns {number} the instruction that had a name last, -1 where none did; for no name the one with the most versions
     */
    named(wanted2) {
      const bare2 = wanted2.replace(/^%/, "");
      const named2 = this.table.names.lastIndexOf(bare2);
      if (bare2) return named2 < 0 ? -1 : this.table.versions[named2][0];
      const counts = /* @__PURE__ */ new Map();
      const dull = new Set(
        this.table.looks.flatMap(
          ([opcode], at) => /^(parameter|constant|tuple|get-tuple-element)$/.test(opcode) ? [at] : []
        )
      );
      const last = Math.max(...this.stages);
      const lasting = new Set(
        this.table.versions.filter(([, , end], at) => end > last && !dull.has(this.table.look[at])).map(([instruction2]) => instruction2)
      );
      for (const [instruction2] of this.table.versions) {
        if (lasting.has(instruction2)) counts.set(instruction2, (counts.get(instruction2) ?? 0) + 1);
      }
      return [...counts].reduce((best, candidate) => candidate[1] > best[1] ? candidate : best, [-1, 0])[0];
    }
    /**
     * Keeps the instructions that are shown in most frames, where there are too many.
     * @param {SnapshotView[]} views
     * @param {number[][]} shown
     * @returns {Set<number>}
     */
    chosen(views, shown) {
      const counts = (
        /** @type {Map<number, number>} */
        /* @__PURE__ */ new Map()
      );
      for (const [at, { instructions }] of views.entries()) {
        for (const place2 of shown[at]) counts.set(instructions[place2], (counts.get(instructions[place2]) ?? 0) + 1);
      }
      if (this.watched !== null) counts.set(this.watched, Infinity);
      const heaviest = [...counts].sort(([, left], [, right]) => right - left).slice(0, MOST);
      this.left = counts.size - heaviest.length;
      return new Set(heaviest.map(([instruction2]) => instruction2));
    }
    /**
     * @param {number} instruction
     * @param {number} stage
     * @returns {number | null} its version in a snapshot, null where that does not have it
     */
    versionAt(instruction2, stage) {
      const version = (this.versions.get(instruction2) ?? []).find(
        (at) => this.table.versions[at][1] <= stage && stage < this.table.versions[at][2]
      );
      return version ?? null;
    }
    /** @param {Set<number>} chosen instructions; all of them are laid out at once */
    place(chosen) {
      const instructions = [...chosen].sort((left, right) => left - right);
      const positions = new Map(instructions.map((instruction2, position) => [instruction2, position]));
      const sizes2 = instructions.map((instruction2) => {
        const all = this.frames.flatMap(({ nodes }) => nodes.get(instruction2) ?? []).map(boxSize);
        return {
          width: Math.max(0, ...all.map(({ width }) => width)),
          height: Math.max(0, ...all.map(({ height }) => height))
        };
      });
      const arrows = [...new Set(this.frames.flatMap((shown) => [...shown.arrows.keys()]))];
      const ends = arrows.map(
        (key) => (
          /** @type {[number, number]} */
          key.split(" ").map((instruction2) => positions.get(Number(instruction2)) ?? 0)
        )
      );
      const layout = layeredLayout(sizes2, ends);
      this.size = { width: layout.width, height: layout.height };
      this.boxes = new Map(instructions.map((instruction2, position) => [instruction2, layout.boxes[position]]));
      this.curves = new Map(arrows.map((key, number) => [key, layout.curves[number]]));
    }
    /**
     * @param {number} at a frame
     * @param {string} label
     * @returns {{drawing: import("../pictures/svg.js").Drawing, layout: import("../pictures/layout.js").Layout, counts: Record<string, number>}}
     */
    drawn(at, label) {
      const [now, before] = [this.frames[at], this.frames[at - 1]];
      const [stage, earlier] = [this.stages[at], this.stages[at - 1] ?? this.stages[at]];
      const counts = { added: 0, removed: 0, changed: 0 };
      const nodes = [...now.nodes.values()].map((node2) => {
        const version = now.version.get(node2.instruction) ?? -1;
        const former = this.versionAt(node2.instruction, earlier);
        const change = former === null ? "added" : former === version ? "same" : "changed";
        if (change !== "same") counts[change] += 1;
        return { ...node2, state: change, look: node2.instruction === this.watched ? "focus" : "" };
      });
      for (const instruction2 of before?.nodes.keys() ?? []) {
        if (this.versionAt(instruction2, stage) === null) counts.removed += 1;
      }
      const positions = new Map([...now.nodes.keys()].map((instruction2, position) => [instruction2, position]));
      const edges = [...now.arrows].map(([key, { source, target: target2, label: words2, style }]) => ({
        key,
        source: positions.get(source) ?? 0,
        target: positions.get(target2) ?? 0,
        label: words2,
        style
      }));
      const notes = this.left ? [`Left out: ${format.plural(this.left, "instruction")} seen in few steps.`] : [];
      const layout = {
        ...this.size,
        boxes: nodes.map(
          ({ instruction: instruction2 }) => (
            /** @type {import("../pictures/layout.js").Box} */
            this.boxes.get(instruction2)
          )
        ),
        curves: edges.map(({ key }) => (
          /** @type {import("../pictures/layout.js").Point[]} */
          this.curves.get(key)
        ))
      };
      return { drawing: { title: `${this.name}, ${label}`, nodes, edges, notes }, layout, counts };
    }
  };

  // src/graphs/computation_timeline.js
  var FADE = 700;
  var ComputationTimeline = class {
    /**
     * @param {HTMLElement} host
     * @param {string} key
     * @param {Index} index
     */
    constructor(host, key, index) {
      this.key = key;
      this.index = index;
      this.steps = host.dataset.steps ?? "";
      this.at = 0;
      this.unknown = "";
      this.choice = element(
        "select",
        { id: "xr-computations-computation", onchange: () => this.choose() },
        ...index.timelines.map(
          ([name, frames], number) => element("option", { value: number }, `${name}, ${format.plural(frames.length, "step")}`)
        )
      );
      this.watch = element("input", {
        id: "xr-computations-watch",
        type: "search",
        placeholder: "any name it ever had",
        onchange: () => this.choose(),
        autocomplete: "off",
        spellcheck: "false"
      });
      this.slider = element("input.xr-computations-slider", {
        type: "range",
        min: 0,
        value: 0,
        "aria-label": "Step of the computation timeline",
        oninput: () => this.show(Number(this.slider.value))
      });
      this.status = element("p.xr-computations-step", { role: "status" });
      this.figure = element("figure.xr-picture", { "data-alt": "Timeline of a computation" });
      host.replaceChildren(...this.parts());
      bindKey(",", "Computation timeline: previous step", () => this.show(this.at - 1));
      bindKey(".", "Computation timeline: next step", () => this.show(this.at + 1));
      window.addEventListener("hashchange", () => state.get("computation") && this.open());
      this.open();
      if (state.get("computation")) host.scrollIntoView({ block: "start" });
    }
    /** @returns {HTMLElement[]} the form, the slider and what they change */
    parts() {
      const move = (way2, words2, letter2) => element(
        "button.xr-button",
        { type: "button", onclick: () => this.show(this.at + way2) },
        words2,
        " ",
        element("kbd", null, letter2)
      );
      const part2 = (words2, input) => element("div", null, element("label", { for: input.id }, words2), input);
      const more = this.index.others ? element(
        "p.xr-muted",
        null,
        `${format.plural(this.index.others, "more computation")} changed, with fewer steps or too many instructions for a timeline.`
      ) : null;
      return [
        element("div.xr-explore-form", null, part2("Computation", this.choice), part2("Track an instruction", this.watch)),
        element("div.xr-computations-bar", null, move(-1, "Earlier", ","), this.slider, move(1, "Later", ".")),
        this.status,
        this.figure,
        ...more ? [more] : []
      ];
    }
    /** Opens the computation that the address names. */
    open() {
      const wanted2 = state.get("computation") ?? "";
      const named2 = this.index.timelines.findIndex(([name]) => name === wanted2);
      this.unknown = named2 < 0 ? wanted2 : "";
      this.choice.value = String(Math.max(0, named2));
      this.watch.value = state.get("watch") ?? "";
      return this.load(state.get("frame"));
    }
    choose() {
      this.unknown = "";
      state.set({
        computation: this.index.timelines[Number(this.choice.value)][0],
        watch: this.watch.value.trim(),
        frame: null
      });
      return this.load(null);
    }
    /** @param {string | null} wanted the key of a snapshot */
    async load(wanted2) {
      const number = Number(this.choice.value);
      const versions = readVersions(
        await /** @type {Promise<Payload<"m/x/versions-0">>} */
        load(`${this.key}-${number}`)
      );
      this.frames = new Frames(versions, this.index.timelines[number], this.watch.value.trim());
      this.picture = null;
      this.slider.max = String(this.frames.stages.length - 1);
      if (!this.frames.stages.length) return this.nothing();
      const stage = this.unknown ? -1 : this.index.stages.findIndex(([key]) => key === wanted2);
      const last = this.frames.stages.findLastIndex((snapshot2) => stage < 0 || snapshot2 <= stage);
      return this.show(Math.max(0, last), stage < 0);
    }
    nothing() {
      this.frames = null;
      this.figure.replaceChildren();
      this.status.textContent = `No instruction of this computation was ever called %${this.watch.value.trim().replace(/^%/, "")}.`;
    }
    /**
     * @param {number} wanted
     * @param {boolean} [quiet] whether the address stays as it is
     */
    async show(wanted2, quiet = false) {
      if (!this.frames) return;
      const look2 = await load("pictures/look");
      this.at = Math.min(Math.max(0, wanted2), this.frames.stages.length - 1);
      const [key, label] = this.index.stages[this.frames.stages[this.at]];
      const { drawing: drawing2, layout, counts } = this.frames.drawn(this.at, label);
      this.slider.value = String(this.at);
      this.slider.setAttribute("aria-valuetext", label);
      if (!quiet) this.unknown = "";
      if (!quiet) state.set({ computation: this.frames.name, frame: key });
      this.play(writeSvg(drawing2, layout, look2));
      const changes = this.at ? `${counts.added} new, ${counts.removed} gone, ${counts.changed} changed among the nodes shown.` : "First version.";
      const warning = this.unknown ? [element("strong", null, `No timeline for computation ${this.unknown}; showing ${this.frames.name}.`), " "] : [];
      this.status.replaceChildren(
        ...warning,
        element("a", { href: `${this.steps}#step=${encodeURIComponent(key)}` }, label),
        ` (${format.count(this.at + 1)} of ${format.count(this.frames.stages.length)}). ${changes}`
      );
    }
    /** @param {string} svg the next frame */
    play(svg) {
      if (!this.picture) {
        this.figure.replaceChildren();
        this.picture = interactivePicture(this.figure, "computation-timeline", svg);
        requestAnimationFrame(() => this.picture?.showFocus());
        return;
      }
      const { picture } = this;
      const former = picture.exchange(svg);
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
      fade(former, picture.svg);
    }
  };
  function fade(before, after) {
    const here = new Map([...after.querySelectorAll("g.n")].map((box3) => [box3.getAttribute("data-node"), box3]));
    const there = new Map([...before.querySelectorAll("g.n")].map((box3) => [box3.getAttribute("data-node"), box3]));
    for (const [life, box3] of here) if (!there.has(life)) box3.classList.add("xr-born");
    const drawn5 = new Set([...before.querySelectorAll("[data-e]")].map((arrow2) => arrow2.getAttribute("d")));
    const paths = new Set([...after.querySelectorAll("[data-e]")].map((arrow2) => arrow2.getAttribute("d")));
    for (const arrow2 of after.querySelectorAll("[data-e]")) {
      if (!drawn5.has(arrow2.getAttribute("d"))) arrow2.classList.add("xr-born");
    }
    const gone = [
      ...[...there].filter(([life]) => !here.has(life)).map(([, box3]) => box3),
      ...[...before.querySelectorAll("path[data-e]")].filter((arrow2) => !paths.has(arrow2.getAttribute("d")))
    ];
    const stage = after.querySelector(":scope > g[transform]");
    for (const shape2 of gone) {
      shape2.removeAttribute("data-e");
      shape2.removeAttribute("data-target");
      shape2.removeAttribute("role");
      shape2.setAttribute("class", `${shape2.getAttribute("class")} xr-dying`);
      shape2.setAttribute("aria-hidden", "true");
      stage?.append(shape2);
      setTimeout(() => shape2.remove(), FADE);
    }
  }
  async function drawComputationTimelines(host, key) {
    if (!state.get("computation")) await waitUntilNear(host);
    const index = await /** @type {Promise<Payload<"m/x/versions">>} */
    load(key);
    if (index.timelines.length) new ComputationTimeline(host, key, index);
    else {
      host.append(
        element("p.xr-empty", null, "No computation of three or more instructions differs between two of its snapshots.")
      );
    }
  }

  // src/graphs/explorer.js
  var MOST2 = 150;
  var SUGGESTED = 12;
  var RADII = [1, 2, 3, 4, 6, 8];
  var SHOWS = (
    /** @type {Record<string, string>} */
    {
      around: "neighborhood",
      producers: "operands (transitive)",
      consumers: "users (transitive)",
      path: "path to another"
    }
  );
  function wanted(usual) {
    const show5 = state.get("show") ?? "around";
    const radius = Number(state.get("radius"));
    return {
      node: state.get("node") ?? "",
      show: show5 in SHOWS ? show5 : "around",
      radius: RADII.includes(radius) ? radius : 2,
      to: state.get("to") ?? "",
      at: state.get("at") || usual
    };
  }
  function drawing(view, places2, arrows, focus, { title: title2, notes }) {
    const positions = new Map(places2.map((place2, position) => [place2, position]));
    const edges = arrows.map(({ source, target: target2, label, style }) => ({
      source: positions.get(source) ?? 0,
      target: positions.get(target2) ?? 0,
      label,
      style
    }));
    return {
      title: title2,
      notes,
      nodes: places2.map((place2) => ({ ...drawnBox(view, place2), look: focus.has(place2) ? "focus" : "" })),
      edges
    };
  }
  function near2(graph, start, { show: show5, radius }) {
    const view = new View(graph, [start]);
    const how = { up: show5 !== "consumers", down: show5 !== "producers", radius, most: MOST2 };
    const { places: places2, more, hubs } = neighborhood(view, start, how);
    const shown = [...places2.keys()].sort((left, right) => left - right);
    const arrows = shown.flatMap((place2) => view.arriving(place2)).filter(({ source }) => places2.has(source));
    const notes = [
      more > 0 && `Left out: ${format.plural(more, "more instruction")} at the same distance; the nearest ${MOST2} are drawn.`,
      hubs > 0 && `Not followed: ${format.plural(hubs, "instruction")} with very many users or operands.`,
      "Constants are named in the nodes of their users."
    ];
    const title2 = `%${graph.name(start)}: ${SHOWS[show5]}, ${format.plural(radius, "step")}`;
    const summary2 = `${format.plural(shown.length, "instruction")}, ${format.plural(arrows.length, "arrow")}, in ${graph.computation(start)}.${more ? ` ${format.count(more)} more are left out.` : ""}`;
    return {
      drawing: drawing(view, shown, arrows, /* @__PURE__ */ new Set([start]), {
        title: title2,
        notes: (
          /** @type {string[]} */
          notes.filter(Boolean)
        )
      }),
      summary: summary2
    };
  }
  function way(graph, from, to) {
    const view = new View(graph, [from, to]);
    const names2 = [`%${graph.name(from)}`, `%${graph.name(to)}`];
    const there = shortestPath(view, from, to);
    const hops = there ?? shortestPath(view, to, from);
    if (!hops) return { drawing: null, summary: `No path between ${names2[0]} and ${names2[1]}.` };
    const [first, last] = there ? names2 : names2.reverse();
    const arrows = hops.length > MOST2 ? [...hops.slice(0, MOST2 / 2), ...hops.slice(-MOST2 / 2)] : hops;
    const places2 = [.../* @__PURE__ */ new Set([there ? from : to, ...arrows.flatMap(({ source, target: target2 }) => [source, target2])])];
    const summary2 = `A shortest way from ${first} to ${last}: ${format.plural(hops.length, "step")}.`;
    const notes = hops.length > arrows.length ? [`Left out: ${format.plural(hops.length - arrows.length, "step")} in the middle.`] : [];
    return { drawing: drawing(view, places2, arrows, /* @__PURE__ */ new Set([from, to]), { title: summary2, notes }), summary: summary2 };
  }
  function labeled(words2, input, ...rest2) {
    input.id = `xr-explore-${words2.toLowerCase()}`;
    return element("div", null, element("label", { for: input.id }, words2), input, ...rest2);
  }
  var Explorer = class {
    /**
     * @param {HTMLElement} host
     * @param {string} key of the graph's index
     */
    constructor(host, key) {
      this.host = host;
      this.key = key;
      this.node = this.field("Instruction", "node");
      this.to = this.field("To", "to");
      this.show = this.choice("Show", Object.entries(SHOWS));
      this.radius = this.choice(
        "Within",
        RADII.map((radius) => [String(radius), format.plural(radius, "step")])
      );
      this.first = host.dataset.first ?? "";
      this.timelines = host.dataset.computations ?? "";
      this.at = this.choice("Snapshot", [["last", "final"], ...this.first ? [["first", "first"]] : []]);
      this.at.part.hidden = !this.first && !this.timelines;
      this.listed = null;
      this.at.input.addEventListener("focus", () => this.list());
      this.status = element("p.xr-muted", { role: "status" });
      this.figure = element("figure.xr-picture", { hidden: true });
      this.form = element(
        "form.xr-explore-form",
        null,
        this.node.part,
        this.at.part,
        this.show.part,
        this.radius.part,
        this.to.part,
        element("button.xr-button", { type: "submit" }, "Draw")
      );
      this.form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.ask();
      });
      host.replaceChildren(this.form, this.status, this.figure);
      this.drawn = "";
      document.addEventListener("click", (event) => this.clicked(event));
      window.addEventListener("hashchange", () => this.answer(true));
      this.answer(false);
    }
    /**
     * @param {string} at
     * @returns {Promise<Graph>} that of a snapshot
     */
    graph(at) {
      const between = at !== "last" && at !== "first" && this.timelines;
      const key = between ? `${this.timelines}@${at}` : at === "first" && this.first ? this.first : this.key;
      this.host.dataset.graph = key;
      return loadSnapshotGraph(key);
    }
    /** Lists the snapshots between the first and the last. */
    list() {
      if (!this.timelines) return Promise.resolve();
      this.listed ??= /** @type {Promise<Payload<"m/x/versions">>} */
      load(this.timelines).then(({ stages }) => {
        const between = stages.slice(1, -1).map(([key, label]) => element("option", { value: key }, label));
        this.at.input.append(element("optgroup", { label: "Snapshots in between" }, ...between));
      });
      return this.listed;
    }
    /** @returns {string} the snapshot that is meant where the address names none: that of the step which is shown */
    usual() {
      return this.host.dataset.computations && document.querySelector("[data-xr-steps]") && state.get("step") || "last";
    }
    /**
     * @param {string} words
     * @param {string} name
     */
    field(words2, name) {
      const list2 = element("datalist", { id: `xr-explore-names-${name}` });
      const input = element("input", {
        type: "search",
        list: list2.id,
        placeholder: "name or opcode",
        autocomplete: "off",
        spellcheck: "false"
      });
      input.addEventListener("input", () => this.suggest(input, list2));
      input.addEventListener("change", () => this.ask());
      return { input, part: labeled(words2, input, list2) };
    }
    /**
     * @param {string} words
     * @param {string[][]} options
     */
    choice(words2, options) {
      const input = element("select", null, ...options.map(([value, label]) => element("option", { value }, label)));
      input.addEventListener("change", () => this.ask());
      return { input, part: labeled(words2, input) };
    }
    /**
     * @param {HTMLInputElement} input
     * @param {HTMLElement} list
     */
    async suggest(input, list2) {
      const graph = await this.graph(this.at.input.value);
      const places2 = graph.search(input.value, SUGGESTED);
      list2.replaceChildren(
        ...places2.map(
          (place2) => element("option", { value: graph.address(place2) }, `${graph.opcode(place2)} ${graph.shape(place2)}`)
        )
      );
    }
    /** Puts what the form says into the address, and answers it. */
    ask() {
      state.set({
        node: this.node.input.value.trim(),
        show: this.show.input.value,
        radius: this.radius.input.value,
        to: this.show.input.value === "path" ? this.to.input.value.trim() : null,
        at: this.at.input.value === this.usual() ? null : this.at.input.value
      });
      this.answer(false);
    }
    /** @param {MouseEvent} event a click on a link to an instruction keeps the rest of the address */
    clicked(event) {
      const link2 = event.target instanceof Element ? event.target.closest("a.xr-around") : null;
      if (!link2 || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const asked2 = new URLSearchParams((link2.getAttribute("href") ?? "").slice(1));
      const inside = this.host.contains(link2) ? state.get("at") : null;
      state.set({ node: asked2.get("node"), show: null, to: null, at: asked2.get("at") ?? inside });
      this.answer(true);
    }
    /** @param {boolean} follow whether to bring the picture into sight */
    async answer(follow) {
      const asked2 = wanted(this.usual());
      if (asked2.at !== "last" && asked2.at !== "first") await this.list();
      this.node.input.value = asked2.node;
      this.to.input.value = asked2.to;
      this.show.input.value = asked2.show;
      this.radius.input.value = String(asked2.radius);
      this.at.input.value = asked2.at;
      this.to.part.hidden = asked2.show !== "path";
      this.radius.part.hidden = asked2.show === "path";
      if (!asked2.node) {
        return this.empty("Enter an instruction, or click a node in a graph above and then \u201CNeighborhood\u201D.");
      }
      if (JSON.stringify(asked2) === this.drawn) return;
      this.drawn = JSON.stringify(asked2);
      try {
        await this.draw(await this.graph(asked2.at), asked2);
        if (follow || !this.begun) this.host.scrollIntoView({ block: "start" });
        this.begun = true;
      } catch (error) {
        this.empty(`Cannot draw this. ${errorMessage(error)}`);
      }
    }
    /** @param {string} words */
    empty(words2) {
      this.drawn = "";
      this.status.textContent = words2;
      this.figure.hidden = true;
      this.figure.replaceChildren();
    }
    /**
     * @param {Graph} graph
     * @param {Wanted} asked
     */
    async draw(graph, asked2) {
      const [from, to] = [asked2.node, asked2.to].map((name) => graph.find(name) ?? graph.find(name.replace(/^.*\/%/, "")));
      if (from === null) return this.unknown(graph, asked2.node);
      if (asked2.show === "path" && to === null) {
        return asked2.to ? this.unknown(graph, asked2.to) : this.empty("Enter the instruction at the end of the path.");
      }
      const answer = asked2.show === "path" ? way(graph, from, to ?? from) : near2(graph, from, asked2);
      if (!answer.drawing) return this.empty(answer.summary);
      const look2 = await load("pictures/look");
      const { nodes, edges } = answer.drawing;
      const layout = layeredLayout(
        nodes.map(boxSize),
        edges.map(({ source, target: target2 }) => [source, target2])
      );
      this.figure.hidden = false;
      this.figure.replaceChildren();
      this.figure.dataset.alt = answer.drawing.title;
      const picture = interactivePicture(
        this.figure,
        `graph-of-${graph.name(from)}`,
        writeSvg(answer.drawing, layout, look2)
      );
      this.status.textContent = `${answer.summary} From ${graph.index.label}.`;
      requestAnimationFrame(() => picture.showFocus());
    }
    /**
     * @param {Graph} graph
     * @param {string} name
     */
    unknown(graph, name) {
      const similar = graph.search(name, SUGGESTED).map(
        (place2) => element("a.xr-around", { href: `#node=${encodeURIComponent(graph.address(place2))}` }, `%${graph.name(place2)}`)
      );
      const most = graph.index.complete ? "" : " This module is so large that not all of its computations are here.";
      const other = this.timelines ? " It may be there in another snapshot." : "";
      this.empty(
        `${graph.index.label} has no instruction %${name.replace(/^%/, "")}.${most}${other}${similar.length ? " Is one of these meant? " : ""}`
      );
      this.status.append(...similar.flatMap((link2, place2) => [place2 ? ", " : "", link2]));
    }
  };
  function drawExplorer(host, key) {
    new Explorer(host, key);
  }

  // src/history/columns.js
  var rowsOf = (columns2) => columns2[0].map((_, row4) => columns2.map((column) => column[row4]));
  var readNames = ([lengths, folded, more]) => splitRows([lengths, unfold(folded)]).map((listed3, place2) => place2 in more ? [...listed3, more[place2]] : listed3);
  function readIndex({ titles, between: [first, others], names: [names2, lengths, steps], left_out, ...rest2 }) {
    const numbers = splitRows([lengths, sums(steps)]);
    const [ops, places2] = [unfold(left_out[0]), readNames(left_out[1])];
    return {
      ...rest2,
      titles: unfold(titles),
      between: [first, ...unfold(others)],
      names: Object.fromEntries(unfold(names2).map((name, place2) => [name, numbers[place2]])),
      leftOut: new Map(ops.map((op, place2) => [op, places2[place2]]))
    };
  }
  function readChunk({
    instructions,
    happened,
    origins,
    now,
    standings,
    events: [stages, kinds3, names2, sources, targets, grades, reasons]
  }) {
    const firsts = ([counts, lengths, steps]) => splitRows([lengths, sums(steps)]).map((row4, place2) => [counts[place2], ...row4]);
    const subjects = rowsOf([instructions, happened, firsts(origins), firsts(now)]);
    return {
      subjects: subjects.map(([number, events, from, to]) => ({ instructions: number, events, origins: from, now: to })),
      standings: rowsOf(standings.map(unfold)),
      events: rowsOf([
        stages,
        unfold(kinds3),
        unfold(names2),
        readNames(sources),
        readNames(targets),
        unfold(grades),
        unfold(reasons)
      ])
    };
  }
  function opsOf(index) {
    const traced2 = index.titles.slice(index.forward).filter((title2) => !title2.includes("/%"));
    return [...traced2, ...index.leftOut.keys()];
  }
  function numbersOf({ names: names2 }, name) {
    const bare2 = name.replace(/^%/, "");
    return Object.hasOwn(names2, bare2) ? names2[bare2] : [];
  }
  function numbersOfOp({ titles, forward }, op) {
    const number = titles.indexOf(op, forward);
    return number < 0 ? [] : [number];
  }
  function isOp({ titles, forward, leftOut: leftOut2 }, op) {
    return titles.includes(op, forward) || leftOut2.has(op);
  }
  function titleOf({ titles, between: [first, ...others] }, number) {
    return number < first ? titles[number] : others[number - first];
  }
  function eventsOf({ subjects, events }, place2) {
    const isNew = (number) => number < 0;
    let next = -subjects.slice(0, place2).flatMap((subject) => subject.events.filter(isNew)).reduce((sum2, number) => sum2 + number, 0);
    return subjects[place2].events.flatMap(
      (number) => isNew(number) ? events.slice(next, next -= number) : [events[number]]
    );
  }

  // src/tables/rows.js
  var NUMBERS = /* @__PURE__ */ new Set(["int", "bytes", "flops", "float", "percent", "precise"]);
  var WINDOWED = 100;
  var WINDOWED_SENTENCES = 200;
  var cellText = (cell) => cell === null ? "" : Array.isArray(cell) ? cell[0] : String(cell);
  var natural = (name) => name.toLowerCase().replace(/\d{1,15}/g, (digits) => digits.padStart(15, "0"));
  function formatted(column, cell) {
    if (typeof cell !== "number") return cellText(cell);
    if (column.kind === "bytes") return format.bytes(cell);
    if (column.kind === "flops") return format.flops(cell);
    if (column.kind === "percent") return format.percent(cell);
    if (column.kind === "precise") return format.precise(cell);
    return column.kind === "float" ? format.float(cell) : format.count(cell);
  }
  var LAYOUT = /\]\{[^{}]*(?:\}|$)/g;
  var bareShape = (text, { kind, of }) => of === "shape" || kind === "code" ? text.replace(LAYOUT, "]") : text;
  var searchTexts = (rows2) => rows2.map((row4) => row4.map(cellText).join("\n").toLowerCase());
  function matchingRows(texts, filter) {
    const words2 = filter.toLowerCase().split(/\s+/).filter(Boolean);
    return [...texts.keys()].filter((row4) => words2.every((word2) => texts[row4].includes(word2)));
  }
  function sortedRows(rows2, shown, column, direction2) {
    const sign = direction2 === "asc" ? 1 : -1;
    const cells = rows2.map((row4) => row4[column]);
    const keys = cells.map(cells.some((cell) => typeof cell === "number") ? numberKey : sortKey);
    return [...shown].sort((first, second) => {
      const [left, right] = [keys[first], keys[second]];
      if (left === right) return first - second;
      if (left === null || right === null) return left === null ? 1 : -1;
      return left < right ? -sign : sign;
    });
  }
  var sortKey = (cell) => typeof cell === "number" || cell === null ? cell : natural(cellText(cell));
  function numberKey(cell) {
    if (typeof cell === "number" || cell === null) return cell;
    const value = Number.parseFloat(cellText(cell).replaceAll(",", ""));
    return Number.isNaN(value) ? null : value;
  }
  var hasSentences = ({ columns: columns2 }) => columns2.some((column) => column.kind === "sentence");
  var mostDrawn = (data) => hasSentences(data) ? WINDOWED_SENTENCES : WINDOWED;

  // src/tables/cells.js
  var SHORT = 12;
  var END = 10;
  var breakable = (name) => name.split(/(?<=[._/])(?=.)/).flatMap((part2, place2) => place2 ? [element("wbr"), part2] : [part2]);
  function cutInside(name) {
    const number = name.slice(-END).search(/[._:-]\d|(?<=\w)\{[\d,]+\}$/);
    const isSentence = /\s/.test(name) && !/:\d+$/.test(name);
    if (name.length <= SHORT || number < 0 || isSentence) return [name];
    const end = name.slice(number - END);
    const begin = element("span.xr-begin", null, name.slice(0, number - END));
    begin.style.maxWidth = `calc(100% - ${end.length + 0.5}ch)`;
    return [begin, end];
  }
  function takenApart([name, parts], { meanings, whole: whole2 }) {
    const pieces5 = (
      /** @type {Node[]} */
      []
    );
    for (let place2 = 0, start = 0; place2 < parts.length; place2 += 2) {
      const part2 = name.slice(start, start += parts[place2]);
      const meaning = meanings[parts[place2 + 1]];
      const shown = whole2 ? breakable(part2) : [part2];
      pieces5.push(meaning ? explained(meaning, shown) : element("span", null, ...shown));
      if (whole2) pieces5.push(element("wbr"));
    }
    const apart = element("code.xr-apart", null, ...pieces5);
    apart.querySelector("a")?.removeAttribute("tabindex");
    return apart;
  }
  function explained(meaning, shown) {
    const [sentence2, word2] = typeof meaning === "string" ? [meaning, ""] : meaning;
    const href = word2 ? entryAddress(word2) : root + FILE_NAMES;
    const further = word2.startsWith("pass:") ? word2 : null;
    return element("a.xr-part", { "data-meaning": sentence2, "data-further": further, href, tabindex: -1 }, ...shown);
  }
  function moveInName(event) {
    const target2 = (
      /** @type {HTMLElement} */
      event.target
    );
    const parts = [...target2.closest(".xr-apart")?.querySelectorAll("a") ?? []];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = step && parts[parts.indexOf(
      /** @type {HTMLAnchorElement} */
      target2
    ) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
  function cellContent(column, cell, look2) {
    if (cell === null) return element("span.xr-unknown", { title: "not known" }, format.unknown);
    if (column.kind === "name" && Array.isArray(cell)) return takenApart(
      /** @type {Name} */
      cell,
      look2
    );
    const text = formatted(column, cell);
    if (column.kind === "link" && Array.isArray(cell) && typeof cell[1] === "string") {
      const word2 = column.of ? `${column.of}:${text}` : null;
      return element("a", { href: insideReport(cell[1]), "data-word": word2 }, ...cutInside(text));
    }
    const shown = look2.layouts || look2.whole ? text : bareShape(text, column);
    const pieces5 = look2.whole ? breakable(shown) : cutInside(shown);
    const inside = column.kind === "code" ? [element("code", null, ...pieces5)] : pieces5;
    if (column.of) return nameLink(column.of, text, ...inside);
    if (column.kind === "chip") {
      const kind = Array.isArray(cell) && typeof cell[1] === "string" && /^[a-z-]+$/.test(cell[1]) ? `.${cell[1]}` : "";
      return element(`span.xr-chip${kind}`, null, shown);
    }
    if (inside.length > 1) return element("span", null, ...inside);
    return inside[0] instanceof Node ? inside[0] : document.createTextNode(shown);
  }
  function tableCell(column, cell, look2) {
    const scaled2 = (column.kind === "bytes" || column.kind === "flops") && typeof cell === "number";
    const text = scaled2 ? `${format.count(cell)} ${column.kind === "flops" ? "FLOP" : "B"}` : cellText(cell);
    const whole2 = scaled2 || text.length > SHORT ? text : null;
    const tag = NUMBERS.has(column.kind) ? "td.xr-number" : column.kind === "sentence" ? "td.xr-sentence" : "td";
    return element(tag, { "data-whole": whole2 }, cellContent(column, cell, look2));
  }

  // src/tables/chooser.js
  function makeChooser({ columns: columns2 }, changed) {
    const boxes = columns2.map(({ title: title2, help }, index) => box2(`c${index}`, title2, changed.columns, help));
    const shapes2 = columns2.some(({ of }) => of === "shape");
    const layouts = shapes2 && box2("layouts", "Layouts and tiling of shapes", changed.layouts);
    const list2 = element("div.xr-columns-list", { role: "group", "aria-label": "Columns" }, ...boxes, layouts);
    const chooser = element("details.xr-columns", null, element("summary.xr-button"), list2);
    chooser.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !chooser.open) return;
      chooser.open = false;
      chooser.querySelector("summary")?.focus();
      event.stopPropagation();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!chooser.contains(
        /** @type {Node} */
        event.target
      )) chooser.open = false;
    });
    return chooser;
  }
  function box2(name, words2, changed, meaning) {
    const input = element("input", { type: "checkbox", name, onchange: changed });
    return element("label", { "data-meaning": meaning ?? null }, input, ` ${words2}`);
  }

  // src/tables/columns.js
  var FIRST2 = 7;
  var NARROW = 3;
  var NARROW_SENTENCES = 2;
  var LEAST_SENTENCE = 24;
  var SENTENCE = 0.4;
  var WIDEST2 = 64;
  var LEAST2 = 18;
  var LEAST_KEY = 34;
  var SAMPLE = 1e3;
  var BESIDE2 = 4;
  var SQUEEZED = 1.05;
  function firstColumns({ columns: columns2, rows: rows2, sort }, narrow) {
    const told = columns2.some((column) => column.kind === "sentence");
    const most = narrow ? told ? NARROW_SENTENCES : NARROW : FIRST2;
    const places2 = [...columns2.keys()];
    if (columns2.length <= most) return places2;
    const filled = places2.filter((place2) => !place2 || !rows2.length || rows2.some((row4) => isFilled(row4[place2])));
    const shown = filled.slice(0, most);
    if (sort && !shown.includes(sort[0])) shown[Math.min(most, shown.length) - 1] = sort[0];
    return shown;
  }
  var isFilled = (value) => value !== null && value !== void 0 && value !== "";
  function chosenColumns(text, count) {
    const places2 = [...new Set((text ?? "").split(".").filter(Boolean).map(Number))];
    const valid = places2.filter((place2) => Number.isInteger(place2) && place2 >= 0 && place2 < count);
    return valid.length ? valid.sort((left, right) => left - right) : null;
  }
  var chosenText = (shown) => shown.join(".");
  function textWidths({ columns: columns2, rows: rows2 }) {
    return columns2.map((column, index) => {
      let longest = column.title.length + 2;
      for (const row4 of NUMBERS.has(column.kind) ? rows2.slice(0, SAMPLE) : rows2) {
        longest = Math.max(longest, bareShape(formatted(column, row4[index]), column).length);
        if (longest >= WIDEST2) return WIDEST2 + BESIDE2;
      }
      return longest + BESIDE2;
    });
  }
  var isNumber = ({ kind }) => NUMBERS.has(kind);
  var headWidth = ({ title: title2 }) => title2.length + 2 + BESIDE2;
  function dividedRoom(wanted2, firm, room, told = [], heads = []) {
    const total = wanted2.reduce((sum3, width) => sum3 + width, 0);
    const key = Math.max(LEAST2, Math.min(LEAST_KEY, room / 2));
    const names2 = wanted2.map(
      (width, place2) => firm[place2] ? width : Math.min(width, Math.max(heads[place2] ?? 0, place2 ? LEAST2 : key))
    );
    const sentences = told.filter(Boolean).length;
    const others = names2.reduce((sum3, width, place2) => sum3 + (told[place2] ? 0 : width), 0);
    const left = Math.min(room * SENTENCE, (room - others) / Math.max(1, sentences));
    const least = wanted2.map(
      (width, place2) => told[place2] ? Math.min(width, Math.max(LEAST_SENTENCE, left)) : names2[place2]
    );
    const spare = total - least.reduce((sum3, width) => sum3 + width, 0);
    if (total <= room) return wanted2.map((width) => width * room / total);
    const share = spare ? Math.max(0, room - total + spare) / spare : 0;
    const widths = wanted2.map((width, place2) => least[place2] + (width - least[place2]) * share);
    const sum2 = widths.reduce((all, width) => all + width, 0);
    return sum2 > room && sum2 <= SQUEEZED * room ? widths.map((width) => width * room / sum2) : widths;
  }

  // src/tables/export.js
  var FORMULA = /^[=+\-@\t\r]/;
  var tabSeparated = (data, rows2) => lines2(data, rows2, "	", (text) => text.replace(/[\t\r\n]+/g, " "));
  var commaSeparated = (data, rows2) => lines2(data, rows2, ",", (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text, "\r\n");
  function lines2({ columns: columns2, rows: all }, rows2, separator, written3, end = "\n") {
    const cell = (value) => {
      const text = cellText(value);
      return written3(typeof value !== "number" && FORMULA.test(text) ? `'${text}` : text);
    };
    const head2 = columns2.map(({ title: title2 }) => cell(title2)).join(separator);
    const there = rows2.filter((row4) => all[row4]);
    return [head2, ...there.map((row4) => all[row4].map(cell).join(separator))].join(end) + end;
  }

  // src/tables/lines.js
  function tableLabel(host) {
    let before = (
      /** @type {Element | null} */
      host
    );
    while (before && !/^H[1-6]$/.test(before.tagName)) before = before.previousElementSibling;
    return `Table: ${before?.firstChild?.textContent ?? document.title}`;
  }
  function unprintedLine(rows2, columns2) {
    const words2 = `${format.plural(rows2, "more row")} not printed; \u201CCSV\u201D above the table saves all rows.`;
    return element("tr.xr-unprinted", null, element("td", { colspan: columns2 }, words2));
  }
  function unloadedLine(place2, columns2) {
    const cell = element("td", { colspan: columns2 }, "\u2026");
    return element("tr.xr-unloaded", { "aria-rowindex": place2 + 2, "aria-busy": "true" }, cell);
  }

  // src/tables/pages.js
  var TOGETHER = 8;
  var PagedRows = class {
    /**
     * @param {string} key of the payload
     * @param {Cell[][]} first
     * @param {import("../../types/payloads").Pages} [pages] none where the first are all
     */
    constructor(key, first, pages2) {
      this.key = key;
      this.size = pages2?.size ?? Math.max(1, first.length);
      this.rows = first;
      this.missing = new Set(pages2 ? [...Array(Math.ceil(pages2.rows / pages2.size)).keys()].slice(1) : []);
      this.rows.length = pages2?.rows ?? first.length;
    }
    get complete() {
      return !this.missing.size;
    }
    /** @returns {number} the rows before the first hole */
    get beginning() {
      return this.complete ? this.rows.length : Math.min(...this.missing) * this.size;
    }
    /**
     * Loads the rows around a place.
     * @param {number} row
     */
    async loadAt(row4) {
      await this.take(Math.floor(row4 / this.size));
    }
    /** @param {(loaded: number) => void} told of the rows that are there */
    async loadAll(told) {
      while (this.missing.size) {
        await Promise.all([...this.missing].slice(0, TOGETHER).map((page2) => this.take(page2)));
        told(this.rows.length - this.missing.size * this.size);
      }
    }
    /** @param {number} page */
    async take(page2) {
      const rows2 = await /** @type {Promise<Payload<"table-0">>} */
      load(`${this.key}-${page2}`);
      for (const [place2, row4] of rows2.entries()) this.rows[page2 * this.size + place2] = row4;
      this.missing.delete(page2);
    }
  };

  // src/tables/table.js
  var SPARE = 8;
  var PRINTED = 2e3;
  var NARROW2 = 600;
  var ROW = 27;
  var Table = class {
    /**
     * @param {HTMLElement} host
     * @param {string} key
     * @param {TableData} data
     */
    constructor(host, key, data) {
      this.key = key;
      this.widths = textWidths(data);
      this.columns = firstColumns(data, (host.clientWidth || innerWidth) < NARROW2);
      this.data = data;
      this.pages = new PagedRows(key, data.rows, data.pages);
      this.whole = /** @type {Promise<void> | null} */
      null;
      this.failed = (error) => void (this.counter.textContent = String(error));
      const told = hasSentences(data);
      this.windowed = data.rows.length > mostDrawn(data);
      this.sort = data.sort ?? null;
      this.shown = [];
      this.haystack = null;
      this.selected = -1;
      this.drawn = "";
      this.lines = /* @__PURE__ */ new Map();
      this.rowHeight = 0;
      this.usual = chosenText(this.columns);
      this.look = { meanings: data.meanings ?? [], layouts: false };
      this.filter = this.makeFilter();
      this.counter = element("span.xr-count", { role: "status" });
      this.chooser = makeChooser(data, { columns: () => this.choose(), layouts: () => this.showLayouts() });
      this.body = element("tbody");
      this.head = element("tr", { "aria-rowindex": 1 });
      this.group = element("colgroup");
      this.table = element(told && !this.windowed ? "table.xr-data.xr-told" : "table.xr-data", {
        "aria-rowcount": data.rows.length + 1
      });
      this.scroller = element("div.xr-table-scroll", { tabindex: 0, role: "region", "aria-label": tableLabel(host) });
      this.details = element("dl.xr-row-details", { hidden: true });
      this.build(host);
    }
    /** @param {HTMLElement} host */
    build(host) {
      this.table.append(this.group, element("thead", null, this.head), this.body);
      this.scroller.append(this.table);
      const bar = element("div.xr-table-bar", null, this.filter, this.counter, this.chooser, ...this.exports());
      host.replaceChildren(bar, this.scroller, this.details);
      bar.hidden = this.data.rows.length < 2 && this.data.columns.length <= this.columns.length;
      this.filter.hidden = this.data.rows.length < 2;
      this.scroller.addEventListener("scroll", () => requestAnimationFrame(() => this.drawRows()), { passive: true });
      this.scroller.addEventListener("keydown", (event) => this.press(event));
      host.addEventListener("keydown", (event) => this.findHere(event));
      this.body.addEventListener("click", (event) => this.click(event));
      this.body.addEventListener("keydown", moveInName);
      window.addEventListener("beforeprint", () => this.drawRows(true));
      window.addEventListener("afterprint", () => this.update());
      window.addEventListener("hashchange", () => this.readState(host));
      this.arrange();
      this.readState(host);
      new ResizeObserver(() => this.resized()).observe(this.scroller);
    }
    makeFilter() {
      const placeholder = this.data.filter_placeholder ?? "Filter: words that a row must contain";
      return element("input.xr-filter", {
        type: "search",
        placeholder,
        "aria-label": placeholder,
        spellcheck: "false",
        oninput: () => this.changed()
      });
    }
    exports() {
      const button = (words2, title2, action) => element("button.xr-button", { type: "button", title: title2, onclick: action }, words2);
      return [
        button("Copy", "Copy the matching rows, all columns, as tab-separated values", () => this.copy()),
        button("CSV", "Save the matching rows, all columns, as a CSV file", () => this.save())
      ];
    }
    async copy() {
      await this.complete();
      const text = tabSeparated(this.data, this.shown);
      try {
        await navigator.clipboard.writeText(text);
        this.counter.textContent = `${format.plural(this.shown.length, "row")} copied`;
      } catch {
        this.counter.textContent = "The browser does not let this page copy; CSV saves the rows.";
      }
    }
    async save() {
      await this.complete();
      const text = commaSeparated(this.data, this.shown);
      saveFile(new Blob([text], { type: "text/csv" }), `${this.key.replaceAll("/", "-")}.csv`);
    }
    choose() {
      const boxes = [...this.data.columns.keys()].map((index) => this.checkbox(`c${index}`));
      const shown = [...boxes.keys()].filter((index) => boxes[index]?.checked);
      if (shown.length) this.columns = shown;
      this.arrange();
      this.changed();
    }
    showLayouts() {
      this.look.layouts = this.checkbox("layouts")?.checked ?? false;
      this.redraw();
    }
    /** @param {string} name */
    checkbox(name) {
      return (
        /** @type {HTMLInputElement | null} */
        this.chooser.querySelector(`[name="${name}"]`)
      );
    }
    /** Puts the columns that are shown side by side. */
    arrange() {
      this.heads = new Map(this.columns.map((index) => [index, this.makeHead(index)]));
      this.head.replaceChildren(...this.heads.values());
      const summary2 = (
        /** @type {HTMLElement} */
        this.chooser.firstElementChild
      );
      const [shown, all] = [this.columns.length, this.data.columns.length];
      summary2.textContent = shown === all ? "Columns" : `Columns: ${shown} of ${all}`;
      for (const index of this.data.columns.keys()) {
        const box3 = this.checkbox(`c${index}`);
        if (box3) box3.checked = this.columns.includes(index);
      }
      this.setWidths();
    }
    /** @param {number} index */
    makeHead(index) {
      const column = this.data.columns[index];
      const button = element("button", { type: "button", onclick: () => this.sortBy(index) }, column.title);
      if (column.help) button.dataset.meaning = column.help;
      const look2 = NUMBERS.has(column.kind) ? "th.xr-number" : "th";
      return element(look2, { scope: "col" }, button);
    }
    setWidths() {
      const wanted2 = this.columns.map((index) => this.widths[index]);
      const shown = this.columns.map((index) => this.data.columns[index]);
      const character = Number.parseFloat(getComputedStyle(this.table).fontSize) * 0.6 || 8;
      const room = this.scroller.clientWidth / character;
      const told = shown.map(({ kind }) => kind === "sentence");
      const divided = dividedRoom(wanted2, shown.map(isNumber), room || 120, told, shown.map(headWidth));
      const total = divided.reduce((sum2, width) => sum2 + width, 0);
      const columns2 = divided.map((width) => element("col", { style: `width: ${100 * width / total}%` }));
      this.group.replaceChildren(...columns2);
      const wide = total > room + 0.01;
      this.table.style.minWidth = wide ? `${total * character}px` : "";
      this.table.classList.toggle("xr-frozen", wide);
    }
    resized() {
      this.setWidths();
      this.drawRows();
    }
    /** @param {HTMLElement} host */
    readState(host) {
      if (state.get("t") !== this.key) return void this.update();
      const sort = /^(\d+)([ad])$/.exec(state.get("s") ?? "");
      if (sort && Number(sort[1]) < this.data.columns.length) {
        this.sort = [Number(sort[1]), sort[2] === "a" ? "asc" : "desc"];
      }
      const columns2 = chosenColumns(state.get("c"), this.data.columns.length);
      if (columns2) {
        this.columns = columns2;
        this.arrange();
      }
      this.filter.value = state.get("q") ?? "";
      this.update();
      host.scrollIntoView({ block: "start" });
    }
    changed() {
      const sort = this.sort ? `${this.sort[0]}${this.sort[1][0]}` : null;
      const columns2 = chosenText(this.columns);
      state.set({ t: this.key, q: this.filter.value, s: sort, c: columns2 === this.usual ? null : columns2 });
      this.update();
    }
    /** @param {number} index */
    sortBy(index) {
      const numeric = NUMBERS.has(this.data.columns[index].kind);
      const order = (
        /** @type {("asc" | "desc")[]} */
        numeric ? ["desc", "asc"] : ["asc", "desc"]
      );
      const now = this.sort?.[0] === index ? order.indexOf(this.sort[1]) : -1;
      this.sort = now === 1 ? null : [index, order[now + 1]];
      this.changed();
    }
    /** Loads all rows, as far as they are not there. */
    async complete() {
      if (this.pages.complete) return;
      const total = format.plural(this.data.rows.length, "row");
      const told = (loaded2) => {
        this.counter.textContent = `Loading: ${format.count(loaded2)} of ${total}`;
      };
      this.whole ??= this.pages.loadAll(told).then(() => this.update(), this.failed);
      await this.whole;
      this.whole = null;
    }
    /** Whether the rows stand in the order of their payloads, without a filter. */
    get asWritten() {
      const first = this.data.sort;
      return !this.filter.value.trim() && this.sort?.[0] === first?.[0] && this.sort?.[1] === first?.[1];
    }
    update() {
      if (!this.pages.complete && !this.asWritten) return void this.complete();
      this.shown = this.matching();
      const standing2 = this.data.pages && this.asWritten;
      if (this.sort && !standing2) this.shown = sortedRows(this.data.rows, this.shown, ...this.sort);
      for (const [index, head2] of this.heads ?? []) {
        const direction2 = this.sort?.[0] === index ? this.sort[1] : "";
        head2.setAttribute("aria-sort", direction2 ? `${direction2}ending` : "none");
      }
      const total = format.plural(this.data.rows.length, "row");
      const all = this.shown.length === this.data.rows.length;
      this.counter.textContent = all ? total : `${format.count(this.shown.length)} of ${total}`;
      this.scroller.scrollTop = 0;
      this.redraw();
    }
    redraw() {
      this.drawn = "";
      this.lines.clear();
      this.drawRows();
    }
    /** @returns {number[]} the rows that contain every word of the filter */
    matching() {
      if (!this.filter.value.trim()) return [...this.data.rows.keys()];
      this.haystack ??= searchTexts(this.data.rows);
      return matchingRows(this.haystack, this.filter.value);
    }
    /** @param {boolean} [printing] draw all that fits on paper */
    drawRows(printing = false) {
      const total = this.shown.length;
      if (!total) return this.drawEmpty();
      const [first, last] = printing ? [0, Math.min(total, PRINTED, this.pages.beginning)] : this.range(total);
      if (this.drawn === `${first} ${last}` && !printing) return;
      this.drawn = `${first} ${last}`;
      const rows2 = this.shown.slice(first, last).map((row4, offset) => this.line(row4, first + offset));
      this.lines = new Map(rows2.filter((line3) => line3.dataset.row).map((line3) => [line3.dataset.row ?? "", line3]));
      const after = printing && total > last ? unprintedLine(total - last, this.columns.length) : this.gap(printing ? 0 : total - last);
      exchange(this.body, [this.gap(first), ...rows2, after]);
      if (!this.rowHeight && this.windowed && rows2.length) {
        this.rowHeight = rows2[0].getBoundingClientRect().height;
        if (this.rowHeight) this.redraw();
      }
    }
    /**
     * @param {number} total
     * @returns {[number, number]} the rows in sight and a few around them
     */
    range(total) {
      if (!this.windowed) return [0, total];
      const height = this.rowHeight || ROW;
      const seen = Math.ceil((this.scroller.clientHeight || 600) / height);
      const top = Math.floor(this.scroller.scrollTop / height / SPARE) * SPARE;
      return [Math.max(0, top - SPARE), Math.min(total, top + seen + 2 * SPARE)];
    }
    /** @param {number} rows how many rows are not drawn here */
    gap(rows2) {
      const gap = element("tr.xr-gap", { "aria-hidden": "true" }, element("td", { colspan: this.columns.length }));
      gap.style.height = `${rows2 * (this.rowHeight || ROW)}px`;
      gap.hidden = rows2 <= 0;
      return gap;
    }
    drawEmpty() {
      const none = !this.data.rows.length;
      const words2 = none ? this.data.empty ?? "Nothing to show." : `No row contains \u201C${this.filter.value}\u201D.`;
      const clear = element("button.xr-button", { type: "button", onclick: () => this.clear() }, "Show all rows");
      const cell = element("td.xr-empty", { colspan: this.columns.length }, words2, " ", !none && clear);
      this.body.replaceChildren(element("tr", null, cell));
      this.drawn = "";
      this.lines.clear();
    }
    clear() {
      this.filter.value = "";
      this.changed();
      this.filter.focus();
    }
    /**
     * Returns the line of a row, the one that is drawn where it is.
     * @param {number} row
     * @param {number} place
     */
    line(row4, place2) {
      return this.lines.get(String(row4)) ?? this.makeRow(row4, place2);
    }
    /**
     * @param {number} row
     * @param {number} place
     */
    makeRow(row4, place2) {
      const { columns: columns2, rows: rows2 } = this.data;
      if (!rows2[row4]) {
        this.pages.loadAt(row4).then(() => this.redraw(), this.failed);
        return unloadedLine(place2, this.columns.length);
      }
      const cells = this.columns.map((index) => tableCell(columns2[index], rows2[row4][index], this.look));
      const selected = row4 === this.selected ? "tr.xr-selected" : "tr";
      return element(selected, { "aria-rowindex": place2 + 2, "data-row": row4 }, ...cells);
    }
    /** @param {Event} event */
    click(event) {
      const target2 = (
        /** @type {HTMLElement} */
        event.target
      );
      const line3 = (
        /** @type {HTMLElement | null} */
        target2.closest("tr[data-row]")
      );
      if (line3 && !target2.closest("a")) this.select(Number(line3.dataset.row));
    }
    /**
     * Shows a row with all its columns below the table; the same row once more hides it.
     * @param {number} row
     */
    select(row4) {
      this.selected = row4 === this.selected ? -1 : row4;
      this.details.hidden = this.selected < 0;
      const look2 = { ...this.look, whole: true };
      const pairs2 = this.data.columns.map(
        (column, index) => element(
          "div",
          null,
          element("dt", null, column.title),
          element("dd", null, cellContent(column, this.data.rows[row4][index], look2))
        )
      );
      this.details.replaceChildren(...pairs2);
      for (const drawn5 of this.body.querySelectorAll("tr[data-row]")) {
        drawn5.classList.toggle("xr-selected", drawn5.getAttribute("data-row") === String(this.selected));
      }
    }
    /** @param {KeyboardEvent} event arrow keys on the table go from row to row */
    press(event) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.target !== this.scroller || !this.shown.length) return;
      event.preventDefault();
      const at = this.shown.indexOf(this.selected);
      const place2 = at < 0 ? this.range(this.shown.length)[0] : at + step;
      if (place2 < 0 || place2 >= this.shown.length || !this.data.rows[this.shown[place2]]) return;
      this.select(this.shown[place2]);
      this.reveal(place2);
    }
    /** @param {number} place of a row among those shown */
    reveal(place2) {
      const height = this.rowHeight || this.body.querySelector("tr[data-row]")?.getBoundingClientRect().height || ROW;
      const [top, room] = [place2 * height, this.scroller.clientHeight - 2 * height];
      if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
      if (top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
    }
    /** @param {KeyboardEvent} event the browser finds only rows that are drawn, the filter finds all */
    findHere(event) {
      const find = event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      if (!find || !this.windowed || event.target === this.filter) return;
      event.preventDefault();
      this.filter.focus();
      this.filter.select();
    }
  };
  async function drawTable(host, key) {
    host.setAttribute("aria-busy", "true");
    const { columns: columns2, ...table } = await /** @type {Promise<Payload<"table">>} */
    load(key);
    const heads = typeof columns2 === "string" ? (await load("columns"))[columns2] : columns2;
    new Table(host, key, { columns: heads, ...table });
    host.removeAttribute("aria-busy");
  }

  // src/tables/instructions.js
  var COLUMNS = [
    { title: "Instruction", kind: "code", of: "instruction" },
    { title: "Opcode", kind: "code", of: "opcode" },
    { title: "Shape", kind: "code", of: "shape", help: "long ones cut" },
    { title: "FLOPs", kind: "flops", help: "of all executions, by this report's cost model" },
    { title: "Bytes accessed", kind: "bytes", help: "of all executions; none inside a fusion" },
    {
      title: "In device memory",
      kind: "bytes",
      help: "the same as stored: padded to tiles, without on-chip memory; empty if equal"
    },
    {
      title: "Share",
      kind: "percent",
      help: "of the module's estimated time; fused instructions are part of the share of their fusion"
    },
    { title: "op_name scope", kind: "text", help: "scope of its op_name" },
    { title: "Source", kind: "text", help: "source line of its metadata" },
    { title: "Computation", kind: "code", of: "instruction", help: "computation that contains it" }
  ];
  var SHARE = 6;
  async function pieces2(key) {
    const piece2 = (number) => (
      /** @type {Promise<Piece>} */
      load(`${key}-${number}`)
    );
    const first = await piece2(0);
    const others = Array.from({ length: first.pieces - 1 }, (_, place2) => piece2(place2 + 1));
    return [first, ...await Promise.all(others)];
  }
  function rows(index, loaded2) {
    const names2 = index.names.values();
    const inside = index.computations.flatMap(([name, count]) => Array(count).fill(name));
    const listed3 = [];
    for (const piece2 of loaded2) {
      for (let place2 = 0; place2 < piece2.share.length; place2 += 1) {
        const at = listed3.length;
        const [opcode] = index.looks[index.look[at]];
        const figures2 = [piece2.flops[place2], piece2.bytes[place2], piece2.stored[place2] ?? null, piece2.share[place2]];
        const from = [piece2.scopes[piece2.scope[place2]], piece2.sources[piece2.source[place2]]];
        listed3.push([
          names2.next().value ?? null,
          opcode,
          index.shapes[index.shape[at]][0],
          ...figures2,
          ...from,
          inside[at]
        ]);
      }
    }
    return listed3;
  }
  async function show3(host, key) {
    const room = element("div.xr-table", { "aria-busy": "true" }, "Loading\u2026");
    host.replaceChildren(room);
    const [{ index }, loaded2] = await Promise.all([loadGraph(host.dataset.graph ?? ""), pieces2(key)]);
    const note2 = index.complete ? "" : "Only part of the module is listed; the HLO text has the rest.";
    room.removeAttribute("aria-busy");
    const data = { columns: COLUMNS, rows: rows(index, loaded2), sort: [SHARE, "desc"], empty: "No instructions." };
    new Table(room, key, data);
    host.append(element("p.xr-muted", null, note2));
  }
  async function drawInstructions(host, key) {
    const open = () => show3(host, key);
    const asked2 = () => state.get("t") === key;
    if (asked2()) return open();
    const button = host.querySelector("button");
    const opened2 = new Promise((resolve) => {
      button?.addEventListener("click", resolve, { once: true });
      window.addEventListener("hashchange", () => asked2() && resolve(null));
    });
    await opened2;
    await open();
    host.querySelector("input")?.focus();
  }

  // src/history/facts.js
  var MOST_USERS = 6;
  var SAID = /* @__PURE__ */ new Set(["Not fused", "Reason"]);
  var DEEPEST = 16;
  var MICRO = 1e6;
  var HALVES = /-(start|update|done)$/;
  var NO_WORK = /* @__PURE__ */ new Set(["parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while", "conditional"]);
  var PASSED = /* @__PURE__ */ new Set(["parameter", "constant", "tuple", "get-tuple-element", "bitcast"]);
  var APPLIERS = /^(all-reduce|map|reduce|reduce-scatter|reduce-window|scatter|select-and-scatter|sort)(-start)?$/;
  var CALLERS = /* @__PURE__ */ new Set(["while", "conditional", "call"]);
  var RUNNERS = /* @__PURE__ */ new Set([...CALLERS, "async-start"]);
  var InstructionFacts = class {
    /**
     * @param {Stored} stored
     * @param {Graph} graph of the final snapshot
     * @param {Figures[]} figures of its instructions, in its order
     */
    constructor(stored, graph, figures2) {
      this.stored = stored;
      this.graph = graph;
      this.figures = figures2;
      this.scopes = /* @__PURE__ */ new Map();
      for (const [place2, { scope }] of figures2.entries()) {
        if (!scope) continue;
        const names2 = this.scopes.get(scope) ?? [];
        names2.push(graph.name(place2));
        this.scopes.set(scope, names2);
      }
    }
    /**
     * @param {string} name without `%`
     * @returns {HTMLElement | null} null for what the final snapshot does not have
     */
    part(name) {
      const place2 = this.graph.find(name);
      if (place2 === null) return null;
      const facts2 = this.stored.facts[name] ?? [];
      const rows2 = [this.cost(place2), ...facts2.map(factRow), ...this.fusion(place2, facts2)];
      return element("dl.xr-panel-facts", null, ...rows2.filter(Boolean).flat());
    }
    /**
     * @param {string} op
     * @returns {string[]} the instructions with this op_name, without values that are only passed on
     */
    carriers(op) {
      const { graph } = this;
      const isApplied = (place2) => (graph.callers.get(graph.inside[place2]) ?? []).some((caller) => APPLIERS.test(graph.opcode(caller)));
      return (this.scopes.get(op) ?? []).filter((name) => {
        const place2 = graph.find(name);
        return place2 !== null && !PASSED.has(graph.opcode(place2)) && !isApplied(place2);
      });
    }
    /**
     * @param {string} name without `%`
     * @returns {string} its opcode; empty for what the final snapshot does not have
     */
    kind(name) {
      const place2 = this.graph.find(name);
      return place2 === null ? "" : this.graph.opcode(place2);
    }
    /**
     * @param {string} name without `%`
     * @returns {string} its op_name; empty where it has none
     */
    scopeOf(name) {
      const place2 = this.graph.find(name);
      return place2 === null ? "" : this.figures[place2]?.scope ?? "";
    }
    /**
     * @param {string} name without `%`
     * @returns {number} its share of the estimated time of a run; 0 where it is not known
     */
    share(name) {
      const place2 = this.graph.find(name);
      return place2 === null ? 0 : this.counted(place2).share ?? 0;
    }
    /**
     * @param {string} address `computation/%instruction`
     * @returns {string} the fusion that runs it, the outermost of several; empty where none does
     */
    fusionOf(address3) {
      return this.holder(this.graph.find(address3));
    }
    /**
     * @param {number | null} inner
     * @returns {string} the outermost fusion around it; empty where there is none
     */
    holder(inner) {
      const { graph } = this;
      let name = "";
      let place2 = inner;
      for (let level = 0; place2 !== null && level < DEEPEST; level += 1) {
        const callers = graph.callers.get(graph.inside[place2]) ?? [];
        if (callers.length !== 1 || graph.opcode(callers[0]) !== "fusion") break;
        place2 = callers[0];
        name = graph.name(place2);
      }
      return name;
    }
    /** @param {number} place of an instruction; the cost of what an `async-start` runs is its cost */
    cost(place2) {
      const body = this.wrapped(place2);
      const { flops, bytes, stored, share } = this.counted(body);
      const { seconds } = this.stored;
      if (share === null && flops === null && bytes === null) return null;
      if (this.graph.opcode(place2) === "parameter") return null;
      const time = share !== null && seconds !== null ? `${format.float(share * seconds * MICRO)} \xB5s` : "";
      const fusion = share ? this.holder(body) : "";
      const part2 = fusion && `, its part of ${fusion}`;
      const words2 = [
        share !== null && `${[time, format.percent(share)].filter(Boolean).join(", ")} of the estimated time of a run${part2}`,
        flops !== null && flops > 0 && format.flops(flops),
        bytes !== null && (bytes || !fusion) && `${format.bytes(bytes)} accessed`,
        // those of a fusion count at it
        stored !== null && stored !== bytes && (stored ? `${format.bytes(stored)} as stored in device memory` : "none of it in device memory")
      ].filter(Boolean);
      const whose = body === place2 ? [] : [" Counted at ", historyLink(this.graph.name(body)), ", which it runs."];
      const inside = CALLERS.has(this.graph.opcode(body)) ? " of all that it runs" : "";
      const estimate = `${words2.join("; ")}. Estimate, all executions${inside}.`;
      return row2("Cost", "cost#heaviest-instructions", estimate, ...whose);
    }
    /**
     * @param {number} place
     * @param {number} levels of calls that are followed
     * @returns {Omit<Figures, "scope">} its figures; of a loop, conditional, call or start with those of what it calls
     */
    counted(place2, levels = DEEPEST) {
      const { graph } = this;
      const { flops = null, bytes = null, stored = null, share = null } = this.figures[place2] ?? {};
      const called3 = levels && RUNNERS.has(graph.opcode(place2)) ? graph.calls(place2) : [];
      const inner = called3.flatMap(([, computation]) => graph.members(computation)).map((member) => this.counted(member, levels - 1));
      const figures2 = { flops, bytes, stored, share };
      return inner.reduce(
        (total, part2) => ({
          flops: plus(total.flops, part2.flops),
          bytes: plus(total.bytes, part2.bytes),
          stored: plus(total.stored, part2.stored),
          share: plus(total.share, part2.share)
        }),
        figures2
      );
    }
    /**
     * @param {number} place
     * @returns {number} the instruction that an `async-start` runs, which has its cost; others themselves
     */
    wrapped(place2) {
      const { graph } = this;
      if (graph.opcode(place2) !== "async-start") return place2;
      const [called3] = graph.calls(place2);
      return (called3 && graph.root(called3[1])) ?? place2;
    }
    /**
     * @param {number} place
     * @param {Fact[]} facts
     * @returns {boolean} whether it is in no fusion, and nothing of its own says why
     */
    isUnfused(place2, facts2) {
      const halved = HALVES.test(this.graph.opcode(place2));
      return !halved && !this.holder(place2) && !facts2.some(([title2]) => SAID.has(title2));
    }
    /**
     * @param {number} place
     * @param {Fact[]} facts
     */
    fusion(place2, facts2) {
      const { graph } = this;
      if (NO_WORK.has(graph.opcode(place2))) return [];
      const users = [...graph.users(place2)];
      const shown = users.slice(0, MOST_USERS).flatMap((user, at) => [at ? ", " : "", historyLink(graph.name(user)), ` (${graph.opcode(user)})`]);
      const more = users.length > MOST_USERS ? ` and ${format.count(users.length - MOST_USERS)} more` : "";
      const holder = this.holder(place2);
      return [
        users.length > 0 && row2("Consumers", "", ...shown, more),
        holder && row2("Fusion", "", graph.isRoot(place2) ? "The root of " : "In ", historyLink(holder), "."),
        this.isUnfused(place2, facts2) && row2("Fusion", "", ...sentence(this.stored.fusion))
      ];
    }
  };
  function plus(first, second) {
    return first === null || second === null ? first ?? second : first + second;
  }
  function factRow([title2, words2, part2, grade, text]) {
    const folded = text ? element("details.xr-own-words", null, element("summary", null, "XLA's own text"), ...sentence(text)) : null;
    return row2(title2, part2, ...sentence(words2), " ", gradeChip(grade), folded);
  }
  function row2(title2, part2, ...words2) {
    const [name, anchor] = part2.split("#");
    const href = name && partAddress(name, anchor);
    return [element("dt", null, href ? element("a", { href }, title2) : title2), element("dd", null, ...words2)];
  }
  async function loadFacts(key) {
    const folder = key.slice(0, key.lastIndexOf("/"));
    const [stored, graph, loaded2] = await Promise.all([
      /** @type {Promise<Payload<"m/x/facts">>} */
      load(key),
      loadGraph(`${folder}/graph`),
      pieces2(`${folder}/instructions`)
    ]);
    const figures2 = loaded2.flatMap(
      (piece2) => piece2.share.map((share, place2) => ({
        share,
        flops: piece2.flops[place2],
        bytes: piece2.bytes[place2],
        stored: piece2.stored[place2] ?? piece2.bytes[place2],
        scope: piece2.scopes[piece2.scope[place2]]
      }))
    );
    return new InstructionFacts(stored, graph, figures2);
  }

  // src/names/op_names.js
  var LONGEST4 = 2e3;
  var WRAPPED = /^([A-Za-z_]\w*)\((.*)\)$/s;
  var TRACED = /* @__PURE__ */ new Set(["jit", "pjit", "xla_call"]);
  var LEVELS = new Set(
    "while body cond closed_call core_call eval_jaxpr checkpoint shard_map rematted_computation".split(" ")
  );
  var BACKWARD = /(?:^|[/(])transpose\(|(?:^|\/)gradient_tape\/|^gradients\//;
  var byName = new Intl.Collator("en", { numeric: true });
  var FORWARD = /(?:^|[/(])jvp\(/;
  function split(path) {
    const parts = [];
    let depth = 0;
    let start = 0;
    for (let place2 = 0; place2 < path.length; place2 += 1) {
      const mark2 = path[place2];
      if (mark2 === "(") depth += 1;
      else if (mark2 === ")") depth -= 1;
      else if (mark2 === "/" && depth <= 0) {
        parts.push(path.slice(start, place2));
        start = place2 + 1;
      }
    }
    return [...parts, path.slice(start)];
  }
  function levelsOf(path, isTraced = false) {
    const levels = [];
    const parts = split(path);
    const waiting = parts.slice().reverse();
    for (let part2 = waiting.pop(); part2 !== void 0; part2 = waiting.pop()) {
      const match = WRAPPED.exec(part2);
      if (!match && part2) levels.push(part2);
      if (match && (!TRACED.has(match[1]) || isTraced && part2 !== parts[0])) {
        waiting.push(...split(match[2]).reverse());
      }
    }
    return levels;
  }
  function plainPaths(opName) {
    const names2 = opName.slice(0, LONGEST4).split(";");
    const levels = names2.map((path) => levelsOf(path));
    const traced2 = names2.map((path) => levelsOf(path, true));
    const joined = (paths) => paths.map((path) => path.join("/")).join(";");
    const named2 = (all) => joined(all.map((path) => path.filter((level) => !LEVELS.has(level))));
    const forms = [joined(levels), named2(levels), named2(traced2)];
    return [...new Set(forms)].filter((form) => form && form !== opName);
  }
  function isMerged(opName) {
    const last = split(opName.slice(0, LONGEST4)).at(-1) ?? "";
    return opName.includes(";") || /^\(.*\)$/s.test(last) && last.includes(":");
  }
  var LISTED2 = 3;
  var UNNAMED = /* @__PURE__ */ new Set(["jvp()", "transpose(jvp())"]);
  function outerLevels(opName) {
    const levels = split(opName.slice(0, LONGEST4)).filter((level) => !LEVELS.has(level) && !UNNAMED.has(level));
    return levels.slice(0, LISTED2).join("/");
  }
  function phaseOf(opName) {
    if (opName.includes("rematted_computation")) return "recomputed";
    if (BACKWARD.test(opName)) return "backward";
    return FORWARD.test(opName) ? "forward" : "";
  }
  var PHASES = ["forward", "recomputed", "backward", ""];
  var OpNames = class {
    /** @param {Iterable<string>} names */
    constructor(names2) {
      this.all = [...names2].map((name) => ({
        op: { name, phase: phaseOf(name) },
        forms: [name, ...plainPaths(name)].map((form) => form.toLowerCase())
      }));
    }
    /**
     * @param {string} wanted in lower case
     * @returns {OpName[][]} op_names that contain it, by phase, that of the same op_name first: the same first, then by
     * how early it stands; of one phase where what is wanted tells it
     */
    find(wanted2) {
      const plain = plainPaths(wanted2).at(-1) ?? wanted2;
      const asked2 = phaseOf(wanted2);
      const ranked = this.all.filter(({ op }) => !asked2 || op.phase === asked2).map(({ op, forms }) => ({ op, rank: rankOf(forms, wanted2, plain) })).filter(({ rank: rank2 }) => rank2 !== null).sort((left, right) => Number(left.rank) - Number(right.rank) || byName.compare(left.op.name, right.op.name)).map(({ op }) => op);
      const isSame2 = (ops) => ops[0].name.toLowerCase() === wanted2;
      return PHASES.map((phase) => ranked.filter((op) => op.phase === phase)).filter((ops) => ops.length).sort((left, right) => Number(isSame2(right)) - Number(isSame2(left)));
    }
  };
  function rankOf(forms, wanted2, plain) {
    if (forms[0] === wanted2) return -4;
    if (forms.includes(wanted2)) return -3;
    if (forms.some((form) => form.endsWith(`/${wanted2}`))) return -2;
    if (forms.includes(plain)) return -1;
    const places2 = [forms[0].indexOf(wanted2), ...forms.slice(1).map((form) => form.indexOf(plain))];
    const found = places2.filter((place2) => place2 >= 0);
    return found.length ? Math.min(...found) : null;
  }

  // src/history/carriers.js
  var MOST3 = 30;
  var PRODUCTS = /* @__PURE__ */ new Set(["convolution", "dot", "ragged-dot"]);
  var isProduct = (opcode) => PRODUCTS.has(opcode);
  var productsFirst = (things, kind) => [
    ...things.filter((thing) => isProduct(kind(thing))),
    ...things.filter((thing) => !isProduct(kind(thing)))
  ];
  function unlistedCarriers(names2, successors) {
    const successorNames = new Set(successors.map(([place2]) => place2.slice(place2.lastIndexOf("/%") + 2)));
    return names2.filter((name) => !successorNames.has(name));
  }
  function countCarriers(names2) {
    const more = names2.length > MOST3 ? ` The first ${MOST3} are shown.` : "";
    const verb = names2.length === 1 ? "has" : "have";
    return `${format.count(names2.length)} more in after_optimizations ${verb} this op_name.${more}`;
  }
  function carriersOf(op, [count, ...rows2], standings, facts2) {
    const successors = rows2.map((row4) => standings[row4]);
    const names2 = count && count <= rows2.length ? unlistedCarriers(facts2?.carriers(op) ?? [], successors) : [];
    if (!facts2) return { products: [], others: [] };
    const isInside = (name) => Number(facts2.fusionOf(name) !== "");
    names2.sort((left, right) => facts2.share(right) - facts2.share(left) || isInside(left) - isInside(right));
    return {
      products: names2.filter((name) => isProduct(facts2.kind(name))),
      others: names2.filter((name) => !isProduct(facts2.kind(name)))
    };
  }
  function carrierRow(name, facts2) {
    const fusion = facts2?.fusionOf(name);
    const kind = element("span.xr-muted", null, facts2?.kind(name) ?? "");
    return element("li", null, historyLink(name), " ", kind, ...fusion ? [" in ", historyLink(fusion)] : []);
  }
  function carriersPart(names2, facts2) {
    if (!names2.length) return [];
    const rows2 = names2.slice(0, MOST3).map((name) => carrierRow(name, facts2));
    return [element("p", null, countCarriers(names2)), element("ul.xr-places", null, ...rows2)];
  }

  // src/history/subject.js
  var SHOWN2 = 8;
  var GRADES2 = (
    /** @type {Record<string, string>} */
    { e: "exact", m: "matched", g: "guessed" }
  );
  var NAMING = (
    /** @type {Record<string, string>} */
    {
      added: "Added in",
      cloned: "Cloned in",
      created: "Created in",
      expanded: "Created in",
      rebuilt: "Rebuilt in",
      replaced: "Replaced in",
      renamed: "Renamed in"
    }
  );
  var CARRIES_ON = /* @__PURE__ */ new Set(["renamed", "rebuilt"]);
  var isStep = ({ stages }, stage) => /^\d/.test(stages[stage][0]);
  var lastName = (place2) => place2.slice(place2.lastIndexOf("/%") + 1);
  var nameOrMore = (name) => typeof name === "number" ? `and ${format.count(name)} more` : historyLink(name);
  var listed = (names2) => names2.flatMap((name, place2) => [place2 ? ", " : "", nameOrMore(name)]);
  function namings(name, events) {
    const found = (
      /** @type {Event[]} */
      []
    );
    let wanted2 = name;
    for (const event of [...events].reverse()) {
      const [, what, instruction2, from] = event;
      if (lastName(instruction2) !== wanted2 || !(what in NAMING)) continue;
      found.push(event);
      if (!CARRIES_ON.has(what) || from.length !== 1) break;
      wanted2 = `%${from[0]}`;
    }
    return found;
  }
  var SubjectView = class {
    /**
     * @param {Index} index
     * @param {string} steps the address of the page of steps
     * @param {import("./facts.js").InstructionFacts | null} facts of the final snapshot
     */
    constructor(index, steps, facts2) {
      this.index = index;
      this.facts = facts2;
      this.steps = steps;
    }
    /**
     * @param {SubjectHistory} history
     * @param {boolean} open
     */
    part({ title: title2, subject, events, standings, number }, open) {
      const between = number >= this.index.between[0];
      const backward = number < this.index.forward || between;
      const rows2 = (numbers) => places(numbers, standings);
      const fusion = (place2) => this.facts?.fusionOf(place2) ?? "";
      const ofOp = backward ? { products: [], others: [] } : carriersOf(title2, subject.now, standings, this.facts);
      const products = ofOp.products.map((name) => carrierRow(name, this.facts));
      const now = places(subject.now, standings, fusion, products);
      const count = subject.now[0] + products.length;
      const isFinal = subject.now.slice(1).some((row4) => standings[row4][0] === title2);
      const kind = backward ? between && !isFinal ? "intermediate only" : "in after_optimizations" : `in before_optimizations${subject.instructions > 1 ? `: ${format.count(subject.instructions)} instructions` : ""}`;
      return element(
        "details.xr-subject",
        { open },
        element(
          "summary",
          null,
          element("code", null, backward ? lastName(title2) : title2),
          " ",
          element("span.xr-muted", null, kind)
        ),
        backward ? this.since(lastName(title2), events) : null,
        backward && !between ? now : null,
        (between || !backward) && element("h3", null, `Maps to ${format.plural(count, "instruction")} in after_optimizations`),
        (between || !backward) && now,
        ...carriersPart(ofOp.others, this.facts),
        ...subject.origins[0] ? [
          element(
            "h3",
            null,
            backward ? `Comes from ${format.plural(subject.origins[0], "instruction")} in before_optimizations` : "In before_optimizations"
          ),
          rows2(subject.origins)
        ] : this.begun(
          events,
          subject.now.slice(1).map((row4) => standings[row4][3])
        ),
        element("h3", null, "Changes by pass"),
        this.events(events, subject.instructions)
      );
    }
    /**
     * Says where a trail ends that leads back to nothing in the first snapshot.
     * @param {Event[]} events
     * @param {string[]} ops the op_names of the subject
     */
    begun(events, ops) {
      const added = events.filter(([, what]) => what === "added");
      const paragraphs = added.map(([stage, , instruction2, , , grade]) => {
        const [before, after] = grade === "g" ? ["Not matched past ", " in "] : ["", " is first seen in "];
        return element(
          "p.xr-begun",
          null,
          before,
          historyLink(lastName(instruction2), instruction2),
          after,
          ...this.place(stage),
          " ",
          gradeChip(GRADES2[grade])
        );
      });
      const earlier = paragraphs.splice(0, Math.max(0, paragraphs.length - SHOWN2));
      const folded = earlier.length > 0 && element("details", null, element("summary", null, `${format.count(earlier.length)} more`), ...earlier);
      const isLost = added.some(([, , , , , grade]) => grade === "g");
      const named2 = [...new Set(ops)].filter((op) => isOp(this.index, op));
      const made = named2.length ? "Compiler-generated for an op of before_optimizations" : "Compiler-generated; no origin in before_optimizations";
      return [
        element("h3", null, isLost ? "Origin in before_optimizations not known" : made),
        ...named2.map((op) => element("p", null, "By op_name: ", opLink(op))),
        ...paragraphs,
        ...folded ? [folded] : []
      ];
    }
    /**
     * Says first which step gave an instruction its name: that is what most people come to ask.
     * @param {string} name
     * @param {Event[]} events
     */
    since(name, events) {
      const names2 = namings(name, events);
      const [named2, ...earlier] = names2;
      if (!named2) return null;
      const made = earlier.at(-1);
      const verb = (event) => isStep(this.index, event[0]) ? NAMING[event[1]] : "First seen in";
      if (!made) return element("p", null, `${verb(named2)} `, ...this.place(named2[0]));
      return element(
        "p",
        null,
        `${verb(made)} `,
        ...this.place(made[0]),
        " as ",
        historyLink(lastName(made[2]), made[2]),
        `; ${verb(named2).toLowerCase()} `,
        ...this.place(named2[0])
      );
    }
    /**
     * Names a snapshot within a sentence.
     * @param {number} stage
     */
    place(stage) {
      const [key] = this.index.stages[stage];
      return isStep(this.index, stage) ? [this.stepLink(stage)] : ["the text ", this.stepLink(stage, key)];
    }
    /**
     * @param {number} stage
     * @param {string} [words]
     */
    stepLink(stage, words2) {
      const [key, label] = this.index.stages[stage];
      return element("a.xr-event-step", { href: `${this.steps}#step=${encodeURIComponent(key)}` }, words2 ?? label);
    }
    /**
     * @param {Event[]} events
     * @param {number} instructions
     */
    events(events, instructions) {
      if (!events.length) {
        return element("p.xr-empty", null, "None: unchanged from the first snapshot to the last.");
      }
      const shown = events.slice(0, 5 * SHOWN2).map((event) => this.event(event));
      const more = events.length - shown.length;
      const note2 = [
        more > 0 && `${format.count(more)} more events.`,
        instructions > 6 && "Events of the first 6 instructions."
      ].filter(Boolean).join(" ");
      return element("div", null, element("ol.xr-events", null, ...shown), note2 && element("p.xr-muted", null, note2));
    }
    /**
     * @param {Event} event
     */
    event([stage, what, instruction2, from, to, grade, reason]) {
      const name = lastName(instruction2);
      return element(
        "li",
        null,
        this.stepLink(stage),
        element(
          "p",
          null,
          historyLink(name, instruction2),
          " ",
          element("b", null, what),
          ...from.length ? [/^(replaced|absorbed)$/.test(what) ? " " : " from ", ...listed(from)] : [],
          ...to.length ? [" to ", ...listed(to)] : [],
          " ",
          gradeChip(GRADES2[grade])
        ),
        element("p.xr-muted", null, ...sentence(reason))
      );
    }
  };
  function places([count, ...numbers], standings, fusion = () => "", products = []) {
    if (!count) return element("p.xr-empty", null, "None found.");
    const sorted = productsFirst(numbers, (number) => standings[number][1]);
    const first = sorted.filter((number) => isProduct(standings[number][1])).length;
    const rows2 = sorted.map((number) => standingRow(standings[number], fusion(standings[number][0])));
    rows2.splice(first, 0, ...products);
    const hidden = rows2.splice(Math.max(SHOWN2, first + products.length));
    const left = count - numbers.length;
    return element(
      "div",
      null,
      element("ul.xr-places", null, ...rows2),
      hidden.length > 0 && element(
        "details",
        null,
        element("summary", null, `${format.count(hidden.length + left)} more`),
        element("ul.xr-places", null, ...hidden),
        left > 0 && element("p.xr-muted", null, `and ${format.count(left)} that are not listed`)
      )
    );
  }
  var standingRows = (standings) => element("ul.xr-places", null, ...standings.map((standing2) => standingRow(standing2, "")));
  function standingRow([place2, opcode, shape2, op, source], fusion) {
    return element(
      "li",
      null,
      historyLink(lastName(place2), place2),
      " ",
      element("span.xr-muted", null, [opcode, shape2].filter(Boolean).join(" ")),
      ...fusion ? [" in ", historyLink(fusion)] : [],
      op && element("p", null, opLink(op), source && ` ${source}`)
    );
  }
  function opLink(op) {
    return element("a.xr-ask", { href: `#op=${encodeURIComponent(op)}` }, op);
  }
  var opEntry = ({ name, phase }) => element("li", null, opLink(name), phase && element("span.xr-muted", null, ` ${phase}`));

  // src/history/calls.js
  function leadingTo(op, histories) {
    const origins = histories.flatMap(
      ({ subject, standings: standings2 }) => subject.origins.slice(1).map((number) => standings2[number])
    );
    const standings = origins.filter(([, , , name]) => name === op);
    return [...new Map(standings.map((standing2) => [standing2[0], standing2])).values()];
  }
  function successorsOf(histories) {
    if (histories.some(({ subject }) => subject.instructions > 1)) return [];
    return histories.flatMap(({ subject, standings }) => subject.now.slice(1).map((number) => standings[number]));
  }
  var nameOf = ([place2]) => place2.slice(place2.lastIndexOf("/%") + 2);
  function successorsFirst(names2, successors) {
    const successorNames = new Set(successors.map(nameOf));
    return [...names2.filter((name) => successorNames.has(name)), ...names2.filter((name) => !successorNames.has(name))];
  }
  function unnamedSuccessors(successors, names2) {
    const isNamed = successors.some((standing2) => names2.includes(nameOf(standing2)));
    return isNamed ? [] : successors.filter(([, , , opName]) => !opName);
  }
  function renderUnnamed(successors) {
    if (!successors.length) return [];
    const words2 = `In the final snapshot the op itself is ${format.plural(successors.length, "instruction")} without op_name `;
    return [element("p", null, words2, gradeChip("matched")), standingRows(successors)];
  }
  function renderLeading({ title: title2, subject }, histories) {
    const rows2 = leadingTo(title2, histories);
    if (!rows2.length || rows2.length >= subject.instructions) return [];
    const words2 = `Of ${format.plural(subject.instructions, "instruction")} with `;
    const verb = rows2.length === 1 ? "this one leads" : `these ${format.count(rows2.length)} lead`;
    const paragraph = element("p", null, words2, element("code", null, title2), `, ${verb} here `, gradeChip("matched"));
    return [paragraph, standingRows(rows2)];
  }
  function renderLonger(longer, most) {
    const count = format.plural(longer.length, "op_name");
    const verb = longer.length === 1 ? "ends" : "end";
    const words2 = `This op_name is relative to a call. Inlining joins it to that of the call: ${count} of the first or final snapshot ${verb} with it.`;
    const rows2 = longer.slice(0, most).map((name) => element("li", null, opLink(name)));
    return [element("p.xr-muted", null, words2), element("ul.xr-places", null, ...rows2)];
  }
  function countFinal(names2, most) {
    const more = names2.length > most ? ` The first ${most} are shown.` : "";
    return `${format.plural(names2.length, "instruction")} of the final snapshot.${more}`;
  }

  // src/history/matches.js
  var byName2 = new Intl.Collator("en", { numeric: true });
  function shares(groups, most) {
    let left = most;
    return groups.flatMap((group, place2) => {
      const shown = group.slice(0, Math.max(1, Math.ceil(left / (groups.length - place2))));
      left -= shown.length;
      return shown;
    });
  }
  function matches(names2, wanted2) {
    const ranked = (
      /** @type {[number, string][]} */
      []
    );
    for (const name of names2) {
      const place2 = name.toLowerCase().indexOf(wanted2);
      if (place2 >= 0) ranked.push([name.length === wanted2.length ? -1 : place2, name]);
    }
    return ranked.sort(([left, a], [right, b]) => left - right || byName2.compare(a, b)).map(([, name]) => name);
  }
  function literalPhases(names2, phases, wanted2, isOpcode2) {
    const isSame2 = (name) => name?.toLowerCase() === wanted2;
    if (isSame2(names2[0])) return 0;
    if (isSame2(phases[0]?.[0]?.name)) return 1;
    const others = phases.findIndex(([op]) => !op.name.toLowerCase().endsWith(`/${wanted2}`));
    return isOpcode2 ? 0 : others < 0 ? phases.length : others;
  }
  function countPhases(phases) {
    const named2 = phases.filter(([{ phase }]) => phase);
    return named2.map((ops) => `${format.count(ops.length)} ${ops[0].phase}`).join(", ");
  }

  // src/history/left_out.js
  var LEFT_OUT = "This module is so large that not all histories are kept: this one is left out. The command xlareport history DUMP NAME computes it.";
  function leftOutOp({ leftOut: leftOut2 }, name) {
    const isIt = (place2) => String(place2).endsWith(`/%${name}`);
    return [...leftOut2].find(([, places2]) => places2.some(isIt))?.[0] ?? null;
  }
  function leftOutPart({ leftOut: leftOut2 }, op) {
    const places2 = leftOut2.get(op);
    if (!places2) return [];
    const named2 = places2.filter((place2) => typeof place2 === "string");
    const more = places2.slice(named2.length).reduce((sum2, count2) => sum2 + Number(count2), 0);
    const rows2 = named2.map((place2) => element("li", null, historyLink(place2.slice(place2.lastIndexOf("/%") + 1), place2)));
    const count = format.plural(named2.length + more, "instruction");
    return [
      element("p", null, "In before_optimizations ", element("code", null, op), ` is ${count}:`),
      element("ul.xr-places", null, ...rows2),
      ...more ? [element("p.xr-muted", null, `and ${format.count(more)} that are not listed`)] : [],
      element("p.xr-muted", null, LEFT_OUT)
    ];
  }
  function withoutHistory({ complete }, name, fusion, op) {
    const itself = element("code", null, `%${name}`);
    const reason = fusion ? [itself, " is a part of ", historyLink(fusion), "; histories are those of whole fusions."] : complete ? [itself, " is a part of another instruction, and has no history of its own."] : [LEFT_OUT];
    const named2 = op ? [element("p", null, "By op_name: ", opLink(op))] : [];
    return [element("p.xr-muted", null, ...reason), ...named2];
  }
  function unknownName({ complete }) {
    const most = complete ? "" : " This module is so large that not all of its instructions are here.";
    return `No instruction of this name has a history here; it may be the name of a computation.${most} The command xlareport history DUMP NAME looks into every snapshot.`;
  }

  // src/history/paths.js
  var DEEPEST2 = 64;
  function relativeParts(path, ops) {
    const slashes = [...path.matchAll(/\//g)].map(({ index }) => index);
    if (slashes.length > DEEPEST2) return [];
    const joined = (
      /** @type {Map<number, boolean>} whether the beginning up to a slash is an op_name, or made of some */
      /* @__PURE__ */ new Map()
    );
    for (const [place2, end] of slashes.entries()) {
      const before = slashes.slice(0, place2).some((start) => joined.get(start) && ops.has(path.slice(start + 1, end)));
      joined.set(end, before || ops.has(path.slice(0, end)));
    }
    return slashes.filter((start) => joined.get(start) && ops.has(path.slice(start + 1))).map((start) => path.slice(start + 1));
  }
  function joinedPaths(finals, ops) {
    const paths = /* @__PURE__ */ new Map();
    for (const path of finals) {
      const parts = ops.has(path) ? [] : relativeParts(path, ops);
      if (parts.length) paths.set(path, parts);
    }
    return paths;
  }
  function endingWith(op, ops) {
    return [...new Set(ops)].filter((path) => path.endsWith(`/${op}`));
  }
  function properEnds(ops) {
    const ends = /* @__PURE__ */ new Set();
    for (const op of ops) {
      const slashes = [...op.matchAll(/\//g)].slice(-DEEPEST2);
      for (const { index } of slashes) ends.add(op.slice(index + 1));
    }
    return ends;
  }

  // src/search/few.js
  var SHOWN3 = 5;
  function* explained2(tables2) {
    for (const [kind, words2] of Object.entries(tables2?.words ?? {})) {
      for (const [name, meaning] of Object.entries(words2)) {
        yield [
          name,
          () => ({ text: name, note: `${kind}: ${meaning}`, href: entryAddress(`${kind}:${name}`).slice(root.length) })
        ];
      }
    }
    for (const [synonym, term] of Object.entries(tables2?.synonyms ?? {})) {
      yield [
        synonym,
        () => ({
          text: term,
          note: `${synonym}: ${tables2?.words.word[term]}`,
          href: entryAddress(`word:${term}`).slice(root.length)
        })
      ];
    }
  }
  var asWritten = (word2) => [word2, word2.replaceAll(" ", "_")];
  function* topics(all) {
    for (const [title2, href, words2] of all) {
      const hit = () => ({ text: title2, note: words2.slice(0, SHOWN3).join(", "), href });
      for (const word2 of new Set([title2, ...words2].flatMap(asWritten))) yield [word2, hit];
    }
  }
  function distinct(matches2) {
    const seen = /* @__PURE__ */ new Set();
    return matches2.filter((match) => {
      const { href } = match.hit();
      return !seen.has(href) && seen.add(href);
    });
  }
  var shortFirst = (matches2) => [...matches2].sort((left, right) => (left.size ?? 0) - (right.size ?? 0));
  var lastFirst = (matches2) => [
    ...matches2.filter((match) => !match.gone),
    ...matches2.filter((match) => match.gone)
  ];
  function filesFirst(matches2, query, key, listed3) {
    if (matches2.length < 2 || matches2[0].rank === 0) return matches2;
    const isHere2 = ({ hit }) => key !== "" && hit().text.startsWith(`${key}.`);
    const here = matches2.filter(isHere2);
    const others = matches2.filter((match) => !isHere2(match));
    const all = { text: query, note: `all ${matches2.length} files with it`, href: listed3(query) };
    const list2 = { rank: matches2[0].rank, hit: () => all };
    return here.length === 1 ? [...here, list2, ...others] : [list2, ...here, ...others];
  }
  var OF_MODEL = /* @__PURE__ */ new Set(["params", "param", "parameters", "weights", "model", "batch_stats", "p"]);
  var OF_OPTIMIZER = new Set(
    "opt opt_state optimizer optimizer_state mu nu m v mean variance average momentum moment exp_avg exp_avg_sq".split(
      " "
    )
  );
  var isOptimizers = (name) => OF_OPTIMIZER.has(holderOf(name));
  var isModels = (name) => OF_MODEL.has(holderOf(name));
  function holderOf(name) {
    const words2 = name.includes("/") ? [] : name.split(/\W+/);
    return words2.find((part2) => OF_MODEL.has(part2) || OF_OPTIMIZER.has(part2)) ?? "";
  }
  function partsBelow(name) {
    const parts = name.includes("/") ? [] : name.split(/[^\w-]+/).slice(1);
    return parts.filter((part2) => /\D/.test(part2)).reverse();
  }
  var rootOf = (name) => name.includes("/") ? "" : /^(\w+)[[.]/.exec(name)?.[1] ?? "";
  var modelFirst = (matches2) => [...matches2].sort((left, right) => place(left) - place(right));
  var place = ({ models, optimizers }) => models ? 0 : optimizers ? 2 : 1;
  var OF_BACKEND = /^xla_(cpu|gpu|tpu)_/;
  var OF_TPU = /^xla_(?:jf|gf|vf|zf|sc|sparse_core|mosaic|msa)_/;
  var backendOf = (flag) => OF_BACKEND.exec(flag)?.[1] ?? (OF_TPU.test(flag) ? "tpu" : void 0);
  function* ofBackends(entries, backends, query) {
    const asked2 = backendOf(query.trim().toLowerCase().replace(/^-*/, ""));
    for (const entry of entries) {
      const backend = backendOf(entry[0]);
      if (!backend || !backends.length || backend === asked2 || backends.includes(backend)) yield entry;
    }
  }

  // src/search/functions.js
  var shortFunction = (name) => name.split("<locals>.").at(-1) ?? name;

  // src/search/index.js
  var RANKS = 4;
  var LIKE = 2;
  var PRIMITIVES = {
    "all-reduce": ["psum", "pmax", "pmin"],
    "collective-permute": ["ppermute", "pshuffle"],
    "reduce-scatter": ["psum_scatter"],
    dot: ["dot_general"]
  };
  var NAMED2 = /* @__PURE__ */ new Set(["instruction", "computation"]);
  var PASSING2 = /* @__PURE__ */ new Set([...NAMED2, "function"]);
  function rank(value, query) {
    let at = value.indexOf(query);
    if (at < 0) return -1;
    if (at === 0) return value.length === query.length ? 0 : 1;
    for (; at > 0; at = value.indexOf(query, at + 1)) {
      if (!/[a-z0-9]/.test(value[at - 1])) return 2;
    }
    return 3;
  }
  var OF_VARIABLE = /^([a-z_]\w*)(\[['"].*)$/;
  function ranker(query) {
    const parts = query.split(/\s+/);
    const [, variable, path] = OF_VARIABLE.exec(query) ?? [];
    if (variable) {
      const inside = `['${variable}']${path.replaceAll('"', "'")}`;
      return (value) => {
        const whole2 = rank(value, query);
        return whole2 < 0 && value.includes(inside) ? RANKS - 1 : whole2;
      };
    }
    if (parts.length === 1) return (value) => rank(value, query);
    return (value) => {
      const whole2 = rank(value, query);
      return whole2 < 0 && parts.every((part2) => value.includes(part2)) ? RANKS - 1 : whole2;
    };
  }
  function unpacked({ values: values3, stems = [], counts = [], numbers = [] }) {
    if (values3) return values3;
    const names2 = [];
    for (const [place2, stem] of stems.entries()) {
      let number = -2;
      for (let left = counts[place2]; left > 0; left -= 1) {
        number += numbers[names2.length];
        names2.push(number < 0 ? stem : `${stem}.${number}`);
      }
    }
    return names2;
  }
  var ModuleIndex = class {
    /**
     * @param {Module} module
     * @param {import("../../types/payloads").ModuleSearch} value the payload
     * @param {boolean} several whether the report has other modules
     */
    constructor(module, value, several) {
      this.module = module;
      this.where = several ? `, in ${module.name}` : "";
      this.value = value;
      this.last = value.stages.length - 1;
      this.kinds = /* @__PURE__ */ new Map();
      for (const [kind, packed] of Object.entries(value.kinds)) {
        const values3 = unpacked(packed);
        this.kinds.set(kind, { values: values3, lower: values3.map((name) => name.toLowerCase()) });
      }
      this.knownPlain = void 0;
      this.labels = value.stages.map(([key, label]) => `${key} ${label}`.toLowerCase());
    }
    /** @param {string} kind @param {number} place */
    span(kind, place2) {
      return this.value.spans[this.value.kinds[kind].spans[place2]];
    }
    /** @param {string} kind @param {number} place @returns {Hit} */
    hit(kind, place2) {
      const text = (
        /** @type {{values: string[]}} */
        this.kinds.get(kind).values[place2]
      );
      const [first, last] = this.span(kind, place2);
      const opcode = kind === "instruction" ? `${this.opcode(place2)}, ` : "";
      const phase = kind === "op_name" ? phaseOf(text) : "";
      const forms = kind === "opcode" ? this.forms(text).map((form) => `${form}, `) : [];
      const lines3 = this.value.kinds[kind].lines?.[place2] ?? 0;
      const counted = lines3 ? `${format.plural(lines3, "source line")}, ` : "";
      return {
        text: NAMED2.has(kind) ? `%${text}` : text,
        note: `${opcode}${phase && `${phase}, `}${forms.join("")}${counted}${this.lifetime(first, last)}${this.where}`,
        href: lines3 ? listedLines(this.module.slug, shortFunction(text)) : this.address(kind, text, first, last)
      };
    }
    /** @param {string} operation @returns {string[]} the opcodes of other names that are forms of it */
    forms(operation) {
      return Object.hasOwn(this.value.forms, operation) ? this.value.forms[operation] : [];
    }
    /** @param {number} first @param {number} last the numbers of snapshots */
    lifetime(first, last) {
      const label = (place2) => this.value.stages[place2][2];
      if (first === 0 && last === this.last) return "from the first snapshot to the last";
      if (last === this.last) return `since ${label(first)}`;
      if (first === last) return `only in ${label(first)}`;
      return first === 0 ? `last in ${label(last)}` : `${label(first)} to ${label(last)}`;
    }
    /** @param {string} kind @param {string} text @param {number} first @param {number} last the numbers of snapshots */
    address(kind, text, first, last) {
      const [stage, , , hasText] = this.value.stages[last];
      const slug = this.module.slug;
      const isFinal = last === this.last;
      if (kind === "instruction" && this.module.changed) return modulePage(slug, "", placeOf({ i: text }));
      if (kind === "instruction" && isFinal) return modulePage(slug, "", placeOf({ node: text }));
      const isHistoric = this.module.changed && (first === 0 || isFinal);
      if (kind === "op_name" && isHistoric) return modulePage(slug, "", placeOf({ op: text }));
      if (isFinal && (kind === "opcode" || kind === "source")) {
        const shown = kind === "source" ? text.replace(/^.*[\\/]/, "") : text;
        return listedInstructions(slug, shown);
      }
      if (!hasText) return modulePage(slug, "steps", placeOf({ step: stage }));
      if (NAMED2.has(kind)) return modulePage(slug, "texts", placeOf({ text: stage, name: text }));
      const wanted2 = kind === "opcode" && !this.forms(text).length ? `${text}(` : text;
      return modulePage(slug, "texts", placeOf(kind === "source" ? { text: stage } : { text: stage, find: wanted2 }));
    }
    /** @param {string} name of an instruction @returns {TextHit | null} where the text of the last snapshot that has it is, if there is one */
    textOf(name) {
      const place2 = this.kinds.get("instruction")?.values.indexOf(name) ?? -1;
      if (place2 < 0) return null;
      const [first, last] = this.span("instruction", place2);
      const [stage, , , hasText] = this.value.stages[last];
      if (!hasText) return null;
      const href = modulePage(this.module.slug, "texts", placeOf({ text: stage, name }));
      return { text: `%${name}`, note: this.lifetime(first, last), href, between: first > 0 && last < this.last };
    }
    /** @param {string} kind @param {(value: string) => number} ranked @returns {Generator<Found>} */
    *find(kind, ranked) {
      const lower = this.kinds.get(kind)?.lower ?? [];
      for (let place2 = 0; place2 < lower.length; place2 += 1) {
        const plain = ranked(kind === "function" ? shortFunction(lower[place2]) : lower[place2]);
        const score = plain < 0 ? this.rankOther(kind, place2, ranked) : plain;
        const merged = kind === "op_name" && score > 0 && isMerged(lower[place2]);
        const op = kind === "op_name" && !merged && ranked(lower[place2].split("/").at(-1) ?? "") === 0;
        const gone = merged || (op || PASSING2.has(kind)) && this.span(kind, place2)?.[1] !== this.last;
        const size = lower[place2].length;
        const whose = kind === "op_name" && { models: isModels(lower[place2]), optimizers: isOptimizers(lower[place2]) };
        const parts = kind === "op_name" ? partsBelow(lower[place2]) : [];
        const at = parts.findIndex((name) => ranked(name) === 0);
        const root2 = kind === "op_name" && ranked(rootOf(lower[place2])) === 0;
        if (score >= 0) {
          const late = merged || score === 1 && kind === "instruction" && this.opcode(place2) === "parameter";
          const quality = at >= 0 ? Math.min(at, 1) : late ? RANKS - 1 : score;
          yield { rank: quality, gone, part: at >= 0, root: root2, op, ...whose, size, hit: () => this.hit(kind, place2) };
        }
      }
    }
    /** @param {number} place of an instruction @returns {string} */
    opcode(place2) {
      return this.value.codes[this.value.kinds.instruction.codes?.[place2] ?? -1];
    }
    /** @returns {string[][]} the forms of op_names without transformations, in lower case */
    plain() {
      this.knownPlain ??= (this.kinds.get("op_name")?.lower ?? []).map(plainPaths);
      return this.knownPlain;
    }
    /**
     * @param {string} kind
     * @param {number} place
     * @param {(value: string) => number} ranked
     * @returns {number} the rank of another name of a value, never as the same; -1 for none
     */
    rankOther(kind, place2, ranked) {
      if (kind === "op_name") return this.rankPlain(place2, ranked);
      if (kind === "function") return ranked(this.kinds.get(kind)?.lower[place2] ?? "");
      const opcode = kind === "opcode" ? this.kinds.get(kind)?.lower[place2] ?? "" : "";
      if (!opcode) return -1;
      const primitives = Object.hasOwn(PRIMITIVES, opcode) ? PRIMITIVES[opcode] : [];
      const ranks2 = [opcode.replaceAll("-", "_"), ...primitives].map(ranked).filter((quality) => quality >= 0);
      return ranks2.length ? Math.max(1, Math.min(...ranks2)) : -1;
    }
    /**
     * @param {number} place of an op_name
     * @param {(value: string) => number} ranked
     * @returns {number} the rank of what it is without transformations, never as the same; -1 for none
     */
    rankPlain(place2, ranked) {
      const forms = this.plain()[place2];
      const ranks2 = forms.map(ranked).filter((quality) => quality >= 0);
      return ranks2.length ? Math.max(1, Math.min(...ranks2)) : -1;
    }
    /**
     * @param {string} scope in lower case: `layer_3/mlp`
     * @returns {number[]} the places of the op_names below it
     */
    below(scope) {
      const lower = this.kinds.get("op_name")?.lower ?? [];
      const inside = `/${scope.replace(/\/$/, "")}/`;
      const isBelow = (name) => `/${name}`.includes(inside);
      return [...lower.keys()].filter((place2) => [lower[place2], ...this.plain()[place2]].some(isBelow));
    }
    /** @param {string} scope in lower case @returns {number[]} the op_names below it that the last snapshot has */
    finalBelow(scope) {
      return this.below(scope).filter((place2) => this.span("op_name", place2)[1] === this.last);
    }
    /**
     * @param {string} word in lower case
     * @returns {string[]} the scopes of the last snapshot with the word in their names: `lm_loss` of `loss`, else
     * `layernorm` of `norm`; those of most op_names first
     */
    scopesWith(word2) {
      const counts = /* @__PURE__ */ new Map();
      const whole2 = /* @__PURE__ */ new Set();
      const lower = this.kinds.get("op_name")?.lower ?? [];
      for (const [place2, name] of lower.entries()) {
        if (!name.includes(word2) || this.span("op_name", place2)[1] !== this.last) continue;
        const levels = (this.plain()[place2][0] ?? name).split("/").slice(0, -1);
        for (const level of new Set(levels)) {
          if (level.split(/[\W_]+/).includes(word2)) whole2.add(level);
          if (level.includes(word2)) counts.set(level, (counts.get(level) ?? 0) + 1);
        }
      }
      const all = [...counts].filter(([level]) => !whole2.size || whole2.has(level));
      const most = all.sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1));
      return most.slice(0, LIKE).map(([level]) => level);
    }
    /**
     * @param {string} scope in lower case
     * @returns {Generator<Found>} its time and its instructions, where the last snapshot has it; else those of scopes with
     * the word in their names
     */
    *scope(scope) {
      const final = this.finalBelow(scope);
      if (final.length) yield* this.scopeHits(scope, final, 0);
      else for (const level of this.scopesWith(scope)) yield* this.scopeHits(level, this.finalBelow(level), 1);
    }
    /**
     * @param {string} scope in lower case
     * @param {number[]} final the op_names below it
     * @param {number} quality the rank
     * @returns {Generator<Found>}
     */
    *scopeHits(scope, final, quality) {
      const values3 = this.kinds.get("op_name")?.values ?? [];
      const text = written(values3[final[0]], scope.replace(/\/$/, ""));
      const words2 = text.split("/");
      const isListed = final.some((place2) => words2.every((word2) => outerLevels(values3[place2]).includes(word2)));
      const count = format.plural(final.length, "op_name");
      const { slug } = this.module;
      const time = { text, note: `${count}: time${this.where}`, href: listedScopes(slug, words2.join(" ")) };
      const all = { text, note: `${count}: instructions${this.where}`, href: listedInstructions(slug, words2.join(" ")) };
      for (const hit of isListed ? [time, all] : [all]) yield { rank: quality, hit: () => hit };
    }
    /** @param {(value: string) => number} ranked @returns {Generator<Found>} */
    *stages(ranked) {
      for (const [place2, label] of this.labels.entries()) {
        const quality = ranked(label);
        if (quality >= 0) yield { rank: Math.max(1, quality), hit: () => this.stage(place2, "a snapshot") };
      }
    }
    /** @param {number} place of a snapshot @param {string} note @returns {Hit} */
    stage(place2, note2) {
      const [key, label] = this.value.stages[place2];
      return {
        text: label,
        note: `${note2}${this.where}`,
        href: modulePage(this.module.slug, "steps", placeOf({ step: key }))
      };
    }
    /** @param {string} opcode or an operation @returns {Hit[]} the steps that touched it, in any form but its end */
    touchedOpcode(opcode) {
      const started = this.forms(opcode).filter((form) => form === `${opcode}-start`);
      return this.value.steps.flatMap(([place2, touched]) => {
        const [added, removed, changed] = sum(
          [opcode, ...started].filter((form) => Object.hasOwn(touched, form)).map((form) => touched[form])
        );
        const changes = [
          added && `${format.count(added)} added`,
          removed && `${format.count(removed)} removed`,
          changed && `${format.count(changed)} changed`
        ];
        return added || removed || changed ? [this.stage(place2, changes.filter(Boolean).join(", "))] : [];
      });
    }
    /** @param {string} name of an instruction, in lower case @returns {Hit[]} the steps that touched it */
    touchedName(name) {
      const place2 = this.kinds.get("instruction")?.lower.indexOf(name) ?? -1;
      if (place2 < 0) return [];
      return this.value.steps.flatMap(([step, , ...lists]) => {
        const changes = ["added", "removed", "changed"].filter((_, which) => holds(lists[which], place2));
        return changes.length ? [this.stage(step, `%${name} ${changes.join(", ")}`)] : [];
      });
    }
  };
  function written(opName, scope) {
    const form = [opName, ...plainPaths(opName)].find((name) => `/${name.toLowerCase()}/`.includes(`/${scope}/`)) ?? scope;
    const at = `/${form.toLowerCase()}/`.indexOf(`/${scope}/`);
    return form.slice(at, at + scope.length);
  }
  var sum = (counts) => [0, 1, 2].map((what) => counts.reduce((total, count) => total + count[what], 0));
  function holds(distances, wanted2) {
    let at = 0;
    for (const distance of distances) if ((at += distance) >= wanted2) return at === wanted2;
    return false;
  }
  var isHere = ({ slug }) => `${location.pathname}.`.includes(`/m/${encodeURIComponent(slug)}.`);
  var loadModuleIndex = async (module, several) => new ModuleIndex(
    module,
    await /** @type {Promise<Payload<"m/x/search">>} */
    load(`m/${module.slug}/search`),
    several
  );

  // src/history/on_the_way.js
  async function textOnTheWay(key, name) {
    const slug = key.replace(/^m\/(.*)\/history$/, "$1");
    const module = { slug, name: "", key: "", role: "", order: 0, read: true, changed: true };
    const hit = (await loadModuleIndex(module, false).catch(() => null))?.textOf(name);
    if (!hit) return null;
    const place2 = hit.between ? "Neither the first snapshot nor the last has it, and its" : "Its";
    const words2 = `${place2} history is not here: ${hit.note}. `;
    return [element("p.xr-empty", null, words2, element("a", { href: insideReport(hit.href) }, "Its text"))];
  }

  // src/history/history.js
  var FOUND = 30;
  var Histories = class {
    /**
     * @param {HTMLElement} host
     * @param {string} key of the index
     */
    constructor(host, key) {
      this.key = key;
      this.known = void 0;
      this.knownFacts = void 0;
      this.joined = void 0;
      this.knownOps = void 0;
      this.chunks = /* @__PURE__ */ new Map();
      this.steps = host.dataset.steps ?? "";
      this.code = host.dataset.code ?? "";
      this.input = element("input", {
        type: "search",
        placeholder: "%fusion.3, layer_3/mlp/dot_general",
        "aria-label": "Instruction or framework op",
        autocomplete: "off",
        spellcheck: "false"
      });
      this.results = element("ul.xr-ask-results", { "aria-label": "Matches" });
      this.status = element("p.xr-muted", { role: "status" });
      this.panel = element("dialog.xr-history", { "aria-label": "History" });
      host.replaceChildren(
        element("label.xr-ask-box", null, element("span", null, "Trace an instruction or op_name"), this.input),
        this.status,
        this.results
      );
      document.body.append(this.panel);
      this.input.addEventListener("focus", () => Promise.all([this.index(), this.facts()]).catch(() => {
      }));
      this.input.addEventListener("input", () => this.search());
      this.input.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        this.openFirst();
      });
      document.addEventListener("click", (event) => this.clicked(event));
      document.addEventListener("keydown", (event) => this.panel.open && event.key === "Escape" && this.close());
      window.addEventListener("hashchange", () => this.openWanted());
      this.openWanted();
    }
    /** @returns {Promise<Index>} */
    index() {
      this.known ??= /** @type {Promise<Payload<"m/x/history">>} */
      load(this.key).then(readIndex);
      return this.known;
    }
    /** @returns {Promise<import("./facts.js").InstructionFacts | null>} null where they cannot be loaded */
    facts() {
      this.knownFacts ??= loadFacts(this.key.replace(/[^/]*$/, "facts")).catch(() => null);
      return this.knownFacts;
    }
    /** @returns {Promise<Map<string, string[]>>} paths that inlining made, with their parts in the first snapshot */
    paths() {
      this.joined ??= Promise.all([this.index(), this.facts()]).then(
        ([index, facts2]) => joinedPaths(facts2?.scopes.keys() ?? [], new Set(opsOf(index)))
      );
      return this.joined;
    }
    /** @returns {Promise<OpNames>} op_names of the first and the final snapshot */
    opNames() {
      this.knownOps ??= Promise.all([this.index(), this.facts(), this.paths()]).then(([index, facts2, paths]) => {
        const first = new Set(opsOf(index));
        const ends = properEnds(first);
        const finals = [...facts2?.scopes.keys() ?? []].filter((op) => first.has(op) || !ends.has(op));
        const ops = /* @__PURE__ */ new Set([...first, ...finals]);
        for (const part2 of [...paths.values()].flat()) ops.delete(part2);
        return new OpNames(ops);
      });
      return this.knownOps;
    }
    /**
     * @param {number} number
     * @returns {Promise<Chunk>}
     */
    chunk(number) {
      return once(
        this.chunks,
        number,
        () => (
          /** @type {Promise<Payload<"m/x/history-0">>} */
          load(`${this.key}-${number}`).then(readChunk)
        )
      );
    }
    /** @param {MouseEvent} event */
    clicked(event) {
      const target2 = event.target instanceof Element ? event.target.closest("a.xr-ask") : null;
      if (!target2 || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const wanted2 = new URLSearchParams((target2.getAttribute("href") ?? "").slice(1));
      state.set({ i: wanted2.get("i"), op: wanted2.get("op") });
      this.openWanted();
    }
    openWanted() {
      const name = state.get("i");
      const op = state.get("op");
      if (name || op) this.open(name, op);
    }
    close() {
      this.panel.close();
      state.set({ i: null, op: null });
    }
    async search() {
      const wanted2 = this.input.value.trim().replace(/^%/, "").toLowerCase();
      if (!wanted2) {
        this.results.replaceChildren();
        this.status.textContent = "";
        return;
      }
      const [index, known4, isOp2] = await Promise.all([this.index(), this.opNames(), isOpcode(wanted2)]);
      const phases = known4.find(wanted2);
      const names2 = matches(Object.keys(index.names), wanted2);
      const links = names2.map((name) => element("li", null, historyLink(name)));
      const entries = phases.map((ops) => ops.map(opEntry));
      const before = literalPhases(names2, phases, wanted2, isOp2);
      const groups = [...entries.slice(0, before), links, ...entries.slice(before)].filter((group) => group.length);
      const count = groups.reduce((sum2, group) => sum2 + group.length, 0);
      const shown = shares(groups, FOUND);
      const told = countPhases(phases);
      this.status.textContent = count ? `${format.plural(count, "name")}${told && `, ${told}`}${shown.length < count ? `; ${shown.length} are shown.` : ""}` : "No instruction or op_name contains this text.";
      this.results.replaceChildren(...shown);
    }
    /** Opens the history of the name that was typed, or of the first that contains it. */
    async openFirst() {
      await this.search();
      this.results.querySelector("a")?.click();
    }
    /**
     * @param {string | null} name
     * @param {string | null} op
     */
    async open(name, op) {
      const title2 = name ? `%${name.replace(/^%/, "")}` : op ?? "";
      const body = element("div", { "aria-busy": "true" });
      const close = element("button.xr-button", { type: "button", onclick: () => this.close() }, "Close");
      const code = name && this.code ? element("a", { href: `${this.code}#unit=${encodeURIComponent(name.replace(/^%/, ""))}` }, "Its code") : null;
      this.panel.replaceChildren(
        element(
          "div.xr-history-head",
          null,
          element("h2", { tabindex: "-1", autofocus: true }, element("code", null, title2)),
          code,
          close
        ),
        body
      );
      if (!this.panel.open) this.panel.show();
      this.panel.scrollTop = 0;
      try {
        const [index, facts2] = await Promise.all([this.index(), this.facts()]);
        const numbers = name ? numbersOf(index, name) : numbersOfOp(index, op ?? "");
        const part2 = name ? facts2?.part(name.replace(/^%/, "")) : null;
        if (part2) body.append(part2);
        if (numbers.length) body.append(...await this.answer(index, numbers));
        else if (name) body.append(...await this.unnumbered(index, name.replace(/^%/, "")));
        else body.append(...await this.unlisted(index, op ?? ""));
        if (op && numbers.length) body.append(...await this.untraced(index, op, numbers[0]));
      } catch (error) {
        body.append(failure(`The history cannot be shown. ${errorMessage(error)}`));
      }
      body.removeAttribute("aria-busy");
    }
    /**
     * @param {Index} index
     * @param {number[]} numbers
     */
    async answer(index, numbers) {
      if (!numbers.length) return [element("p.xr-empty", null, unknownName(index))];
      const view = new SubjectView(index, this.steps, await this.facts());
      const all = await Promise.all(numbers.slice(0, FOUND).map((number) => this.subject(index, number)));
      const count = format.plural(numbers.length, "history", "histories");
      const words2 = `${count} with this name in some snapshot; that of the last snapshot comes first.`;
      const intro = numbers.length > 1 ? [element("p.xr-muted", null, words2)] : [];
      return [...intro, ...all.map((answer, place2) => view.part(answer, place2 === 0))];
    }
    /**
     * Tells of an instruction without a history: a part of a fusion, one that was left out, or one on the way.
     * @param {Index} index
     * @param {string} name without `%`
     */
    async unnumbered(index, name) {
      const facts2 = await this.facts();
      if (!facts2?.kind(name)) {
        const op = leftOutOp(index, name);
        return op ? this.leftOut(index, op) : await textOnTheWay(this.key, name) ?? this.answer(index, []);
      }
      const fusion = facts2.fusionOf(name);
      const numbers = numbersOf(index, fusion);
      const words2 = withoutHistory(index, name, fusion, facts2.scopeOf(name));
      return numbers.length ? [...words2, ...await this.answer(index, numbers)] : words2;
    }
    /**
     * Lists the instructions of an op_name without a history in both snapshots.
     * @param {Index} index
     * @param {string} op
     */
    async leftOut(index, op) {
      const facts2 = await this.facts();
      const names2 = facts2?.scopes.get(op) ?? [];
      return [...leftOutPart(index, op), ...names2.length ? await this.carried(index, names2, facts2) : []];
    }
    /**
     * Tells of an op_name without a history: the first snapshot, the final one or both may have it, or one that ends so.
     * @param {Index} index
     * @param {string} op
     */
    async unlisted(index, op) {
      if (index.leftOut.has(op)) return this.leftOut(index, op);
      const facts2 = await this.facts();
      const bearers = facts2?.scopes.get(op);
      if (bearers && !endingWith(op, opsOf(index)).length) return this.bearers(index, op, bearers);
      const longer = endingWith(op, [...opsOf(index), ...facts2?.scopes.keys() ?? []]);
      if (!longer.length) return this.answer(index, []);
      const intro = renderLonger(longer, FOUND);
      if (longer.length > 1) return intro;
      const [only] = longer;
      const names2 = facts2?.scopes.get(only);
      const numbers = numbersOfOp(index, only);
      if (numbers.length) return [...intro, ...await this.answer(index, numbers)];
      if (index.leftOut.has(only)) return [...intro, ...await this.leftOut(index, only)];
      return names2 ? [...intro, ...await this.bearers(index, only, names2)] : intro;
    }
    /**
     * Lists the final instructions of an op_name whose trails from the first snapshot end before.
     * @param {Index} index
     * @param {string} op
     * @param {number} number of the op_name
     */
    async untraced(index, op, number) {
      const [{ subject }, facts2] = await Promise.all([this.subject(index, number), this.facts()]);
      const names2 = facts2?.scopes.get(op) ?? [];
      if (subject.now[0] || !names2.length) return [];
      return this.carried(index, names2, facts2);
    }
    /**
     * @param {Index} index
     * @param {string[]} names of the final instructions that have an op_name
     * @param {import("./facts.js").InstructionFacts | null} facts
     */
    async carried(index, names2, facts2) {
      return [element("p", null, `By op_name: ${countFinal(names2, FOUND)}`), await this.list(index, names2, facts2)];
    }
    /**
     * Lists the instructions of an op_name that only the final snapshot has, and what it is of in the first one.
     * @param {Index} index
     * @param {string} op
     * @param {string[]} names of the instructions
     */
    async bearers(index, op, names2) {
      const [paths, facts2] = await Promise.all([this.paths(), this.facts()]);
      const parts = paths.get(op) ?? [];
      const numbers = parts.flatMap((part2) => numbersOfOp(index, part2));
      const successors = successorsOf(await Promise.all(numbers.map((number) => this.subject(index, number))));
      const count = countFinal(names2, FOUND);
      const list2 = await this.list(index, successorsFirst(names2, successors), facts2);
      if (!parts.length) {
        const words3 = `No instruction of before_optimizations has this op_name; ${count}`;
        return [element("p.xr-muted", null, words3), list2];
      }
      const written3 = parts.flatMap((part2, place2) => [place2 ? ", " : "", element("code", null, part2)]);
      const itself = renderUnnamed(unnamedSuccessors(successors, names2));
      const verb = names2.length === 1 ? "carries" : "carry";
      const carried = itself.length ? count.replace(".", ` only ${verb} its op_name.`) : count;
      const words2 = ["In before_optimizations it is ", ...written3, ", relative to a call that was inlined; ", carried];
      const histories = numbers.length ? await this.ofCall(index, names2, numbers) : [];
      const others = parts.flatMap((part2) => leftOutPart(index, part2));
      return [...itself, element("p.xr-muted", null, ...words2), list2, ...histories, ...others];
    }
    /**
     * Lists the first of some final instructions, matrix products before others.
     * @param {Index} index
     * @param {string[]} names
     * @param {import("./facts.js").InstructionFacts | null} facts
     */
    async list(index, names2, facts2) {
      const sorted = facts2 ? productsFirst(names2, (name) => facts2.kind(name)) : names2;
      const lines3 = await Promise.all(sorted.slice(0, FOUND).map((name) => this.bearer(index, name, facts2)));
      return element("ul.xr-places", null, ...lines3);
    }
    /**
     * Tells the histories of op_names of the first snapshot; first which of their instructions one call is.
     * @param {Index} index
     * @param {string[]} names of instructions of the final snapshot
     * @param {number[]} numbers of the op_names
     */
    async ofCall(index, names2, numbers) {
      const firstNumbers = names2.map((name) => numbersOf(index, name).find((number) => number < index.forward));
      const subjectNumbers = firstNumbers.filter((number) => number !== void 0).slice(0, FOUND);
      const read = (number) => this.subject(index, number);
      const [subjects, answers] = await Promise.all([
        Promise.all(subjectNumbers.map(read)),
        Promise.all(numbers.map(read))
      ]);
      const intro = answers.flatMap((answer) => renderLeading(answer, subjects));
      if (!intro.length) return this.answer(index, numbers);
      const view = new SubjectView(index, this.steps, await this.facts());
      return [
        ...intro,
        element("p.xr-muted", null, "Of all calls together:"),
        ...answers.map((answer) => view.part(answer, false))
      ];
    }
    /**
     * @param {Index} index
     * @param {string} name of an instruction of the final snapshot
     * @param {import("./facts.js").InstructionFacts | null} facts
     */
    async bearer(index, name, facts2) {
      const number = numbersOf(index, name).find((subject) => subject < index.forward);
      const made = number === void 0 ? null : (await this.subject(index, number)).events;
      const since = made && new SubjectView(index, this.steps, null).since(`%${name}`, made);
      const fusion = facts2?.fusionOf(name) ?? "";
      const inside = fusion ? [" in ", historyLink(fusion)] : [];
      return element(
        "li",
        null,
        historyLink(name),
        " ",
        element("span.xr-muted", null, facts2?.kind(name) ?? ""),
        ...inside,
        since
      );
    }
    /**
     * @param {Index} index
     * @param {number} number
     * @returns {Promise<SubjectHistory>}
     */
    async subject(index, number) {
      const chunk = await this.chunk(Math.floor(number / index.chunk));
      const place2 = number % index.chunk;
      return {
        title: titleOf(index, number),
        subject: chunk.subjects[place2],
        events: eventsOf(chunk, place2),
        standings: chunk.standings,
        number
      };
    }
  };
  function drawHistory(host, key) {
    new Histories(host, key);
  }

  // src/landmarks.js
  function nameCodeBars() {
    for (const [number, block] of document.querySelectorAll("article pre:has(> code)").entries()) {
      const name = () => block.querySelector(".md-code__nav")?.setAttribute("aria-label", `Code block ${number + 1}`);
      new MutationObserver(name).observe(block, { childList: true });
      name();
    }
  }

  // src/memory/living.js
  var [LEFT, RIGHT, WIDTH] = [64, 8, 760];
  var SHOWN4 = 20;
  function livingAt(rows2, position) {
    const living = rows2.filter(([, , , start, end]) => start <= position && position <= end);
    return { living, bytes: living.reduce((sum2, row4) => sum2 + row4[1], 0) };
  }
  function positionAt(x, width, positions) {
    const share = (x / width * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
    return Math.round(Math.min(1, Math.max(0, share)) * (positions - 1));
  }
  async function drawLiving(host, key) {
    const { rows: rows2 } = (
      /** @type {{ rows: Living[] }} */
      await load(key)
    );
    const positions = Number(host.dataset.positions);
    const slider = element("input", { type: "range", min: 0, max: positions - 1, id: "xr-moment" });
    const said = element("p.xr-muted", { role: "status" });
    const body = element("tbody", null);
    const head2 = ["HLO value", "Size", "Kind", "Positions"].map((title2) => element("th", { scope: "col" }, title2));
    const table = element("table.xr-static", null, element("thead", null, element("tr", null, ...head2)), body);
    const show5 = () => {
      const position = Number(slider.value);
      const { living, bytes } = livingAt(rows2, position);
      const more = living.length > SHOWN4 ? `; the largest ${SHOWN4} are listed` : "";
      said.textContent = `Position ${format.count(position)}: ${format.plural(living.length, "value")}, ${format.bytes(bytes)} in total${more}. Values that share memory are added.`;
      body.replaceChildren(...living.slice(0, SHOWN4).map(line2));
    };
    slider.addEventListener("input", show5);
    const chart = host.querySelector("svg");
    chart?.addEventListener("click", (event) => {
      const box3 = chart.getBoundingClientRect();
      slider.value = String(positionAt(event.clientX - box3.left, box3.width, positions));
      show5();
    });
    slider.value = host.dataset.peak ?? "0";
    show5();
    host.append(
      element("label.xr-moment", { for: "xr-moment" }, "Live at schedule position", slider),
      said,
      element("details.xr-more", null, element("summary", null, "Values live there"), table)
    );
  }
  function line2([name, bytes, kind, start, end, argument]) {
    const value = element("code", null, `%${name}`);
    return element(
      "tr",
      null,
      element("td", null, ...argument ? [element("code", null, argument), " (", value, ")"] : [value]),
      element("td.xr-number", null, format.bytes(bytes)),
      element("td", null, kind),
      element("td.xr-number", null, `${format.count(start)}\u2013${format.count(end)}`)
    );
  }

  // src/contents.js
  var WIDE2 = "[data-xr-steps], [data-xr-code], .xr-table";
  var LISTED3 = ".xr-table, .xr-answers";
  function showContents(article) {
    listSections(article);
    const { classList } = document.documentElement;
    classList.toggle("xr-wide", Boolean(document.querySelector(WIDE2)));
    classList.toggle("xr-lists-sections", Boolean(document.querySelector(".xr-contents")));
  }
  function listSections(article) {
    const headings = [...article.querySelectorAll("h2[id]")];
    const title2 = article.querySelector("h1");
    if (!title2 || !article.querySelector(LISTED3) || article.querySelector(".xr-contents")) return;
    const links = headings.map(
      (heading2) => element("a", { href: `#${heading2.id}` }, heading2.firstChild?.textContent ?? "")
    );
    const lead = title2.nextElementSibling?.matches(".xr-lead") ? title2.nextElementSibling : title2;
    lead.after(element("nav.xr-contents", { "aria-label": "On this page", hidden: links.length < 2 }, ...links));
  }

  // src/parts.js
  var CALLED = (
    /** @type {Record<string, string>} */
    { hlo: "texts" }
  );
  async function show4(tabs, article) {
    const name = CALLED[askedPart()] ?? askedPart();
    if (location.search) window.addEventListener("pagehide", keep);
    while (tabs.nextSibling) tabs.nextSibling.remove();
    article.setAttribute("aria-busy", "true");
    list([]);
    document.documentElement.classList.remove("xr-part-asked");
    try {
      put(article, await loadPart(tabs, name));
    } catch (error) {
      fail(article, tabs, errorMessage(error));
    }
    article.removeAttribute("aria-busy");
  }
  async function loadPart(tabs, name) {
    const links = [...tabs.querySelectorAll("a")];
    const own2 = links.find((link2) => link2.dataset.part === name);
    for (const link2 of links) link2.removeAttribute("aria-current");
    if (!own2) throw new Error(`This page has no tab ${name}.`);
    own2.setAttribute("aria-current", "page");
    tabs.scrollLeft = own2.offsetLeft - tabs.offsetLeft - own2.offsetWidth;
    return (
      /** @type {Promise<Payload<"m/x/page">>} */
      load(`${tabs.dataset.xrParts}${name}`)
    );
  }
  function put(article, { title: title2, html, wide }) {
    article.insertAdjacentHTML("beforeend", html);
    entitle(title2, article.querySelector("h1")?.id ?? "");
    for (
      const side of
      /** @type {NodeListOf<HTMLElement>} */
      document.querySelectorAll(".md-sidebar")
    ) {
      side.hidden = wide;
    }
    list(contents(article));
    showContents(article);
    window.document$?.next(document);
    void jump(drawComponents(article));
  }
  async function jump(drawn5) {
    const place2 = document.getElementById(state.get("at") ?? location.hash.slice(1));
    const go = () => kept === void 0 ? place2?.scrollIntoView() : scrollTo(0, kept);
    let left = false;
    for (const type of ["wheel", "touchstart", "pointerdown", "keydown"]) {
      window.addEventListener(type, () => left = true, { once: true });
    }
    go();
    await drawn5;
    if (!left) go();
  }
  var kept = (
    /** @type {number | undefined} */
    history.state?.scroll
  );
  function keep() {
    history.replaceState({ ...history.state, scroll: scrollY }, "");
  }
  function entitle(title2, anchor) {
    const end = document.title.lastIndexOf(" - ");
    document.title = title2 + (end < 0 ? "" : document.title.slice(end));
    const topic = document.querySelector("[data-md-component=header-topic] .md-ellipsis");
    if (topic) topic.textContent = title2;
    document.querySelector(".md-skip")?.setAttribute("href", `#${anchor}`);
  }
  function list(items) {
    document.querySelector(".md-nav--secondary ul")?.replaceChildren(...items);
  }
  function contents(article) {
    const entries = (
      /** @type {HTMLElement[]} */
      []
    );
    for (const heading2 of article.querySelectorAll("h2[id], h3[id]")) {
      const words2 = heading2.firstChild?.textContent ?? "";
      const item = element(
        "li.md-nav__item",
        null,
        element("a.md-nav__link", { href: `#${heading2.id}` }, element("span.md-ellipsis", null, words2))
      );
      const above = entries.at(-1);
      if (heading2.localName === "h2" || !above) entries.push(item);
      else below(above).append(item);
    }
    return entries;
  }
  function below(item) {
    const inner = item.querySelector("ul") ?? element("ul.md-nav__list");
    if (!inner.parentNode) item.append(element("nav.md-nav", { "aria-label": item.textContent }, inner));
    return inner;
  }
  function fail(article, tabs, reason) {
    const title2 = "This is not in the report";
    const overview2 = tabs.querySelector("a")?.getAttribute("href");
    entitle(title2, "missing");
    article.append(
      element("h1", { id: "missing" }, title2),
      failure(`${reason} `, element("a", { href: overview2 }, "The overview of the module"))
    );
  }
  var MOVED = (
    /** @type {Record<string, string>} */
    {
      node: "graph",
      computation: "graph",
      graph: "graph",
      "pass-summary": "passes",
      files: "files"
    }
  );
  function goOn(tabs) {
    const asked2 = location.hash.slice(1);
    const name = Object.keys(MOVED).find((key) => asked2 === key || state.get(key));
    if (!name) return;
    const tab = [...tabs.querySelectorAll("a")].find((link2) => link2.dataset.part === MOVED[name]);
    const shown = document.querySelector(name === "computation" ? "[data-xr-computations]" : "[data-xr-graph]");
    if (!tab || askedPart() || shown) return;
    const values3 = asked2.includes("=") ? asked2.split("&").filter((value) => !value.startsWith("page=")) : [];
    if (isSingleFile) goToFragment([tab.hash, ...values3].join("&"));
    else location.replace(tab.href + (values3.length ? `#${values3.join("&")}` : ""));
  }
  function showAskedPart() {
    const tabs = (
      /** @type {HTMLElement | null} */
      document.querySelector("[data-xr-parts]")
    );
    if (tabs) {
      goOn(tabs);
      window.addEventListener("hashchange", () => goOn(tabs));
    }
    if (tabs?.parentElement && askedPart()) void show4(tabs, tabs.parentElement);
    else showContents(document);
  }

  // src/profile/timeline.js
  var [AXIS, HEAD, LANE, BAR] = [22, 18, 18, 15];
  var CHARACTER = 6.6;
  var STEP2 = 1.5;
  var MOST4 = 1e5;
  var STILL2 = 4;
  var NAMED3 = 5;
  var MODES = (
    /** @type {Record<string, string>} */
    { opcode: "opcode category", scope: "scope" }
  );
  var duration = (time) => format.seconds(time / 1e6);
  function pace(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
  }
  var Timeline = class {
    /**
     * @param {HTMLElement} host
     * @param {string} key
     * @param {Data} data
     * @param {string} css of pictures
     */
    constructor(host, key, data, css) {
      this.host = host;
      this.key = key;
      this.data = data;
      this.step = data.steps[0];
      this.from = 0;
      this.wide = this.step.length;
      this.mode = "opcode";
      this.style = drawn("style", {}, css);
      this.canvas = element("div.xr-canvas", {
        tabindex: 0,
        role: "group",
        "aria-label": "Timeline. Arrow keys move it, plus and minus change its size, 0 shows all of it; the table below says the same."
      });
      this.legend = element("p.xr-timeline-legend");
      this.slowest = element("p.xr-timeline-legend");
      this.ranks = /* @__PURE__ */ new Map();
      this.note = element("p.xr-muted");
      this.table = element("details.xr-more", null, element("summary", null, "Table"));
      this.shown = false;
      this.table.addEventListener("toggle", () => this.list());
      host.replaceChildren(this.toolbar(), this.canvas, this.legend, this.slowest, this.note, this.table);
      this.listen();
      this.choose(0);
    }
    toolbar() {
      const runs = this.data.steps.map(({ title: title2 }, at) => element("option", { value: at }, title2));
      const run = element("select", { onchange: () => this.choose(Number(run.value)) }, ...runs);
      const modes2 = Object.entries(MODES).map(([mode2, words2]) => element("option", { value: mode2 }, words2));
      const mode = element("select", { onchange: () => this.color(mode.value) }, ...modes2);
      const button = (words2, title2, act) => element("button.xr-button", { type: "button", title: title2, "aria-label": title2, onclick: act }, words2);
      return element(
        "div.xr-toolbar",
        null,
        element("label.xr-modes", null, "Run ", run),
        this.data.scopes.length > 0 && element("label.xr-modes", null, "Color by ", mode),
        button("\u2212", "Smaller", () => this.zoom(1 / STEP2)),
        button("+", "Larger", () => this.zoom(STEP2)),
        button("Fit", "Show all of it", () => this.fit())
      );
    }
    /** @param {number} at */
    choose(at) {
      this.step = this.data.steps[at];
      const { merged, left_out: left } = this.step;
      const words2 = [
        merged && `${format.plural(merged, "short event")} share bars with their neighbors.`,
        left && `${format.plural(left, "event")} of the threads that did least are left out.`
      ];
      this.note.textContent = words2.filter(Boolean).join(" ");
      this.name();
      this.shown = false;
      this.list();
      this.fit();
    }
    /** Numbers the slowest instructions of the run, and names them below it. */
    name() {
      const alone = this.step.bars.filter(([, , , , count]) => count === 1);
      const first = alone.sort(([, , left], [, , right]) => right - left).slice(0, NAMED3);
      this.ranks = new Map(first.map((bar, place2) => [bar, place2 + 1]));
      const named2 = first.map(([, , length, place2], at) => {
        const href = this.address(place2);
        const name = element("code", null, `%${this.data.instructions[place2][0]}`);
        return element(
          "span",
          null,
          `${at + 1} `,
          href ? element("a", { href: insideReport(href) }, name) : name,
          ` ${duration(length)}`
        );
      });
      this.slowest.replaceChildren(element("span", null, "Longest:"), ...named2);
    }
    /** @param {string} mode */
    color(mode) {
      this.mode = mode;
      this.draw();
    }
    fit() {
      this.from = 0;
      this.wide = this.step.length || 1;
      this.draw();
    }
    /**
     * @param {number} factor
     * @param {number} [at] the part of the width that stays where it is
     */
    zoom(factor, at = 0.5) {
      const whole2 = this.step.length || 1;
      const wide = Math.min(whole2, Math.max(whole2 / MOST4, this.wide / factor));
      this.from += (this.wide - wide) * at;
      this.wide = wide;
      this.move(0);
    }
    /** @param {number} part of the width */
    move(part2) {
      this.from = Math.max(0, Math.min((this.step.length || 1) - this.wide, this.from + part2 * this.wide));
      this.draw();
    }
    listen() {
      const keys = (
        /** @type {Record<string, () => void>} */
        {
          ArrowLeft: () => this.move(-0.1),
          ArrowRight: () => this.move(0.1),
          "+": () => this.zoom(STEP2),
          "=": () => this.zoom(STEP2),
          "-": () => this.zoom(1 / STEP2),
          0: () => this.fit()
        }
      );
      this.canvas.addEventListener("keydown", (event) => {
        const act = keys[event.key];
        if (!act || isOfBrowser(event)) return;
        event.preventDefault();
        event.stopPropagation();
        act();
      });
      this.canvas.addEventListener(
        "wheel",
        (event) => {
          if (!event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          const { left, width } = this.canvas.getBoundingClientRect();
          this.zoom(Math.exp(-event.deltaY / 300), (event.clientX - left) / width);
        },
        { passive: false }
      );
      this.canvas.addEventListener("pointerdown", (event) => this.grab(event));
      let before = 0;
      new ResizeObserver(() => {
        if (this.canvas.clientWidth === before) return;
        before = this.canvas.clientWidth;
        this.draw();
      }).observe(this.canvas);
    }
    /** @param {PointerEvent} event moves the picture, and leads nowhere where it did */
    grab(event) {
      if (event.button !== 0 || event.pointerType === "touch") return;
      let [at, far] = [event.clientX, 0];
      const ended = new AbortController();
      const { signal } = ended;
      addEventListener(
        "pointermove",
        (next) => {
          const by = at - next.clientX;
          far += Math.abs(by);
          at = next.clientX;
          if (far >= STILL2) this.move(by / this.canvas.clientWidth);
        },
        { signal }
      );
      addEventListener("pointerup", () => setTimeout(() => ended.abort()), { signal });
      addEventListener("click", (click) => far >= STILL2 && click.preventDefault(), { signal, capture: true });
    }
    /** Draws the part of the run that is seen. */
    draw() {
      const width = Math.max(280, this.canvas.clientWidth);
      const tops = (
        /** @type {number[]} */
        []
      );
      const heads = (
        /** @type {SVGElement[]} */
        []
      );
      let y = AXIS;
      for (const [at, [thread]] of this.step.lanes.entries()) {
        if (!at || this.step.lanes[at - 1][0] !== thread) {
          heads.push(
            /** @type {SVGElement} */
            drawn("text", { class: "note", x: 4, y: (y += HEAD) - 5 }, `thread ${thread}`)
          );
        }
        tops.push(y);
        y += LANE;
      }
      const height = y + 4;
      const bars = this.step.bars.filter(
        ([, start, length]) => start + length >= this.from && start <= this.from + this.wide
      );
      const svg = drawn("svg", {
        class: `xg by-${this.mode}`,
        viewBox: `0 0 ${width} ${height}`,
        width,
        height,
        role: "group"
      });
      const title2 = drawn("title", {}, `Timeline, ${this.step.title}`);
      svg.append(
        title2,
        this.style,
        drawn("rect", { class: "paper", width: "100%", height: "100%" }),
        ...this.axis(width, height),
        ...heads,
        ...bars.map((bar) => this.bar(bar, tops[bar[0]], width))
      );
      this.canvas.replaceChildren(svg);
      this.describe();
    }
    /**
     * @param {number} width
     * @param {number} height
     */
    axis(width, height) {
      const apart = pace(this.wide * 90 / width);
      const marks = [];
      for (let time = Math.ceil(this.from / apart) * apart; time <= this.from + this.wide; time += apart) {
        const x = (time - this.from) / this.wide * width;
        marks.push(drawn("path", { class: "e e-thin", d: `M${x.toFixed(1)} ${AXIS - 6}V${height}` }));
        if (x < width - 40) {
          marks.push(drawn("text", { class: "note", x: (x + 3).toFixed(1), y: AXIS - 8 }, time ? duration(time) : "0"));
        }
      }
      return marks;
    }
    /**
     * @param {Bar} bar
     * @param {number} y
     * @param {number} width
     */
    bar(bar, y, width) {
      const [, start, length, place2, count] = bar;
      const [left, right] = [start, start + length].map((time) => (time - this.from) / this.wide * width);
      const [x, wide] = [Math.max(-2, left), Math.max(1, Math.min(width + 2, right) - Math.max(-2, left))];
      const [name, opcode, family, scope] = this.data.instructions[place2] ?? ["", "", "gray", -1];
      const words2 = count > 1 ? format.plural(count, "short event") : [`%${name}`, opcode].filter(Boolean).join(", ");
      const tooltip = `${words2}: ${duration(length)}, from ${duration(start)} on`;
      const box3 = drawn("rect", {
        class: "box",
        x: x.toFixed(1),
        y,
        width: wide.toFixed(1),
        height: BAR,
        rx: Math.min(2, wide / 4)
      });
      const fits = Math.floor((wide - 6) / CHARACTER) - (this.ranks.has(bar) ? 2 : 0);
      const whole2 = count > 1 ? `${count} short` : name;
      const rank2 = this.ranks.has(bar) ? String(this.ranks.get(bar)) : "";
      const cut = whole2.length > fits ? `${whole2.slice(0, fits - 1)}\u2026` : whole2;
      const shown = fits >= 4 ? `${rank2 && `${rank2} `}${cut}` : rank2;
      const label = shown ? [drawn("text", { x: (x + wide / 2).toFixed(1), y: y + 11 }, shown)] : [];
      const group = drawn(
        "g",
        { class: `n n-${family}`, "data-scope": scope },
        drawn("title", {}, tooltip),
        box3,
        ...label
      );
      const href = count > 1 ? null : this.address(place2);
      return href ? drawn("a", { href: insideReport(href) ?? "", tabindex: -1, "aria-label": tooltip }, group) : group;
    }
    /** @param {number} place of an instruction: the address of what is around it, seen from the root */
    address(place2) {
      const [name, opcode] = this.data.instructions[place2];
      return opcode ? `${this.data.page}#node=${encodeURIComponent(name)}` : null;
    }
    /** Says what the colors mean. */
    describe() {
      const { families, scopes: scopes2 } = this.data;
      const entries = this.mode === "scope" ? scopes2.map((words2, at) => [`t-${at}`, words2]) : families.map(([name, words2]) => [`f-${name}`, words2]);
      this.legend.replaceChildren(
        ...entries.map(([look2, words2]) => {
          const swatch2 = drawn(
            "svg",
            { class: `xg by-${this.mode}`, width: 16, height: 10, "aria-hidden": "true" },
            drawn("rect", { class: look2, width: 16, height: 10, rx: 1 })
          );
          return element("span", null, swatch2, ` ${words2}`);
        })
      );
    }
    /** Writes the table of the run, once it is asked for. */
    list() {
      const open = (
        /** @type {HTMLDetailsElement} */
        this.table.open
      );
      if (this.shown || !open) return void (open || this.table.querySelector(".xr-table")?.remove());
      this.shown = true;
      const room = element("div.xr-table");
      this.table.querySelector(".xr-table")?.remove();
      this.table.append(room);
      const rows2 = this.step.bars.map(([lane, start, length, place2, count]) => {
        const [name, opcode] = this.data.instructions[place2] ?? ["", ""];
        const href = count > 1 ? null : this.address(place2);
        const shown = count > 1 ? format.plural(count, "short event") : name;
        const cells = [start, length, href ? [shown, href] : shown, opcode || null, ...this.step.lanes[lane]];
        return cells;
      });
      const columns2 = [
        { title: "Start \xB5s", kind: "float", help: "since the run began" },
        { title: "Duration \xB5s", kind: "float" },
        { title: "Instruction", kind: "link" },
        { title: "Opcode", kind: "code", of: "opcode" },
        { title: "Thread", kind: "int" },
        { title: "Depth", kind: "int", help: "nesting depth" }
      ];
      new Table(room, this.key, { columns: columns2, rows: rows2, sort: [1, "desc"], empty: "Nothing ran." });
    }
  };
  async function drawTimeline(host, key) {
    await waitUntilNear(host);
    const [data, { css }] = await Promise.all([
      /** @type {Promise<Payload<"m/x/timeline">>} */
      load(key),
      load("pictures/look")
    ]);
    if (data.steps.length) new Timeline(host, key, data, css);
    else host.append(element("p", null, "The trace has too many events to keep those of a whole run."));
  }

  // src/search/pages.js
  var LONGEST5 = 120;
  var BEFORE = 30;
  var known3 = () => (
    /** @type {any} */
    window.__index
  );
  async function loadPages() {
    const named2 = document.querySelector("meta[name=xr-search]")?.getAttribute("content");
    if (!known3() && !isSingleFile && named2) await addScript(`${root}${named2}`);
    return (known3()?.docs ?? known3()?.items ?? []).map(section2);
  }
  function addScript(src) {
    return new Promise((resolve) => {
      const done = () => resolve();
      document.head.append(element("script", { src, onload: done, onerror: done }));
    });
  }
  function section2({ location: location2, title: title2, text }) {
    const apart = text.replace(/<\/?(?:code|sub|sup)>/g, "").replace(/<[^<>]*>/g, " ");
    const plain = decode(apart).replace(/\s+/g, " ");
    const heading2 = decode(title2);
    return {
      search: `${heading2} ${plain}`,
      hit: (query) => ({ text: heading2, note: excerpt(plain.trim(), query), href: location2 })
    };
  }
  var MARKS = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };
  var decode = (html) => html.replace(/&(?:lt|gt|quot|#39|amp);/g, (mark2) => MARKS[mark2]);
  function excerpt(text, query) {
    const wanted2 = query.trim().toLowerCase();
    const place2 = wanted2 ? text.toLowerCase().indexOf(wanted2) : -1;
    const start = place2 < LONGEST5 - wanted2.length ? 0 : text.lastIndexOf(" ", place2 - BEFORE) + 1;
    const ending = text.slice(start);
    return `${start ? "\u2026 " : ""}${ending.length > LONGEST5 ? `${wholeWords(ending)} \u2026` : ending}`;
  }
  function wholeWords(text) {
    const end = text.lastIndexOf(" ", LONGEST5);
    return text.slice(0, end > BEFORE ? end : LONGEST5);
  }

  // src/search/precedence.js
  var GROUPS = (
    /** @type {[string, string][]} */
    [
      ["module", "Modules"],
      ["instruction", "Instructions"],
      ["computation", "Computations"],
      ["topic", "In this report"],
      ["opcode", "Opcodes"],
      ["touched", "Steps that changed it"],
      ["stages", "Passes, pipelines and steps"],
      ["op_name", "op_names"],
      ["scope", "Scopes"],
      ["function", "Functions"],
      ["source", "Source lines"],
      ["shape", "Shapes"],
      ["finding", "Findings"],
      ["file", "Files"],
      ["word", "Reference"],
      ["page", "Pages and guide"]
    ]
  );
  var OWN = /* @__PURE__ */ new Set(["instruction", "computation", "opcode", "op_name", "scope", "function"]);
  var EXACT = /* @__PURE__ */ new Set(["module", "instruction", "opcode", "op_name"]);
  var GONE = 2.5;
  var IN_SCOPE = 0.5;
  var OF_ROOT = 0.4;
  var OF_OP = 0.6;
  var SHORTEST = 2;
  var LOOKED_AT = 50;
  var hasName = ({ kind, matches: matches2 }, query) => OWN.has(kind) && matches2.slice(0, LOOKED_AT).some((match) => {
    const name = match.hit().text.toLowerCase().replace(/^%/, "");
    if (kind === "op_name") return name.split(/[/();:]/).includes(query);
    const own2 = kind === "function" ? shortFunction(name) : name.replace(/\.\d+$/, "");
    return !match.gone && own2 === query;
  });
  var namesIt = ({ kind, matches: matches2 }) => (kind === "module" || kind === "instruction") && matches2.some(({ rank: rank2, gone }) => rank2 === 0 && !gone);
  var isSame = ({ kind, matches: matches2 }) => (EXACT.has(kind) || kind === "topic") && matches2.some(({ rank: rank2, gone, part: part2 }) => rank2 === 0 && !gone && !part2);
  function putFirst(groups, query) {
    for (const group of groups) {
      if (group.best > 0 && group.matches.length && group.matches.every(({ gone }) => gone)) {
        group.best = Math.max(group.best, GONE);
      }
    }
    const of = (kind) => groups.find((group) => group.kind === kind);
    const [touched, topic, scope, word2, op_name] = ["touched", "topic", "scope", "word", "op_name"].map(of);
    if (touched) touched.best = 0;
    if (topic?.best === 0 && !groups.some(namesIt)) topic.best = -1;
    const isExact = groups.some((group) => EXACT.has(group.kind) && group.best === 0);
    const isArgument = op_name?.matches.some(({ part: part2 }) => part2) ?? false;
    if (op_name && isArgument && !groups.some(isSame)) op_name.best = -1;
    const isRoot = op_name?.matches.some(({ root: root2 }) => root2) ?? false;
    if (op_name && isRoot) op_name.best = Math.min(op_name.best, OF_ROOT);
    if (op_name?.matches.some(({ op, gone }) => op && !gone)) op_name.best = Math.min(op_name.best, OF_OP);
    if (scope?.best === 1 && query.length > SHORTEST) scope.best = IN_SCOPE;
    if (scope?.best === 0 && !isExact) scope.best = -1;
    const isOwn = () => isArgument || isRoot || scope?.best === IN_SCOPE || groups.some((group) => hasName(group, query));
    if (word2?.best === 0 && isOwn()) word2.best = 1;
  }

  // src/search/row.js
  function row3({ text, note: note2, href }, exact, inner = false) {
    return element(
      "li",
      null,
      element(
        "a",
        { href: insideReport(href), "data-exact": exact && "yes", "data-inner": inner && "yes" },
        element("code", null, text),
        " ",
        element("span.xr-muted", null, note2)
      )
    );
  }
  function openBest(links) {
    const best = links.find((link2) => link2.dataset.exact) ?? links[0];
    if (best?.dataset.inner) best.focus();
    else best?.click();
  }

  // src/search/search.js
  var SHOWN5 = 5;
  var MORE = 50;
  var BELOW = 20;
  var AT_FIRST = 40;
  var FILES = 2e4;
  var NOTHING = { modules: [], opcodes: {}, scopes: {}, findings: [], files: 0, topics: [] };
  function namesOf({ name, key, role, slug }, query) {
    const wanted2 = query.trim().toLowerCase();
    const isOfFiles = !name.toLowerCase().includes(wanted2) && key.toLowerCase().startsWith(wanted2);
    const hit = () => ({ text: name, note: isOfFiles ? `${role}, ${key}` : role, href: modulePage(slug) });
    return [[isOfFiles ? key : name, hit]];
  }
  var Search = class {
    constructor() {
      this.input = element("input", {
        type: "search",
        "aria-label": "Search this report",
        "aria-controls": "xr-search-results",
        placeholder: "a name, opcode, pass, op_name, shape, file\u2026",
        autocomplete: "off",
        spellcheck: "false"
      });
      this.status = element("p.xr-muted", { role: "status" });
      this.results = element("div.xr-search-results", { id: "xr-search-results" });
      const close = element("button.xr-button", { type: "button", onclick: () => this.dialog.close() }, "Close");
      this.dialog = element(
        "dialog.xr-search",
        { "aria-label": "Search everything" },
        element("div.xr-search-bar", null, this.input, close),
        this.status,
        this.results
      );
      this.indexes = [];
      this.waiting = [];
      this.small = { front: null, words: null, files: null, pages: [] };
      this.modules = [];
      this.total = 0;
      this.limit = /* @__PURE__ */ new Map();
      this.failed = 0;
      this.below = 0;
      this.begun = false;
      this.input.addEventListener("input", () => this.changed());
      this.dialog.addEventListener("keydown", (event) => this.press(event));
      this.dialog.addEventListener("click", (event) => this.clicked(event));
      document.body.append(this.dialog);
    }
    open() {
      if (!this.dialog.open) this.dialog.showModal();
      this.input.focus();
      this.input.select();
      if (!this.begun) this.begin();
    }
    async begin() {
      this.begun = true;
      this.status.textContent = "Loading\u2026";
      [this.small.front, this.small.words] = await Promise.all([
        load("search").catch(() => null),
        load("words").catch(() => null)
      ]);
      const front2 = this.small.front ?? NOTHING;
      this.total = front2.pages?.rows ?? front2.modules.length;
      this.addModules(front2.modules);
      this.show();
      this.small.pages = await loadPages();
      await this.loadModules(AT_FIRST);
      if (front2.files && front2.files <= FILES) await this.loadFiles();
      await this.loadOthers(front2);
      this.dialog.dataset.loaded = "yes";
    }
    /**
     * Adds modules that follow those that are known, that of this page before all others that wait.
     * @param {import("../../types/payloads").SearchModule[]} modules
     */
    addModules(modules) {
      const start = this.modules.length;
      const added = modules.map(([slug, name, key, role, read2, changed], place2) => ({
        slug,
        name,
        key,
        role,
        order: start + place2,
        read: read2 === 1,
        changed: changed === 1
      }));
      const read = added.filter((module) => module.read);
      this.modules.push(...added);
      this.waiting = [...read.filter(isHere), ...this.waiting, ...read.filter((module) => !isHere(module))];
      return read.some(isHere);
    }
    /**
     * Loads the names of the modules beyond the first ones, page by page.
     * @param {ReportIndex} front
     */
    async loadOthers(front2) {
      const { rows: rows2, size } = front2.pages ?? { rows: 0, size: 1 };
      for (let page2 = 1; page2 * size < rows2; page2 += 1) {
        const part2 = await /** @type {Promise<Payload<"search-0">>} */
        load(`search-${page2}`).catch(() => null);
        if (!part2) return;
        front2.findings.push(...part2.findings);
        if (this.addModules(part2.modules)) await this.loadModules(1);
        this.show();
      }
    }
    async loadFiles() {
      const table = await /** @type {Promise<Payload<"table">>} */
      load("files").catch(() => null);
      const all = new PagedRows("files", [...table?.rows ?? []], table?.pages);
      await all.loadAll(() => {
      }).catch(() => {
      });
      this.small.files = all.rows.filter(Boolean).map(([name, kind]) => [cellText(name), cellText(kind)]);
      this.show();
    }
    /** @param {number} most */
    async loadModules(most) {
      for (const module of this.waiting.splice(0, most)) {
        try {
          this.indexes.push(await loadModuleIndex(module, this.modules.length > 1));
          this.indexes.sort((left, right) => left.module.order - right.module.order);
        } catch {
          this.failed += 1;
        }
        this.show();
      }
    }
    changed() {
      this.limit.clear();
      this.show();
    }
    /** Draws what is found. */
    show() {
      const query = this.input.value.trim().replace(/^%/, "").toLowerCase();
      this.below = query ? this.indexes.reduce((sum2, index) => sum2 + index.below(query).length, 0) : 0;
      const groups = query ? this.groups(query) : [];
      const hits = groups.reduce((sum2, group) => sum2 + group.count, 0);
      const at = this.results.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
      this.results.replaceChildren(...groups.map((group) => this.drawn(group)), ...this.others());
      this.status.textContent = query ? `${format.plural(hits, "result")}${this.searched()}` : `Type a name, opcode, pass or term${this.searched()}`;
      const again = at && [...this.results.querySelectorAll("a")].find((link2) => link2.getAttribute("href") === at);
      if (again) again.focus();
    }
    searched() {
      const failed = this.failed ? `; the names inside of ${format.plural(this.failed, "module")} are not in this report` : "";
      const cut = this.indexes.some((index) => !index.value.complete) ? "; a module has more names than are listed" : "";
      return ` in ${format.plural(this.indexes.length, "module")} of ${format.count(this.total)}${failed}${cut}.`;
    }
    others() {
      if (!this.waiting.length || !this.begun) return [];
      const words2 = `Search ${format.plural(Math.min(MORE, this.waiting.length), "more module")}`;
      return [element("button.xr-button", { type: "button", onclick: () => this.loadModules(MORE) }, words2)];
    }
    /** @param {string} query @returns {Group[]} those in which something is found, the best first */
    groups(query) {
      const ranked = ranker(query);
      const inOrder = isOptimizers(query) ? shortFirst : (found) => modelFirst(shortFirst(found));
      const matches2 = GROUPS.map(([kind, title2]) => this.group(kind, title2, this.matches(kind, query, ranked), inOrder));
      const files = matches2.find(({ kind }) => kind === "file");
      if (files) files.matches = filesFirst(files.matches, query, this.modules.find(isHere)?.key ?? "", listedFile);
      putFirst(matches2, query);
      return matches2.filter((group) => group.matches.length).sort((left, right) => left.best - right.best);
    }
    /**
     * @param {string} kind
     * @param {string} title
     * @param {Iterable<Found>} matches
     * @param {(found: Found[]) => Found[]} inOrder puts those of one rank in order
     * @returns {Group}
     */
    group(kind, title2, matches2, inOrder) {
      const ranks2 = (
        /** @type {Found[][]} */
        Array.from({ length: RANKS }, () => [])
      );
      for (const match of matches2) ranks2[match.rank].push(match);
      const best = ranks2.findIndex((rank2) => rank2.length);
      const [same, ...like] = ranks2.map(inOrder);
      const sorted = [...lastFirst(same), ...lastFirst(like.flat())];
      const all = kind === "topic" || kind === "word" ? distinct(sorted) : sorted;
      return { kind, title: title2, matches: all, count: all.length, best };
    }
    /** @param {string} kind @param {string} query @param {(value: string) => number} ranked @returns {Generator<Found>} */
    *matches(kind, query, ranked) {
      if (kind === "scope") for (const index of this.indexes) yield* index.scope(query);
      yield* kind === "touched" ? this.touched(query) : this.find(kind, ranked);
    }
    /** @param {string} kind @param {(value: string) => number} ranked @returns {Generator<Found>} */
    *find(kind, ranked) {
      for (const index of this.indexes) yield* kind === "stages" ? index.stages(ranked) : index.find(kind, ranked);
      for (const [value, hit] of this.few(kind)) {
        const rank2 = ranked(value.toLowerCase());
        if (rank2 >= 0) yield { rank: rank2, hit };
      }
    }
    /** @param {string} kind @returns {Iterable<[string, () => Hit]>} what the small index has of a kind */
    few(kind) {
      const { front: front2, words: words2, files, pages: pages2 } = this.small;
      if (kind === "word") return ofBackends(explained2(words2), front2?.backends ?? [], this.input.value);
      if (kind === "page") return pages2.map(({ search, hit }) => [search, () => hit(this.input.value)]);
      if (kind === "topic") return topics(front2?.topics ?? []);
      if (kind === "file") {
        return (files ?? []).map(([name, note2]) => [name, () => ({ text: name, note: note2, href: listedFile(name) })]);
      }
      if (!front2) return [];
      if (kind === "module") {
        return this.modules.flatMap((module) => namesOf(module, this.input.value));
      }
      if (kind === "finding") {
        return front2.findings.map(([number, title2]) => [
          title2,
          () => ({
            text: title2,
            note: this.modules[number].name,
            href: modulePage(this.modules[number].slug, "cost", "findings")
          })
        ]);
      }
      if (kind === "scope") {
        const all = Object.entries(front2.scopes).filter(([, [first]]) => first < this.modules.length);
        return all.map(([scope, numbers]) => [scope, () => this.holder(scope, numbers, front2.more_scopes?.[scope])]);
      }
      return kind === "opcode" ? this.unloaded(front2) : [];
    }
    /**
     * @param {string} text
     * @param {number[]} numbers of the modules that have it
     * @param {number} [others] how many more have it
     * @returns {Hit}
     */
    holder(text, numbers, others = 0) {
      const first = this.modules[numbers[0]];
      const count = numbers.length - 1 + others;
      const more = count ? ` and ${format.plural(count, "more module")}` : "";
      return { text, note: `${first.name}${more}`, href: listedInstructions(first.slug, text) };
    }
    /** @param {ReportIndex} front @returns {[string, () => Hit][]} those in modules that are not loaded */
    unloaded(front2) {
      const loaded2 = new Set(this.indexes.map((index) => index.module.slug));
      return Object.entries(front2.opcodes).flatMap(([opcode, numbers]) => {
        const left = numbers.filter((number) => this.modules[number] && !loaded2.has(this.modules[number].slug));
        const more = front2.more_opcodes?.[opcode];
        return left.length ? [
          /** @type {[string, () => Hit]} */
          [opcode, () => this.holder(opcode, left, more)]
        ] : [];
      });
    }
    /** @param {string} query @returns {Generator<Found>} steps that touched an opcode or an instruction */
    *touched(query) {
      for (const index of this.indexes) {
        const opcodes = index.kinds.get("opcode")?.values ?? [];
        const opcode = opcodes.includes(query) ? query : query.length > 2 ? opcodes.find((known4) => known4.startsWith(query)) : null;
        const hits = [
          ...opcode ? index.touchedOpcode(opcode).map((hit) => ({ ...hit, note: `${opcode}: ${hit.note}` })) : [],
          ...index.touchedName(query)
        ];
        const rank2 = !opcode || opcode === query ? 0 : 1;
        for (const hit of hits) yield { rank: rank2, hit: () => hit };
      }
    }
    /** @param {Group} group */
    drawn({ kind, title: title2, matches: matches2, count, best }) {
      const scope = kind === "op_name" && this.below > 1;
      const limit = this.limit.get(kind) ?? (scope ? BELOW : SHOWN5);
      const rows2 = matches2.slice(0, limit).map((match) => row3(match.hit(), match.rank === 0 && best < 1, match.rank === RANKS - 1));
      const hidden = matches2.length - rows2.length;
      const more = hidden > 0 && element(
        "button.xr-button",
        { type: "button", onclick: () => this.more(kind, limit) },
        `${format.count(hidden)} more`
      );
      return element(
        "section",
        null,
        element("h2", null, `${title2} `, element("span.xr-muted", null, format.count(count))),
        element("ul", null, ...rows2),
        more
      );
    }
    /** @param {string} kind @param {number} limit */
    more(kind, limit) {
      this.limit.set(kind, limit + MORE);
      this.show();
      this.input.focus();
    }
    /** @param {MouseEvent} event */
    clicked(event) {
      const target2 = (
        /** @type {Element} */
        event.target
      );
      const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
      if (target2 === this.dialog || target2.closest("a") && !elsewhere) this.dialog.close();
    }
    /** @param {KeyboardEvent} event */
    press(event) {
      const links = [...this.results.querySelectorAll("a")];
      const at = links.indexOf(
        /** @type {HTMLAnchorElement} */
        document.activeElement
      );
      if (event.key === "Enter" && event.target === this.input) {
        event.preventDefault();
        openBest(links);
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const next = at + (event.key === "ArrowDown" ? 1 : -1);
        (next < 0 ? this.input : links[Math.min(next, links.length - 1)])?.focus();
      } else if (at >= 0 && event.key.length === 1 && !isOfBrowser(event)) {
        this.input.focus();
      }
      event.stopPropagation();
    }
  };
  var KEYS = /* @__PURE__ */ new Set(["/", "s", "f"]);
  function installSearch() {
    const search = new Search();
    const opener = element(
      "button.xr-search-open",
      { type: "button", title: "Search this report (key /)", onclick: () => search.open() },
      "Search ",
      element("kbd", null, "/")
    );
    document.querySelector(".md-header__inner")?.insertBefore(opener, document.querySelector(".md-header__inner .md-search"));
    bindKey("/", "Search this report", () => search.open());
    window.addEventListener(
      "keydown",
      (event) => {
        if (!KEYS.has(event.key) || isTyping(event) || isOfBrowser(event)) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        if (!document.querySelector("dialog:modal") || search.dialog.open) search.open();
      },
      true
    );
  }

  // src/steps/diff.js
  var COMPARED = 400;
  var ALIKE = 0.4;
  var AFTER_TOO = /* @__PURE__ */ new Set(["~", "<", ">"]);
  var QUIET = /\b(?:metadata|backend_config|frontend_attributes|origin)=\{/;
  var tokens2 = (line3) => line3.match(/[\w.-]+|\s+|[^\w\s]/g) ?? [];
  function compareLines(before, after) {
    const [old, fresh] = [tokens2(before), tokens2(after)];
    let start = 0;
    while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
    let end = 0;
    const room = Math.min(old.length, fresh.length) - start;
    while (end < room && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1;
    const [left, right] = [old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)];
    const small = left.length <= COMPARED && right.length <= COMPARED;
    const [kept2, stayed] = small ? common(left, right) : [/* @__PURE__ */ new Set(), /* @__PURE__ */ new Set()];
    const alike = start + end + kept2.size >= Math.max(old.length, fresh.length) * ALIKE;
    if (!alike) return [[{ text: before, changed: false }], [{ text: after, changed: false }]];
    const head2 = old.slice(0, start).join("");
    const tail = old.slice(old.length - end).join("");
    return [pieces3(head2, left, kept2, tail), pieces3(head2, right, stayed, tail)];
  }
  function common(left, right) {
    const width = right.length + 1;
    const table = new Uint16Array((left.length + 1) * width);
    for (let i = left.length - 1; i >= 0; i -= 1) {
      for (let j = right.length - 1; j >= 0; j -= 1) {
        const same = left[i] === right[j];
        const [below2, beside] = [table[(i + 1) * width + j], table[i * width + j + 1]];
        table[i * width + j] = same ? table[(i + 1) * width + j + 1] + 1 : Math.max(below2, beside);
      }
    }
    return trace(left, right, table);
  }
  function trace(left, right, table) {
    const width = right.length + 1;
    const positions = (
      /** @type {[Set<number>, Set<number>]} */
      [/* @__PURE__ */ new Set(), /* @__PURE__ */ new Set()]
    );
    for (let i = 0, j = 0; i < left.length && j < right.length; ) {
      if (left[i] === right[j]) {
        positions[0].add(i++);
        positions[1].add(j++);
      } else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i += 1;
      else j += 1;
    }
    return positions;
  }
  function pieces3(head2, middle2, kept2, tail) {
    const all = [{ text: head2, changed: false }];
    for (const [position, text] of middle2.entries()) {
      const changed = !kept2.has(position);
      const last = all[all.length - 1];
      if (last.changed === changed) last.text += text;
      else all.push({ text, changed });
    }
    all.push({ text: tail, changed: false });
    return all.filter((piece2) => piece2.text);
  }
  function loudLength(line3) {
    const end = line3.indexOf("metadata={");
    return end < 0 ? line3.length : end;
  }
  function quietParts(line3) {
    const parts = (
      /** @type {[number, number][]} */
      []
    );
    for (let from = 0; ; ) {
      const match = QUIET.exec(line3.slice(from));
      if (!match) return parts;
      const start = from + match.index;
      from = closing(line3, start + match[0].length - 1);
      parts.push([start, from]);
    }
  }
  function closing(line3, open) {
    let depth = 0;
    let quoted = false;
    for (let place2 = open; place2 < line3.length; place2 += 1) {
      const character = line3[place2];
      if (quoted && character === "\\") place2 += 1;
      else if (character === '"') quoted = !quoted;
      else if (!quoted && character === "{") depth += 1;
      else if (!quoted && character === "}" && --depth === 0) return place2 + 1;
    }
    return line3.length;
  }
  function written2(line3) {
    const text = line3.map((piece2) => piece2.text).join("");
    const nodes = (
      /** @type {Node[]} */
      []
    );
    let place2 = 0;
    for (const [start, end] of quietParts(text)) {
      nodes.push(...marked(line3, place2, start), element("span.xr-quiet", null, ...marked(line3, start, end)));
      place2 = end;
    }
    return [...nodes, ...marked(line3, place2, text.length)];
  }
  function marked(line3, start, end) {
    const nodes = (
      /** @type {Node[]} */
      []
    );
    let place2 = 0;
    for (const { text, changed } of line3) {
      const part2 = text.slice(Math.max(0, start - place2), Math.max(0, end - place2));
      if (part2) nodes.push(changed ? element("mark", null, part2) : document.createTextNode(part2));
      place2 += text.length;
    }
    return nodes;
  }
  async function readDiff(diff) {
    const numbers = [sums(diff.before), sums(diff.after)];
    const own2 = unfold(diff.own);
    const stored = numbers.flat().filter((number) => number >= 0);
    const store = stored.length && diff.texts ? await openTexts(diff.texts) : null;
    const loaded2 = new Map(
      (await store?.numbered(stored) ?? []).map((line3, place2) => [
        stored[place2],
        bare(line3)
      ])
    );
    const [before, after] = numbers.map(
      (list2) => list2.map((number) => loaded2.get(number) ?? own2[-1 - number])[Symbol.iterator]()
    );
    const take = (from) => from.next().value ?? "";
    const moves = diff.moves.values();
    const position = () => moves.next().value ?? 0;
    const lines3 = [...diff.signs].map((sign) => {
      const line3 = { sign, text: take(sign === "+" ? after : before) };
      if (AFTER_TOO.has(sign)) line3.other = take(after);
      if (sign === "<" || sign === ">") line3.places = [position(), position()];
      return line3;
    });
    const ends = sums(diff.hunks);
    return unfold(diff.titles).map((computation, place2) => ({
      computation,
      lines: lines3.slice(ends[place2] - diff.hunks[place2], ends[place2]),
      continued: place2 === 0 && diff.continued === true
    }));
  }
  var bare = (line3) => line3.startsWith("  ") ? line3.slice(2) : line3.slice(0, -2);

  // src/steps/list.js
  var CHIPS = (
    /** @type {Record<string, string>} */
    {
      collectives: "Collectives",
      fusions: "Fusions",
      bytes: "Bytes accessed",
      precision: "Precision",
      layout: "Layout",
      order: "Schedule order"
    }
  );
  function sections2({ steps, tree }) {
    const all = (
      /** @type {Section[]} */
      []
    );
    const seen = /* @__PURE__ */ new Set();
    for (const [place2, step] of steps.entries()) {
      const around = tree.filter(({ first, last: last2 }) => first <= place2 && place2 <= last2);
      around.sort((left, right) => right.last - right.first - (left.last - left.first));
      const range = around.at(-1) ?? null;
      const last = all.at(-1);
      if (last && last.range === range) last.steps.push(step);
      else all.push({ range, depth: Math.max(0, around.length - 1), again: seen.has(range), steps: [step] });
      seen.add(range);
    }
    return all;
  }
  function heading({ range, depth, again, steps }) {
    if (!range) return null;
    const run = range.run && range.run > 1 ? `, run ${range.run}` : "";
    const inside = steps.every(({ after, before }) => after === null !== (before === null));
    return element(
      "h2.xr-pipeline",
      { style: `--xr-depth: ${Math.min(depth, 4)}` },
      range.pipeline,
      (run || again || inside) && element("span.xr-muted", null, run, inside ? ", inside the pass" : "", again ? ", continued" : "")
    );
  }
  function brief(step) {
    if (step.partitioner) return "SPMD partitioner";
    return step.after === "pipeline-start" ? "pipeline start" : step.after ?? step.name;
  }
  function word(step) {
    const pass = step.partitioner ?? step.after;
    return pass ? { "data-word": `pass:${pass}` } : null;
  }
  function figures(step) {
    if (step.changed === null) return element("span.xr-muted", null, "not known");
    const parts = (
      /** @type {[string, string, number | null][]} */
      [
        ["xr-added", "+", step.added],
        ["xr-removed", "\u2212", step.removed],
        ["xr-changed", "~", step.modified]
      ]
    );
    const shown = parts.filter(([, , number]) => number);
    return element(
      "span.xr-delta",
      null,
      ...shown.map(([look2, sign, number]) => element(`span.${look2}`, null, `${sign}${format.count(number ?? 0)}`))
    );
  }
  var isFirst = (step, index) => step === index.steps[0] && step.changed === null;
  function chipParts({ chips }) {
    if (!chips?.length) return null;
    return element(
      "span.xr-effects",
      null,
      ...chips.map(([kind, words2]) => element(`span.xr-effect.xr-${kind}`, null, words2))
    );
  }
  var StepsList = class {
    /**
     * @param {Index} index
     * @param {(step: Step) => void} open shows a step
     */
    constructor(index, open) {
      this.index = index;
      this.open = open;
      this.items = /* @__PURE__ */ new Map();
      this.by = state.get("by") === "effect" ? "effect" : "";
      this.only = state.get("only") ?? "";
      this.body = element("div");
      this.root = element("nav.xr-steps-list", { "aria-label": "Steps" }, ...this.head(), this.body);
      this.draw();
    }
    *head() {
      const compared = this.index.steps.filter((step) => step.changed !== null);
      const changed = compared.filter((step) => step.changed).length;
      const words2 = `${format.count(changed)} of ${format.plural(compared.length, "step")} changed the module.`;
      yield element("p.xr-list-head", null, this.index.counted ?? words2);
      const ranked = compared.filter((step) => step.weight !== void 0).length;
      if (ranked > 1) yield this.choices();
    }
    /** How the list is ordered, and which steps it has. */
    choices() {
      const kinds3 = Object.keys(CHIPS).filter((kind) => this.index.steps.some((step) => has(step, kind)));
      const by = [
        ["", "In order of execution"],
        ["effect", "By effect on the program"]
      ];
      const only = [["", "All changes"], ...kinds3.map((kind) => [kind, CHIPS[kind]])];
      return element(
        "div.xr-steps-choices",
        null,
        this.choice("Order of steps", by, this.by, (value) => this.by = value),
        kinds3.length > 1 && this.choice("Steps shown", only, this.only, (value) => this.only = value)
      );
    }
    /**
     * @param {string} label
     * @param {string[][]} options
     * @param {string} chosen
     * @param {(value: string) => void} choose
     */
    choice(label, options, chosen, choose2) {
      const select = element(
        "select.xr-choice",
        { "aria-label": label },
        ...options.map(([value, words2]) => element("option", { value, selected: value === chosen }, words2))
      );
      select.addEventListener("change", () => {
        choose2(select.value);
        state.set({ by: this.by, only: this.only });
        this.draw();
      });
      return select;
    }
    draw() {
      this.items.clear();
      this.body.replaceChildren(...this.by || this.only ? this.rankedParts() : this.listParts());
      if (this.current) this.mark(this.current);
    }
    /** @returns {HTMLElement[]} the steps that are asked for, the first those that did most */
    rankedParts() {
      const shown = this.index.steps.filter((step) => step.changed && (!this.only || has(step, this.only)));
      if (this.by) shown.sort((left, right) => (right.weight ?? 0) - (left.weight ?? 0));
      return shown.map((step) => this.item(step));
    }
    *listParts() {
      if (this.index.hidden_note) yield element("p.xr-muted", null, this.index.hidden_note);
      let quiet = (
        /** @type {Section[]} */
        []
      );
      for (const section3 of sections2(this.index)) {
        if (section3.steps.some((step) => step.changed !== false)) {
          if (quiet.length) yield this.fold(quiet);
          quiet = [];
          yield* this.sectionParts(section3);
        } else quiet.push(section3);
      }
      if (quiet.length) yield this.fold(quiet);
    }
    /** @param {Section} section */
    *sectionParts(section3) {
      const head2 = heading(section3);
      if (head2) yield head2;
      let quiet = (
        /** @type {Step[]} */
        []
      );
      for (const step of section3.steps) {
        if (step.changed === false) {
          quiet.push(step);
          continue;
        }
        if (quiet.length) yield this.fold([{ ...section3, range: null, steps: quiet }]);
        quiet = [];
        yield this.item(step);
      }
      if (quiet.length) yield this.fold([{ ...section3, range: null, steps: quiet }]);
    }
    /**
     * Folds steps that changed nothing into one line that opens.
     * @param {Section[]} quiet
     */
    fold(quiet) {
      const number = quiet.reduce((sum2, section3) => sum2 + section3.steps.length, 0);
      const parts = quiet.flatMap((section3) => [heading(section3), ...section3.steps.map((step) => this.item(step))]);
      const words2 = `${format.plural(number, "step")} without change`;
      return element("details.xr-fold", null, element("summary", null, words2), ...parts);
    }
    /** @param {Step} step */
    item(step) {
      const look2 = step.changed === false ? "a.xr-item.xr-unchanged" : "a.xr-item";
      const item = element(
        look2,
        { href: `#step=${encodeURIComponent(step.id)}`, title: `${step.label}. ${plainSentence(step.headline)}` },
        element("span.xr-item-label", word(step), brief(step)),
        isFirst(step, this.index) ? element("span.xr-muted", null, "start") : figures(step),
        chipParts(step)
      );
      item.addEventListener("click", (event) => {
        event.preventDefault();
        this.open(step);
      });
      this.items.set(step.id, item);
      return item;
    }
    /** @param {Step} step */
    mark(step) {
      this.current = step;
      for (const current of this.root.querySelectorAll("[aria-current]")) current.removeAttribute("aria-current");
      const item = this.items.get(step.id);
      if (!item) return;
      item.setAttribute("aria-current", "true");
      const fold = item.closest("details");
      if (fold) fold.open = true;
      const [around, place2] = [this.root.getBoundingClientRect(), item.getBoundingClientRect()];
      if (place2.top < around.top || place2.bottom > around.bottom) {
        this.root.scrollTop += place2.top - around.top - around.height / 3;
      }
    }
  };
  var has = ({ chips = [] }, kind) => chips.some(([other]) => other === kind);

  // src/steps/diff_view.js
  var SPARE2 = 10;
  var FIRST3 = 50;
  var PRINTED2 = 2e3;
  var WIDEST3 = 1e3;
  var LOOKS = (
    /** @type {Record<string, [string, string, string]>} */
    {
      "+": ["xr-added", "+", "added"],
      "-": ["xr-removed", "\u2212", "removed"],
      "~": ["xr-changed", "~", "changed"],
      "<": ["xr-moved", "\u2191", "earlier in the schedule"],
      ">": ["xr-moved", "\u2193", "later in the schedule"],
      " ": ["xr-same", " ", ""]
    }
  );
  function diffRows(hunks, filter, ordered2, titled = false) {
    const words2 = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const has2 = ({ sign, text, other = "" }) => {
      const searched = `${text} ${other}`.toLowerCase();
      return sign !== " " && words2.every((word2) => searched.includes(word2));
    };
    const wanted2 = (line3) => (ordered2 || !(line3.sign in MOVED2) || line3.text !== line3.other) && (!words2.length || has2(line3));
    let isTitled = titled;
    return hunks.flatMap(({ computation, lines: lines3, continued = false }) => {
      isTitled &&= continued;
      const shown = lines3.filter(wanted2);
      if (!isTitled && !shown.some(({ sign }) => sign !== " ")) return [];
      const title2 = isTitled ? [] : [{ title: computation }];
      isTitled = true;
      return [...title2, ...shown.flatMap(lineRows)];
    });
  }
  var MOVED2 = { "<": true, ">": true };
  var lineRows = (line3) => line3.other !== void 0 && line3.other !== line3.text ? [
    { line: line3, side: "from" },
    { line: line3, side: "to" }
  ] : [{ line: line3 }];
  var textOf = (row4) => "title" in row4 ? row4.title : row4.side === "to" ? row4.line.other ?? "" : row4.line.text;
  function drawRow(row4) {
    if ("title" in row4) {
      return element("div.xr-hunk-title", { role: "heading", "aria-level": 4 }, element("code", null, row4.title));
    }
    const { line: line3, side } = row4;
    const [look2, shown, words2] = LOOKS[line3.sign] ?? LOOKS[" "];
    const changed = line3.sign === "~" && side ? `changed ${side}` : words2;
    const drawn5 = element(
      `div.xr-line.${look2}`,
      null,
      element("span.xr-sign", { "aria-hidden": "true" }, shown),
      changed && element("span.xr-hidden", null, `${changed}: `),
      line3.places && side !== "to" && element("span.xr-places", null, line3.places.map(format.count).join(" \u2192 ")),
      element("span.xr-text", null, ...written2(pieces4(row4)))
    );
    if (side) drawn5.classList.add(`xr-${side}`);
    return drawn5;
  }
  function pieces4(row4) {
    if ("title" in row4 || !row4.side) return [{ text: textOf(row4), changed: false }];
    const [before, after] = compareLines(row4.line.text, row4.line.other ?? "");
    return row4.side === "from" ? before : after;
  }
  var DiffView = class {
    /** @param {Hunk[]} hunks */
    constructor(hunks) {
      this.hunks = hunks;
      this.rows = [];
      this.longest = 0;
      this.height = 0;
      this.drawn = "";
      this.nodes = /* @__PURE__ */ new Map();
      this.filter = element("input.xr-filter", {
        type: "search",
        placeholder: "Filter: words that a line must contain",
        "aria-label": "Filter lines",
        spellcheck: "false",
        oninput: () => this.update()
      });
      this.lines = element("div.xr-lines");
      this.all = element("div.xr-diff-all", null, this.lines);
      this.scroller = element("div.xr-diff-scroll", { tabindex: 0, role: "region", "aria-label": "HLO diff" }, this.all);
      this.whole = element("pre.xr-diff-whole", { hidden: true, tabindex: 0, role: "region", "aria-label": "The line" });
      this.hush = element("input", { type: "checkbox", onchange: () => this.hushed() });
      this.hush.checked = remembered() !== "no";
      this.order = element("input", { type: "checkbox", checked: true, onchange: () => this.update() });
      this.ordering = element("label", { hidden: true }, this.order, " Schedule order");
      this.scroller.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
      this.lines.addEventListener("click", (event) => this.select(event));
      window.addEventListener("beforeprint", () => this.scroller.isConnected && this.draw(true));
      window.addEventListener("afterprint", () => this.scroller.isConnected && this.update());
      new ResizeObserver(() => this.resized()).observe(this.scroller);
    }
    /** @returns {HTMLElement[]} what chooses among the lines */
    choices() {
      return [this.filter, this.ordering, element("label", null, this.hush, " Hide metadata")];
    }
    /** Hides metadata or shows it, and remembers that from page to page. */
    hushed() {
      remember(this.hush.checked ? "yes" : "no");
      this.update();
    }
    /** Draws again once the browser has laid the rows out: to ask for a height before would lay out the page once more. */
    resized() {
      this.height ||= this.lines.firstElementChild?.getBoundingClientRect().height ?? 0;
      this.draw();
    }
    update() {
      if (this.height) this.scroller.scrollTop = 0;
      this.rows = [];
      this.longest = 0;
      this.scroller.classList.toggle(HUSH, this.hush.checked);
      this.nodes.clear();
      this.take(this.hunks);
    }
    /**
     * Puts further hunks below those that are there; what is in sight stays in sight.
     * @param {Hunk[]} hunks
     */
    append(hunks) {
      this.hunks.push(...hunks);
      this.take(hunks);
    }
    /** @param {Hunk[]} hunks whose rows come last */
    take(hunks) {
      if (hunks.some(({ lines: lines3 }) => lines3.some(({ sign }) => sign in MOVED2))) this.ordering.hidden = false;
      const length = this.hush.checked ? loudLength : (text) => text.length;
      for (const row4 of diffRows(hunks, this.filter.value, this.order.checked, this.rows.length > 0)) {
        this.rows.push(row4);
        this.longest = Math.max(this.longest, length(textOf(row4)));
      }
      this.all.style.minWidth = `${Math.min(this.longest, WIDEST3) + 20}ch`;
      this.drawn = "";
      this.draw();
    }
    /** @param {boolean} [printing] draw all that fits on paper */
    draw(printing = false) {
      const [first, last] = printing ? [0, Math.min(PRINTED2, this.rows.length)] : this.range();
      if (this.drawn === `${first} ${last}` && !printing) return;
      this.drawn = `${first} ${last}`;
      this.first = first;
      const former = this.nodes;
      this.nodes = /* @__PURE__ */ new Map();
      for (let at = first; at < last; at += 1) this.nodes.set(at, former.get(at) ?? drawRow(this.rows[at]));
      const rows2 = (
        /** @type {Element[]} */
        [...this.nodes.values()]
      );
      const left = printing ? this.rows.length - last : 0;
      if (left > 0) {
        rows2.push(element("p.xr-empty", null, `${format.plural(left, "more line")} not printed; scroll here for all.`));
      }
      exchange(this.lines, rows2.length ? rows2 : [element("p.xr-empty", null, "No line contains these words.")]);
      this.lines.style.transform = printing ? "" : `translateY(${first * this.rowHeight}px)`;
      this.all.style.height = printing ? "" : `${Math.max(1, this.rows.length) * this.rowHeight}px`;
    }
    get rowHeight() {
      return this.height || 20;
    }
    /** @returns {[number, number]} the rows in sight and a few around them */
    range() {
      if (!this.height) return [0, Math.min(this.rows.length, FIRST3)];
      const seen = Math.ceil((this.scroller.clientHeight || 600) / this.rowHeight);
      const top = Math.floor(this.scroller.scrollTop / this.rowHeight / SPARE2) * SPARE2;
      return [Math.max(0, top - SPARE2), Math.min(this.rows.length, top + seen + 2 * SPARE2)];
    }
    /** @param {Event} event */
    select(event) {
      const target2 = event.target instanceof Element ? event.target.closest(".xr-lines > *") : null;
      if (!target2 || !getSelection()?.isCollapsed) return;
      const row4 = this.rows[(this.first ?? 0) + [...this.lines.children].indexOf(target2)];
      if (!row4) return;
      this.whole.hidden = false;
      this.whole.replaceChildren(element("code.xr-text", null, ...written2(pieces4(row4))));
    }
  };
  function drawDiff(diff) {
    const words2 = element("span", null, summary(diff));
    const state2 = element("span.xr-muted", { role: "status" });
    const options = element("div.xr-diff-bar", null, words2, state2);
    const box3 = element("div.xr-diff", null, options);
    const fail2 = (error) => box3.append(failure(`Not all lines can be shown. ${errorMessage(error)}`));
    readDiff(diff).then((hunks) => {
      const view = new DiffView(hunks);
      options.append(...view.choices());
      box3.append(view.scroller, view.whole);
      view.update();
      if (diff.more?.length) loadFurther(view, diff.more, state2).catch(fail2);
    }, fail2);
    return box3;
  }
  function summary({ total, shown, note: note2 }) {
    const words2 = total > shown ? `The first ${format.count(shown)} of ${format.plural(total, "changed line")} are shown; the HLO tab has the rest.` : `${format.plural(total, "changed line")}.`;
    return note2 ? `${words2} ${note2}` : words2;
  }
  async function loadFurther(view, keys, state2) {
    for (const [at, key] of keys.entries()) {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      if (!view.scroller.isConnected) return;
      state2.textContent = `Loading lines: part ${at + 1} of ${keys.length}.`;
      view.append(await readDiff(
        /** @type {DiffLines} */
        await load(key)
      ));
    }
    state2.textContent = "";
  }
  var HUSH = "xr-hush";
  function remembered() {
    try {
      return localStorage.getItem(HUSH);
    } catch {
      return null;
    }
  }
  function remember(value) {
    try {
      localStorage.setItem(HUSH, value);
    } catch {
    }
  }

  // src/steps/story.js
  var SHOWN_OPCODES = 12;
  var SHOWN_GROUPS = 8;
  var ORDER2 = ["", "exact", "matched", "guessed"];
  function look(kind) {
    if (/^(added|cloned|copied|defined|fused|leftover|outlined|parameter)$/.test(kind)) return "added";
    return /^(removed|dead|uncalled|unapplied|argument|merged|unified|inlined|absorbed)$/.test(kind) ? "removed" : "changed";
  }
  function nameList(names2) {
    if (names2 === null || names2.length === 0) return element("span.xr-muted", null, "\u2014");
    const all = typeof names2 === "string" ? [names2] : names2;
    return element(
      "span",
      null,
      ...all.flatMap((name, place2) => [
        place2 ? ", " : "",
        typeof name === "number" ? `and ${format.count(name)} more` : nameNode(name)
      ])
    );
  }
  function exampleRow(example) {
    return element(
      "tr",
      null,
      element("td", null, nameList(example.before)),
      element("td.xr-arrow", null, "\u2192"),
      element("td", null, nameList(example.after)),
      element("td.xr-muted", null, example.where ?? ""),
      element("td", null, ...sentence(example.reason ?? ""), " ", gradeChip(example.grade))
    );
  }
  function kindPart(groups, place2) {
    const [{ kind, label }] = groups;
    const count = groups.reduce((sum2, group) => sum2 + group.count, 0);
    const weakest = groups.map((group) => group.grade ?? "").sort((left, right) => ORDER2.indexOf(right) - ORDER2.indexOf(left))[0];
    const tables2 = () => [
      groupTable(label, groups.slice(0, SHOWN_GROUPS)),
      groups.length > SHOWN_GROUPS && groupsMore(label, groups.slice(SHOWN_GROUPS))
    ];
    const part2 = element(
      "details.xr-group",
      { open: place2 === 0 },
      element(
        "summary",
        null,
        element(`span.xr-mark-sign.xr-${look(kind)}`, { "aria-hidden": "true" }),
        element("span.xr-group-title", null, label),
        element("span.xr-count", null, `${format.count(count)}\xD7`),
        gradeChip(weakest)
      )
    );
    return filledOnOpening(part2, tables2);
  }
  function filledOnOpening(details, content) {
    const fill = () => details.append(...content().filter((part2) => part2 !== false));
    if (details.open) fill();
    else details.addEventListener("toggle", fill, { once: true });
    return details;
  }
  function groupsMore(label, groups) {
    const summary2 = element("summary", null, `${format.plural(groups.length, "more group")}`);
    return filledOnOpening(element("details.xr-fold", null, summary2), () => [groupTable(label, groups)]);
  }
  function groupTable(label, groups) {
    return scrolledTable(label, ["Before", "", "After", "Where", "Why"], ...groups.map(groupRows));
  }
  function groupRows({ title: title2, count, grade: surest, examples, rest: rest2 = [] }) {
    const head2 = element(
      "th",
      { colspan: 5, scope: "rowgroup" },
      title2,
      " ",
      element("span.xr-count", null, `${format.count(count)}\xD7`),
      " ",
      gradeChip(surest)
    );
    const rows2 = examples.map(exampleRow);
    return element("tbody", null, element("tr.xr-group-head", null, head2), ...rows2, moreRow(count - rows2.length, rest2));
  }
  function moreRow(count, [next, ...rest2]) {
    if (count <= 0) return false;
    const words2 = `+${format.count(count)} more`;
    const row4 = (content) => element("tr", null, element("td.xr-muted", { colspan: 5 }, content));
    if (!next) return row4(words2);
    const [key, place2] = next;
    const button = element("button.xr-button", { type: "button" }, words2);
    const shown = row4(button);
    button.onclick = async () => {
      button.disabled = true;
      try {
        const rows2 = (
          /** @type {Example[][]} */
          (await load(key))[place2].map(exampleRow)
        );
        const more = moreRow(count - rows2.length, rest2);
        shown.replaceWith(...rows2, ...more ? [more] : []);
        rows2[0].tabIndex = -1;
        rows2[0].focus();
      } catch (error) {
        shown.replaceWith(row4(`${words2}: ${errorMessage(error)}`));
      }
    };
    return shown;
  }
  function kindParts(groups) {
    const kinds3 = [...new Set(groups.map(({ kind }) => kind))];
    return kinds3.map(
      (kind, place2) => kindPart(
        groups.filter((group) => group.kind === kind),
        place2
      )
    );
  }
  function ranPart(ran) {
    if (ran.length < 2) return null;
    const changed = ran.filter(([, change]) => change).length;
    const rows2 = ran.map(
      ([name, change]) => element("li", null, element("code", null, name), change && element("b", null, " reported a change"))
    );
    const words2 = `All ${format.count(ran.length)} passes, in order; ${changed ? format.count(changed) : "none"} reported a change`;
    return element("details.xr-fold", null, element("summary", null, words2), element("ol", null, ...rows2));
  }
  function figuresPart({ figures: figures2, uncounted, time }) {
    const changed = figures2.filter(([, , , difference]) => difference);
    const same = figures2.filter(([, , , difference]) => !difference);
    const rows2 = changed.map(
      ([what, before, after, difference]) => element(
        "tr",
        null,
        element("th", { scope: "row" }, what),
        element("td", null, before),
        element("td.xr-arrow", null, "\u2192"),
        element("td", null, after),
        element("td.xr-figure-delta", null, difference)
      )
    );
    const unchanged = same.map(([what, before]) => `${what} (${before})`);
    return element(
      "div.xr-step-figures",
      null,
      rows2.length > 0 && element("table.xr-static", { "aria-label": "Figures before and after" }, element("tbody", null, ...rows2)),
      unchanged.length > 0 && element("p.xr-muted", null, `Unchanged: ${unchanged.join(", ")}.`),
      uncounted && element("p.xr-muted", null, uncounted),
      time && element("p.xr-muted", null, time)
    );
  }
  function opcodePart(opcodes) {
    const changed = opcodes.filter(([, before, after]) => before !== after);
    changed.sort((left, right) => Math.abs(delta(right) ?? 0) - Math.abs(delta(left) ?? 0));
    if (!changed.length) return null;
    const hidden = changed.splice(SHOWN_OPCODES);
    const all = (shown) => element("div.xr-opcodes", null, ...shown.map(opcodeRow));
    const more = () => [all(hidden)];
    return element(
      "section",
      null,
      element("h3", null, "Opcode counts"),
      all(changed),
      hidden.length > 0 && filledOnOpening(element("details.xr-fold", null, element("summary", null, `${hidden.length} more`)), more)
    );
  }
  var delta = ([, before, after]) => before === null || after === null ? null : after - before;
  function opcodeRow(opcode) {
    const [name, before, after] = opcode;
    const change = delta(opcode) ?? 0;
    const shown = (number) => number === null ? format.unknown : format.count(number);
    return element(
      "div.xr-opcode",
      { title: `${shown(before)} before, ${shown(after)} after` },
      element("code", null, name),
      element(`span.xr-delta.${change > 0 ? "xr-added" : "xr-removed"}`, null, format.signed(change)),
      element("span.xr-muted", null, `${shown(before)} \u2192 ${shown(after)}`)
    );
  }
  function picturePart({ pictures }) {
    if (!pictures) return null;
    const { note: note2, left_out: leftOut2, places: places2 = [] } = pictures;
    const figures2 = [drawn4("Before", pictures.before), drawn4("After", pictures.after)];
    if (!figures2.some(Boolean) && !note2) return null;
    return element(
      "section",
      null,
      element("h3", null, "Graph diff"),
      note2 && element("p.xr-muted", null, ...sentence(note2)),
      figures2.some(Boolean) && element("div.xr-pair", null, ...figures2),
      leftOut2?.length ? leftOutPart2(leftOut2, places2) : null
    );
  }
  function leftOutPart2(lines3, places2) {
    const item = (line3, number) => element("li", null, ...sentence(line3), ...places2.filter((place2) => place2.line === number).map(placePart));
    const summary2 = element("summary", null, `Other changes (${lines3.length})`);
    return filledOnOpening(element("details.xr-fold.xr-left-out", null, summary2), () => {
      const list2 = element("ul", null, ...lines3.map(item));
      drawComponents(list2);
      return [list2];
    });
  }
  function placePart({ name, before, after }) {
    return element(
      "details.xr-fold",
      null,
      element("summary", null, "Drawn: ", element("code", null, name)),
      element("div.xr-pair", null, drawn4("Before", before), drawn4("After", after))
    );
  }
  function drawn4(words2, picture) {
    if (!picture) return null;
    return element(
      "figure.xr-picture",
      {
        "data-xr-picture": picture.key,
        "data-name": picture.name,
        "data-drawing": picture.place,
        "data-alt": `${words2}: ${picture.alt}`,
        "data-side": words2.toLowerCase()
      },
      element("figcaption", null, words2)
    );
  }
  function textPart({ diff }) {
    if (!diff?.hunks.length) return null;
    return element("section", null, element("h3", null, "HLO diff"), drawDiff(diff));
  }
  function drawStory(story) {
    const part2 = element(
      "div",
      null,
      story.certain && element("p.xr-certain", null, ...sentence(story.certain)),
      ranPart(story.ran ?? []),
      story.account.length > 0 && element("ul.xr-account", null, ...story.account.map((words2) => element("li", null, ...sentence(words2)))),
      figuresPart(story),
      story.groups.length > 0 && element("h3", null, "Changes by instruction"),
      ...kindParts(story.groups),
      opcodePart(story.opcodes),
      picturePart(story),
      textPart(story)
    );
    drawComponents(part2);
    return part2;
  }

  // src/steps/steps.js
  var AHEAD = 200;
  var Gallery = class {
    /**
     * @param {HTMLElement} host
     * @param {Index} index
     * @param {Record<string, string>} passes what each of them does
     */
    constructor(host, index, passes) {
      this.index = index;
      this.passes = passes;
      this.missing = null;
      this.list = new StepsList(index, (step) => this.open(step));
      this.panel = element("section.xr-step", { "aria-label": "The step" });
      this.status = element("p.xr-hidden", { role: "status" });
      host.classList.add("xr-steps");
      host.replaceChildren(this.list.root, this.panel, this.status);
      window.addEventListener("hashchange", () => this.show(this.wanted()));
      bindKey("j", "Next step with changes", () => this.go(1));
      bindKey("k", "Previous step with changes", () => this.go(-1));
      this.current = -1;
      this.show(this.wanted());
    }
    /**
     * Returns the step in the address, or the first that changed something; says so where the
     * address names a step that there is not.
     * @returns {number}
     */
    wanted() {
      const asked2 = state.get("step");
      const named2 = this.index.steps.findIndex((step) => step.id === asked2);
      this.missing = asked2 && named2 < 0 ? asked2 : null;
      if (named2 >= 0) return named2;
      return Math.max(
        0,
        this.index.steps.findIndex((step) => step.changed)
      );
    }
    /** @param {1 | -1} direction */
    neighbor(direction2) {
      const { steps } = this.index;
      let place2 = this.current + direction2;
      const skipped = (step) => step.changed === false || isFirst(step, this.index);
      while (place2 >= 0 && place2 < steps.length && skipped(steps[place2])) place2 += direction2;
      return place2 >= 0 && place2 < steps.length ? place2 : null;
    }
    /** @param {1 | -1} direction */
    go(direction2) {
      const place2 = this.neighbor(direction2);
      if (place2 !== null) this.show(place2);
    }
    /** @param {Step} step that the reader chose in the list */
    open(step) {
      this.show(this.index.steps.indexOf(step));
      if (getComputedStyle(this.panel.parentElement ?? this.panel).display === "block") this.panel.scrollIntoView();
    }
    /** @param {number} place */
    show(place2) {
      if (place2 === this.current && !this.missing || !this.index.steps.length) return;
      this.current = place2;
      const step = this.index.steps[place2];
      state.set({ step: step.id });
      this.list.mark(step);
      const body = element("div.xr-step-body");
      const isAbove = this.panel.getBoundingClientRect().top < 0;
      this.panel.replaceChildren(this.head(step), body);
      this.status.textContent = `${step.label}: ${plainSentence(step.headline)}`;
      if (isAbove) this.panel.scrollIntoView();
      this.missing = null;
      this.tell(step, body);
    }
    /** @param {Step} step */
    head(step) {
      const move = (direction2, words2, key) => element(
        "button.xr-button",
        {
          type: "button",
          disabled: this.neighbor(direction2) === null,
          title: `${words2} step with changes (${key})`,
          onclick: () => this.go(direction2)
        },
        words2,
        " ",
        element("kbd", null, key)
      );
      const number = this.index.steps.slice(0, this.current + 1).filter((earlier) => earlier.changed).length;
      const total = this.index.steps.filter((earlier) => earlier.changed).length;
      const counted = step.changed ? `${format.count(number)} of ${format.count(total)} with changes` : "";
      return element(
        "header.xr-step-head",
        null,
        this.missing && element(
          "p.xr-warning",
          { role: "alert" },
          `No step ${this.missing} in this module; showing the first step with changes.`
        ),
        element(
          "div.xr-step-moves",
          null,
          move(-1, "Previous", "k"),
          move(1, "Next", "j"),
          element("span.xr-muted", null, counted)
        ),
        !this.index.counted && element(
          "p.xr-kicker",
          null,
          step.pipeline ? element("span", this.meaning(step.pipeline), step.pipeline) : "",
          step.pipeline ? " \u203A " : "",
          step.id
        ),
        element("h2", null, step.name),
        element("p.xr-headline", null, ...sentence(step.headline)),
        this.about(step),
        chipParts(step),
        this.facts(step),
        this.files(step)
      );
    }
    /** @param {string | null} pass */
    meaning(pass) {
      return pass ? { "data-word": `pass:${pass}` } : null;
    }
    /**
     * Says what the pass does that ran last, or the SPMD partitioner where it ran before that.
     * @param {Step} step
     */
    about(step) {
      const pass = step.partitioner ?? step.after;
      if (!pass || !Object.hasOwn(this.passes, pass)) return null;
      return element(
        "p.xr-about",
        null,
        element("a", { href: insideReport(glossaryEntry("pass", pass)) }, pass),
        ` \u2014 ${this.passes[pass]}`
      );
    }
    /** @param {Step} step */
    facts(step) {
      const written3 = (number) => number === null ? format.unknown : format.count(number);
      const signed = (sign, number) => number === null ? format.unknown : `${number ? sign : ""}${format.count(number)}`;
      const facts2 = (
        /** @type {[string, string, string][]} */
        [
          ["instructions", written3(step.instructions), ""],
          ["computations", written3(step.computations), ""],
          ["added", signed("+", step.added), "xr-added"],
          ["removed", signed("\u2212", step.removed), "xr-removed"],
          ["changed", signed("~", step.modified), "xr-changed"]
        ]
      );
      return element(
        "dl.xr-step-facts",
        null,
        ...facts2.map(
          ([what, value, look2]) => element("div", null, element("dt", null, what), element(look2 ? `dd.${look2}` : "dd", null, value))
        )
      );
    }
    /** @param {Step} step */
    files(step) {
      if (!step.files.length) return null;
      const files = step.files.map((file) => element("li", null, element("code", null, file)));
      return element(
        "details.xr-files",
        null,
        element("summary", null, format.plural(step.files.length, "file")),
        element("ul", null, ...files)
      );
    }
    /**
     * @param {Step} step
     * @param {HTMLElement} body
     */
    async tell(step, body) {
      if (!step.changed) {
        body.append(element("p.xr-empty", null, this.whyEmpty(step)));
        return;
      }
      body.dataset.atBefore = this.index.steps[this.index.steps.indexOf(step) - 1]?.id ?? "";
      body.dataset.atAfter = step.id;
      body.dataset.textBefore = this.text(this.index.steps[this.index.steps.indexOf(step) - 1]);
      body.dataset.textAfter = this.text(step);
      try {
        body.append(drawStory(await this.load(step)));
        void this.fetchNext();
      } catch (error) {
        body.append(failure(`This step cannot be shown. ${errorMessage(error)}`));
      }
    }
    /**
     * @param {Step | undefined} step
     * @returns {string} the address of the text behind it, empty where it has none
     */
    text(step) {
      if (!step?.files.some((file) => file.endsWith(".txt"))) return "";
      return modulePageBeside(this.index.slug, "texts", placeOf({ text: step.id }));
    }
    /** @param {Step} step */
    whyEmpty(step) {
      if (isFirst(step, this.index)) {
        return "before_optimizations: the module as it was given to XLA. Press j for the first step with changes.";
      }
      if (step.changed === null) {
        return "Not known: one of the two snapshots could not be read.";
      }
      return "No changes in this step. Press j for the next step with changes.";
    }
    /** @param {Step} step */
    load(step) {
      return (
        /** @type {Promise<Payload<"m/x/step-0">>} */
        load(`m/${this.index.slug}/step-${step.id}`)
      );
    }
    /** Loads the next step ahead, once this one is drawn, so that it is there when its key is pressed. */
    async fetchNext() {
      const shown = this.current;
      await new Promise((resolve) => setTimeout(resolve, AHEAD));
      const place2 = this.neighbor(1);
      if (shown !== this.current || place2 === null || !this.index.steps[place2].changed) return;
      this.load(this.index.steps[place2]).then((story) => readDiff(story.diff)).catch(() => {
      });
    }
  };
  async function drawSteps(host, key) {
    host.setAttribute("aria-busy", "true");
    const [index, { words: words2 }] = await Promise.all([
      /** @type {Promise<Payload<"m/x/steps">>} */
      load(key),
      load("words")
    ]);
    new Gallery(host, index, words2.pass);
    host.removeAttribute("aria-busy");
  }

  // src/texts/reader.js
  var SPARE3 = 20;
  var Reader = class {
    /**
     * @param {HTMLElement} host
     * @param {import("./store.js").TextStore} store
     */
    constructor(host, store) {
      this.store = store;
      this.lines = [];
      this.hits = [];
      this.hit = -1;
      this.marked = -1;
      this.first = -1;
      this.text = null;
      this.height = 18;
      this.choice = element(
        "select.xr-whole-choice",
        { "aria-label": "Text to show", onchange: () => this.choose() },
        ...this.options()
      );
      this.find = element("input.xr-filter", {
        type: "search",
        placeholder: "Search in this text",
        "aria-label": "Search in this text",
        spellcheck: "false",
        oninput: () => this.search(),
        onkeydown: (event) => this.press(event)
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
      const groups = [
        ["Snapshots", this.store.texts.filter((text) => text.key !== text.path)],
        ["Other texts", this.store.texts.filter((text) => text.key === text.path)]
      ];
      return groups.filter(([, texts]) => texts.length).map(
        ([title2, texts]) => element(
          "optgroup",
          { label: title2 },
          ...texts.map((text) => element("option", { value: text.key }, text.label))
        )
      );
    }
    /** @returns {Text} the text that the address names, else the last snapshot */
    wanted() {
      const named2 = this.store.texts.find((text) => text.key === state.get("text"));
      const snapshots = this.store.texts.filter((text) => text.key !== text.path);
      return named2 ?? snapshots.at(-1) ?? this.store.texts[0];
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
        `${Math.min(2e3, Math.max(...this.lines.map((line4) => line4.length)))}ch`
      );
      this.search();
      const line3 = this.line();
      if (line3 >= 0) this.go(line3);
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
      const bare2 = name.replace(/^%/, "");
      const begins = [
        `%${bare2} = `,
        `ROOT %${bare2} = `,
        `%${bare2} (`,
        `ENTRY %${bare2} (`,
        `${bare2} = `,
        `ROOT ${bare2} = `,
        `${bare2} {`
      ];
      return this.lines.findIndex((line3) => begins.some((begin) => line3.trimStart().startsWith(begin)));
    }
    search() {
      const words2 = this.find.value.toLowerCase();
      state.set({ find: words2 || null });
      this.hits = words2 ? this.lines.flatMap((line3, place2) => line3.toLowerCase().includes(words2) ? [place2] : []) : [];
      this.hit = -1;
      const lines3 = `${format.plural(this.lines.length, "line")}, ${format.bytes(this.text?.size ?? 0)}`;
      this.counter.textContent = words2 ? `${format.plural(this.hits.length, "line")} found (Enter: next)` : lines3;
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
    go(line3) {
      this.marked = line3;
      this.draw(true);
      this.scroller.scrollTop = Math.max(0, (line3 - 6) * this.height);
      this.draw(true);
    }
    /** @param {boolean} [again] draw even if the same lines are in sight */
    draw(again = false) {
      const first = Math.max(0, Math.floor(this.scroller.scrollTop / this.height) - SPARE3);
      if (first === this.first && !again) return;
      this.first = first;
      const last = Math.min(
        this.lines.length,
        first + Math.ceil((this.scroller.clientHeight || 600) / this.height) + 2 * SPARE3
      );
      const shown = this.lines.slice(first, last).map((line3, place2) => this.row(line3, first + place2));
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
    row(line3, place2) {
      const number = element(
        "a.xr-whole-number",
        {
          href: `#${new URLSearchParams({ text: this.text?.key ?? "", line: String(place2 + 1) })}`,
          "aria-label": `Line ${place2 + 1}`
        },
        place2 + 1
      );
      return element(
        place2 === this.marked ? "li.xr-whole-marked" : "li",
        null,
        number,
        element("code", null, ...coloredLine(line3))
      );
    }
    /** @param {Event} event */
    follow(event) {
      const part2 = (
        /** @type {HTMLElement} */
        event.target
      );
      const name = part2.matches(".xr-code-variable") ? part2.textContent : "";
      const line3 = name && !String(getSelection()) ? this.definition(name) : -1;
      if (line3 < 0) return;
      state.set({ line: String(line3 + 1), name: null });
      this.go(line3);
    }
    save() {
      saveFile(new Blob([textBytes(this.lines)], { type: "text/plain" }), this.text?.path.split("/").at(-1) ?? "");
    }
  };
  async function drawTexts(host, key) {
    const store = await openTexts(key);
    await new Reader(host, store).show();
  }

  // src/tpu/strip.js
  var LABEL = 92;
  var ROW2 = 16;
  var BRACKET = 9;
  var SMALLEST = 16;
  var LEVELS2 = 10;
  var hex = (cycle) => `0x${cycle.toString(16)}`;
  var Strip = class {
    /**
     * @param {HTMLElement} host
     * @param {Schedule} data
     */
    constructor(host, data) {
      this.data = data;
      this.length = data.units[0]?.[2].length ?? 0;
      this.begin = 0;
      this.end = this.length;
      this.room = element("div.xr-tpu-room", { tabindex: 0, role: "group", "aria-label": "Units over the schedule" });
      this.note = element("p.xr-muted", { "aria-live": "polite" });
      const button = (text, label, act) => element("button.xr-button", { type: "button", "aria-label": label, onclick: act }, text);
      const bar = element(
        "p.xr-tpu-bar",
        null,
        button("+", "Zoom in", () => this.zoom(0.5)),
        button("\u2212", "Zoom out", () => this.zoom(2)),
        button("\u2190", "Earlier", () => this.move(-0.5)),
        button("\u2192", "Later", () => this.move(0.5)),
        button("All", "The whole schedule", () => this.show(0, this.length))
      );
      host.append(bar, this.room, this.note);
      this.room.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      this.room.addEventListener("keydown", (event) => this.key(event));
      this.room.addEventListener("pointermove", (event) => this.point(event));
      new ResizeObserver(() => this.draw()).observe(this.room);
    }
    /**
     * @param {number} begin
     * @param {number} end
     */
    show(begin, end) {
      const span = Math.min(this.length, Math.max(SMALLEST, Math.round(end - begin)));
      this.begin = Math.max(0, Math.min(Math.round(begin), this.length - span));
      this.end = this.begin + span;
      this.draw();
    }
    /**
     * @param {number} factor
     * @param {number} [at] share of the width that stays in place
     */
    zoom(factor, at = 0.5) {
      const span = this.end - this.begin;
      const next = Math.min(this.length, Math.max(SMALLEST, span * factor));
      const begin = this.begin + (span - next) * at;
      this.show(begin, begin + next);
    }
    /** @param {number} share of the width */
    move(share) {
      const by = (this.end - this.begin) * share;
      this.show(this.begin + by, this.end + by);
    }
    /** @param {WheelEvent} event */
    wheel(event) {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
      event.preventDefault();
      this.zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, this.share(event));
    }
    /** @param {KeyboardEvent} event */
    key(event) {
      const acts = {
        "+": () => this.zoom(0.5),
        "-": () => this.zoom(2),
        ArrowLeft: () => this.move(-0.25),
        ArrowRight: () => this.move(0.25),
        0: () => this.show(0, this.length)
      };
      const act = acts[event.key];
      if (!act || isOfBrowser(event)) return;
      event.preventDefault();
      act();
    }
    /** @param {MouseEvent} event */
    share(event) {
      const box3 = this.room.getBoundingClientRect();
      return Math.min(1, Math.max(0, (event.clientX - box3.left - LABEL) / Math.max(1, box3.width - LABEL)));
    }
    /** @param {PointerEvent} event */
    point(event) {
      const cycle = Math.min(this.end - 1, this.begin + Math.floor(this.share(event) * (this.end - this.begin)));
      const used = this.data.units.filter(([, , column]) => column[cycle] !== "0").map(([unit, capacity, column]) => `${unit} ${parseInt(column[cycle], 36)} of ${capacity}`);
      const runs = this.runs(cycle);
      const often = runs === null ? "" : `, runs ${format.plural(runs, "time")}`;
      this.say(`Cycle ${hex(cycle)}${often}: ${used.join(", ") || "no unit is used"}.`);
    }
    /** @param {number} cycle @returns {number | null} how often it runs */
    runs(cycle) {
      let at = 0;
      for (const [count, length] of this.data.runs) {
        at += length;
        if (cycle < at) return count;
      }
      return null;
    }
    /** @param {string} [words] */
    say(words2) {
      const left = this.data.cycles - this.length;
      const cut = left > 0 ? ` The last ${format.count(left)} cycles are not shown.` : "";
      const span = `Cycles ${hex(this.begin)} to ${hex(this.end - 1)} of ${format.count(this.data.cycles)}.`;
      this.note.textContent = `${span}${cut} ${words2 ?? ""}`;
    }
    /** Draws what is shown now. */
    draw() {
      const width = this.room.clientWidth;
      if (!width || !this.length) return;
      const depth = Math.max(0, ...this.data.loops.map(([, , level]) => level));
      const top = depth * BRACKET + 4;
      const height = top + this.data.units.length * ROW2 + 4;
      const scale = (width - LABEL) / (this.end - this.begin);
      const rows2 = this.data.units.flatMap(
        ([unit, capacity, column], row4) => this.row(unit, capacity, column, top + row4 * ROW2, scale)
      );
      const marks = this.data.ranges.map(
        ([begin, , , bundles]) => this.box("xr-tpu-hot", begin, begin + bundles.length, top - 3, 2, scale)
      );
      const picture = drawn(
        "svg",
        { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" },
        drawn("title", {}, "Units over the schedule"),
        ...this.brackets(scale),
        ...marks,
        ...rows2
      );
      this.room.replaceChildren(picture);
      this.say();
    }
    /**
     * @param {string} look
     * @param {number} begin
     * @param {number} end
     * @param {number} y
     * @param {number} height
     * @param {number} scale
     */
    box(look2, begin, end, y, height, scale) {
      const from = Math.max(begin, this.begin);
      const to = Math.min(end, this.end);
      const wide = Math.max(0, to - from) * scale;
      return drawn("rect", { class: look2, x: LABEL + (from - this.begin) * scale, y, width: wide, height });
    }
    /** @param {number} scale */
    brackets(scale) {
      return this.data.loops.filter(([begin, end]) => begin < this.end && end > this.begin).map(([begin, end, depth, words2]) => {
        const y = (depth - 1) * BRACKET + 2;
        const bar = this.box("xr-tpu-loop", begin, end, y, 4, scale);
        return drawn("g", {}, drawn("title", {}, `${hex(begin)} to ${hex(end - 1)}: ${words2}`), bar);
      });
    }
    /**
     * One unit: neighbors of the same level are one box.
     * @param {string} unit
     * @param {number} capacity
     * @param {string} column
     * @param {number} y
     * @param {number} scale
     */
    row(unit, capacity, column, y, scale) {
      const label = drawn("text", { x: LABEL - 6, y: y + 11, "text-anchor": "end" }, unit);
      const bins = Math.max(1, Math.min(this.end - this.begin, Math.floor((this.room.clientWidth - LABEL) / 2)));
      const each = (this.end - this.begin) / bins;
      const boxes = [label];
      let level = 0;
      let from = this.begin;
      for (let bin = 0; bin <= bins; bin++) {
        const begin = this.begin + Math.round(bin * each);
        const next = bin < bins ? this.level(column, capacity, begin, begin + Math.max(1, Math.round(each))) : -1;
        if (next === level) continue;
        if (level > 0) boxes.push(this.box(`xr-tpu-${level}`, from, begin, y + 1, ROW2 - 2, scale));
        level = next;
        from = begin;
      }
      return boxes;
    }
    /**
     * @param {string} column
     * @param {number} capacity
     * @param {number} begin
     * @param {number} end
     * @returns {number} 0 for idle to 10 for full
     */
    level(column, capacity, begin, end) {
      let sum2 = 0;
      const last = Math.min(end, column.length);
      for (let cycle = begin; cycle < last; cycle++) sum2 += parseInt(column[cycle], 36);
      const share = sum2 / Math.max(1, (last - begin) * capacity);
      return sum2 ? Math.max(1, Math.min(LEVELS2, Math.round(share * LEVELS2))) : 0;
    }
  };
  function ranges(data, strip) {
    return data.ranges.map(([begin, share, often, bundles]) => {
      const runs = often === null ? "" : `, run ${format.plural(often, "time")}`;
      const words2 = `${hex(begin)} to ${hex(begin + bundles.length - 1)}: ${Math.round(share * 100)}% of all slots${runs}`;
      const text = bundles.map((bundle, place2) => `${hex(begin + place2).padStart(7)}  ${bundle}`).join("\n");
      const find = element(
        "button.xr-button",
        { type: "button", onclick: () => strip.show(begin - bundles.length, begin + 2 * bundles.length) },
        "Show in the chart"
      );
      return element(
        "details",
        null,
        element("summary", null, words2),
        find,
        element("pre.xr-code", { tabindex: 0 }, element("code", null, text))
      );
    });
  }
  function listed2(title2, items) {
    if (!items.length) return "";
    const list2 = element("ul", null, ...items.map((item) => element("li", null, element("code", null, item))));
    return element("details", null, element("summary", null, `${title2} (${format.count(items.length)})`), list2);
  }
  async function drawTpuPrograms(host, key) {
    await waitUntilNear(host);
    const loaded2 = (
      /** @type {Programs} */
      await load(key)
    );
    const choice = element(
      "select",
      { "aria-label": "Program" },
      ...loaded2.programs.map(([name], place2) => element("option", { value: place2 }, name))
    );
    const room = element("div");
    host.append(element("label.xr-ask-box", null, "Program ", choice), room);
    const show5 = async (place2) => {
      const schedule = (
        /** @type {Schedule} */
        await load(`${key}-${place2}`)
      );
      choice.value = String(place2);
      const links = loaded2.programs[place2][1].map(
        ([name, address3]) => element("li", null, element("a", { href: insideReport(address3) }, name))
      );
      const chart = element("div");
      const strip = new Strip(chart, schedule);
      room.replaceChildren(
        element("p", null, links.length ? format.plural(links.length, "HLO instruction") : "Top level."),
        element("ul", null, ...links),
        chart,
        element("h3", null, "Busiest bundles"),
        ...ranges(schedule, strip),
        listed2(
          "Cycles by line of the kernel",
          schedule.lines.map(([line3, cycles]) => `${line3}: ${format.count(cycles)}`)
        ),
        listed2("Compiler stages in the dump", schedule.stages),
        schedule.ranges.length ? "" : element("p", null, "The dump has no listing of the schedule.")
      );
    };
    choice.addEventListener("change", () => {
      state.set({ program: loaded2.programs[Number(choice.value)][0] });
      void show5(Number(choice.value));
    });
    const asked2 = () => Math.max(
      0,
      loaded2.programs.findIndex(([name]) => name === state.get("program"))
    );
    window.addEventListener("hashchange", () => void show5(asked2()));
    await show5(asked2());
  }

  // src/main.js
  showAskedPart();
  installKeys();
  nameCodeBars();
  component("data-xr-table", drawTable);
  component("data-xr-picture", drawPicture);
  component("data-xr-steps", drawSteps);
  component("data-xr-history", drawHistory);
  component("data-xr-code", drawCode);
  component("data-xr-texts", drawTexts);
  component("data-xr-graph", drawExplorer);
  component("data-xr-computations", drawComputationTimelines);
  component("data-xr-instructions", drawInstructions);
  component("data-xr-timeline", drawTimeline);
  component("data-xr-tpu", drawTpuPrograms);
  component("data-xr-living", drawLiving);
  if (document.querySelector("meta[name=xr-search]")) installSearch();
  return __toCommonJS(main_exports);
})();
