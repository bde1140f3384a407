"""Conformer-CTC train step, H100 x8, mesh 4x2, ahead of time."""

import os, re, sys

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
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x8")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("dp", "mp"))
bf, f32 = jnp.bfloat16, jnp.float32


def S(shape, dt=f32, *s):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*s)))


B, T, F, D, H, L, V, U, K = 16, 256, 80, 256, 4, 3, 256, 24, 9
D3 = 2 * D


def lay(*shape, spec=()):
    return S((L,) + shape, f32, None, *spec)


params = dict(
    c1=S((3, 3, 1, 32)),
    c2=S((3, 3, 32, 32), f32, None, None, None, "mp"),
    proj=S((F // 4 * 32, D), f32, None, "mp"),
    blk=dict(
        n1=lay(D),
        n2=lay(D),
        n3=lay(D),
        n4=lay(D),
        f1=lay(D, D3, spec=(None, "mp")),
        f2=lay(D3, D, spec=("mp",)),
        qkv=lay(D, 3, H, D // H, spec=(None, None, "mp")),
        o=lay(H, D // H, D, spec=("mp",)),
        pw1=lay(D, 2, D, spec=(None, None, "mp")),
        dw=lay(K, 1, D, spec=(None, None, "mp")),
        pw2=lay(D, D, spec=("mp",)),
        g1=lay(D, D3, spec=(None, "mp")),
        g2=lay(D3, D, spec=("mp",)),
    ),
    out=S((D, V), f32, None, "mp"),
    ob=S((V,), f32, "mp"),
)


def norm(x, g):
    y = x.astype(f32)
    y = y - y.mean(-1, keepdims=True)
    return (y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5) * g).astype(bf)


def con(x, *s):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def ffn(x, a, b):
    return jax.nn.silu(x @ a) @ b


def block(x, p, mask):
    w = {k: v if k[0] == "n" else v.astype(bf) for k, v in p.items()}
    x = x + bf(0.5) * ffn(norm(x, w["n1"]), w["f1"], w["f2"])
    q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", norm(x, w["n2"]), w["qkv"]), 2, 0)
    s = jnp.einsum("bthk,bshk->bhts", q, k).astype(f32) * (D // H) ** -0.5
    rel = jnp.abs(jnp.arange(s.shape[-1])[:, None] - jnp.arange(s.shape[-1])[None])
    s = jnp.where(mask[:, None, None, :], s - rel * 0.01, -1e9)
    x = x + jnp.einsum("bhts,bshk,hkd->btd", jax.nn.softmax(s).astype(bf), v, w["o"])
    a = jnp.einsum("btd,dcf->btcf", norm(x, w["n3"]), w["pw1"])
    h = a[:, :, 0] * jax.nn.sigmoid(a[:, :, 1])
    h = jax.lax.conv_general_dilated(
        h, w["dw"], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=D
    )
    x = x + jax.nn.silu(h) @ w["pw2"]
    x = x + bf(0.5) * ffn(norm(x, w["n4"]), w["g1"], w["g2"])
    return con(x, "dp")


def encode(p, wav, n):
    h = wav.astype(bf)[..., None]
    for c in ("c1", "c2"):
        h = jax.nn.relu(
            jax.lax.conv_general_dilated(
                h, p[c].astype(bf), (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
        )
    h = h.reshape(h.shape[0], h.shape[1], -1) @ p["proj"].astype(bf)
    mask = jnp.arange(h.shape[1])[None] < (n // 4)[:, None]
    h, _ = jax.lax.scan(
        jax.checkpoint(lambda x, q: (block(x, q, mask), None)), con(h, "dp"), p["blk"]
    )
    return (h @ p["out"].astype(bf)).astype(f32) + p["ob"], n // 4


def ctc(logits, n, y, m):
    lp = jax.nn.log_softmax(logits)
    z = jnp.stack([jnp.zeros_like(y), y], -1).reshape(y.shape[0], -1)
    z = jnp.pad(z, ((0, 0), (0, 1)))
    e = jnp.take_along_axis(
        lp, jnp.broadcast_to(z[:, None], (z.shape[0], lp.shape[1], z.shape[1])), -1
    )
    skip = (z != 0) & (z != jnp.pad(z, ((0, 0), (2, 0)))[:, :-2])
    neg = -1e30
    a0 = jnp.full(z.shape, neg).at[:, :2].set(e[:, 0, :2])

    def sh(a, k):
        return jnp.pad(a, ((0, 0), (k, 0)), constant_values=neg)[:, :-k]

    def step(a, te):
        t, et = te
        b = jnp.logaddexp(jnp.logaddexp(a, sh(a, 1)), jnp.where(skip, sh(a, 2), neg)) + et
        return jnp.where((t < n)[:, None], b, a), None

    a, _ = jax.lax.scan(step, a0, (jnp.arange(1, e.shape[1]), jnp.swapaxes(e, 0, 1)[1:]))
    i = 2 * m
    last = jnp.take_along_axis(a, jnp.stack([i, i - 1], -1), -1)
    return -jnp.mean(jnp.logaddexp(last[:, 0], last[:, 1]) / m)


def conformer_ctc_step(st, batch):
    wav, n, y, m = batch
    k = jax.random.fold_in(st["rng"], st["t"])
    lo = jax.random.randint(k, (wav.shape[0], 1, 1), 0, F - 8)
    ar = jnp.arange(F)[None, None]
    wav = jnp.where((ar >= lo) & (ar < lo + 8), 0.0, wav)
    loss, g = jax.value_and_grad(lambda p: ctc(*encode(p, wav, n), y, m))(st["p"])
    gn = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
    g = jax.tree.map(lambda x: x * jnp.minimum(1.0, 5.0 / (gn + 1e-6)), g)
    ok = jnp.isfinite(gn)
    t = st["t"] + 1
    lr = 1e-3 * jnp.minimum(t / 1000.0, jax.lax.rsqrt(t / 1000.0))
    mu = jax.tree.map(lambda a, b: jnp.where(ok, 0.9 * a + 0.1 * b, a), st["mu"], g)
    nu = jax.tree.map(lambda a, b: jnp.where(ok, 0.98 * a + 0.02 * b * b, a), st["nu"], g)
    p = jax.tree.map(
        lambda p, a, b: p - lr * (a / (jnp.sqrt(b) + 1e-9) + 0.01 * p), st["p"], mu, nu
    )
    return dict(p=p, mu=mu, nu=nu, t=t, rng=st["rng"]), dict(loss=loss, gn=gn)


st = dict(p=params, mu=params, nu=params, t=S((), jnp.int32), rng=S((2,), jnp.uint32))
batch = (
    S((B, T, F), f32, "dp"),
    S((B,), jnp.int32, "dp"),
    S((B, U), jnp.int32, "dp"),
    S((B,), jnp.int32, "dp"),
)
c = jax.jit(conformer_ctc_step, donate_argnums=(0,)).lower(st, batch).compile()
print("compiled", len(c.as_text() or ""))
