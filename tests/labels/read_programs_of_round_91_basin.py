"""Two programs of a river basin: a training step of a runoff model with routing, and a forecast with an ensemble.

For eight CPU devices: mesh cell 4 x member 2. The step draws a window of weather per basin, an LSTM over days (bfloat16
products, remat) gives parameters of snow, soil and ground water, whose stores are advanced by a scan with an implicit
evaporation (Newton), water is routed down a tree of reaches level by level, by a Muskingum rule with speeds from discharge, the
loss compares discharge at gauges and its sorted flow duration; gradients are clipped, steps with bad values are
skipped by a conditional. The forecast assimilates gauges by ensemble weights and resampling, then routes by a while loop of
adaptive time steps, with lakes that spill, and returns return periods of maxima by a Gumbel fit of sorted years.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
)
from functools import partial

import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("cell", "member"))
f32, bf16, i32 = jnp.float32, jnp.bfloat16, jnp.int32
# cells, days of a record, days of a window, forcings, static features, width, parameters, levels of the tree, gauges, members
CELLS, DAYS, WINDOW, MET, STATIC, WIDTH, PARAMS, LEVELS, GAUGES, MEMBERS = (
    2048,
    730,
    48,
    5,
    12,
    128,
    8,
    16,
    32,
    64,
)


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def norm(x, g):
    x = x.astype(f32)
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g


def lstm(w, met, static):
    """Parameters for all days: [days, cells, PARAMS]."""
    fixed = jnp.tanh(norm(static @ w["static"], w["gain"]))

    @jax.checkpoint
    def day(c, x):
        h, s = c
        inp = jnp.concatenate([x, fixed, h], -1).astype(bf16)
        z = jnp.einsum("cf,fgw->cgw", inp, w["gates"].astype(bf16), preferred_element_type=f32)
        z = con(z + w["bias"], "cell", None, "member")
        i, f, o, g = (z[:, k] for k in range(4))
        s = jax.nn.sigmoid(f + 1) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(s)
        return (h, s), h

    zero = con(jnp.zeros((CELLS, WIDTH), f32), "cell", "member")
    _, hs = lax.scan(day, (zero, zero), met)
    return jax.nn.softplus(
        jnp.einsum(
            "tcw,wp->tcp", hs.astype(bf16), w["head"].astype(bf16), preferred_element_type=f32
        )
    )


def stores(p, met):
    """Snow, soil and ground water; evaporation is implicit in the soil."""

    def day(c, x):
        snow, soil, ground = c
        q, m = x
        rain, temp, pet = m[:, 0], m[:, 1], jax.nn.softplus(m[:, 2])
        falls = rain * jax.nn.sigmoid(-4 * temp)
        melt = jnp.minimum(snow + falls, q[:, 0] * jnp.maximum(temp, 0))
        snow = snow + falls - melt
        water = soil + rain - falls + melt
        room = 50 + 20 * q[:, 1]

        def newton(i, s):
            r = s / room
            wet = jnp.clip(r, 0, 1.5)
            value = s + pet * wet * (2 - wet) + room * 0.1 * q[:, 2] * wet**3 - water
            slope = 1 + (pet * (2 - 2 * wet) + 0.3 * q[:, 2] * room * wet**2) / room
            return jnp.maximum(s - value / jnp.maximum(slope, 0.1), 0)

        soil = lax.fori_loop(0, 4, newton, water)
        fast = jnp.maximum(soil - room, 0)
        soil = soil - fast
        deep = 0.1 * q[:, 2] * room * (soil / room) ** 3
        ground = ground + deep
        slow = ground * (1 - jnp.exp(-0.05 * q[:, 3]))
        return (snow, soil, ground - slow), fast + slow

    zero = con(jnp.zeros((CELLS,), f32), "cell")
    return lax.scan(jax.checkpoint(day), (zero, zero + 20, zero + 5), (p, met))[1]


def routed(run, p, tree):
    """Muskingum for all days: [days, cells]; cells are in levels, each gives to one below."""
    down, level, length = tree["down"], tree["level"], tree["length"]

    def day(c, x):
        old_in, old_out = c
        water, q = x
        speed = 0.5 + q[:, 4] * jnp.power(old_out + 1e-3, 0.3)
        k = length / speed
        w = 0.2
        d = k * (1 - w) + 0.5
        a, b, e = (0.5 - k * w) / d, (0.5 + k * w) / d, (k * (1 - w) - 0.5) / d

        def one(n, both):
            came, out = both
            mine = level == n
            new = jnp.maximum(a * (came + water) + b * old_in + e * old_out, 0)
            out = jnp.where(mine, new, out)
            return came.at[down].add(jnp.where(mine, new, 0), mode="drop"), out

        came, out = lax.fori_loop(0, LEVELS, one, (jnp.zeros_like(water), jnp.zeros_like(water)))
        return (came + water, out), out

    zero = jnp.zeros((CELLS,), f32)
    return lax.scan(jax.checkpoint(day), (zero, zero + 0.1), (run, p))[1]


def losses(w, batch, tree):
    p = lstm(w, con(batch["met"], None, "cell", None), tree["static"])
    run = stores(p, batch["met"])
    out = routed(run, p, tree)
    sim, obs = out[8:, tree["gauge"]], batch["flow"][8:]
    good = jnp.isfinite(obs)
    obs = jnp.where(good, obs, 0)
    n = jnp.maximum(good.sum(0), 1)
    mean = (obs * good).sum(0) / n
    var = (good * (obs - mean) ** 2).sum(0) / n
    nse = (good * (sim - obs) ** 2).sum(0) / n / (var + 0.1)
    curve = jnp.sort(jnp.where(good, sim, -1), 0) - jnp.sort(jnp.where(good, obs, -1), 0)
    weight = jax.nn.softmax(-jnp.log(mean + 1))
    return jnp.sum(weight * nse) + 0.1 * jnp.mean(jnp.abs(curve)), (nse, run.mean())


def basin_train(state, record, tree, key):
    keys = jax.random.split(jax.random.wrap_key_data(key), 2)
    start = jax.random.randint(keys[0], (), 0, DAYS - WINDOW)
    cut = lambda x: lax.dynamic_slice_in_dim(x, start, WINDOW, 0)
    met = cut(record["met"])
    met = met + 0.05 * jax.random.normal(keys[1], met.shape) * (jnp.arange(MET) < 3)
    batch = dict(met=met, flow=cut(record["flow"]))
    (loss, (nse, run)), g = jax.value_and_grad(losses, has_aux=True)(state["w"], batch, tree)
    size = jnp.sqrt(sum(jnp.vdot(x, x) for x in jax.tree.leaves(g)))
    scale = jnp.minimum(1, 1 / (size + 1e-6))
    n = state["n"] + 1
    rate = 1e-3 * jnp.minimum(n / 100, 1)

    def take(s):
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g * scale, s["m"], g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * (g * scale) ** 2, s["v"], g)
        fix = lambda x, b: x / (1 - b**n)
        w = jax.tree.map(
            lambda w, m, v: w - rate * (fix(m, 0.9) / (jnp.sqrt(fix(v, 0.99)) + 1e-8) + 1e-4 * w),
            s["w"],
            m,
            v,
        )
        return dict(w=w, m=m, v=v, n=n, bad=s["bad"])

    bad = ~jnp.isfinite(size)
    state = lax.cond(bad, lambda s: dict(s, bad=s["bad"] + 1), take, state)
    return state, loss, size, 1 - nse, run


def basin_forecast(soil, flow, run, tree, seen, years, key):
    """Members are weighted by gauges and drawn anew; lakes spill; the time step is from the largest speed."""
    keys = jax.random.split(jax.random.wrap_key_data(key), 2)
    miss = flow[:, tree["gauge"]] - seen
    logw = -0.5 * jnp.nansum((miss / (0.1 * seen + 0.1)) ** 2, 1)
    w = jax.nn.softmax(logw)
    alone = 1 / jnp.sum(w * w)
    place = (jnp.arange(MEMBERS) + jax.random.uniform(keys[0])) / MEMBERS
    pick = jnp.searchsorted(jnp.cumsum(w), place).clip(0, MEMBERS - 1)
    take = lambda x: con(x[pick], "member", "cell")
    soil, flow = lax.cond(
        alone < MEMBERS / 2,
        lambda: (take(soil) + jax.random.normal(keys[1], soil.shape), take(flow)),
        lambda: (soil, flow),
    )
    lake, top = tree["lake"], tree["top"]

    def tick(c):
        t, flow, store, peak, n = c
        speed = 0.5 + 0.8 * jnp.power(jnp.maximum(flow, 0) + 1e-3, 0.3)
        dt = jnp.clip(0.8 * jnp.min(tree["length"] / speed), 0.02, 0.25)
        dt = jnp.minimum(dt, 10.0 - t)
        day = jnp.minimum(t.astype(i32), 9)
        into = lax.dynamic_index_in_dim(run, day, 1, keepdims=False)
        moved = flow * dt * speed / tree["length"]
        came = jax.vmap(lambda v: jnp.zeros((CELLS,), f32).at[tree["down"]].add(v, mode="drop"))(
            moved
        )
        store = jnp.where(lake, store + came, 0)
        spill = jnp.maximum(store - top, 0)
        flow = jnp.maximum(flow - moved + into * dt + jnp.where(lake, spill, came), 0)
        store = store - spill
        return t + dt, con(flow, "member", "cell"), store, jnp.maximum(peak, flow), n + 1

    zero = jnp.zeros((MEMBERS, CELLS), f32)
    _, flow, store, peak, n = lax.while_loop(
        lambda c: (c[0] < 10.0 - 1e-4) & (c[4] < 2000),
        tick,
        (jnp.float32(0), flow, zero + 0.5 * top, flow, 0),
    )

    @partial(
        jax.shard_map,
        mesh=mesh,
        in_specs=(P("member", "cell"), P(None, "cell")),
        out_specs=(P("cell"), P("cell")),
    )
    def above(peak, years):
        order = jnp.sort(years, 0)
        m = years.shape[0]
        j = jnp.arange(m, dtype=f32)[:, None]
        b0, b1 = order.mean(0), (order * j / (m - 1)).mean(0)
        scale = (2 * b1 - b0) / jnp.log(2.0)
        place = b0 - 0.5772 * scale
        chance = 1 - jnp.exp(-jnp.exp(-(peak - place) / jnp.maximum(scale, 1e-3)))
        mean = lax.pmean(chance.mean(0), "member")
        ring = [(i, (i + 1) % 4) for i in range(4)]
        edge = lax.ppermute(mean[-1:], "cell", ring)
        smooth = (mean + jnp.concatenate([edge, mean[:-1]])) / 2
        return 1 / jnp.maximum(smooth, 1e-4), lax.pmax(peak.max(0), "member")

    period, worst = above(peak, years)
    alarm, where = lax.top_k(period, 16)
    spread = jnp.quantile(peak, jnp.array([0.1, 0.5, 0.9]), axis=0)
    return soil, flow, store, period, worst, (alarm, where), spread, n


if __name__ == "__main__":
    shapes = dict(
        static=((STATIC, 64), None, None),
        gain=((64,), None),
        gates=((MET + 64 + WIDTH, 4, WIDTH), None, None, "member"),
        bias=((4, WIDTH), None, "member"),
        head=((WIDTH, PARAMS), "member", None),
    )
    w = {k: S(v[0], f32, *v[1:]) for k, v in shapes.items()}
    state = dict(w=w, m=w, v=w, n=S((), i32), bad=S((), i32))
    tree = dict(
        down=S((CELLS,), i32, "cell"),
        level=S((CELLS,), i32, "cell"),
        length=S((CELLS,), f32, "cell"),
        static=S((CELLS, STATIC), f32, "cell", None),
        gauge=S((GAUGES,), i32),
        lake=S((CELLS,), bool, "cell"),
        top=S((CELLS,), f32, "cell"),
    )
    record = dict(met=S((DAYS, CELLS, MET), f32, None, "cell", None), flow=S((DAYS, GAUGES), f32))
    member = S((MEMBERS, CELLS), f32, "member", "cell")
    with jax.set_mesh(mesh):
        low = jax.jit(basin_train, donate_argnums=0).lower(state, record, tree, S((2,), jnp.uint32))
        print(len(low.compile().as_text()))
        low = jax.jit(basin_forecast, donate_argnums=(0, 1)).lower(
            member,
            member,
            S((MEMBERS, 10, CELLS), f32, "member", None, "cell"),
            tree,
            S((GAUGES,), f32),
            S((40, CELLS), f32, None, "cell"),
            S((2,), jnp.uint32),
        )
        print(len(low.compile().as_text()))
