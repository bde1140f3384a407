/**
 * The values of payloads, which the pages load (storage/payloads.py writes them, core/payloads.js reads
 * them). tests/storage/test_payload_types.py checks each payload of real reports against this file.
 */

/** The value of each payload by its key: `m/x/` is the folder of a module, `0` any number. */
export interface Payloads {
  words: Words;
  search: ReportIndex;
  "search-0": ReportIndexPart;
  "table-0": Cell[][];
  columns: Record<string, Column[]>;
  "pictures/look": Look;
  "m/x/small": Record<string, unknown>;
  "m/x/page": Part;
  "m/x/steps": StepList;
  "m/x/step-0": Story;
  "m/x/step~0-0": DiffLines;
  "m/x/step~0-rows-0": Example[][];
  "m/x/history": HistoryIndex;
  "m/x/history-0": HistoryChunk;
  "m/x/facts": Facts;
  "m/x/graph": Instructions;
  "m/x/graph-0": InstructionDetails;
  "m/x/versions": ComputationList;
  "m/x/versions-0": ComputationVersions;
  "m/x/versions-all": AllComputations;
  "m/x/instructions-0": InstructionFigures;
  "m/x/pictures": Levels;
  "m/x/pictures-0": { pictures: Record<string, PictureRecord[]> };
  "m/x/pictures-where": number[];
  "m/x/picture": PictureFile;
  "m/x/code": Code;
  "m/x/code-0": string[];
  "m/x/texts": TextList;
  "m/x/texts-0": TextChunk;
  "m/x/search": ModuleSearch;
  "m/x/timeline": Runs;
  "m/x/tpu": TpuPrograms;
  "m/x/tpu-0": TpuSchedule;
  /** Read by `xlareport compare` alone, as the next one: form, digest, JSON. */
  sketches: string[];
  "m/x/sketch": string[];
  /** Every other key. */
  table: Table;
}

/** Strings as patterns with slots, the pattern of each, the distances of the numbers in the slots. */
export type Folded = [(string | [string])[], number[], number[]];
/** A list of lists: how long each is, and all that is in them. */
export type Rows<T> = [number[], T[]];
/** A list in which values repeat: the values, and of each place the number of its value. */
export type Indexed<T> = [T[], number[]];
export type Grade = "" | "exact" | "matched" | "guessed";

/** A part of a module's page: the HTML of its article. */
export interface Part {
  title: string;
  html: string;
  /** Whether it takes the room of the sidebars too. */
  wide: boolean;
}

export interface Column {
  title: string;
  kind: string;
  help?: string;
  /** The kind of word that its cells name. */
  of?: string;
}
/** A name, and for each of its parts the length and the number of its meaning, or -1. */
export type Name = [string, number[]];
/** A sentence, or a sentence and the `KIND:NAME` of its entry. */
export type Meaning = string | [string, string];
export type Cell = string | number | [string, string] | Name | null;
export interface Table {
  /** Themselves, or their key in `columns`. */
  columns: Column[] | string;
  rows: Cell[][];
  sort?: [number, "asc" | "desc"];
  /** What the parts of names mean. */
  meanings?: Meaning[];
  filter_placeholder?: string;
  empty?: string;
  /** Of a table whose other rows are in payloads `KEY-1` and so on, in the order of `sort`. */
  pages?: Pages;
}
/** How many rows there are in all payloads together, and in each but the last one. */
export interface Pages {
  rows: number;
  size: number;
}

/** How names of instructions and computations are taken apart. */
export interface Grammar {
  forms: string[];
  fields: Record<string, string>;
  manner: Record<string, string>;
  suffix: Record<string, string>;
}
export interface Words {
  /** Meanings by kind and name. */
  words: Record<string, Record<string, string>>;
  /** Terms by their synonyms. */
  synonyms: Record<string, string>;
  /** Bits of an element of each type. */
  bits: Record<string, number>;
  /** Sentences about `order`, `tiles`, `bits` and `space` of a layout; `{}` stands for the value. */
  layout: Record<string, string>;
  /** Sentences about memory spaces by their number. */
  spaces: Record<string, string>;
  instruction: Grammar;
}

export interface Look {
  css: string;
  /** Rules for a dark system. */
  dark: string;
  /** The limits of the colors of each mode, and their words. */
  scales: Record<string, { from: number[]; words: string[] }>;
  /** Words of the legend by names of classes. */
  families: [string, string][];
  states: [string, string][];
  edges: [string, string][];
}

