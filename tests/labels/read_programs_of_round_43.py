"""One step of a two-tower retrieval model, mesh 4x2 (batch x bank), 8 devices: row-sharded embedding bags over "bank" (ids and rows by all_to_all after an argsort by owner),
f8 matmul with delayed scales, an int8 matmul for the item tower's side features, all_gather of candidates, top_k of hard negatives, scan over microbatches,
row-wise Adagrad for the tables and sign-momentum for the towers."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = open(os.environ["TARGET"]).read()  # a text proto as in tests/data/programs/tagged_unseen.py
devices = topologies.get_topology_desc(
    platform="cuda", target_config=H100, topology="1x1x8"
).devices
mesh = Mesh(np.array(devices).reshape(4, 2), ("batch", "bank"))
f32, bf, f8, i8, i32 = jnp.float32, jnp.bfloat16, jnp.float8_e4m3fn, jnp.int8, jnp.int32
ROWS, W, D, M, B, BAG, SIDE, HARD, BANKS = (
    1024,
    64,
    128,
    3,
    192,
    6,
    96,
    16,
    2,
)  # B: examples of a step; M microbatches


def st(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


def tower(n):
    return dict(
        w=st((W, n, D), f32),
        side=st((SIDE, D), f32),
        out=st((n * D, D), f32, None, "bank"),
        temp=st((), f32),
    )


params = dict(
    users=st((ROWS, W), f32, "bank"), items=st((ROWS, W), f32, "bank"), q=tower(2), k=tower(3)
)
scales = dict(x=st((2,), f32), w=st((2,), f32))
batch = dict(
    user=st((M, B, BAG), i32, None, ("batch", "bank")),
    item=st((M, B, BAG), i32, None, ("batch", "bank")),
    side=st((M, B, SIDE), i8, None, ("batch", "bank")),
    popular=st((M, B), f32, None, ("batch", "bank")),
)


@jax.custom_vjp
def f8dot(x, w, sx, sw):
    return (x / sx).astype(f8).astype(bf) @ (w / sw).astype(f8).astype(bf) * (sx * sw).astype(bf)


def f8fwd(x, w, sx, sw):
    a, b = jnp.clip(x / sx, -448, 448).astype(f8), jnp.clip(w / sw, -448, 448).astype(f8)
    return (
        lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=f32) * (sx * sw)
    ).astype(bf), (a, b, sx, sw)


def f8bwd(res, g):
    a, b, sx, sw = res
    return (
        (g @ b.astype(bf).T).astype(f32) * sw,
        (a.astype(bf).T @ g).astype(f32) * sx,
        jnp.zeros_like(sx),
        jnp.zeros_like(sw),
    )


f8dot.defvjp(f8fwd, f8bwd)


def bag(table, ids):
    """table [ROWS/BANKS, W] of this bank, ids [b, BAG]: the weighted sums of rows, rows of the other bank by all_to_all."""
    flat = ids.reshape(-1)
    owner = flat % BANKS
    order = jnp.argsort(owner, stable=True)
    count = jnp.bincount(owner, length=BANKS)
    first = jnp.cumsum(count) - count
    slot = jnp.arange(flat.size) - first[owner[order]]
    ask = jnp.full((BANKS, flat.size), -1, i32).at[owner[order], slot].set(flat[order] // BANKS)
    asked = lax.all_to_all(ask, "bank", 0, 0, tiled=True)
    rows = jnp.where((asked >= 0)[..., None], table[jnp.maximum(asked, 0)], 0.0).astype(bf)
    rows = lax.all_to_all(rows, "bank", 0, 0, tiled=True)
    got = rows[owner[order], slot][jnp.argsort(order)].reshape(*ids.shape, -1).astype(f32)
    gap = lax.associative_scan(jnp.maximum, jnp.where(ids > 0, jnp.arange(BAG), 0), axis=1)
    return jnp.einsum("bnw,bn->bw", got, jax.nn.softmax(-0.1 * gap.astype(f32), axis=1))


def embed(p, v, side, sx, sw):
    h = jnp.einsum("bw,wnd->bnd", v.astype(bf), p["w"].astype(bf))
    h = jax.nn.gelu(h)
    if side is not None:
        peak = lax.stop_gradient(jnp.abs(p["side"]).max(0) / 127.0)
        wq = jnp.round(lax.stop_gradient(p["side"]) / peak).astype(i8)
        h = (
            h
            + (
                lax.dot_general(
                    side, wq, (((1,), (0,)), ((), ())), preferred_element_type=i32
                ).astype(f32)
                * peak
            ).astype(bf)[:, None]
        )
    x = h.reshape(h.shape[0], -1).astype(f32)
    full = lax.all_gather(p["out"].astype(bf), "bank", axis=1, tiled=True).astype(f32)
    y = f8dot(x, full, sx, sw).astype(f32)
    return y * lax.rsqrt((y * y).sum(-1, keepdims=True) + 1e-6), jnp.abs(x).max()


def loss(p, s, user, item, side, popular):
    q, mq = embed(p["q"], bag(p["users"], user), None, s["x"][0], s["w"][0])
    k, mk = embed(p["k"], bag(p["items"], item), side, s["x"][1], s["w"][1])
    keys = lax.all_gather(k.astype(bf), ("batch", "bank"), axis=0, tiled=True)
    bias = lax.all_gather(popular, ("batch", "bank"), axis=0, tiled=True)
    z = (q.astype(bf) @ keys.T).astype(f32) * jnp.exp(p["q"]["temp"]) - jnp.log(bias)
    me = lax.axis_index(("batch", "bank")) * q.shape[0] + jnp.arange(q.shape[0])
    pos = jnp.take_along_axis(z, me[:, None], 1)[:, 0]
    hard, which = lax.top_k(jnp.where(jnp.arange(z.shape[1]) == me[:, None], -jnp.inf, z), HARD)
    l = jnp.mean(jax.nn.logsumexp(jnp.concatenate([pos[:, None], hard], 1), axis=1) - pos)
    return l, (
        jnp.stack([mq, mk]),
        jnp.mean(pos > hard[:, 0]),
        jnp.zeros(B, i32).at[which.reshape(-1)].add(1),
    )


def local(p, acc, mom, s, data):
    g0 = jax.tree.map(jnp.zeros_like, p)

    def micro(c, d):
        g, peak = c
        (l, (m, hit, use)), dg = jax.value_and_grad(loss, has_aux=True)(
            p, s, d["user"], d["item"], d["side"], d["popular"]
        )
        return (jax.tree.map(jnp.add, g, dg), jnp.maximum(peak, m)), (l, hit, use)

    (g, peak), (l, hit, use) = lax.scan(micro, (g0, jnp.zeros(2)), data)

    def table(t, a, g):
        g = lax.psum(g, "batch") / M
        a = a + jnp.mean(g * g, 1)
        return t - 0.05 * g * lax.rsqrt(a + 1e-8)[:, None], a

    def dense(path, w, m, g):
        g = lax.psum(g, ("batch",) if path[-1].key == "out" else ("batch", "bank")) / M
        return w * (1 - 1e-4) - 1e-3 * jnp.sign(0.9 * m + 0.1 * g), 0.99 * m + 0.01 * g

    users, au = table(p["users"], acc[0], g["users"])
    items, ai = table(p["items"], acc[1], g["items"])
    both = {n: jax.tree_util.tree_map_with_path(dense, p[n], mom[n], g[n]) for n in ("q", "k")}
    pick = lambda i: {
        n: jax.tree.map(lambda t: t[i], both[n], is_leaf=lambda t: isinstance(t, tuple))
        for n in both
    }
    new = dict(users=users, items=items, **pick(0))
    s = dict(
        x=jnp.maximum(lax.pmax(peak, ("batch", "bank")), 1e-3) / 448.0,
        w=0.9 * s["w"]
        + 0.1 * jnp.stack([jnp.abs(new["q"]["out"]).max(), jnp.abs(new["k"]["out"]).max()]) / 448.0,
    )
    s = dict(s, w=lax.pmax(s["w"], "bank"))
    return (
        new,
        (au, ai),
        pick(1),
        s,
        lax.pmean(jnp.stack([l.mean(), hit.mean()]), ("batch", "bank")),
        lax.psum(use.sum(0), ("batch", "bank")),
    )


is_st = lambda x: isinstance(x, jax.ShapeDtypeStruct)
spec = lambda t: jax.tree.map(lambda x: x.sharding.spec, t, is_leaf=is_st)
acc = (st((ROWS,), f32, "bank"), st((ROWS,), f32, "bank"))
mom = {n: params[n] for n in ("q", "k")}
ins = (params, acc, mom, scales, batch)


def retrieval_step(*a):
    new, *state, s, report, use = jax.shard_map(
        local,
        mesh=mesh,
        in_specs=spec(ins),
        out_specs=(spec(params), spec(acc), spec(mom), spec(scales), P(), P()),
        check_vma=False,
    )(*a)
    rank = jnp.argsort(-use)[:8]  # outside of the shard_map: most used hard negatives
    norms = jnp.linalg.norm(new["items"], axis=1)
    order = jnp.argsort(norms)
    return new, state, s, report, rank, jnp.quantile(norms, 0.9), order[-4:]


c = jax.jit(retrieval_step, donate_argnums=(0, 1, 2)).lower(*ins).compile()
print("compiled", len(c.as_text() or ""))
