"""Molecular dynamics / point cloud: cell sort, neighbours, segment_sum, ring ppermute, CG while_loop, fft, cond."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

name = sys.argv[1]
kw = dict(chip_config_name="megacore") if name.startswith("v5p") else {}
d = np.array(topologies.get_topology_desc(platform="tpu", topology_name=name, **kw).devices)
mesh = Mesh(d.reshape(2, 2), ("x", "y"))
f32 = jnp.float32


def S(shape, dt=f32, *s):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*s)))


N, E, G, C, BOX = 2048, 8192, 32, 16, 16.0


def spread(pos, q):
    """charges to a mesh, Poisson by fft, and the potential back."""
    c = jnp.floor(pos / BOX * G).astype(jnp.int32) % G
    idx = (c[:, 0] * G + c[:, 1]) * G + c[:, 2]
    rho = jnp.zeros(G**3).at[idx].add(q).reshape(G, G, G)
    k = jnp.fft.fftfreq(G) * G
    k2 = k[:, None, None] ** 2 + k[None, :, None] ** 2 + k[None, None, :] ** 2
    phi = jnp.fft.ifftn(jnp.fft.fftn(rho) * jnp.where(k2 > 0, 1.0 / jnp.maximum(k2, 1.0), 0.0)).real
    return jnp.sum(q * phi.reshape(-1)[idx])


def pair_ring(pos, q):
    """Lennard-Jones, all pairs, blocks of particles go round the x axis."""

    def local(p, q):
        n = jax.lax.axis_size("x")
        me = jax.lax.axis_index("x")

        def one(i, c):
            pj, qj, e, f = c
            dx = p[:, None] - pj[None]
            dx = dx - BOX * jnp.round(dx / BOX)
            r2 = jnp.sum(dx * dx, -1) + 0.01
            same = (jnp.arange(p.shape[0])[:, None] == jnp.arange(p.shape[0])[None]) & (i == 0)
            s6 = jnp.where(same | (r2 > 9.0), 0.0, 1.0 / r2**3)
            e = (
                e
                + jnp.sum(4 * (s6 * s6 - s6), 1)
                + jnp.sum(q[:, None] * qj[None] * jnp.where(same, 0.0, jax.lax.rsqrt(r2)), 1)
            )
            f = f + jnp.sum((24 * (2 * s6 * s6 - s6) / r2)[..., None] * dx, 1)
            perm = [(a, (a + 1) % n) for a in range(n)]
            return jax.lax.ppermute(pj, "x", perm), jax.lax.ppermute(qj, "x", perm), e, f

        z = jax.lax.pcast(jnp.zeros(p.shape[0]), ("x",), to="varying")
        _, _, e, f = jax.lax.fori_loop(0, n, one, (p, q, z, jnp.zeros_like(p)))
        return jax.lax.psum(e.sum(), "x"), f

    return jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=(P(), P("x")))(
        pos, q
    )


def message(pos, feat, ed, w):
    s, r = ed[:, 0], ed[:, 1]
    dx = pos[s] - pos[r]
    d = jnp.sqrt(jnp.sum(dx * dx, -1) + 1e-6)
    rbf = jnp.exp(-((d[:, None] - jnp.linspace(0.0, 4.0, C)) ** 2))
    m = jax.nn.silu(jnp.concatenate([feat[s], feat[r], rbf], -1) @ w["a"]) @ w["b"]
    agg = jax.ops.segment_sum(m, r, N)
    mx = jax.ops.segment_max(m, r, N)
    deg = jax.ops.segment_sum(jnp.ones(E), r, N)
    return feat + jnp.tanh(
        (agg / jnp.maximum(deg, 1.0)[:, None] + jnp.where(jnp.isfinite(mx), mx, 0.0)) @ w["c"]
    )


def cg(A, b, tol):
    def cond(c):
        return (c[3] > tol * tol) & (c[4] < 100)

    def body(c):
        x, r, p, rs, i = c
        Ap = A(p)
        al = rs / jnp.vdot(p, Ap)
        x = x + al * p
        r = r - al * Ap
        r2 = jnp.vdot(r, r)
        return x, r, r + (r2 / rs) * p, r2, i + 1

    z = jnp.zeros_like(b)
    return jax.lax.while_loop(cond, body, (z, b, b, jnp.vdot(b, b), 0))


def md_step(st, ed, w):
    pos, vel, q, feat, key = st["pos"], st["vel"], st["q"], st["feat"], st["key"]
    cell = jnp.floor(pos / BOX * 8).astype(jnp.int32)
    h = (cell[:, 0] * 8 + cell[:, 1]) * 8 + cell[:, 2]
    h, order = jax.lax.sort((h, jnp.arange(N, dtype=jnp.int32)), num_keys=1)
    inv = jnp.zeros(N, jnp.int32).at[order].set(jnp.arange(N, dtype=jnp.int32))
    pos, vel, q, feat = pos[order], vel[order], q[order], feat[order]
    ed = inv[ed]
    count = jnp.bincount(h, length=512)
    dens = jnp.cumsum(count)[h]
    with jax.named_scope("ring"):
        e, f = pair_ring(pos, q)

    def energy(pos, w):
        x = feat
        for i in range(2):
            x = message(pos, x, ed, {k: v[i] for k, v in w.items()})
        return jnp.sum(x**2) * 1e-3 + spread(pos, q), x

    (en, feat), (gp, gw) = jax.value_and_grad(energy, (0, 1), has_aux=True)(pos, w)
    lap = lambda v: 2.0 * v + jax.ops.segment_sum(v[ed[:, 1]] - v[ed[:, 0]], ed[:, 1], N) * -0.01
    x, r, _, rs, it = cg(lap, q - q.mean(), 1e-4)
    f = f - gp + x[:, None] * 0.01
    key, k = jax.random.split(key)
    hot = jnp.mean(vel**2) > st["T"]
    vel = jax.lax.cond(
        hot, lambda v: v * 0.99, lambda v: v + 0.01 * jax.random.normal(k, v.shape), vel + 0.001 * f
    )
    pos = (pos + 0.001 * vel) % BOX
    top, who = jax.lax.top_k(jnp.sum(f * f, -1), 32)
    w = jax.tree.map(lambda a, b: a - 1e-3 * b, w, gw)
    return (
        dict(pos=pos, vel=vel, q=q, feat=feat, key=key, T=st["T"]),
        w,
        dict(e=e + en, it=it, top=top, who=who, dens=dens),
    )


st = dict(
    pos=S((N, 3), f32, "x"),
    vel=S((N, 3), f32, "x"),
    q=S((N,), f32, "x"),
    feat=S((N, 64), f32, "x", "y"),
    key=S((2,), jnp.uint32),
    T=S(()),
)
w = dict(
    a=S((2, 128 + C, 128), f32, None, None, "y"),
    b=S((2, 128, 64), f32, None, "y"),
    c=S((2, 64, 64)),
)
c = jax.jit(md_step, donate_argnums=(0, 2)).lower(st, S((E, 2), jnp.int32, "x"), w).compile()
print("compiled", len(c.as_text() or ""))