export interface Step {
  id: string;
  label: string;
  /** Without the number and the pipeline, which stand beside it. */
  name: string;
  pipeline: string | null;
  after: string | null;
  before: string | null;
  /** Null where it is not known. */
  changed: boolean | null;
  instructions: number | null;
  computations: number | null;
  added: number | null;
  removed: number | null;
  modified: number | null;
  headline: string;
  files: string[];
  /** The partitioner, where it ran without a snapshot of its own. */
  partitioner?: string;
  /** What it did to the program, for ranking; not there where it did nothing or that is not known. */
  weight?: number;
  /** Kinds of effects, and what each was. */
  chips?: [string, string][];
}
/** The steps of a pipeline: positions, both inclusive. */
export interface PipelineRange {
  pipeline: string;
  run: number | null;
  first: number;
  last: number;
}
export interface StepList {
  module: string;
  slug: string;
  tree: PipelineRange[];
  steps: Step[];
  hidden_note: string | null;
  /** Stands where they are no steps but places of a comparison. */
  counted?: string;
}

/** A number at the end counts the names that are not listed. */
export type Names = string | (string | number)[] | null;
export interface Example {
  before: Names;
  after: Names;
  /** The computation. */
  where: string | null;
  reason: string | null;
  grade: string | null;
}
export interface Group {
  kind: string;
  label: string;
  title: string;
  count: number;
  grade: string | null;
  examples: Example[];
  /** Keys of the payloads with the other rows, and places in these. */
  rest?: [string, number][];
}
/** A picture of those of a name in a payload. */
export interface PicturePlace {
  key: string;
  name: string;
  place: number;
  alt: string;
}
/** Pictures of what a line of `left_out` names. */
export interface ChangedPlace {
  name: string;
  line: number;
  before: PicturePlace;
  after: PicturePlace;
}
export interface StepPictures {
  before: PicturePlace | null;
  after: PicturePlace | null;
  note: string;
  left_out?: string[];
  places?: ChangedPlace[];
}
export interface DiffLines {
  /** How many lines each hunk has. */
  hunks: number[];
  titles: Folded;
  /** Of each line. */
  signs: string;
  /** Numbers of lines before, as distances: of all but `+`. */
  before: number[];
  /** Numbers of lines after, as distances: of all but `-` and the unchanged. */
  after: number[];
  /** Of lines that stand elsewhere in the schedule, the positions before and after. */
  moves: number[];
  /** The key of what holds the lines from 0 up. */
  texts: string | null;
  /** The lines from -1 down. */
  own: Folded;
  /** Whether the first hunk began in the lines before these. */
  continued?: boolean;
}
/** The first lines of a difference. */
export interface Diff extends DiffLines {
  /** The keys of the other lines, in order. */
  more?: string[];
  /** Lines that changed. */
  total: number;
  /** Lines that changed and are shown. */
  shown: number;
  note?: string | null;
}
export interface Story {
  headline: string;
  account: string[];
  certain: string | null;
  /** What, before, after, difference. */
  figures: [string, string, string, string][];
  /** Which figures were not counted. */
  uncounted?: string;
  time: string;
  /** Every pass, and whether it reported a change. */
  ran?: [string, boolean][];
  groups: Group[];
  /** Name, how many before, how many after. */
  opcodes: [string, number | null, number | null][];
  pictures: StepPictures | null;
  diff: Diff;
}

export interface HistoryIndex {
  /** Keys and labels of the snapshots. */
  stages: [string, string][];
  /** Subjects in each chunk. */
  chunk: number;
  titles: Folded;
  /** The number of the first subject that is asked forward. */
  forward: number;
  /** The number of the first of what came and went on the way, and titles. */
  between: [number, Folded];
  /** Names, how many subjects ever had each, their numbers as distances. */
  names: [Folded, number[], number[]];
  /** Op_names of the first snapshot without a history, and the places of their instructions. */
  left_out: [Folded, NameColumn];
  complete: boolean;
}
/** How long each list is, its names, and by row how many names are not listed. */
export type NameColumn = [number[], Folded, Record<string, number>];
export interface HistoryChunk {
  instructions: number[];
  happened: number[][];
  /** Of each subject: how many, how many are listed, all their numbers as distances. */
  origins: [number[], number[], number[]];
  now: [number[], number[], number[]];
  /** Place, opcode, shape, op_name, source. */
  standings: Folded[];
  /** Snapshot, event, instruction, other names from and to, initial of the grade, reason. */
  events: [number[], Folded, Folded, NameColumn, NameColumn, Folded, Folded];
}

