/**
 * The search over everything, under `/` on every page. What is small is loaded when it opens, then
 * module after module, the one of this page and the main program first.
 */

import { element } from "../core/elements.js";
import { isOfBrowser, isTyping } from "../core/events.js";
import { format } from "../core/format.js";
import { listedFile, listedInstructions, modulePage } from "../core/pages.js";
import { load } from "../core/payloads.js";
import { PagedRows } from "../tables/pages.js";
import { cellText } from "../tables/rows.js";
import { bindKey } from "../keys.js";
import {
  distinct,
  explained,
  filesFirst,
  isOptimizers,
  lastFirst,
  modelFirst,
  ofBackends,
  shortFirst,
  topics,
} from "./few.js";
import { RANKS, isHere, loadModuleIndex, ranker } from "./index.js";
import { loadPages } from "./pages.js";
import { GROUPS, putFirst } from "./precedence.js";
import { openBest, row } from "./row.js";

const SHOWN = 5;
const MORE = 50;
/** op_names that are listed at first where a scope is typed. */
const BELOW = 20;
/** Modules that are loaded without being asked for, and files of a dump whose list is. */
const AT_FIRST = 40;
const FILES = 20000;

/** @typedef {import("./index.js").Module} Module */
/** @typedef {import("./index.js").ModuleIndex} ModuleIndex */
/** @typedef {import("./index.js").Hit} Hit */
/** @typedef {import("./index.js").Found} Found */
/** @typedef {import("./pages.js").PageText} PageText */
/** @typedef {{front: ReportIndex | null, words: import("../../types/payloads").Words | null, files: [string, string][] | null, pages: PageText[]}} Small what is not of one module; null where it is not loaded */
/** @typedef {import("../../types/payloads").ReportIndex} ReportIndex */
/** @typedef {import("./precedence.js").Group} Group */

/** @type {ReportIndex} */
const NOTHING = { modules: [], opcodes: {}, scopes: {}, findings: [], files: 0, topics: [] };

/**
 * @param {Module} module
 * @param {string} query
 * @returns {[string, () => Hit][]} it by its name, and by what its files begin with if the name has not what was typed
 */
function namesOf({ name, key, role, slug }, query) {
  const wanted = query.trim().toLowerCase();
  const isOfFiles = !name.toLowerCase().includes(wanted) && key.toLowerCase().startsWith(wanted);
  const hit = () => ({ text: name, note: isOfFiles ? `${role}, ${key}` : role, href: modulePage(slug) });
  return [[isOfFiles ? key : name, hit]];
}

class Search {
  constructor() {
    this.input = element("input", {
      type: "search",
      "aria-label": "Search this report",
      "aria-controls": "xr-search-results",
      placeholder: "a name, opcode, pass, op_name, shape, file\u2026",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.status = element("p.xr-muted", { role: "status" });
    this.results = element("div.xr-search-results", { id: "xr-search-results" });
    const close = element("button.xr-button", { type: "button", onclick: () => this.dialog.close() }, "Close");
    this.dialog = element(
      "dialog.xr-search",
      { "aria-label": "Search everything" },
      element("div.xr-search-bar", null, this.input, close),
      this.status,
      this.results,
    );
    /** @type {ModuleIndex[]} */
    this.indexes = [];
    /** @type {Module[]} */
    this.waiting = [];
    /** @type {Small} */
    this.small = { front: null, words: null, files: null, pages: [] };
    /** @type {Module[]} */
    this.modules = [];
    this.total = 0; // also of those that are not loaded
    this.limit = new Map();
    this.failed = 0;
    this.below = 0; // op_names below the scope that is typed
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
      load("words").catch(() => null),
    ]);
    const front = this.small.front ?? NOTHING;
    this.total = front.pages?.rows ?? front.modules.length;
    this.addModules(front.modules);
    this.show();
    this.small.pages = await loadPages();
    await this.loadModules(AT_FIRST);
    if (front.files && front.files <= FILES) await this.loadFiles();
    await this.loadOthers(front);
    this.dialog.dataset.loaded = "yes";
  }

