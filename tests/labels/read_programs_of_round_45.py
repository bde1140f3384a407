"""Particle-in-cell plasma step with implicit field smoothing. usage: pic.py cpu|tpu"""

import os, sys

kind = sys.argv[1]
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jax.experimental import topologies

if kind == "cpu":
    jax.config.update("jax_enable_x64", True)
    devs = np.array(jax.devices())
    F, I, C = jnp.float64, jnp.int64, jnp.complex128
else:
    devs = np.array(topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x2").devices)
    F, I, C = jnp.float32, jnp.int32, jnp.complex64
nd = len(devs)
RX, RY = nd // 2, 2
mesh = Mesh(devs.reshape(RX, RY), ("row", "col"))
NX, NY, NP, SUB = 32, 64, 1024, 3
HX, HY = NX // RX, NY // RY


def halo(u, axis, name, n):
    lo, hi = (
        lax.slice_in_dim(u, 0, 1, axis=axis),
        lax.slice_in_dim(u, u.shape[axis] - 1, u.shape[axis], axis=axis),
    )
    up = lax.ppermute(hi, name, [(i, (i + 1) % n) for i in range(n)])
    dn = lax.ppermute(lo, name, [(i, (i - 1) % n) for i in range(n)])
    return jnp.concatenate([up, u, dn], axis)


def lap(u):
    a = halo(u, 0, "row", RX)
    b = halo(u, 1, "col", RY)
    return a[2:] + a[:-2] + b[:, 2:] + b[:, :-2] - 4 * u


def dot(a, b):
    return lax.psum(jnp.vdot(a, b), ("row", "col"))


def helmholtz_cg(rhs, alpha, tol):
    A = lambda u: u - alpha * lap(u)

    def cond(c):
        return (c[3] > tol) & (c[4] < 20)

    def body(c):
        x, r, p, rr, k = c
        q = A(p)
        a = rr / dot(p, q)
        x, r = x + a * p, r - a * q
        n = dot(r, r)
        return x, r, r + (n / rr) * p, n, k + 1

    x0 = jnp.zeros_like(rhs)
    r0 = rhs - A(x0)
    return lax.while_loop(cond, body, (x0, r0, r0, dot(r0, r0), jnp.zeros((), jnp.int32)))


def poisson(rho):
    """pencil fft: y gathered by all_to_all over col, then x over row"""
    z = lax.all_to_all(rho.astype(C), "col", 0, 1, tiled=True)  # [HX/RY, NY]
    z = jnp.fft.fft(z, axis=1)
    z = (
        lax.all_to_all(z, "row", 1, 0, tiled=True) if RX > 1 else z
    )  # [NX/RY, NY/RX] (x blocks of this col's share)
    z = lax.all_gather(z, "col", axis=0, tiled=True)  # [NX, NY/RX]
    z = jnp.fft.fft(z, axis=0)
    kx = jnp.fft.fftfreq(NX).astype(F) * 2 * np.pi
    ky = lax.dynamic_slice_in_dim(
        jnp.fft.fftfreq(NY).astype(F) * 2 * np.pi, lax.axis_index("row") * (NY // RX), NY // RX
    )
    k2 = kx[:, None] ** 2 + ky[None] ** 2
    z = jnp.where(k2 > 0, z / jnp.where(k2 > 0, k2, 1), 0)
    e = jnp.stack([-1j * kx[:, None] * z, -1j * ky[None] * z]).astype(C)
    e = jnp.fft.ifft(e, axis=1)
    e = lax.all_gather(e, "row", axis=2, tiled=True)
    e = jnp.real(jnp.fft.ifft(e, axis=2)).astype(F)
    i, j = lax.axis_index("row"), lax.axis_index("col")
    return lax.dynamic_slice(e, (jnp.int32(0), i * HX, j * HY), (2, HX, HY))


def shard_step(pos, vel, w, field, key):
    """pos [n,2] cell units in the local tile, vel [n,2], w [n], field [HX,HY]"""
    n = pos.shape[0]
    key = jax.random.fold_in(key, lax.axis_index("row") * RY + lax.axis_index("col"))

    def sub(carry, k):
        pos, vel, w, fld = carry
        cell = jnp.floor(pos).astype(jnp.int32)
        flat = jnp.clip(cell[:, 0], 0, HX - 1) * HY + jnp.clip(cell[:, 1], 0, HY - 1)
        order = jnp.argsort(flat)
        pos, vel, w, flat = pos[order], vel[order], w[order], flat[order]
        starts = jnp.searchsorted(flat, jnp.arange(HX * HY, dtype=flat.dtype))
        cs = jnp.concatenate([jnp.zeros((1,), F), jnp.cumsum(w)])
        ends = jnp.concatenate([starts[1:], jnp.full((1,), n, starts.dtype)])
        rho = (cs[ends] - cs[starts]).reshape(HX, HY)
        sm, res, _, rr, it = helmholtz_cg(
            rho - lax.pmean(rho.mean(), ("row", "col")), jnp.asarray(0.3, F), jnp.asarray(1e-6, F)
        )
        e = poisson(sm)
        at = e.reshape(2, -1)[:, flat].T
        vel = vel + 0.05 * at
        hit = jax.random.bernoulli(jax.random.fold_in(key, k), 0.1, (n,))
        band = jnp.clip((jnp.sum(vel**2, -1) * 2).astype(jnp.int32), 0, 7)
        hot = jax.nn.one_hot(band, 8, dtype=F)
        cov = lax.psum(
            jnp.einsum("nb,ni,nj->bij", hot * w[:, None], vel, vel), ("row", "col")
        ) + jnp.eye(2, dtype=F)
        L = jnp.linalg.cholesky(cov)
        kick = jnp.einsum(
            "nb,bij,nj->ni", hot, L, jax.random.normal(jax.random.fold_in(key, k + 100), (n, 2), F)
        )
        vel = jnp.where(hit[:, None], 0.1 * kick, vel)
        pos = jnp.mod(pos + 0.1 * vel, jnp.array([HX, HY], F))
        stats = dict(
            it=it,
            rr=rr,
            hist=lax.psum(hot.sum(0), ("row", "col")),
            cfl=lax.pmax(jnp.abs(vel).max(), ("row", "col")),
        )
        return (pos, vel, w, 0.9 * fld + 0.1 * sm), stats

    (pos, vel, w, field), st = lax.scan(sub, (pos, vel, w, field), jnp.arange(SUB))
    med = jnp.sort(lax.all_gather(jnp.sum(vel**2, -1), "row", tiled=True))[n * RX // 2]
    return pos, vel, w, field, st, lax.pmean(med, "col")


def pic_step(pos, vel, w, field, key):
    f = jax.shard_map(
        shard_step,
        mesh=mesh,
        in_specs=(P(("row", "col")), P(("row", "col")), P(("row", "col")), P("row", "col"), P()),
        out_specs=(
            P(("row", "col")),
            P(("row", "col")),
            P(("row", "col")),
            P("row", "col"),
            P(),
            P(),
        ),
        check_vma=False,
    )
    pos, vel, w, field, st, med = f(pos, vel, w, field, key)
    prof = jnp.cumsum(field, 1)
    rank = jnp.argsort(-prof.max(0))[:5]
    q, r = jnp.linalg.qr(vel[:16])
    return pos, vel, w, field, st, med, prof[:, rank], jnp.diag(r)


S = lambda s, d, *p: jax.ShapeDtypeStruct(s, d, sharding=NamedSharding(mesh, P(*p)))
both = ("row", "col")
c = (
    jax.jit(pic_step, donate_argnums=(0, 1))
    .lower(
        S((NP, 2), F, both),
        S((NP, 2), F, both),
        S((NP,), F, both),
        S((NX, NY), F, *both),
        S((2,), jnp.uint32),
    )
    .compile()
)
print("ok", c.memory_analysis())
