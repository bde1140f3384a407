"""A training step of a decoder with latent attention, a second token head and the Muon optimizer.

Ahead of time for 2x4 H100: mesh fsdp 4 x tensor 2, scan over layers with remat, Newton-Schulz in a loop.
"""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np
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
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("fsdp", "tensor"))
bf, f32 = jnp.bfloat16, jnp.float32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


L, D, H, hd, rd, C, F, V, B, T = 12, 1024, 16, 64, 32, 256, 2816, 32000, 32, 1024
layers = dict(
    attn_norm=S((L, D), f32),
    mlp_norm=S((L, D), f32),
    kv_norm=S((L, C), f32),
    wq=S((L, D, H, hd + rd), f32, None, "fsdp", "tensor"),
    w_dkv=S((L, D, C + rd), f32, None, "fsdp"),
    w_uk=S((L, C, H, hd), f32, None, "fsdp", "tensor"),
    w_uv=S((L, C, H, hd), f32, None, "fsdp", "tensor"),
    wo=S((L, H, hd, D), f32, None, "tensor", None, "fsdp"),
    w1=S((L, D, 2, F), f32, None, "fsdp", None, "tensor"),
    w2=S((L, F, D), f32, None, "tensor", "fsdp"),
)
rest = dict(
    embed=S((V, D), f32, "tensor", "fsdp"),
    final_norm=S((D,), f32),
    mtp_norm=S((D,), f32),
    mtp_proj=S((2 * D, D), f32, "fsdp", "tensor"),
)
params = dict(layers=layers, rest=rest)
mom, nu = params, rest
tokens, step = S((B, T), jnp.int32, "fsdp"), S((), jnp.int32)
con = lambda x, *s: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def rms(x, g):
    x32 = x.astype(f32)
    return (x32 * jax.lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6) * g).astype(bf)


def rope(x):
    a = jnp.arange(T, dtype=f32)[:, None] * 10000.0 ** (-jnp.arange(rd // 2, dtype=f32) / (rd // 2))
    c, s = jnp.cos(a)[:, None].astype(bf), jnp.sin(a)[:, None].astype(bf)
    u, v = jnp.split(x, 2, -1)
    return jnp.concatenate([u * c - v * s, v * c + u * s], -1)


def block(x, w):
    w = {k: v if "norm" in k else v.astype(bf) for k, v in w.items()}
    with jax.named_scope("latent_attention"):
        h = rms(x, w["attn_norm"])
        q = jnp.einsum("btd,dhk->bthk", h, w["wq"])
        d = h @ w["w_dkv"]
        ckv, kr = rms(d[..., :C], w["kv_norm"]), rope(d[..., None, C:])
        k, v = (
            jnp.einsum("btc,chk->bthk", ckv, w["w_uk"]),
            jnp.einsum("btc,chk->bthk", ckv, w["w_uv"]),
        )
        s = jnp.einsum("bthk,bshk->bhts", q[..., :hd], k) + jnp.einsum(
            "bthk,bsk->bhts", rope(q[..., hd:]), kr[:, :, 0]
        )
        s = jnp.where(jnp.tril(jnp.ones((T, T), bool)), s.astype(f32) * (hd + rd) ** -0.5, -1e9)
        x = con(
            x + jnp.einsum("bhts,bshk,hkd->btd", jax.nn.softmax(s).astype(bf), v, w["wo"]), "fsdp"
        )
    with jax.named_scope("swiglu"):
        g = jnp.einsum("btd,dcf->btcf", rms(x, w["mlp_norm"]), w["w1"])
        x = con(x + (jax.nn.silu(g[:, :, 0]) * g[:, :, 1]) @ w["w2"], "fsdp")
    return x, jnp.mean(jnp.abs(x.astype(f32)))


def ce(h, emb, y):
    lg = (h @ emb.T).astype(f32)
    z = jax.nn.logsumexp(lg, -1)
    return jnp.mean(z - jnp.take_along_axis(lg, y[..., None], -1)[..., 0]) + 1e-4 * jnp.mean(z * z)


def loss_fn(p, t):
    e = p["rest"]["embed"].astype(bf)
    x = con(e[t], "fsdp")
    x, acts = jax.lax.scan(jax.checkpoint(block), x, p["layers"])
    h = rms(x, p["rest"]["final_norm"])
    with jax.named_scope("mtp"):
        m = jnp.concatenate([rms(x[:, :-2], p["rest"]["mtp_norm"]), e[t[:, 1:-1]]], -1) @ p["rest"][
            "mtp_proj"
        ].astype(bf)
        extra = ce(m, e, t[:, 2:])
    return ce(h[:, :-1], e, t[:, 1:]) + 0.3 * extra, acts


def orth(g):
    shape = g.shape
    m = g.reshape(shape[0], shape[1], -1).astype(bf)
    tall = m.shape[1] > m.shape[2]
    m = m.mT if tall else m
    m = m / (jnp.sqrt(jnp.sum(m.astype(f32) ** 2, (1, 2), keepdims=True)) + 1e-7).astype(bf)

    def it(_, m):
        a = jnp.einsum("lij,lkj->lik", m, m)
        return 3.4445 * m + jnp.einsum(
            "lij,ljk->lik", -4.775 * a + 2.0315 * jnp.einsum("lij,ljk->lik", a, a), m
        )

    m = jax.lax.fori_loop(0, 5, it, m)
    return (m.mT if tall else m).reshape(shape).astype(f32)


def muon_mla_step(p, mom, nu, step, t):
    (loss, acts), g = jax.value_and_grad(loss_fn, has_aux=True)(p, t)
    norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
    ok = jnp.isfinite(norm)

    def apply():
        gg = jax.tree.map(lambda x: x * jnp.minimum(1.0, 1.0 / norm), g)
        mm = jax.tree.map(lambda m, x: 0.95 * m + x, mom, gg)
        nn = jax.tree.map(lambda n, x: 0.99 * n + 0.01 * x * x, nu, gg["rest"])
        lr = 3e-4 * jnp.minimum(1.0, (step + 1) / 100.0)
        lay = {
            k: (w - lr * orth(0.95 * mm["layers"][k] + gg["layers"][k]))
            if w.ndim > 2
            else w - lr * mm["layers"][k]
            for k, w in p["layers"].items()
        }
        res = jax.tree.map(
            lambda w, m, n: w - lr * m / (jnp.sqrt(n) + 1e-8), p["rest"], mm["rest"], nn
        )
        return dict(layers=lay, rest=res), mm, nn

    p, mom, nu = jax.lax.cond(ok, apply, lambda: (p, mom, nu))
    return p, mom, nu, step + 1, dict(loss=loss, norm=norm, acts=acts)


c = (
    jax.jit(muon_mla_step, donate_argnums=(0, 1, 2, 3))
    .lower(params, mom, nu, step, tokens)
    .compile()
)
print(c.memory_analysis())
