"""Programs that were compiled to be read by hand in round 33, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM   (v4 is a backend too)
"""
# ruff: noqa: C901, PLR0915 - a program is read in one piece

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import tagged_unseen
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, smap

tagged_unseen.TOPO["v4"] = "v4:2x2x2"
_BF = "bfloat16"


def selective():
    """States that choose what they keep: scans in chunks with remat, gradients of microbatches."""
    over = mesh(data=4, model=2)
    parts, rows, length, wide, inner, keep, low, layers = 3, 8, 16, 32, 64, 4, 6, 2
    words, taps, chunk = 40, 4, 4
    specs = {
        "table": P("data"),
        "in": P(None, "data", None, "model"),
        "taps": P(None, None, "model"),
        "low": P(None, "model"),
        "rate": P(None, None, "model"),
        "decay": P(None, "model"),
        "skip": P(None, "model"),
        "out": P(None, "model", "data"),
    }
    shapes = {
        "table": (words, wide),
        "in": (layers, wide, 2, inner),
        "taps": (layers, taps, inner),
        "low": (layers, inner, low + 2 * keep),
        "rate": (layers, low, inner),
        "decay": (layers, inner, keep),
        "skip": (layers, inner),
        "out": (layers, inner, wide),
    }
    params = {n: arr(over, s, *specs[n]) for n, s in shapes.items()}

    def recurrence(decay, step, b, c, x):
        @partial(jax.checkpoint, policy=jax.checkpoint_policies.nothing_saveable)
        def along(state, at):
            def turn(state, at):
                step, b, c, x = at
                kept = jnp.exp(step[..., None] * decay)
                state = kept * state + (step * x)[..., None] * b[:, None]
                return state, (state * c[:, None]).sum(-1)

            return lax.scan(turn, state, at, unroll=2)

        cut = jax.tree.map(
            lambda a: jnp.moveaxis(a, 1, 0).reshape(
                length // chunk, chunk, a.shape[0], *a.shape[2:]
            ),
            (step, b, c, x),
        )
        state = jnp.zeros((x.shape[0], x.shape[2], keep))
        _, y = lax.scan(along, state, cut)
        return jnp.moveaxis(y.reshape(length, x.shape[0], -1), 0, 1)

    def layer(x, p):
        whole = lax.all_gather(p["in"], "data", axis=0, tiled=True).astype(_BF)
        both = jnp.einsum("bld,dgi->blgi", x.astype(_BF), whole)
        h, gate = both[:, :, 0].astype(jnp.float32), both[:, :, 1]
        padded = jnp.pad(h, ((0, 0), (taps - 1, 0), (0, 0)))
        h = lax.conv_general_dilated(
            padded,
            p["taps"][:, None],
            (1,),
            "VALID",
            dimension_numbers=("NWC", "WIO", "NWC"),
            feature_group_count=h.shape[-1],
        )
        h = jax.nn.silu(h)
        mixed = lax.psum(h @ p["low"], "model")
        rate, b, c = jnp.split(mixed, (low, low + keep), -1)
        step = jax.nn.softplus(rate @ p["rate"])
        y = recurrence(-jnp.exp(p["decay"]), step, b, c, h) + p["skip"] * h
        y = (y * jax.nn.silu(gate.astype(jnp.float32))).astype(_BF)
        back = lax.all_gather(p["out"], "data", axis=1, tiled=True).astype(_BF)
        return x + lax.psum((y @ back).astype(jnp.float32), "model"), None

    def loss(p, text):
        table = lax.all_gather(p["table"], "data", tiled=True)
        x = table[text]
        x, _ = lax.scan(layer, x, {n: w for n, w in p.items() if n != "table"})
        log = jax.nn.log_softmax(x[:, :-1] @ table.T)
        return -jnp.take_along_axis(log, text[:, 1:, None], -1).mean()

    def train(p, moment, text):
        def micro(total, text):
            value, slope = jax.value_and_grad(loss)(p, text)
            return jax.tree.map(jnp.add, total, slope), value

        start = jax.tree.map(jnp.zeros_like, p)
        total, values = lax.scan(micro, start, text)
        for n in ("taps", "low", "rate", "decay", "skip"):
            total[n] = lax.psum(total[n], "data")
        size = lax.psum(sum(jnp.vdot(g, g) for g in total.values()), ("data", "model"))
        cut = jnp.minimum(1.0, lax.rsqrt(size + 1e-6)) / parts
        moment = {n: 0.9 * moment[n] + 0.1 * jnp.sign(cut * total[n]) for n in p}
        p = {n: w - 0.01 * moment[n] for n, w in p.items()}
        return p, moment, lax.pmean(values.mean(), "data")

    text = P(None, "data")
    inner_train = smap(over, (specs, specs, text), (specs, specs, P()))(train)
    given = arr(over, (parts, rows, length), None, "data", dtype="int32")
    return inner_train, params, params, given


