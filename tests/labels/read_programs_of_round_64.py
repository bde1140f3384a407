"""Text-to-speech (text encoder, cross-attending audio-token decoder, duration head), H100 x8, mesh 4x2 (fs, tp)."""

import os, re

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
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("fs", "tp"))
bf, f32 = jnp.bfloat16, jnp.float32


def S(shape, dt=f32, *s):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*s)))


def con(x, *s):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


D, H, KV, K, F, V, VT, NQ = 256, 8, 2, 32, 512, 1024, 128, 4
B, TT, TA, LE, LD, VC = 8, 48, 96, 2, 4, 256


def att(L, g=1):
    return dict(
        q=S((L, D, H, K), f32, None, "fs", "tp"),
        k=S((L, D, KV, K), f32, None, "fs", "tp"),
        v=S((L, D, KV, K), f32, None, "fs", "tp"),
        o=S((L, H, K, D), f32, None, "tp", None, "fs"),
        n=S((L, D)),
    )


def ffn(L):
    return dict(
        w=S((L, D, 2, F), f32, None, "fs", None, "tp"),
        o=S((L, F, D), f32, None, "tp", "fs"),
        n=S((L, D)),
    )


params = dict(
    text=S((VT, D), f32, "tp", "fs"),
    codes=S((NQ, V, D), f32, None, "tp", "fs"),
    enc=dict(a=att(LE), f=ffn(LE)),
    dec=dict(a=att(LD), x=att(LD), gate=S((LD,)), f=ffn(LD)),
    dur=dict(k=S((3, D, D), f32, None, "fs", "tp"), o=S((D,), f32, "tp")),
    head=S((NQ, D, V), f32, None, "fs", "tp"),
    n=S((D,)),
)


def rms(x, g):
    y = x.astype(f32)
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * (1 + g)).astype(bf)


def rope(x, pos):
    fr = 1e4 ** (-jnp.arange(0, K, 2) / K)
    a = pos[..., None].astype(f32) * fr
    c, s = jnp.cos(a)[:, :, None], jnp.sin(a)[:, :, None]
    x1, x2 = jnp.split(x.astype(f32), 2, -1)
    return jnp.concatenate([x1 * c - x2 * s, x2 * c + x1 * s], -1).astype(bf)


