/**
 * Where the boxes of a small graph stand: in layers from top to bottom, arrows pointing down.
 * Long arrows get a place in every layer that they pass, as a box without content.
 */

const GAP_X = 22;
const GAP_Y = 38;
const PASSING = 10;
const WIDEST = 14;
const SWEEPS = 8;

/** @typedef {{width: number, height: number}} Size */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */
/** @typedef {[number, number]} Point */
/** @typedef {{boxes: Box[], curves: Point[][], width: number, height: number, groups?: Box[]}} Layout curves are a start, then three points for each bend */
/** @typedef {{node: number | null, width: number, x: number, above: Slot[], below: Slot[]}} Slot a place in a layer; node is null where an arrow passes */

/**
 * Lays out a graph; the order of the nodes decides where nothing else does.
 * @param {Size[]} sizes
 * @param {[number, number][]} edges from and to, as positions in `sizes`
 * @returns {Layout}
 */
export function layeredLayout(sizes, edges) {
  const directed = withoutCycles(sizes.length, edges);
  const rank = ranks(sizes.length, directed);
  const { rows, chains } = slots(sizes, directed, rank);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) reorder(rows, sweep % 2 === 0);
  for (const row of rows) pack(row);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) settle(rows, sweep % 2 === 0);
  return drawn(sizes, edges, directed, rank, rows, chains);
}

/**
 * Turns the arrows round that close a cycle.
 * @param {number} count
 * @param {[number, number][]} edges
 * @returns {[number, number][]}
 */
function withoutCycles(count, edges) {
  const after = /** @type {number[][]} */ (Array.from({ length: count }, () => []));
  for (const [from, to] of edges) after[from].push(to);
  const state = new Uint8Array(count);
  const finished = new Int32Array(count);
  let number = 0;
  const waiting = [...state.keys()].reverse();
  while (waiting.length) {
    const node = waiting[waiting.length - 1];
    if (state[node] === 0) {
      state[node] = 1;
      for (const next of after[node]) if (state[next] === 0) waiting.push(next);
    } else {
      waiting.pop();
      if (state[node] === 1) finished[node] = number++;
      state[node] = 2;
    }
  }
  return edges.map(([from, to]) => (finished[from] >= finished[to] ? [from, to] : [to, from]));
}

/**
 * Gives each node its layer: below all it depends on; what depends on nothing stands close above its first user.
 * @param {number} count
 * @param {[number, number][]} edges without cycles
 */
function ranks(count, edges) {
  const before = /** @type {number[][]} */ (Array.from({ length: count }, () => []));
  const after = /** @type {number[][]} */ (Array.from({ length: count }, () => []));
  for (const [from, to] of edges) {
    if (from === to) continue;
    before[to].push(from);
    after[from].push(to);
  }
  const open = before.map((all) => all.length);
  const rank = new Array(count).fill(0);
  const ready = [...rank.keys()].filter((node) => open[node] === 0);
  for (const node of ready) {
    for (const next of after[node]) {
      rank[next] = Math.max(rank[next], rank[node] + 1);
      open[next] -= 1;
      if (open[next] === 0) ready.push(next);
    }
  }
  for (let node = 0; node < count; node += 1) {
    if (!before[node].length && after[node].length) rank[node] = Math.min(...after[node].map((next) => rank[next])) - 1;
  }
  return narrowed(rank, before);
}

/**
 * Cuts layers with very many boxes into several, and numbers them from 0.
 * @param {number[]} rank
 * @param {number[][]} before
 */
