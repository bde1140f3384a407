"""Graph network with an implicit (fixed-point) layer and a physics residual. usage: gnn.py cpu|gpu"""

import os, sys

kind = sys.argv[1]
os.environ["JAX_PLATFORMS"] = "cpu"
if kind == "cpu":
    os.environ["XLA_FLAGS"] = (
        os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    )
import jax, jax.numpy as jnp, numpy as np
from functools import partial
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jax.experimental import topologies

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 core_count: 132 fpus_per_core: 128
  shared_memory_per_block: 49152 shared_memory_per_core: 233472 threads_per_core_limit: 2048
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 84929347584 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 } registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
devs = np.array(
    jax.devices()
    if kind == "cpu"
    else topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x8").devices
)
mesh = Mesh(devs.reshape(4, 2), ("node", "feat"))
N, E, D, H, STEPS, PTS = 256, 1024, 32, 4, 4, 64
CD = jnp.bfloat16 if kind == "gpu" else jnp.float32


def arr(shape, *spec, dtype="float32"):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def smap(ins, outs):
    return partial(jax.shard_map, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=False)


def con(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def edge_softmax(score, dst):  # per receiving node
    m = jax.ops.segment_max(lax.stop_gradient(score), dst, N)
    e = jnp.exp(score - jnp.where(jnp.isfinite(m), m, 0)[dst])
    return e / (jax.ops.segment_sum(e, dst, N)[dst] + 1e-6)


def message(p, x, src, dst, rel):
    q, k, v = (
        (x.astype(CD) @ p[n].astype(CD)).astype(jnp.float32).reshape(N, H, D // H)
        for n in ("q", "k", "v")
    )
    bias = jnp.tanh(rel @ p["rel"])  # [E,H]
    a = edge_softmax((q[dst] * k[src]).sum(-1) * (D // H) ** -0.5 + bias, dst)
    m = con(a[..., None] * v[src], ("node", "feat"))
    return jax.ops.segment_sum(m, dst, N).reshape(N, D) @ p["o"]


# implicit layer z = tanh(A z W + x), rows over node, columns over feat, ring of row blocks
@jax.custom_vjp
def implicit(w, adj, x):
    return implicit_fwd(w, adj, x)[0]


RING = [(i, (i + 1) % 4) for i in range(4)]


def cell(w, adj, x, z):  # in shard_map: adj [N/4,N], z [N/4,D/2], w [D/2,D]
    y = lax.psum_scatter(z @ w, "feat", scatter_dimension=1, tiled=True)
    me, n = lax.axis_index("node"), z.shape[0]

    def hop(c, t):
        acc, y = c
        blk = lax.dynamic_slice_in_dim(adj, ((me - t) % 4) * n, n, 1)
        return (acc + blk @ y, lax.ppermute(y, "node", RING)), None

    (acc, _), _ = lax.scan(hop, (jnp.zeros_like(y), y), jnp.arange(4))
    return jnp.tanh(0.3 * acc + x)


SP = (P("feat", None), P("node", None), P("node", "feat"))


def implicit_fwd(w, adj, x):
    @smap(SP, P("node", "feat"))
    def solve(w, adj, x):
        def body(c):
            z, _, i = c
            zn = 0.5 * z + 0.5 * cell(w, adj, x, z)
            return zn, lax.pmax(jnp.max(jnp.abs(zn - z)), ("node", "feat")), i + 1

        return lax.while_loop(
            lambda c: (c[1] > 1e-4) & (c[2] < 30), body, (jnp.zeros_like(x), jnp.float32(1), 0)
        )[0]

    z = solve(w, adj, x)
    return z, (w, adj, x, z)


def implicit_bwd(res, g):
    w, adj, x, z = res

    @smap(
        (*SP, P("node", "feat"), P("node", "feat")),
        (P("feat", None), P("node", None), P("node", "feat")),
    )
    def back(w, adj, x, z, g):
        _, vz = jax.vjp(lambda z: cell(w, adj, x, z), z)
        u, _ = lax.scan(lambda u, _: (g + vz(u)[0], None), g, None, length=6)
        _, vp = jax.vjp(lambda w, a, x: cell(w, a, x, z), w, adj, x)
        gw, ga, gx = vp(u)
        return lax.psum(gw, "node"), lax.psum(ga, "feat"), gx

    return back(w, adj, x, z, g)


implicit.defvjp(implicit_fwd, implicit_bwd)


def field(p, xy, t, ctx):  # u(x,y,t) for the residual u_t = lap u - u^3
    h = jnp.concatenate([jnp.sin(xy @ p["freq"]), jnp.cos(xy @ p["freq"]), t[None], ctx])
    h = jnp.tanh(h @ p["f1"])
    h = h + jnp.sin(h @ p["f2"]) if kind == "cpu" else h
    return (h @ p["f3"])[0]


def residual(p, pts, ts, ctx):
    def one(xy, t, c):
        u = field(p, xy, t, c)
        ut = jax.grad(field, 2)(p, xy, t, c)
        g = jax.grad(field, 1)
        lap = (
            0
            if kind == "gpu"
            else sum(
                jax.jvp(lambda q: g(p, q, t, c), (xy,), (e,))[1] @ e
                for e in jnp.eye(2)[: 2 if kind == "cpu" else 1]
            )
        )
        return (
            ut - lap + u**3 if kind == "cpu" else ut + 0.5 * jnp.sum(g(p, xy, t, c) ** 2)
        )  # gpu: Hamilton-Jacobi

    return jax.vmap(one)(pts, ts, ctx)


def loss(p, x, adj, src, dst, pos, pts, ts, target, key):
    rel = pos[dst] - pos[src]
    rel = jnp.concatenate([rel, (rel * rel).sum(-1, keepdims=True)], -1)

    def layer(h, lp):
        h = h + message(lp, h, src, dst, rel)
        mu, var = h.mean(-1, keepdims=True), h.var(-1, keepdims=True)
        h = (h - mu) * lax.rsqrt(var + 1e-5) * lp["g"]
        return con(
            h + (jax.nn.gelu if kind == "cpu" else jax.nn.relu)(h @ lp["up"]) @ lp["down"],
            "node",
            None,
        ), None

    h, _ = lax.scan(jax.checkpoint(layer) if kind == "cpu" else layer, x @ p["enc"], p["layers"])
    z = implicit(p["w"], adj, con(h, "node", "feat"))
    if kind == "gpu":
        key = None
    keep = key is not None and jax.random.bernoulli(key, 0.9, z.shape)
    z = z if key is None else jnp.where(keep, z / 0.9, 0)
    # heat steps by the graph Laplacian, Chebyshev filter
    deg = jax.ops.segment_sum(jnp.ones(E), dst, N)

    def cheb(c, th):
        a, b, acc = c
        nb = jax.ops.segment_sum(b[src], dst, N) / jnp.maximum(deg, 1)[:, None]
        nxt = 2 * nb - a
        return (b, nxt, acc + th * nxt), nxt.std() if kind == "cpu" else nxt[0, 0]

    (_, _, z2), stds = lax.scan(cheb, (jnp.zeros_like(z), z, z), p["theta"])
    best, ix = lax.top_k(z2 @ p["score"], PTS)  # pooled nodes
    ctx = z2[ix] * jax.nn.sigmoid(best)[:, None]
    r = residual(p, con(pts, "node"), ts, ctx)
    order = jnp.argsort(target[:, 0])
    cum = jnp.cumsum(z2[order, 0]) if kind == "cpu" else z2[0]
    data = jnp.mean((z2 @ p["dec"] - target) ** 2)
    return data + 0.1 * jnp.mean(r**2) + 1e-3 * jnp.abs(cum).max(), (stds, r)


def train(p, m, x, adj, src, dst, pos, pts, ts, target, seed):
    (l, (stds, r)), g = jax.value_and_grad(loss, has_aux=True)(
        p, x, adj, src, dst, pos, pts, ts, target, jax.random.key(seed[0])
    )
    nrm = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)))
    if kind == "gpu":
        nrm = None
    g = g if nrm is None else jax.tree.map(lambda a: a * jnp.minimum(1.0, 1.0 / (nrm + 1e-6)), g)
    m = jax.tree.map(lambda m, g: 0.95 * m + 0.05 * jnp.sign(g), m, g) if kind == "cpu" else g
    p = jax.tree.map(lambda p, m: p * (1 - 1e-4) - 1e-3 * m, p, m)
    return p, m, l, stds, lax.sort(jnp.abs(r))[-8:]


L = 2
lay = {n: arr((L, D, D), None, None, "feat") for n in "qkv"}
lay |= {
    "o": arr((L, D, D), None, "feat"),
    "rel": arr((L, 3, H)),
    "g": arr((L, D)),
    "up": arr((L, D, 2 * D), None, None, "feat"),
    "down": arr((L, 2 * D, D), None, "feat"),
}
params = {
    "enc": arr((8, D)),
    "layers": lay,
    "w": arr((D, D), "feat"),
    "theta": arr((STEPS,)),
    "score": arr((D,)),
    "dec": arr((D, 2)),
    "freq": arr((2, 8)),
    "f1": arr((17 + D, 64), None, "feat"),
    "f2": arr((64, 64), None, "feat"),
    "f3": arr((64, 1)),
}
both = ("node", "feat")
args = (
    params,
    params,
    arr((N, 8), "node"),
    arr((N, N), "node"),
    arr((E,), both, dtype="int32"),
    arr((E,), both, dtype="int32"),
    arr((N, 2)),
    arr((PTS, 2), "node"),
    arr((PTS,), "node"),
    arr((N, 2), "node"),
    arr((1,), dtype="uint32"),
)


def gnn_step(*a):
    return train(*a)


c = jax.jit(gnn_step, donate_argnums=(0, 1)).lower(*args).compile()
print("compiled", len(c.as_text() or ""))
