"""Two programs of a forecast: an ensemble and its particles against observations, and a smoother of stations over time.

Ahead of time for 2x2 chips of 7x: mesh member 4 x place 2. A Lorenz-96 model with two scales by rolls in a scan, a local
transform filter (eigenvectors of small matrices, by a batch), outliers rejected, inflation that adapts; particles resampled
only where few carry the weight (a conditional), Student noise; a smoother of linear systems by two associative scans, and
its noise moved by expectation and maximization in a while loop.
"""

import os

os.environ.update(
    JAX_PLATFORMS="cpu",
    TPU_SKIP_MDS_QUERY="1",
    TPU_WORKER_HOSTNAMES="localhost",
    ALLOW_MULTIPLE_LIBTPU_LOAD="1",
)
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="tpu7x:2x2x1")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("member", "place"))
f32, i32 = jnp.float32, jnp.int32
# members, places, small places of each, observations, those near a place, time steps, particles of each place, their size
M, X, J, O, NEAR, STEPS, W, D = 32, 512, 8, 256, 16, 24, 256, 4
# stations, times, size of a state, of an observation
ST, T, K, E = 64, 256, 8, 4


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
state = dict(
    big=S((M, X), f32, "member", "place"),
    small=S((M, X, J), f32, "member", "place"),
    inflate=S((X,), f32, "place"),
    particles=S((X, W, D), f32, "place", "member"),
    weights=S((X, W), f32, "place", "member"),
    key=S((2,), jnp.uint32),
)
seen = dict(
    value=S((O,), f32),
    place=S((O,), i32),
    spread=S((O,), f32),
    near=S((X, NEAR), i32, "place"),
    far=S((X, NEAR), f32, "place"),
)


def model(big, small):
    """One Runge-Kutta step of second order of both scales."""

    def slope(b, s):
        db = -jnp.roll(b, 1, 1) * (jnp.roll(b, 2, 1) - jnp.roll(b, -1, 1)) - b + 8.0
        flat = s.reshape(M, X * J)
        ds = -10 * jnp.roll(flat, -1, 1) * (jnp.roll(flat, -2, 1) - jnp.roll(flat, 1, 1)) - flat
        return db - 0.1 * s.sum(-1), ds.reshape(s.shape) + 0.1 * b[..., None]

    b, s = slope(big, small)
    b, s = slope(big + 0.002 * b, small + 0.002 * s)
    return con(big + 0.004 * b, "member", "place"), con(small + 0.004 * s, "member", "place", None)


def transform(big, inflate, seen):
    """A local ensemble transform: each place takes the observations near it."""
    mean = big.mean(0)
    apart = (big - mean) * jnp.sqrt(inflate)
    hx = big[:, seen["place"]]
    hm, ha = hx.mean(0), hx - hx.mean(0)
    miss = seen["value"] - hm
    allowed = jnp.abs(miss) < 4 * jnp.sqrt(seen["spread"] ** 2 + ha.var(0))
    r = jnp.where(allowed, seen["spread"] ** -2, 0.0)[seen["near"]] * jnp.exp(
        -0.5 * seen["far"] ** 2
    )
    y = con(ha[:, seen["near"]].transpose(1, 2, 0), "place", None, None)
    c = jnp.einsum("xnm,xn->xmn", y, r)
    a = jnp.einsum("xmn,xnk->xmk", c, y) + (M - 1) * jnp.eye(M)
    values, vectors = jnp.linalg.eigh(a)
    inverse = jnp.einsum("xmk,xk,xlk->xml", vectors, 1 / values, vectors)
    root = jnp.einsum("xmk,xk,xlk->xml", vectors, jnp.sqrt((M - 1) / values), vectors)
    w = jnp.einsum("xml,xln,xn->xm", inverse, c, miss[seen["near"]])
    new = mean + jnp.einsum("lx,xlm->mx", apart, root + w[..., None])
    count = jnp.maximum(jnp.sum(r > 0, 1), 1)
    wanted = (jnp.sum(r * miss[seen["near"]] ** 2, 1) - count) / jnp.maximum(
        jnp.sum(r * (y**2).mean(2), 1), 1e-6
    )
    return con(new, "member", "place"), jnp.clip(0.95 * inflate + 0.05 * wanted, 1.0, 1.5), allowed


def particles(p, w, big, key):
    """Particles of the unresolved scale; all places resample where a half of them carries the weight."""
    k1, k2, k3 = jax.random.split(key, 3)
    p = 0.9 * p + 0.1 * big.mean(0)[:, None, None] + 0.05 * jax.random.normal(k1, p.shape)
    e = big.var(0)[:, None] - jnp.sum(p * p, -1)
    log = jnp.log(w + 1e-30) - 2.5 * jnp.log1p(e * e / 4)
    w = jax.nn.softmax(log, -1)
    enough = 1 / jnp.sum(w * w, -1)

    def resample(c):
        p, w = c
        u = (jax.random.uniform(k2, (X, 1)) + jnp.arange(W)) / W
        i = jax.vmap(lambda c, u: jnp.searchsorted(c, u))(jnp.cumsum(w, -1), u)
        chosen = jnp.take_along_axis(p, jnp.minimum(i, W - 1)[..., None], 1)
        chosen = chosen + 0.01 * jax.random.normal(k3, p.shape)
        few = (enough < W / 2)[:, None]
        return jnp.where(few[..., None], chosen, p), jnp.where(few, 1 / W, w)

    p, w = lax.cond(jnp.mean(enough < W / 2) > 0.25, resample, lambda c: c, (p, w))
    return con(p, "place", "member", None), con(w, "place", "member"), enough