function narrowed(rank, before) {
  const members = /** @type {Map<number, number[]>} */ (new Map());
  for (const [node, layer] of rank.entries()) members.set(layer, [...(members.get(layer) ?? []), node]);
  const layers = new Array(rank.length).fill(0);
  const key = (/** @type {number} */ node) =>
    Math.min(...before[node].map((source) => layers[source] * 1000 + source), 1e9);
  let next = 0;
  for (const layer of [...members.keys()].sort((left, right) => left - right)) {
    const all = members.get(layer) ?? [];
    const parts = Math.ceil(all.length / WIDEST);
    const each = Math.ceil(all.length / parts);
    const keys = new Map(all.map((node) => [node, key(node)]));
    all.sort((left, right) => (keys.get(left) ?? 0) - (keys.get(right) ?? 0) || left - right);
    for (const [place, node] of all.entries()) layers[node] = next + Math.floor(place / each);
    next += parts;
  }
  return layers;
}

/**
 * Makes the layers, with a slot wherever a long arrow passes.
 * @param {Size[]} sizes
 * @param {[number, number][]} edges
 * @param {number[]} rank
 */
function slots(sizes, edges, rank) {
  const rows = /** @type {Slot[][]} */ (Array.from({ length: Math.max(-1, ...rank) + 1 }, () => []));
  const slot = (/** @type {number | null} */ node, /** @type {number} */ width, /** @type {number} */ layer) => {
    const added = /** @type {Slot} */ ({ node, width, x: 0, above: [], below: [] });
    rows[layer].push(added);
    return added;
  };
  const nodeSlots = sizes.map(({ width }, node) => slot(node, width, rank[node]));
  const chains = edges.map(([from, to]) => {
    const chain = [nodeSlots[from]];
    for (let layer = rank[from] + 1; layer < rank[to]; layer += 1) chain.push(slot(null, PASSING, layer));
    if (from !== to) chain.push(nodeSlots[to]);
    for (let place = 1; place < chain.length; place += 1) {
      chain[place - 1].below.push(chain[place]);
      chain[place].above.push(chain[place - 1]);
    }
    return chain;
  });
  for (const row of rows) for (const [place, member] of row.entries()) member.x = place;
  return { rows, chains };
}

/**
 * Sorts each layer by the mean place of what its boxes are joined to.
 * @param {Slot[][]} rows
 * @param {boolean} down
 */
function reorder(rows, down) {
  for (const row of down ? rows : [...rows].reverse()) {
    const wish = new Map(row.map((slot) => [slot, mean(down ? slot.above : slot.below) ?? slot.x]));
    row.sort((left, right) => (wish.get(left) ?? 0) - (wish.get(right) ?? 0));
    const scale = 1 / Math.max(1, row.length);
    for (const [place, slot] of row.entries()) slot.x = (place + 0.5) * scale;
  }
}

/** @param {Slot[]} joined */
function mean(joined) {
  return joined.length ? joined.reduce((sum, slot) => sum + slot.x, 0) / joined.length : null;
}

/** @param {Slot[]} row put side by side; `x` is the middle from here on */
function pack(row) {
  let x = 0;
  for (const slot of row) {
    slot.x = x + slot.width / 2;
    x += slot.width + GAP_X;
  }
  for (const slot of row) slot.x -= x / 2;
}

/**
 * Moves the boxes of each layer towards the middle of what they are joined to, in their order.
 * @param {Slot[][]} rows
 * @param {boolean} down
 */
function settle(rows, down) {
  for (const row of down ? rows : [...rows].reverse()) {
    placeRow(
      row,
      row.map((slot) => mean(down ? slot.above : slot.below) ?? slot.x),
    );
  }
}

/**
 * Gives each box of a layer the place nearest to its wish at which none overlap: boxes that would
 * are joined to a block, which stands where its members want it in the mean.
 * @param {Slot[]} row
 * @param {number[]} wishes
 */
