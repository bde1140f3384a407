"""A training step and a test of a masked language model: layers of two windows, dropout, words packed, sharded weights.

For eight CPU devices: mesh fsdp 4 x model 2. Encoder blocks of GeGLU in a scan with remat, every third one global and the
others local, packed sentences kept apart, rotary, dropout by keys of layers; the loss at a fixed number of masked places
that are gathered, a second loss for the order of sentences; AdamW with a linear rate; the test counts ranks of words.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
)
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("fsdp", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# rows, words, layers, width, heads, size of a head, hidden, vocabulary, masked places of a row
B, T, L, D, H, HD, F, V, M = 32, 256, 6, 512, 8, 64, 1536, 8192, 40


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params = dict(
    words=S((V, D), f32, "model", "fsdp"),
    start=S((D,), f32),
    qkv=S((L, D, 3, H, HD), f32, None, "fsdp", None, "model"),
    out=S((L, H, HD, D), f32, None, "model", None, "fsdp"),
    up=S((L, D, 2, F), f32, None, "fsdp", None, "model"),
    down=S((L, F, D), f32, None, "model", "fsdp"),
    norms=S((L, 2, D), f32),
    last=S((D,), f32),
    dense=S((D, D), f32, "fsdp", "model"),
    bias=S((V,), f32, "model"),
    order=S((D, 2), f32, "fsdp"),
)
state = dict(params=params, m=params, v=params, step=S((), i32), key=S((2,), jnp.uint32))
batch = dict(
    words=S((B, T), i32, "fsdp"),
    part=S((B, T), i32, "fsdp"),
    places=S((B, M), i32, "fsdp"),
    wanted=S((B, M), i32, "fsdp"),
    order=S((B,), i32, "fsdp"),
)


def norm(x, scale):
    y = x.astype(f32)
    y = y - y.mean(-1, keepdims=True)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5) * scale).astype(x.dtype)


def rotate(x, base):
    speed = base ** (-jnp.arange(0, HD, 2, dtype=f32) / HD)
    angle = jnp.arange(T, dtype=f32)[:, None] * speed
    c, s = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    a, b = x[..., ::2].astype(f32), x[..., 1::2].astype(f32)
    return jnp.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape).astype(x.dtype)


def drop(x, key, rate=0.1):
    kept = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(kept, x / (1 - rate), 0).astype(x.dtype)


def encode(p, batch, key=None):
    x = p["words"].astype(bf)[batch["words"]]
    x = con(norm(x, p["start"]), "fsdp", None, None)
    same = batch["part"][:, :, None] == batch["part"][:, None, :]
    near = jnp.abs(jnp.arange(T)[:, None] - jnp.arange(T)) <= 32
    keys = None if key is None else jax.random.split(key, L)

    def block(x, layer):
        w, number, k = layer
        is_global = number % 3 == 0
        q, k_, v = jnp.moveaxis(
            jnp.einsum("btd,dchk->btchk", norm(x, w["norms"][0]), w["qkv"].astype(bf)), 2, 0
        )
        base = jnp.where(is_global, 160000.0, 10000.0)
        q, k_ = rotate(q, base), rotate(k_, base)
        s = jnp.einsum("bthk,bshk->bhts", q, k_).astype(f32) * HD**-0.5
        s = jnp.where((same & (near | is_global))[:, None], s, -1e9)
        a = jax.nn.softmax(s, -1).astype(bf)
        if k is not None:
            first, second = jax.random.split(k)
            a = drop(a, first)
        o = jnp.einsum("bhts,bshk->bthk", a, v)
        x = con(x + jnp.einsum("bthk,hkd->btd", o, w["out"].astype(bf)), "fsdp", None, None)
        g = jnp.einsum("btd,dcf->btcf", norm(x, w["norms"][1]), w["up"].astype(bf))
        y = jnp.einsum("btf,fd->btd", jax.nn.gelu(g[:, :, 0]) * g[:, :, 1], w["down"].astype(bf))
        if k is not None:
            y = drop(y, second)
        return con(x + y, "fsdp", None, None), None

    layers = {n: p[n] for n in ("qkv", "out", "up", "down", "norms")}
    x, _ = lax.scan(jax.checkpoint(block), x, (layers, jnp.arange(L), keys))
    return norm(x, p["last"])


def scores(p, x, batch):
    at = jnp.take_along_axis(x, batch["places"][..., None], axis=1)
    y = jax.nn.gelu(jnp.einsum("bmd,de->bme", at, p["dense"].astype(bf)))
    s = jnp.einsum("bme,ve->bmv", y, p["words"].astype(bf)).astype(f32) + p["bias"]
    return con(s, "fsdp", None, "model"), jnp.einsum("bd,dc->bc", x[:, 0].astype(f32), p["order"])


def loss(p, batch, key):
    s, order = scores(p, encode(p, batch, key), batch)
    there = (batch["wanted"] >= 0).astype(f32)
    logp = jax.nn.log_softmax(s)
    picked = jnp.take_along_axis(logp, jnp.maximum(batch["wanted"], 0)[..., None], -1)[..., 0]
    words = -jnp.sum(picked * there) / jnp.maximum(there.sum(), 1)
    pairs = -jnp.mean(jnp.sum(jax.nn.log_softmax(order) * jax.nn.one_hot(batch["order"], 2), -1))
    return words + pairs, (words, pairs)


def masked_step(state, batch):
    key, now = jax.random.split(state["key"])
    (_, parts), grads = jax.value_and_grad(loss, has_aux=True)(state["params"], batch, now)
    step = state["step"] + 1
    t = step.astype(f32)
    rate = 5e-4 * jnp.minimum(t / 1000, jnp.maximum(0.0, (50000 - t) / 49000))
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.98 * v + 0.02 * g * g, state["v"], grads)

    def update(p, m, v):
        u = (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.98**t)) + 1e-6)
        return p - rate * (u + (0.01 * p if p.ndim > 1 else 0.0))

    p = jax.tree.map(update, state["params"], m, v)
    return dict(params=p, m=m, v=v, step=step, key=key), parts


def masked_test(p, batch):
    s, order = scores(p, encode(p, batch), batch)
    there = batch["wanted"] >= 0
    own = jnp.take_along_axis(s, jnp.maximum(batch["wanted"], 0)[..., None], -1)
    rank = jnp.sum(s > own, -1)
    hits = jnp.stack([jnp.sum((rank < k) & there) for k in (1, 5, 10)])
    best, which = lax.top_k(s, 5)
    return hits, jnp.sum(there), jnp.mean(order.argmax(-1) == batch["order"]), best, which


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        print(len(jax.jit(masked_step, donate_argnums=0).lower(state, batch).compile().as_text()))
        print(len(jax.jit(masked_test).lower(params, batch).compile().as_text()))
