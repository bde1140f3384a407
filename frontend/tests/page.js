/** What the modules need of a page when they are loaded outside of a browser. */

const script = { src: "file:///report/site/assets/xlareport.js" };
Object.assign(globalThis, {
  document: { currentScript: script, documentElement: { dataset: {} } },
  location: new URL("file:///report/site/m/x.html?cost#step=0017"),
});
