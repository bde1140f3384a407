"""One denoising training step: DiT-like block with a token mixture of experts (shard_map all_to_all over 'exp'),
custom_vjp straight-through router, top_k + argsort ranking, dropout, remat, bf16, clipped momentum update."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jax.experimental import topologies

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map
topo = sys.argv[1]
kw = dict(chip_config_name="megacore") if topo.startswith("v5p") else {}
try:
    t = topologies.get_topology_desc(platform="tpu", topology_name=topo, **kw)
except Exception as e:
    print("retry", e)
    t = topologies.get_topology_desc(platform="tpu", topology_name=topo)
mesh = Mesh(np.array(t.devices).reshape(2, 2), ("img", "exp"))
f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
N, W, CH, D, E, F, CAP = (
    8,
    16,
    4,
    128,
    4,
    256,
    96,
)  # images, width, channels, model, experts, ffn, capacity
T = (W // 2) ** 2  # tokens per image


def arr(shape, dt, *s):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*s)))


@jax.custom_vjp
def hard_gate(logits):
    v, i = jax.lax.top_k(logits, 2)
    return jax.nn.softmax(v, -1), i


def hard_fwd(lg):
    v, i = jax.lax.top_k(lg, 2)
    g = jax.nn.softmax(v, -1)
    return (g, i), (lg, i)


def hard_bwd(res, ct):
    lg, i = res
    dg, _ = ct
    p = jax.nn.softmax(lg, -1)
    full = (jax.nn.one_hot(i, E, dtype=lg.dtype) * dg[..., None]).sum(-2)
    return (p * (full - (p * full).sum(-1, keepdims=True)),)


hard_gate.defvjp(hard_fwd, hard_bwd)


def moe(x, wr, w1, w2):  # per shard: x [n, D]; w1 [E/2, D, F]
    n = x.shape[0]
    g, ix = hard_gate((x @ wr.astype(bf)).astype(f32))
    flat = ix.reshape(-1)
    order = jnp.argsort(flat, stable=True)
    se = flat[order]
    start = jnp.searchsorted(se, jnp.arange(E))
    rank = jnp.arange(2 * n) - start[se]
    ok = rank < CAP
    buf = (
        jnp.zeros((E, CAP, D), bf).at[se, jnp.where(ok, rank, CAP)].set(x[order // 2], mode="drop")
    )
    buf = jax.lax.all_to_all(buf, "exp", 0, 1, tiled=True)  # [E/2, 2CAP, D]
    h = jnp.einsum("ecd,edf->ecf", buf, w1.astype(bf))
    a, b = jnp.split(h, 2, -1)
    y = jnp.einsum("ecf,efd->ecd", jax.nn.silu(a) * b, w2.astype(bf))
    y = jax.lax.all_to_all(y, "exp", 1, 0, tiled=True)  # [E, CAP, D]
    out = jnp.where(ok[:, None], y[se, jnp.minimum(rank, CAP - 1)], 0)
    out = jnp.zeros((2 * n, D), bf).at[order].set(out).reshape(n, 2, D)
    load = jax.lax.pmean(jnp.bincount(flat, length=E).astype(f32) / n, ("img", "exp"))
    return (out * g[..., None].astype(bf)).sum(1), load


moe_sh = shard_map(
    moe,
    mesh=mesh,
    in_specs=(P(("img", "exp")), P(), P("exp"), P("exp")),
    out_specs=(P(("img", "exp")), P()),
)


def block(x, c, p, key):  # x [N,T,D]
    s, b, a = jnp.split(c @ p["ada"], 3, -1)
    z = x.astype(f32)
    z = (z - z.mean(-1, keepdims=True)) * jax.lax.rsqrt(z.var(-1, keepdims=True) + 1e-6)
    h = (z * (1 + s[:, None]) + b[:, None]).astype(bf)
    y, load = moe_sh(h.reshape(N * T, D), p["r"], p["w1"], p["w2"])
    keep = jax.random.bernoulli(key, 0.9, (N, T, D))
    y = jnp.where(keep, y.reshape(N, T, D) / 0.9, 0).astype(bf)
    return x + a[:, None].astype(bf) * y, load


def denoise(p, xt, t, key):
    fr = jnp.exp(-jnp.arange(D // 2) * (9.2 / (D // 2)))
    c = jnp.concatenate([jnp.sin(t[:, None] * fr), jnp.cos(t[:, None] * fr)], -1)
    k = xt.reshape(N, W // 2, 2, W // 2, 2, CH).transpose(0, 1, 3, 2, 4, 5).reshape(N, T, 4 * CH)
    x = (k @ p["in"]).astype(bf) + p["pos"].astype(bf)
    bal = 0.0
    for i in range(1):
        x, load = jax.checkpoint(block)(x, c, p["b"][i], jax.random.fold_in(key, i))
        bal = bal + jnp.square(load - 2 / E).sum()
    o = x.astype(f32) @ p["out"]
    return o.reshape(N, W // 2, W // 2, 2, 2, CH).transpose(0, 1, 3, 2, 4, 5).reshape(
        N, W, W, CH
    ), bal


def diffusion_step(p, m, img, eps, t, kd):
    ab = jnp.cumprod(1 - jnp.linspace(1e-4, 0.02, 1000))[t][:, None, None, None]
    xt = jnp.sqrt(ab) * img + jnp.sqrt(1 - ab) * eps

    def loss(p):
        e, bal = denoise(p, xt, t.astype(f32), kd)
        snr = jnp.minimum(ab / (1 - ab), 5.0)
        d = jnp.abs(e - eps)
        return jnp.mean(snr * jnp.where(d < 1, 0.5 * d * d, d - 0.5)) + 0.01 * bal

    l, g = jax.value_and_grad(loss)(p)
    gn = jnp.sqrt(sum(jnp.vdot(x, x) for x in jax.tree.leaves(g)))
    m = jax.tree.map(lambda m, g: 0.9 * m + g * jnp.minimum(1.0, 1 / gn), m, g)
    fin = jnp.isfinite(gn)
    p = jax.tree.map(lambda p, m: jnp.where(fin, p - 1e-3 * m, p), p, m)
    return p, m, l, gn


blk = lambda: dict(
    ada=arr((D, 3 * D), f32, None, "exp"),
    r=arr((D, E), f32),
    w1=arr((E, D, F), f32, "exp"),
    w2=arr((E, F // 2, D), f32, "exp"),
)
p = {
    "in": arr((4 * CH, D), f32),
    "pos": arr((T, D), f32),
    "out": arr((D, 4 * CH), f32, "exp"),
    "b": [blk()],
}
c = (
    jax.jit(diffusion_step, donate_argnums=(0, 1))
    .lower(
        p,
        p,
        arr((N, W, W, CH), f32, "img"),
        arr((N, W, W, CH), f32, "img"),
        arr((N,), i32, "img"),
        jax.ShapeDtypeStruct(
            (), jax.random.key(0, impl="rbg").dtype, sharding=NamedSharding(mesh, P())
        ),
    )
    .compile()
)
print(c.memory_analysis())
