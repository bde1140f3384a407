"""A training step of a forecast of delays of trains: stops in a scan, stations by segments, connections that wait.

Ahead of time for v5e 2x4: mesh train 4 x width 2. Trains stop one after another in a scan with remat and a gated state; delays
are added to stations by segments and read back by gathers, the busiest stations by top-k, trains in the order of their arrival
by a sort; a train waits for a late one under a conditional; hulls of track sections are exchanged along a ring by a
shard_map in a loop; quantile losses, Adam with moments in bfloat16 and a limit on the norm.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("train", "width"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# trains, stops, stations, width, features, quantiles
N, T, K, D, F, Q = 512, 12, 256, 256, 32, 5


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params = dict(
    station=S((K, D), f32, None, "width"),
    inp=S((F, D), f32, None, "width"),
    gate=S((2 * D, 2 * D), f32, None, "width"),
    new=S((2 * D, D), f32, None, "width"),
    read=S((D, D), f32, "width", None),
    head=S((D, Q), f32),
    norm=S((D,), f32),
)
half = jax.tree.map(lambda s: jax.ShapeDtypeStruct(s.shape, bf, sharding=s.sharding), params)
state = dict(p=params, m=half, v=half, step=S((), i32))
batch = dict(
    x=S((N, T, F), f32, "train"),
    at=S((N, T), i32, "train"),
    due=S((N, T), f32, "train"),
    late=S((N, T), f32, "train"),
    known=S((N, T), jnp.bool_, "train"),
)


def rms(x, g):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * g).astype(x.dtype)


def ring(load):
    """Sums of loads of sections that decay with the distance along a ring of devices."""

    def local(x):
        def body(i, c):
            x, total = c
            x = lax.ppermute(x, "train", [(j, (j + 1) % 4) for j in range(4)])
            return x, total + x * 0.5 ** (i + 1).astype(f32)

        return lax.fori_loop(0, 3, body, (x, x))[1]

    return jax.shard_map(local, mesh=mesh, in_specs=P("train"), out_specs=P("train"))(load)


def forecast(p, b):
    w = jax.tree.map(lambda a: a.astype(bf), p)

    @jax.checkpoint
    def stop(c, t):
        h, board = c
        x, at, due, late, known = t
        e = w["station"][at] + x.astype(bf) @ w["inp"]
        both = jnp.concatenate([rms(h, p["norm"]), e + board[at].astype(bf)], -1)
        z, r = jnp.split(jax.nn.sigmoid(both @ w["gate"]), 2, -1)
        new = jnp.tanh(jnp.concatenate([r * h, e], -1) @ w["new"])
        h = con(z * h + (1 - z) * new, "train", "width")
        seen = jnp.where(known, late, 0.0)
        sums = jax.ops.segment_sum(h.astype(f32) * seen[:, None], at, K)
        count = jax.ops.segment_sum(known.astype(f32), at, K)
        busy, which = lax.top_k(count, 8)
        sums = sums.at[which].multiply(1.1)
        board = 0.9 * board + 0.1 * con(ring(sums / (count[:, None] + 1)), None, "width")
        order = jnp.argsort(due + seen)
        wait = lambda h: h.at[order[1:]].add(0.1 * h[order[:-1]])
        h = lax.cond(jnp.max(seen) > 5.0, wait, lambda h: h, h)
        y = jax.nn.gelu(h @ w["read"]).astype(f32) @ p["head"]
        return (h, board), (y, busy)

    first = (jnp.zeros((N, D), bf), jnp.zeros((K, D), f32))
    steps = jax.tree.map(
        lambda a: a.swapaxes(0, 1), (b["x"], b["at"], b["due"], b["late"], b["known"])
    )
    _, (y, busy) = lax.scan(stop, first, steps)
    return jnp.cumsum(jax.nn.softplus(y), -1), busy


def trains_step(state, b):
    taus = jnp.linspace(0.1, 0.9, Q)

    def loss(p):
        y, busy = forecast(p, b)
        miss = b["late"].T[..., None] - y
        pin = jnp.maximum(taus * miss, (taus - 1) * miss) * b["known"].T[..., None]
        return pin.sum() / (b["known"].sum() + 1), (busy, jnp.mean(miss > 0, (0, 1)))

    (value, (busy, share)), g = jax.value_and_grad(loss, has_aux=True)(state["p"])
    size = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)))
    g = jax.tree.map(lambda a: a * jnp.minimum(1.0, 1.0 / size), g)
    n = state["step"] + 1
    m = jax.tree.map(lambda a, b: (0.9 * a.astype(f32) + 0.1 * b).astype(bf), state["m"], g)
    v = jax.tree.map(lambda a, b: (0.99 * a.astype(f32) + 0.01 * b * b).astype(bf), state["v"], g)
    rate = 1e-3 * jnp.minimum(1.0, n / 100)
    p = jax.tree.map(
        lambda p, m, v: p - rate * m.astype(f32) / (jnp.sqrt(v.astype(f32)) + 1e-6),
        state["p"],
        m,
        v,
    )
    return dict(p=p, m=m, v=v, step=n), (value, size, busy, share)


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = jax.jit(trains_step, donate_argnums=0).lower(state, batch)
        print(len(low.compile().as_text()))