/** Opcode, kind, color, an attribute worth a line. */
export type InstructionLook = [string, string, string, string];
/** As written, elements, bytes. */
export type Shape = [string, number | null, number | null];
/** Part of the estimated time, sharding, scopes in lines, part of the measured time. */
export type Shade = [number | null, string, string, (number | null)?];
/** Columns of instructions: numbers are rows of the tables. */
export interface InstructionColumns {
  names: Folded;
  arguments: [Folded, number[]];
  look: number[];
  shape: number[];
  shade: number[];
  /** How far above each operand stands: `3`, or `3#1` for an element. */
  operands: Rows<number | string>;
  controls: Record<string, number[]>;
  /** Attribute and number of the computation. */
  calls: Record<string, [string, number][]>;
  looks: InstructionLook[];
  shapes: Shape[];
  shades: Shade[];
}
export interface Instructions extends InstructionColumns {
  /** What the report calls the snapshot. */
  label: string;
  /** What its text is called on the page of texts; null where it has none. */
  text: string | null;
  /** Instructions in each piece with details; 0 where there are none. */
  piece: number;
  /** Whether all computations are here. */
  complete: boolean;
  /** Names, how many instructions, what they do. */
  computations: [string, number, string][];
  /** Of each whether it has a picture worth opening, and the colors of a fused one. */
  inside: Indexed<[boolean, (string | number)[]]>;
  /** Where in its computation each root stands. */
  roots: (number | null)[];
}
/** FLOPs and bytes of one run, how many runs, grade. */
export type RunFigures = [number | null, number | null, number | null, string];
/** How often, seconds in total, own and on average, part of all runs, the microsecond in which it ran first. */
export type MeasuredTimes = [number, number, number, number, number | null, number];
export interface InstructionDetails {
  /** Of each instruction the parts of its line. */
  lines: [number[], Folded];
  shapes: Indexed<string>;
  scopes: Indexed<string>;
  sources: Indexed<string>;
  figures: Indexed<RunFigures | null>;
  times?: Indexed<MeasuredTimes | null> | null;
  /** The module that ran. */
  module?: string;
}

/** Name, snapshots in which it changed, end, most instructions. */
export type ComputationTitle = [string, number[], number, number];
export interface ComputationList {
  /** Keys and labels of the snapshots. */
  stages: [string, string][];
  timelines: ComputationTitle[];
  /** How many others changed. */
  others: number;
}
export interface ComputationVersions extends InstructionColumns {
  /** The number of the instruction of each version, as distances. */
  lives: number[];
  /** The first snapshot of each version, and the one after its last. */
  first: number[];
  end: number[];
  roots: number[];
}
export interface AllComputations {
  names: Folded;
  /** First snapshots of their other names. */
  renamed: Record<string, [number, string][]>;
  /** The file of each; negative where a graph has it. */
  in: number[];
  /** Versions of each. */
  sizes: number[];
  first: number[];
  end: number[];
  /** Keys of the snapshots that have a text. */
  texts: string[];
}

export interface InstructionFigures {
  /** How many files there are. */
  pieces: number;
  flops: (number | null)[];
  bytes: (number | null)[];
  /** Bytes in the device memory where they are others, of which the time is; empty where there are none. */
  stored: (number | null)[];
  share: (number | null)[];
  /** Into `scopes` and `sources`. */
  scope: number[];
  source: number[];
  scopes: string[];
  sources: string[];
}

/** Title, sentence, part of the module's page with more, grade, and the compiler's own text where the sentence tells it. */
export type Fact = [string, string, string, Grade, string?];
/** What panels show of instructions of the final snapshot, by their names. */
export interface Facts {
  /** Roofline time of one run; null where it is not known. */
  seconds: number | null;
  /** What holds of an instruction without a fact on fusion. */
  fusion: string;
  facts: Record<string, Fact[]>;
}

/** What is as usual at the end of a row is left out, in between it is 0. */
export type RecordRow = any[];
export interface PictureRecord {
  title: string;
  nodes: RecordRow[];
  edges: RecordRow[];
  notes?: string[];
  groups?: RecordRow[];
  /** Without a legend. */
  plain?: boolean;
  /** Of a layout that was made beforehand: width and height, boxes, curves as steps, frames. */
  size?: [number, number];
  boxes?: number[][];
  curves?: number[][];
  frames?: number[][];
}
export interface PictureFile {
  /** By name, or those of one name alone. */
  pictures: Record<string, PictureRecord[]> | PictureRecord[];
}
/** Pictures that boxes open. The first one stands in the page. */
export interface Levels {
  /** The key of the graph whose instructions they show. */
  graph: string;
  targets: Folded;
  titles: Folded;
  /** The number of the file of each, and the picture that leads to it. */
  in: number[];
  up: number[];
  note: string;
}

