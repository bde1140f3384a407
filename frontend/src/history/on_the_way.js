/** Instructions that have no history: most are in snapshots between the first and the last alone. */

import { insideReport } from "../core/address.js";
import { element } from "../core/elements.js";
import { loadModuleIndex } from "../search/index.js";

/**
 * @param {string} key of the histories of a module
 * @param {string} name of an instruction
 * @returns {Promise<HTMLElement[] | null>} where its text is; null where no snapshot is known to have it
 */
export async function textOnTheWay(key, name) {
  const slug = key.replace(/^m\/(.*)\/history$/, "$1");
  const module = { slug, name: "", key: "", role: "", order: 0, read: true, changed: true };
  const hit = (await loadModuleIndex(module, false).catch(() => null))?.textOf(name);
  if (!hit) return null;
  const place = hit.between ? "Neither the first snapshot nor the last has it, and its" : "Its";
  const words = `${place} history is not here: ${hit.note}. `;
  return [element("p.xr-empty", null, words, element("a", { href: insideReport(hit.href) }, "Its text"))];
}
