"""Decoder-only LM: rotary, multi-query-grouped attention with logit soft cap, a short decayed sum (associative scan in blocks of 2),
scan over layers with remat, z-loss cross entropy over a sharded vocabulary in shard_map, gradient accumulation over microbatches, Adafactor."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

kind = sys.argv[1]
if kind == "gpu":
    H100 = open(os.environ["TARGET"]).read()
    topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x4")
else:
    try:
        topo = topologies.get_topology_desc(
            platform="tpu", topology_name="v5p:2x2x1", chip_config_name="megacore"
        )
    except Exception as e:
        print(e)
        topo = topologies.get_topology_desc(platform="tpu", topology_name="v5p:2x2x1")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("z", "m"))
print(topo.devices)


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
L, D, N, K, E, F, V, B, T, A = 4, 256, 8, 2, 64, 704, 2048, 16, 64, 2
W = dict(
    tok=S((V, D), bf, "m", "z"),
    gf=S((D,), f32),
    lay=dict(
        q=S((L, D, K, N // K, E), bf, None, "z", "m"),
        kv=S((L, 2, D, K, E), bf, None, None, "z", "m"),
        o=S((L, K, N // K, E, D), bf, None, "m", None, None, "z"),
        d=S((L, D), f32),
        w13=S((L, 2, D, F), bf, None, None, "z", "m"),
        w2=S((L, F, D), bf, None, "m", "z"),
        g=S((L, 2, D), f32),
    ),
)


def rms(x, g):
    x = x.astype(f32)
    return (x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6) * (1 + g)).astype(bf)


def rope(x, pos):
    fr = 1e4 ** (-jnp.arange(0, E, 2, dtype=f32) / E)
    an = pos[..., None] * fr
    an = an.reshape(an.shape[:2] + (1,) * (x.ndim - 3) + an.shape[-1:])
    c, s = jnp.cos(an), jnp.sin(an)
    x1, x2 = jnp.split(x.astype(f32), 2, -1)
    return jnp.concatenate([x1 * c - x2 * s, x2 * c + x1 * s], -1).astype(bf)


def con(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def layer(x, w, pos, seg):
    h = rms(x, w["g"][0])
    q = rope(jnp.einsum("btd,dkge->btkge", h, w["q"]), pos)
    kv = jnp.einsum("btd,cdke->cbtke", h, w["kv"])
    k = rope(kv[0], pos)
    s = jnp.einsum("btkge,bske->bkgts", q, k, preferred_element_type=f32) * E**-0.5
    s = 30 * jnp.tanh(s / 30)
    ok = (pos[:, :, None] >= pos[:, None]) & (seg[:, :, None] == seg[:, None])
    s = jnp.where(ok[:, None, None], s, -2e38)
    pr = jax.nn.softmax(s).astype(bf)
    y = jnp.einsum("btkge,kged->btd", jnp.einsum("bkgts,bske->btkge", pr, kv[1]), w["o"])
    al = jax.nn.sigmoid(w["d"])
    r = lax.associative_scan(
        lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]),
        (jnp.broadcast_to(al, (B, T // 2, 2, D)), h.astype(f32).reshape(B, T // 2, 2, D)),
        axis=2,
    )[1].reshape(x.shape)
    x = con(x + y + r.astype(bf), "z", None, None)
    h = rms(x, w["g"][1])
    gu = jnp.einsum("btd,cdf->cbtf", h, w["w13"])
    return con(x + (jax.nn.gelu(gu[0]) * gu[1]) @ w["w2"], "z", None, None)


def ce(lg, y):
    def f(lg, y):
        i = lax.axis_index("m")
        mx = lax.pmax(lax.stop_gradient(lg.max(-1)), "m")
        lse = jnp.log(lax.psum(jnp.exp(lg - mx[..., None]).sum(-1), "m")) + mx
        j = y - i * lg.shape[-1]
        inn = (j >= 0) & (j < lg.shape[-1])
        t = lax.psum(
            jnp.where(
                inn,
                jnp.take_along_axis(lg, jnp.clip(j, 0, lg.shape[-1] - 1)[..., None], -1)[..., 0],
                0,
            ),
            "m",
        )
        return lse - t + 1e-4 * lse**2

    return jax.shard_map(
        f, mesh=mesh, in_specs=(P("z", None, "m"), P("z", None)), out_specs=P("z", None)
    )(lg, y)


def loss(w, ids):
    seg = jnp.cumsum(ids == 1, 1)
    pos = jnp.broadcast_to(jnp.arange(ids.shape[1]), ids.shape)
    x = con(w["tok"][ids] * D**0.5, "z", None, None).astype(bf)
    x, _ = lax.scan(jax.checkpoint(lambda x, w: (layer(x, w, pos, seg), None)), x, w["lay"])
    lg = con((rms(x, w["gf"]) @ w["tok"].T).astype(f32), "z", None, "m")
    m = (ids != 0).astype(f32)
    return (ce(lg, jnp.roll(ids, -1, 1)) * m).sum() / jnp.maximum(m.sum(), 1)


def fac(s):
    return len(s) >= 2 and s[-1] >= 128 and s[-2] >= 64


def opt_init():
    def one(a):
        sp = list(a.sharding.spec) + [None] * (len(a.shape) - len(a.sharding.spec))
        return (
            (S(a.shape[:-1], f32, *sp[:-1]), S(a.shape[:-2] + a.shape[-1:], f32, *sp[:-2], sp[-1]))
            if fac(a.shape)
            else (S(a.shape, f32, *sp),)
        )

    return [one(a) for a in jax.tree.leaves(W)]


def lm_step(w, o, n, ids):
    def acc(c, b):
        l, g = jax.value_and_grad(loss)(w, b)
        return (c[0] + l, jax.tree.map(lambda a, g: a + g.astype(f32), c[1], g)), l

    (l, g), ls = lax.scan(acc, (0.0, jax.tree.map(lambda a: jnp.zeros(a.shape, f32), w)), ids)
    n = n + 1
    be = 1 - n.astype(f32) ** -0.8
    flat, td = jax.tree.flatten(w)
    ow, oo = [], []
    for a, gr, s in zip(flat, jax.tree.leaves(g), o):
        gr = gr / A
        g2 = gr * gr + 1e-30
        if len(s) == 2:
            r = be * s[0] + (1 - be) * g2.mean(-1)
            c = be * s[1] + (1 - be) * g2.mean(-2)
            s = (r, c)
            u = (
                gr
                * lax.rsqrt(r / r.mean(-1, keepdims=True))[..., None]
                * lax.rsqrt(c)[..., None, :]
            )
        else:
            v = be * s[0] + (1 - be) * g2
            s = (v,)
            u = gr * lax.rsqrt(v)
        sc = jnp.maximum(1e-3, jnp.sqrt(jnp.mean(jnp.square(a.astype(f32)))))
        ow.append((a - (0.01 * u).astype(a.dtype)).astype(a.dtype))
        oo.append(s)
    return jax.tree.unflatten(td, ow), oo, n, l / A, ls.max()


a = (W, opt_init(), S((), i32), S((A, B, T), i32, None, "z"))
c = jax.jit(lm_step, donate_argnums=(0, 1)).lower(*a).compile()
print("compiled", len(c.as_text() or ""))
