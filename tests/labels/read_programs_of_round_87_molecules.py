"""A training step and a search of molecules: graphs in one batch, messages by segments, a set of atoms read out.

Ahead of time for 2x2 chips of 7x: mesh graph 4 x width 2. Edges with distances in radial bases, messages gated by them and
summed by segments, batch norm over real atoms, a virtual node of each graph, layers in a scan, softmax over the atoms of a
graph by segments, targets of which some are missing, Adam with warm restarts; the search ranks graphs by cosine.
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
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("graph", "width"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# atoms, edges, graphs, kinds of atoms, width, layers, radial bases, targets, graphs that are searched
N, E, G, K, D, L, R, Y, S_ = 4096, 16384, 256, 100, 256, 4, 32, 12, 8192


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params = dict(
    kinds=S((K, D), f32, None, "width"),
    edge=S((L, R, D), f32, None, None, "width"),
    send=S((L, D, D), f32, None, "graph", "width"),
    own=S((L, D, D), f32, None, "graph", "width"),
    hub=S((L, D, D), f32, None, "graph", "width"),
    scale=S((L, D), f32),
    shift=S((L, D), f32),
    score=S((D,), f32),
    out=S((D, Y), f32, "graph"),
    bias=S((Y,), f32),
)
moments = dict(mean=S((L, D), f32), var=S((L, D), f32))
state = dict(params=params, m=params, v=params, moments=moments, step=S((), i32))
batch = dict(
    kind=S((N,), i32, "graph"),
    place=S((N, 3), f32, "graph"),
    graph=S((N,), i32, "graph"),
    source=S((E,), i32, "graph"),
    target=S((E,), i32, "graph"),
    real=S((E,), jnp.bool_, "graph"),
    y=S((G, Y), f32, "graph"),
)


def embed(p, moments, b, train):
    there = (b["graph"] < G).astype(f32)
    apart = b["place"][b["source"]] - b["place"][b["target"]]
    far = jnp.sqrt(jnp.sum(apart**2, -1) + 1e-6)
    base = jnp.exp(-10 * (far[:, None] - jnp.linspace(0, 5, R)) ** 2)
    fade = 0.5 * (jnp.cos(jnp.pi * jnp.clip(far / 5, 0, 1)) + 1) * b["real"]
    x = con(p["kinds"][b["kind"]], "graph", "width")
    hub = jnp.zeros((G, D))

    def layer(carry, w):
        x, hub = carry
        gate = jax.nn.silu(base @ w["edge"]) * fade[:, None]
        sent = (x.astype(bf) @ w["send"].astype(bf)).astype(f32)[b["source"]] * gate
        got = con(jax.ops.segment_sum(sent, b["target"], N), "graph", "width")
        up = jnp.take(hub, b["graph"], axis=0, mode="fill", fill_value=0)
        y = (x.astype(bf) @ w["own"].astype(bf)).astype(f32) + got + up
        count = jnp.maximum(there.sum(), 1)
        if train:
            mean = jnp.sum(y * there[:, None], 0) / count
            var = jnp.sum((y - mean) ** 2 * there[:, None], 0) / count
        else:
            mean, var = w["mean"], w["var"]
        y = (y - mean) * lax.rsqrt(var + 1e-5) * w["scale"] + w["shift"]
        x = x + jax.nn.silu(y) * there[:, None]
        hub = jnp.tanh(hub + jax.ops.segment_max(x, b["graph"], G, indices_are_sorted=True))
        hub = jnp.where(jnp.isfinite(hub), hub, 0.0) @ w["hub"]
        return (x, hub), (mean, var)

    names = ("edge", "send", "own", "hub", "scale", "shift")
    layers = {n: p[n] for n in names} | moments
    (x, hub), new = lax.scan(layer, (x, hub), layers)
    s = x @ p["score"]
    top = jax.ops.segment_max(s, b["graph"], G, indices_are_sorted=True)
    e = jnp.exp(s - jnp.take(top, b["graph"], mode="fill", fill_value=jnp.inf))
    total = jax.ops.segment_sum(e, b["graph"], G)
    share = e / jnp.take(total, b["graph"], mode="fill", fill_value=1.0)
    return con(jax.ops.segment_sum(x * share[:, None], b["graph"], G) + hub, "graph", "width"), new


def loss(p, moments, b):
    z, (mean, var) = embed(p, moments, b, True)
    guess = z @ p["out"] + p["bias"]
    known = jnp.isfinite(b["y"])
    miss = jnp.where(known, guess - jnp.where(known, b["y"], 0.0), 0.0)
    small = jnp.abs(miss) < 1
    each = jnp.where(small, 0.5 * miss**2, jnp.abs(miss) - 0.5)
    return each.sum() / jnp.maximum(known.sum(), 1), dict(mean=mean, var=var)


def molecule_step(state, b):
    (value, seen), grads = jax.value_and_grad(loss, has_aux=True)(
        state["params"], state["moments"], b
    )
    moments = jax.tree.map(lambda o, n: 0.99 * o + 0.01 * n, state["moments"], seen)
    step = state["step"] + 1
    t = step.astype(f32)
    turn = jnp.mod(t, 5000) / 5000
    rate = 1e-3 * 0.5 * (1 + jnp.cos(jnp.pi * turn))
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["v"], grads)
    p = jax.tree.map(
        lambda p, m, v: p - rate * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8),
        state["params"],
        m,
        v,
    )
    return dict(params=p, m=m, v=v, moments=moments, step=step), value


def search(p, moments, b, known):
    z, _ = embed(p, moments, b, False)
    unit = lambda x: x * lax.rsqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-6)
    near = con(unit(z).astype(bf) @ unit(known).astype(bf).T, "graph", "width")
    return lax.top_k(near.astype(f32), 10)


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = jax.jit(molecule_step, donate_argnums=0).trace(state, batch)
        low.lower(lowering_platforms=("tpu",)).compile()
        low = jax.jit(search).trace(params, moments, batch, S((S_, D), f32, "width"))
        low.lower(lowering_platforms=("tpu",)).compile()
