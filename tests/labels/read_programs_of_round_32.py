"""Programs that were compiled to be read by hand in round 32, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""
# ruff: noqa: C901, PLR0917 - a program is read in one piece

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, smap

_BF = "bfloat16"


def transduced():
    """Speech by a transducer: an encoder that drops frames, a predictor, sums over all paths."""
    over = mesh(rows=2, model=4)
    rows, frames, mels, hidden, marks, room, layers = 4, 24, 12, 32, 20, 6, 2
    params = {
        "in": arr(over, (2 * mels, hidden), None, "model", dtype=_BF),
        "cell": arr(over, (layers, 2 * hidden, 4 * hidden), None, None, "model", dtype=_BF),
        "shift": arr(over, (layers, 4 * hidden), None, "model"),
        "words": arr(over, (marks, hidden), "model"),
        "taps": arr(over, (3, hidden), None, "model"),
        "joint": arr(over, (hidden, hidden), "model"),
        "out": arr(over, (hidden, marks), None, "model"),
    }

    def layer(w, b, x):
        @jax.checkpoint
        def turn(state, x):
            h, c = state
            gates = (jnp.concatenate([x, h], -1).astype(_BF) @ w).astype(jnp.float32) + b
            i, f, g, o = jnp.split(gates, 4, -1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), jax.nn.sigmoid(o) * jnp.tanh(c)

        start = jnp.zeros((rows, hidden))
        return lax.scan(turn, (start, start), x)[1] + x

    def loss(p, sound, long, said, many):
        pairs = sound.reshape(rows, frames // 2, 2 * mels).astype(_BF)
        x = jnp.moveaxis((pairs @ p["in"]).astype(jnp.float32), 1, 0)
        for number in range(layers):
            x = layer(p["cell"][number], p["shift"][number], x)
        words = jnp.pad(p["words"][said], ((0, 0), (3, 0), (0, 0)))
        held = sum(words[:, i : i + room + 1] * p["taps"][i] for i in range(3))
        both = jnp.tanh(jnp.moveaxis(x, 0, 1)[:, :, None] + held[:, None] @ p["joint"])
        log = jax.nn.log_softmax(both @ p["out"])
        blank = log[..., 0]
        gone = jnp.pad(said, ((0, 0), (0, 1)))[:, None, :, None]
        emit = jnp.take_along_axis(log, jnp.broadcast_to(gone, (*blank.shape, 1)), -1)[..., 0]
        emit = jnp.where(np.arange(room + 1) < many[:, None, None], emit, -1e9)

        def along(a, at):
            stay, move = at
            start = a + stay

            def across(carry, both):
                own, step = both
                carry = jnp.logaddexp(own, carry + step)
                return carry, carry

            first = start[:, 0]
            _, rest = lax.scan(across, first, (start[:, 1:].T, move[:, :-1].T))
            a = jnp.concatenate([first[:, None], rest.T], 1)
            return a, a

        first = jnp.cumsum(jnp.pad(emit[:, 0, :-1], ((0, 0), (1, 0))), 1)
        steps = jnp.moveaxis(blank[:, :-1], 1, 0), jnp.moveaxis(emit[:, 1:], 1, 0)
        _, path = lax.scan(along, first, steps)
        path = jnp.concatenate([first[None], path])
        ends = path + jnp.moveaxis(blank, 1, 0)
        picked = ends[long // 2 - 1, np.arange(rows), many]
        return -picked.mean()

    def train(p, moment, sound, long, said, many):
        value, slope = jax.value_and_grad(loss)(p, sound, long, said, many)
        size = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(slope)).astype(jnp.float32))
        cut = jnp.minimum(1.0, 1.0 / size)
        moment = jax.tree.map(lambda m, g: 0.9 * m + cut * g.astype(m.dtype), moment, slope)
        return jax.tree.map(lambda w, m: w - 0.01 * m.astype(w.dtype), p, moment), moment, value

    sound = arr(over, (rows, frames, mels), "rows")
    counts = arr(over, (rows,), "rows", dtype="int32")
    said = arr(over, (rows, room), "rows", dtype="int32")
    return train, params, params, sound, counts, said, counts


def coupled():
    """Clouds of points moved onto others by optimal transport, plans by a loop until they rest."""
    over = mesh(pair=4, point=2)
    pairs, here, there, wide, deep = 8, 16, 12, 24, 2
    params = {
        "in": arr(over, (3, wide), None, "point"),
        "mid": arr(over, (deep, wide, wide), None, "point"),
        "out": arr(over, (wide, 3), "point"),
        "scale": arr(over, (wide,)),
        "push": arr(over, (wide,)),
    }

    def moved(p, x):
        h = jnp.sin(x @ p["in"] * p["scale"])
        for number in range(deep):
            h += jax.nn.softplus(h @ p["mid"][number])
        along = jnp.dot(p["scale"], p["push"])
        return x + jnp.tanh(h @ p["out"]) * along

    def plan(cost, blur):
        weight_here, weight_there = -jnp.log(float(here)), -jnp.log(float(there))

        def soft(f, g, axis):
            scores = (f[:, None] + g[None] - cost) / blur
            return blur * jax.nn.logsumexp(scores, axis)

        def going(state):
            return (state[2] > 1e-4) & (state[3] < 30)

        def turn(state):
            f, g, _, times = state
            new = f - soft(f, g, 1) + blur * weight_here
            g = g - soft(new, g, 0) + blur * weight_there
            return new, g, jnp.abs(new - f).max(), times + 1

        start = jnp.zeros(here), jnp.zeros(there), jnp.float32(1), 0
        f, g, _, times = lax.while_loop(going, turn, start)
        return jnp.exp((f[:, None] + g[None] - cost) / blur), times

    @partial(jax.custom_vjp, nondiff_argnums=(2,))
    def distance(x, y, blur):
        return kept(x, y, blur)[0]

    def kept(x, y, blur):
        cost = jnp.square(x[:, None] - y[None]).sum(-1)
        share, times = plan(cost, blur)
        return (share * cost).sum() + 0.0 * times, (x, y, share)

    def back(_, saved, out):
        x, y, share = saved
        slope = 2 * (x * share.sum(1, keepdims=True) - share @ y)
        return out * slope, jnp.zeros_like(y)

    distance.defvjp(kept, back)

    def loss(p, x, y):
        z = lax.with_sharding_constraint(moved(p, x), NamedSharding(over, P("pair", "point")))
        far = jax.vmap(distance, (0, 0, None))(z, y, 0.1)
        own = jnp.einsum("bik,bjk->bij", z, z)
        near = jnp.sort(own, -1)[..., -4:-1].mean()
        edge = jnp.pad(z[:, 1:] - z[:, :-1], ((0, 0), (1, 1), (0, 0)))
        smooth = jnp.square(edge[:, 1:] - edge[:, :-1]).sum((1, 2))
        return far.mean() + 0.01 * near + 0.1 * smooth.mean()

    def train(p, x, y):
        def turn(p, both):
            value, slope = jax.value_and_grad(loss)(p, *both)
            along = sum(jnp.vdot(a, b) for a, b in zip(p.values(), slope.values(), strict=True))
            size = sum(jnp.vdot(g, g) for g in slope.values())
            rate = jnp.clip(value / (size + 1e-6), 0, 0.01)
            return {n: w - rate * slope[n] for n, w in p.items()}, (value, along)

        return lax.scan(turn, p, (x, y))

    x = arr(over, (3, pairs, here, 3), None, "pair", "point")
    return train, params, x, arr(over, (3, pairs, there, 3), None, "pair")


def preconditioned():
    """Clips of video: convolutions over time, attention along each axis, roots as a step."""
    over = mesh(clip=2, channel=4)
    clips, times, side, wide, heads, kinds = 4, 4, 8, 16, 4, 12
    each = wide // heads
    params = {
        "stem": arr(over, (3, 3, 3, 3, wide), None, None, None, None, "channel", dtype=_BF),
        "deep": arr(over, (3, 1, 1, 1, wide), None, None, None, None, "channel", dtype=_BF),
        "qkv": arr(over, (3, wide, 3, heads, each), None, None, None, "channel"),
        "join": arr(over, (3, heads, each, wide), None, "channel"),
        "head": arr(over, (wide, kinds), "channel"),
    }
    names = ("NDHWC", "DHWIO", "NDHWC")

    def seen(p, x):
        x = lax.conv_general_dilated(
            x.astype(_BF), p["stem"], (1, 2, 2), "SAME", dimension_numbers=names
        )
        x = jax.nn.silu(x.astype(jnp.float32))
        y = lax.conv_general_dilated(
            jnp.pad(x, ((0, 0), (2, 0), (0, 0), (0, 0), (0, 0))).astype(_BF),
            p["deep"],
            (1, 1, 1),
            "VALID",
            dimension_numbers=names,
            feature_group_count=wide,
        )
        x += y.astype(jnp.float32)
        for axis in (1, 2, 3):
            rows = jnp.moveaxis(x, axis, -2)
            mean = jnp.square(rows).mean(-1, keepdims=True)
            normed = rows * lax.rsqrt(mean + 1e-6)
            q, k, v = jnp.moveaxis(
                jnp.einsum("...td,dchk->...tchk", normed, p["qkv"][axis - 1]), -3, 0
            )
            scores = jnp.einsum("...thk,...shk->...hts", q, k) * each**-0.5
            if axis == 1:
                scores = jnp.where(np.tri(times, dtype=bool), scores, -1e9)
            mixed = jnp.einsum("...hts,...shk->...thk", jax.nn.softmax(scores), v)
            rows += jnp.einsum("...thk,hkd->...td", mixed, p["join"][axis - 1])
            x = jnp.moveaxis(rows, -2, axis)
        most = lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 2, 1), (1, 1, 2, 2, 1), "VALID")
        return most.mean((1, 2, 3)) @ p["head"]

    def root(a, size):
        a += 1e-3 * jnp.eye(size)
        scale = jnp.trace(a)

        def turn(_, both):
            y, z = both
            t = 0.5 * (3 * jnp.eye(size) - z @ y)
            return y @ t, t @ z

        _, z = lax.fori_loop(0, 5, turn, (a / scale, jnp.eye(size)))
        return z * lax.rsqrt(scale)

    def train(p, left, right, x, wanted):
        def loss(p):
            log = jax.nn.log_softmax(seen(p, x))
            soft = 0.9 * jax.nn.one_hot(wanted, kinds) + 0.1 / kinds
            return -(soft * log).sum(-1).mean()

        value, slope = jax.value_and_grad(loss)(p)
        new, lefts, rights = {}, {}, {}
        for name, g in slope.items():
            flat = g.astype(jnp.float32).reshape(-1, g.shape[-1])
            if flat.shape[0] > 64 or name == "deep":
                new[name] = p[name] - (0.01 * jnp.sign(flat).reshape(g.shape)).astype(g.dtype)
                continue
            lefts[name] = 0.95 * left[name] + flat @ flat.T
            rights[name] = 0.95 * right[name] + flat.T @ flat
            step = root(lefts[name], flat.shape[0]) @ flat @ root(rights[name], flat.shape[1])
            new[name] = p[name] - 0.01 * step.reshape(g.shape)
        return new, lefts, rights, value

    left = {"head": arr(over, (wide, wide), "channel"), "join": arr(over, (48, 48), "channel")}
    right = {"head": arr(over, (kinds, kinds)), "join": arr(over, (wide, wide), None, "channel")}
    x = arr(over, (clips, times, side, side, 3), "clip")
    return train, params, left, right, x, arr(over, (clips,), "clip", dtype="int32")


def listed():
    """Items in lists: rows of a divided table by psum_scatter, int8 towers, sparse shares, NDCG."""
    over = mesh(table=4, rows=2)
    rows, items, bag, words, wide, best = 16, 8, 5, 64, 16, 3
    params = {
        "table": arr(over, (words, wide), "table"),
        "up": arr(over, (wide, 2 * wide), None),
        "down": arr(over, (2 * wide, 1)),
    }

    def rounded(x, axis):
        scale = jnp.abs(x).max(axis, keepdims=True) / 127 + 1e-6
        return jnp.round(x / scale).astype(jnp.int8), scale

    @jax.custom_vjp
    def product(x, w):
        (a, s), (b, t) = rounded(x, -1), rounded(w, 0)
        return jnp.dot(a, b, preferred_element_type=jnp.int32) * s * t

    def back(saved, out):
        x, w = saved
        return out @ w.T, jnp.einsum("...i,...j->ij", x, out)

    product.defvjp(lambda x, w: (product(x, w), (x, w)), back)

    def sparse(scores):
        down = -jnp.sort(-scores, -1)
        sums = jnp.cumsum(down, -1)
        count = np.arange(1, items + 1)
        support = (1 + count * down > sums).sum(-1, keepdims=True)
        edge = (jnp.take_along_axis(sums, support - 1, -1) - 1) / support
        return jnp.maximum(scores - edge, 0)

    def inner(p, ids, use):
        own = words // 4
        start = lax.axis_index("table") * own

        def loss(p):
            everyone = lax.all_gather(ids, "table", tiled=True)
            near = everyone - start
            mine = (near >= 0) & (near < own)
            held = jnp.where(mine[..., None], p["table"][jnp.clip(near, 0, own - 1)], 0.0)
            lists = everyone.shape[0] * items
            seg = jnp.repeat(np.arange(lists), bag)
            sums = jax.ops.segment_sum(held.reshape(-1, wide), seg, lists)
            x = lax.psum_scatter(sums, "table", scatter_dimension=0, tiled=True)
            x = x.reshape(-1, items, wide)
            scores = product(jax.nn.relu(product(x, p["up"])), p["down"])[..., 0]
            share = sparse(scores)
            wanted = jax.nn.softmax(use.astype(jnp.float32))
            fit = (jnp.square(scores) / 2 - scores * wanted).sum(-1)
            cover = (share * wanted).sum(-1)
            tops, places = lax.top_k(scores, best)
            gain = jnp.take_along_axis(use, places, 1) / np.log2(np.arange(best) + 2.0)
            value = lax.pmean(fit.mean() - 0.1 * cover.mean(), ("table", "rows"))
            return value, (lax.pmean(gain.sum(-1).mean(), ("table", "rows")), tops.min())

        (value, (gain, low)), slope = jax.value_and_grad(loss, has_aux=True)(p)
        slope["table"] = lax.psum(slope["table"], "rows")
        slope["up"], slope["down"] = lax.psum((slope["up"], slope["down"]), ("table", "rows"))
        count = (jnp.abs(slope["table"]).sum(1, keepdims=True) > 0).astype(jnp.float32)
        p = {n: w - 0.1 * slope[n] for n, w in p.items()}
        p["table"] *= 1 - 0.001 * count
        low = lax.pmin(low, ("table", "rows"))
        return p, value, gain, low

    specs = {"table": P("table"), "up": P(), "down": P()}
    both = P(("rows", "table"))
    train = smap(over, (specs, both, both), (specs, P(), P(), P()))(inner)
    ids = arr(over, (rows, items, bag), ("rows", "table"), dtype="int32")
    return train, params, ids, arr(over, (rows, items), ("rows", "table"), dtype="int32")


if __name__ == "__main__":
    compiled(globals())
