"""A training step of a recommendation model: sharded embedding tables, all-to-all, cross layers, row-wise Adagrad.

Ahead of time for TPU v5e 2x4: mesh data 2 x table 4; ids are sorted and made unique on each device.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost")
import jax, jax.numpy as jnp, numpy as np
from functools import partial
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jax.experimental import topologies

topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("data", "table"))
bf, f32 = jnp.bfloat16, jnp.float32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


N, R, E, B, K, NUM, X = 16, 200000, 64, 8192, 4, 13, 4
W = (N + 1) * E
params = dict(
    tables=S((N, R, E), f32, "table"),
    bottom=[S((NUM, 512), f32), S((512, E), f32, None, None)],
    cross=dict(
        u=S((X, W, 256), f32, None, "table"),
        v=S((X, 256, W), f32, None, None, "table"),
        b=S((X, W), f32),
    ),
    top=[
        S((W + (N + 1) * N // 2, 1024), f32, None, "table"),
        S((1024, 512), f32, "table"),
        S((512, 1), f32),
    ],
)
acc = dict(
    tables=S((N, R), f32, "table"),
    dense=jax.tree.map(lambda s: s, {k: v for k, v in params.items() if k != "tables"}),
)
ids, dense, label = (
    S((B, N, K), jnp.int32, ("data", "table")),
    S((B, NUM), f32, ("data", "table")),
    S((B,), f32, ("data", "table")),
)
shm = partial(jax.shard_map, mesh=mesh)


@partial(shm, in_specs=(P("table"), P(("data", "table"))), out_specs=P(("data", "table")))
def lookup(tables, ids):
    i = jax.lax.all_to_all(ids, "table", 1, 0, tiled=True)
    rows = jax.vmap(lambda t, j: t[j], (0, 1), 1)(tables, i)
    return jax.lax.all_to_all(jnp.sum(rows, 2), "table", 0, 1, tiled=True)


@partial(
    shm,
    in_specs=(P("table"), P("table"), P(("data", "table")), P(("data", "table"))),
    out_specs=(P("table"), P("table")),
    check_vma=False,
)
def push(tables, acc, ids, g):
    i = jax.lax.all_to_all(ids, "table", 1, 0, tiled=True)
    g = jax.lax.all_to_all(g, "table", 1, 0, tiled=True)
    i, g = (
        jax.lax.all_gather(i, "data", axis=0, tiled=True),
        jax.lax.all_gather(g.astype(bf), "data", axis=0, tiled=True),
    )

    def table(t, a, j, d):
        j = j.reshape(-1)
        d = jnp.repeat(d.astype(f32), K, 0)
        order = jnp.argsort(j)
        s = j[order]
        first = jnp.concatenate([jnp.ones(1, bool), s[1:] != s[:-1]])
        seg = jnp.cumsum(first) - 1
        d = jax.ops.segment_sum(d[order], seg, s.size)
        rows = jnp.full(s.size, R).at[seg].set(s)
        a = a.at[rows].add(jnp.mean(d * d, -1), mode="drop")
        scale = jax.lax.rsqrt(a[jnp.minimum(rows, R - 1)] + 1e-6)
        return t.at[rows].add(-0.05 * d * scale[:, None], mode="drop"), a

    out = jax.lax.map(
        lambda z: table(*z), (tables, acc, jnp.moveaxis(i, 1, 0), jnp.moveaxis(g, 1, 0))
    )
    return out


def forward(p, emb, dense):
    with jax.named_scope("bottom"):
        h = jax.nn.relu(dense @ p["bottom"][0])
        h = jax.nn.relu(h @ p["bottom"][1])
    f = jnp.concatenate([h[:, None], emb], 1)
    x0 = f.reshape(B, W).astype(bf)

    def cross(x, w):
        u, v, b = w
        return x0 * ((x @ u.astype(bf)) @ v.astype(bf) + b.astype(bf)) + x, None

    with jax.named_scope("cross"):
        x, _ = jax.lax.scan(
            jax.checkpoint(cross), x0, (p["cross"]["u"], p["cross"]["v"], p["cross"]["b"])
        )
    with jax.named_scope("interact"):
        z = jnp.einsum("bne,bme->bnm", f.astype(bf), f.astype(bf))
        iu = np.triu_indices(N + 1, 1)
        z = z[:, iu[0], iu[1]]
    with jax.named_scope("top"):
        t = jnp.concatenate([x, z], -1)
        for w in p["top"][:-1]:
            t = jax.nn.relu(t @ w.astype(bf))
        return (t @ p["top"][-1].astype(bf)).astype(f32)[:, 0]


def dlrm_train_step(p, acc, ids, dense, label):
    emb = lookup(p["tables"], ids)
    rest = {k: v for k, v in p.items() if k != "tables"}

    def loss(rest, emb):
        l = forward(rest, emb, dense)
        bce = jnp.maximum(l, 0) - l * label + jnp.log1p(jnp.exp(-jnp.abs(l)))
        return jnp.mean(bce), l

    (val, logits), (g, ge) = jax.value_and_grad(loss, (0, 1), has_aux=True)(rest, emb)
    tables, ta = push(p["tables"], acc["tables"], ids, ge)
    a = jax.tree.map(lambda a, x: a + x * x, acc["dense"], g)
    rest = jax.tree.map(lambda w, x, a: w - 0.05 * x * jax.lax.rsqrt(a + 1e-6), rest, g, a)
    auc = jnp.histogram(jax.nn.sigmoid(logits), 64, (0.0, 1.0), weights=label)[0]
    return (
        dict(rest, tables=tables),
        dict(tables=ta, dense=a),
        dict(loss=val, auc=auc, norm=jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))),
    )


c = jax.jit(dlrm_train_step, donate_argnums=(0, 1)).lower(params, acc, ids, dense, label).compile()
print(c.memory_analysis())
