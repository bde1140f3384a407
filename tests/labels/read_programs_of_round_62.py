"""Continuous + discrete normalizing flow train step (adaptive Heun-Euler/RK integrator, adjoint by custom_vjp, mixture density head), H100 x4, mesh 2x2 (fs, tp), ahead of time."""

import os, re

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from functools import partial

jax.config.update("jax_enable_x64", True)
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
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("fs", "tp"))
bf, f32, f64 = jnp.bfloat16, jnp.float32, jnp.float64


def S(shape, dt=f32, *s):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*s)))


def con(x, *s):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


B, D, H, K, L, NMAX, NB = (
    64,
    16,
    128,
    6,
    3,
    12,
    8,
)  # batch, dim, hidden, mixture, flow layers, max steps, spline bins
CHOL = os.environ.get("CHOL", "lib")
params = dict(
    vf=dict(
        w1=S((D + 1, H), f32, None, "tp"),
        b1=S((H,), f32, "tp"),
        w2=S((H, H), f32, "fs", "tp"),
        g2=S((H,), f32, "tp"),
        w3=S((H, D), f32, "tp", "fs"),
    ),
    lu=[dict(l=S((D, D), f32, "fs"), u=S((D, D), f32, None, "tp"), s=S((D,))) for _ in range(L)],
    spl=[
        dict(
            w=S((D // 2, H), f32, None, "tp"),
            o=S((H, (D // 2) * (3 * NB + 1)), f32, "fs", "tp"),
            b=S(((D // 2) * (3 * NB + 1),), f32, "tp"),
        )
        for _ in range(L)
    ],
    mix=dict(mu=S((K, D)), pi=S((K,)), tr=S((K, D, D), f32, None, "fs")),
    cond=S((8, K), f32, None),
)


def field(p, t, x):
    h = jnp.concatenate([x, jnp.full(x.shape[:-1] + (1,), t, x.dtype)], -1).astype(bf)
    h = jnp.tanh(h @ p["w1"].astype(bf) + p["b1"].astype(bf))
    h = jax.nn.softplus((h @ p["w2"].astype(bf)).astype(f32) * p["g2"])
    return (h.astype(bf) @ p["w3"].astype(bf)).astype(f32)


def aug(p, eps, t, y):
    x = y[..., :D]
    f = lambda z: field(p, t, z)
    dx, je = jax.jvp(f, (x,), (eps,))
    return jnp.concatenate(
        [dx, -(je * eps).sum(-1, keepdims=True), jnp.square(dx).sum(-1, keepdims=True)], -1
    )


A = ((), (1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9))
C = (0.0, 0.5, 0.75, 1.0)
B3 = (2 / 9, 1 / 3, 4 / 9, 0.0)
E3 = (2 / 9 - 7 / 24, 1 / 3 - 1 / 4, 4 / 9 - 1 / 3, -1 / 8)


def integrate(f, y0, t0, t1, tol):
    """Bogacki-Shampine 3(2) with accept / reject, at most NMAX steps; keeps an f64 clock and the sizes of the accepted steps."""
    sgn = jnp.sign(t1 - t0)

    def cond(c):
        return (c[0] < NMAX) & (jnp.abs(t1 - c[1]) > 1e-9)

    def body(c):
        i, t, h, y, hist, rej = c
        h = jnp.minimum(jnp.abs(h), jnp.abs(t1 - t)) * sgn
        h = jnp.where(i == NMAX - 1, t1 - t, h)
        ks = []
        for a, cc in zip(A, C):
            yi = y + h.astype(f32) * sum([aa * k for aa, k in zip(a, ks)], jnp.zeros_like(y))
            ks.append(f((t + cc * h).astype(f32), yi))
        y1 = y + h.astype(f32) * sum(b * k for b, k in zip(B3, ks))
        e = h.astype(f32) * sum(b * k for b, k in zip(E3, ks))
        sc = tol + tol * jnp.maximum(jnp.abs(y), jnp.abs(y1))
        err = jnp.sqrt(jnp.mean(jnp.square(e / sc))).astype(f64)
        ok = (err <= 1.0) | (i == NMAX - 1)
        fac = jnp.clip(0.9 * (err + 1e-10) ** (-1 / 3), 0.2, 5.0)
        hist = jax.lax.dynamic_update_index_in_dim(hist, jnp.where(ok, h, 0.0).astype(f64), i, 0)
        return (
            i + 1,
            jnp.where(ok, t + h, t),
            h * fac,
            jnp.where(ok, y1, y),
            hist,
            rej + (~ok).astype(jnp.int32),
        )

    c = jax.lax.while_loop(
        cond,
        body,
        (
            jnp.int32(0),
            jnp.asarray(t0, f64),
            (t1 - t0) * 0.1,
            y0,
            jnp.zeros((NMAX,), f64),
            jnp.int32(0),
        ),
    )
    return c[3], c[4], c[5]


@jax.custom_vjp
def odeint(p, eps, y0):
    return integrate(partial(aug, p, eps), y0, f64(0.0), f64(1.0), 1e-3)


def ode_f(p, eps, y0):
    o = odeint(p, eps, y0)
    return o, (p, eps, o[0])


def ode_b(r, ct):
    p, eps, y1 = r

    def back(t, s):
        y, a = s[0], s[1]
        v, vjp = jax.vjp(lambda pp, yy: aug(pp, eps, t, yy), p, y)
        gp, gy = vjp(-a)
        return v, gy, gp

    # fixed-step adjoint: 8 checkpointed RK2 steps, backwards; the clock is a cumulative sum of log-spaced steps
    hs = jax.nn.softmax(jnp.linspace(f64(0.0), f64(1.0), 8))
    ts = 1.0 - jnp.cumsum(hs) + hs

    @jax.checkpoint
    def step(c, d):
        y, a, g = c
        t, h = d
        hf = -h.astype(f32)
        v, ga, gp = back(t.astype(f32), (y, a))
        v2, ga2, gp2 = back((t - h / 2).astype(f32), (y + hf / 2 * v, a + hf / 2 * ga))
        return (y + hf * v2, a + hf * ga2, jax.tree.map(lambda q, w: q + hf * w, g, gp2)), jnp.abs(
            ga2
        ).max()

    (y0, a0, g), _ = jax.lax.scan(step, (y1, ct[0], jax.tree.map(jnp.zeros_like, p)), (ts, hs))
    return g, jnp.zeros_like(eps), a0


odeint.defvjp(ode_f, ode_b)


def chol(a):
    if CHOL == "lib":
        return jnp.linalg.cholesky(a)
    n = a.shape[-1]  # right-looking Cholesky, one column a trip

    def body(j, c):
        a, l = c
        d = jnp.sqrt(a[j, j])
        col = jnp.where(jnp.arange(n) >= j, a[:, j] / d, 0.0)
        return a - col[:, None] * col[None], l.at[:, j].set(col)

    return jax.lax.fori_loop(0, n, body, (a, jnp.zeros_like(a)), unroll=2)[1]


def lulin(p, x):
    l = jnp.tril(p["l"], -1) + jnp.eye(D, dtype=f32)
    u = jnp.triu(p["u"], 1) + jnp.diag(jnp.exp(p["s"]))
    return jnp.einsum("bd,de,ef->bf", x, u, l), p["s"].sum()


def spline(p, x):
    """Rational-quadratic coupling; vmap over samples and dimensions."""
    xa, xb = jnp.split(x, 2, -1)
    h = (jax.nn.gelu(xa.astype(bf) @ p["w"].astype(bf)) @ p["o"].astype(bf)).astype(f32) + p["b"]
    h = con(h.reshape(x.shape[0], D // 2, 3 * NB + 1), "fs", "tp")

    def one(th, z):
        w = jax.nn.softmax(th[:NB])
        hh = jax.nn.softmax(th[NB : 2 * NB])
        d = jax.nn.softplus(th[2 * NB :]) + 1e-3
        kx = jnp.pad(jnp.cumsum(w), (1, 0)) * 6 - 3
        ky = jnp.pad(jnp.cumsum(hh), (1, 0)) * 6 - 3
        i = jnp.clip(jnp.searchsorted(kx, z) - 1, 0, NB - 1)
        x0, x1, y0, y1, d0, d1 = kx[i], kx[i + 1], ky[i], ky[i + 1], d[i], d[i + 1]
        s = (y1 - y0) / (x1 - x0)
        t = jnp.clip((z - x0) / (x1 - x0), 0.0, 1.0)
        q = t * (1 - t)
        den = s + (d1 + d0 - 2 * s) * q
        y = y0 + (y1 - y0) * (s * t * t + d0 * q) / den
        ld = 2 * jnp.log(s) + jnp.log(d1 * t * t + 2 * s * q + d0 * (1 - t) ** 2) - 2 * jnp.log(den)
        inside = (z > -3) & (z < 3)
        return jnp.where(inside, y, z), jnp.where(inside, ld, 0.0)

    yb, ld = jax.vmap(jax.vmap(one))(h, xb)
    return jnp.concatenate([yb, xa], -1), ld.sum(-1)


def mdn(p, cond, z, lab):
    a = jnp.einsum("kij,klj->kil", p["tr"], p["tr"]).astype(f64) + 1e-3 * jnp.eye(D)
    ch = jax.vmap(chol)(a)
    half = jnp.log(jnp.diagonal(ch, axis1=-2, axis2=-1)).sum(-1)
    dz = (z[:, None] - p["mu"]).astype(f64)  # b k d
    sol = jax.vmap(lambda l, r: jax.lax.linalg.triangular_solve(l, r, left_side=True, lower=True))(
        ch, jnp.moveaxis(dz, 0, 2)
    )
    lp = (-0.5 * jnp.square(sol).sum(1) - half[:, None]).T.astype(f32) - float(
        D / 2 * np.log(2 * np.pi)
    )
    lw = jax.nn.log_softmax(p["pi"] + cond[lab], -1)
    return jax.nn.logsumexp(lp + lw, -1), jax.nn.softmax(lp + lw, -1)


def loss_fn(p, x, lab, key):
    eps = jax.random.rademacher(key, x.shape, f32)
    ld = jnp.zeros(x.shape[:1], f32)
    for a, b in zip(p["lu"], p["spl"]):
        x, s = lulin(a, x)
        x, l = jax.checkpoint(spline)(b, x)
        ld = ld + l + s
    y, hist, rej = odeint(
        p["vf"], eps, jnp.concatenate([x, jnp.zeros(x.shape[:1] + (2,), f32)], -1)
    )
    lp, resp = mdn(p["mix"], p["cond"], y[:, :D], lab)
    nll = -(lp + ld - y[:, D]) / D
    ent = -(resp * jnp.log(resp + 1e-8)).sum(-1).mean()
    return nll.mean() + 0.01 * y[:, D + 1].mean() - 1e-3 * ent, dict(
        nfe=(hist != 0).sum(), rej=rej, h=hist, med=jnp.sort(nll)[B // 2], use=resp.mean(0)
    )


def cnf_train_step(st, batch):
    x, lab = batch
    key = jax.random.fold_in(st["rng"], st["t"])
    x = x + jax.random.uniform(key, x.shape, f32) / 256.0  # dequantize
    (l, aux), g = jax.value_and_grad(loss_fn, has_aux=True)(st["p"], x, lab, key)
    n2 = sum(jnp.sum(jnp.square(q.astype(f64))) for q in jax.tree.leaves(g))
    nrm = jnp.sqrt(n2).astype(f32)
    ok = jnp.isfinite(nrm)
    sc = jnp.where(ok, jnp.minimum(1.0, 1.0 / (nrm + 1e-6)), 0.0)
    t = st["t"] + 1
    tf = t.astype(f32)
    lr = 3e-4 * jnp.where(
        tf < 100, tf / 100, 0.5 * (1 + jnp.cos(np.pi * jnp.clip((tf - 100) / 9900, 0, 1)))
    )

    def up(q, g, m, v):
        g = g * sc
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        u = (m / (1 - 0.9**tf)) / (jnp.sqrt(v / (1 - 0.999**tf)) + 1e-8) + (
            1e-2 * q if q.ndim > 1 else 0.0
        )
        return jnp.where(ok, q - lr * u, q), m, v

    o = jax.tree.map(up, st["p"], g, st["m"], st["v"])
    pick = lambda i: jax.tree.map(lambda q: q[i], o, is_leaf=lambda q: isinstance(q, tuple))
    q, r = (
        jnp.linalg.qr(pick(0)["lu"][0]["l"])
        if os.environ.get("QR")
        else (jnp.zeros(()), jnp.zeros(()))
    )
    return dict(p=pick(0), m=pick(1), v=pick(2), t=t, rng=st["rng"]), dict(
        loss=l, norm=nrm, lr=lr, orth=jnp.abs(q).sum() + jnp.abs(r).sum(), **aux
    )


st = dict(p=params, m=params, v=params, t=S((), jnp.int32), rng=S((2,), jnp.uint32))
batch = (S((B, D), f32, "fs"), S((B,), jnp.int32, "fs"))
low = jax.jit(cnf_train_step, donate_argnums=(0,)).lower(st, batch)
print("lowered", len(low.as_text()))
c = low.compile()
print("compiled", len(c.as_text() or ""))
