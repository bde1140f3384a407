"""Training step of a small chunked state-space model: mesh 2x2 (time x zero), one shard_map.
Sequence over "time" (the state goes to the next device by ppermute), parameters and moments over "zero" (all_gather, psum_scatter), loss scaling, Adam with clip.
usage: ssd.py gpu|cpu   (XLA_FLAGS carries the dump)"""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
where = sys.argv[1]
if where == "cpu":
    os.environ["XLA_FLAGS"] = (
        os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
    )
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

if where == "gpu":
    from jax.experimental import topologies

    H100 = open(
        os.environ["TARGET"]
    ).read()  # a text proto as in tests/data/programs/tagged_unseen.py
    devices = topologies.get_topology_desc(
        platform="cuda", target_config=H100, topology="1x1x4"
    ).devices
else:
    devices = jax.devices()
mesh = Mesh(np.array(devices).reshape(2, 2), ("time", "zero"))
f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
N, D, H, K, S, V, B, T, Q = (
    2,
    96,
    4,
    48,
    16,
    384,
    4,
    256,
    32,
)  # layers, width, heads, head width, states, words, batch, time, chunk


def st(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


Z = lambda *shape: st(shape, f32, *([None, "zero"] if len(shape) > 2 else ["zero"]))
params = dict(
    words=Z(V, D),
    mix=dict(
        inp=Z(N, D, 2 * H * K),
        bc=Z(N, D, 2 * S),
        dt=Z(N, D, H),
        out=Z(N, H * K, D),
        scale=st((N, D), f32, None, "zero"),
        a=st((N, H), f32),
    ),
    last=Z(D),
)
axis = jax.tree.map(
    lambda x: next((i for i, s in enumerate(x.sharding.spec) if s == "zero"), None),
    params,
    is_leaf=lambda x: isinstance(x, jax.ShapeDtypeStruct),
)
full = lambda w, ax, dt=bf: (
    w.astype(dt) if ax is None else lax.all_gather(w.astype(dt), "zero", axis=ax, tiled=True)
)


def rms(x, g):
    return (x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g).astype(bf)


def ssd(u, dt, a, b, c):
    """u [B,T,H,K], dt [B,T,H], b and c [B,T,S]: chunked recurrence h = exp(dt a) h + dt b u, y = c h."""
    n = u.shape[1] // Q
    r = lambda x: x.reshape(x.shape[0], n, Q, *x.shape[2:])
    u, b, c = r((u * dt[..., None].astype(bf))), r(b), r(c)
    s = jnp.cumsum(r(-dt * jnp.exp(a)), axis=2)  # [B,n,Q,H]
    tri = jnp.arange(Q)[:, None] >= jnp.arange(Q)[None]
    m = jnp.exp(
        jnp.where(tri[None, None, :, :, None], s[:, :, :, None] - s[:, :, None], -jnp.inf)
    ).astype(bf)
    y = jnp.einsum("bnis,bnjs,bnijh,bnjhk->bnihk", c, b, m, u)
    part = jnp.einsum("bnjs,bnjh,bnjhk->bnhks", b, jnp.exp(s[:, :, -1:] - s).astype(bf), u).astype(
        f32
    )

    def chunk(h, x):
        p, g = x
        return h * g[..., None, None] + p, h

    zero = jnp.zeros((u.shape[0], H, K, S), f32)
    seq = (jnp.moveaxis(part, 1, 0), jnp.moveaxis(jnp.exp(s[:, :, -1]), 1, 0))
    h1, before = lax.scan(chunk, zero, seq)
    start = lax.ppermute(h1, "time", [(0, 1)])  # device 0 of the axis begins with zeros
    lead = jnp.exp(jnp.cumsum(jnp.pad(s[:, :-1, -1], ((0, 0), (1, 0), (0, 0))), axis=1))
    before = jnp.moveaxis(before, 0, 1) + lead[..., None, None] * start[:, None]
    y = y.astype(f32) + jnp.einsum("bnis,bnih,bnhks->bnihk", c.astype(f32), jnp.exp(s), before)
    return y.reshape(y.shape[0], n * Q, H, K)


def layer(x, w):
    w = {
        k: full(v, axis["mix"][k] - 1, f32 if k in ("scale",) else bf) if k != "a" else v
        for k, v in w.items()
    }
    h = rms(x, w["scale"])
    u, z = jnp.split(h @ w["inp"], 2, -1)
    b, c = jnp.split(h @ w["bc"], 2, -1)
    y = ssd(u.reshape(*u.shape[:2], H, K), jax.nn.softplus((h @ w["dt"]).astype(f32)), w["a"], b, c)
    y = y.reshape(u.shape) * jax.nn.sigmoid(z.astype(f32)) * z
    return x + (y.astype(bf) @ w["out"]).astype(f32), jnp.mean(y * y)


def loss(p, ids, scale):
    e = full(p["words"], 0)
    x = e[ids].astype(f32)
    x, power = lax.scan(jax.checkpoint(layer), x, p["mix"])
    logit = (rms(x, full(p["last"], 0, f32)) @ e.T).astype(f32)[:, :-1]
    nxt = ids[:, 1:]
    ll = jnp.take_along_axis(logit, nxt[..., None], -1)[..., 0] - jax.nn.logsumexp(logit, -1)
    return -(ll.mean() + 0.0) * scale, power


def step(p, m, v, ids, scale, t):
    (l, power), g = jax.value_and_grad(loss, has_aux=True)(p, ids, scale)
    g = jax.tree.map(
        lambda x, ax: lax.pmean(x, ("time", "zero") if ax is None else "time") / scale,
        g,
        axis,
        is_leaf=lambda x: x is None,
    )
    sq = jax.tree.map(
        lambda x, ax: jnp.sum(x * x) if ax is not None else jnp.sum(x * x) / 2,
        g,
        axis,
        is_leaf=lambda x: x is None,
    )
    norm = jnp.sqrt(lax.psum(sum(jax.tree.leaves(sq)), "zero"))
    ok = jnp.isfinite(norm)
    clip = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
    lr = 1e-3 * jnp.minimum(1.0, (t + 1) / 100.0)
    m1 = jax.tree.map(lambda m, x: 0.9 * m + 0.1 * clip * x, m, g)
    v1 = jax.tree.map(lambda v, x: 0.99 * v + 0.01 * (clip * x) ** 2, v, g)
    p1 = jax.tree.map(
        lambda a, m, v: (
            a
            - lr
            * (
                m / (1 - 0.9 ** (t + 1.0)) / (jnp.sqrt(v / (1 - 0.99 ** (t + 1.0))) + 1e-8)
                + 0.01 * a
            )
        ),
        p,
        m1,
        v1,
    )
    keep = lambda a, b: jax.tree.map(lambda x, y: jnp.where(ok, x, y), a, b)
    hist = jnp.cumsum(jnp.bincount(ids.ravel() // 24, length=16))
    return (
        keep(p1, p),
        keep(m1, m),
        keep(v1, v),
        jnp.where(ok, scale * 1.001, scale / 2),
        t + 1,
        lax.pmean(l / scale, ("time", "zero")),
        lax.pmean(power, ("time", "zero")),
        norm,
        lax.psum(hist, ("time", "zero")),
    )


spec = jax.tree.map(
    lambda x: x.sharding.spec, params, is_leaf=lambda x: isinstance(x, jax.ShapeDtypeStruct)
)


def ssd_step(*a):
    return jax.shard_map(
        step,
        mesh=mesh,
        in_specs=(spec,) * 3 + (P("zero", "time"), P(), P()),
        out_specs=(spec,) * 3 + (P(),) * 6,
        check_vma=False,
    )(*a)


low = jax.jit(ssd_step, donate_argnums=(0, 1, 2)).lower(
    params, params, params, st((B, T), i32, "zero", "time"), st((), f32), st((), i32)
)
if where == "cpu" and os.environ.get("TRY"):
    key = jax.random.key(0)
    mk = lambda x: jax.device_put(jax.random.normal(key, x.shape) * 0.05, x.sharding)
    isS = lambda x: isinstance(x, jax.ShapeDtypeStruct)
    c = low.compile()
    p = jax.tree.map(mk, params, is_leaf=isS)
    m = jax.tree.map(lambda x: x * 0, p)
    v = jax.tree.map(lambda x: x * 0, p)
    ids = jax.device_put(
        jax.random.randint(key, (B, T), 0, V), NamedSharding(mesh, P("zero", "time"))
    )
    s = jax.device_put(jnp.float32(1024), NamedSharding(mesh, P()))
    t = jax.device_put(jnp.int32(0), NamedSharding(mesh, P()))
    for _ in range(5):
        p, m, v, s, t, l, *r = c(p, m, v, ids, s, t)
        print(float(l), float(s), [np.asarray(x).ravel()[:3] for x in r])
else:
    print("compiled", len(low.compile().as_text() or ""))
