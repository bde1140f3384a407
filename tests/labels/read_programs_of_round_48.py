"""Recommender step: embedding tables sharded by rows over mesh axis m, lookup by id exchange (all_to_all in shard_map, bucketed by argsort),
history by GRU (lax.scan, two time directions) with target attention, cross network (scan over layers), feature interaction (pair dots),
two heads with expert gates of soft weights, in-batch sampled softmax over axis d with log-q correction, row-wise Adagrad on tables (scatter), AdamW on dense;
top-k retrieval with recall as metric; mesh 2 x 4 (d batch x m table rows)."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from functools import partial
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

kind = sys.argv[1]
if kind == "gpu":
    H100 = open(os.environ["TARGET"]).read()
    topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x8")
else:
    topo = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("d", "m"))


def S(shape, dt=jnp.float32, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


def con(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
B, T, E, R, NF, ND, H, L, K = 64, 12, 32, 4096, 5, 13, 64, 3, 16
jax.config.update("jax_traceback_in_locations_limit", 1)
tab = dict(item=S((R, E), f32, "m"), cat=S((R // 4, E), f32, "m"))
X = E * (NF + 1) + H
W = dict(
    bot=S((ND, E)),
    gru=S((2, 3, E + H // 2, H // 2)),
    att=S((H, E), f32, None, "m"),
    cw=S((L, X, 8)),
    cv=S((L, 8, X)),
    cb=S((L, X)),
    up=S((2, X + 21, 128), f32, None, None, "m"),
    dn=S((2, 128, 32), f32, None, "m"),
    gate=S((X, 2)),
    out=S((2, 32)),
    q=S((X, E), f32, None, "m"),
    temp=S(()),
)
data = dict(
    item=S((B, NF), i32, "d"),
    hist=S((B, T), i32, "d"),
    hc=S((B, T), i32, "d"),
    n=S((B,), i32, "d"),
    num=S((B, ND), f32, "d"),
    y=S((B, 2), f32, "d"),
    freq=S((R,), f32, "m"),
)


def xlook(t, ids):
    """t: rows of this shard; ids: of this d-row, split over m; send every id to its owner, get vectors back."""
    M = lax.psum(1, "m")
    n = ids.shape[0]
    rows = t.shape[0]
    own = ids // rows
    o = jnp.argsort(own, stable=True)
    so = own[o]
    pos = jnp.arange(n) - jnp.searchsorted(so, so, side="left")
    snd = jnp.full((M, n), -1, i32).at[so, pos].set(ids[o] % rows)
    got = lax.all_to_all(snd, "m", 0, 0, tiled=True)
    vec = jnp.where((got >= 0)[..., None], t[jnp.maximum(got, 0)], 0.0)
    back = lax.all_to_all(vec.astype(bf), "m", 0, 0, tiled=True).astype(f32)
    return jnp.zeros((n, t.shape[1])).at[o].set(back[so, pos])


def look(t, ids):
    f = jax.shard_map(
        xlook, mesh=mesh, in_specs=(P("m"), P(("d", "m"))), out_specs=P(("d", "m")), check_vma=False
    )
    return con(f(t, con(ids.reshape(-1), ("d", "m"))).reshape(*ids.shape, -1), "d")


def gru(w, xs, ok, h):
    def cell(h, t):
        x, k = t
        z = jax.nn.sigmoid(jnp.concatenate([x, h], -1) @ w[0])
        r = jax.nn.sigmoid(jnp.concatenate([x, h], -1) @ w[1])
        c = jnp.tanh(jnp.concatenate([x, r * h], -1) @ w[2])
        h2 = (1 - z) * h + z * c
        h = jnp.where(k[:, None], h2, h)
        return h, h

    return lax.scan(cell, h, (xs, ok))


def tower(w, e, hist, hc, n, num):
    b = e.shape[0]
    ok = jnp.arange(T) < n[:, None]
    xs = jnp.moveaxis(hist + hc, 1, 0)
    h0 = jnp.zeros((b, H // 2))
    _, a = gru(w["gru"][0], xs, ok.T, h0)
    _, r = gru(w["gru"][1], xs[::-1], ok.T[::-1], h0)
    hs = jnp.moveaxis(jnp.concatenate([a, r[::-1]], -1), 0, 1)
    s = jnp.einsum("bth,he,be->bt", hs, w["att"], e[:, 0])
    s = jax.nn.softmax(jnp.where(ok, s * E**-0.5, -1e9), -1)
    u = jnp.einsum("bt,bth->bh", s, hs)
    bot = jax.nn.relu(jnp.log1p(jnp.maximum(num, 0)) @ w["bot"])
    f = jnp.concatenate([e, bot[:, None]], 1)
    x0 = con(jnp.concatenate([f.reshape(b, -1), u], -1), "d")

    def cross(x, p):
        cw, cv, cb = p
        y = x0 * (jnp.tanh(x @ cw) @ cv + cb) + x
        return y, jnp.abs(y).max()

    x, mx = lax.scan(cross, x0, (w["cw"], w["cv"], w["cb"]))
    d = jnp.einsum("bie,bje->bij", f, f)
    i, j = np.tril_indices(NF + 1)
    d = d[:, i, j]
    g = jax.nn.softmax(x @ w["gate"])
    z = jnp.concatenate([x, d], -1)
    z = jnp.einsum("bkf,kfo->bko", jax.nn.gelu(jnp.einsum("bx,kxf->bkf", z, w["up"])), w["dn"])
    z = con(z, "d")
    lg = jnp.einsum("bko,ko,bk->bk", z, w["out"], g)
    return lg, x @ w["q"], mx


def loss(w, tb, b, logq):
    e = look(tb["item"], b["item"])
    hist = look(tb["item"], b["hist"])
    hc = look(tb["cat"], b["hc"])
    lg, q, mx = tower(w, e, hist, hc, b["n"], b["num"])
    bce = jnp.mean(jnp.maximum(lg, 0) - lg * b["y"] + jnp.log1p(jnp.exp(-jnp.abs(lg))))
    q = q * lax.rsqrt((q * q).sum(-1, keepdims=True) + 1e-6)
    it = con(e[:, 0], None, None)
    s = con(q @ it.T, "d") * jnp.exp(w["temp"]) - logq
    same = (b["item"][:, :1] == b["item"][:, 0][None]) & ~jnp.eye(B, dtype=bool)
    s = jnp.where(same, -1e9, s)
    ce = jnp.mean(jax.nn.logsumexp(s, -1) - jnp.diagonal(s))
    return bce + 0.1 * ce, (bce, ce, q, mx)


def rec_step(w, m, v, tb, acc, step, b):
    fq = b["freq"] / b["freq"].sum()
    logq = jnp.log(fq[b["item"][:, 0]] + 1e-9)
    (l, (bce, ce, q, mx)), (g, gt) = jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(
        w, tb, b, lax.stop_gradient(logq)
    )
    nrm = jnp.sqrt(sum(jnp.vdot(x, x) for x in jax.tree.leaves(g)))
    g = jax.tree.map(lambda x: x * jnp.minimum(1.0, 1.0 / (nrm + 1e-6)), g)
    t = step + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
    up = lambda w, m, v: (
        w
        - 1e-3
        * (
            (m / (1 - 0.9**t)) * lax.rsqrt(v / (1 - 0.999**t) + 1e-8)
            + (0.01 * w if w.ndim > 1 else 0)
        )
    )
    w = jax.tree.map(up, w, m, v)
    acc = jax.tree.map(lambda a, g: a + (g * g).mean(-1), acc, gt)
    tb = jax.tree.map(
        lambda x, g, a: jnp.where(
            (g != 0).any(-1, keepdims=True), x - 0.05 * g * lax.rsqrt(a + 1e-6)[:, None], x
        ),
        tb,
        gt,
        acc,
    )
    sc, top = lax.top_k(q @ tb["item"].T, K)
    hit = (top == b["item"][:, :1]).any(-1)
    rk = jnp.where(hit, jnp.argmax(top == b["item"][:, :1], -1), K)
    ndcg = jnp.where(hit, 1 / jnp.log2(rk + 2.0), 0).mean()
    return (
        w,
        m,
        v,
        tb,
        acc,
        t,
        dict(l=l, bce=bce, ce=ce, recall=hit.mean(), ndcg=ndcg, mx=mx, nrm=nrm, top=top[:, :3]),
    )


acc = dict(item=S((R,), f32, "m"), cat=S((R // 4,), f32, "m"))
c = (
    jax.jit(rec_step, donate_argnums=(0, 1, 2, 3, 4, 5))
    .lower(W, W, W, tab, acc, S((), i32), data)
    .compile()
)
print("compiled", len(c.as_text()), c.memory_analysis())
