"""A training step of a graph network: messages with edge softmax, top-k pooling, an LSTM over sets, Adafactor.

Ahead of time for v6e 2x4: mesh graph 4 x hidden 2; edges are sorted by receiver on each device, walks give positions.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost")
import jax, jax.numpy as jnp, numpy as np
from functools import partial
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("graph", "hidden"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


G, V, E, X, D, H, L, K, W = 256, 128, 512, 119, 256, 8, 4, 64, 8
GL = G // 4
layers = dict(
    norm=S((L, D), f32),
    qkv=S((L, D, 3, H, D // H), f32, None, None, None, "hidden"),
    edge=S((L, 16, H), f32, None, None, "hidden"),
    out=S((L, H, D // H, D), f32, None, "hidden"),
    up=S((L, D, 4 * D), f32, None, None, "hidden"),
    down=S((L, 4 * D, D), f32, None, "hidden"),
    virtual=S((L, D, D), f32, None, None, "hidden"),
)
params = dict(
    atom=S((X, D), f32, None, "hidden"),
    walk=S((W, D), f32, None, "hidden"),
    bond=S((24, 16), f32),
    layers=layers,
    score=S((D,), f32),
    lstm=S((3 * D, 4, D), f32, None, None, "hidden"),
    lstm_b=S((4, D), f32, None, "hidden"),
    head=[S((2 * D, D), f32, None, "hidden"), S((D, 3), f32, "hidden")],
)


def factored(s):
    spec = tuple(s.sharding.spec) + (None,) * (len(s.shape) - len(s.sharding.spec))
    if len(s.shape) < 2:
        return (S(s.shape, f32, *spec),)
    return (
        S(s.shape[:-1], f32, *spec[:-1]),
        S(s.shape[:-2] + s.shape[-1:], f32, *spec[:-2], spec[-1]),
    )


second = [factored(s) for s in jax.tree.leaves(params)]
graph = dict(
    atoms=S((G, V), i32, "graph"),
    place=S((G, V, 3), f32, "graph"),
    sender=S((G, E), i32, "graph"),
    receiver=S((G, E), i32, "graph"),
    bond=S((G, E), i32, "graph"),
    atoms_n=S((G,), i32, "graph"),
    target=S((G, 3), f32, "graph"),
)
step = S((), i32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
shm = partial(jax.shard_map, mesh=mesh)


@partial(shm, in_specs=(P("graph"),) * 4, out_specs=(P("graph"),) * 4)
def by_receiver(sender, receiver, bond, place):
    """Edges sorted by receiver and then by length, numbered over the graphs of a device."""
    number = jnp.arange(GL)[:, None] * V
    delta = jnp.take_along_axis(place, sender[..., None], 1) - jnp.take_along_axis(
        place, receiver[..., None], 1
    )
    far = jnp.sqrt(jnp.sum(delta * delta, -1) + 1e-6)
    r, far, s, b = lax.sort(
        [receiver + number, far, sender + number, bond], dimension=1, num_keys=2
    )
    return s.reshape(-1), r.reshape(-1), b.reshape(-1), far.reshape(-1)


@partial(shm, in_specs=(P("graph"),) * 2, out_specs=P("graph"))
def walks(s, r):
    """Chances that a walk of one to W steps returns, of a dense matrix for each graph."""
    a = jnp.zeros((GL, V, V), f32).at[r // V, r % V, s % V].add(1.0)
    a = a / jnp.maximum(a.sum(1, keepdims=True), 1.0)

    def move(x, _):
        x = jnp.einsum("gij,gjk->gik", x, a, precision=lax.Precision.HIGHEST)
        return x, jnp.diagonal(x, axis1=1, axis2=2)

    eye = lax.pcast(jnp.broadcast_to(jnp.eye(V), (GL, V, V)), "graph", to="varying")
    _, back = lax.scan(move, eye, None, length=W)
    return jnp.moveaxis(back, 0, -1)


def rms(x, g):
    x32 = x.astype(f32)
    return (x32 * lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6) * g).astype(bf)


@partial(
    shm,
    in_specs=(P("graph", None, "hidden"),) * 3 + (P("graph", "hidden"),) + (P("graph"),) * 2,
    out_specs=P("graph", "hidden"),
)
def messages(q, k, v, e, s, r):
    q, k, v = (x.reshape(GL * V, H // 2, D // H) for x in (q, k, v))
    a = jnp.einsum("ehk,ehk->eh", q[r], k[s]).astype(f32) * (D // H) ** -0.5 + e
    top = jax.ops.segment_max(lax.stop_gradient(a), r, GL * V, indices_are_sorted=True)
    a = jnp.exp(a - jnp.maximum(top, -1e9)[r])
    total = jax.ops.segment_sum(a, r, GL * V, indices_are_sorted=True)
    a = (a / (total[r] + 1e-9)).astype(bf)
    return jax.ops.segment_sum(v[s] * a[..., None], r, GL * V, indices_are_sorted=True)


def block(state, w, s, r, bond, mask):
    x, hub = state
    with jax.named_scope("messages"):
        h = rms(x, w["norm"])
        q, k, v = jnp.moveaxis(jnp.einsum("gvd,dchk->gvchk", h, w["qkv"].astype(bf)), 2, 0)
        e = con((bond @ w["edge"].astype(bf)).astype(f32), "graph", "hidden")
        y = messages(q, k, v, e, s, r).reshape(G, V, H, D // H)
        x = x + jnp.einsum("gvhk,hkd->gvd", y, w["out"].astype(bf))
    with jax.named_scope("hub"):
        mean = jnp.sum(x * mask, 1) / jnp.maximum(mask.sum(1), 1)
        hub = hub + jnp.tanh(mean @ w["virtual"].astype(bf))
        x = x + hub[:, None]
    with jax.named_scope("mlp"):
        x = x + jax.nn.silu(x @ w["up"].astype(bf)) @ w["down"].astype(bf)
    return (con(x * mask, "graph"), hub), None


def pooled(p, x, mask):
    """The K best nodes of each graph, weighed by their scores."""
    unit = p["score"] / (jnp.linalg.norm(p["score"]) + 1e-6)
    score = jnp.where(mask[..., 0] > 0, jnp.einsum("gvd,d->gv", x.astype(f32), unit), -1e9)
    best, where = lax.top_k(score, K)
    gate = jnp.where(best > -1e8, jnp.tanh(best), 0.0).astype(bf)
    return jnp.take_along_axis(x, where[..., None], 1) * gate[..., None], best > -1e8


def read_out(p, x, valid):
    """Three rounds of an LSTM that reads a set by attention."""

    def turn(state, _):
        q, c, r = state
        z = jnp.concatenate([q, r, q * r], -1)
        i, f, g, o = jnp.moveaxis(
            jnp.einsum("gd,dce->gce", z, p["lstm"].astype(bf)).astype(f32) + p["lstm_b"], 1, 0
        )
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        q = (jax.nn.sigmoid(o) * jnp.tanh(c)).astype(bf)
        a = jnp.where(valid, jnp.einsum("gd,gkd->gk", q, x).astype(f32), -1e9)
        return (q, c, jnp.einsum("gk,gkd->gd", jax.nn.softmax(a).astype(bf), x)), None

    zero = jnp.zeros((G, D), bf)
    (q, _, r), _ = lax.scan(turn, (zero, zero.astype(f32), zero), None, length=3)
    return jnp.concatenate([q, r], -1)


def loss(p, g):
    s, r, b, far = by_receiver(g["sender"], g["receiver"], g["bond"], g["place"])
    mask = (jnp.arange(V) < g["atoms_n"][:, None])[..., None].astype(bf)
    x = (p["atom"][g["atoms"]] + walks(s, r) @ p["walk"]).astype(bf) * mask
    centers = jnp.linspace(0.0, 8.0, 16)
    bond = (p["bond"][b] + jnp.exp(-4 * (far[:, None] - centers) ** 2)).astype(bf)
    (x, hub), _ = lax.scan(
        jax.checkpoint(lambda c, w: block(c, w, s, r, bond, mask)),
        (con(x, "graph"), jnp.zeros((G, D), bf)),
        p["layers"],
    )
    with jax.named_scope("pool"):
        x, valid = pooled(p, x, mask)
    with jax.named_scope("set"):
        z = read_out(p, x, valid)
    z = jax.nn.relu(z @ p["head"][0].astype(bf)) @ p["head"][1].astype(bf)
    miss = z.astype(f32) - g["target"]
    return jnp.mean(jnp.where(jnp.abs(miss) < 1, 0.5 * miss**2, jnp.abs(miss) - 0.5)), miss


def adafactor(w, g, second, decay, rate):
    square = g * g + 1e-30
    if len(second) == 1:
        (v,) = second
        v = decay * v + (1 - decay) * square
        new, u = (v,), g * lax.rsqrt(v)
    else:
        rows, columns = second
        rows = decay * rows + (1 - decay) * square.mean(-1)
        columns = decay * columns + (1 - decay) * square.mean(-2)
        share = rows / rows.mean(-1, keepdims=True)
        new, u = (rows, columns), g * lax.rsqrt(share)[..., None] * lax.rsqrt(columns)[..., None, :]
    u = u / jnp.maximum(1.0, jnp.sqrt(jnp.mean(u * u)))
    size = jnp.maximum(1e-3, jnp.sqrt(jnp.mean(w * w)))
    return w - rate * size * u, new


def graph_train_step(p, second, step, g):
    (value, miss), grads = jax.value_and_grad(loss, has_aux=True)(p, g)
    t = (step + 1).astype(f32)
    decay, rate = 1 - t**-0.8, jnp.minimum(1e-2, lax.rsqrt(t))
    leaves, tree = jax.tree.flatten(p)
    new = [
        adafactor(w, x, v, decay, rate) for w, x, v in zip(leaves, jax.tree.leaves(grads), second)
    ]
    worst = jnp.max(jnp.abs(miss), 0)
    return (
        jax.tree.unflatten(tree, [w for w, _ in new]),
        [v for _, v in new],
        step + 1,
        dict(loss=value, worst=worst),
    )


c = jax.jit(graph_train_step, donate_argnums=(0, 1, 2)).lower(params, second, step, graph).compile()
print(c.memory_analysis())
