"""Two programs of boosted trees: one round that grows a tree for each class, and a judgment of the whole ensemble.

For four CPU devices: mesh row 2 x feature 2. Features in bins, sums of slopes and curvatures of each node, feature and bin
by segments (a loop over levels with nodes of a fixed number), splits by running sums with missing values tried on both
sides and bins of categories in the order of their means, signs that a feature must keep, the best one over sharded
features; rows with large slopes are kept and others drawn (a threshold by sorting), leaves with shrinkage, classes by vmap;
the judgment walks trees in a scan with a while loop until all rows are at leaves, areas under curves by ranks with ties,
calibration in bins, and importance by permuting one feature at a time.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
)
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("row", "feature"))
f32, i32, u8 = jnp.float32, jnp.int32, jnp.uint8
N, F, B, K, DEPTH, TREES = 8192, 48, 64, 4, 5, 100  # rows, features, bins, classes, levels, rounds
NODES = 2**DEPTH


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
data = dict(
    bins=S((N, F), u8, "row", "feature"), label=S((N,), i32, "row"), weight=S((N,), f32, "row")
)
kinds = dict(category=S((F,), jnp.bool_, "feature"), sign=S((F,), f32, "feature"))
state = dict(
    scores=S((N, K), f32, "row"),
    feature=S((TREES, K, 2 * NODES), i32),
    goes=S((TREES, K, 2 * NODES, B), jnp.bool_),
    leaf=S((TREES, K, 2 * NODES), f32),
    key=S((2,), jnp.uint32),
    round=S((), i32),
)


def worth(g, h):
    return jnp.sign(g) * jnp.maximum(jnp.abs(g) - 0.1, 0) ** 2 / (h + 1.0) * jnp.sign(g)


def best_split(sums, kinds, mask):
    """Best of [node, feature, bin, (g, h)]; bin 0 holds missing values."""
    g, h = sums[..., 1:, 0], sums[..., 1:, 1]
    order = jnp.where(kinds["category"][:, None], g / (h + 10.0), jnp.arange(B - 1, dtype=f32))
    order = jnp.argsort(order, -1)
    g, h = jnp.take_along_axis(g, order, -1), jnp.take_along_axis(h, order, -1)
    miss = sums[..., :1, :]
    total = sums.sum(-2, keepdims=True)
    gl = jnp.cumsum(g, -1)[..., None, :] + jnp.stack([miss[..., 0], 0 * miss[..., 0]], -2)
    hl = jnp.cumsum(h, -1)[..., None, :] + jnp.stack([miss[..., 1], 0 * miss[..., 1]], -2)
    gt, ht = total[..., 0][..., None], total[..., 1][..., None]
    gain = worth(gl, hl) + worth(gt - gl, ht - hl) - worth(gt, ht)
    step = (gl / (hl + 1) - (gt - gl) / (ht - hl + 1)) * kinds["sign"][:, None, None]
    fine = (hl > 1) & (ht - hl > 1) & (step >= 0) & mask[:, None, None]
    gain = con(jnp.where(fine, gain, -jnp.inf), None, "feature", None, None)
    flat = gain.reshape(gain.shape[0], -1)
    which = jnp.argmax(flat, -1)
    f, side, cut = which // (2 * (B - 1)), which // (B - 1) % 2, which % (B - 1)
    chosen = order[jnp.arange(order.shape[0]), f]
    left = jnp.arange(B - 1) <= cut[:, None]
    goes = jnp.zeros(left.shape, bool).at[jnp.arange(left.shape[0])[:, None], chosen].set(left)
    return flat.max(-1), f, jnp.concatenate([(side == 0)[:, None], goes], 1), total[:, 0, 0]


def grow(bins, g, h, kinds, mask):
    def level(depth, c):
        node, feature, goes, leaf = c
        first = 2**depth
        of = jnp.where(node >= first, node - first, NODES)
        at = of[:, None] * B + bins.astype(i32)
        add = lambda at: jax.ops.segment_sum(jnp.stack([g, h], -1), at, NODES * B)
        sums = con(jax.vmap(add, 1)(at), "feature", None, None)
        sums = jnp.moveaxis(sums.reshape(F, NODES, B, 2), 0, 1)
        gain, f, go, total = best_split(sums, kinds, mask)
        here = first + jnp.arange(NODES)
        real = (jnp.arange(NODES) < first) & (gain > 0.05)
        slot = jnp.where(jnp.arange(NODES) < first, here, 2 * NODES)
        feature = feature.at[slot].set(jnp.where(real, f, -1), mode="drop")
        goes = goes.at[slot].set(go, mode="drop")
        leaf = leaf.at[slot].set(-0.1 * total[:, 0] / (total[:, 1] + 1), mode="drop")
        split = feature[node]
        bin_ = jnp.take_along_axis(bins, jnp.maximum(split, 0)[:, None], 1)[:, 0].astype(i32)
        down = 2 * node + jnp.where(goes[node, bin_], 0, 1)
        node = jnp.where((split >= 0) & (node >= first), down, node)
        return con(node, "row"), feature, goes, leaf

    start = (
        jnp.ones(N, i32),
        jnp.full(2 * NODES, -1),
        jnp.zeros((2 * NODES, B), bool),
        jnp.zeros(2 * NODES),
    )
    node, feature, goes, leaf = lax.fori_loop(0, DEPTH, level, start)
    g_, h_ = jax.ops.segment_sum(g, node, 2 * NODES), jax.ops.segment_sum(h, node, 2 * NODES)
    leaf = jnp.where(jnp.arange(2 * NODES) >= NODES, -0.1 * g_ / (h_ + 1), leaf)
    return feature, goes, leaf, leaf[node]


def trees_round(state, data, kinds):
    key, a, b = jax.random.split(jax.random.wrap_key_data(state["key"]), 3)
    prob = jax.nn.softmax(state["scores"])
    g = (prob - jax.nn.one_hot(data["label"], K)) * data["weight"][:, None]
    h = 2 * prob * (1 - prob) * data["weight"][:, None]
    large = jnp.sqrt(jnp.sum(g * g, 1))
    limit = jnp.sort(large)[int(0.8 * N)]
    drawn = (jax.random.uniform(a, (N,)) < 0.125) & (large < limit)
    keep = jnp.where(large >= limit, 1.0, jnp.where(drawn, 8.0, 0.0))[:, None]
    mask = jax.random.uniform(b, (K, F)) < 0.8
    grown = jax.vmap(grow, (None, 1, 1, None, 0))(data["bins"], g * keep, h * keep, kinds, mask)
    feature, goes, leaf, move = grown
    now = state["round"]
    put = lambda all_, one: lax.dynamic_update_index_in_dim(all_, one, now, 0)
    scores = con(state["scores"] + move.T, "row", None)
    nll = -jnp.take_along_axis(jax.nn.log_softmax(scores), data["label"][:, None], 1)[:, 0]
    new = dict(
        scores=scores,
        feature=put(state["feature"], feature),
        goes=put(state["goes"], goes),
        leaf=put(state["leaf"], leaf),
        key=jax.random.key_data(key),
        round=now + 1,
    )
    return new, (jnp.average(nll, weights=data["weight"]), jnp.sum(feature >= 0, -1))


def judged(state, bins):
    def tree(scores, t):
        feature, goes, leaf = t

        def down(node):
            f = feature[node]
            bin_ = jnp.take_along_axis(bins, jnp.maximum(f, 0)[:, None], 1)[:, 0].astype(i32)
            return jnp.where(f >= 0, 2 * node + jnp.where(goes[node, bin_], 0, 1), node)

        node = lax.while_loop(lambda n: jnp.any(feature[n] >= 0), down, jnp.ones(N, i32))
        return scores + leaf[node], None

    run = lambda *t: lax.scan(tree, jnp.zeros(N), t)[0]
    return jax.vmap(run, 1, 1)(state["feature"], state["goes"], state["leaf"])


def area(score, positive):
    order = jnp.argsort(score)
    s, y = score[order], positive[order].astype(f32)
    new = jnp.concatenate([jnp.ones(1, bool), s[1:] != s[:-1]])
    group = jnp.cumsum(new) - 1
    rank = jax.ops.segment_sum(jnp.arange(1, N + 1, dtype=f32), group, N) / jnp.maximum(
        jax.ops.segment_sum(jnp.ones(N), group, N), 1
    )
    n = y.sum()
    return (jnp.sum(rank[group] * y) - n * (n + 1) / 2) / (n * (N - n))


def trees_judge(state, data):
    scores = con(judged(state, data["bins"]), "row", None)
    hit = data["label"][:, None] == jnp.arange(K)
    areas = jax.vmap(area, (1, 1))(scores, hit)
    prob = jax.nn.softmax(scores)
    sure, right = prob.max(-1), prob.argmax(-1) == data["label"]
    of = jnp.clip((sure * 15).astype(i32), 0, 14)
    sums = jax.ops.segment_sum(jnp.stack([sure, right.astype(f32), jnp.ones(N)], -1), of, 15)
    off = jnp.sum(jnp.abs(sums[:, 0] - sums[:, 1])) / N
    keys = jax.random.split(jax.random.wrap_key_data(state["key"]), F)
    base = jnp.mean(right)

    def without(_, fk):
        f, k = fk
        column = jax.random.permutation(k, lax.dynamic_index_in_dim(data["bins"], f, 1, False))
        other = lax.dynamic_update_index_in_dim(data["bins"], column, f, 1)
        return None, base - jnp.mean(judged(state, other).argmax(-1) == data["label"])

    _, drops = lax.scan(without, None, (jnp.arange(F), keys))
    return areas, off, sums, lax.top_k(drops, 10)


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        print(
            len(
                jax.jit(trees_round, donate_argnums=0).lower(state, data, kinds).compile().as_text()
            )
        )
        print(len(jax.jit(trees_judge).lower(state, data).compile().as_text()))
