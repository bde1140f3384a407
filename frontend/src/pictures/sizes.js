/** Sizes of pictures, in SVG user units, and what they fold. Made from generator/xlareport/pictures/style.toml by `make bundle`: changes here are lost. */

export const CHARACTER_WIDTH = 7.25;
export const LINE_HEIGHT = 15;
export const PADDING_X = 8;
export const PADDING_Y = 5;
export const STACK_OFFSET = 5;
export const BAR_HEIGHT = 4;
export const OPENING_WIDTH = 15;
export const LONGEST_LINE = 36;
export const MARGIN = 12;
export const TITLE_HEIGHT = 28;
export const NARROWEST = 380;
export const BASELINE = 11.5;
export const HEAD_LENGTH = 6.5;
export const HEAD_ANGLE = 0.42;
export const LEGEND_LINE = 16;
export const LEGEND_CHARACTER = 6.7;
export const LEGEND_SWATCH = 22;
export const LEGEND_GAP = 16;
export const LEGEND_WORDS = 48;
export const MOST_KINDS = 10;
export const BOOKKEEPING = new Set(["bitcast", "constant", "get-tuple-element", "parameter", "tuple"]);
export const SPREADING = new Set(["bitcast", "broadcast", "reshape"]);
export const LARGE_INPUT = 4096;
