"""Tagged dumps of six more programs for which no rule of matching was made.

usage: tagged_more.py cpu|v5e|v5p|v6e|H100|A100 PROGRAM   as `tagged_unseen.py`
"""

from functools import partial

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


def microbatches():
    """Microbatches through four stages of attention and MLP, a vocabulary over the stages."""
    over = mesh(stage=4, data=2)
    width, heads, words, count = 64, 4, 256, 6
    around = [(stage, (stage + 1) % 4) for stage in range(4)]
    params = {
        "words": arr(over, (words, width), "stage"),
        "qkv": arr(over, (4, width, 3, heads, 16), "stage"),
        "out": arr(over, (4, heads, 16, width), "stage"),
        "up": arr(over, (4, width, 192), "stage"),
        "down": arr(over, (4, 192, width), "stage"),
    }

    @jax.checkpoint
    def block(p, x):
        q, k, v = jnp.moveaxis(jnp.einsum("btw,wchs->btchs", rms(x, 1.0), p["qkv"][0]), 2, 0)
        scores = jnp.einsum("bths,buhs->bhtu", q, k) / 4
        scores = jnp.where(jnp.tri(x.shape[1], dtype=bool), scores, -1e9)
        x = x + jnp.einsum("bhtu,buhs,hsw->btw", jax.nn.softmax(scores), v, p["out"][0])
        return x + jax.nn.gelu(rms(x, 1.0) @ p["up"][0]) @ p["down"][0]

    stages = {name: P("stage") for name in ("qkv", "out", "up", "down")}

    @smap(over, (stages, P(None, "data")), P(None, "data"))
    def piped(p, batches):
        stage = lax.axis_index("stage")

        def tick(state, number):
            came, done = state
            here = jnp.where(stage == 0, batches[jnp.minimum(number, count - 1)], came)
            here = block(p, here)
            place = jnp.maximum(number - 3, 0)
            kept = jnp.where((stage == 3) & (number >= 3), here, done[place])
            return (lax.ppermute(here, "stage", around), done.at[place].set(kept)), None

        start = jnp.zeros_like(batches[0]), jnp.zeros_like(batches)
        (_, done), _ = lax.scan(tick, start, jnp.arange(count + 3))
        return lax.psum(jnp.where(stage == 3, done, 0.0), "stage")

    def loss(p, tokens):
        x = piped({name: p[name] for name in stages}, p["words"][tokens])
        logits = jax.nn.log_softmax(rms(x, 1.0)[:, :, :-1] @ p["words"].T)
        return -jnp.mean(jnp.take_along_axis(logits, tokens[:, :, 1:, None], -1))

    def train(params, tokens):
        return _descended(loss, params, tokens)

    return train, params, arr(over, (count, 8, 32), None, "data", dtype="int32")