function placeRow(row, wishes) {
  const offsets = [0];
  for (let at = 1; at < row.length; at += 1) {
    offsets.push(offsets[at - 1] + (row[at - 1].width + row[at].width) / 2 + GAP_X);
  }
  const blocks = /** @type {{sum: number, count: number}[]} */ ([]);
  for (const [at, wish] of wishes.entries()) {
    let block = { sum: wish - offsets[at], count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.count >= block.sum / block.count; last = blocks.at(-1)) {
      block = { sum: block.sum + last.sum, count: block.count + last.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  let at = 0;
  for (const { sum, count } of blocks) {
    for (let end = at + count; at < end; at += 1) row[at].x = sum / count + offsets[at];
  }
}

/**
 * @param {Size[]} sizes
 * @param {[number, number][]} edges as they were asked for
 * @param {[number, number][]} directed
 * @param {number[]} rank
 * @param {Slot[][]} rows
 * @param {Slot[][]} chains
 * @returns {Layout}
 */
function drawn(sizes, edges, directed, rank, rows, chains) {
  const left = Math.min(0, ...rows.map((row) => row[0].x - row[0].width / 2));
  const right = Math.max(0, ...rows.map((row) => row[row.length - 1].x + row[row.length - 1].width / 2));
  const tops = [0];
  for (const row of rows) {
    const tallest = Math.max(0, ...row.map((slot) => (slot.node === null ? 0 : sizes[slot.node].height)));
    tops.push(tops[tops.length - 1] + tallest + GAP_Y);
  }
  const boxes = /** @type {Box[]} */ ([]);
  for (const [layer, row] of rows.entries()) {
    const tall = tops[layer + 1] - GAP_Y - tops[layer];
    for (const { node, x, width } of row) {
      if (node === null) continue;
      const { height } = sizes[node];
      boxes[node] = { x: x - width / 2 - left, y: tops[layer] + (tall - height) / 2, width, height };
    }
  }
  const ends = ports(boxes, chains, left);
  const curves = edges.map(([from], number) => {
    const curve = bent(chains[number], ends[number], rank[directed[number][0]], tops, left);
    return directed[number][0] === from ? curve : curve.reverse();
  });
  return { boxes, curves, width: right - left, height: tops[tops.length - 1] - GAP_Y };
}

/**
 * Spreads the ends of the arrows over the sides of the boxes, in the order in which they come.
 * @param {Box[]} boxes
 * @param {Slot[][]} chains
 * @param {number} left
 * @returns {[Point, Point][]}
 */
function ports(boxes, chains, left) {
  const ends = /** @type {[Point, Point][]} */ (
    chains.map(() => [
      [0, 0],
      [0, 0],
    ])
  );
  for (const side of [0, 1]) {
    const at = /** @type {Map<number, [number, number][]>} */ (new Map());
    for (const [number, chain] of chains.entries()) {
      const end = (side ? chain[chain.length - 1] : chain[0]).node ?? 0;
      const other = side ? chain[Math.max(0, chain.length - 2)] : chain[Math.min(1, chain.length - 1)];
      at.set(end, [...(at.get(end) ?? []), [other.x - left, number]]);
    }
    for (const [node, arrows] of at) {
      const { x, y, width, height } = boxes[node];
      arrows.sort(([start], [end]) => start - end);
      const apart = Math.min(16, (width - 16) / arrows.length);
      for (const [place, [, number]] of arrows.entries()) {
        ends[number][side] = [x + width / 2 + (place - (arrows.length - 1) / 2) * apart, side ? y : y + height];
      }
    }
  }
  return ends;
}

/**
 * @param {Slot[]} chain
 * @param {[Point, Point]} ends
 * @param {number} layer of its beginning
 * @param {number[]} tops
 * @param {number} left
 * @returns {Point[]}
 */
function bent(chain, [start, end], layer, tops, left) {
  const points = [start];
  const bend = (/** @type {Point} */ to) => {
    const from = points[points.length - 1];
    const middle = (from[1] + to[1]) / 2;
    points.push([from[0], middle], [to[0], middle], to);
  };
  for (const [place, slot] of chain.slice(1, -1).entries()) {
    const at = layer + 1 + place;
    bend([slot.x - left, tops[at]]);
    bend([slot.x - left, tops[at + 1] - GAP_Y]);
  }
  bend(end);
  return points;
}
