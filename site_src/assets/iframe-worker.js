// Made from frontend/src by `make bundle`: changes here are lost.
"use strict";
(() => {
  // src/frame_worker.js
  var FrameWorker = class extends EventTarget {
    /** @param {string | URL} url address of the worker's script */
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "Search";
      document.body.append(this.frame);
      const scope = (
        /** @type {any} */
        this.frame.contentWindow
      );
      scope.postMessage = (data) => this.receive(data);
      scope.importScripts = (...urls) => Promise.all(urls.map((address) => this.run(address)));
      this.ready = this.run(url);
    }
    /**
     * @param {string | URL} url address of a script to run in the frame
     * @returns {Promise<void>} settled when it has run
     */
    run(url) {
      return new Promise((resolve, reject) => {
        const inner = (
          /** @type {Document} */
          this.frame.contentDocument
        );
        const script = inner.createElement("script");
        script.src = String(new URL(url, document.baseURI));
        script.onload = () => resolve();
        script.onerror = () => reject(new Error(`${url} cannot be loaded`));
        inner.body.append(script);
      });
    }
    /** @param {unknown} data what the worker posted */
    receive(data) {
      const event = new MessageEvent("message", { data });
      setTimeout(() => {
        this.dispatchEvent(event);
        this.onmessage?.(event);
      });
    }
    /** @param {unknown} data what the page posts to the worker */
    postMessage(data) {
      this.ready.then(() => {
        const scope = (
          /** @type {any} */
          this.frame.contentWindow
        );
        scope.dispatchEvent(new scope.MessageEvent("message", { data }));
      });
    }
    /** Ends the worker. */
    terminate() {
      this.frame.remove();
    }
  };
  function installFrameWorker() {
    if (location.protocol !== "file:") return;
    window.Worker = FrameWorker;
  }

  // src/early.js
  var { classList } = document.documentElement;
  if (/^\?[a-z]+=?(&|$)/.test(location.search)) classList.add("xr-part-asked");
  window.addEventListener("load", () => classList.remove("xr-part-asked"));
  installFrameWorker();
})();