def cycle(state, seen):
    (big, small), _ = lax.scan(
        lambda c, _: (model(*c), None), (state["big"], state["small"]), None, STEPS
    )
    big, inflate, allowed = transform(big, state["inflate"], seen)
    key = jax.random.wrap_key_data(state["key"])
    p, w, enough = particles(state["particles"], state["weights"], big, jax.random.fold_in(key, 1))
    following = jax.random.key_data(jax.random.fold_in(key, 2))
    new = dict(big=big, small=small, inflate=inflate, particles=p, weights=w, key=following)
    return new, dict(mean=big.mean(0), spread=big.std(0), allowed=allowed.sum(), enough=enough)


system = dict(
    a=S((ST, K, K), f32, "place"),
    h=S((ST, E, K), f32, "place"),
    q=S((ST, K), f32, "place"),
    r=S((ST, E), f32, "place"),
)
series = S((ST, T, E), f32, "place", "member")


def smooth(s, y):
    """Means and variances of a linear system by two associative scans over time."""
    eye, q, r = jnp.eye(K), jax.vmap(jnp.diag)(s["q"]), jax.vmap(jnp.diag)(s["r"])
    cov = jnp.einsum("sek,skl,sfl->sef", s["h"], q, s["h"]) + r
    gain = jnp.linalg.solve(cov, s["h"] @ q).transpose(0, 2, 1)
    f = (eye - gain @ s["h"]) @ s["a"]
    hs = jnp.linalg.solve(cov, s["h"] @ s["a"])
    each = lambda x: jnp.broadcast_to(x[:, None], (ST, T, *x.shape[1:]))
    first = (jnp.arange(T) == 0)[:, None]
    b = jnp.einsum("ske,ste->stk", gain, y)
    eta = jnp.einsum("sek,ste->stk", hs, y)
    c = each((eye - gain @ s["h"]) @ q)
    j = each(s["a"].transpose(0, 2, 1) @ s["h"].transpose(0, 2, 1) @ hs)
    fs = jnp.where(first[..., None], 0.0, each(f))

    def join(m, n):
        (a1, b1, c1, e1, j1), (a2, b2, c2, e2, j2) = m, n
        d = jnp.linalg.inv(eye + c1 @ j2) if K < 3 else near(eye + c1 @ j2)
        left, dt = a2 @ d, jnp.swapaxes(d, -1, -2)
        up = jnp.swapaxes(a1, -1, -2) @ dt
        at = lambda m, v: jnp.einsum("...kl,...l->...k", m, v)
        return (
            left @ a1,
            at(left, b1 + at(c1, e2)) + b2,
            left @ c1 @ jnp.swapaxes(a2, -1, -2) + c2,
            at(up, e2 - at(j2, b1)) + e1,
            up @ j2 @ a1 + j1,
        )

    _, m, p, _, _ = lax.associative_scan(join, (fs, b, c, eta, j), axis=1)
    a = s["a"][:, None]
    ahead = a @ p @ jnp.swapaxes(a, -1, -2) + q[:, None]
    g = p @ jnp.swapaxes(a, -1, -2) @ near(ahead)
    g = jnp.where((jnp.arange(T) == T - 1)[:, None, None], 0.0, g)
    at = lambda m, v: jnp.einsum("...kl,...l->...k", m, v)
    v = m - at(g, at(a, m))
    u = p - g @ ahead @ jnp.swapaxes(g, -1, -2)

    def back(x, y):
        (g2, v2, u2), (g1, v1, u1) = x, y
        return g1 @ g2, at(g1, v2) + v1, g1 @ u2 @ jnp.swapaxes(g1, -1, -2) + u1

    _, m, p = lax.associative_scan(back, (g, v, u), axis=1, reverse=True)
    return m, p


def near(x):
    """An inverse by four steps of Newton from the transpose over norms."""
    size = jnp.abs(x).sum(-1).max(-1) * jnp.abs(x).sum(-2).max(-1)
    y = jnp.swapaxes(x, -1, -2) / size[..., None, None]
    return lax.fori_loop(0, 4, lambda _, y: 2 * y - y @ x @ y, y)


def tune(s, y):
    def one(c):
        s, _, turn = c
        m, p = smooth(s, y)
        miss = y - jnp.einsum("sek,stk->ste", s["h"], m)
        r = jnp.mean(miss**2 + jnp.einsum("sek,stkl,sel->ste", s["h"], p, s["h"]), 1)
        step = m[:, 1:] - jnp.einsum("skl,stl->stk", s["a"], m[:, :-1])
        q = jnp.mean(step**2, 1) + 1e-4
        moved = jnp.max(jnp.abs(r - s["r"]) / s["r"])
        return s | dict(q=0.5 * s["q"] + 0.5 * q, r=0.5 * s["r"] + 0.5 * r), moved, turn + 1

    s, moved, turns = lax.while_loop(
        lambda c: (c[1] > 1e-3) & (c[2] < 20), one, (s, f32(jnp.inf), i32(0))
    )
    m, p = smooth(s, y)
    return s, m, jnp.sqrt(jnp.diagonal(p, axis1=2, axis2=3)), turns


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        c = jax.jit(cycle, donate_argnums=0).trace(state, seen).lower(lowering_platforms=("tpu",))
        c.compile()
        c = jax.jit(tune, donate_argnums=0).trace(system, series).lower(lowering_platforms=("tpu",))
        c.compile()
