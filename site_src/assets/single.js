// Made from frontend/src by `make bundle`: changes here are lost.
"use strict";
(() => {
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

  // src/single.js
  var HOME = "index.html";
  var MISSING = "left-out.html";
  var REST = ".md-container ~ .md-dialog, .md-container ~ script";
  var end = "<\/script>";
  var beginning = isFixed ? whole() : "";
  var templates = (
    /** @type {HTMLTemplateElement[]} */
    [...document.querySelectorAll("template[data-page]")]
  );
  var pages = new Map(templates.map((template2) => [template2.dataset.page ?? "", template2]));
  function whole() {
    const text = document.documentElement.outerHTML;
    return text.slice(0, text.lastIndexOf(end) + end.length);
  }
  var named = (fragment) => new URLSearchParams(fragment.slice(1)).get("page");
  var template = (address) => pages.get((address ?? "").split("?")[0]);
  function within(address) {
    const { href, hash, search } = new URL(address, root + current);
    if (!href.startsWith(root)) return null;
    const page = decodeURIComponent(href.slice(root.length).split(/[?#]/)[0]) + search;
    const behind = hash.slice(1);
    const asked = behind.includes("=") ? behind : behind && `at=${behind}`;
    return `#${new URLSearchParams([["page", page || HOME], ...new URLSearchParams(asked)])}`.replaceAll("%2F", "/").replaceAll("%3F", "?");
  }
  function lead(link) {
    const address = link.getAttribute("href") ?? "";
    if (address.startsWith("#page=") || link.closest(".md-skip, .md-nav--secondary")) return;
    const real = within(address);
    if (!real) return;
    link.setAttribute("href", real);
    if (template(named(real))) return;
    link.classList.add("xr-absent");
    link.title = "Not in this file";
  }
  function leadAll(part) {
    if (part.matches("a[href]")) lead(
      /** @type {HTMLElement} */
      part
    );
    for (
      const link of
      /** @type {NodeListOf<HTMLElement>} */
      part.querySelectorAll("a[href]")
    ) lead(link);
  }
  function show() {
    const shown = template(current) ?? pages.get(MISSING);
    if (!shown) return;
    document.documentElement.classList.toggle("xr-part-asked", current.includes("?"));
    document.querySelector("main")?.append(document.importNode(shown.content, true));
    document.title = shown.dataset.title ?? "";
    const topic = document.querySelector("[data-md-component=header-topic] .md-ellipsis");
    if (topic) topic.textContent = document.querySelector("main h1")?.firstChild?.textContent ?? "";
    const asked = document.querySelector("[data-asked-page]");
    if (asked && !template(current)) asked.textContent = `The page ${current} is not in this file.`;
    for (const tab of document.querySelectorAll(".md-tabs__link")) {
      const here = named(tab.getAttribute("href") ?? "")?.split("/")[0] === current.split("/")[0];
      tab.parentElement?.classList.toggle("md-tabs__item--active", here);
    }
  }
  function scroll() {
    const place = document.getElementById(new URLSearchParams(location.hash.slice(1)).get("at") ?? "");
    place?.scrollIntoView();
    place?.classList.add("xr-at");
  }
  function turned(event) {
    if (!location.hash.startsWith("#page=")) replaceFragment(within(location.hash || HOME) ?? "");
    if (named(location.hash) === current) return scroll();
    event.stopImmediatePropagation();
    history.scrollRestoration = "manual";
    if (isFixed) writeAnew();
    else location.reload();
  }
  function writeAnew() {
    const foot = document.querySelector(".md-footer")?.outerHTML ?? "";
    const parts = [...document.querySelectorAll(REST)].map((part) => part.outerHTML);
    document.open();
    document.write(`<!doctype html>${beginning}${foot}</div>${parts.join("")}`);
    document.close();
  }
  function follow(event) {
    const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    goToFragment(link.getAttribute("href") ?? "");
  }
  var current = HOME;
  leadAll(document.body);
  if (!location.hash.startsWith("#page=")) replaceFragment(within(location.hash || HOME) ?? "");
  current = named(location.hash) ?? HOME;
  show();
  leadAll(document.body);
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      const parts = type === "attributes" ? [target] : addedNodes;
      for (const part of parts) if (part instanceof Element) leadAll(part);
    }
  }).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["href"] });
  window.addEventListener("hashchange", turned);
  if (isPlaceless || isFixed) document.addEventListener("click", follow);
  window.addEventListener("load", scroll);
})();
