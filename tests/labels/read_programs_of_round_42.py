"""Superpixel segmentation step: conv stem with batch norm -> segment_sum to regions -> message passing on the region graph
(fori_loop, segment_max softmax) -> back to pixels by gather -> transposed conv; LARS-like optimizer with global norm and lax.cond skip.
Mesh 4x2 (batch x chan), GSPMD.   usage: superpix.py cpu | v5e:2x4   (XLA_FLAGS carries the dump)"""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
if sys.argv[1] == "cpu":
    os.environ["XLA_FLAGS"] = (
        os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    )
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

if sys.argv[1] == "cpu":
    devices = np.array(jax.devices())
else:
    from jax.experimental import topologies

    devices = np.array(
        topologies.get_topology_desc(platform="tpu", topology_name=sys.argv[1]).devices
    )
mesh = Mesh(devices.reshape(4, 2), ("batch", "chan"))
f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
B, W, C, R, E, K = (
    8,
    32,
    32,
    48,
    160,
    11,
)  # images, width, channels, regions per image, edges, classes


def st(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


def pin(x, *spec):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))


p0 = dict(
    stem=st((5, 5, 3, C), f32, None, None, None, "chan"),
    dw=st((3, 3, 1, C), f32, None, None, None, "chan"),
    pw=st((1, 1, C, 2 * C), f32, None, None, None, "chan"),
    g1=st((C,), f32),
    b1=st((C,), f32),
    g2=st((2 * C,), f32),
    b2=st((2 * C,), f32),
    msg=st((4 * C, 2 * C), f32, None, "chan"),
    att=st((2 * C,), f32),
    upd=st((2 * C, 2 * C), f32, "chan"),
    head=st((4, 4, 4 * C, K), f32),
)
s0 = dict(m1=st((C,), f32), v1=st((C,), f32), m2=st((2 * C,), f32), v2=st((2 * C,), f32))


def conv(x, w, stride=1, groups=1):
    return lax.conv_general_dilated(
        x,
        w.astype(bf),
        (stride, stride),
        "SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=groups,
    )


def bnorm(x, g, b, m, v):
    y = x.astype(f32)
    mu = y.mean((0, 1, 2))
    var = jnp.maximum((y * y).mean((0, 1, 2)) - mu * mu, 0)
    return ((y - mu) * lax.rsqrt(var + 1e-5) * g + b).astype(bf), (
        0.9 * m + 0.1 * lax.stop_gradient(mu),
        0.9 * v + 0.1 * lax.stop_gradient(var),
    )


def maxpool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


def seg(fn, n):
    return jax.vmap(lambda d, i: fn(d, i, num_segments=n))


def forward(p, s, img, reg, src, dst):
    x, (m1, v1) = bnorm(conv(img.astype(bf), p["stem"]), p["g1"], p["b1"], s["m1"], s["v1"])
    x = maxpool(jax.nn.relu(x))
    x = pin(x, "batch", None, None, "chan")
    x = conv(conv(x, p["dw"], groups=C), p["pw"])
    x, (m2, v2) = bnorm(x, p["g2"], p["b2"], s["m2"], s["v2"])
    x = jax.nn.relu(x)
    flat = x.reshape(B, -1, 2 * C).astype(f32)
    n = seg(jax.ops.segment_sum, R)(jnp.ones(reg.shape, f32), reg)
    h = seg(jax.ops.segment_sum, R)(flat, reg) / jnp.maximum(n, 1)[..., None]

    def talk(_, h):
        a, b = jnp.take_along_axis(h, src[..., None], 1), jnp.take_along_axis(h, dst[..., None], 1)
        m = jnp.tanh(jnp.concatenate([a, b], -1).astype(bf) @ p["msg"].astype(bf)).astype(f32)
        z = (m * p["att"]).sum(-1)
        top = lax.stop_gradient(seg(jax.ops.segment_max, R)(z, dst))
        w = jnp.exp(z - jnp.take_along_axis(top, dst, 1))
        den = seg(jax.ops.segment_sum, R)(w, dst)
        w = w / (jnp.take_along_axis(den, dst, 1) + 1e-6)
        return h + (
            seg(jax.ops.segment_sum, R)(m * w[..., None], dst).astype(bf) @ p["upd"].astype(bf)
        ).astype(f32)

    h = lax.fori_loop(0, 3, talk, h)
    back = jnp.take_along_axis(h, reg[..., None], 1).reshape(x.shape).astype(bf)
    y = lax.conv_transpose(jnp.concatenate([x, back], -1), p["head"].astype(bf), (2, 2), "SAME")
    return y.astype(f32), dict(m1=m1, v1=v1, m2=m2, v2=v2)


def loss(p, s, img, reg, src, dst, lab):
    y, s = forward(p, s, img, reg, src, dst)
    ok = lab >= 0
    nll = -jnp.take_along_axis(jax.nn.log_softmax(y), jnp.maximum(lab, 0)[..., None], -1)[..., 0]
    return (nll * ok).sum() / jnp.maximum(ok.sum(), 1), (s, ok.sum())


def superpixel_step(p, mom, s, t, img, reg, src, dst, lab):
    (l, (s2, hit)), g = jax.value_and_grad(loss, has_aux=True)(p, s, img, reg, src, dst, lab)
    norm = jnp.sqrt(sum(jnp.vdot(x, x) for x in jax.tree.leaves(g)))
    g = jax.tree.map(lambda x: x * jnp.minimum(1.0, 2.0 / (norm + 1e-9)), g)
    lr = 0.3 * jnp.minimum(1.0, t / 100)

    def lars(w, g, m):
        if w.ndim > 1:
            wn, gn = jnp.linalg.norm(w), jnp.linalg.norm(g)
            g = (g + 1e-4 * w) * jnp.where(
                (wn > 0) & (gn > 0), 0.01 * wn / (gn + 1e-4 * wn + 1e-9), 1.0
            )
        return 0.9 * m + g

    def go(_):
        m2 = jax.tree.map(lars, p, g, mom)
        return jax.tree.map(lambda w, m: w - lr * m, p, m2), m2, s2, t + 1

    p, mom, s, t = lax.cond(jnp.isfinite(norm), go, lambda _: (p, mom, s, t), None)
    return p, mom, s, t, l, hit, norm


args = (
    p0,
    p0,
    s0,
    st((), i32),
    st((B, W, W, 3), jnp.uint8, "batch"),
    st((B, W * W // 4), i32, "batch"),
    st((B, E), i32, "batch"),
    st((B, E), i32, "batch"),
    st((B, W, W), i32, "batch"),
)
c = jax.jit(superpixel_step, donate_argnums=(0, 1, 2, 3)).lower(*args).compile()
print("compiled", sys.argv[1], c.memory_analysis())
