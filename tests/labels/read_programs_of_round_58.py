"""3-D U-Net segmentation train step, H100 x8, mesh 4x2 (fsdp, tp), ahead of time."""

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


M, B, N, C0, K, G = 3, 8, 32, 2, 5, 8  # microbatches, batch, side, channels, classes, groups
CH = (16, 32, 64)


def cw(i, o, k=3):
    return S((k, k, k, i, o), f32, None, None, None, "fs" if i % 4 == 0 else None, "tp")


def blk(i, o):
    return dict(
        a=cw(i, o),
        b=cw(o, o),
        s=cw(i, o, 1),
        ga=S((o,), f32, "tp"),
        gb=S((o,), f32, "tp"),
        ba=S((o,), f32, "tp"),
    )


params = dict(
    down=[blk(C0, CH[0]), blk(CH[0], CH[1])],
    mid=blk(CH[1], CH[2]),
    up=[blk(CH[2] + CH[1], CH[1]), blk(CH[1] + CH[0], CH[0])],
    att=dict(qkv=S((CH[2], 3, CH[2]), f32, "fs", None, "tp"), o=S((CH[2], CH[2]), f32, "tp", "fs")),
    tr=[cw(CH[2], CH[2], 2), cw(CH[1], CH[1], 2)],
    head=[S((CH[0], K), f32, "fs"), S((CH[1], K), f32, "fs")],
    bias=S((K,)),
)
dn = ("NDHWC", "DHWIO", "NDHWC")


def conv(x, w, st=1):
    return jax.lax.conv_general_dilated(x, w.astype(bf), (st,) * 3, "SAME", dimension_numbers=dn)


