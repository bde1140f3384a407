"""Tagged dumps of further programs for which no rule of matching was made.

usage: tagged_fresh.py cpu|v5e|v5p|v6e|H100|A100 PROGRAM   as `tagged_unseen.py`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, rms, smap

_IMAGES = ("NHWC", "HWIO", "NHWC")


def _descended(loss, params, *batch):
    value, grads = jax.value_and_grad(loss)(params, *batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g.astype(p.dtype), params, grads), value


def circular():
    """Pipeline by scan, two rounds of each stage, a norm over data inside, ppermute around."""
    over = mesh(data=2, stage=4)
    width, hidden, count = 64, 192, 8
    around = [(i, (i + 1) % 4) for i in range(4)]
    spec = {"up": P(None, "stage"), "down": P(None, "stage"), "scale": P()}
    params = {
        "up": arr(over, (2, 4, width, hidden), None, "stage"),
        "down": arr(over, (2, 4, hidden, width), None, "stage"),
        "scale": arr(over, (width,)),
    }

    @smap(over, (spec, P(None, "data")), P(None, "data"))
    def staged(p, xs):
        stage = lax.axis_index("stage")

        def tick(state, number):
            x = jnp.where(stage == 0, xs[number % count], state)
            which = (number // count) % 2
            y = jax.nn.silu(rms(x, p["scale"]) @ p["up"][which, 0]) @ p["down"][which, 0]
            spread = lax.pmean(jnp.mean(y * y), "data")
            y = x + y * lax.rsqrt(1 + spread)
            return lax.ppermute(y, "stage", around), y

        _, ys = lax.scan(tick, jnp.zeros_like(xs[0]), jnp.arange(2 * count + 3))
        last = jnp.where(stage == 3, ys[count + 3 :], 0)
        return lax.psum(last, "stage")

    def train(params, xs, ys):
        return _descended(lambda p: jnp.mean((staged(p, xs) - ys) ** 2), params)

    batch = arr(over, (count, 8, width), None, "data")
    return train, params, batch, batch


def dropless():
    """Experts by sorting: argsort of choices, gather, all_to_all, products, scatter back."""
    over = mesh(expert=8)
    width, hidden, experts, room, rows = 64, 128, 16, 32, 128
    spec = {"route": P(), "up": P("expert"), "down": P("expert"), "shared": P()}
    params = {
        "route": arr(over, (width, experts)),
        "up": arr(over, (experts, width, hidden), "expert"),
        "down": arr(over, (experts, hidden, width), "expert"),
        "shared": arr(over, (width, width)),
    }

    @smap(over, (spec, P("expert")), P("expert"))
    def layer(p, x):
        scores = jax.nn.sigmoid(x @ p["route"])
        weight, chosen = lax.top_k(scores, 2)
        flat = chosen.reshape(-1)
        order = jnp.argsort(flat, stable=True)
        counts = jnp.bincount(flat, length=experts)
        starts = jnp.cumsum(counts) - counts
        place = jnp.arange(flat.size) - starts[flat[order]]
        slots = jnp.where(place < room, flat[order] * room + place, experts * room)
        sent = jnp.zeros((experts * room + 1, width)).at[slots].set(x[order // 2])[:-1]
        sent = sent.reshape(8, 2, room, width)
        got = lax.all_to_all(sent, "expert", 0, 0)
        got = jnp.moveaxis(got, 1, 0).reshape(2, -1, width)
        mid = jax.nn.gelu(jnp.einsum("enw,ewh->enh", got, p["up"]))
        out = jnp.einsum("enh,ehw->enw", mid, p["down"])
        out = jnp.moveaxis(out.reshape(2, 8, room, width), 0, 1)
        back = lax.all_to_all(out, "expert", 0, 0).reshape(-1, width)
        back = jnp.concatenate([back, jnp.zeros((1, width))])
        mixed = back[slots] * weight.reshape(-1)[order][:, None]
        return x @ p["shared"] + jnp.zeros_like(x).at[order // 2].add(mixed)

    def train(params, x, y):
        return _descended(lambda p: jnp.mean((layer(p, layer(p, x)) - y) ** 2), params)

    batch = arr(over, (8 * rows, width), "expert")
    return train, params, batch, batch


def convbias():
    """Convolutions with bias and activation, a residual, a depthwise one, in half precision."""
    over = mesh(data=8)
    half = "float16"

    def kernel(*shape):
        return {"k": arr(over, shape, dtype=half), "b": arr(over, (shape[-1],), dtype=half)}

    params = {
        "stem": kernel(3, 3, 8, 32),
        "first": kernel(3, 3, 32, 32),
        "second": kernel(3, 3, 32, 32),
        "deep": kernel(5, 5, 1, 32),
        "wide": kernel(1, 1, 32, 64),
        "down": kernel(3, 3, 64, 64),
        "head": {"k": arr(over, (64, 16), dtype=half), "b": arr(over, (16,), dtype=half)},
    }

    def conv(p, x, stride=1, groups=1):
        y = lax.conv_general_dilated(
            x,
            p["k"],
            (stride, stride),
            "SAME",
            dimension_numbers=_IMAGES,
            feature_group_count=groups,
        )
        return y + p["b"]

    def net(p, x):
        x = jax.nn.relu(conv(p["stem"], x, 2))
        y = jax.nn.relu(conv(p["first"], x))
        x = jax.nn.relu(conv(p["second"], y) + x)
        x = jax.nn.elu(conv(p["wide"], jax.nn.relu6(conv(p["deep"], x, groups=32))))
        x = jax.nn.leaky_relu(conv(p["down"], x, 2))
        return x.mean((1, 2)) @ p["head"]["k"] + p["head"]["b"]

    def infer_and_train(params, x, y):
        def loss(p):
            return jnp.mean((net(p, x) - y).astype(jnp.float32) ** 2)

        return net(params, x[::-1]), *_descended(loss, params)

    return (
        infer_and_train,
        params,
        arr(over, (32, 32, 32, 8), "data", dtype=half),
        arr(over, (32, 16), "data", dtype=half),
    )


def skinny():
    """Products with a long contracted dimension and small results, several of one operand."""
    over = mesh(data=8)
    long, short = 16384, 24
    weights = {name: arr(over, (long, short), dtype="bfloat16") for name in "qkvgo"}
    weights["back"] = arr(over, (short, long), dtype="bfloat16")
    weights["tall"] = arr(over, (long, 8))

    def score(w, x, z):
        q, k, v = x @ w["q"], x @ w["k"], x @ w["v"]
        gate = jax.nn.sigmoid((x @ w["g"]).astype(jnp.float32))
        mixed = jax.nn.softmax((q @ k.T).astype(jnp.float32)) @ v.astype(jnp.float32) * gate
        again = mixed.astype(jnp.bfloat16) @ w["back"]
        gram = again.T[:16] @ again[:, :16]
        return (
            (again @ w["o"]).astype(jnp.float32),
            jnp.einsum("nl,lk->nk", z, w["tall"]),
            gram.astype(jnp.float32) @ gram.T.astype(jnp.float32),
            jnp.einsum("nl,nl->n", z, z),
            z.T[:8] @ z[:, :8],
        )

    def train(w, x, z):
        def loss(w):
            return sum(jnp.mean(part**2) for part in score(w, x, z))

        return _descended(loss, w)

    rows = arr(over, (64, long), "data", dtype="bfloat16")
    return train, weights, rows, arr(over, (64, long), "data")


def deep():
    """Layers whose activations do not fit: the compiler rematerializes some."""
    over = mesh(data=8)
    width, rows = 4096, 131072
    params = [arr(over, (width, width), dtype="bfloat16") for _ in range(6)]

    def loss(params, x):
        for w in params:
            y = x @ w
            x = x + jnp.tanh(y) * jax.nn.sigmoid(rms(y, jnp.bfloat16(1)))
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    def train(params, x):
        return _descended(loss, params, x)

    return train, params, arr(over, (rows, width), "data", dtype="bfloat16")


def windowed():
    """Sequence sharded beside weights: gathers before products, scatters behind them."""
    over = mesh(data=2, model=4)
    width, hidden, length = 512, 2048, 1024
    kind = "bfloat16"
    layer = {
        "up": arr(over, (width, hidden), None, "model", dtype=kind),
        "gate": arr(over, (width, hidden), None, "model", dtype=kind),
        "down": arr(over, (hidden, width), "model", dtype=kind),
        "in": arr(over, (width, width), None, "model", dtype=kind),
        "out": arr(over, (width, width), "model", dtype=kind),
    }
    rows = NamedSharding(over, P("data", "model"))
    columns = NamedSharding(over, P("data", None, "model"))

    def pinned(x, sharding):
        return lax.with_sharding_constraint(x, sharding)

    def net(layers, x):
        for p in layers:
            n = pinned(rms(x, jnp.bfloat16(1)), rows)
            a = jnp.tanh(pinned(n @ p["in"], columns))
            x = pinned(x + a @ p["out"], rows)
            n = pinned(rms(x, jnp.bfloat16(1)), rows)
            h = jax.nn.silu(pinned(n @ p["gate"], columns)) * pinned(n @ p["up"], columns)
            x = pinned(x + h @ p["down"], rows)
        return x

    def train(layers, x, y):
        return _descended(lambda p: jnp.mean((net(p, x) - y).astype(jnp.float32) ** 2), layers)

    batch = arr(over, (4, length, width), "data", "model", dtype=kind)
    return train, [layer, layer], batch, batch


def selective():
    """State space layers: causal depthwise convolution, associative scan, gates; norm by groups."""
    over = mesh(data=4, model=2)
    width, inner, state, length = 64, 128, 8, 64
    layer = {
        "in": arr(over, (width, 2, inner), None, None, "model"),
        "conv": arr(over, (4, 1, inner), None, None, "model"),
        "dt": arr(over, (inner, inner), "model"),
        "bc": arr(over, (inner, 2 * state), "model"),
        "a": arr(over, (inner, state), "model"),
        "out": arr(over, (inner, width), "model"),
    }

    def mixed(p, x):
        u, gate = jnp.moveaxis(jnp.einsum("blw,wgi->blgi", rms(x, 1.0), p["in"]), 2, 0)
        u = lax.conv_general_dilated(
            u,
            p["conv"],
            (1,),
            [(3, 0)],
            dimension_numbers=("NHC", "HIO", "NHC"),
            feature_group_count=inner,
        )
        u = jax.nn.silu(u)
        dt = jax.nn.softplus(u @ p["dt"])
        b, c = jnp.split(u @ p["bc"], 2, -1)
        decay = jnp.exp(-dt[..., None] * jnp.exp(p["a"]))
        fed = (dt * u)[..., None] * b[:, :, None]

        def joined(one, other):
            return one[0] * other[0], one[1] * other[0] + other[1]

        _, h = lax.associative_scan(joined, (decay, fed), axis=1)
        y = jnp.einsum("blis,bls->bli", h, c) * jax.nn.silu(gate)
        return x + y @ p["out"]

    def train(layers, x, y):
        def loss(layers):
            z = x
            for p in layers:
                z = mixed(p, z)
            return jnp.mean((z - y) ** 2)

        return _descended(loss, layers)

    batch = arr(over, (8, length, width), "data")
    return train, [layer, layer], batch, batch


def contrast():
    """Two towers, embeddings gathered from all devices, symmetric loss, momentum copies."""
    over = mesh(data=8)
    words, width, out = 1000, 64, 32
    tower = {
        "emb": arr(over, (words, width)),
        "w": arr(over, (width, 2 * width)),
        "v": arr(over, (2 * width, out)),
    }
    pixels = {
        "k": arr(over, (4, 4, 3, width)),
        "w": arr(over, (width, 2 * width)),
        "v": arr(over, (2 * width, out)),
    }

    def unit(x):
        return x * lax.rsqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-6)

    def text(p, ids):
        x = jnp.where(ids[..., None] > 0, p["emb"][ids], 0).sum(1)
        return unit(jax.nn.relu(x @ p["w"]) @ p["v"])

    def image(p, x):
        y = lax.conv_general_dilated(x, p["k"], (4, 4), "VALID", dimension_numbers=_IMAGES)
        return unit(jax.nn.relu(jax.nn.gelu(y).max((1, 2)) @ p["w"]) @ p["v"])

    @smap(over, (P("data"), P("data"), P()), P())
    def loss(a, b, scale):
        every_a, every_b = (lax.all_gather(x, "data", tiled=True) for x in (a, b))
        mine = lax.axis_index("data") * a.shape[0] + jnp.arange(a.shape[0])
        rows = jax.nn.log_softmax(a @ every_b.T * scale)
        columns = jax.nn.log_softmax(b @ every_a.T * scale)
        hits = jnp.take_along_axis(rows, mine[:, None], 1)
        hits += jnp.take_along_axis(columns, mine[:, None], 1)
        return lax.pmean(-hits.mean(), "data")

    def train(params, slow, ids, x):
        def total(p):
            return loss(text(p["text"], ids), image(p["image"], x), p["scale"])

        new, value = _descended(total, params)
        slow = jax.tree.map(lambda s, p: 0.99 * s + 0.01 * p, slow, new)
        again = text(slow["text"], ids) @ image(slow["image"], x).T
        return new, slow, value, jnp.argmax(again, -1)

    params = {"text": tower, "image": pixels, "scale": arr(over, ())}
    ids = arr(over, (64, 12), "data", dtype="int32")
    return train, params, params, ids, arr(over, (64, 16, 16, 3), "data")


def perceiver():
    """Latents read a long input twice over a mesh of two axes, weights shared."""
    over = mesh(x=2, y=4)
    width, heads, rows = 64, 4, 256
    size = width // heads
    attention = {
        "q": arr(over, (width, heads, size), "x", "y"),
        "k": arr(over, (width, heads, size), "x", "y"),
        "v": arr(over, (width, heads, size), "x", "y"),
        "o": arr(over, (heads, size, width), "y", None, "x"),
    }
    params = {
        "latents": arr(over, (32, width), None, "x"),
        "cross": attention,
        "own": attention,
        "mlp": (arr(over, (width, 256), "x", "y"), arr(over, (256, width), "y", "x")),
        "bins": arr(over, (32, width), None, "x"),
        "head": arr(over, (width, 48), "x", "y"),
    }

    def attended(p, x, y):
        q = jnp.einsum("blw,whs->bhls", x, p["q"]) / np.sqrt(size)
        k = jnp.einsum("bnw,whs->bhns", y, p["k"])
        v = jnp.einsum("bnw,whs->bhns", y, p["v"])
        share = jax.nn.softmax(jnp.einsum("bhls,bhns->bhln", q, k))
        return x + jnp.einsum("bhln,bhns,hsw->blw", share, v, p["o"])

    def net(p, x):
        x = x + jax.nn.one_hot(jnp.arange(rows) % 32, 32) @ p["bins"]
        z = jnp.broadcast_to(p["latents"], (x.shape[0], *p["latents"].shape))
        for _ in range(2):
            z = attended(p["cross"], rms(z, 1.0), x)
            z = attended(p["own"], rms(z, 1.0), rms(z, 1.0))
            z = z + jax.nn.gelu(rms(z, 1.0) @ p["mlp"][0]) @ p["mlp"][1]
        return z.mean(1) @ p["head"]

    def train(params, x, y):
        return _descended(lambda p: jnp.mean((net(p, x) - y) ** 2), params)

    return train, params, arr(over, (8, rows, width), "x"), arr(over, (8, 48), "x")


if __name__ == "__main__":
    compiled(globals())
