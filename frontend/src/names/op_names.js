/**
 * Op_names without what JAX puts around scopes: pages write `encoder/mlp/dot_general`, the HLO
 * `jit(step)/transpose(jvp(encoder))/mlp/dot_general`. The other side is analysis/source/scopes.py.
 */

/** Characters of an op_name that are looked at. */
const LONGEST = 2000;
const WRAPPED = /^([A-Za-z_]\w*)\((.*)\)$/s;
const TRACED = new Set(["jit", "pjit", "xla_call"]);
const LEVELS = new Set(
  "while body cond closed_call core_call eval_jaxpr checkpoint shard_map rematted_computation".split(" "),
);
const BACKWARD = /(?:^|[/(])transpose\(|(?:^|\/)gradient_tape\/|^gradients\//;
const byName = new Intl.Collator("en", { numeric: true });
const FORWARD = /(?:^|[/(])jvp\(/;

/**
 * Splits at slashes that stand outside of parentheses.
 * @param {string} path
 */
function split(path) {
  const parts = [];
  let depth = 0;
  let start = 0;
  for (let place = 0; place < path.length; place += 1) {
    const mark = path[place];
    if (mark === "(") depth += 1;
    else if (mark === ")") depth -= 1;
    else if (mark === "/" && depth <= 0) {
      parts.push(path.slice(start, place));
      start = place + 1;
    }
  }
  return [...parts, path.slice(start)];
}

/**
 * @param {string} path
 * @param {boolean} isTraced whether functions traced within others are levels: `silu` of `jit(silu)`
 * @returns {string[]} its levels, without transformations and the outermost traced function
 */
function levelsOf(path, isTraced = false) {
  const levels = [];
  const parts = split(path);
  const waiting = parts.slice().reverse();
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const match = WRAPPED.exec(part);
    if (!match && part) levels.push(part);
    if (match && (!TRACED.has(match[1]) || (isTraced && part !== parts[0]))) {
      waiting.push(...split(match[2]).reverse());
    }
  }
  return levels;
}

/**
 * Returns the forms of an op_name without transformations: whole, without levels of control flow, and
 * so with the functions that were traced within others.
 * @param {string} opName
 * @returns {string[]} none where they are the op_name itself
 */
export function plainPaths(opName) {
  const names = opName.slice(0, LONGEST).split(";");
  const levels = names.map((path) => levelsOf(path));
  const traced = names.map((path) => levelsOf(path, true));
  const joined = (/** @type {string[][]} */ paths) => paths.map((path) => path.join("/")).join(";");
  const named = (/** @type {string[][]} */ all) =>
    joined(all.map((path) => path.filter((level) => !LEVELS.has(level))));
  const forms = [joined(levels), named(levels), named(traced)];
  return [...new Set(forms)].filter((form) => form && form !== opName);
}

/**
 * @param {string} opName
 * @returns {boolean} whether XLA merged several into it: `a;b`, or `jit(f)/(mul:tanh)` with what they have in common
 */
export function isMerged(opName) {
  const last = split(opName.slice(0, LONGEST)).at(-1) ?? "";
  return opName.includes(";") || (/^\(.*\)$/s.test(last) && last.includes(":"));
}

/** Levels of the scopes whose time pages list. */
const LISTED = 3;
const UNNAMED = new Set(["jvp()", "transpose(jvp())"]);

/**
 * @param {string} opName
 * @returns {string} its outermost levels, those of control flow left out, as tables of scopes have them
 */
export function outerLevels(opName) {
  const levels = split(opName.slice(0, LONGEST)).filter((level) => !LEVELS.has(level) && !UNNAMED.has(level));
  return levels.slice(0, LISTED).join("/");
}

/**
 * @param {string} opName
 * @returns {string} the phase of a training step, as its transformations tell; empty where they do not
 */
export function phaseOf(opName) {
  if (opName.includes("rematted_computation")) return "recomputed";
  if (BACKWARD.test(opName)) return "backward";
  return FORWARD.test(opName) ? "forward" : "";
}

/** The order in which phases are listed; op_names outside of what is differentiated come last. */
const PHASES = ["forward", "recomputed", "backward", ""];

/** @typedef {{name: string, phase: string}} OpName */

/** Op_names that are found by their texts, and by their forms without transformations. */
export class OpNames {
  /** @param {Iterable<string>} names */
  constructor(names) {
    this.all = [...names].map((name) => ({
      op: { name, phase: phaseOf(name) },
      forms: [name, ...plainPaths(name)].map((form) => form.toLowerCase()),
    }));
  }

  /**
   * @param {string} wanted in lower case
   * @returns {OpName[][]} op_names that contain it, by phase, that of the same op_name first: the same first, then by
   * how early it stands; of one phase where what is wanted tells it
   */
  find(wanted) {
    const plain = plainPaths(wanted).at(-1) ?? wanted;
    const asked = phaseOf(wanted);
    const ranked = this.all
      .filter(({ op }) => !asked || op.phase === asked)
      .map(({ op, forms }) => ({ op, rank: rankOf(forms, wanted, plain) }))
      .filter(({ rank }) => rank !== null)
      .sort((left, right) => Number(left.rank) - Number(right.rank) || byName.compare(left.op.name, right.op.name))
      .map(({ op }) => op);
    const isSame = (/** @type {OpName[]} */ ops) => ops[0].name.toLowerCase() === wanted;
    return PHASES.map((phase) => ranked.filter((op) => op.phase === phase))
      .filter((ops) => ops.length)
      .sort((left, right) => Number(isSame(right)) - Number(isSame(left)));
  }
}

/**
 * @param {string[]} forms of an op_name, the whole first
 * @param {string} wanted
 * @param {string} plain what is wanted, without transformations
 * @returns {number | null} where it stands; below 0 for the same, the op_name itself first, then forms that are or end
 * with what is wanted as it was typed, loops and calls included; null where no form contains it
 */
function rankOf(forms, wanted, plain) {
  if (forms[0] === wanted) return -4;
  if (forms.includes(wanted)) return -3;
  if (forms.some((form) => form.endsWith(`/${wanted}`))) return -2;
  if (forms.includes(plain)) return -1;
  const places = [forms[0].indexOf(wanted), ...forms.slice(1).map((form) => form.indexOf(plain))];
  const found = places.filter((place) => place >= 0);
  return found.length ? Math.min(...found) : null;
}
