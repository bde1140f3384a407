"""Temporal graph attention net (edge features, sorted edges, GRU over time), H100 x8, mesh 4x2 (fs, tp), ahead of time."""

import os, re

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np
from functools import partial
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
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt=f32, *s):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*s)))


def con(x, *s):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


M, N, E, T, F, FE, D, H, L, C = 4, 1024, 8192, 12, 32, 8, 128, 8, 3, 7
lin = lambda i, o: dict(w=S((i, o), f32, "fs" if i % 4 == 0 else None, "tp"), b=S((o,), f32, "tp"))
layer = lambda: dict(
    q=S((D, H, D // H), f32, "fs", "tp"),
    kv=S((D, 2, H, D // H), f32, "fs", None, "tp"),
    e=S((FE, H), f32, None, "tp"),
    et=S((FE, D), f32, None, "fs"),
    o=S((H, D // H, D), f32, "tp", None, "fs"),
    up=lin(D, 2 * D),
    dn=S((2 * D, D), f32, "tp", "fs"),
    ln=S((2, D)),
)
params = dict(
    gru=dict(
        wi=S((F, 3, D), f32, "fs", None, "tp"),
        wh=S((D, 3, D), f32, "fs", None, "tp"),
        b=S((3, D), f32, None, "tp"),
    ),
    lstm=dict(w=S((2 * D, 4 * D), f32, "fs", "tp"), b=S((4 * D,), f32, "tp")),
    layers=[layer() for _ in range(L)],
    type=S((16, D), f32, None, "tp"),
    ex=S((8, D, D), f32, ("fs", "tp")),
    gate=S((D, 8)),
    head=S((D, C), f32, "fs"),
    link=S((D, D), f32, "fs", "tp"),
)


def rms(x, g):
    x = x.astype(f32)
    return (x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * (1 + g)).astype(bf)


def drop(x, key, r=0.1):
    return jnp.where(
        jax.random.bernoulli(key, 1 - r, x.shape),
        x / jnp.asarray(1 - r, x.dtype),
        jnp.zeros((), x.dtype),
    )


def temporal(p, x, mask):  # x [T,N,F], ragged history
    xi = jnp.einsum("tnf,fgd->tngd", x.astype(bf), p["gru"]["wi"].astype(bf)) + p["gru"][
        "b"
    ].astype(bf)
    wh = p["gru"]["wh"].astype(bf)
    lw = p["lstm"]["w"].astype(bf)
    lb = p["lstm"]["b"]

    def cell(s, d):
        h, (c, y) = s
        a, m = d
        u = jnp.einsum("nd,dge->nge", h, wh)
        r = jax.nn.sigmoid(a[:, 0] + u[:, 0])
        z = jax.nn.sigmoid(a[:, 1] + u[:, 1])
        n = jnp.tanh(a[:, 2] + r * u[:, 2])
        h2 = jnp.where(m[:, None], (1 - z) * n + z * h, h)
        i, f, g, o = jnp.split((jnp.concatenate([h2, y], -1) @ lw).astype(f32) + lb, 4, -1)
        c2 = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        y2 = (jax.nn.sigmoid(o) * jnp.tanh(c2)).astype(bf)
        return (h2, (jnp.where(m[:, None], c2, c), jnp.where(m[:, None], y2, y))), jnp.abs(c2).max()

    z = con(jnp.zeros((x.shape[1], D), bf), "fs", "tp")
    (h, (c, y)), peak = jax.lax.scan(
        jax.checkpoint(cell), (z, (z.astype(f32), z)), (xi, mask), unroll=1
    )
    return h + y, peak


def gat(p, h, src, dst, ef, key):
    x = rms(h, p["ln"][0])
    k1, k2 = jax.random.split(key)
    q = jnp.einsum("nd,dhk->nhk", x, p["q"].astype(bf))
    kv = jnp.einsum("nd,dchk->cnhk", x, p["kv"].astype(bf))
    k, v = kv[0][src], kv[1][src]
    v = v * jax.nn.silu((ef @ p["et"]).astype(bf)).reshape(v.shape)
    s = (q[dst] * k).sum(-1).astype(f32) * (D // H) ** -0.5 + ef @ p["e"]
    s = jax.nn.leaky_relu(s, 0.2)
    mx = jax.ops.segment_max(s, dst, N, indices_are_sorted=True)
    mx = jnp.where(jnp.isfinite(mx), mx, 0.0)
    w = jnp.exp(s - jax.lax.stop_gradient(mx)[dst])
    den = jax.ops.segment_sum(w, dst, N, indices_are_sorted=True)
    w = drop(w / (den[dst] + 1e-9), k1)
    agg = jax.ops.segment_sum(v * w[..., None].astype(bf), dst, N, indices_are_sorted=True)
    h = h + jnp.einsum("nhk,hkd->nd", con(agg, "fs", "tp"), p["o"].astype(bf))
    y = jax.nn.gelu(rms(h, p["ln"][1]) @ p["up"]["w"].astype(bf) + p["up"]["b"].astype(bf))
    return con(h + drop(y @ p["dn"].astype(bf), k2), "fs", None), -jnp.sum(
        w * jnp.log(w + 1e-9)
    ) / N


@partial(
    jax.shard_map,
    mesh=mesh,
    in_specs=(P("fs", None), P(("fs", "tp")), P()),
    out_specs=P(("fs", "tp"), None),
)
def experts(
    h, ex, gate
):  # rows are split again over tp; tokens sent to the expert's device by blocks
    h = jax.lax.psum_scatter(
        jax.lax.pcast(h, "tp", to="varying") * bf(0.5), "tp", scatter_dimension=0, tiled=True
    )
    g = jax.nn.softmax((h.astype(f32) @ gate), -1)
    cap = h.shape[0] // 8
    tg, ti = jax.lax.top_k(g.T, cap)  # expert choice
    d = h[ti]  # [8,cap,D]
    d = jax.lax.all_to_all(d, ("fs", "tp"), 0, 0, tiled=True)
    d = jax.nn.silu(jnp.einsum("scd,de->sce", d, ex[0].astype(bf)))
    d = jax.lax.all_to_all(d, ("fs", "tp"), 0, 0, tiled=True) * tg[..., None].astype(bf)
    return h.at[ti.reshape(-1)].add(d.reshape(-1, D))


def loss_fn(p, d, key):
    x, mask, ty, src, dst, ef, lab, neg = d
    o = jnp.argsort(dst)
    src, dst, ef = src[o], dst[o], ef[o]  # edges in order of their receiver
    h, peak = temporal(p, x, mask)
    h = h + p["type"][ty].astype(bf)
    ent = 0.0
    for i, l in enumerate(p["layers"]):
        h, en = jax.checkpoint(gat, policy=jax.checkpoint_policies.nothing_saveable)(
            l, h, src, dst, ef, jax.random.fold_in(key, i)
        )
        ent += en
    h = experts(h, p["ex"], p["gate"])
    deg = jax.ops.segment_sum(jnp.ones(E), dst, N, indices_are_sorted=True)
    lg = h.astype(f32) @ p["head"]
    ce = jnp.sum(
        jnp.where(
            lab >= 0,
            jax.nn.logsumexp(lg, -1)
            - jnp.take_along_axis(lg, jnp.maximum(lab, 0)[:, None], -1)[:, 0],
            0,
        )
    ) / jnp.maximum(1, (lab >= 0).sum())
    z = h @ p["link"].astype(bf)
    sp = jnp.sum(z[src] * h[dst], -1).astype(f32)
    sn = jnp.sum(z[neg[:, 0]] * h[neg[:, 1]], -1).astype(f32)
    bce = jnp.mean(jax.nn.softplus(-sp)) + jnp.mean(jax.nn.softplus(sn))
    return ce + 0.3 * bce + 1e-3 * ent, (
        jnp.sum((jnp.argmax(lg, -1) == lab)),
        jnp.max(peak),
        jnp.percentile(deg, 95.0),
    )


def fac(s):
    return len(s.shape) >= 2 and s.shape[-1] > 1 and s.shape[-2] > 1


def sp(s):
    return (tuple(s.sharding.spec) + (None,) * 9)[: len(s.shape)]


def vr(s):
    return S(s.shape[:-1], f32, *sp(s)[:-1]) if fac(s) else s


def vc(s):
    return S(s.shape[:-2] + s.shape[-1:], f32, *sp(s)[:-2], sp(s)[-1]) if fac(s) else S((1,))


def gnn_train_step(st, batch):
    key = jax.random.fold_in(jax.random.wrap_key_data(st["rng"]), st["t"])

    def micro(c, d):
        g, l, a = c
        di, i = d
        (li, (ai, pk, dg)), gi = jax.value_and_grad(loss_fn, has_aux=True)(
            st["p"], di, jax.random.fold_in(key, i)
        )
        return (jax.tree.map(lambda a, b: a + b.astype(f32), g, gi), l + li, a + ai), (li, pk, dg)

    z = jax.tree.map(lambda q: jnp.zeros(q.shape, f32), st["p"])
    (g, l, a), per = jax.lax.scan(micro, (z, 0.0, i32(0)), (batch, jnp.arange(M)))
    t = st["t"] + 1
    b2 = 1 - t.astype(f32) ** -0.8
    lr = 3e-3 * jnp.minimum(t / 200.0, jax.lax.rsqrt(t / 200.0))
    gn = jnp.sqrt(sum(jnp.sum(q * q) for q in jax.tree.leaves(g))) / M
    sc = jnp.minimum(1.0, 1.0 / (gn + 1e-6)) / M
    ok = jnp.isfinite(gn)

    def up(p, g, r, c):
        g = g * sc
        g2 = g * g + 1e-30
        if fac(p):
            r2 = b2 * r + (1 - b2) * g2.mean(-1)
            c2 = b2 * c + (1 - b2) * g2.mean(-2)
            u = (
                g
                * jax.lax.rsqrt(r2 / r2.mean(-1, keepdims=True))[..., None]
                * jax.lax.rsqrt(c2)[..., None, :]
            )
        else:
            r2 = b2 * r + (1 - b2) * g2
            c2 = c
            u = g * jax.lax.rsqrt(r2)
        u = u / jnp.maximum(1.0, jnp.sqrt(jnp.mean(u * u)))
        n = p - lr * jnp.maximum(1e-3, jnp.sqrt(jnp.mean(p * p))) * u - lr * 1e-2 * p
        return tuple(jnp.where(ok, a, b) for a, b in ((n, p), (r2, r), (c2, c)))

    o = jax.tree.map(up, st["p"], g, st["r"], st["c"])
    pick = lambda i: jax.tree.map(lambda q: q[i], o, is_leaf=lambda q: isinstance(q, tuple))
    return dict(
        p=pick(0), r=pick(1), c=pick(2), t=t, skip=st["skip"] + (~ok).astype(i32), rng=st["rng"]
    ), dict(loss=l / M, acc=a / (M * N), per=per, gn=gn)


st = dict(
    p=params,
    r=jax.tree.map(vr, params),
    c=jax.tree.map(vc, params),
    t=S((), i32),
    skip=S((), i32),
    rng=S((2,), jnp.uint32),
)
batch = (
    S((M, T, N, F), f32, None, None, "fs"),
    S((M, T, N), jnp.bool_, None, None, "fs"),
    S((M, N), i32, None, "fs"),
    S((M, E), i32, None, "fs"),
    S((M, E), i32, None, "fs"),
    S((M, E, FE), f32, None, "fs"),
    S((M, N), i32, None, "fs"),
    S((M, E // 2, 2), i32, None, "fs"),
)
c = jax.jit(gnn_train_step, donate_argnums=(0,)).lower(st, batch).compile()
print("compiled", len(c.as_text() or ""))
