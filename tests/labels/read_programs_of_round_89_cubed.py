"""A training step and a forecast of a weather model on a cubed sphere: finite volumes, learned columns, an ensemble.

Ahead of time for v6e 2x2: mesh member 2 x strip 2. Six faces whose edges are joined by a table of neighbors, upwind
flows with limited slopes, strips exchanged by the partitioner, a vertical exchange solved by a forward and a backward
scan, columns by a small network with attention over levels and numbers of a member; the loss is the fair ranked score of
the members through four steps; Adam with slopes in bfloat16; the forecast keeps quantiles of the members by sorting, the
deepest lows by top-k, and a table of rain by scatter.
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

topo = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x2")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("member", "strip"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# members, cells of an edge, levels, fields (height, two winds, vapour), width, heads, steps of training and of a forecast
M, N, K, X, D, H, STEPS, LEADS = 8, 32, 16, 4, 128, 4, 4, 12


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params = dict(
    into=S((X + 3, D), f32, None, "strip"),
    noise=S((8, D), f32, None, "strip"),
    level=S((K, D), f32),
    qkv=S((2, D, 3, H, D // H), f32, None, "member", None, "strip"),
    out=S((2, H, D // H, D), f32, None, "strip", None, "member"),
    norms=S((2, D), f32),
    last=S((D, X + 1), f32, "strip"),
)
state = dict(params=params, m=params, v=params, step=S((), i32))
fields = S((M, 6, N, N, K, X), f32, "member", None, "strip")
fixed = S((6, N, N, 3), f32, None, "strip")
noise = lambda n: S((n, M, 8), f32, None, "member")
wanted = S((STEPS, 6, N, N, K, X), f32, None, None, "strip")

# for each side (below, above, left, right) of each face: the neighbor, its side, and whether its cells run backwards
NEAR = np.array(
    [
        [(4, 1, 0), (4, 3, 0), (4, 0, 1), (4, 2, 1), (2, 0, 1), (0, 1, 0)],
        [(5, 0, 0), (5, 3, 1), (5, 1, 1), (5, 2, 0), (0, 0, 0), (2, 1, 1)],
        [(3, 3, 0), (0, 3, 0), (1, 3, 0), (2, 3, 0), (3, 1, 1), (3, 0, 0)],
        [(1, 2, 0), (2, 2, 0), (3, 2, 0), (0, 2, 0), (1, 1, 0), (1, 0, 1)],
    ]
)


def halo(x):
    """Joins one row of cells of the four neighbors to each face."""
    own = jnp.stack([x[:, :, 0], x[:, :, -1], x[:, :, :, 0], x[:, :, :, -1]], 1)
    own = con(own, "member")
    near = own[:, NEAR[..., 1], NEAR[..., 0]]
    back = NEAR[..., 2].reshape(1, 4, 6, *[1] * (near.ndim - 3))
    near = jnp.where(back == 1, near[:, :, :, ::-1], near)
    x = jnp.concatenate([near[:, 0][:, :, None], x, near[:, 1][:, :, None]], 2)
    sides = jnp.pad(
        near[:, 2:], ((0, 0),) * 3 + ((1, 1),) + ((0, 0),) * (near.ndim - 4), mode="edge"
    )
    return jnp.concatenate([sides[:, 0][:, :, :, None], x, sides[:, 1][:, :, :, None]], 3)


def shifted(x, axis, by):
    return lax.slice_in_dim(x, 1 + by, x.shape[axis] - 1 + by, axis=axis)


def carried(x, wind, axis):
    """The change of a field by the wind along an axis, by limited slopes and a flow from the upwind side."""
    other = 5 - axis
    x, w = shifted(x, other, 0), shifted(wind, other, 0)[..., None]
    mid, w0 = shifted(x, axis, 0), shifted(w, axis, 0)
    low, high = mid - shifted(x, axis, -1), shifted(x, axis, 1) - mid
    same = low * high > 0
    slope = jnp.where(same, 2 * low * high / jnp.where(same, low + high, 1), 0)
    inflow = jnp.where(w0 > 0, low, high) * w0
    spread = shifted(w, axis, 1) - shifted(w, axis, -1)
    return -inflow - 0.5 * spread * mid - 0.5 * jnp.abs(w0) * (1 - jnp.abs(w0)) * slope


def exchange(x, rate):
    """Solves the vertical exchange of all fields by elimination, level by level."""
    r = jnp.moveaxis(rate, -1, 0)
    y = jnp.moveaxis(x, -2, 0)
    under = jnp.concatenate([jnp.zeros_like(r[:1]), r[:-1]])
    over = jnp.concatenate([r[:-1], jnp.zeros_like(r[:1])])

    def down(c, item):
        a, b, d = item
        c, e = c
        den = 1 / (1 + a + b - a * c)
        c, e = b * den, (d + a[..., None] * e) * den[..., None]
        return (c, e), (c, e)

    def back(z, item):
        c, e = item
        z = e + c[..., None] * z
        return z, z

    _, parts = lax.scan(down, (jnp.zeros_like(r[0]), jnp.zeros_like(y[0])), (under, over, y))
    _, z = lax.scan(back, jnp.zeros_like(y[0]), parts, reverse=True)
    return jnp.moveaxis(z, 0, -2)


def norm(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * scale).astype(bf)


def columns(p, x, fixed, z):
    places = jnp.broadcast_to(fixed[None, :, :, :, None], (M, 6, N, N, K, 3))
    h = jnp.concatenate([x, places], -1).astype(bf) @ p["into"].astype(bf)
    h = h + p["level"].astype(bf) + (z @ p["noise"]).astype(bf)[:, None, None, None, None]

    def block(h, w):
        n = norm(h, w["norms"])
        q, k, v = jnp.moveaxis(jnp.einsum("...kd,dchi->...kchi", n, w["qkv"].astype(bf)), -3, 0)
        s = jnp.einsum("...khi,...lhi->...hkl", q, k).astype(f32) * (D // H) ** -0.5
        o = jnp.einsum("...hkl,...lhi->...khi", jax.nn.softmax(s, -1).astype(bf), v)
        h = h + jax.nn.silu(jnp.einsum("...khi,hid->...kd", o, w["out"].astype(bf)))
        return con(h, "member", None, "strip"), None

    h, _ = lax.scan(block, h, {n: p[n] for n in ("qkv", "out", "norms")})
    push = (h @ p["last"].astype(bf)).astype(f32)
    return push[..., :X], jax.nn.softplus(push[..., X])


def advance(p, x, fixed, z):
    full = halo(x)
    wind = jnp.tanh(full[..., 1:3]) * 0.4
    moved = x + carried(full, wind[..., 0], 2) + carried(full, wind[..., 1], 3)
    h = full[..., 0]
    down = shifted(shifted(h, 2, 1), 3, 0) - shifted(shifted(h, 2, -1), 3, 0)
    across = shifted(shifted(h, 3, 1), 2, 0) - shifted(shifted(h, 3, -1), 2, 0)
    turn = fixed[None, ..., 0, None]
    u = moved[..., 1] - 0.1 * down + 0.05 * turn * moved[..., 2]
    v = moved[..., 2] - 0.1 * across - 0.05 * turn * u
    push, rate = columns(p, x, fixed, z)
    x = jnp.stack([moved[..., 0], u, v, moved[..., 3]], -1) + 0.1 * push
    x = exchange(x, rate)
    vapour = jnp.maximum(x[..., 3], 0)
    rain = jnp.maximum(vapour - 1, 0)
    x = x.at[..., 3].set(vapour - rain).at[..., 0].add(0.2 * rain)
    return con(x, "member", None, "strip"), jnp.sum(rain, -1)


def score(x, wanted, area):
    """The fair ranked score of the members."""
    near = jnp.mean(jnp.abs(x - wanted), 0)
    apart = jnp.sum(jnp.abs(x[:, None] - x), (0, 1)) / (2 * M * (M - 1))
    return jnp.sum((near - apart) * area[..., None, None]) / (jnp.sum(area) * K * X)


def weather_loss(p, x, fixed, wanted, z):
    def step(x, item):
        y, k = item
        x, rain = advance(p, x, fixed, k)
        return x, (score(x, y, fixed[..., 1]), jnp.mean(rain))

    _, (scores, rain) = lax.scan(step, x, (wanted, z))
    weights = 0.9 ** jnp.arange(STEPS)
    return jnp.sum(scores * weights) / jnp.sum(weights), (scores, rain)


def weather_train_step(state, x, fixed, wanted, z):
    (loss, seen), grads = jax.value_and_grad(weather_loss, has_aux=True)(
        state["params"], x, fixed, wanted, z
    )
    step = state["step"] + 1
    t = step.astype(f32)
    rate = 1e-3 * jnp.minimum(t / 200, lax.rsqrt(t / 200))
    grads = jax.tree.map(lambda g: g.astype(bf).astype(f32), grads)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, state["v"], grads)
    move = lambda p, m, v: p - rate * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.95**t)) + 1e-8)
    p = jax.tree.map(move, state["params"], m, v)
    return dict(params=p, m=m, v=v, step=step), dict(loss=loss, seen=seen)


def weather_forecast(p, x, fixed, z):
    def lead(c, k):
        x, table = c
        x, rain = advance(p, x, fixed, k)
        spread = jnp.sort(x[..., 0, :], 0)
        quantiles = spread[jnp.array([0, M // 4, M // 2, 3 * M // 4, M - 1])].astype(bf)
        deep, where = lax.top_k(-x[..., 0, 0].reshape(M, -1), 5)
        kind = jnp.clip((rain * 10).astype(i32), 0, 15)
        band = jnp.broadcast_to(jnp.clip((fixed[..., 2] * 9 + 9).astype(i32), 0, 17), kind.shape)
        table = table.at[band, kind].add(fixed[..., 1])
        return (x, table), (quantiles, -deep, where)

    (x, table), kept = lax.scan(lead, (x, jnp.zeros((18, 16))), z)
    return x, table / jnp.sum(table), kept


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        c = jax.jit(weather_train_step, donate_argnums=0).trace(
            state, fields, fixed, wanted, noise(STEPS)
        )
        c.lower(lowering_platforms=("tpu",)).compile()
        c = jax.jit(weather_forecast, donate_argnums=1).trace(params, fields, fixed, noise(LEADS))
        c.lower(lowering_platforms=("tpu",)).compile()
