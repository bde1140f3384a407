"""A small sequence tagger: depthwise conv mixer + grouped-query attention, layers by lax.scan with remat, 2-D mesh (rows x cols)."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = open(os.environ["TARGET"]).read()  # a text proto as in tests/data/programs/tagged_unseen.py
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("rows", "cols"))


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
L, D, HQ, HK, E, F, V, C, B, T = 3, 128, 4, 2, 32, 320, 512, 24, 8, 64
params = dict(
    table=S((V, D), f32, None, "cols"),
    pos=S((T, D), f32),
    blocks=dict(
        kern=S((L, 5, 1, D), f32),
        q=S((L, D, HQ, E), f32, None, None, "cols"),
        kv=S((L, D, 2, HK, E), f32, None, None, None, "cols"),
        o=S((L, HQ, E, D), f32, None, "cols"),
        up=S((L, D, F), f32, None, None, "cols"),
        gate=S((L, D, F), f32, None, None, "cols"),
        down=S((L, F, D), f32, None, "cols"),
        g1=S((L, D), f32),
        g2=S((L, D), f32),
    ),
    head=S((D, C), f32),
    bias=S((C,), f32),
)


def ln(x, g):
    x = x.astype(f32)
    m = x.mean(-1, keepdims=True)
    v = jnp.var(x, -1, keepdims=True)
    return ((x - m) * lax.rsqrt(v + 1e-5) * g).astype(bf)


def block(x, w, keep):
    h = ln(x, w["g1"])
    h = h + lax.conv_general_dilated(
        h,
        w["kern"].astype(bf),
        (1,),
        "SAME",
        dimension_numbers=("NWC", "WIO", "NWC"),
        feature_group_count=D,
    )
    q = jnp.einsum("btd,dhe->bthe", h, w["q"].astype(bf)).reshape(*x.shape[:2], HK, HQ // HK, E)
    k, v = jnp.moveaxis(jnp.einsum("btd,dche->btche", h, w["kv"].astype(bf)), 2, 0)
    s = jnp.einsum("btkge,bske->bkgts", q, k).astype(f32) / np.sqrt(E)
    d = jnp.arange(T)[:, None] - jnp.arange(T)[None]
    s = jnp.where((jnp.abs(d) <= 16) & keep[:, None, None, None, :], s, -1e30)
    a = jnp.einsum("bkgts,bske->btkge", jax.nn.softmax(s).astype(bf), v).reshape(
        *x.shape[:2], HQ, E
    )
    x = x + jnp.einsum("bthe,hed->btd", a, w["o"].astype(bf)).astype(f32)
    x = lax.with_sharding_constraint(x, NamedSharding(mesh, P("rows", "cols", None)))
    h = ln(x, w["g2"])
    y = (jax.nn.silu(h @ w["gate"].astype(bf)) * (h @ w["up"].astype(bf))) @ w["down"].astype(bf)
    return x + y.astype(f32)


def loss(p, ids, tags, key):
    keep = ids != 0
    x = jnp.take(p["table"], ids, axis=0) + p["pos"]
    x = x * jax.random.bernoulli(key, 0.9, x.shape) / 0.9
    step = jax.checkpoint(
        lambda x, w: (block(x, w, keep), jnp.abs(x).max()),
        policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
    )
    x, peak = lax.scan(step, x, p["blocks"])
    z = x @ p["head"] + p["bias"]
    ll = jnp.take_along_axis(jax.nn.log_softmax(z), tags[..., None], -1)[..., 0]
    return -(ll * keep).sum() / keep.sum(), (peak, (z.argmax(-1) == tags).mean())


def tagger_step(p, mu, ids, tags, key):
    (l, aux), g = jax.value_and_grad(loss, has_aux=True)(p, ids, tags, key)
    n = jnp.sqrt(sum(jnp.vdot(x, x) for x in jax.tree.leaves(g)))
    c = jnp.minimum(1.0, 1.0 / (n + 1e-6))
    mu = jax.tree.map(lambda m, x: 0.9 * m + c * x, mu, g)
    return jax.tree.map(lambda a, m: a - 3e-3 * m, p, mu), mu, l, aux, n


a = (params, params, S((B, T), i32, "rows"), S((B, T), i32, "rows"), S((2,), jnp.uint32))
c = jax.jit(tagger_step, donate_argnums=(0, 1)).lower(*a).compile()
print("compiled", len(c.as_text() or ""))
