"""Serving step of a retrieval-augmented decoder: int4 weights with group scales, low-rank adapters chosen by request
(gather), paged int8 KV cache (page table gather in a scan over blocks of pages, running softmax), one chunk of prefill for
some rows, retrieval over an int8 index in a shard_map (top_k here, all_gather, top_k of all), cross attention to the
passages, then tokens in a lax.while_loop with penalties by counts, a grammar mask from packed bits, and top-p by sort and
cumsum, pages and counts donated; batch over x, heads over y; TPU v5e 2x4, ahead of time."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

d = np.array(topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x4").devices)
over = Mesh(d.reshape(2, 4), ("x", "y"))
f32, bf, i32, i8 = jnp.float32, jnp.bfloat16, jnp.int32, jnp.int8
B, L, D, H, KV, K, F, V = 8, 3, 1024, 16, 4, 64, 2048, 4096
PG, NP, MP, CK, NEW = (
    16,
    256,
    16,
    32,
    6,
)  # tokens of a page, pages, pages of a row, chunk, new tokens
NA, R, GR = 6, 8, 128  # adapters, their rank, group of a scale
ND, TOP, PL, SG = 2048, 2, 32, 24  # passages, taken, their length, states of the grammar


def arr(shape, *spec, dtype=bf):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(over, P(*spec)))


def put(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(over, P(*s)))


def packed(n, m, *spec):
    return dict(
        q=arr((L, n // GR, GR, m), None, *(None, *spec), dtype=jnp.int4),
        s=arr((L, n // GR, 1, m), None, *(None, *spec), dtype=f32),
    )


layers = dict(
    n=arr((L, 3, D), dtype=f32),
    qkv=packed(D, (H + 2 * KV) * K, None, "y"),
    qn=arr((L, 2, K), dtype=f32),
    la=arr((L, NA, D, R)),
    lb=arr((L, NA, R, H * K), None, None, None, "y"),
    o=packed(H * K, D),
    xq=arr((L, D, H * K), None, None, "y"),
    xkv=arr((L, D, 2, KV, K), None, None, None, "y"),
    xo=arr((L, H * K, D), None, "y", None),
    up=packed(D, 2 * F, None, "y"),
    down=packed(F, D),
)
weights = dict(emb=arr((V, D), "y"), nf=arr((D,), dtype=f32), layers=layers)
pool = dict(
    k=arr((L, 2, NP, PG, KV, K), None, "x", None, None, "y", dtype=i8),
    v=arr((L, 2, NP, PG, KV, K), None, "x", None, None, "y", dtype=i8),
    s=arr((L, 2, NP, PG, 2, KV), None, "x", None, None, None, "y", dtype=f32),
)
index = dict(
    keys=arr((ND, D), "y", dtype=i8),
    scale=arr((ND,), "y", dtype=f32),
    text=arr((ND, PL), dtype=i32),
)


def rms(x, g):
    w = x.astype(f32)
    return (w * lax.rsqrt(jnp.mean(w * w, -1, keepdims=True) + 1e-6) * g).astype(bf)


def times(x, w):
    """Product with a matrix of four bits, a scale for each group of rows."""
    full = (w["q"].astype(bf) * w["s"].astype(bf)).reshape(-1, w["q"].shape[-1])
    return x @ full


def turn(x, at):
    half = K // 2
    ang = at[..., None].astype(f32) * 1e4 ** (-jnp.arange(half, dtype=f32) / half)
    c, s = jnp.cos(ang)[..., None, :], jnp.sin(ang)[..., None, :]
    a, b = x[..., :half].astype(f32), x[..., half:].astype(f32)
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1).astype(bf)


def squeeze(x):
    top = jnp.max(jnp.abs(x.astype(f32)), -1) / 127.0 + 1e-8
    return jnp.clip(jnp.round(x.astype(f32) / top[..., None]), -127, 127).astype(i8), top


def paged(q, pk, pv, ps, table, at):
    """Attention to the pages of a row, four pages at a time; rows [2, B / 2] share a pool."""
    n, t = q.shape[1], q.shape[2]
    q = q.reshape(2, n, t, KV, H // KV, K)

    def block(c, i):
        m, z, acc = c
        pages = lax.dynamic_slice_in_dim(table, i * 4, 4, 2)
        take = jax.vmap(lambda a, p: a[p])
        k, v, s = (take(a, pages) for a in (pk, pv, ps))
        k = k.reshape(2, n, 4 * PG, KV, K).astype(bf) * s[..., 0, :].reshape(
            2, n, 4 * PG, KV, 1
        ).astype(bf)
        v = v.reshape(2, n, 4 * PG, KV, K).astype(bf) * s[..., 1, :].reshape(
            2, n, 4 * PG, KV, 1
        ).astype(bf)
        w = jnp.einsum("xnthgk,xnshk->xnhgts", q, k, preferred_element_type=f32) / np.sqrt(K)
        w = 30.0 * jnp.tanh(w / 30.0)
        see = (i * 4 * PG + jnp.arange(4 * PG))[None, None, None] <= at[..., None]
        w = jnp.where(see[:, :, None, None], w, -1e30)
        m2 = jnp.maximum(m, jnp.max(w, -1))
        p = jnp.exp(w - m2[..., None])
        old = jnp.exp(m - m2)
        acc = acc * old[..., None] + jnp.einsum(
            "xnhgts,xnshk->xnhgtk", p.astype(bf), v, preferred_element_type=f32
        )
        return (m2, z * old + jnp.sum(p, -1), acc), None

    shape = (2, n, KV, H // KV, t)
    c = jnp.full(shape, -1e30, f32), jnp.zeros(shape, f32), jnp.zeros((*shape, K), f32)
    (_, z, acc), _ = lax.scan(block, c, jnp.arange(MP // 4))
    return jnp.moveaxis(acc / z[..., None], 4, 2).reshape(2, n, t, H * K).astype(bf)


def run(w, pool, tok, at, live, table, who, passages):
    """All layers on tokens [2, B / 2, t]; the pages take their keys and values."""
    n, t = tok.shape[1:]
    x = put(w["emb"][tok], "x", None, None, None)
    page = jnp.take_along_axis(table, jnp.clip(at // PG, 0, MP - 1), 2)
    page, slot = jnp.where(live, page, NP), at % PG

    def layer(x, xs):
        w, pk, pv, ps = xs
        y = rms(x, w["n"][0])
        low = jnp.einsum("xntd,xndr->xntr", y, w["la"][who])
        qkv = times(y, w["qkv"])
        q, k, v = jnp.split(qkv, [H * K, (H + KV) * K], -1)
        q = q + jnp.einsum("xntr,xnrk->xntk", low, w["lb"][who])
        q = turn(rms(q.reshape(2, n, t, H, K), w["qn"][0]), at)
        k = turn(rms(k.reshape(2, n, t, KV, K), w["qn"][1]), at)
        (k, sk), (v, sv) = squeeze(k), squeeze(v.reshape(2, n, t, KV, K))
        store = jax.vmap(lambda a, p, s, u: a.at[p, s].set(u, mode="drop"))
        pk, pv = store(pk, page, slot, k), store(pv, page, slot, v)
        ps = store(ps, page, slot, jnp.stack([sk, sv], -2))
        x = x + put(times(paged(q, pk, pv, ps, table, at), w["o"]), "x", None, None, None)
        y = rms(x, w["n"][1])
        q = (y @ w["xq"]).reshape(2, n, t, KV, H // KV, K)
        kv = jnp.einsum("xnsd,dchk->cxnshk", passages, w["xkv"])
        s = jnp.einsum("xnthgk,xnshk->xnhgts", q, kv[0], preferred_element_type=f32) / np.sqrt(K)
        a = jnp.einsum("xnhgts,xnshk->xnthgk", jax.nn.softmax(s, -1).astype(bf), kv[1])
        x = x + put(a.reshape(2, n, t, H * K) @ w["xo"], "x", None, None, None)
        u, g = jnp.split(times(rms(x, w["n"][2]), w["up"]), 2, -1)
        return x + put(times(jax.nn.silu(g) * u, w["down"]), "x", None, None, None), (pk, pv, ps)

    x, (pk, pv, ps) = lax.scan(layer, x, (w["layers"], pool["k"], pool["v"], pool["s"]))
    return rms(x, w["nf"]), dict(k=pk, v=pv, s=ps)


def retrieve(q, keys, scale):
    """The nearest passages of each row, passages over y."""

    def here(q, keys, scale):
        qi, _ = squeeze(q)
        s = (
            lax.dot_general(qi, keys, (((2,), (1,)), ((), ())), preferred_element_type=i32).astype(
                f32
            )
            * scale
        )
        v, i = lax.top_k(s, TOP)
        i = i + lax.axis_index("y") * keys.shape[0]
        v, i = (lax.all_gather(a, "y", axis=2, tiled=True) for a in (v, i))
        _, best = lax.top_k(v, TOP)
        return jnp.take_along_axis(i, best, 2)

    return jax.shard_map(
        here, mesh=over, in_specs=(P("x"), P("y"), P("y")), out_specs=P("x"), check_vma=False
    )(q, keys, scale)


def sample(logits, counts, state, allow, key, temp, top):
    """Top-p of the penalised logits, in what the grammar allows."""
    seen = counts > 0
    logits = (
        jnp.where(seen, jnp.where(logits > 0, logits / 1.2, logits * 1.2), logits) - 0.1 * counts
    )
    bits = allow[state]
    free = ((bits[..., None] >> jnp.arange(32, dtype=jnp.uint32)) & 1).reshape(*logits.shape) > 0
    logits = jnp.where(free, logits, -1e30) / jnp.maximum(temp, 1e-3)[..., None]
    order = jnp.argsort(-logits, -1)
    s = jnp.take_along_axis(logits, order, -1)
    p = jax.nn.softmax(s, -1)
    keep = jnp.cumsum(p, -1) - p < top[..., None]
    pick = jnp.argmax(jnp.where(keep, s, -1e30) + jax.random.gumbel(key, s.shape), -1)
    tok = jnp.take_along_axis(order, pick[..., None], -1)[..., 0]
    return jnp.where(temp > 0, tok, order[..., 0]).astype(i32)


def rag_serve_step(
    w, pool, counts, index, table, tok, at, length, who, state, allow, step, temp, top, seed
):
    key = jax.random.wrap_key_data(seed, impl="unsafe_rbg")
    here = at[..., None] + jnp.arange(CK)
    live = jnp.arange(CK) < length[..., None]
    mean = (
        jnp.sum(w["emb"][tok].astype(f32) * live[..., None], 2) / jnp.maximum(length, 1)[..., None]
    )
    got = retrieve(mean, index["keys"], index["scale"])
    passages = put(
        w["emb"][index["text"][got]].reshape(2, B // 2, TOP * PL, D), "x", None, None, None
    )
    x, pool = run(w, pool, tok, here, live, table, who, passages)
    last = jnp.take_along_axis(x, jnp.maximum(length - 1, 0)[..., None, None], 2)[:, :, 0]
    counts = jax.vmap(jax.vmap(lambda c, t, l: c.at[t].add(l)))(counts, tok, live.astype(i32))

    def logits(x):
        y = jnp.einsum("xnd,vd->xnv", x, w["emb"], preferred_element_type=f32)
        return put(y, "x", None, None)

    def on(c):
        i, done = c[0], c[1]
        return (i < NEW) & ~jnp.all(done)

    def more(c):
        i, done, last, at, state, counts, pool, out = c
        t = sample(logits(last), counts, state, allow, jax.random.fold_in(key, i), temp, top)
        t = jnp.where(done, 0, t)
        state = jnp.where(done, state, step[state, t % 64])
        counts = jax.vmap(jax.vmap(lambda c, t, l: c.at[t].add(l)))(counts, t, 1 - done.astype(i32))
        x, pool = run(w, pool, t[..., None], at[..., None], ~done[..., None], table, who, passages)
        out = lax.dynamic_update_index_in_dim(out, t, i, 2)
        done = done | (t == 2) | (at + 1 >= MP * PG)
        return i + 1, done, x[:, :, 0], at + 1, state, counts, pool, out

    out = jnp.zeros((2, B // 2, NEW), i32)
    c = jnp.zeros((), i32), length == 0, last, at + length, state, counts, pool, out
    i, done, _, at, state, counts, pool, out = lax.while_loop(on, more, c)
    return pool, counts, dict(tok=out, done=done, at=at, state=state, steps=i, got=got)


two = lambda *more, dtype=i32: arr((2, B // 2, *more), "x", dtype=dtype)
c = (
    jax.jit(rag_serve_step, donate_argnums=(1, 2))
    .lower(
        weights,
        pool,
        two(V),
        index,
        two(MP),
        two(CK),
        two(),
        two(),
        two(),
        two(),
        arr((SG, V // 32), dtype=jnp.uint32),
        arr((SG, 64), dtype=i32),
        two(dtype=f32),
        two(dtype=f32),
        arr((4,), dtype=jnp.uint32),
    )
    .compile()
)
print("compiled", c.memory_analysis())
