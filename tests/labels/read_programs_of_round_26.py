"""Programs that were compiled to be read by hand in rounds 26 and 27, as `read_programs.py`.

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


def splatted():
    """Blobs in space drawn in order of depth, colors by angle, fitted; weak ones born again."""
    over = mesh(view=4, row=2)
    blobs, views, side = 48, 8, 16
    cloud = {
        "mean": arr(over, (blobs, 3)),
        "turn": arr(over, (blobs, 4)),
        "size": arr(over, (blobs, 3)),
        "dense": arr(over, (blobs,)),
        "color": arr(over, (blobs, 4, 3)),
    }

    def spread(turn, size):
        w, x, y, z = jnp.moveaxis(turn / jnp.linalg.norm(turn, axis=-1, keepdims=True), -1, 0)
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        way = jnp.stack([jnp.stack(row, -1) for row in rows], -2) * jnp.exp(size)[:, None]
        return way @ way.mT

    def shown(p, camera):
        seen = p["mean"] @ camera[:3, :3].T + camera[:3, 3]
        depth = seen[:, 2] + 4.0
        flat = seen[:, :2] / depth[:, None]
        ahead = depth > 0.2
        slope = jnp.zeros((blobs, 2, 3)).at[:, 0, 0].set(1 / depth).at[:, 1, 1].set(1 / depth)
        slope = slope.at[:, :, 2].set(-flat / depth[:, None])
        across = slope @ camera[:3, :3]
        shape = across @ spread(p["turn"], p["size"]) @ across.mT + 0.01 * jnp.eye(2)
        det = shape[:, 0, 0] * shape[:, 1, 1] - shape[:, 0, 1] ** 2
        back = jnp.stack([shape[:, 1, 1], -shape[:, 0, 1], shape[:, 0, 0]], -1) / det[:, None]
        angle = seen / jnp.linalg.norm(seen, axis=-1, keepdims=True)
        basis = jnp.concatenate([jnp.ones((blobs, 1)), angle], -1)
        color = jax.nn.sigmoid(jnp.einsum("nb,nbc->nc", basis, p["color"]))
        order = jnp.argsort(lax.stop_gradient(jnp.where(ahead, depth, jnp.inf)))
        flat, back, color, dense = (x[order] for x in (flat, back, color, p["dense"] * ahead))
        grid = (jnp.arange(side) + 0.5) / side * 2 - 1

        def line(_, y):
            dx, dy = grid[:, None] - flat[:, 0], y - flat[:, 1]
            far = back[:, 0] * dx * dx + 2 * back[:, 1] * dx * dy + back[:, 2] * dy * dy
            alpha = jnp.minimum(jax.nn.sigmoid(dense) * jnp.exp(-0.5 * far), 0.99)
            left = jnp.cumprod(1 - alpha, -1)
            weight = alpha * jnp.concatenate([jnp.ones((side, 1)), left[:, :-1]], -1)
            return None, (weight @ color, weight.max(0), left[:, -1])

        _, (image, most, clear) = lax.scan(jax.checkpoint(line), None, grid)
        return image, jnp.zeros(blobs).at[order].max(most.max(0)), clear

    def train(p, moments, seen, count, cameras, images, key):
        def loss(p):
            image, most, clear = jax.vmap(shown, (None, 0))(p, cameras)
            window = (1, 4, 4, 1)

            def mean(x):
                return lax.reduce_window(x, 0.0, lax.add, window, (1, 2, 2, 1), "VALID") / 16

            a, b = mean(image), mean(images)
            va, vb = mean(image**2) - a * a, mean(images**2) - b * b
            both = mean(image * images) - a * b
            alike = (2 * a * b + 1e-4) * (2 * both + 9e-4)
            alike /= (a * a + b * b + 1e-4) * (va + vb + 9e-4)
            off = 0.8 * jnp.abs(image - images).mean() + 0.2 * (1 - alike.mean())
            return off + 1e-2 * jnp.mean(clear), most.max(0)

        (value, most), slope = jax.value_and_grad(loss, has_aux=True)(p)
        m, v = moments
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, slope)
        v = jax.tree.map(lambda a, g: 0.99 * a + 0.01 * g * g, v, slope)
        p = jax.tree.map(lambda w, a, b: w - 0.01 * a / (jnp.sqrt(b) + 1e-8), p, m, v)
        seen = jnp.maximum(0.9 * seen, most)
        push = seen + jnp.linalg.norm(slope["mean"], axis=-1)

        def again(p):
            order = jnp.argsort(push)
            worst, best = order[:8], order[-8:]
            moved = jax.random.normal(jax.random.wrap_key_data(key), (8, 3)) * 0.05
            p = {name: value.at[worst].set(value[best]) for name, value in p.items()}
            return p | {"mean": p["mean"].at[worst].add(moved)}

        p = lax.cond(count % 10 == 9, again, lambda p: p, p)
        return p, (m, v), seen, count + 1, value

    cameras = arr(over, (views, 4, 4), "view")
    images = arr(over, (views, side, side, 3), "view", "row")
    seen, count = arr(over, (blobs,)), arr(over, (), dtype="int32")
    key = arr(over, (2,), dtype="uint32")
    return train, cloud, (cloud, cloud), seen, count, cameras, images, key


def spiking():
    """Leaky neurons that fire through convolutions over time, slopes by hand, traces of firing."""
    over = mesh(data=2, model=4)
    rows, side, times, kinds = 8, 12, 6, 10
    net = {
        "in": arr(over, (3, 3, 2, 16), None, None, None, "model"),
        "mid": arr(over, (3, 3, 16, 32), None, None, None, "model"),
        "back": arr(over, (32, 32), None, "model"),
        "out": arr(over, (3 * 3 * 32, kinds), "model"),
        "leak": arr(over, (3,)),
        "high": arr(over, (2,)),
    }

    @jax.custom_jvp
    def fires(x):
        return (x > 0).astype(x.dtype)

    @fires.defjvp
    def _(known, moved):
        (x,), (t,) = known, moved
        return fires(x), t / (1 + (np.pi * x) ** 2)

    def conv(x, w, by):
        names = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, w, (by, by), "SAME", dimension_numbers=names)

    def pooled(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")

    def step(p):
        leak, high = jax.nn.sigmoid(p["leak"]), jax.nn.softplus(p["high"])

        def once(state, events):
            u, v, w, trace, last = state
            u = leak[0] * u + conv(events.astype(jnp.float32), p["in"], 1)
            one = fires(u - high[0])
            u = u - lax.stop_gradient(one) * high[0]
            v = leak[1] * v + conv(pooled(one), p["mid"], 2) + last @ p["back"]
            two = fires(v - high[1] - 0.1 * trace)
            v = jnp.where(two > 0, 0.0, v)
            trace = 0.8 * trace + two
            w = leak[2] * w + two.reshape(rows, -1) @ p["out"]
            return (u, v, w, trace, two), (w, one.mean((1, 2, 3)), two.mean((1, 2)))

        return once

    def train(p, moments, events, label, seed):
        key = jax.random.wrap_key_data(seed)

        def loss(p):
            shapes = [(side, side, 16), (3, 3, 32), (kinds,), (3, 3, 32), (3, 3, 32)]
            start = tuple(jnp.zeros((rows, *shape)) for shape in shapes)
            flipped = jnp.where(jax.random.bernoulli(key, 0.5), events[:, :, :, ::-1], events)
            _, (w, one, two) = lax.scan(jax.checkpoint(step(p)), start, flipped)
            score = jnp.max(w, 0)
            first = jnp.argmax(w > 0.5, 0)
            true = jnp.take_along_axis(jax.nn.log_softmax(score), label[:, None], 1).mean()
            calm = jnp.square(two.mean((0, 1)) - 0.1).sum() + jnp.square(one.mean() - 0.1)
            return calm - true, (first, jnp.mean(jnp.argmax(score, -1) == label))

        (value, (first, rate)), slope = jax.value_and_grad(loss, has_aux=True)(p)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(slope)))
        slope = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), slope)
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, slope)
        p = jax.tree.map(lambda w, m: w - 0.01 * m, p, moments)
        mask = jnp.abs(p["back"]) > jnp.quantile(jnp.abs(p["back"]), 0.2)
        return (
            p | {"back": p["back"] * mask},
            moments,
            value,
            jnp.bincount(first.ravel(), length=times),
            rate,
        )

    events = arr(over, (times, rows, side, side, 2), None, "data", dtype="int8")
    label, seed = arr(over, (rows,), "data", dtype="int32"), arr(over, (2,), dtype="uint32")
    return train, net, net, events, label, seed


def flashed():
    """Attention block by block with its slope by hand, words scored in chunks, AdamW in bf16."""
    over = mesh(data=2, model=4)
    rows, long, wide, heads, head, hidden, words, block = 4, 64, 64, 8, 16, 192, 256, 16
    layers = 2
    layer = {
        "q": arr(over, (layers, wide, heads, head), None, None, "model", dtype=_BF),
        "kv": arr(over, (layers, wide, 2, 4, head), None, None, None, "model", dtype=_BF),
        "o": arr(over, (layers, heads, head, wide), None, "model", dtype=_BF),
        "up": arr(over, (layers, wide, 2, hidden), None, None, None, "model", dtype=_BF),
        "down": arr(over, (layers, hidden, wide), None, "model", dtype=_BF),
        "gain": arr(over, (layers, 4, wide), dtype=_BF),
    }
    params = {
        "words": arr(over, (words, wide), "model", dtype=_BF),
        "layers": layer,
        "gain": arr(over, (wide,), dtype=_BF),
    }
    f32 = jnp.float32

    def norm(x, gain):
        x = x.astype(f32)
        return (x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)).astype(_BF) * gain

    def scores(q, k, at):
        s = jnp.einsum("bqgrd,bkgd->bgrqk", q, k).astype(f32) / 4.0
        s = 20.0 * jnp.tanh(s / 20.0)
        sees = jnp.arange(long)[:, None] >= at * block + jnp.arange(block)
        return jnp.where(sees, s, -1e30)

    def blocks(x):
        return jnp.moveaxis(x.reshape(rows, long // block, block, 4, head), 1, 0)

    @jax.custom_vjp
    def attention(q, k, v):
        return ahead(q, k, v)[0]

    def ahead(q, k, v):
        def once(carried, given):
            top, total, out = carried
            at, k, v = given
            s = scores(q, k, at)
            new = jnp.maximum(top, s.max(-1))
            part = jnp.exp(s - new[..., None])
            old = jnp.exp(top - new)
            out = out * old[..., None] + jnp.einsum("bgrqk,bkgd->bgrqd", part.astype(_BF), v)
            return (new, total * old + part.sum(-1), out), None

        shape = (rows, 4, heads // 4, long)
        start = jnp.full(shape, -1e30), jnp.zeros(shape), jnp.zeros((*shape, head))
        given = jnp.arange(long // block), blocks(k), blocks(v)
        (top, total, out), _ = lax.scan(once, start, given)
        out = (out / total[..., None]).astype(_BF)
        return out, (q, k, v, out, top + jnp.log(total))

    def behind(kept, slope):
        q, k, v, out, whole = kept
        delta = jnp.sum(out.astype(f32) * slope.astype(f32), -1, keepdims=True)

        def once(dq, given):
            at, k, v = given
            s, pull = jax.vjp(lambda q, k: scores(q, k, at), q, k)
            part = jnp.exp(s - whole[..., None])
            dv = jnp.einsum("bgrqk,bgrqd->bkgd", part.astype(_BF), slope)
            dp = jnp.einsum("bgrqd,bkgd->bgrqk", slope, v).astype(f32)
            own, dk = pull(part * (dp - delta))
            return dq + own.astype(f32), (dk, dv)

        given = jnp.arange(long // block), blocks(k), blocks(v)
        dq, (dk, dv) = lax.scan(once, jnp.zeros(q.shape, f32), given)
        back = (jnp.moveaxis(x, 0, 1).reshape(k.shape) for x in (dk, dv))
        return dq.astype(_BF), *back

    attention.defvjp(ahead, behind)

    def turned(x):
        angle = jnp.arange(long)[:, None] * (100.0 ** -(jnp.arange(head // 2) / (head // 2)))
        one, two = x[..., ::2].astype(f32), x[..., 1::2].astype(f32)
        shape = (1, long, *[1] * (x.ndim - 3), head // 2)
        c, s = jnp.cos(angle).reshape(shape), jnp.sin(angle).reshape(shape)
        return jnp.stack([one * c - two * s, one * s + two * c], -1).reshape(x.shape).astype(_BF)

    def body(x, p):
        n = norm(x, p["gain"][0])
        q = turned(jnp.einsum("btd,dhk->bthk", n, p["q"]))
        k, v = jnp.moveaxis(jnp.einsum("btd,dcgk->btcgk", n, p["kv"]), 2, 0)
        out = attention(q.reshape(rows, long, 4, heads // 4, head), turned(k), v)
        out = jnp.moveaxis(out, 3, 1).reshape(rows, long, heads, head)
        x += norm(jnp.einsum("bthk,hkd->btd", out, p["o"]), p["gain"][1])
        a, b = jnp.moveaxis(jnp.einsum("btd,dch->btch", norm(x, p["gain"][2]), p["up"]), 2, 0)
        return x + norm((jax.nn.gelu(a) * b) @ p["down"], p["gain"][3]), None

    def train(p, master, moments, count, tokens):
        given, wanted = tokens[:, :-1], tokens[:, 1:]

        def loss(p):
            x = p["words"][given] * jnp.asarray(8.0, _BF)
            x, _ = lax.scan(jax.checkpoint(body), x, p["layers"])
            x = norm(x, p["gain"])

            def scored(total, part):
                x, wanted = part
                s = (x @ p["words"].T).astype(f32)
                log = jax.nn.logsumexp(s, -1)
                own = jnp.take_along_axis(s, wanted[..., None], -1)[..., 0]
                keep = wanted > 0
                return total + jnp.sum((log - own + 1e-4 * log**2) * keep), keep.sum()

            cut = jnp.moveaxis(x.reshape(rows, 4, 16, wide), 1, 0)
            true = jnp.moveaxis(wanted.reshape(rows, 4, 16), 1, 0)
            total, kept = lax.scan(jax.checkpoint(scored), 0.0, (cut, true))
            return total / jnp.maximum(kept.sum(), 1)

        value, slope = jax.value_and_grad(loss)(p)
        norm_ = jnp.sqrt(sum(jnp.sum(g.astype(f32) ** 2) for g in jax.tree.leaves(slope)))
        count += 1
        rate = 1e-3 * jnp.minimum(count / 10, 1 - count / 1000)
        m, v = moments
        slope = jax.tree.map(lambda g: g.astype(f32) / jnp.maximum(norm_, 1.0), slope)
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, slope)
        v = jax.tree.map(lambda a, g: 0.95 * a + 0.05 * g * g, v, slope)

        def moved(w, a, b):
            a, b = a / (1 - 0.9**count), b / (1 - 0.95**count)
            return w - rate * (a / (jnp.sqrt(b) + 1e-8) + (0.1 * w if w.ndim > 1 else 0.0))

        master = jax.tree.map(moved, master, m, v)
        return jax.tree.map(lambda w: w.astype(_BF), master), master, (m, v), count, value

    def wide_of(a):
        return jax.ShapeDtypeStruct(a.shape, f32, sharding=a.sharding)

    master = jax.tree.map(wide_of, params)
    tokens = arr(over, (rows, long + 1), "data", dtype="int32")
    return train, params, master, (master, master), arr(over, (), dtype="int32"), tokens


def labeled():
    """Tags of words: letters by convolution, two GRUs, sums over all tag paths, and the best."""
    over = mesh(data=4, model=2)
    rows, long, letters, wide, tags, marks = 8, 12, 8, 32, 9, 64
    net = {
        "letter": arr(over, (marks, 16)),
        "conv": arr(over, (3, 16, 32), None, None, "model"),
        "word": arr(over, (128, 32), "model"),
        "in": arr(over, (2, 64, 3, wide), None, None, None, "model"),
        "own": arr(over, (2, wide, 3, wide), None, None, None, "model"),
        "bias": arr(over, (2, 3, wide), None, None, "model"),
        "out": arr(over, (2 * wide, tags)),
        "step": arr(over, (tags, tags)),
        "ends": arr(over, (2, tags)),
    }

    def seen(p, words, spelled, key):
        x = p["letter"][spelled].reshape(rows * long, letters, 16)
        names = ("NWC", "WIO", "NWC")
        x = lax.conv_general_dilated(x, p["conv"], (1,), "SAME", dimension_numbers=names)
        x = jax.nn.relu(x).max(1).reshape(rows, long, 32)
        x = jnp.concatenate([x, p["word"][words]], -1)
        keep = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.8, (rows, 1, 64))
        x = jnp.where(keep, x / 0.8, 0)

        def one(way):
            def step(h, given):
                x, true = given
                a = jnp.einsum("bi,icw->bcw", x, p["in"][way]) + p["bias"][way]
                b = jnp.einsum("bi,icw->bcw", h, p["own"][way])
                r, z = jax.nn.sigmoid(a[:, 0] + b[:, 0]), jax.nn.sigmoid(a[:, 1] + b[:, 1])
                new = (1 - z) * jnp.tanh(a[:, 2] + r * b[:, 2]) + z * h
                h = jnp.where(true[:, None], new, h)
                return h, h

            given = jnp.moveaxis(x, 1, 0), (words > 0).T
            start = jnp.zeros((rows, wide))
            return lax.scan(step, start, given, reverse=bool(way))[1]

        both = jnp.concatenate([one(0), one(1)], -1)
        return jnp.einsum("tbw,wk->tbk", both, p["out"])

    def whole(p, score, true):
        def step(a, given):
            s, here = given
            new = jax.nn.logsumexp(a[:, :, None] + p["step"], 1) + s
            return jnp.where(here[:, None], new, a), None

        a, _ = lax.scan(step, p["ends"][0] + score[0], (score[1:], true[1:]))
        return jax.nn.logsumexp(a + p["ends"][1], -1)

    def path(p, score, wanted, true):
        own = jnp.take_along_axis(score, wanted[..., None], -1)[..., 0]
        moves = p["step"][wanted[:-1], wanted[1:]] * true[1:]
        last = jnp.take_along_axis(wanted, true.sum(0)[None] - 1, 0)[0]
        return (own * true).sum(0) + moves.sum(0) + p["ends"][0][wanted[0]] + p["ends"][1][last]

    def best(p, score):
        def step(a, s):
            ways = a[:, :, None] + p["step"]
            return ways.max(1) + s, ways.argmax(1)

        a, back = lax.scan(step, p["ends"][0] + score[0], score[1:])
        last = jnp.argmax(a + p["ends"][1], -1)

        def go(at, back):
            at = jnp.take_along_axis(back, at[:, None], 1)[:, 0]
            return at, at

        _, before = lax.scan(go, last, back, reverse=True)
        return jnp.concatenate([before, last[None]]), a.max(-1)

    def train(p, slow, sizes, words, spelled, wanted, key):
        true = (words > 0).T

        def loss(p):
            score = seen(p, words, spelled, key)
            return (whole(p, score, true) - path(p, score, wanted.T, true)).mean()

        value, slope = jax.value_and_grad(loss)(p)
        sizes = jax.tree.map(lambda s, g: s + g * g, sizes, slope)
        p = jax.tree.map(lambda w, g, s: w - 0.05 * g * lax.rsqrt(s + 1e-6), p, slope, sizes)
        slow = jax.tree.map(lambda a, b: a + 0.01 * (b - a), slow, p)
        told, sure = best(slow, seen(slow, words, spelled, key))
        right = ((told == wanted.T) & true).sum() / true.sum()
        return p, slow, sizes, value, told.T, sure, right

    def whole_numbers(*shape):
        return arr(over, shape, "data", dtype="int32")

    words, wanted = whole_numbers(rows, long), whole_numbers(rows, long)
    spelled, key = whole_numbers(rows, long, letters), arr(over, (2,), dtype="uint32")
    return train, net, net, net, words, spelled, wanted, key


def clouds():
    """Points in space: the farthest ones chosen, neighbors grouped, levels joined by distance."""
    over = mesh(data=4, model=2)
    rows, points, chosen, near, parts = 4, 64, 16, 8, 5
    net = {
        "in": arr(over, (6, 32), None, "model"),
        "first": arr(over, (35, 64), None, "model"),
        "second": arr(over, (64, 64), "model"),
        "deep": arr(over, (67, 128), None, "model"),
        "join": arr(over, (128 + 32, 64), None, "model"),
        "out": arr(over, (64, parts), "model"),
        "gain": arr(over, (4, 2)),
        "kind": arr(over, (128, 7)),
    }

    def far(place):
        def step(n, state):
            taken, off = state
            last = place[taken[n - 1]]
            off = jnp.minimum(off, jnp.sum((place - last) ** 2, -1))
            return taken.at[n].set(jnp.argmax(off)), off

        start = jnp.zeros(chosen, jnp.int32), jnp.full(points, 1e9)
        return lax.fori_loop(1, chosen, step, start)[0]

    def normed(x, gain):
        x = x - x.mean((0, 1), keepdims=True)
        return jax.nn.relu(x * lax.rsqrt((x * x).mean((0, 1), keepdims=True) + 1e-5) * gain[0])

    def one(p, cloud):
        place = cloud[:, :3]
        x = normed((cloud @ p["in"])[None], p["gain"][0])[0]
        taken = far(lax.stop_gradient(place))
        middle = place[taken]
        apart = jnp.sum((middle[:, None] - place[None]) ** 2, -1)
        _, whose = lax.top_k(-apart, near)
        group = jnp.concatenate([place[whose] - middle[:, None], x[whose]], -1)
        h = normed(group @ p["first"], p["gain"][1])
        h = normed(h @ p["second"], p["gain"][2]).max(1)
        deep = normed((jnp.concatenate([middle, h], -1) @ p["deep"])[None], p["gain"][3])[0]
        off, three = lax.top_k(-jnp.sum((place[:, None] - middle[None]) ** 2, -1), 3)
        share = 1 / (1e-4 - off)
        share /= share.sum(-1, keepdims=True)
        joined = jnp.einsum("pk,pkw->pw", share, deep[three])
        joined = jax.nn.relu(jnp.concatenate([joined, x], -1) @ p["join"])
        return joined @ p["out"], deep.max(0) @ p["kind"]

    def turned(cloud, key):
        angle = jax.random.uniform(key, (rows,)) * 2 * np.pi
        c, s, o, i = jnp.cos(angle), jnp.sin(angle), jnp.zeros(rows), jnp.ones(rows)
        turn = jnp.stack(
            [jnp.stack([c, -s, o], -1), jnp.stack([s, c, o], -1), jnp.stack([o, o, i], -1)], 1
        )
        both = jnp.einsum("bpcx,bxy->bpcy", cloud.reshape(rows, points, 2, 3), turn)
        return both.reshape(cloud.shape)

    def train(p, moments, cloud, part, kind, key):
        cloud = turned(cloud, jax.random.wrap_key_data(key))

        def loss(p):
            told, whole = jax.vmap(one, (None, 0))(p, cloud)
            log = jax.nn.log_softmax(told)
            smooth = 0.9 * jax.nn.one_hot(part, parts) + 0.1 / parts
            off = -(smooth * log).sum(-1).mean()
            kinds = jax.nn.log_softmax(whole)
            off -= jnp.take_along_axis(kinds, kind[:, None], -1).mean()
            best = jnp.argmax(told, -1)
            hit = jnp.zeros((parts, parts), jnp.int32).at[part, best].add(1)
            return off, hit

        (value, hit), slope = jax.value_and_grad(loss, has_aux=True)(p)
        m, v = moments
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, slope)
        v = jax.tree.map(lambda a, g: jnp.maximum(0.99 * a, jnp.abs(g)), v, slope)
        p = jax.tree.map(lambda w, a, b: w - 0.002 * a / (b + 1e-8), p, m, v)
        both = jnp.diagonal(hit) / (hit.sum(0) + hit.sum(1) - jnp.diagonal(hit) + 1)
        return p, (m, v), value, both

    cloud = arr(over, (rows, points, 6), "data")
    part = arr(over, (rows, points), "data", dtype="int32")
    kind = arr(over, (rows,), "data", dtype="int32")
    return train, net, (net, net), cloud, part, kind, arr(over, (2,), dtype="uint32")


def evolved():
    """Evolution of walkers by hand on each device: noise both ways, ranks, shares of a sum."""
    over = mesh(tribe=4, part=2)
    many, inside, hidden, outside, steps = 8, 6, 32, 2, 10
    size = inside * hidden + hidden * hidden + hidden * outside + 2 * hidden

    def walked(flat, start):
        ends = np.cumsum([inside * hidden, hidden * hidden, hidden * outside, hidden])
        a, b, c, d, e = jnp.split(flat, ends)
        a, b = a.reshape(inside, hidden), b.reshape(hidden, hidden)
        c = c.reshape(hidden, outside)

        def step(state, _):
            body, fuel, done = state
            h = jnp.tanh(body @ a + d)
            push = jnp.tanh(jax.nn.silu(h @ b + e) @ c)
            speed = 0.9 * body[3:] + jnp.concatenate([push, -0.1 * body[2:3]])
            body = jnp.concatenate([body[:3] + 0.1 * speed, speed])
            out = jnp.any(jnp.abs(body[:3]) > 3.0) | done
            gain = jnp.where(out, 0.0, body[0] - 0.05 * push @ push)
            return (body, fuel - jnp.abs(push).sum(), out), gain

        (last, fuel, done), gains = lax.scan(step, (start, jnp.float32(5), False), None, steps)
        return gains.sum() + 0.01 * fuel - 1.0 * done, last[:3]

    def tribe(mean, spread, path, starts, count, seed):
        here, there = lax.axis_index("tribe"), lax.axis_index("part")
        key = jax.random.fold_in(jax.random.wrap_key_data(seed), here * 2 + there)
        whole = lax.all_gather(mean, "part", tiled=True)
        wide = lax.all_gather(spread, "part", tiled=True)
        noise = jax.random.normal(key, (many // 2, size))
        noise = jnp.concatenate([noise, -noise])
        folk = whole + jnp.exp(wide) * noise
        score, ends = jax.vmap(jax.vmap(walked, (None, 0)), (0, None))(folk, starts)
        score = score.mean(1)
        every = lax.all_gather(score, ("tribe", "part"), tiled=True)
        rank = jnp.argsort(jnp.argsort(every))
        mine = lax.dynamic_slice(rank, ((here * 2 + there) * many,), (many,))
        total = every.shape[0]
        weight = jnp.maximum(
            0.0, jnp.log(total / 2 + 1) - jnp.log(total - mine.astype(jnp.float32))
        )
        weight = weight / lax.psum(weight.sum(), ("tribe", "part")) - 1 / total
        pull = lax.psum(weight @ noise, "tribe")
        wider = lax.psum(weight @ (noise**2 - 1), "tribe")
        pull = lax.psum_scatter(pull, "part", tiled=True)
        wider = lax.psum_scatter(wider, "part", tiled=True)
        path = 0.8 * path + 0.6 * pull
        mean = mean + 0.5 * jnp.exp(spread) * path
        spread = jnp.clip(spread + 0.1 * wider, -5.0, 1.0)
        best = lax.pmax(every.max(), ("tribe", "part"))
        side = [(i, (i + 1) % 4) for i in range(4)]
        starts = lax.ppermute(jnp.concatenate([ends[0], starts[:, 3:]], -1), "tribe", side)
        starts = jnp.where(jnp.isfinite(starts), starts, 0.0)
        decayed = lax.cond(count % 5 == 4, lambda x: x * 0.9, lambda x: x, mean)
        return decayed, spread, path, starts, count + 1, best

    part = P("part")
    inner = smap(
        over, (part, part, part, P("tribe"), P(), P()), (part, part, part, P("tribe"), P(), P())
    )(tribe)

    def train(mean, spread, path, starts, count, seed):
        def step(carried, seed):
            *rest, best = inner(*carried, seed)
            return tuple(rest), best

        state, bests = lax.scan(step, (mean, spread, path, starts, count), seed)
        return *state, bests, jnp.linalg.norm(state[0] - mean)

    flat = arr(over, (size,), "part")
    starts = arr(over, (4 * 4, inside), "tribe")
    return (
        train,
        flat,
        flat,
        flat,
        starts,
        arr(over, (), dtype="int32"),
        arr(over, (3, 2), dtype="uint32"),
    )


if __name__ == "__main__":
    compiled(globals())
