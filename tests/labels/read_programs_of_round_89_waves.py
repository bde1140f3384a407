"""Two programs of a physics-informed network: a step of Gauss-Newton with damping, and a new draw of its points.

For four H100, ahead of time: mesh point 2 x width 2. The equation of Korteweg and de Vries with a third derivative by
Taylor series (jet) and times by forward slopes, a network of sines with periodic features, slabs of time weighed by the
losses of those before (a triangular product); the step solves the damped normal equations by conjugate gradients in a
while loop with a preconditioner by layers, takes it or leaves it by a conditional, and moves the damping; the draw keeps
half of the points, takes others where residuals are large by Gumbel noise, and compares spectra with a reference.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.experimental.jet import jet
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84978434048
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("point", "width"))
f32, i32 = jnp.float32, jnp.int32
# points, slabs of time, points of the start, width, features, candidates, grid of the reference
N, C, N0, D, K, POOL, GT, GX = 4096, 16, 512, 256, 16, 32768, 64, 256


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params = dict(
    first=S((2 * K + 2, D), f32, None, "width"),
    w=[S((D, D), f32, None, "width") for _ in range(1)],
    b=[S((D,), f32, "width") for _ in range(2)],
    last=S((D, 1), f32, "width"),
)
points = dict(
    t=S((N,), f32, "point"),
    x=S((N,), f32, "point"),
    x0=S((N0,), f32, "point"),
    u0=S((N0,), f32, "point"),
)
state = dict(params=params, damp=S((), f32), key=S((2,), jnp.uint32), step=S((), i32))


def net(p, t, x):
    k = jnp.arange(1, K + 1, dtype=f32)
    a = x[:, None] * k
    f = jnp.concatenate([t[:, None], t[:, None] * 0 + 1, jnp.cos(a), jnp.sin(a)], 1)
    h = jnp.sin(f @ p["first"] + p["b"][0])
    for w, b in zip(p["w"], p["b"][1:], strict=True):
        h = h + jnp.sin(h @ w + b)
    return (h @ p["last"])[:, 0]


def equation(p, t, x):
    one, no = jnp.ones_like(x), jnp.zeros_like(x)
    u, (ux, _, uxxx) = jet(lambda x: net(p, t, x), (x,), ((one, no, no),))
    _, ut = jax.jvp(lambda t: net(p, t, x), (t,), (one,))
    return ut + u * ux + 0.0025 * uxxx


def residuals(p, d):
    r = equation(p, d["t"], d["x"])
    start = (net(p, 0 * d["x0"], d["x0"]) - d["u0"]) * jnp.sqrt(100.0 / N0)
    return con(r, "point"), con(start, "point")


def slabs(r, t):
    of = jnp.clip((t * C).astype(i32), 0, C - 1)
    total = jax.ops.segment_sum(r * r, of, C)
    mean = total / jnp.maximum(jax.ops.segment_sum(jnp.ones_like(t), of, C), 1)
    return jnp.exp(-0.1 * jnp.tril(jnp.ones((C, C)), -1) @ mean), of


dot = lambda a, b: sum(
    jnp.vdot(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
)
axpy = lambda s, a, b: jax.tree.map(lambda x, y: s * x + y, a, b)


def pinn_step(state, d):
    p = state["params"]
    r, raw = jax.linearize(lambda p: residuals(p, d), p)
    weights, of = slabs(r[0], d["t"])
    weighed = lambda r: (r[0] * jnp.sqrt(weights[of] / N), r[1])
    r, forward = weighed(r), lambda v: weighed(raw(v))
    back = jax.linear_transpose(forward, p)
    g = back(r)[0]
    scale = jax.tree.map(lambda x: jnp.sqrt(jnp.mean(x * x)) + 1e-8, g)
    damp = state["damp"]

    def normal(v):
        return axpy(damp, v, back(forward(v))[0])

    inverse = lambda v: jax.tree.map(lambda x, s: x / (s + damp), v, scale)

    def turn(c):
        x, q, s, old, n = c
        a = normal(s)
        alpha = old / (dot(s, a) + 1e-30)
        x, q = axpy(alpha, s, x), axpy(-alpha, a, q)
        z = inverse(q)
        new = dot(q, z)
        return x, q, axpy(new / old, s, z), new, n + 1

    q = jax.tree.map(jnp.negative, g)
    z = inverse(q)
    start = dot(q, z)
    more = lambda c: (c[3] > 1e-6 * start) & (c[4] < 60)
    move, *_, turns = lax.while_loop(more, turn, (jax.tree.map(jnp.zeros_like, p), q, z, start, 0))
    value = dot(r, r)
    told = forward(move)
    expected = value - dot(*(2 * [jax.tree.map(jnp.add, r, told)]))
    tried = jax.tree.map(jnp.add, p, move)
    r2 = weighed(residuals(tried, d))
    gain = (value - dot(r2, r2)) / (expected + 1e-30)
    p = lax.cond(gain > 0.01, lambda: tried, lambda: p)
    damp = jnp.where(gain > 0.75, damp / 3, jnp.where(gain < 0.25, damp * 4, damp))
    return state | dict(params=p, damp=jnp.clip(damp, 1e-8, 1e4), step=state["step"] + 1), (
        value,
        gain,
        turns,
        weights,
    )


def pinn_points(state, d, reference):
    key, a, b, c, e = jax.random.split(jax.random.wrap_key_data(state["key"]), 5)
    t = con(jax.random.uniform(a, (POOL,)), "point")
    x = con(jax.random.uniform(b, (POOL,), minval=-jnp.pi, maxval=jnp.pi), "point")
    r = jnp.concatenate(
        [
            jnp.abs(part)
            for part in lax.map(
                lambda tx: equation(state["params"], *tx), (t.reshape(8, -1), x.reshape(8, -1))
            )
        ]
    )
    noisy = jnp.log(r + 1e-6) + jax.random.gumbel(c, (POOL,))
    _, new = lax.top_k(noisy, N // 2)
    old = jax.random.permutation(e, N)[: N // 2]
    t2, x2 = jnp.concatenate([d["t"][old], t[new]]), jnp.concatenate([d["x"][old], x[new]])
    t2, x2 = lax.sort((t2, x2), num_keys=1)
    gt, gx = jnp.meshgrid(
        jnp.linspace(0, 1, GT), jnp.linspace(-jnp.pi, jnp.pi, GX, endpoint=False), indexing="ij"
    )
    u = con(net(state["params"], gt.ravel(), gx.ravel()).reshape(GT, GX), "point", None)
    power = lambda u: jnp.mean(jnp.abs(jnp.fft.rfft(u, axis=1)) ** 2, 0)
    off = jnp.sqrt(jnp.sum((u - reference) ** 2, 1) / jnp.sum(reference**2, 1))
    return (
        dict(d, t=con(t2, "point"), x=con(x2, "point")),
        jax.random.key_data(key),
        off,
        jnp.log(power(u) / power(reference)),
        jnp.quantile(r, jnp.array([0.5, 0.9, 0.99])),
    )


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        c = jax.jit(pinn_step, donate_argnums=0).trace(state, points)
        print(len(c.lower(lowering_platforms=("cuda",)).compile().as_text()))
        c = jax.jit(pinn_points, donate_argnums=1).trace(
            state, points, S((GT, GX), f32, "point", "width")
        )
        print(len(c.lower(lowering_platforms=("cuda",)).compile().as_text()))
