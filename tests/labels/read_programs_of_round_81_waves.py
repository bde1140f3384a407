"""A step of variational Monte Carlo: electrons of a molecule by a neural wave function of determinants, natural gradient.

Ahead of time for v5p 2x2x2: mesh walker 4 x det 2, a sum of determinants over "det". Moves by Metropolis in a while loop
with a width that adapts, local energies by forward Laplacians of each coordinate in a loop, logs and signs by LU of small
matrices with slopes of their own, pair streams, clipped energies, stochastic reconfiguration by CG, walkers replaced by
branching (systematic resampling), blocks of running means.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v5p:2x2x2")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("walker", "det"))
f32, i32 = jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# walkers, electrons, those with spin up, nuclei, determinants, widths of both streams, layers
B, N, UP, A, K, D, E, L = 512, 8, 4, 2, 16, 128, 32, 3
MOVES, ROUNDS = 10, 8
CHARGE = np.array([4.0, 4.0], np.float32)

layers = dict(
    one=S((L, 3 * D + 2 * E, D), f32),
    bias=S((L, D), f32),
    two=S((L, E, E), f32),
    pair=S((L, E), f32),
)
params = dict(
    first=S((4 * A, D), f32),
    near=S((4, E), f32),
    layers=layers,
    orbit=S((2, D, K, N), f32, None, None, "det"),
    decay=S((2, A, K, N), f32, None, None, "det"),
    mix=S((K,), f32, "det"),
    cusp=S((2,), f32),
)
state = dict(
    params=params,
    last=params,
    place=S((B, N, 3), f32, "walker"),
    width=S((), f32),
    blocks=S((64, 3), f32),
    step=S((), i32),
)
nuclei = S((A, 3), f32)
key = S((2,), jnp.uint32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def safe(x):
    return jnp.sqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-12)


@jax.custom_jvp
def logdet(m):
    return jnp.linalg.slogdet(m)


@logdet.defjvp
def _(x, dx):
    (m,), (dm,) = x, dx
    sign, log = logdet(m)
    inverse = jnp.linalg.solve(m, dm)
    return (sign, log), (jnp.zeros_like(sign), jnp.trace(inverse, axis1=-2, axis2=-1))


def wave(p, r, nuclei):
    """Sign and logarithm of the wave function at places r of all electrons of a walker."""
    with jax.named_scope("streams"):
        apart = r[:, None] - nuclei
        far = safe(apart)
        h = jnp.concatenate([apart, far], -1).reshape(N, -1) @ p["first"]
        gap = r[:, None] - r[None] + np.eye(N, dtype=np.float32)[..., None]
        long = safe(gap)
        g = jnp.concatenate([gap, long], -1) @ p["near"]

        def layer(c, w):
            h, g = c
            up, down = jnp.mean(h[:UP], 0, keepdims=True), jnp.mean(h[UP:], 0, keepdims=True)
            mean = [jnp.broadcast_to(x, h.shape) for x in (up, down)]
            pairs = [jnp.mean(g[:, :UP], 1), jnp.mean(g[:, UP:], 1)]
            y = jnp.tanh(jnp.concatenate([h, *mean, *pairs], -1) @ w["one"] + w["bias"])
            return (h + y, g + jnp.tanh(g @ w["two"] + w["pair"])), None

        (h, g), _ = lax.scan(layer, (h, g), p["layers"])
    with jax.named_scope("orbits"):
        spins = [h[:UP], h[UP:]]
        fars = [far[:UP, :, 0], far[UP:, :, 0]]
        rows = []
        for i in range(2):
            m = jnp.einsum("nd,dkm->knm", spins[i], p["orbit"][i])
            fall = jnp.exp(-jnp.abs(p["decay"][i])[None] * fars[i][..., None, None])
            rows.append(m * jnp.moveaxis(fall.sum(1), 0, 1))
        sign, log = logdet(jnp.concatenate(rows, 1))
    with jax.named_scope("sum"):
        top = lax.stop_gradient(jnp.max(log))
        total = jnp.sum(p["mix"] * sign * jnp.exp(log - top))
        alike = (np.arange(N)[:, None] < UP) == (np.arange(N)[None] < UP)
        upper = np.triu(np.ones((N, N), bool), 1)
        a = jnp.where(alike, p["cusp"][0], p["cusp"][1])
        bend = jnp.where(alike, -0.25, -0.5) * a * a / (a + long[..., 0])
        cusp = jnp.sum(jnp.where(upper, bend, 0.0))
    return jnp.sign(total), jnp.log(jnp.abs(total)) + top + cusp


def log_of(p, r, nuclei):
    return wave(p, r, nuclei)[1]


def charges(r, nuclei):
    gap = safe(r[:, None] - r[None] + np.eye(N, dtype=np.float32)[..., None])[..., 0]
    upper = np.triu(np.ones((N, N), bool), 1)
    among = jnp.sum(jnp.where(upper, 1 / gap, 0.0))
    pull = jnp.sum(CHARGE / safe(r[:, None] - nuclei)[..., 0])
    cores = CHARGE[0] * CHARGE[1] / safe(nuclei[0] - nuclei[1])[0]
    return among - pull + cores


def energy(p, r, nuclei):
    """Kinetic part by one forward pass over a backward one for each coordinate."""
    flat = r.reshape(-1)
    slope = jax.grad(lambda x: log_of(p, x.reshape(N, 3), nuclei))
    first, push = jax.linearize(slope, flat)

    def more(i, c):
        one = jax.nn.one_hot(i, N * 3, dtype=f32)
        return c + push(one)[i]

    second = lax.fori_loop(0, N * 3, more, jnp.float32(0))
    return -0.5 * (second + jnp.sum(first * first)) + charges(r, nuclei)


def moved(p, place, width, nuclei, key):
    """Metropolis until enough moves are made, with at most 4 times as many tries."""
    logs = jax.vmap(log_of, (None, 0, None))

    def body(c):
        r, now, key, tries, taken = c
        key, a, b = jax.random.split(key, 3)
        new = r + width * jax.random.normal(a, r.shape)
        new = con(new, "walker")
        ahead = logs(p, new, nuclei)
        take = jnp.log(jax.random.uniform(b, (B,))) < 2 * (ahead - now)
        r = jnp.where(take[:, None, None], new, r)
        return r, jnp.where(take, ahead, now), key, tries + 1, taken + jnp.mean(take.astype(f32))

    go = lambda c: (c[3] < MOVES) | ((c[4] < MOVES / 4) & (c[3] < 4 * MOVES))
    start = (place, logs(p, place, nuclei), key, i32(0), f32(0))
    r, now, _, tries, taken = lax.while_loop(go, body, start)
    share = taken / tries.astype(f32)
    width = jnp.where(share > 0.55, width * 1.1, jnp.where(share < 0.45, width / 1.1, width))
    return r, now, width, share


def branch(r, local, mean, key):
    """Walkers of low energy twice, of high energy not at all."""
    w = jnp.exp(-0.02 * jnp.clip(local - mean, -5, 5))
    total = jnp.cumsum(w)
    u = (jnp.arange(B) + jax.random.uniform(key)) / B * total[-1]
    source = jnp.searchsorted(total, u)
    return r[jnp.minimum(source, B - 1)], jnp.sum(jnp.bincount(source, length=B) > 0)


def natural(p, r, nuclei, miss, last, step):
    """Solves (S + shift) x = force by CG, without the matrix S of all walkers."""
    logs = lambda p: jax.vmap(log_of, (None, 0, None))(p, r, nuclei)
    _, push = jax.linearize(logs, p)
    pull = jax.linear_transpose(push, p)
    force = pull(2 * miss / B)[0]
    shift = 1e-3 + 1e-1 * jnp.exp(-step / 100.0)
    dot = lambda a, b: sum(jnp.vdot(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)))
    add = lambda a, s, b: jax.tree.map(lambda x, y: x + s * y, a, b)

    def apply(v):
        o = push(v)
        return add(pull((o - jnp.mean(o)) / B)[0], shift, v)

    def body(c):
        x, res, way, size, i = c
        y = apply(way)
        a = size / dot(way, y)
        x, res = add(x, a, way), add(res, -a, y)
        new = dot(res, res)
        return x, res, add(res, new / size, way), new, i + 1

    x = jax.tree.map(lambda a: 0.9 * a, last)
    res = add(force, -1.0, apply(x))
    c = (x, res, res, dot(res, res), i32(0))
    x, res, _, size, rounds = lax.while_loop(lambda c: (c[4] < ROUNDS) & (c[3] > 1e-10), body, c)
    return x, dot(x, force), rounds


def wave_train_step(s, nuclei, key):
    p, step = s["params"], s["step"]
    a, b = jax.random.split(key)
    with jax.named_scope("moves"):
        r, now, width, share = moved(p, s["place"], s["width"], nuclei, a)
    with jax.named_scope("energy"):
        local = lax.map(
            lambda x: jax.vmap(energy, (None, 0, None))(p, con(x, "walker"), nuclei),
            con(r.reshape(-1, B // 4, N, 3), None, "walker"),
        ).reshape(B)
        local = con(local, "walker")
        middle = jnp.median(local)
        spread = jnp.mean(jnp.abs(local - middle))
        good = jnp.isfinite(local)
        kept = jnp.clip(jnp.where(good, local, middle), middle - 5 * spread, middle + 5 * spread)
        mean = jnp.mean(kept)
    with jax.named_scope("natural"):
        x, gain, rounds = natural(p, r, nuclei, kept - mean, s["last"], step.astype(f32))
        rate = 0.05 / (1 + step.astype(f32) / 1e4)
        size = jnp.minimum(1.0, jnp.sqrt(1e-3 / (rate * rate * jnp.maximum(gain, 1e-12))))
        p = jax.tree.map(lambda w, d: w - rate * size * d, p, x)
    with jax.named_scope("branch"):
        r, alive = lax.cond(
            step % 20 == 19, lambda r: branch(r, kept, mean, b), lambda r: (r, B), r
        )
        r = con(r, "walker")
    with jax.named_scope("blocks"):
        row = jnp.stack([mean, jnp.var(kept), share])
        blocks = lax.dynamic_update_slice(s["blocks"], row[None], (step % 64, 0))
        error = jnp.std(blocks[:, 0]) / 8
    new = dict(params=p, last=x, place=r, width=width, blocks=blocks, step=step + 1)
    return new, dict(
        mean=mean, error=error, alive=alive, rounds=rounds, share=share, now=jnp.mean(now)
    )


kept = jax.tree.map(lambda x: x.sharding, state)
c = (
    jax.jit(wave_train_step, donate_argnums=0, out_shardings=(kept, None))
    .lower(state, nuclei, key)
    .compile()
)
print(c.memory_analysis())
