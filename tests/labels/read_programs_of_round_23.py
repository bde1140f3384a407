"""Programs that were compiled to be read by hand in rounds 23 and 24, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""
# ruff: noqa: C901, PLR0915, PLR0917 - a program is one function, of many operations and inputs

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, smap

_BF = "bfloat16"


def boxed():
    """Finding objects: a pyramid of convolutions, anchors, focal loss, and boxes suppressed."""
    over = mesh(data=4, model=2)
    rows, side, wide, kinds, most = 8, 32, 16, 6, 12
    params = {
        "stem": arr(over, (3, 3, 3, wide), None, None, None, "model"),
        "down": arr(over, (2, 3, 3, wide, wide), None, None, None, None, "model"),
        "side": arr(over, (3, 1, 1, wide, wide), None, None, None, "model"),
        "kind": arr(over, (3, 3, wide, 3 * kinds)),
        "place": arr(over, (3, 3, wide, 3 * 4)),
        "gain": arr(over, (3, wide)),
    }

    def conv(x, w, stride=1):
        names = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=names)

    def grouped(x, gain):
        g = x.reshape(*x.shape[:3], 4, -1)
        g = (g - g.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(
            g.var((1, 2, 4), keepdims=True) + 1e-5
        )
        return jax.nn.relu(g.reshape(x.shape) * gain)

    def heads(p, images):
        levels = [grouped(conv(images, p["stem"], 2), p["gain"][0])]
        for n in range(2):
            levels.append(grouped(conv(levels[-1], p["down"][n], 2), p["gain"][n + 1]))
        top = conv(levels[2], p["side"][2])
        out = []
        for n in (2, 1, 0):
            if n < 2:
                big = jnp.repeat(jnp.repeat(top, 2, 1), 2, 2)
                top = conv(levels[n], p["side"][n]) + big
            kind = conv(top, p["kind"]).reshape(rows, -1, kinds)
            out.append((kind, conv(top, p["place"]).reshape(rows, -1, 4)))
        return tuple(jnp.concatenate(parts, 1) for parts in zip(*out, strict=True))

    def area(b):
        return (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])

    def shared(a, b):
        low = jnp.maximum(a[:, None, :2], b[None, :, :2])
        high = jnp.minimum(a[:, None, 2:], b[None, :, 2:])
        common = jnp.prod(jnp.clip(high - low, 0.0), -1)
        return common / (area(a)[:, None] + area(b)[None] - common + 1e-6)

    def grid():
        found = []
        for stride in (8, 4, 2):
            at = (np.arange(side // stride) + 0.5) * stride
            mid = np.stack(np.meshgrid(at, at, indexing="ij"), -1)[:, :, None]
            half = stride * np.array([[1.0, 1.0], [1.4, 0.7], [0.7, 1.4]])
            found.append(np.concatenate([mid - half, mid + half], -1).reshape(-1, 4))
        return np.concatenate(found).astype(np.float32)

    anchors = grid()

    def moved(shift):
        mid, size = (anchors[:, :2] + anchors[:, 2:]) / 2, anchors[:, 2:] - anchors[:, :2]
        mid = mid + shift[:, :2] * size
        size = size * jnp.exp(jnp.clip(shift[:, 2:], -2.0, 2.0))
        return jnp.concatenate([mid - size / 2, mid + size / 2], -1)

    def kept(score, boxes):
        over_ = shared(boxes, boxes) > 0.5

        def going(state):
            n, left, _ = state
            return (n < most) & jnp.any(left > 0.05)

        def chosen(state):
            n, left, picked = state
            best = jnp.argmax(left)
            return (
                n + 1,
                jnp.where(over_[best], 0.0, left).at[best].set(0.0),
                picked.at[n].set(best),
            )

        return lax.while_loop(going, chosen, (0, score, jnp.full((most,), -1, jnp.int32)))[::2]

    def train(p, m, images, boxes, label):
        def loss(p):
            kind, place = heads(p, images)

            def one(kind, place, boxes, label):
                near = shared(anchors, boxes)
                whose = jnp.argmax(near, 1)
                true = near.max(1) > 0.4
                aim = jax.nn.one_hot(label[whose], kinds) * true[:, None]
                chance = jax.nn.sigmoid(kind)
                right = jnp.where(aim > 0, chance, 1 - chance)
                weight = jnp.where(aim > 0, 0.25, 0.75)
                focal = -(weight * (1 - right) ** 2 * jnp.log(right + 1e-8)).sum()
                off = moved(place) - boxes[whose]
                hub = jnp.where(jnp.abs(off) < 1, 0.5 * off**2, jnp.abs(off) - 0.5).sum(-1)
                return (focal + jnp.where(true, hub, 0.0).sum()) / jnp.maximum(true.sum(), 1)

            return jax.vmap(one)(kind, place, boxes, label).mean(), (kind, place)

        (value, (kind, place)), grads = jax.value_and_grad(loss, has_aux=True)(p)
        m = jax.tree.map(lambda a, g: 0.9 * a + g, m, grads)
        p = jax.tree.map(lambda w, a: w - 0.01 * a, p, m)
        score = jax.nn.sigmoid(kind).max(-1)
        best, where = lax.top_k(score, 32)
        near = jax.vmap(lambda s, at: moved(s)[at])(place, where)
        return p, m, value, *jax.vmap(kept)(best, near)

    images = arr(over, (rows, side, side, 3), "data")
    boxes = arr(over, (rows, 5, 4), "data")
    return train, params, params, images, boxes, arr(over, (rows, 5), "data", dtype="int32")


def entangled():
    """A circuit of qubits: turns and controlled gates on a complex state, energies, steps."""
    over = mesh(batch=4, part=2)
    bits, deep, batch = 6, 3, 8
    turns = arr(over, (deep, bits, 3))

    def turned(angle):
        a, b, c = angle[0] / 2, angle[1] / 2, angle[2] / 2
        plus, minus = jnp.exp(-1j * (a + c)), jnp.exp(-1j * (a - c))
        top = jnp.stack([plus * jnp.cos(b), -jnp.conj(minus) * jnp.sin(b)])
        low = jnp.stack([minus * jnp.sin(b), jnp.conj(plus) * jnp.cos(b)])
        return jnp.stack([top, low]).astype(jnp.complex64)

    def applied(state, gate, bit):
        state = jnp.moveaxis(state, bit, 0)
        state = jnp.tensordot(gate, state, 1)
        return jnp.moveaxis(state, 0, bit)

    def crossed(state, one, two):
        state = jnp.moveaxis(state, (one, two), (0, 1))
        state = jnp.stack([state[0], state[1][::-1]])
        return jnp.moveaxis(state, (0, 1), (one, two))

    def evolved(turns, data):
        state = jnp.zeros((2,) * bits, jnp.complex64).at[(0,) * bits].set(1.0)

        def layer(state, angles):
            for bit in range(bits):
                gate = turned(angles[bit] + data[bit] * jnp.array([0.0, 1.0, 0.0]))
                state = applied(state, gate, bit)
            for bit in range(bits):
                state = crossed(state, bit, (bit + 1) % bits)
            return state, jnp.sum(jnp.abs(state) ** 4)

        return lax.scan(layer, state, turns)

    def energy(turns, data, weight):
        state, spread = evolved(turns, data)
        chance = jnp.abs(state) ** 2
        signs = np.array([1.0, -1.0], np.float32)
        total = 0.0
        for bit in range(bits):
            rest = tuple(n for n in range(bits) if n != bit)
            total += weight[bit] * jnp.dot(chance.sum(rest), signs)
        flipped = applied(state, jnp.array([[0, 1], [1, 0]], jnp.complex64), 0)
        return total + 0.3 * jnp.real(jnp.vdot(state, flipped)), spread

    def train(turns, weight, data, true):
        def loss(turns, weight):
            found, spread = jax.vmap(energy, (None, 0, None))(turns, data, weight)
            return jnp.mean((found - true) ** 2), (found, spread)

        both = jax.value_and_grad(loss, (0, 1), has_aux=True)
        (value, (found, spread)), (slope, side) = both(turns, weight)
        slopes = jax.vmap(jax.grad(lambda t, d: energy(t, d, weight)[0]), (None, 0))(turns, data)
        flat = slopes.reshape(batch, -1)
        metric = flat.T @ flat / batch + 0.1 * jnp.eye(flat.shape[1])

        def conjugate(carried, _):
            x, r, d = carried
            moved = metric @ d
            step = (r @ r) / (d @ moved + 1e-9)
            new = r - step * moved
            return (x + step * d, new, new + (new @ new) / (r @ r + 1e-9) * d), step

        start = slope.reshape(-1)
        (way, _, _), steps = lax.scan(conjugate, (jnp.zeros_like(start), start, start), None, 5)
        turns -= 0.1 * way.reshape(turns.shape)
        return turns, weight - 0.1 * side, value, found, spread.mean(0), steps

    data = arr(over, (batch, bits), "batch")
    return train, turns, arr(over, (bits,)), data, arr(over, (batch,), "batch")


def deepened():
    """A decoder where each layer takes only the tokens that a router picks; factored moments."""
    over = mesh(data=2, model=4)
    layers, rows, long, wide, heads, groups, head, hidden, marks, some = (
        2, 4, 16, 32, 4, 2, 8, 64, 128, 8,
    )  # fmt: skip
    params = {
        "emb": arr(over, (marks, wide), "model", dtype=_BF),
        "route": arr(over, (layers, wide)),
        "q": arr(over, (layers, wide, heads * head), None, None, "model", dtype=_BF),
        "kv": arr(over, (layers, wide, 2 * groups * head), None, None, "model", dtype=_BF),
        "o": arr(over, (layers, heads * head, wide), None, "model", dtype=_BF),
        "up": arr(over, (layers, 2, wide, hidden), None, None, None, "model", dtype=_BF),
        "down": arr(over, (layers, hidden, wide), None, "model", dtype=_BF),
        "norm": arr(over, (layers, 2, wide)),
    }

    def norm(x, gain):
        x = x.astype(jnp.float32)
        return (x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * gain).astype(_BF)

    def rotated(x, at):
        turn = at[..., None, None] * (1000.0 ** -(np.arange(0, head, 2) / head))
        a, b = x[..., ::2].astype(jnp.float32), x[..., 1::2].astype(jnp.float32)
        c, s = jnp.cos(turn), jnp.sin(turn)
        return jnp.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape).astype(_BF)

    def block(x, at, w):
        n = norm(x, w["norm"][0])
        q = rotated((n @ w["q"]).reshape(*x.shape[:2], heads, head), at)
        k, v = jnp.split((n @ w["kv"]).reshape(*x.shape[:2], 2 * groups, head), 2, 2)
        k = rotated(k, at)
        q = q.reshape(*x.shape[:2], groups, heads // groups, head)
        score = jnp.einsum("bqgrd,bkgd->bgrqk", q, k).astype(jnp.float32) / np.sqrt(head)
        seen = at[:, None, None, :, None] >= at[:, None, None, None, :]
        score = 30.0 * jnp.tanh(score / 30.0)
        share = jax.nn.softmax(jnp.where(seen, score, -1e9), -1).astype(_BF)
        mixed = jnp.einsum("bgrqk,bkgd->bqgrd", share, v).reshape(*x.shape[:2], -1)
        x = x + mixed @ w["o"]
        n = norm(x, w["norm"][1])
        return x + (jax.nn.silu(n @ w["up"][0]) * (n @ w["up"][1])) @ w["down"]

    def layer(x, w):
        weight = x.astype(jnp.float32) @ w["route"]
        _, picked = lax.top_k(weight, some)
        picked = jnp.sort(picked, -1)
        part = jnp.take_along_axis(x, picked[..., None], 1)
        new = block(part, picked, w) - part
        gate = jax.nn.sigmoid(jnp.take_along_axis(weight, picked, 1))[..., None].astype(_BF)
        x = x.at[jnp.arange(rows)[:, None], picked].add(new * gate)
        chosen = jnp.zeros((rows, long)).at[jnp.arange(rows)[:, None], picked].set(1.0)
        aside = jnp.mean(jnp.logaddexp(0.0, weight) - weight * chosen)
        return lax.with_sharding_constraint(x, jax.NamedSharding(over, P("data"))), aside

    def factored(w, g, held):
        if g.ndim < 2:
            held = 0.99 * held + 0.01 * g * g
            return w - 1e-2 * (g * lax.rsqrt(held + 1e-8)).astype(w.dtype), held
        row, column = held
        row = 0.99 * row + 0.01 * jnp.mean(g * g, -1)
        column = 0.99 * column + 0.01 * jnp.mean(g * g, -2)
        size = row[..., None] * column[..., None, :] / (row.mean(-1)[..., None, None] + 1e-8)
        way = g * lax.rsqrt(size + 1e-8)
        way /= jnp.maximum(1.0, jnp.sqrt(jnp.mean(way * way)))
        return w - 1e-2 * way.astype(w.dtype), (row, column)

    def train(p, held, tokens):
        def loss(p):
            x = p["emb"][tokens[:, :-1]]
            x, aside = lax.scan(jax.checkpoint(layer), x, {n: p[n] for n in p if n != "emb"})
            logits = jnp.einsum("btd,vd->btv", x, p["emb"]).astype(jnp.float32)
            logp = jax.nn.log_softmax(logits)
            true = jnp.take_along_axis(logp, tokens[:, 1:, None], -1)
            return -true.mean() + 1e-3 * jnp.mean(jax.nn.logsumexp(logits, -1) ** 2) + aside.sum()

        value, grads = jax.value_and_grad(loss)(p)
        done = {n: factored(p[n], grads[n].astype(jnp.float32), held[n]) for n in p}
        return {n: done[n][0] for n in p}, {n: done[n][1] for n in p}, value

    def moments(w):
        if len(w.shape) < 2:
            return arr(over, w.shape)
        return arr(over, w.shape[:-1]), arr(over, (*w.shape[:-2], w.shape[-1]))

    held = {n: moments(w) for n, w in params.items()}
    return train, params, held, arr(over, (rows, long + 1), "data", dtype="int32")


def bucketed():
    """Attention within buckets of hashes, sorted and cut in chunks; layers undone in reverse."""
    over = mesh(data=4, model=2)
    rows, long, wide, heads, head, chunk, marks = 4, 32, 32, 2, 8, 8, 64
    params = {
        "emb": arr(over, (marks, wide)),
        "qk": arr(over, (wide, heads, head), None, "model"),
        "v": arr(over, (wide, heads, head), None, "model"),
        "o": arr(over, (heads, head, wide), "model"),
        "up": arr(over, (wide, 64), None, "model"),
        "down": arr(over, (64, wide), "model"),
        "turn": arr(over, (heads, head, 4)),
    }

    def one(qk, v, turn):
        way = qk @ turn
        bucket = jnp.argmax(jnp.concatenate([way, -way], -1), -1)
        order = jnp.argsort(bucket * long + jnp.arange(long))
        back = jnp.argsort(order)
        q, v, at = qk[order], v[order], order
        k = q * lax.rsqrt(jnp.mean(q * q, -1, keepdims=True) + 1e-6)

        def cut(a):
            a = a.reshape(-1, chunk, *a.shape[1:])
            return a, jnp.concatenate([jnp.roll(a, 1, 0), a], 1)

        (q, _), (_, k), (_, v) = cut(q), cut(k), cut(v)
        (mine, theirs), (same, other) = cut(at), cut(bucket[order])
        score = jnp.einsum("cid,cjd->cij", q, k) / np.sqrt(head)
        hidden = mine[:, :, None] < theirs[:, None]
        apart = same[:, :, None] != other[:, None]
        score = jnp.where(hidden | apart, -1e9, score)
        score = jnp.where(mine[:, :, None] == theirs[:, None], -1e5, score)
        size = jax.nn.logsumexp(score, -1, keepdims=True)
        out = jnp.einsum("cij,cjd->cid", jnp.exp(score - size), v)
        return out.reshape(long, head)[back], size.reshape(long)[back]

    def attended(p, x):
        qk = jnp.einsum("btd,dhk->bhtk", x, p["qk"])
        v = jnp.einsum("btd,dhk->bhtk", x, p["v"])
        rounds = jax.vmap(jax.vmap(one), (0, 0, None))
        first, size = rounds(qk, v, p["turn"])
        second, other = rounds(qk, v, p["turn"][..., ::-1] * 1.5)
        total = jnp.logaddexp(size, other)[..., None]
        mixed = first * jnp.exp(size[..., None] - total) + second * jnp.exp(
            other[..., None] - total
        )
        return jnp.einsum("bhtk,hkd->btd", mixed, p["o"])

    def fed(p, x):
        return jax.nn.gelu(x @ p["up"]) @ p["down"]

    @jax.custom_vjp
    def coupled(p, pair):
        a = pair[0] + attended(p, pair[1])
        return a, pair[1] + fed(p, a)

    def ahead(p, pair):
        out = coupled(p, pair)
        return out, (p, out)

    def behind(kept, slope):
        p, (a, b) = kept
        fed_, pull = jax.vjp(fed, p, a)
        ours, more = pull(slope[1])
        first = slope[0] + more
        b -= fed_
        held, pull = jax.vjp(attended, p, b)
        theirs, more = pull(first)
        del held
        return jax.tree.map(jnp.add, ours, theirs), (first, slope[1] + more)

    coupled.defvjp(ahead, behind)

    def train(p, tokens):
        def loss(p):
            x = p["emb"][tokens]
            pair, _ = lax.scan(lambda c, _: (coupled(p, c), None), (x, x), None, 2)
            logits = (pair[0] + pair[1]) @ p["emb"].T
            logp = jax.nn.log_softmax(logits[:, :-1])
            true = jax.nn.one_hot(tokens[:, 1:], marks)
            return -jnp.mean(jnp.sum(logp * (0.9 * true + 0.1 / marks), -1))

        value, grads = jax.value_and_grad(loss)(p)
        norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
        return jax.tree.map(lambda w, g: w - 0.1 * g / (norm + 1e-6), p, grads), value, norm

    return train, params, arr(over, (rows, long), "data", dtype="int32")


def constrained():
    """A field found by its equation: second derivatives forward over reverse, borders, BFGS."""
    over = mesh(point=4, model=2)
    points, wide, kept = 32, 24, 4
    params = {
        "in": arr(over, (2, wide), None, "model"),
        "mid": arr(over, (2, wide, wide)),
        "bias": arr(over, (3, wide)),
        "out": arr(over, (wide,)),
    }

    def field(p, at):
        freq = np.exp(np.linspace(0.0, 1.0, wide)).astype(np.float32)
        h = jnp.sin((at @ p["in"]) * freq + p["bias"][0])
        for n in range(2):
            h = h + jnp.tanh(h @ p["mid"][n] + p["bias"][n + 1])
        return h @ p["out"]

    def rest(p, at):
        slope = jax.grad(field, 1)
        unit = jnp.eye(2)
        bent = [jax.jvp(lambda a: slope(p, a), (at,), (unit[n],))[1][n] for n in range(2)]
        aim = jnp.sin(np.pi * at[0]) * jnp.sin(np.pi * at[1])
        return bent[0] + bent[1] + field(p, at) ** 3 - aim

    def loss(p, inner, border, weight):
        off = jax.vmap(rest, (None, 0))(p, inner)
        edge = jax.vmap(field, (None, 0))(p, border)
        return jnp.mean(weight * off**2) + 10.0 * jnp.mean(edge**2), off

    def dotted(a, b):
        return sum(jnp.vdot(x, y) for x, y in zip(*map(jax.tree.leaves, (a, b)), strict=True))

    def train(p, old, steps, slopes, inner, border, weight):
        (value, off), grads = jax.value_and_grad(loss, has_aux=True)(p, inner, border, weight)
        way, sizes = grads, []
        for n in range(kept):
            step, slope = (jax.tree.map(lambda a, n=n: a[n], t) for t in (steps, slopes))
            rate = 1.0 / (dotted(step, slope) + 1e-8)
            size = rate * dotted(step, way)
            way = jax.tree.map(lambda a, b, size=size: a - size * b, way, slope)
            sizes.append((step, slope, rate, size))
        for step, slope, rate, size in reversed(sizes):
            back = size - rate * dotted(slope, way)
            way = jax.tree.map(lambda a, b, back=back: a + back * b, way, step)

        def going(state):
            rate, now, n = state
            return (n < 6) & (now > value - 1e-4 * rate * dotted(grads, way))

        def tried(state):
            rate = 0.5 * state[0]
            new = jax.tree.map(lambda w, d: w - rate * d, p, way)
            return rate, loss(new, inner, border, weight)[0], state[2] + 1

        rate, now, _ = lax.while_loop(going, tried, (jnp.float32(2.0), value + 1.0, 0))
        new = jax.tree.map(lambda w, d: w - rate * d, p, way)
        steps = jax.tree.map(lambda a, d: jnp.roll(a, 1, 0).at[0].set(-rate * d), steps, way)
        slopes = jax.tree.map(
            lambda a, g, o: jnp.roll(a, 1, 0).at[0].set(g - o), slopes, grads, old
        )
        weight = 0.9 * weight + 0.1 * jnp.abs(off) / (jnp.abs(off).max() + 1e-6)
        return new, grads, steps, slopes, weight / weight.mean(), now

    held = jax.tree.map(lambda a: arr(over, (kept, *a.shape)), params)
    inner, border = arr(over, (points, 2), "point"), arr(over, (16, 2), "point")
    weight = arr(over, (points,), "point")
    return train, params, params, held, held, inner, border, weight


def private():
    """Clients under shard_map train apart, their clipped and noised changes are averaged."""
    over = mesh(client=8)
    rows, long, wide, kinds, steps = 8, 12, 16, 5, 3
    params = {
        "emb": arr(over, (40, wide)),
        "conv": arr(over, (3, wide, wide)),
        "rec": arr(over, (2 * wide, 3 * wide)),
        "bias": arr(over, (3 * wide,)),
        "out": arr(over, (wide, kinds)),
    }
    specs = dict.fromkeys(params, P())

    def logits(p, tokens):
        x = p["emb"][tokens]
        x = jax.nn.relu(
            lax.conv_general_dilated(
                x[None], p["conv"], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")
            )[0]
        )

        def gru(h, given):
            both = jnp.concatenate([h, given]) @ p["rec"] + p["bias"]
            reset, keep, _ = jnp.split(jax.nn.sigmoid(both), 3)
            new = jnp.tanh(jnp.concatenate([reset * h, given]) @ p["rec"][:, 2 * wide :])
            return keep * h + (1 - keep) * new, new

        last, every = lax.scan(gru, jnp.zeros(wide), x)
        return (last + every.max(0)) @ p["out"]

    def loss(p, tokens, label):
        out = logits(p, tokens)
        return jax.nn.logsumexp(out) - out[label], jnp.argmax(out) == label

    def clipped(g, most):
        norm = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
        return jax.tree.map(lambda a: a * jnp.minimum(1.0, most / (norm + 1e-9)), g), norm

    @smap(over, (specs, P("client"), P("client"), P()), (specs, P("client"), P()))
    def round_(p, tokens, label, seed):
        key = jax.random.fold_in(jax.random.wrap_key_data(seed), lax.axis_index("client"))
        tokens, label = tokens[0], label[0]

        def local(w, key):
            picked = jax.random.choice(key, rows, (4,), replace=False)
            each = jax.vmap(jax.grad(loss, has_aux=True), (None, 0, 0))
            slope, right = each(w, tokens[picked], label[picked])
            slope, norms = jax.vmap(clipped, (0, None))(slope, 1.0)
            mean = jax.tree.map(lambda a: a.mean(0), slope)
            return jax.tree.map(lambda a, g: a - 0.1 * g, w, mean), (right.mean(), norms.max())

        w, (right, norms) = lax.scan(local, p, jax.random.split(key, steps))
        change, _ = clipped(jax.tree.map(lambda a, b: a - b, w, p), 0.5)
        leaves, tree = jax.tree.flatten(change)
        keys = jax.random.split(key, len(leaves))
        noised = [
            a + 0.01 * jax.random.normal(k, a.shape) for a, k in zip(leaves, keys, strict=True)
        ]
        weight = jnp.float32(right.sum() > 0)
        total = lax.psum(weight, "client")
        mean = jax.tree.map(
            lambda a: lax.psum(a * weight, "client") / jnp.maximum(total, 1.0), noised
        )
        change = jax.tree.unflatten(tree, mean)
        shown = lax.all_gather(norms.max(), "client")
        return jax.tree.map(jnp.add, p, change), right.mean()[None], jnp.sort(shown)

    def train(p, mean, tokens, label, seed):
        new, right, norms = round_(p, tokens, label, seed)
        mean = jax.tree.map(lambda m, a, b: 0.9 * m + (b - a), mean, p, new)
        return jax.tree.map(lambda a, m: a + m, p, mean), mean, right, norms

    tokens = arr(over, (8, rows, long), "client", dtype="int32")
    label = arr(over, (8, rows), "client", dtype="int32")
    return train, params, params, tokens, label, arr(over, (2,), dtype="uint32")


if __name__ == "__main__":
    compiled(globals())
