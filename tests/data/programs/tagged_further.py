"""Tagged dumps of more programs for which no rule of matching was made, all on meshes of two axes.

usage: tagged_further.py cpu|v5e|v5p|v6e|H100|A100 PROGRAM   as `tagged_unseen.py`
"""
# ruff: noqa: PLR0917 - what a step takes: parameters, states, a batch

from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, rms, smap

_IMAGES = ("NHWC", "HWIO", "NHWC")


def _descended(loss, params, *batch):
    value, grads = jax.value_and_grad(loss)(params, *batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g.astype(p.dtype), params, grads), value


def ringed():
    """Causal ring attention in a loop of permutes, a batch beside it, and its gradient."""
    over = mesh(batch=2, ring=4)
    heads, size, width = 4, 16, 64
    around = [(device, (device + 1) % 4) for device in range(4)]
    params = {
        "qkv": arr(over, (3, width, heads, size), None, None, None, None),
        "out": arr(over, (heads, size, width)),
        "mlp": (arr(over, (width, 192), None, "ring"), arr(over, (192, width), "ring")),
    }

    spec = P("batch", "ring")

    @smap(over, (spec,) * 3, spec)
    def attention(q, k, v):
        here = lax.axis_index("ring")
        rows = jnp.arange(q.shape[1])

        def turn(state, step):
            k, v, best, total, out = state
            there = (here - step) % 4
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(size)
            mask = (here * q.shape[1] + rows)[:, None] >= there * q.shape[1] + rows
            scores = jnp.where(mask, scores, -1e9)
            new = jnp.maximum(best, scores.max(-1))
            shares = jnp.exp(scores - new[..., None])
            scale = jnp.exp(best - new)
            out = out * scale[..., None] + jnp.einsum("bhqk,bkhd->bhqd", shares, v)
            total = total * scale + shares.sum(-1)
            k, v = (lax.ppermute(x, "ring", around) for x in (k, v))
            return (k, v, new, total, out), None

        shape = (q.shape[0], heads, q.shape[1])
        start = (k, v, jnp.full(shape, -1e9), jnp.zeros(shape), jnp.zeros((*shape, size)))
        (_, _, _, total, out), _ = lax.scan(jax.checkpoint(turn), start, jnp.arange(4))
        return jnp.moveaxis(out / total[..., None], 1, 2)

    def net(p, x):
        q, k, v = (jnp.einsum("btw,whs->bths", rms(x, 1.0), p["qkv"][i]) for i in range(3))
        x = x + jnp.einsum("bths,hsw->btw", attention(q, k, v), p["out"])
        return x + jax.nn.silu(rms(x, 1.0) @ p["mlp"][0]) @ p["mlp"][1]

    def train(params, x, y):
        return _descended(lambda p: jnp.mean((net(p, x) - y) ** 2), params)

    rows = arr(over, (4, 128, width), "batch", "ring")
    return train, params, rows, rows


def routed():
    """Experts on one axis, their hidden part on the other; two choices, a balance loss."""
    over = mesh(expert=4, part=2)
    width, hidden, tokens, slots = 64, 128, 64, 24
    inner = P("expert", None, "part")

    @smap(over, (P("expert", None), P(), inner, P("expert", "part")), (P("expert", None), P()))
    def layer(x, router, up, down):
        gates = jax.nn.softmax(x @ router)
        weight, chosen = lax.top_k(gates, 2)
        hot = jax.nn.one_hot(chosen, 4)
        flat = hot.reshape(-1, 4)
        place = jnp.cumsum(flat, 0) * flat - 1
        kept = (place >= 0) & (place < slots)
        sent = jnp.where(kept, place, slots).astype(jnp.int32)
        disp = jax.nn.one_hot(sent, slots).reshape(x.shape[0], 2, 4, slots)
        packed = jnp.einsum("tkes,td->esd", disp, x)
        there = lax.all_to_all(packed, "expert", 0, 1, tiled=True)
        done = jax.nn.gelu(jnp.einsum("esd,edf->esf", there, up))
        done = lax.psum(jnp.einsum("esf,efd->esd", done, down), "part")
        back = lax.all_to_all(done, "expert", 1, 0, tiled=True)
        mixed = jnp.einsum("tkes,tk,esd->td", disp, weight, back)
        load = lax.pmean(hot.sum((0, 1)) / x.shape[0], "expert")
        return x + mixed, jnp.sum(load * lax.pmean(gates.mean(0), "expert"))

    def loss(p, x, y):
        balance = 0.0
        for q in p["layers"]:
            x, more = layer(rms(x, 1.0), q["router"], q["up"], q["down"])
            balance = balance + more
        return jnp.mean((x @ p["head"] - y) ** 2) + 0.01 * balance

    def train(params, x, y):
        return _descended(loss, params, x, y)

    one = {
        "router": arr(over, (width, 4)),
        "up": arr(over, (4, width, hidden), "expert", None, "part"),
        "down": arr(over, (4, hidden, width), "expert", "part"),
    }
    params = {"layers": [one, one], "head": arr(over, (width, 32), None, "part")}
    return (
        train,
        params,
        arr(over, (4 * tokens, width), "expert"),
        arr(over, (4 * tokens, 32), "expert"),
    )


