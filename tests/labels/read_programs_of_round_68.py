"""GRPO step (reinforcement learning of a language model on groups of samples): latent attention (compressed keys and values,
decoupled rotary part) with a sliding window in every second layer by lax.cond in the scan over layers, SwiGLU, remat; log
probabilities and entropy of the chosen words by a shard_map over the sharded vocabulary (pmax, psum, lax.map over pieces of
time); advantages of groups, clip higher, k3 divergence from an EMA reference, coefficient adapted; microbatches in a scan,
Lion with bf16 moments, step skipped by lax.cond where it is not finite, donated; H100 x 8, mesh data 2 x model 4."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84929347584
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x8")
over = Mesh(np.array(topo.devices).reshape(2, 4), ("data", "model"))
f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
A, B, G, T, D, H, L, V, F = 2, 8, 4, 128, 512, 8, 4, 4096, 1024
RQ, RK, DN, DR, DV, WIN, PIECE = 256, 128, 64, 32, 64, 48, 32


def arr(shape, *spec, dtype=f32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(over, P(*spec)))


params = dict(
    emb=arr((V, D), "model", None),
    head=arr((D, V), "data", "model"),
    lnf=arr((D,)),
    blocks=dict(
        n=arr((L, 2, D)),
        dq=arr((L, D, RQ), None, "data", None),
        uq=arr((L, RQ, H, DN + DR), None, "data", "model", None),
        dkv=arr((L, D, RK + DR), None, "data", None),
        ukv=arr((L, RK, H, DN + DV), None, "data", "model", None),
        o=arr((L, H, DV, D), None, "model", None, "data"),
        up=arr((L, D, 2, F), None, "data", None, "model"),
        down=arr((L, F, D), None, "model", "data"),
    ),
)


def put(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(over, P(*s)))


def rms(x, g):
    w = x.astype(f32)
    return (w * lax.rsqrt(jnp.mean(w * w, -1, keepdims=True) + 1e-6) * g).astype(bf)


def rope(x):
    t = jnp.arange(T, dtype=f32)[:, None] * 10000.0 ** (-jnp.arange(0, DR, 2, dtype=f32) / DR)
    shape = (1, T) + (1,) * (x.ndim - 3) + (DR // 2,)
    c, s = jnp.cos(t).reshape(shape), jnp.sin(t).reshape(shape)
    a, b = jnp.split(x.astype(f32), 2, -1)
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1).astype(bf)


def block(x, wi):
    w, i = wi
    y = rms(x, w["n"][0])
    q = jnp.einsum("btr,rhk->bthk", rms(y @ w["dq"].astype(bf), 1.0), w["uq"].astype(bf))
    q = put(q, "data", None, "model", None)
    c = y @ w["dkv"].astype(bf)
    kv = jnp.einsum("btr,rhk->bthk", rms(c[..., :RK], 1.0), w["ukv"].astype(bf))
    k, v = kv[..., :DN], kv[..., DN:]
    qr, kr = rope(q[..., DN:]), rope(c[..., RK:])
    s = jnp.einsum("bthk,bshk->bhts", q[..., :DN], k, preferred_element_type=f32)
    s = (s + jnp.einsum("bthk,bsk->bhts", qr, kr, preferred_element_type=f32)) / np.sqrt(DN + DR)
    at, to = jnp.arange(T)[:, None], jnp.arange(T)[None]
    s = lax.cond(
        i % 2 == 0,
        lambda s: jnp.where((to <= at) & (at - to < WIN), s, -1e9),
        lambda s: jnp.where(to <= at, 30.0 * jnp.tanh(s / 30.0), -1e9),
        s,
    )
    a = jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s, -1).astype(bf), v)
    x = x + put(jnp.einsum("bthk,hkd->btd", a, w["o"].astype(bf)), "data", None, None)
    u = jnp.einsum("btd,dcf->btcf", rms(x, w["n"][1]), w["up"].astype(bf))
    u = put(jax.nn.silu(u[:, :, 0]) * u[:, :, 1], "data", None, "model")
    return x + put(u @ w["down"].astype(bf), "data", None, None), None


def words(h, head, tok):
    """Log probability and entropy of the next words, the vocabulary over "model"."""

    def here(h, head, tok):
        low = lax.axis_index("model") * head.shape[1]

        @jax.checkpoint
        def piece(ht):
            h, tok = ht
            z = jnp.einsum("btd,dv->btv", h, head, preferred_element_type=f32)
            top = lax.pmax(lax.stop_gradient(z.max(-1)), "model")
            e = jnp.exp(z - top[..., None])
            total = lax.psum(e.sum(-1), "model")
            mean = lax.psum((e * z).sum(-1), "model") / total
            own = tok - low
            inside = (own >= 0) & (own < head.shape[1])
            mine = jnp.take_along_axis(z, jnp.clip(own, 0, head.shape[1] - 1)[..., None], -1)[
                ..., 0
            ]
            chosen = lax.psum(jnp.where(inside, mine, 0.0), "model")
            norm = top + jnp.log(total)
            return chosen - norm, norm - mean

        def cut(x):
            return jnp.moveaxis(x.reshape(x.shape[0], T // PIECE, PIECE, *x.shape[2:]), 1, 0)

        logp, ent = lax.map(piece, (cut(h), cut(tok)))
        join = lambda x: jnp.moveaxis(x, 0, 1).reshape(-1, T)
        return join(logp), join(ent)

    return jax.shard_map(
        here,
        mesh=over,
        in_specs=(P("data"), P(None, "model"), P("data")),
        out_specs=(P("data"), P("data")),
    )(h, head, tok)


def score(p, tok):
    x = put(p["emb"].astype(bf)[tok], "data", None, None)
    x, _ = lax.scan(jax.checkpoint(block), x, (p["blocks"], jnp.arange(L)))
    return words(rms(x, p["lnf"]), p["head"].astype(bf), jnp.roll(tok, -1, 1))


def loss(p, ref, kl, tok, mask, old, adv):
    logp, ent = score(p, tok)
    base = lax.stop_gradient(score(ref, tok)[0])
    ratio = jnp.exp(jnp.clip(logp - old, -20.0, 20.0))
    gain = jnp.minimum(ratio * adv[:, None], jnp.clip(ratio, 0.8, 1.28) * adv[:, None])
    d = base - logp
    k3 = jnp.exp(d) - d - 1.0
    each = -gain + kl * k3 - 1e-3 * ent
    total = jnp.sum(each * mask)
    return total, dict(
        n=mask.sum(),
        loss=total,
        k3=jnp.sum(k3 * mask),
        ent=jnp.sum(ent * mask),
        clipped=jnp.sum(((ratio > 1.28) | (ratio < 0.8)) * mask),
    )


def grpo_train_step(st, tok, lens, prompt, old, reward):
    r = reward.reshape(A, B // G, G)
    adv = ((r - r.mean(-1, keepdims=True)) / (r.std(-1, keepdims=True) + 1e-4)).reshape(A, B)
    at = jnp.arange(T)
    mask = ((at >= prompt[..., None] - 1) & (at < lens[..., None] - 1)).astype(f32)
    zero = jax.tree.map(jnp.zeros_like, st["p"])
    aux0 = dict.fromkeys(("n", "loss", "k3", "ent", "clipped"), jnp.zeros((), f32))

    def micro(c, xs):
        g, aux = jax.grad(loss, has_aux=True)(st["p"], st["ref"], st["kl"], *xs)
        return (jax.tree.map(jnp.add, c[0], g), jax.tree.map(jnp.add, c[1], aux)), None

    (g, aux), _ = lax.scan(micro, (zero, aux0), (tok, mask, old, adv))
    n = jnp.maximum(aux["n"], 1.0)
    g = jax.tree.map(lambda a: a / n, g)
    norm = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
    t = st["k"] + 1

    def move(st):
        scale = jnp.minimum(1.0, 1.0 / (norm + 1e-6))

        def upd(p, g, m, ref):
            g, m = g * scale, m.astype(f32)
            u = jnp.sign(0.9 * m + 0.1 * g)
            q = p - 1e-6 * (u + (0.1 * p if p.ndim > 1 else 0.0))
            return q, (0.99 * m + 0.01 * g).astype(bf), ref + 0.02 * (q - ref)

        out = jax.tree.map(upd, st["p"], g, st["m"], st["ref"])
        pick = lambda i: jax.tree.map(lambda _, o: o[i], st["p"], out)
        kl = st["kl"] * jnp.clip(1.0 + 0.1 * (aux["k3"] / n / 0.05 - 1.0), 0.8, 1.2)
        return dict(p=pick(0), m=pick(1), ref=pick(2), kl=kl, k=t)

    st = lax.cond(jnp.isfinite(norm), move, lambda s: s | dict(kl=s["kl"] * 1.0), st)
    return st, {k: v / n for k, v in aux.items()} | dict(norm=norm)


half = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, bf, sharding=a.sharding), params)
st = dict(p=params, ref=params, m=half, kl=arr(()), k=arr((), dtype=i32))
rows = lambda *s, dtype=f32: arr((A, B, *s), None, "data", dtype=dtype)
c = (
    jax.jit(grpo_train_step, donate_argnums=0)
    .lower(st, rows(T, dtype=i32), rows(dtype=i32), rows(dtype=i32), rows(T), rows())
    .compile()
)
print("compiled", c.memory_analysis())
