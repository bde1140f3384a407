/**
 * The page script: everything that it does to a page when it is loaded, in this order. Scripts of
 * payloads call `xlareport.deliver`; tests call the rest.
 */

import { component } from "./core/components.js";
import { drawCode } from "./code/code.js";
import { drawComputationTimelines } from "./graphs/computation_timeline.js";
import { drawExplorer } from "./graphs/explorer.js";
import { drawHistory } from "./history/history.js";
import { installKeys } from "./keys.js";
import { nameCodeBars } from "./landmarks.js";
import { drawLiving } from "./memory/living.js";
import { showAskedPart } from "./parts.js";
import { drawPicture } from "./pictures/interactive.js";
import { drawTimeline } from "./profile/timeline.js";
import { installSearch } from "./search/search.js";
import { drawSteps } from "./steps/steps.js";
import { drawInstructions } from "./tables/instructions.js";
import { drawTable } from "./tables/table.js";
import { drawTexts } from "./texts/reader.js";
import { drawTpuPrograms } from "./tpu/strip.js";

export { state } from "./core/address.js";
export { element, prose } from "./core/elements.js";
export { deliver, load } from "./core/payloads.js";
export { loadGraph } from "./graphs/graph.js";
export { loadSnapshotGraph } from "./graphs/snapshot_graph.js";
export { explainWord } from "./names/words.js";
export { interactivePicture } from "./pictures/interactive.js";
export { readDrawing, recordLayout, recordSvg } from "./pictures/records.js";

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