def pooled():
    """Convolutions with batch norm, running means, max and mean pools; channels are sharded too."""
    over = mesh(data=4, model=2)
    shapes = [(5, 5, 3, 32), (3, 3, 32, 32), (3, 3, 32, 64), (1, 1, 64, 64), (3, 3, 2, 64)]
    kernels = [arr(over, shape, None, None, None, "model") for shape in shapes]
    scales = [(arr(over, (shape[-1],)), arr(over, (shape[-1],))) for shape in shapes]
    params = {"k": kernels, "s": scales, "head": arr(over, (64, 16), "model")}

    def normed(x, scale, running):
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        new = tuple(0.9 * old + 0.1 * now for old, now in zip(running, (mean, var), strict=True))
        return (x - mean) * lax.rsqrt(var + 1e-5) * scale[0] + scale[1], new

    def net(p, running, x):
        news = []
        for number, (kernel, scale) in enumerate(zip(p["k"], p["s"], strict=True)):
            groups = 32 if number == 4 else 1
            x = lax.conv_general_dilated(
                x, kernel, (1, 1), "SAME", dimension_numbers=_IMAGES, feature_group_count=groups
            )
            x, new = normed(x, scale, running[number])
            news.append(new)
            x = jax.nn.relu(x)
            if number in {0, 2}:
                x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        x = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
        return x.mean((1, 2)) @ p["head"], news

    def train(params, running, x, y):
        def loss(p):
            out, news = net(p, running, x)
            return -jnp.mean(jnp.sum(jax.nn.log_softmax(out) * y, -1)), news

        (value, news), grads = jax.value_and_grad(loss, has_aux=True)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), news, value

    return train, params, scales, arr(over, (32, 32, 32, 3), "data"), arr(over, (32, 16), "data")


def saved():
    """Layers under scan that keep the results of their dots, on data and tensor axes, with Adam."""
    over = mesh(data=2, tensor=4)
    layers, width, heads, size, hidden = 4, 64, 8, 8, 256
    params = {
        "qkv": arr(over, (layers, width, 3, heads, size), None, None, None, "tensor"),
        "out": arr(over, (layers, heads, size, width), None, "tensor"),
        "gate": arr(over, (layers, width, hidden), None, None, "tensor"),
        "up": arr(over, (layers, width, hidden), None, None, "tensor"),
        "down": arr(over, (layers, hidden, width), None, "tensor"),
    }

    @partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)
    def layer(x, p):
        q, k, v = jnp.moveaxis(jnp.einsum("btw,wchs->btchs", rms(x, 1.0), p["qkv"]), 2, 0)
        scores = jnp.einsum("bths,buhs->bhtu", q, k) / np.sqrt(size)
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
        x = x + jnp.einsum("bhtu,buhs,hsw->btw", jax.nn.softmax(scores), v, p["out"])
        n = rms(x, 1.0)
        return x + (jax.nn.silu(n @ p["gate"]) * (n @ p["up"])) @ p["down"], None

    def train(params, first, second, x, y):
        def loss(p):
            return jnp.mean((lax.scan(layer, x, p)[0] - y) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), grads)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
        second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, second, grads)
        new = jax.tree.map(lambda p, m, s: p - m / (jnp.sqrt(s) + 1e-8), params, first, second)
        return new, first, second, value

    rows = arr(over, (4, 32, width), "data")
    return train, params, params, params, rows, rows