def gnorm(x, g):
    s = x.shape
    y = x.astype(f32).reshape(s[0], -1, G, s[-1] // G)
    m = y.mean((1, 3), keepdims=True)
    v = jnp.square(y - m).mean((1, 3), keepdims=True)
    return (((y - m) * jax.lax.rsqrt(v + 1e-5)).reshape(s) * g).astype(bf)


def res(x, p, key, sp):
    h = conv(jax.nn.silu(gnorm(x, p["ga"][:1])) if x.shape[-1] % G == 0 else x, p["a"]) + p[
        "ba"
    ].astype(bf)
    h = jax.nn.silu(gnorm(con(h, "fs", sp, None, None, None if sp else "tp"), p["gb"]))
    keep = jax.random.bernoulli(key, 0.9, (h.shape[0], 1, 1, 1, h.shape[-1]))  # channel dropout
    return con(
        conv(jnp.where(keep, h / bf(0.9), bf(0)), p["b"]) + conv(x, p["s"]),
        "fs",
        sp,
        None,
        None,
        None if sp else "tp",
    )


def pool(x):
    return jax.lax.reduce_window(
        x, -jnp.inf, jax.lax.max, (1, 2, 2, 2, 1), (1, 2, 2, 2, 1), "VALID"
    )


def attend(x, p):
    b, c = x.shape[0], x.shape[-1]
    t = gnorm(x, jnp.ones(c)).reshape(b, -1, c)
    q, k, v = jnp.moveaxis(jnp.einsum("btc,cnd->btnd", t, p["qkv"].astype(bf)), 2, 0)
    w = jax.nn.softmax(jnp.einsum("btd,bsd->bts", q, k).astype(f32) * c**-0.5)
    return x + (jnp.einsum("bts,bsd->btd", w.astype(bf), v) @ p["o"].astype(bf)).reshape(x.shape)


def net(p, x, key):
    ks = jax.random.split(key, 5)
    R = lambda sp: jax.checkpoint(
        lambda x, p, k: res(x, p, k, sp), policy=jax.checkpoint_policies.dots_saveable
    )
    x0 = R("tp")(x, p["down"][0], ks[0])
    x1 = R(None)(pool(x0), p["down"][1], ks[1])
    h = R(None)(pool(x1), p["mid"], ks[2])
    h = jax.checkpoint(attend)(h, p["att"])
    h = jax.lax.conv_transpose(h, p["tr"][0].astype(bf), (2, 2, 2), "SAME", dimension_numbers=dn)
    h1 = R(None)(jnp.concatenate([h, x1], -1), p["up"][0], ks[3])
    h = jax.lax.conv_transpose(h1, p["tr"][1].astype(bf), (2, 2, 2), "SAME", dimension_numbers=dn)
    h0 = R("tp")(jnp.concatenate([h, x0], -1), p["up"][1], ks[4])
    return (h0 @ p["head"][0].astype(bf)).astype(f32) + p["bias"], (
        h1 @ p["head"][1].astype(bf)
    ).astype(f32)


def seg_loss(lg, y):
    oh = jax.nn.one_hot(y, K)
    pr = jax.nn.softmax(lg)
    ce = -jnp.sum(oh * jax.nn.log_softmax(lg), -1)
    w = 1 - jnp.sum(oh * pr, -1)
    ax = (1, 2, 3)
    dice = 1 - (2 * (pr * oh).sum(ax) + 1) / (pr.sum(ax) + oh.sum(ax) + 1)
    return jnp.mean(w**2 * ce) + dice.mean()


def loss_fn(p, x, y, key):
    k1, k2 = jax.random.split(key)
    f = jax.random.bernoulli(k1, 0.5, (x.shape[0],) + (1,) * 4)
    x = jnp.where(f, x[:, ::-1], x)
    y = jnp.where(f[..., 0], y[:, ::-1], y)
    a, b = net(p, x.astype(bf), k2)
    yb = (
        sum(
            jnp.roll(jnp.repeat(jnp.repeat(jnp.repeat(b, 2, 1), 2, 2), 2, 3), i, i + 1)
            for i in range(3)
        )
        / 3.0
    )
    acc = jnp.sum(jnp.argmax(a, -1) == y)
    return seg_loss(a, y) + 0.4 * seg_loss(yb, y), acc


def fac(s):
    return len(s.shape) >= 2 and s.shape[-1] > 1 and s.shape[-2] > 1


def vr(s):
    return S(s.shape[:-1], f32, *s.sharding.spec[:-1]) if fac(s) else s


def vc(s):
    return (
        S(
            s.shape[:-2] + s.shape[-1:],
            f32,
            *(tuple(s.sharding.spec) + (None,) * 9)[: len(s.shape)][:-2],
            (tuple(s.sharding.spec) + (None,) * 9)[len(s.shape) - 1],
        )
        if fac(s)
        else S((1,))
    )


def unet3d_train_step(st, batch):
    x, y = batch
    key = jax.random.fold_in(st["rng"], st["t"])

    def micro(c, d):
        g, l, a = c
        xi, yi, i = d
        (li, ai), gi = jax.value_and_grad(loss_fn, has_aux=True)(
            st["p"], xi, yi, jax.random.fold_in(key, i)
        )
        return (jax.tree.map(jnp.add, g, gi), l + li, a + ai), li

    z = jax.tree.map(lambda q: jnp.zeros(q.shape, f32), st["p"])
    (g, l, a), per = jax.lax.scan(micro, (z, 0.0, jnp.int32(0)), (x, y, jnp.arange(M)))
    t = st["t"] + 1
    b2 = 1 - t.astype(f32) ** -0.8
    lr = 1e-2 * jnp.minimum(1.0, t / 500.0)

    def up(p, g, r, c, m):
        g = g / M
        g2 = g * g + 1e-30
        if fac(p):
            r = b2 * r + (1 - b2) * g2.mean(-1)
            c = b2 * c + (1 - b2) * g2.mean(-2)
            u = (
                g
                * jax.lax.rsqrt(r / r.mean(-1, keepdims=True))[..., None]
                * jax.lax.rsqrt(c)[..., None, :]
            )
        else:
            r = b2 * r + (1 - b2) * g2
            u = g * jax.lax.rsqrt(r)
        u = u / jnp.maximum(1.0, jnp.sqrt(jnp.mean(u * u)))
        m2 = 0.9 * m.astype(f32) + 0.1 * u
        d = jnp.where(p * u > 0, p, 0.0)  # cautious decay
        return (
            p - lr * jnp.maximum(1e-3, jnp.sqrt(jnp.mean(p * p))) * (m2 + 0.01 * d),
            r,
            c,
            m2.astype(bf),
        )

    o = jax.tree.map(up, st["p"], g, st["r"], st["c"], st["m"])
    pick = lambda i: jax.tree.map(lambda q: q[i], o, is_leaf=lambda q: isinstance(q, tuple))
    ema = jax.tree.map(lambda e, q: e + 0.001 * (q - e), st["ema"], pick(0))
    return dict(p=pick(0), r=pick(1), c=pick(2), m=pick(3), ema=ema, t=t, rng=st["rng"]), dict(
        loss=l / M, acc=a / (M * B * N**3), worst=jnp.max(per), order=jnp.argsort(per)
    )


st = dict(
    p=params,
    r=jax.tree.map(vr, params),
    c=jax.tree.map(vc, params),
    m=jax.tree.map(lambda s: jax.ShapeDtypeStruct(s.shape, bf, sharding=s.sharding), params),
    ema=params,
    t=S((), jnp.int32),
    rng=S((2,), jnp.uint32),
)
batch = (S((M, B, N, N, N, C0), f32, None, "fs"), S((M, B, N, N, N), jnp.int32, None, "fs"))
c = jax.jit(unet3d_train_step, donate_argnums=(0,)).lower(st, batch).compile()
print("compiled", len(c.as_text() or ""))