def routed():
    """Experts on their own devices, tokens sent in ragged parts, products in float8 with scales."""
    over = mesh(data=2, expert=4)
    rows, wide, deep, experts, best, past = 32, 32, 64, 8, 2, 4
    own = experts // 4
    small, smaller = jnp.float8_e4m3fn, jnp.float8_e5m2

    def cast(x, scale, kind):
        most = float(jnp.finfo(kind).max)
        return jnp.clip(x / scale, -most, most).astype(kind)

    @jax.custom_vjp
    def product(x, w, scales):
        a, b = cast(x, scales[0], small), cast(w, scales[1], small)
        return lax.dot(a, b, preferred_element_type=jnp.float32) * (scales[0] * scales[1])

    def forth(x, w, scales):
        return product(x, w, scales), (x, w, scales)

    def back(saved, out):
        x, w, scales = saved
        g = cast(out, scales[2], smaller)
        a, b = cast(x, scales[0], small), cast(w, scales[1], small)
        dx = lax.dot_general(g, b, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
        dw = lax.dot_general(a, g, (((0,), (0,)), ((), ())), preferred_element_type=jnp.float32)
        return dx * scales[2] * scales[1], dw * scales[0] * scales[2], jnp.zeros_like(scales)

    product.defvjp(forth, back)

    def inner(p, history, x, wanted):
        scales = history.max(-1) / 448 + 1e-6

        def loss(p):
            h = jax.nn.gelu(product(x, p["in"], scales[0]))
            share = jax.nn.softmax(h @ p["gate"])
            tops, picks = lax.top_k(share, best)
            flat = picks.reshape(-1)
            order = jnp.argsort(flat)
            sent = h[order // best]
            counts = jnp.bincount(flat, length=experts)
            sizes = counts.reshape(4, own).sum(1).astype(jnp.int32)
            starts = jnp.cumsum(sizes) - sizes
            every = lax.all_gather(sizes, "expert")
            me = lax.axis_index("expert")
            taken = every[:, me]
            places = (jnp.cumsum(every, 0) - every)[me]
            room = jnp.zeros((4 * sent.shape[0], wide))
            got = lax.ragged_all_to_all(
                sent, room, starts, sizes, places, taken, axis_name="expert"
            )
            mine = lax.all_gather(counts, "expert").reshape(4, 4, own)[:, me].sum(0)
            y = lax.ragged_dot(got.astype(_BF), p["up"].astype(_BF), mine.astype(jnp.int32))
            y = jax.nn.relu(y.astype(jnp.float32)) ** 2
            y = lax.ragged_dot(y, p["down"], mine.astype(jnp.int32))
            back_places = jnp.cumsum(taken) - taken
            theirs = (jnp.cumsum(every, 1) - every)[:, me]
            home = lax.ragged_all_to_all(
                y, jnp.zeros_like(sent), back_places, taken, theirs, sizes, axis_name="expert"
            )
            weight = tops.reshape(-1)[order, None]
            y = jnp.zeros_like(h).at[order // best].add(home * weight)
            log = jax.nn.log_softmax(product(h + y, p["out"], scales[1]))
            fit = -jnp.take_along_axis(log, wanted[:, None], 1).mean()
            load = lax.pmean(share.mean(0), ("data", "expert"))
            return fit + 0.01 * experts * jnp.vdot(load, load)

        value, slope = jax.value_and_grad(loss)(p)
        for n in ("in", "gate", "out"):
            slope[n] = lax.pmean(slope[n], ("data", "expert"))
        for n in ("up", "down"):
            slope[n] = lax.psum(slope[n], "data")
        seen = jnp.stack([jnp.abs(x).max(), jnp.abs(p["in"]).max(), jnp.abs(slope["in"]).max()])
        seen = lax.pmax(jnp.stack([seen, 2 * seen]), ("data", "expert"))
        history = jnp.roll(history, 1, -1).at[..., 0].set(seen)
        return {n: w - 0.1 * slope[n] for n, w in p.items()}, history, lax.pmean(value, "data")

    specs = {"in": P(), "gate": P(), "up": P("expert"), "down": P("expert"), "out": P()}
    shapes = {
        "in": (wide, wide),
        "gate": (wide, experts),
        "up": (experts, wide, deep),
        "down": (experts, deep, wide),
        "out": (wide, wide),
    }
    both = P(("data", "expert"))
    train = smap(over, (specs, P(), both, both), (specs, P(), P()))(inner)
    params = {n: arr(over, s, *specs[n]) for n, s in shapes.items()}
    x = arr(over, (8 * rows, wide), ("data", "expert"))
    wanted = arr(over, (8 * rows,), ("data", "expert"), dtype="int32")
    return train, params, arr(over, (2, 3, past)), x, wanted


def factored():
    """A Gaussian process: factors by blocks of columns on all devices, scales by line search."""
    over = mesh(column=8)
    points, block, features, queries = 32, 4, 3, 6

    def kernel(x, y, scales):
        far = jnp.square((x[:, None] - y[None]) / scales[:features]).sum(-1)
        return jnp.exp(-0.5 * far) * jnp.square(scales[features])

    def factor(a):
        """The columns of the lower factor on this device, of the columns of the matrix there."""
        me = lax.axis_index("column")
        below = np.arange(points)

        def turn(k, state):
            a, low = state
            at = k * block
            square = lax.dynamic_slice(a, (at, 0), (block, block))
            tip = jnp.linalg.cholesky(square)
            rest = lax.linalg.triangular_solve(
                tip, a, left_side=False, lower=True, transpose_a=True
            )
            panel = jnp.where((below >= at)[:, None], rest, 0.0)
            panel = lax.dynamic_update_slice(panel, jnp.tril(tip), (at, 0))
            panel = lax.psum(jnp.where(me == k, panel, 0.0), "column")
            own = lax.dynamic_slice(panel, (me * block, 0), (block, block))
            a = jnp.where(me > k, a - panel @ own.T, a)
            low = jnp.where(me == k, panel, low)
            return a, low

        return lax.fori_loop(0, points // block, turn, (a, jnp.zeros_like(a)))[1]

    def solved(low, b):
        """What the lower factor makes b of."""
        me = lax.axis_index("column")

        def turn(k, state):
            b, x = state
            tip = lax.dynamic_slice(low, (me * block, 0), (block, block))
            here = lax.dynamic_slice(b, (me * block, 0), (block, b.shape[1]))
            own = lax.linalg.triangular_solve(tip, here, left_side=True, lower=True)
            own = lax.psum(jnp.where(me == k, own, 0.0), "column")
            part = lax.psum(jnp.where(me == k, low @ own, 0.0), "column")
            return b - part, lax.dynamic_update_slice(x, own, (k * block, 0))

        return lax.fori_loop(0, points // block, turn, (b, jnp.zeros_like(b)), unroll=2)[1]

    def cost(scales, x, y):
        me = lax.axis_index("column")
        mine = lax.dynamic_slice(x, (me * block, 0), (block, features))
        a = kernel(x, mine, scales)
        a += jnp.where(np.arange(points)[:, None] == me * block + np.arange(block), 0.1, 0.0)
        low = factor(a)
        z = solved(low, y[:, None])
        tip = lax.dynamic_slice(low, (me * block, 0), (block, block))
        half = lax.psum(jnp.log(jnp.diagonal(tip)).sum(), "column")
        return 0.5 * jnp.vdot(z, z) + half, (low, z)

    def inner(scales, x, y, asked):
        value, (low, z) = cost(scales, x, y)

        def probe(direction):
            up = cost(scales + 1e-2 * direction, x, y)[0]
            return (up - value) / 1e-2

        slope = lax.map(probe, jnp.eye(features + 1))

        def going(state):
            rate, found, times = state
            return (found > value - 1e-4 * rate * jnp.vdot(slope, slope)) & (times < 6)

        def halved(state):
            rate, _, times = state
            return rate / 2, cost(scales - rate / 2 * slope, x, y)[0], times + 1

        rate, found, times = lax.while_loop(going, halved, (1.0, value + 1.0, 0))
        across = solved(low, kernel(x, asked, scales))
        mean = across.T @ z[:, 0]
        spread = jnp.square(scales[features]) - jnp.square(across).sum(0)
        q, r = jnp.linalg.qr(across.T[:, :4])
        ahead = lax.ppermute(low, "column", [(i, (i + 1) % 8) for i in range(8)])
        drift = lax.pmax(jnp.abs(ahead - low).max(), "column")
        return scales - rate * slope, mean, spread, found, times, q @ r, drift

    specs = (P(), P(), P(), P())
    train = smap(over, specs, (P(),) * 7)(inner)
    x = arr(over, (points, features))
    return (
        train,
        arr(over, (features + 1,)),
        x,
        arr(over, (points,)),
        arr(over, (queries, features)),
    )


def pondered():
    """A cell that thinks until it halts, in a scan through time, with a table of hashed states."""
    over = mesh(batch=4, hidden=2)
    rows, times, wide, hidden, slots, most, kinds = 8, 6, 12, 32, 16, 5, 10
    params = {
        "in": arr(over, (wide + 1, 3, hidden), None, None, "hidden"),
        "own": arr(over, (hidden, 3, hidden), None, None, "hidden"),
        "bias": arr(over, (3, hidden), None, "hidden"),
        "halt": arr(over, (hidden,)),
        "keys": arr(over, (hidden, 4)),
        "out": arr(over, (hidden, kinds), "hidden"),
    }

    def cell(p, x, h):
        a = jnp.einsum("bi,igh->bgh", x, p["in"])
        b = jnp.einsum("bi,igh->bgh", h, p["own"])
        z = jax.nn.sigmoid(a[:, 0] + b[:, 0] + p["bias"][0])
        r = jax.nn.sigmoid(a[:, 1] + b[:, 1] + p["bias"][1])
        n = jnp.tanh(a[:, 2] + r * b[:, 2] + p["bias"][2])
        return (1 - z) * n + z * h

    def think(p, x, h):
        def going(state):
            return (state[2] < 0.99).any() & (state[4] < most)

        def turn(state):
            h, mean, spent, used, n = state
            flag = jnp.full((rows, 1), n == 0, x.dtype)
            h = cell(p, jnp.concatenate([x, flag], -1), h)
            chance = jax.nn.sigmoid(h @ p["halt"])
            last = (spent + chance >= 0.99) | (n == most - 1)
            share = jnp.where(last, 1 - spent, chance) * (spent < 0.99)
            return h, mean + share[:, None] * h, spent + share, used + (share > 0), n + 1

        zero = jnp.zeros(rows)
        state = h, jnp.zeros_like(h), zero, jnp.zeros(rows, jnp.int32), 0
        _, mean, _, used, _ = lax.while_loop(going, turn, state)
        return mean, used

    def run(p, table, text):
        def through(carry, x):
            h, table, counts = carry
            h, used = think(p, x, h)
            bits = (h @ p["keys"] > 0).astype(jnp.int32)
            slot = (bits * (1 << np.arange(4))).sum(-1)
            old = table[slot]
            h = 0.9 * h + 0.1 * old
            table = table.at[slot].set(0.5 * (old + h), mode="drop")
            counts = counts.at[slot].add(used)
            log = jax.nn.log_softmax(h @ p["out"])
            picked = jnp.argmax(log, -1)
            return (h, table, counts), (log, picked, used)

        start = jnp.zeros((rows, hidden)), table, jnp.zeros(slots, jnp.int32)
        (_, table, counts), (log, picked, used) = lax.scan(through, start, text)
        order = jnp.argsort(-counts)
        return table[order], counts[order], log, picked, used

    def train(p, table, text, wanted):
        table, counts, log, picked, used = run(p, table, text)
        near = jnp.take_along_axis(log, wanted[..., None], -1)[..., 0]
        gain = near - 0.01 * used

        def bare(p):
            def step(h, x):
                h = cell(p, jnp.concatenate([x, jnp.ones((rows, 1))], -1), h)
                h = lax.with_sharding_constraint(h, NamedSharding(over, P("batch", "hidden")))
                return h, jax.nn.log_softmax(h @ p["out"])

            _, log = lax.scan(step, jnp.zeros((rows, hidden)), text)
            chosen = jnp.take_along_axis(log, picked[..., None], -1)[..., 0]
            ahead = lax.cumsum(gain, 0, reverse=True)
            return -(chosen * (ahead - ahead.mean(1, keepdims=True))).mean()

        value, slope = jax.value_and_grad(bare)(p)
        ranks = jnp.sort(jnp.abs(slope["own"]).reshape(-1))
        edge = ranks[ranks.shape[0] // 2]
        slope["own"] = jnp.where(jnp.abs(slope["own"]) > edge, slope["own"], 0.0)
        p = {n: w - 0.1 * slope[n] for n, w in p.items()}
        return p, table, counts, value, jnp.bincount(picked.reshape(-1), length=kinds)

    text = arr(over, (times, rows, wide), None, "batch")
    wanted = arr(over, (times, rows), None, "batch", dtype="int32")
    return train, params, arr(over, (slots, hidden), None, "hidden"), text, wanted


if __name__ == "__main__":
    compiled(globals())