def recurrent():
    """An LSTM of two directions and a decoder with attention that reads its own words."""
    over = mesh(data=4, model=2)
    width, words, length = 64, 256, 12
    cell = {
        "x": arr(over, (width, 4 * width), None, "model"),
        "h": arr(over, (width, 4 * width), None, "model"),
        "b": arr(over, (4 * width,), "model"),
    }
    params = {
        "table": arr(over, (words, width), "model"),
        "ahead": cell,
        "back": cell,
        "read": cell,
        "join": arr(over, (2 * width, width), None, "model"),
        "score": arr(over, (width, width), "model"),
    }

    def step(p, state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ p["x"] + h @ p["h"] + p["b"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def net(p, ids, target):
        x = jnp.swapaxes(p["table"][ids], 0, 1)
        zero = (jnp.zeros((ids.shape[0], width)),) * 2
        _, ahead = lax.scan(partial(step, p["ahead"]), zero, x)
        _, back = lax.scan(partial(step, p["back"]), zero, x, reverse=True)
        seen = jnp.concatenate([ahead, back], -1) @ p["join"]

        def word(state, last):
            state, h = step(p["read"], state, p["table"][last])
            share = jax.nn.softmax(jnp.einsum("bw,tbw->bt", h @ p["score"], seen))
            out = (h + jnp.einsum("bt,tbw->bw", share, seen)) @ p["table"].T
            return state, out

        _, outs = lax.scan(word, zero, target.T)
        return outs

    def train(params, ids, target):
        def loss(p):
            found = jax.nn.log_softmax(net(p, ids, target))[:-1]
            return -jnp.mean(jnp.take_along_axis(found, target.T[1:, :, None], -1))

        return _descended(loss, params)

    ids = arr(over, (16, length), "data", dtype="int32")
    return train, params, ids, ids


def waves():
    """Fourier layers, an implicit step with a Cholesky solve, and a trajectory by scan."""
    over = mesh(data=4, model=2)
    width, modes, size = 16, 8, 32
    layer = {
        "re": arr(over, (width, width, modes, modes), None, "model"),
        "im": arr(over, (width, width, modes, modes), None, "model"),
        "w": arr(over, (width, width), None, "model"),
    }
    params = {
        "lift": arr(over, (2, width)),
        "layers": [layer] * 2,
        "drop": arr(over, (width, 1)),
        "mass": arr(over, (size, size)),
    }

    def net(p, x):
        z = x @ p["lift"]
        for q in p["layers"]:
            freq = jnp.fft.rfft2(z, axes=(1, 2))[:, :modes, :modes]
            kernel = q["re"] + 1j * q["im"]
            mixed = jnp.einsum("bxyi,ioxy->bxyo", freq, kernel)
            full = jnp.zeros((z.shape[0], size, size // 2 + 1, width), mixed.dtype)
            full = full.at[:, :modes, :modes].set(mixed)
            z = jax.nn.gelu(jnp.fft.irfft2(full, s=(size, size), axes=(1, 2)) + z @ q["w"])
        return z @ p["drop"]

    def train(params, x, y):
        def loss(p):
            out = net(p, x)[..., 0]
            low = jnp.linalg.cholesky(p["mass"] @ p["mass"].T + jnp.eye(size))
            half = lax.linalg.triangular_solve(low, out.mean(0), left_side=True, lower=True)

            def march(u, step):
                u = u + 0.1 * (p["mass"] @ u) * step
                return u, jnp.sum(u * u)

            last, sums = lax.scan(march, half, jnp.linspace(0.0, 1.0, 5))
            return jnp.mean((out - y) ** 2) + 1e-3 * jnp.mean(last**2) + jnp.mean(sums) * 1e-4

        return _descended(loss, params)

    field = arr(over, (8, size, size), "data")
    return train, params, arr(over, (8, size, size, 2), "data"), field


def tables():
    """Bags of embeddings of three sharded tables, crossed features, sparse AdaGrad by scatter."""
    over = mesh(data=2, row=4)
    width, bag = 32, 5
    sizes = (1024, 512, 256)
    tables = [arr(over, (rows, width), "row") for rows in sizes]
    dense = {
        "bottom": (arr(over, (13, 64), None, "row"), arr(over, (64, width), "row")),
        "top": (arr(over, (width + 6, 64), None, "row"), arr(over, (64, 1), "row")),
    }

    def net(bags, p, x):
        bottom = jax.nn.relu(jax.nn.relu(x @ p["bottom"][0]) @ p["bottom"][1])
        every = jnp.stack([bottom, *(rows.sum(1) for rows in bags)], 1)
        crossed = jnp.einsum("bnw,bmw->bnm", every, every)
        above = crossed[:, *np.triu_indices(4, 1)]
        return (jax.nn.relu(jnp.concatenate([bottom, above], -1) @ p["top"][0]) @ p["top"][1])[:, 0]

    def train(tables, sums, dense, ids, x, y):
        bags = [table[ids[:, number]] for number, table in enumerate(tables)]

        def loss(bags, p):
            out = net(bags, p, x)
            return jnp.mean(jnp.maximum(out, 0) - out * y + jnp.log1p(jnp.exp(-jnp.abs(out))))

        value, (rows, grads) = jax.value_and_grad(loss, argnums=(0, 1))(bags, dense)
        news, seconds = [], []
        for number, (table, total) in enumerate(zip(tables, sums, strict=True)):
            flat = ids[:, number].reshape(-1)
            update = rows[number].reshape(-1, width)
            second = total.at[flat].add(jnp.mean(update * update, -1))
            scaled = update * lax.rsqrt(second[flat] + 1e-8)[:, None]
            news.append(table.at[flat].add(-0.1 * scaled))
            seconds.append(second)
        dense = jax.tree.map(lambda p, g: p - 0.1 * g, dense, grads)
        return news, seconds, dense, value

    sums = [arr(over, (rows,), "row") for rows in sizes]
    ids = arr(over, (32, 3, bag), "data", dtype="int32")
    return train, tables, sums, dense, ids, arr(over, (32, 13), "data"), arr(over, (32,), "data")


def speculative():
    """A small model drafts words, a large one checks them, in a loop with dynamic slices."""
    over = mesh(data=2, model=4)
    words, length, ahead = 256, 48, 4

    def model(width):
        return {
            "table": arr(over, (words, width), "model"),
            "qkv": arr(over, (width, 3, 4, width // 4), None, None, "model"),
            "out": arr(over, (4, width // 4, width), "model"),
            "mlp": (
                arr(over, (width, 4 * width), None, "model"),
                arr(over, (4 * width, width), "model"),
            ),
        }

    def run(p, cache, ids, start):
        x = p["table"][ids]
        q, k, v = jnp.moveaxis(jnp.einsum("btw,wchs->btchs", rms(x, 1.0), p["qkv"]), 2, 0)
        cache = tuple(
            lax.dynamic_update_slice(old, new, (0, start, 0, 0))
            for old, new in zip(cache, (k, v), strict=True)
        )
        scores = jnp.einsum("bths,buhs->bhtu", q, cache[0])
        seen = jnp.arange(length) <= (start + jnp.arange(ids.shape[1]))[:, None]
        share = jax.nn.softmax(jnp.where(seen, scores, -1e9))
        x = x + jnp.einsum("bhtu,buhs,hsw->btw", share, cache[1], p["out"])
        x = x + jax.nn.gelu(rms(x, 1.0) @ p["mlp"][0]) @ p["mlp"][1]
        return cache, x @ p["table"].T

    def decode(small, large, first):
        rows = first.shape[0]

        def caches(width):
            return (jnp.zeros((rows, length, 4, width // 4)),) * 2

        def draft(state, _):
            cache, last, at = state
            cache, out = run(small, cache, last[:, None], at)
            last = jnp.argmax(out[:, 0], -1).astype(jnp.int32)
            return (cache, last, at + 1), last

        def turn(state):
            text, at, few, many = state
            last = lax.dynamic_slice(text, (0, at), (rows, 1))[:, 0]
            (few, _, _), drafted = lax.scan(draft, (few, last, at), None, length=ahead)
            tried = jnp.concatenate([last[:, None], drafted.T[:, :-1]], 1)
            many, out = run(large, many, tried, at)
            best = jnp.argmax(out, -1).astype(jnp.int32)
            same = jnp.cumprod((best == drafted.T).astype(jnp.int32), 1)
            count = jnp.maximum(1, jnp.min(same.sum(1)))
            text = lax.dynamic_update_slice(text, best, (0, at + 1))
            text = lax.cond(count == ahead, lambda t: t, lambda t: jnp.where(t < 0, 0, t), text)
            return text, at + count, few, many

        text = jnp.zeros((rows, length), jnp.int32).at[:, 0].set(first)
        state = (text, 0, caches(32), caches(128))
        return lax.while_loop(lambda s: s[1] < length - ahead - 1, turn, state)[0]

    return decode, model(32), model(128), arr(over, (4,), "data", dtype="int32")


def messages():
    """Messages along edges, softmax over the neighbors, and a pool by sorted segments."""
    over = mesh(edge=4, feature=2)
    nodes, edges, width = 128, 512, 32
    layer = {
        "send": arr(over, (width, width), None, "feature"),
        "take": arr(over, (width, width), None, "feature"),
        "score": arr(over, (2 * width, 1)),
        "mix": arr(over, (2 * width, width), "feature"),
    }
    params = {"layers": [layer] * 2, "head": arr(over, (width, 8), "feature")}

    def net(p, x, source, target):
        for q in p["layers"]:
            sent, taken = (x @ q["send"])[source], (x @ q["take"])[target]
            scores = jax.nn.leaky_relu(jnp.concatenate([sent, taken], -1) @ q["score"])[:, 0]
            best = jax.ops.segment_max(scores, target, nodes)
            share = jnp.exp(scores - best[target])
            total = jax.ops.segment_sum(share, target, nodes)
            mean = jax.ops.segment_sum(share[:, None] * sent, target, nodes) / (
                total[:, None] + 1e-6
            )
            x = jax.nn.elu(jnp.concatenate([x, mean], -1) @ q["mix"]) + x
        order = jnp.argsort(x.sum(-1))
        pooled = jax.ops.segment_sum(x[order], jnp.arange(nodes) // 16, nodes // 16)
        return pooled @ p["head"]

    def train(params, x, source, target, y):
        return _descended(lambda p: jnp.mean((net(p, x, source, target) - y) ** 2), params)

    ends = arr(over, (edges,), "edge", dtype="int32")
    x = arr(over, (nodes, width), None, "feature")
    return train, params, x, ends, ends, arr(over, (nodes // 16, 8))


def orthogonal():
    """Updates made orthogonal by Newton's iteration, with quantiles, for weights in bfloat16."""
    over = mesh(data=2, model=4)
    sizes = (96, 192, 192, 48)
    bf = "bfloat16"
    params = [
        arr(over, (a, b), "data" if a < 192 else "model", "model" if a < 192 else "data", dtype=bf)
        for a, b in pairwise(sizes)
    ]
    momentum = [arr(over, p.shape, *p.sharding.spec) for p in params]

    def turned(g):
        x = g / (jnp.linalg.norm(g) + 1e-6)
        flip = x.shape[0] > x.shape[1]
        x = x.T if flip else x

        def newton(_, x):
            a = x @ x.T
            b = -4.775 * a + 2.0315 * a @ a
            return 3.4445 * x + b @ x

        x = lax.fori_loop(0, 5, newton, x)
        return x.T if flip else x

    def train(params, momentum, x, y):
        def loss(p):
            z = x
            for w in p[:-1]:
                z = jnp.square(jax.nn.relu(z @ w))
                z = z * lax.rsqrt(jnp.mean(jnp.square(z), -1, keepdims=True) + 1e-3)
            return jnp.mean(((z @ p[-1]).astype(jnp.float32) - y) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        grads = [g.astype(jnp.float32) for g in grads]
        cut = [jnp.quantile(jnp.abs(g), 0.99) for g in grads]
        grads = [jnp.clip(g, -c, c) for g, c in zip(grads, cut, strict=True)]
        momentum = [0.9 * m + g for m, g in zip(momentum, grads, strict=True)]
        new = [
            (p - 0.02 * turned(m)).astype(p.dtype) for p, m in zip(params, momentum, strict=True)
        ]
        return new, momentum, value

    x = arr(over, (64, 96), "data", dtype=bf)
    return train, params, momentum, x, arr(over, (64, 48), "data")


if __name__ == "__main__":
    compiled(globals())