def sequences():
    """FSDP over two axes, attention that turns sequences into heads, remat, a scan, Adam."""
    over = mesh(data=2, seq=4)
    width, heads, layers = 64, 8, 4
    spec = P("data", "seq")
    params = {
        "qkv": arr(over, (layers, width, 3 * width), None, ("data", "seq")),
        "out": arr(over, (layers, width, width), None, ("data", "seq")),
        "gate": arr(over, (layers, width, 256), None, ("data", "seq")),
        "up": arr(over, (layers, width, 256), None, ("data", "seq")),
        "down": arr(over, (layers, 256, width), None, ("data", "seq")),
    }

    @smap(over, (spec,) * 3, spec)
    def attention(q, k, v):
        turned = partial(lax.all_to_all, axis_name="seq", split_axis=2, concat_axis=1, tiled=True)
        q, k, v = map(turned, (q, k, v))
        scores = jnp.einsum("bths,buhs->bhtu", q, k) / np.sqrt(q.shape[-1])
        scores = jnp.where(jnp.tri(q.shape[1], dtype=bool), scores, -1e9)
        out = jnp.einsum("bhtu,buhs->bths", jax.nn.softmax(scores), v)
        return lax.all_to_all(out, "seq", 1, 2, tiled=True)

    @partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable)
    def layer(x, p):
        q, k, v = jnp.split(rms(x, 1.0) @ p["qkv"], 3, -1)
        split = (*x.shape[:2], heads, width // heads)
        out = attention(*(part.reshape(split) for part in (q, k, v)))
        x = x + out.reshape(x.shape) @ p["out"]
        h = rms(x, 1.0)
        return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"], None

    def loss(p, x, y):
        return jnp.mean((lax.scan(layer, x, p)[0] - y) ** 2)

    def train(params, first, second, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g / jnp.maximum(norm, 1.0), grads)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
        second = jax.tree.map(lambda m, g: 0.95 * m + 0.05 * g * g, second, grads)
        new = jax.tree.map(
            lambda p, m, v: p - 1e-3 * (m / (jnp.sqrt(v) + 1e-8) + 0.1 * p), params, first, second
        )
        return new, first, second, value

    rows = arr(over, (4, 64, width), "data", "seq")
    return train, params, params, params, rows, rows


def spatial():
    """A U-Net over batch and height: strided, transposed and dilated convolutions, group norm."""
    over = mesh(batch=2, height=4)
    shapes = {
        "in": (3, 3, 3, 16),
        "a": (3, 3, 16, 32),
        "b": (3, 3, 32, 64),
        "wide": (3, 3, 64, 64),
        "c": (2, 2, 64, 32),
        "join_c": (3, 3, 64, 32),
        "d": (2, 2, 32, 16),
        "join_d": (3, 3, 32, 16),
        "out": (1, 1, 16, 4),
    }
    params = {name: arr(over, shape) for name, shape in shapes.items()}

    def convolved(x, kernel, stride=1, dilation=1):
        return lax.conv_general_dilated(
            x,
            kernel,
            (stride,) * 2,
            "SAME",
            rhs_dilation=(dilation,) * 2,
            dimension_numbers=_IMAGES,
        )

    def normed(x):
        groups = x.reshape(*x.shape[:3], 4, -1)
        mean = groups.mean((1, 2, 4), keepdims=True)
        var = groups.var((1, 2, 4), keepdims=True)
        return jax.nn.silu(((groups - mean) * lax.rsqrt(var + 1e-5)).reshape(x.shape))

    def net(p, x):
        top = normed(convolved(x, p["in"]))
        middle = normed(convolved(top, p["a"], 2))
        low = normed(convolved(middle, p["b"], 2))
        low = low + normed(convolved(low, p["wide"], 1, 2))
        up = lax.conv_transpose(low, p["c"], (2, 2), "SAME", dimension_numbers=_IMAGES)
        middle = normed(convolved(jnp.concatenate([up, middle], -1), p["join_c"]))
        up = lax.conv_transpose(middle, p["d"], (2, 2), "SAME", dimension_numbers=_IMAGES)
        top = normed(convolved(jnp.concatenate([up, top], -1), p["join_d"]))
        return convolved(top, p["out"])

    def loss(p, x, y):
        shares = jax.nn.softmax(net(p, x))
        hit = jnp.sum(shares * y, (1, 2))
        return 1 - jnp.mean(2 * hit / (jnp.sum(shares + y, (1, 2)) + 1.0))

    def train(params, x, y):
        return _descended(loss, params, x, y)

    images = arr(over, (4, 64, 64, 3), "batch", "height")
    return train, params, images, arr(over, (4, 64, 64, 4), "batch", "height")


def dispatched():
    """Tokens sorted by their two experts, scattered into slots of experts, gathered back."""
    over = mesh(data=2, expert=4)
    width, hidden, experts, slots = 64, 128, 8, 96
    layer = {
        "router": arr(over, (width, experts)),
        "up": arr(over, (experts, width, hidden), "expert"),
        "down": arr(over, (experts, hidden, width), "expert"),
    }
    params = {"layers": [layer, layer], "head": arr(over, (width, 32), None, "expert")}

    def routed(p, x):
        tokens = x.shape[0]
        gates = jax.nn.softmax(x @ p["router"])
        weight, chosen = lax.top_k(gates, 2)
        flat = chosen.reshape(-1)
        order = jnp.argsort(flat, stable=True)
        expert = flat[order]
        starts = jnp.searchsorted(expert, jnp.arange(experts))
        place = jnp.arange(2 * tokens) - starts[expert]
        rows = x[order // 2]
        packed = jnp.zeros((experts, slots, width)).at[expert, place].set(rows, mode="drop")
        packed = lax.with_sharding_constraint(packed, jax.NamedSharding(over, P("expert")))
        done = jax.nn.gelu(jnp.einsum("esw,ewh->esh", packed, p["up"]))
        done = jnp.einsum("esh,ehw->esw", done, p["down"])
        back = done.at[expert, place].get(mode="fill", fill_value=0.0)
        back = back * weight.reshape(-1)[order][:, None]
        mixed = jnp.zeros_like(x).at[order // 2].add(back)
        load = jnp.bincount(flat, length=experts) / flat.shape[0]
        return x + mixed, jnp.sum(load * gates.mean(0))

    def loss(p, x, y):
        balance = 0.0
        for layer in p["layers"]:
            x, more = routed(layer, rms(x, 1.0))
            balance = balance + more
        return jnp.mean((x @ p["head"] - y) ** 2) + 0.01 * balance

    def train(params, x, y):
        return _descended(loss, params, x, y)

    return train, params, arr(over, (256, width), "data"), arr(over, (256, 32), "data")


def preconditioned():
    """Gradients between two factors by Cholesky and triangular solves, blocks over devices."""
    over = mesh(data=2, model=4)
    sizes = [(64, 96), (96, 96), (96, 32)]
    params = [arr(over, size, None, "model") for size in sizes]
    factors = [(arr(over, (a, a)), arr(over, (b, b))) for a, b in sizes]

    def loss(p, x, y):
        for w in p[:-1]:
            x = jnp.tanh(x @ w)
        return jnp.mean((x @ p[-1] - y) ** 2)

    def solved(factor, g):
        lower = jnp.linalg.cholesky(factor + 1e-3 * jnp.eye(factor.shape[0]))
        half = lax.linalg.triangular_solve(lower, g, left_side=True, lower=True)
        return lax.linalg.triangular_solve(
            lower, half, left_side=True, lower=True, transpose_a=True
        )

    def train(params, factors, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        new_params, new_factors = [], []
        for w, factor, g in zip(params, factors, grads, strict=True):
            left = 0.95 * factor[0] + 0.05 * g @ g.T
            right = 0.95 * factor[1] + 0.05 * g.T @ g
            step = solved(right, solved(left, g).T).T
            step = step * jnp.linalg.norm(g) / (jnp.linalg.norm(step) + 1e-6)
            new_params.append(w - 0.01 * step)
            new_factors.append((left, right))
        return new_params, new_factors, value

    x = arr(over, (128, 64), "data")
    return train, params, factors, x, arr(over, (128, 32), "data")


def transducer():
    """Two recurrent networks, a joint one, and a lattice summed by a scan in a scan."""
    over = mesh(data=4, model=2)
    width, words, frames, labels = 64, 32, 12, 8
    cell = {
        "in": arr(over, (width, 3 * width), None, "model"),
        "back": arr(over, (width, 3 * width), None, "model"),
    }
    params = {
        "heard": cell,
        "told": cell,
        "words": arr(over, (words, width)),
        "joint": arr(over, (width, words), "model"),
    }

    def recurrent(p, xs):
        def step(state, x):
            reset, keep, new = jnp.split(x @ p["in"], 3, -1)
            was_reset, was_keep, was_new = jnp.split(state @ p["back"], 3, -1)
            keep = jax.nn.sigmoid(keep + was_keep)
            new = jnp.tanh(new + jax.nn.sigmoid(reset + was_reset) * was_new)
            state = keep * state + (1 - keep) * new
            return state, state

        return lax.scan(step, jnp.zeros_like(xs[0]), xs)[1]

    def loss(p, sound, said):
        heard = recurrent(p["heard"], sound)
        told = recurrent(p["told"], p["words"][said])
        both = jnp.tanh(heard[:, None] + told[None])
        logits = jax.nn.log_softmax(both @ p["joint"])
        blank = logits[..., 0]
        emit = jnp.take_along_axis(logits, said[None, ..., None], -1)[..., 0]

        def row(above, now):
            blank, emit = now

            def cell(left, here):
                up, emit = here
                new = jnp.logaddexp(up, left + emit)
                return new, new

            start = above[0] + blank[0]
            rest = lax.scan(cell, start, (above[1:] + blank[1:], emit[:-1]))[1]
            return jnp.concatenate([start[None], rest]), None

        first = jnp.concatenate([jnp.zeros_like(emit[0, :1]), jnp.cumsum(emit[0, :-1], 0)])
        last = lax.scan(row, first, (blank[1:], emit[1:]))[0]
        return -jnp.mean(last[-1])

    def train(params, sound, said):
        return _descended(loss, params, sound, said)

    sound = arr(over, (frames, 16, width), None, "data")
    return train, params, sound, arr(over, (labels, 16), None, "data", dtype="int32")


if __name__ == "__main__":
    compiled(globals())
