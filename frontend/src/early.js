/**
 * Runs before the page is drawn: where a part of it is asked for, `x.html?cost`, the overview is not
 * shown first. `parts.js` takes the mark away; so does the end of loading, whatever happened to that.
 */

import { installFrameWorker } from "./frame_worker.js";

const { classList } = document.documentElement;
if (/^\?[a-z]+=?(&|$)/.test(location.search)) classList.add("xr-part-asked");
window.addEventListener("load", () => classList.remove("xr-part-asked"));
installFrameWorker();
