/**
 * Paths of op_names. JAX writes those inside of a called computation relative to the call; inlining joins the call's
 * op_name and the relative one with a slash, so the final snapshot has paths that the first one does not.
 */

/** Levels of a path that are looked at. */
const DEEPEST = 64;

/**
 * Returns the op_names of the first snapshot that inlining makes a path of, the longest first.
 * @param {string} path of the final snapshot
 * @param {Set<string>} ops the op_names of the first snapshot
 * @returns {string[]}
 */
export function relativeParts(path, ops) {
  const slashes = [...path.matchAll(/\//g)].map(({ index }) => index);
  if (slashes.length > DEEPEST) return [];
  const joined =
    /** @type {Map<number, boolean>} whether the beginning up to a slash is an op_name, or made of some */ (new Map());
  for (const [place, end] of slashes.entries()) {
    const before = slashes.slice(0, place).some((start) => joined.get(start) && ops.has(path.slice(start + 1, end)));
    joined.set(end, before || ops.has(path.slice(0, end)));
  }
  return slashes
    .filter((start) => joined.get(start) && ops.has(path.slice(start + 1)))
    .map((start) => path.slice(start + 1));
}

/**
 * Returns the paths that only the final snapshot has, each with its parts in the first one.
 * @param {Iterable<string>} finals op_names of the final snapshot
 * @param {Set<string>} ops the op_names of the first snapshot
 * @returns {Map<string, string[]>}
 */
export function joinedPaths(finals, ops) {
  const paths = new Map();
  for (const path of finals) {
    const parts = ops.has(path) ? [] : relativeParts(path, ops);
    if (parts.length) paths.set(path, parts);
  }
  return paths;
}

/**
 * Returns the op_names that end with one of a snapshot in between, before a call around it was inlined.
 * @param {string} op
 * @param {Iterable<string>} ops
 * @returns {string[]} each once
 */
export function endingWith(op, ops) {
  return [...new Set(ops)].filter((path) => path.endsWith(`/${op}`));
}

/**
 * Returns what op_names end with: the final snapshot may have the op of a reducer so, without the call around it.
 * @param {Iterable<string>} ops
 * @returns {Set<string>}
 */
export function properEnds(ops) {
  const ends = new Set();
  for (const op of ops) {
    const slashes = [...op.matchAll(/\//g)].slice(-DEEPEST);
    for (const { index } of slashes) ends.add(op.slice(index + 1));
  }
  return ends;
}