def attend(x, m, p, qpos, kpos, mask):
    h = rms(x, p["n"])
    m = h if m is None else m
    q = rope(jnp.einsum("btd,dhk->bthk", h, p["q"].astype(bf)), qpos)
    k = rope(jnp.einsum("bsd,dgk->bsgk", m, p["k"].astype(bf)), kpos)
    v = jnp.einsum("bsd,dgk->bsgk", m, p["v"].astype(bf))
    b, t = q.shape[:2]
    q = con(q.reshape(b, t, KV, H // KV, K), "fs", None, "tp")
    k = con(k, "fs", None, "tp")
    s = jnp.einsum("btgrk,bsgk->bgrts", q, k).astype(f32) * K**-0.5
    s = 30.0 * jnp.tanh(s / 30.0)
    w = jax.nn.softmax(jnp.where(mask[:, None, None], s, -1e9), -1).astype(bf)
    return jnp.einsum(
        "bthk,hkd->btd",
        jnp.einsum("bgrts,bsgk->btgrk", w, v).reshape(b, t, H, K),
        p["o"].astype(bf),
    )


def mlp(x, p):
    u = jnp.einsum("btd,dcf->btcf", rms(x, p["n"]), p["w"].astype(bf))
    return (jax.nn.silu(u[:, :, 0]) * u[:, :, 1]) @ p["o"].astype(bf)


def drop(x, key, r=0.1):
    return jnp.where(jax.random.bernoulli(key, 1 - r, x.shape), x / bf(1 - r), bf(0))


def model(p, tx, au, tlen, alen, key):
    tp_ = jnp.broadcast_to(jnp.arange(TT), tx.shape)
    ap = jnp.broadcast_to(jnp.arange(TA), au.shape[:2])
    tm = tp_ < tlen[:, None]
    am = ap < alen[:, None]

    def el(x, l):
        p, i = l
        x = x + attend(x, None, p["a"], tp_, tp_, tm[:, None, :] & tm[:, :, None])
        return con(x + drop(mlp(x, p["f"]), jax.random.fold_in(key, i)), "fs", None, None), None

    e = con(p["text"][tx].astype(bf), "fs", None, None)
    e, _ = jax.lax.scan(
        jax.checkpoint(el, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable),
        e,
        (p["enc"], jnp.arange(LE)),
    )
    d = jax.nn.relu(
        jax.lax.conv_general_dilated(
            e, p["dur"]["k"].astype(bf), (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")
        )
    ) @ p["dur"]["o"].astype(bf)
    prev = jnp.pad(au[:, :-1], ((0, 0), (1, 0), (0, 0)))
    x = con(sum(p["codes"][i][prev[:, :, i]] for i in range(NQ)).astype(bf), "fs", None, None)
    causal = (ap[:, :, None] >= ap[:, None, :]) & am[:, None, :]
    cross = jnp.broadcast_to(tm[:, None, :], (tx.shape[0], TA, TT))
    xpos = (
        ap.astype(f32) * (tlen / jnp.maximum(alen, 1))[:, None]
    )  # audio clock mapped onto text clock

    def dl(c, l):
        x, m = c
        p, i = l
        ks = jax.random.split(jax.random.fold_in(key, 100 + i))
        x = x + drop(attend(x, None, p["a"], ap, ap, causal), ks[0])
        y = attend(x, e, p["x"], xpos, tp_, cross)
        x = x + jnp.tanh(p["gate"]).astype(bf) * y
        x = con(x + drop(mlp(x, p["f"]), ks[1]), "fs", None, None)
        return (x, jnp.maximum(m, jnp.max(jnp.abs(x).astype(f32)))), jnp.mean(
            jnp.square(y.astype(f32))
        )

    (x, mx), cn = jax.lax.scan(jax.checkpoint(dl), (x, f32(0)), (p["dec"], jnp.arange(LD)))
    return rms(x, p["n"]), d.astype(f32), am, tm, mx, cn


def chunked_ce(h, w, y, ls=0.1):  # one codebook: scan over vocabulary chunks
    wc = jnp.moveaxis(w.reshape(D, V // VC, VC), 1, 0)

    def step(c, z):
        m, s, t, a = c
        wi, i = z
        lg = (h @ con(wi, None, "tp").astype(bf)).astype(f32)
        m2 = jnp.maximum(m, jax.lax.stop_gradient(lg.max(-1)))
        s = s * jnp.exp(m - m2) + jnp.exp(lg - m2[..., None]).sum(-1)
        r = y - i * VC
        hit = (r >= 0) & (r < VC)
        t = t + jnp.where(
            hit, jnp.take_along_axis(lg, jnp.clip(r, 0, VC - 1)[..., None], -1)[..., 0], 0.0
        )
        return (m2, s, t, a + lg.sum(-1)), None

    z = jnp.zeros(y.shape)
    (m, s, t, a), _ = jax.lax.scan(
        jax.checkpoint(step), (z - 1e9, z, z, z), (wc, jnp.arange(V // VC))
    )
    lz = m + jnp.log(s)
    return lz - (1 - ls) * t - ls * a / V + 1e-4 * lz * lz


def loss_fn(p, b, key):
    h, d, am, tm, mx, cn = model(p, b["text"], b["audio"], b["tlen"], b["alen"], key)
    per = jnp.stack(
        [jnp.sum(chunked_ce(h, p["head"][i], b["audio"][:, :, i]) * am) for i in range(NQ)]
    )
    n = jnp.maximum(am.sum(), 1)
    ld = jnp.sum(jnp.abs(d - jnp.log1p(b["dur"].astype(f32))) * tm) / jnp.maximum(tm.sum(), 1)
    wq = jnp.array([1.0, 0.5, 0.25, 0.25])
    return jnp.sum(per * wq) / n + 0.1 * ld, dict(per=per / n, dur=ld, mx=mx, cross=cn)


def tts_train_step(st, b):
    t = st["t"] + 1
    (l, aux), g = jax.value_and_grad(loss_fn, has_aux=True)(
        st["p"], b, jax.random.fold_in(st["rng"], t)
    )
    gn = jnp.sqrt(sum(jnp.sum(jnp.square(x)) for x in jax.tree.leaves(g)))
    sc = jnp.minimum(1.0, 1.0 / (gn + 1e-6))
    ok = jnp.isfinite(gn)
    tf = t.astype(f32)
    lr = 3e-4 * jnp.where(
        tf < 1000, tf / 1000, 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(1.0, tf / 1e5)))
    )

    def up(p, g, m, v):
        g = g * sc
        m2 = 0.9 * m + 0.1 * g
        v2 = 0.98 * v + 0.02 * g * g
        u = m2 / (1 - 0.9**tf) / (jnp.sqrt(v2 / (1 - 0.98**tf)) + 1e-8) + (
            0.01 * p if p.ndim > 2 else 0.0
        )
        return jnp.where(ok, p - lr * u, p), jnp.where(ok, m2, m), jnp.where(ok, v2, v)

    o = jax.tree.map(up, st["p"], g, st["m"], st["v"])
    pick = lambda i: jax.tree.map(lambda q: q[i], o, is_leaf=lambda q: isinstance(q, tuple))
    return dict(p=pick(0), m=pick(1), v=pick(2), t=t, rng=st["rng"]), dict(
        loss=l, gn=gn, lr=lr, **aux
    )


st = dict(p=params, m=params, v=params, t=S((), jnp.int32), rng=S((2,), jnp.uint32))
batch = dict(
    text=S((B, TT), jnp.int32, "fs"),
    audio=S((B, TA, NQ), jnp.int32, "fs"),
    dur=S((B, TT), jnp.int32, "fs"),
    tlen=S((B,), jnp.int32, "fs"),
    alen=S((B,), jnp.int32, "fs"),
)
c = jax.jit(tts_train_step, donate_argnums=(0,)).lower(st, batch).compile()
print("compiled", len(c.as_text() or ""))