  /**
   * Adds modules that follow those that are known, that of this page before all others that wait.
   * @param {import("../../types/payloads").SearchModule[]} modules
   */
  addModules(modules) {
    const start = this.modules.length;
    const added = modules.map(([slug, name, key, role, read, changed], place) => ({
      slug,
      name,
      key,
      role,
      order: start + place,
      read: read === 1,
      changed: changed === 1,
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
  async loadOthers(front) {
    const { rows, size } = front.pages ?? { rows: 0, size: 1 };
    for (let page = 1; page * size < rows; page += 1) {
      const part = await /** @type {Promise<Payload<"search-0">>} */ (load(`search-${page}`)).catch(() => null);
      if (!part) return;
      front.findings.push(...part.findings);
      if (this.addModules(part.modules)) await this.loadModules(1);
      this.show();
    }
  }

  async loadFiles() {
    const table = await /** @type {Promise<Payload<"table">>} */ (load("files")).catch(() => null);
    const all = new PagedRows("files", [...(table?.rows ?? [])], table?.pages);
    await all.loadAll(() => {}).catch(() => {}); // what is missing is not found
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
    this.below = query ? this.indexes.reduce((sum, index) => sum + index.below(query).length, 0) : 0;
    const groups = query ? this.groups(query) : [];
    const hits = groups.reduce((sum, group) => sum + group.count, 0);
    const at = this.results.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
    this.results.replaceChildren(...groups.map((group) => this.drawn(group)), ...this.others());
    this.status.textContent = query
      ? `${format.plural(hits, "result")}${this.searched()}`
      : `Type a name, opcode, pass or term${this.searched()}`;
    const again = at && [...this.results.querySelectorAll("a")].find((link) => link.getAttribute("href") === at);
    if (again) again.focus();
  }

  searched() {
    const failed = this.failed
      ? `; the names inside of ${format.plural(this.failed, "module")} are not in this report`
      : "";
    const cut = this.indexes.some((index) => !index.value.complete) ? "; a module has more names than are listed" : "";
    return ` in ${format.plural(this.indexes.length, "module")} of ${format.count(this.total)}${failed}${cut}.`;
  }

  others() {
    if (!this.waiting.length || !this.begun) return [];
    const words = `Search ${format.plural(Math.min(MORE, this.waiting.length), "more module")}`;
    return [element("button.xr-button", { type: "button", onclick: () => this.loadModules(MORE) }, words)];
  }

  /** @param {string} query @returns {Group[]} those in which something is found, the best first */
  groups(query) {
    const ranked = ranker(query);
    const inOrder = isOptimizers(query) ? shortFirst : (/** @type {Found[]} */ found) => modelFirst(shortFirst(found));
    const matches = GROUPS.map(([kind, title]) => this.group(kind, title, this.matches(kind, query, ranked), inOrder));
    const files = matches.find(({ kind }) => kind === "file");
    if (files) files.matches = filesFirst(files.matches, query, this.modules.find(isHere)?.key ?? "", listedFile);
    putFirst(matches, query);
    return matches.filter((group) => group.matches.length).sort((left, right) => left.best - right.best);
  }

  /**
   * @param {string} kind
   * @param {string} title
   * @param {Iterable<Found>} matches
   * @param {(found: Found[]) => Found[]} inOrder puts those of one rank in order
   * @returns {Group}
   */
  group(kind, title, matches, inOrder) {
    const ranks = /** @type {Found[][]} */ (Array.from({ length: RANKS }, () => []));
    for (const match of matches) ranks[match.rank].push(match);
    const best = ranks.findIndex((rank) => rank.length);
    const [same, ...like] = ranks.map(inOrder);
    const sorted = [...lastFirst(same), ...lastFirst(like.flat())];
    const all = kind === "topic" || kind === "word" ? distinct(sorted) : sorted;
    return { kind, title, matches: all, count: all.length, best };
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
      const rank = ranked(value.toLowerCase());
      if (rank >= 0) yield { rank, hit };
    }
  }

  /** @param {string} kind @returns {Iterable<[string, () => Hit]>} what the small index has of a kind */
  few(kind) {
    const { front, words, files, pages } = this.small;
    if (kind === "word") return ofBackends(explained(words), front?.backends ?? [], this.input.value);
    if (kind === "page") return pages.map(({ search, hit }) => [search, () => hit(this.input.value)]);
    if (kind === "topic") return topics(front?.topics ?? []);
    if (kind === "file") {
      return (files ?? []).map(([name, note]) => [name, () => ({ text: name, note, href: listedFile(name) })]);
    }
    if (!front) return [];
    if (kind === "module") {
      return this.modules.flatMap((module) => namesOf(module, this.input.value));
    }
    if (kind === "finding") {
      return front.findings.map(([number, title]) => [
        title,
        () => ({
          text: title,
          note: this.modules[number].name,
          href: modulePage(this.modules[number].slug, "cost", "findings"),
        }),
      ]);
    }
    if (kind === "scope") {
      const all = Object.entries(front.scopes).filter(([, [first]]) => first < this.modules.length);
      return all.map(([scope, numbers]) => [scope, () => this.holder(scope, numbers, front.more_scopes?.[scope])]);
    }
    return kind === "opcode" ? this.unloaded(front) : [];
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
  unloaded(front) {
    const loaded = new Set(this.indexes.map((index) => index.module.slug));
    return Object.entries(front.opcodes).flatMap(([opcode, numbers]) => {
      const left = numbers.filter((number) => this.modules[number] && !loaded.has(this.modules[number].slug));
      const more = front.more_opcodes?.[opcode];
      return left.length ? [/** @type {[string, () => Hit]} */ ([opcode, () => this.holder(opcode, left, more)])] : [];
    });
  }

  /** @param {string} query @returns {Generator<Found>} steps that touched an opcode or an instruction */
  *touched(query) {
    for (const index of this.indexes) {
      const opcodes = index.kinds.get("opcode")?.values ?? [];
      const opcode = opcodes.includes(query)
        ? query
        : query.length > 2
          ? opcodes.find((known) => known.startsWith(query))
          : null;
      const hits = [
        ...(opcode ? index.touchedOpcode(opcode).map((hit) => ({ ...hit, note: `${opcode}: ${hit.note}` })) : []),
        ...index.touchedName(query),
      ];
      const rank = !opcode || opcode === query ? 0 : 1;
      for (const hit of hits) yield { rank, hit: () => hit };
    }
  }

  /** @param {Group} group */
  drawn({ kind, title, matches, count, best }) {
    const scope = kind === "op_name" && this.below > 1;
    const limit = this.limit.get(kind) ?? (scope ? BELOW : SHOWN);
    const rows = matches
      .slice(0, limit)
      .map((match) => row(match.hit(), match.rank === 0 && best < 1, match.rank === RANKS - 1));
    const hidden = matches.length - rows.length;
    const more =
      hidden > 0 &&
      element(
        "button.xr-button",
        { type: "button", onclick: () => this.more(kind, limit) },
        `${format.count(hidden)} more`,
      );
    return element(
      "section",
      null,
      element("h2", null, `${title} `, element("span.xr-muted", null, format.count(count))),
      element("ul", null, ...rows),
      more,
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
    const target = /** @type {Element} */ (event.target);
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
    if (target === this.dialog || (target.closest("a") && !elsewhere)) this.dialog.close();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const links = [...this.results.querySelectorAll("a")];
    const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
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
}

const KEYS = new Set(["/", "s", "f"]);

/** Adds the search to this page. */
export function installSearch() {
  const search = new Search();
  const opener = element(
    "button.xr-search-open",
    { type: "button", title: "Search this report (key /)", onclick: () => search.open() },
    "Search ",
    element("kbd", null, "/"),
  );
  document
    .querySelector(".md-header__inner")
    ?.insertBefore(opener, document.querySelector(".md-header__inner .md-search"));
  bindKey("/", "Search this report", () => search.open());

  // The theme takes these keys for its own search, which this one replaces.
  window.addEventListener(
    "keydown",
    (event) => {
      if (!KEYS.has(event.key) || isTyping(event) || isOfBrowser(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (!document.querySelector("dialog:modal") || search.dialog.open) search.open();
    },
    true,
  );
}
