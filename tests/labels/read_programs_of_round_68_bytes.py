"""Bytes in patches by a global model and a local one (MegaByte): global blocks learn at test time (TTT: the state is the
weights of an inner linear model with layer norm, moved by its own slope chunk after chunk in a scan, slopes of the outer
loss through it), remat; the local decoder by causal attention in each patch; inputs with spans
masked out (Bernoulli by fold_in, rbg), losses by shard_map (psum over both axes, vocabulary whole), byte classes counted by
one-hot products; schedule-free SGD in which the middle point is rebuilt, Polyak averages, warm-up, donated; TPU v5p, 2x2x2,
mesh data 4 x model 2, ahead of time."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

d = np.array(
    topologies.get_topology_desc(
        platform="tpu", topology_name="v5p:2x2x2", chip_config_name="megacore"
    ).devices
)
over = Mesh(d.reshape(4, 2), ("data", "model"))
f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
B, N, PT, V, E, D, H, K, C, F, L, DL, HL, LL = (
    8,
    128,
    8,
    272,
    64,
    512,
    4,
    128,
    16,
    1024,
    3,
    256,
    4,
    2,
)


def arr(shape, *spec, dtype=f32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(over, P(*spec)))


params = dict(
    emb=arr((V, E)),
    inp=arr((PT * E, D), "data", "model"),
    glob=dict(
        n=arr((L, 2, D)),
        qkv=arr((L, D, 3, H, K), None, "data", None, "model", None),
        rate=arr((L, D, H), None, None, "model"),
        w0=arr((L, H, K, K), None, "model"),
        gb=arr((L, 2, H, K), None, None, "model"),
        o=arr((L, H, K, D), None, "model", None, "data"),
        up=arr((L, D, F), None, "data", "model"),
        down=arr((L, F, D), None, "model", "data"),
    ),
    out=arr((D, PT, DL), "model", None, "data"),
    loc=dict(
        n=arr((LL, DL)),
        qkv=arr((LL, DL, 3, HL, DL // HL), None, "data", None, "model", None),
        o=arr((LL, HL, DL // HL, DL), None, "model", None, "data"),
    ),
    nf=arr((DL,)),
    head=arr((DL, V), "data", None),
)


def put(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(over, P(*s)))


def rms(x, g):
    w = x.astype(f32)
    return (w * lax.rsqrt(jnp.mean(w * w, -1, keepdims=True) + 1e-6) * g).astype(bf)


def inner(w, k, v, gb):
    """Slope of |LN(kW) - (v - k)|^2 for one chunk, by hand over [B, C, H, K]."""
    z = jnp.einsum("bchk,bhkj->bchj", k, w)
    mu = z.mean(-1, keepdims=True)
    r = lax.rsqrt(jnp.var(z, -1, keepdims=True) + 1e-6)
    hat = (z - mu) * r
    dy = (gb[0] * hat + gb[1] - (v - k)) * gb[0]
    return (dy - dy.mean(-1, keepdims=True) - hat * (dy * hat).mean(-1, keepdims=True)) * r


def ttt(y, w):
    q, k, v = jnp.moveaxis(jnp.einsum("bnd,dchk->bnchk", y, w["qkv"].astype(bf)), 2, 0)
    q, k, v = (put(a, "data", None, "model", None).astype(f32) for a in (q, k, v))
    q, k = (a * lax.rsqrt(jnp.sum(a * a, -1, keepdims=True) + 1e-6) for a in (q, k))
    eta = jax.nn.sigmoid(jnp.einsum("bnd,dh->bnh", y.astype(f32), w["rate"])) / C
    cut = lambda a: jnp.moveaxis(a.reshape(B, N // C, C, *a.shape[2:]), 1, 0)

    @jax.checkpoint
    def chunk(s, x):
        q, k, v, eta = x
        g = inner(s, k, v, w["gb"]) * eta[..., None]
        low = jnp.tril(jnp.einsum("bihk,bjhk->bhij", q, k))
        z = jnp.einsum("bihk,bhkj->bihj", q, s) - jnp.einsum("bhij,bjhk->bihk", low, g)
        s = s - jnp.einsum("bchk,bchj->bhkj", k, g)
        mu = z.mean(-1, keepdims=True)
        hat = (z - mu) * lax.rsqrt(jnp.var(z, -1, keepdims=True) + 1e-6)
        return s, q + w["gb"][0] * hat + w["gb"][1]

    state = put(jnp.broadcast_to(w["w0"], (B, H, K, K)), "data", "model")
    _, z = lax.scan(chunk, state, (cut(q), cut(k), cut(v), cut(eta)))
    z = jnp.moveaxis(z, 0, 1).reshape(B, N, H, K)
    return jnp.einsum("bnhk,hkd->bnd", z.astype(bf), w["o"].astype(bf))


def wide(x, w):
    x = x + put(ttt(rms(x, w["n"][0]), w), "data", None, None)
    u = jnp.square(jax.nn.relu(rms(x, w["n"][1]) @ w["up"].astype(bf)))
    return x + put(u @ w["down"].astype(bf), "data", None, None), None


def near(x, w):
    """Attention in patches, [B, N, PT, DL]."""
    y = rms(x, w["n"])
    q, k, v = jnp.moveaxis(jnp.einsum("bnpd,dchk->bnpchk", y, w["qkv"].astype(bf)), 3, 0)
    s = jnp.einsum("bnphk,bnqhk->bnhpq", q, k, preferred_element_type=f32) / np.sqrt(DL // HL)
    s = jnp.where(jnp.tril(jnp.ones((PT, PT), bool)), s, -1e9)
    a = jnp.einsum("bnhpq,bnqhk->bnphk", jax.nn.softmax(s, -1).astype(bf), v)
    x = x + put(jnp.einsum("bnphk,hkd->bnpd", a, w["o"].astype(bf)), "data", None, None, None)
    return x, None


def forward(p, tok, drop):
    seen = jnp.where(drop, 256, tok)
    e = p["emb"].astype(bf)[seen].reshape(B, N, PT * E)
    x = put(e @ p["inp"].astype(bf), "data", None, None)
    x = jnp.pad(x[:, :-1], ((0, 0), (1, 0), (0, 0)))
    x, _ = lax.scan(jax.checkpoint(wide), x, p["glob"])
    h = jnp.einsum("bnd,dpe->bnpe", x, p["out"].astype(bf))
    prev = jnp.pad(seen.reshape(B, N, PT)[..., :-1], ((0, 0), (0, 0), (1, 0)), constant_values=257)
    h = put(h + jnp.tile(p["emb"].astype(bf)[prev], DL // E), "data", None, None, None)
    h, _ = lax.scan(jax.checkpoint(near), h, p["loc"])
    return rms(h, p["nf"]).reshape(B, N * PT, DL)


def judged(h, head, tok, drop):
    """Sums over all rows of the loss, its weight, hits and per-class counts, on the shards of rows and of time."""

    def here(h, head, tok, drop):
        z = jnp.einsum("btd,dv->btv", h, head, preferred_element_type=f32)
        norm = jax.nn.logsumexp(z, -1)
        own = jnp.take_along_axis(z, tok[..., None], -1)[..., 0]
        weight = jnp.where(drop, 0.5, 1.0)
        hit = (z.argmax(-1) == tok).astype(f32)
        kind = jax.nn.one_hot(tok // 32, 9, dtype=f32)
        by = jnp.einsum("btk,btc->kc", kind, jnp.stack([hit, jnp.ones_like(hit)], -1))
        sums = (jnp.sum(weight * (norm - own)), weight.sum(), lax.stop_gradient(by))
        return lax.psum(sums, ("data", "model"))

    return jax.shard_map(
        here,
        mesh=over,
        in_specs=(P("data", "model"), P(), P("data", "model"), P("data", "model")),
        out_specs=(P(), P(), P()),
    )(h, head, tok, drop)


def loss(p, tok, drop):
    total, n, by = judged(forward(p, tok, drop), p["head"].astype(bf), tok, drop)
    return total / n, by


def ttt_byte_train_step(st, tok, seed):
    k = st["k"] + 1
    t = k.astype(f32)
    key = jax.random.fold_in(jax.random.wrap_key_data(seed, impl="rbg"), k)
    start = jax.random.bernoulli(key, 0.03, (B, N * PT))
    drop = lax.reduce_window(start, False, lax.bitwise_or, (1, 6), (1, 1), ((0, 0), (5, 0)))
    lr = 2e-3 * jnp.minimum(1.0, t / 500.0)
    beta = 0.9
    y = jax.tree.map(lambda z, x: (1 - beta) * z + beta * x, st["z"], st["x"])
    (value, by), g = jax.value_and_grad(loss, has_aux=True)(y, tok, drop)
    norm = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
    scale = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
    total = st["w"] + lr * lr
    c = lr * lr / total

    def upd(x, z, g):
        z = z - lr * (g * scale)
        return (1 - c) * x + c * z, z

    out = jax.tree.map(upd, st["x"], st["z"], g)
    pick = lambda i: jax.tree.map(lambda _, o: o[i], st["x"], out)
    stats = dict(loss=value, norm=norm, lr=lr, by=by[:, 0] / jnp.maximum(by[:, 1], 1.0))
    return dict(x=pick(0), z=pick(1), w=total, k=k), stats


st = dict(x=params, z=params, w=arr(()), k=arr((), dtype=i32))
c = (
    jax.jit(ttt_byte_train_step, donate_argnums=0)
    .lower(st, arr((B, N * PT), "data", dtype=i32), arr((4,), dtype=jnp.uint32))
    .compile()
)
print("compiled", c.memory_analysis())
