"""Video model step: 3-D convolution stem and residual stages (stride in space and time, group norm), space split over mesh axis s (height, halo exchange),
ConvGRU by lax.scan over time with warping (gather) by a predicted flow, depth-to-space frame predictor, average + max pool class head,
charbonnier loss, a top-32 hard-pixel mining, SGD with Nesterov momentum, global norm clip; mesh 2 x 2 (b clips x s rows). usage: prog.py gpu|tpu"""

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
    topo = topologies.get_topology_desc(
        platform="tpu", topology_name="v5p:2x2x1", chip_config_name="megacore"
    )
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("b", "s"))


def S(shape, dt=jnp.float32, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


def con(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
jax.config.update("jax_traceback_in_locations_limit", 1)
B, T, H, C, K = 8, 8, 32, 16, 10
W = dict(
    stem=S((3, 3, 3, 3, C)),
    a1=S((3, 3, 3, C, 2 * C)),
    sk=S((1, 1, 1, C, 2 * C)),
    g=S((1, C)),
    zr=S((3, 3, 4 * C, 4 * C)),
    h=S((3, 3, 4 * C, 2 * C)),
    flow=S((3, 3, 2 * C, 2)),
    up=S((3, 3, 2 * C, 3 * 4)),
    cls=S((4 * C, K), f32, "s"),
)


def conv3(x, k, s):
    return lax.conv_general_dilated(
        x, k.astype(x.dtype), s, "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")
    )


def conv2(x, k):
    return lax.conv_general_dilated(
        x, k.astype(x.dtype), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def gn(x, g):
    y = x.astype(f32).reshape(*x.shape[:-1], 4, -1)
    ax = (*range(1, y.ndim - 2), y.ndim - 1)
    y = (y - y.mean(ax, keepdims=True)) * lax.rsqrt(y.var(ax, keepdims=True) + 1e-5)
    return (y.reshape(x.shape) * g[: x.shape[-1]]).astype(x.dtype)


def encode(w, v):
    x = jax.nn.silu(gn(conv3(v.astype(bf), w["stem"], (1, 2, 2)), w["g"][0]))
    x = con(x, "b", None, "s")
    y = conv3(x, w["a1"], (2, 1, 1))
    return con(jax.nn.silu(y + conv3(x, w["sk"], (2, 1, 1))), "b", None, "s")


def warp(h, fl):
    n, a, b, _ = h.shape
    y = jnp.clip(jnp.arange(a)[:, None] + fl[..., 0], 0, a - 1.001)
    x = jnp.clip(jnp.arange(b) + fl[..., 1], 0, b - 1.001)
    y0, x0 = jnp.round(y).astype(i32), x.astype(i32)
    fx = (x - x0)[..., None]
    g = jax.vmap(lambda h, i, j: h[i, j])
    return g(h, y0, x0) * (1 - fx) + g(h, y0, x0 + 1) * fx


def cell(w, h, x):
    x = x.astype(f32)
    fl = 2 * jnp.tanh(conv2(h, w["flow"]))
    h = warp(h, fl)
    z, r = jnp.split(jax.nn.sigmoid(conv2(jnp.concatenate([h, x], -1), w["zr"])), 2, -1)
    h = (1 - z) * h + z * jnp.tanh(conv2(jnp.concatenate([r * h, x], -1), w["h"]))
    return con(h, "b", "s"), h.max((1, 2))


def loss(w, v, y):
    x = encode(w, v[:, :-1])
    h0 = jnp.zeros((B, H // 2, H // 2, 2 * C))
    h, mx = lax.scan(lambda h, x: cell(w, h, x), h0, jnp.moveaxis(x, 1, 0))
    o = conv2(h, w["up"]).reshape(B, H // 2, H // 2, 2, 2, 3)
    o = jnp.moveaxis(o, 3, 2).reshape(B, H, H, 3)
    o = con(v[:, -2] + o, "b", "s")
    d = o - v[:, -1]
    ch = jnp.sqrt(d * d + 1e-6).mean(-1)
    hard = lax.top_k(ch.reshape(B, -1), 32)[0].mean()
    p = x.astype(f32).max((1, 2, 3))
    lg = jnp.concatenate([p, h.mean((1, 2))], -1) @ w["cls"]
    ce = -jnp.take_along_axis(jax.nn.log_softmax(lg), y[:, None], 1).mean()
    return ch.mean() + 0.1 * hard + 0.1 * ce, (lg, o, mx)


def video_step(w, m, n, v, y):
    (l, (lg, o, mx)), g = jax.value_and_grad(loss, has_aux=True)(w, v, y)
    nm = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
    lr = 0.1 * jnp.minimum(1.0, (n + 1) / 100.0)
    g = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1 / (nm + 1e-6)), g)
    m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
    w = jax.tree.map(lambda w, m, g: w - lr * (g + 0.9 * m), w, m, g)
    return w, m, n + 1, l, (lg.argmax(-1) == y).mean(), mx.max(0)


c = (
    jax.jit(video_step, donate_argnums=(0, 1, 2))
    .lower(W, W, S((), i32), S((B, T + 1, H, H, 3), f32, "b", None, "s"), S((B,), i32, "b"))
    .compile()
)
print("compiled")
