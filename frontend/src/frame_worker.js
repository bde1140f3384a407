/**
 * A stand-in for Worker where a page is opened from file://, so that the theme's search works there:
 * the worker's script runs in a hidden frame, and messages are passed on as events.
 */

/** Runs a script in a frame of its own, with the interface of a Worker. */
class FrameWorker extends EventTarget {
  /** @param {string | URL} url address of the worker's script */
  constructor(url) {
    super();
    /** @type {((event: Event) => void) | null} */
    this.onmessage = null;
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    this.frame.title = "Search";
    document.body.append(this.frame);
    const scope = /** @type {any} */ (this.frame.contentWindow);
    scope.postMessage = (/** @type {unknown} */ data) => this.receive(data);
    scope.importScripts = (/** @type {string[]} */ ...urls) => Promise.all(urls.map((address) => this.run(address)));
    this.ready = this.run(url);
  }

  /**
   * @param {string | URL} url address of a script to run in the frame
   * @returns {Promise<void>} settled when it has run
   */
  run(url) {
    return new Promise((resolve, reject) => {
      const inner = /** @type {Document} */ (this.frame.contentDocument);
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
      const scope = /** @type {any} */ (this.frame.contentWindow);
      scope.dispatchEvent(new scope.MessageEvent("message", { data }));
    });
  }

  /** Ends the worker. */
  terminate() {
    this.frame.remove();
  }
}

/** Puts it in the place of Worker. The theme asks for one from the network unless a script is called `iframe-worker`. */
export function installFrameWorker() {
  if (location.protocol !== "file:") return;
  // @ts-expect-error The theme needs no more of Worker than FrameWorker has.
  window.Worker = FrameWorker;
}
