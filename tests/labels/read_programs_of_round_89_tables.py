"""A training step and a use of a model of tables: rows seen in context, attention over columns, then over rows.

Ahead of time for four B200: mesh table 2 x model 2. Columns scaled by the moments of the rows that are known, holes by a
mark, columns and classes shuffled by keys, cells in groups of columns; blocks of two attentions and a gated layer in a
scan with remat, queries read only known rows, by fewer key heads; tables with classes and with numbers in one batch, the
numbers by buckets between quantiles; momentum scaled to one size, slow weights every fifth step by a conditional; the use
takes eight views of a table by a map, their mean, and reads quantiles from the running sum of buckets.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

B200 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 148 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 8000000000000 l2_cache_size: 132644864 clock_rate_ghz: 1.965 device_memory_size: 191502155776
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 10 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA B200"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=B200, topology="1x1x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("table", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# tables, rows, rows that are known, columns, columns of a group, layers, width, heads, key heads, size, hidden, classes, buckets
B, R, KNOWN, C, G, L, D, H, KH, HD, F, Y, BK = 8, 384, 256, 24, 2, 6, 256, 8, 2, 32, 768, 10, 256
GROUPS = C // G


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params = dict(
    cell=S((2 * G, D), f32, None, "model"),
    place=S((GROUPS, 32), f32),
    spread=S((32, D), f32, None, "model"),
    kinds=S((Y, D), f32, None, "model"),
    number=S((2, D), f32, None, "model"),
    asked=S((D,), f32),
    q=S((L, 2, D, H, HD), f32, None, None, "table", "model"),
    kv=S((L, 2, D, 2, KH, HD), f32, None, None, "table", None, "model"),
    out=S((L, 2, H, HD, D), f32, None, None, "model", None, "table"),
    up=S((L, D, 2, F), f32, None, "table", None, "model"),
    down=S((L, F, D), f32, None, "model", "table"),
    norms=S((L, 3, D), f32),
    last=S((D,), f32),
    mid=S((D, F), f32, "table", "model"),
    classes=S((F, Y), f32, "model"),
    buckets=S((F, BK), f32, "model"),
)
state = dict(params=params, slow=params, m=params, step=S((), i32), key=S((2,), jnp.uint32))
batch = dict(
    x=S((B, R, C), f32, "table"),
    y=S((B, R), f32, "table"),
    classes=S((B,), i32, "table"),
    known=S((B,), i32, "table"),
)


def norm(x, scale):
    y = x.astype(f32)
    y = y - y.mean(-1, keepdims=True)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5) * scale).astype(x.dtype)


def scaled(x, known):
    """Columns by the moments of known rows that have no hole, far ones by a logarithm; and the holes."""
    hole = jnp.isnan(x)
    use = (known[..., None] & ~hole).astype(f32)
    x = jnp.where(hole, 0.0, x)
    count = jnp.maximum(use.sum(1, keepdims=True), 1.0)
    mean = (x * use).sum(1, keepdims=True) / count
    var = (jnp.square(x - mean) * use).sum(1, keepdims=True) / count
    z = jnp.where(hole, 0.0, (x - mean) * lax.rsqrt(var + 1e-6))
    z = jnp.where(jnp.abs(z) > 3, jnp.sign(z) * (3 + jnp.log(jnp.maximum(jnp.abs(z) - 2, 1.0))), z)
    return z, hole.astype(f32)


def attend(q, k, v, seen=None):
    """Grouped attention over the axis before the heads, of [..., n, heads, size]."""
    q = q.reshape(*q.shape[:-2], KH, H // KH, HD)
    s = jnp.einsum("...qkgd,...skd->...kgqs", q, k).astype(f32) * HD**-0.5
    if seen is not None:
        s = jnp.where(seen, s, -1e9)
    o = jnp.einsum("...kgqs,...skd->...qkgd", jax.nn.softmax(s, -1).astype(bf), v)
    return o.reshape(*o.shape[:-3], H, HD)


def model(p, x, y, known, classes):
    z, hole = scaled(x, known)
    cells = jnp.stack([z, hole], -1).reshape(B, R, GROUPS, 2 * G).astype(bf)
    at = (p["place"] @ p["spread"]).astype(bf)
    e = cells @ p["cell"].astype(bf) + at
    kind = p["kinds"].astype(bf)[jnp.clip(y.astype(i32), 0, Y - 1)]
    number = jnp.stack([y, jnp.ones_like(y)], -1).astype(bf) @ p["number"].astype(bf)
    target = jnp.where((classes > 0)[:, None, None], kind, number)
    target = jnp.where(known[..., None], target, p["asked"].astype(bf))
    x = con(jnp.concatenate([e, target[:, :, None]], 2), "table", None, None, None)

    def block(x, w):
        n = norm(x, w["norms"][0])
        q = jnp.einsum("brcd,dhk->brchk", n, w["q"][0].astype(bf))
        k, v = jnp.moveaxis(jnp.einsum("brcd,dzhk->brczhk", n, w["kv"][0].astype(bf)), 3, 0)
        x = x + jnp.einsum("brchk,hkd->brcd", attend(q, k, v), w["out"][0].astype(bf))
        n = jnp.swapaxes(norm(con(x, "table", None, None, None), w["norms"][1]), 1, 2)
        q = jnp.einsum("bcrd,dhk->bcrhk", n, w["q"][1].astype(bf))
        k, v = jnp.moveaxis(
            jnp.einsum("bcrd,dzhk->bcrzhk", n[:, :, :KNOWN], w["kv"][1].astype(bf)), 3, 0
        )
        seen = known[:, None, None, None, None, :KNOWN]
        o = jnp.einsum("bcrhk,hkd->brcd", attend(q, k, v, seen), w["out"][1].astype(bf))
        x = con(x + o, "table", None, None, None)
        g = jnp.einsum("brcd,dzf->zbrcf", norm(x, w["norms"][2]), w["up"].astype(bf))
        x = x + (jax.nn.silu(g[0]) * g[1]) @ w["down"].astype(bf)
        return con(x, "table", None, None, None), None

    layers = {n: p[n] for n in ("q", "kv", "out", "up", "down", "norms")}
    x, _ = lax.scan(jax.checkpoint(block), x, layers)
    h = jax.nn.gelu(norm(x[:, :, -1], p["last"]) @ p["mid"].astype(bf)).astype(f32)
    z = h @ p["classes"]
    z = jnp.where(jnp.arange(Y) < classes[:, None, None], z, -1e9)
    return z, h @ p["buckets"]


def borders(y, known):
    """The edges of buckets: quantiles of the known numbers of each table."""
    order = jnp.sort(jnp.where(known, y, jnp.inf), 1)
    at = jnp.arange(1, BK) / BK * (known.sum(1, keepdims=True) - 1)
    low = at.astype(i32)
    a = jnp.take_along_axis(order, low, 1)
    b = jnp.take_along_axis(order, jnp.minimum(low + 1, R - 1), 1)
    return a + (at - low) * (jnp.where(jnp.isinf(b), a, b) - a)


def shuffled(x, y, classes, key):
    kc, ky = jax.random.split(key)
    x = jax.vmap(lambda t, k: t[:, jnp.argsort(jax.random.uniform(k, (C,)))])(
        x, jax.random.split(kc, B)
    )
    order = jax.vmap(lambda k: jnp.argsort(jax.random.uniform(k, (Y,))))(jax.random.split(ky, B))
    fits = order < classes[:, None]
    order = jnp.argsort(jnp.where(fits, order, Y + order), 1)
    moved = jnp.take_along_axis(order, jnp.clip(y.astype(i32), 0, Y - 1), 1).astype(f32)
    return x, jnp.where((classes > 0)[:, None], moved, y), order


def loss(p, batch, key):
    known = jnp.arange(R) < jnp.minimum(batch["known"], KNOWN)[:, None]
    x, y, _ = shuffled(batch["x"], batch["y"], batch["classes"], key)
    kinds, buckets = model(p, x, y, known, batch["classes"])
    one = jnp.take_along_axis(jax.nn.log_softmax(kinds), y.astype(i32)[..., None] % Y, 2)[..., 0]
    edge = jax.vmap(lambda e, v: jnp.searchsorted(e, v))(borders(y, known), y)
    two = jnp.take_along_axis(jax.nn.log_softmax(buckets), edge[..., None], 2)[..., 0]
    each = jnp.where((batch["classes"] > 0)[:, None], one, two) * ~known
    return -jnp.mean(each.sum(1) / jnp.maximum((~known).sum(1), 1))


def tables_step(state, batch):
    key, mine = jax.random.split(jax.random.wrap_key_data(state["key"]))
    value, g = jax.value_and_grad(loss)(state["params"], batch, mine)
    m = jax.tree.map(lambda a, b: 0.95 * a + b, state["m"], g)
    rate = 3e-4 * jnp.minimum(1.0, (state["step"] + 1) / 1000.0)
    new = jax.tree.map(
        lambda w, a: w * (1 - 0.01 * rate) - rate * a * lax.rsqrt(jnp.mean(a * a) + 1e-12),
        state["params"],
        m,
    )
    slow = lax.cond(
        state["step"] % 5 == 4,
        lambda s, w: jax.tree.map(lambda a, b: a + 0.5 * (b - a), s, w),
        lambda s, w: s,
        state["slow"],
        new,
    )
    new = jax.tree.map(lambda a, b: jnp.where(state["step"] % 5 == 4, a, b), slow, new)
    return dict(
        params=new, slow=slow, m=m, step=state["step"] + 1, key=jax.random.key_data(key)
    ), value


def tables_use(p, batch, key):
    known = jnp.arange(R) < jnp.minimum(batch["known"], KNOWN)[:, None]

    def view(k):
        x, y, order = shuffled(batch["x"], batch["y"], batch["classes"], k)
        kinds, buckets = model(p, x, y, known, batch["classes"])
        back = jnp.broadcast_to(order[:, None], kinds.shape)
        return jax.nn.softmax(jnp.take_along_axis(kinds, back, 2) / 0.9), jax.nn.softmax(buckets)

    kinds, buckets = lax.map(view, jax.random.split(jax.random.wrap_key_data(key), 8))
    total = jnp.cumsum(buckets.mean(0), -1)
    edges = borders(batch["y"], known)
    at = (total[..., None] < jnp.array([0.1, 0.5, 0.9])).sum(2)
    read = jax.vmap(lambda e, n: e[jnp.clip(n, 0, BK - 2)])(edges, at)
    return kinds.mean(0), read


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = jax.jit(tables_step, donate_argnums=0).trace(state, batch)
        print(len(low.lower(lowering_platforms=("cuda",)).compile().as_text()))
        low = jax.jit(tables_use).trace(params, batch, state["key"])
        print(len(low.lower(lowering_platforms=("cuda",)).compile().as_text()))
