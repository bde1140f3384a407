/** What the modules need of a page when they are loaded outside of a browser. */

/** A window that stands in no frame. */
const alone = {};
Object.assign(alone, { parent: alone });
const script = { src: "file:///report/site/assets/xlareport.js" };
Object.assign(globalThis, {
  document: { currentScript: script, documentElement: { dataset: {} } },
  window: alone,
  location: new URL("file:///report/site/m/x.html?cost#step=0017"),
});
