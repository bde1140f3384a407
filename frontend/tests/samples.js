/** Payloads that several tests load: each is loaded once for all of them. */

import { payloads } from "./page.js";

export const WORDS = {
  words: {
    opcode: { dot: "Multiplies matrices.", add: "Adds." },
    pass: { algsimp: "Simplifies." },
    type: { f32: "Single precision." },
    word: { fusion: "Several instructions as one." },
  },
  synonyms: { kernel: "fusion" },
  bits: { f32: 32 },
  layout: { order: "First {}.", tiles: "Tiles of {}.", bits: "{} bits.", space: "Space {}." },
  spaces: { 1: "Space 1: on tpu VMEM." },
  instruction: {
    forms: ["(?<born>[a-z]+)_(?<manner>fusion)", "(?<born>[a-z-]+)"],
    fields: {
      born: "Made as {text}.",
      manner: "How.",
      number: "A number.",
      later: "Later.",
      element: "Element {text}.",
    },
    manner: { fusion: "By a fusion." },
    suffix: { clone: "A copy.", wide: "Made wider.", remat: "Computed again." },
  },
};

/** The look of pictures, with fewer colors than that of a report. */
export const LOOK = {
  css: ".x{}",
  dark: "",
  families: [
    ["green", "elementwise"],
    ["gray", "parameters"],
  ],
  states: [
    ["added", "added"],
    ["removed", "removed"],
  ],
  edges: [["control", "runs after"]],
  scales: Object.fromEntries(
    ["cost", "time", "memory"].map((mode) => [mode, { from: [0, 0.1], words: ["little", "much"] }]),
  ),
};

payloads.set("words", WORDS);
payloads.set("pictures/look", LOOK);
