"""Two programs of a motion model of traffic: a training step with modes of trajectories, and a rollout of all agents.

Ahead of time for TPU v6e 2x4: mesh scene 4 x head 2. Pieces of lanes by maxima over points, agents by an LSTM over their past,
attention of agents to their nearest lanes (top-k, gathers) and to other agents in a scan with remat; each agent has six modes,
the nearest one to the truth is trained (mixture of Laplace densities), an overlap of agents by a shard_map, AdamW with clipping
and a step that is dropped by a conditional where slopes are not finite. The rollout moves agents in a while loop until all have
arrived, keeps modes by suppression of near ends, sorts agents by risk, and scatters places into a map of occupied cells.
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

topo = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("scene", "head"))
f32, i32, bf = jnp.float32, jnp.int32, jnp.bfloat16
# scenes, agents, past, future, lanes, points of a lane, near lanes, width, heads, layers, modes
B, A, T, F, L, PT, K, D, H, DEEP, M = 32, 64, 16, 32, 256, 10, 32, 256, 8, 4, 6


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
stack = dict(
    q=S((DEEP, 2, D, H, D // H), f32, None, None, "scene", "head"),
    kv=S((DEEP, 2, D, 2, H, D // H), f32, None, None, "scene", None, "head"),
    o=S((DEEP, 2, H, D // H, D), f32, None, None, "head", None, "scene"),
    up=S((DEEP, D, 4 * D), f32, None, "scene", "head"),
    down=S((DEEP, 4 * D, D), f32, None, "head", "scene"),
    norm=S((DEEP, 3, D), f32),
    place=S((DEEP, 2, 4, H), f32, None, None, None, "head"),
)
params = dict(
    lane=[S((4, D), f32), S((D, D), f32, "scene", "head")],
    kinds=S((12, D), f32, None, "head"),
    lstm=S((6 + D, 4 * D), f32, None, "head"),
    stack=stack,
    mode=S((M, D), f32),
    out=S((D, F * 4), f32, "scene", "head"),
    score=S((D,), f32),
)
batch = dict(
    past=S((B, A, T, 6), f32, "scene"),
    seen=S((B, A, T), jnp.bool_, "scene"),
    future=S((B, A, F, 2), f32, "scene"),
    truth=S((B, A, F), jnp.bool_, "scene"),
    lane=S((B, L, PT, 4), f32, "scene"),
    kind=S((B, L), i32, "scene"),
    size=S((B, A), f32, "scene"),
)
norm = lambda x, g: (
    x * lax.rsqrt(jnp.mean(jnp.square(x.astype(f32)), -1, keepdims=True) + 1e-6) * g
).astype(bf)


def lanes(p, batch):
    x = jax.nn.relu(batch["lane"].astype(bf) @ p["lane"][0].astype(bf))
    x = jnp.max(x, 2) @ p["lane"][1].astype(bf)
    return con(x + p["kinds"].astype(bf)[batch["kind"]], "scene", None, None), batch["lane"][
        :, :, 0, :2
    ]


def agents(p, past, seen):
    def one(c, x):
        h, s = c
        value, ok = x
        g = jnp.concatenate([value.astype(bf), h], -1) @ p["lstm"].astype(bf)
        i, f, o, u = jnp.split(g.astype(f32), 4, -1)
        new = jax.nn.sigmoid(f + 1) * s + jax.nn.sigmoid(i) * jnp.tanh(u)
        s = jnp.where(ok[..., None], new, s)
        return (jnp.where(ok[..., None], jax.nn.sigmoid(o) * jnp.tanh(s), h).astype(bf), s), None

    n = past.shape[:2]
    start = jnp.zeros((*n, D), bf), jnp.zeros((*n, D), f32)
    (h, _), _ = lax.scan(one, start, (past.transpose(2, 0, 1, 3), seen.transpose(2, 0, 1)))
    return con(h, "scene", None, None)


def relative(at, other):
    """Differences of places, their length and whether near, [.., 4]."""
    d = other - at
    far = jnp.sqrt(jnp.sum(d * d, -1, keepdims=True) + 1e-6)
    return jnp.concatenate([d / 50, jnp.log1p(far), (far < 10).astype(f32)], -1)


def block(x, w, lane, at, where, live):
    """Agents read their nearest lanes, then one another, then a layer."""
    near = -jnp.sum((at[:, :, None] - where[:, None]) ** 2, -1)
    _, ids = lax.top_k(lax.stop_gradient(near), K)
    pick = jax.vmap(lambda t, i: t[i])
    y = norm(x, w["norm"][0])
    q = con(jnp.einsum("bad,dhk->bahk", y, w["q"][0].astype(bf)), "scene", None, "head")
    kv = con(
        jnp.einsum("bld,dchk->blchk", lane, w["kv"][0].astype(bf)), "scene", None, None, "head"
    )
    kv = pick(kv, ids)
    s = jnp.einsum("bahk,bajhk->bhaj", q, kv[:, :, :, 0]).astype(f32) * (D // H) ** -0.5
    s = s + jnp.einsum("bajr,rh->bhaj", relative(at[:, :, None], pick(where, ids)), w["place"][0])
    s = jax.nn.softmax(s, -1).astype(bf)
    x = x + jnp.einsum("bhaj,bajhk,hkd->bad", s, kv[:, :, :, 1], w["o"][0].astype(bf))
    y = norm(x, w["norm"][1])
    q = jnp.einsum("bad,dhk->bahk", y, w["q"][1].astype(bf))
    k, v = jnp.moveaxis(jnp.einsum("bad,dchk->bachk", y, w["kv"][1].astype(bf)), 2, 0)
    s = jnp.einsum("bahk,bjhk->bhaj", q, k).astype(f32) * (D // H) ** -0.5
    s = s + jnp.einsum("bajr,rh->bhaj", relative(at[:, :, None], at[:, None]), w["place"][1])
    s = jax.nn.softmax(jnp.where(live[:, None, None], s, -1e9), -1).astype(bf)
    x = x + jnp.einsum("bhaj,bjhk,hkd->bad", s, v, w["o"][1].astype(bf))
    y = norm(x, w["norm"][2])
    x = x + jax.nn.gelu(y @ w["up"].astype(bf)) @ w["down"].astype(bf)
    return con(x, "scene", None, None)


def modes(p, lane, where, past, seen):
    at, live = past[:, :, -1, :2], jnp.any(seen, -1)
    step = jax.checkpoint(lambda x, w: (block(x, w, lane, at, where, live), None))
    x, _ = lax.scan(step, agents(p, past, seen), p["stack"])
    x = jnp.tanh(x[:, :, None] + p["mode"].astype(bf))
    out = (x @ p["out"].astype(bf)).astype(f32).reshape(*x.shape[:3], F, 4)
    way = at[:, :, None, None] + jnp.cumsum(out[..., :2], 3)
    return (
        way,
        jax.nn.softplus(out[..., 2:]) + 0.05,
        jax.nn.log_softmax(x.astype(f32) @ p["score"], -1),
    )


def overlaps(way, size):
    """Pairs of agents that come too near, over all scenes, by a ring of halves."""
    far = jnp.sum((way[:, :, None] - way[:, None]) ** 2, -1)
    near = (far < (size[:, :, None] + size[:, None])[..., None] ** 2) & ~jnp.eye(A, dtype=bool)[
        ..., None
    ]
    count = jnp.sum(near, (1, 2, 3)).astype(f32)
    worst = lax.pmax(jnp.max(count), "scene")
    left = lax.ppermute(count, "scene", [(i, (i + 1) % 4) for i in range(4)])
    return (
        lax.psum(jnp.sum(jnp.abs(count - left)), "scene"),
        worst,
        lax.all_gather(count, "scene", tiled=True),
    )


def traffic_train_step(state, batch):
    p = state["params"]

    def loss(p):
        lane, where = lanes(p, batch)
        way, spread, score = modes(p, lane, where, batch["past"], batch["seen"])
        ok = batch["truth"][:, :, None]
        miss = jnp.abs(way - batch["future"][:, :, None])
        far = jnp.sum(jnp.where(ok, jnp.sum(miss, -1), 0), -1)
        best = jnp.argmin(lax.stop_gradient(far), -1)
        take = lambda x: jnp.take_along_axis(x, best.reshape(B, A, *[1] * (x.ndim - 2)), 2)[:, :, 0]
        nll = jnp.sum(take(miss) / take(spread) + jnp.log(2 * take(spread)), -1)
        count = jnp.sum(batch["truth"]) + 1.0
        value = jnp.sum(jnp.where(batch["truth"], nll, 0)) / count - jnp.mean(take(score))
        return value, (take(way), jnp.mean(far.min(-1)), jnp.zeros(M).at[best.reshape(-1)].add(1.0))

    (value, (way, far, used)), g = jax.value_and_grad(loss, has_aux=True)(p)
    ring = jax.shard_map(
        overlaps,
        mesh=mesh,
        in_specs=(P("scene"), P("scene")),
        out_specs=(P(), P(), P()),
        check_vma=False,
    )
    clash = ring(lax.stop_gradient(way), batch["size"])
    size = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)))
    n = state["step"] + 1

    def update(_):
        c = jnp.minimum(1.0, 1.0 / size)
        m = jax.tree.map(lambda a, b: (0.9 * a.astype(f32) + 0.1 * b * c).astype(bf), state["m"], g)
        v = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * (b * c) ** 2, state["v"], g)
        r = 1e-3 * jnp.minimum(1.0, n / 1000.0)
        new = lambda w, a, b: w - r * (a.astype(f32) * lax.rsqrt(b + 1e-12) + 0.01 * w)
        return jax.tree.map(new, p, m, v), m, v, 0

    p, m, v, bad = lax.cond(
        jnp.isfinite(size), update, lambda _: (p, state["m"], state["v"], 1), None
    )
    return dict(params=p, m=m, v=v, step=n, bad=state["bad"] + bad), dict(
        loss=value, size=size, far=far, used=used, clash=clash
    )


def traffic_rollout(p, batch, goal):
    p = jax.tree.map(lambda w: w.astype(bf).astype(f32), p)
    lane, where = lanes(p, batch)

    def on(c):
        return (c["t"] < 8) & ~jnp.all(c["done"])

    def go(c):
        way, _, score = modes(p, lane, where, c["past"], c["seen"])
        end = way[:, :, :, -1]

        def suppress(i, keep):
            order = jnp.argsort(-score, -1)
            m = jnp.take_along_axis(order, jnp.full((B, A, 1), i), 2)[..., 0]
            mine = jnp.take_along_axis(end, m[..., None, None], 2)
            near = (jnp.sum((end - mine) ** 2, -1) < 4.0) & (jnp.arange(M) != m[..., None])
            return keep & ~(near & jnp.take_along_axis(keep, m[..., None], 2))

        keep = lax.fori_loop(0, M, suppress, jnp.ones((B, A, M), bool))
        cost = jnp.sum((end - goal[:, :, None]) ** 2, -1) / 100 - jnp.where(keep, score, -1e9)
        best = jnp.argmin(cost, -1)
        new = jnp.take_along_axis(way, best[..., None, None, None], 2)[:, :, 0, :4]
        new = jnp.where(c["done"][..., None, None], c["past"][:, :, -1:, :2], new)
        speed = jnp.diff(jnp.concatenate([c["past"][:, :, -1:, :2], new], 2), axis=2)
        add = jnp.concatenate([new, speed, c["past"][:, :, -4:, 4:]], -1)
        past = jnp.concatenate([c["past"][:, :, 4:], add], 2)
        done = c["done"] | (jnp.sum((new[:, :, -1] - goal) ** 2, -1) < 1.0)
        seen = jnp.concatenate([c["seen"][:, :, 4:], jnp.ones((B, A, 4), bool)], 2)
        trail = lax.dynamic_update_slice(c["trail"], new, (0, 0, 4 * c["t"], 0))
        return dict(
            past=past,
            seen=seen,
            done=done,
            t=c["t"] + 1,
            trail=trail,
            kept=c["kept"] + jnp.sum(keep),
        )

    start = dict(past=batch["past"], seen=batch["seen"], done=jnp.zeros((B, A), bool), t=0)
    c = lax.while_loop(on, go, start | dict(trail=jnp.zeros((B, A, 32, 2)), kept=0))
    cell = jnp.clip(((c["trail"] + 100) / 200 * 64).astype(i32), 0, 63)
    grid = jax.vmap(lambda i: jnp.zeros((64, 64)).at[i[..., 0], i[..., 1]].add(1.0))(cell)
    risk = jax.vmap(lambda g, i: jnp.max(g[i[..., 0], i[..., 1]], -1))(grid, cell)
    order = jnp.argsort(-risk, -1)
    top = jnp.take_along_axis(c["trail"], order[:, :8, None, None], 1)
    return dict(
        trail=c["trail"], grid=con(grid, "scene"), order=order, top=top, kept=c["kept"], t=c["t"]
    )


if __name__ == "__main__":
    half = jax.tree.map(lambda s: jax.ShapeDtypeStruct(s.shape, bf, sharding=s.sharding), params)
    state = dict(params=params, m=half, v=params, step=S((), i32), bad=S((), i32))
    with jax.set_mesh(mesh):
        c = jax.jit(traffic_train_step, donate_argnums=0).trace(state, batch)
        c.lower(lowering_platforms=("tpu",)).compile()
        c = jax.jit(traffic_rollout).trace(params, batch, S((B, A, 2), f32, "scene"))
        c.lower(lowering_platforms=("tpu",)).compile()