export interface CodeFile {
  label: string;
  path: string;
  size: number | null;
  /** True: it is the one of its path among the module's texts; else where it stands. */
  text: [number, number] | true | null;
  note: string;
}
/** What, producer, consumers, fusion, reason, microseconds fused and not fused. */
export type Decision = [string, string, string[], string, string, number | null, number | null];
export interface Decisions {
  grade: string;
  total: number;
  steps: Decision[];
}
export interface Unit {
  /** Empty for a whole computation. */
  name: string;
  computation: string;
  opcode: string;
  shape: string;
  scope: string;
  source: string;
  grade: string;
  reason: string;
  files: CodeFile[];
  thunks: number[];
  decisions: Decisions | null;
  tuning: [string, string][];
  /** Figures of the kernels that it launches: what, and how much. */
  kernels: [string, string][];
}
/** Id, kind, description, before, after, part, depth, unit, names of those that it waits for. */
export type Thunk = [
  number | null,
  string,
  string,
  number | null,
  number | null,
  string,
  number,
  number | null,
  string[],
];
export interface TpuPrograms {
  /** Program, and its instructions, each with an address. */
  programs: [string, [string, string][]][];
}

export interface TpuSchedule {
  /** Unit, capacity, used slots of each cycle as a digit to base 36. */
  units: [string, number, string][];
  cycles: number;
  /** How often, for how many cycles in a row. */
  runs: [number, number][];
  /** Begin, end, depth, words. */
  loops: [number, number, number, string][];
  /** Begin, share, how often, bundles. */
  ranges: [number, number, number | null, string[]][];
  /** A line of a kernel, and its cycles. */
  lines: [string, number][];
  /** Of the compiler, in order. */
  stages: string[];
}

export interface Code {
  key: string;
  texts: string;
  units: Unit[];
  thunks: Thunk[];
  /** Units by what is inside of them. */
  inside: Record<string, number>;
  gone: Decisions | null;
}

export interface TextList {
  /** Path, bytes, seconds of its time, chunk, runs of blocks, key, label. */
  texts: [string, number, number | null, number, number[], string, string][];
  /** The number of the first line of each chunk. */
  chunks: number[];
}
export interface TextChunk {
  lines: Folded;
  blocks: number[][];
}

/** Slug, name, key, role, whether it was read, whether it changed. */
export type SearchModule = [string, string, string, string, number, number];
export interface ReportIndexPart {
  modules: SearchModule[];
  /** Module and title. */
  findings: [number, string][];
}
export interface ReportIndex extends ReportIndexPart {
  /** Numbers of the first modules that have each. */
  opcodes: Record<string, number[]>;
  scopes: Record<string, number[]>;
  /** How many more have it. */
  more_opcodes?: Record<string, number>;
  more_scopes?: Record<string, number>;
  /** Where the other modules are in `search-1` and so on. */
  pages?: Pages;
  files: number;
  /** Of the dump; empty where they are not known. */
  backends?: string[];
  /** What the report says of the main program: title, address, the words that lead there. */
  topics: [string, string, string[]][];
}
export interface SearchKind {
  values?: string[];
  stems?: string[];
  counts?: number[];
  numbers?: number[];
  /** Into `spans`. */
  spans: number[];
  /** Into `codes`. */
  codes?: number[];
  /** Of functions: how many lines of the page on the source are in it or called from it. */
  lines?: number[];
}
export interface ModuleSearch {
  /** Key, label, number and pipeline, whether the page of texts shows it. */
  stages: [string, string, string, number][];
  kinds: Record<string, SearchKind>;
  /** First and last snapshot. */
  spans: [number, number][];
  codes: string[];
  /** Of operations the opcodes of other names: a start, an end, the all-reduce of a TPU's reduce-scatter. */
  forms: Record<string, string[]>;
  /** Snapshot, opcodes with how many were added, removed, changed, numbers of instructions as distances. */
  steps: [number, Record<string, [number, number, number]>, number[], number[], number[]][];
  complete: boolean;
}

/** Lane, beginning and length in microseconds, instruction or -1, how many. */
export type Bar = [number, number, number, number, number];
export interface Run {
  title: string;
  start: number;
  length: number;
  /** Thread and depth. */
  lanes: [number, number][];
  bars: Bar[];
  merged: number;
  left_out: number;
}
/** Runs of a module as timelines. */
export interface Runs {
  page: string;
  steps: Run[];
  /** Name, opcode, color, scope or -1. */
  instructions: [string, string, string, number][];
  families: [string, string][];
  scopes: string[];
}
