"""Speculative decoding: a dense int8 draft (ring cache of a sliding window) proposes G tokens in a scan, a sparse
mixture-of-experts target (paged KV cache, block table, sorted dispatch by argsort and segment_sum, scatter into a capacity
buffer; last layer by ragged_dot in a shard_map) verifies them, rejection sampling with the residual distribution,
lax.cond for greedy / sampled and for a draft that lags, lax.while_loop until all rows end; batch over x, heads and experts over y; caches donated."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from functools import partial
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

d = np.array(topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x4").devices)
over = Mesh(d.reshape(2, 4), ("x", "y"))
f32, bf, i32, i8 = jnp.float32, jnp.bfloat16, jnp.int32, jnp.int8
B, D, H, KV, K, V, L, E, F, G = 8, 256, 8, 4, 64, 2048, 3, 8, 384, 4
PG, NP, MAXP, S = 16, 96, 10, 160  # page size, pages in the pool, pages per row, longest row
DD, DH, DF, W = 128, 4, 256, 32  # draft: width, heads, ffn, window
CAP = 24


def arr(s, *p, dtype=f32):
    return jax.ShapeDtypeStruct(s, dtype, sharding=NamedSharding(over, P(*p)))


def shard(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(over, P(*s)))


def moe(*l):
    n = (None,) * len(l)
    return dict(
        r=arr((*l, D, E), *n),
        up=arr((*l, E, D, F), *n, "y", dtype=bf),
        gate=arr((*l, E, D, F), *n, "y", dtype=bf),
        down=arr((*l, E, F, D), *n, "y", dtype=bf),
    )


def att(*l):
    n = (None,) * len(l)
    return dict(
        q=arr((*l, D, H, K), *n, None, "y", dtype=bf),
        k=arr((*l, D, KV, K), *n, None, "y", dtype=bf),
        v=arr((*l, D, KV, K), *n, None, "y", dtype=bf),
        o=arr((*l, H, K, D), *n, "y", dtype=bf),
        n1=arr((*l, D)),
        n2=arr((*l, D)),
        qn=arr((*l, K)),
    )


def q8(s, *p):
    return dict(w=arr(s, *p, dtype=i8), s=arr(s[-1:], *p[-1:] if len(p) == len(s) else ()))


target = dict(
    emb=arr((V, D), "y", dtype=bf),
    lay=dict(a=att(L), m=moe(L)),
    last=dict(a=att(), m=moe()),
    nf=arr((D,)),
    bias=arr((V,), "y"),
)
draft = dict(
    emb=arr((V, DD), "y", dtype=bf),
    lay=[
        dict(
            qkv=q8((DD, 3 * DD), None, "y"),
            o=q8((DD, DD), "y", None),
            up=q8((DD, DF), None, "y"),
            down=q8((DF, DD), "y", None),
            n1=arr((DD,)),
            n2=arr((DD,)),
        )
        for _ in range(2)
    ],
    nf=arr((DD,)),
    head=q8((DD, V), None, "y"),
)
pool = dict(
    k=arr((L + 1, NP, PG, KV, K), None, None, None, "y", dtype=bf),
    v=arr((L + 1, NP, PG, KV, K), None, None, None, "y", dtype=bf),
)
ring = dict(
    k=arr((2, B, W, DH, DD // DH), None, "x", None, "y", dtype=bf),
    v=arr((2, B, W, DH, DD // DH), None, "x", None, "y", dtype=bf),
    p=arr((B, W), "x", dtype=i32),
)


def rms(x, g):
    a = x.astype(f32)
    return (a * lax.rsqrt(jnp.mean(a * a, -1, keepdims=True) + 1e-6) * g).astype(x.dtype)


def rope(x, pos):
    k = x.shape[-1]
    ang = pos[..., None].astype(f32) * 1e4 ** (-jnp.arange(0, k, 2) / k)
    c, s = jnp.cos(ang)[:, :, None], jnp.sin(ang)[:, :, None]
    a, b = jnp.split(x.astype(f32), 2, -1)
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1).astype(x.dtype)


def dense8(x, q):
    m = jnp.max(jnp.abs(x.astype(f32)), -1, keepdims=True) / 127.0 + 1e-6
    xi = jnp.round(x.astype(f32) / m).astype(i8)
    return (
        lax.dot_general(
            xi, q["w"], (((x.ndim - 1,), (0,)), ((), ())), preferred_element_type=i32
        ).astype(f32)
        * m
        * q["s"]
    ).astype(bf)


def route(p, n):
    lg = n.astype(f32) @ p["r"]
    pr = jax.nn.softmax(lg)
    w, ix = lax.top_k(pr, 2)
    return w / w.sum(-1, keepdims=True), ix, pr


def moe_sorted(p, x):
    n = x.reshape(-1, D)
    w, ix, pr = route(p, n)
    T = n.shape[0]
    flat = ix.reshape(-1)
    order = jnp.argsort(flat, stable=True)
    src = order // 2
    e = flat[order]
    load = jax.ops.segment_sum(jnp.ones_like(e), e, E, indices_are_sorted=True)
    start = jnp.cumsum(load) - load
    at = jnp.arange(2 * T) - start[e]
    keep = at < CAP
    buf = jnp.zeros((E, CAP, D), bf).at[e, jnp.where(keep, at, CAP)].set(n[src], mode="drop")
    buf = shard(buf, "y")
    h = jax.nn.silu(jnp.einsum("ecd,edf->ecf", buf, p["gate"])) * jnp.einsum(
        "ecd,edf->ecf", buf, p["up"]
    )
    o = shard(jnp.einsum("ecf,efd->ecd", h, p["down"]), "y")
    y = jnp.where(keep[:, None], o[e, jnp.minimum(at, CAP - 1)], 0) * w.reshape(-1)[order][
        :, None
    ].astype(bf)
    return jax.ops.segment_sum(y, src, T).reshape(x.shape), (load, 1.0 - keep.mean())


def moe_ragged(p, x):
    @partial(
        jax.shard_map,
        mesh=over,
        in_specs=(dict(r=P(), up=P("y"), gate=P("y"), down=P("y")), P("x")),
        out_specs=(P("x"), P()),
        check_vma=False,
    )
    def f(p, x):
        n = x.reshape(-1, D)
        w, ix, pr = route(p, n)
        me = lax.axis_index("y")
        el = E // 4
        loc = ix.reshape(-1) - me * el
        mine = (loc >= 0) & (loc < el)
        loc = jnp.where(mine, loc, el)
        order = jnp.argsort(loc, stable=True)
        rows = n[order // 2]
        gs = jnp.bincount(loc, length=el + 1)[:el].astype(i32)
        h = jax.nn.silu(lax.ragged_dot(rows, p["gate"], gs)) * lax.ragged_dot(rows, p["up"], gs)
        o = lax.ragged_dot(h, p["down"], gs)
        o = jnp.where((jnp.arange(o.shape[0]) < gs.sum())[:, None], o, 0) * w.reshape(-1)[order][
            :, None
        ].astype(bf)
        y = jnp.zeros_like(n).at[order // 2].add(o)
        return lax.psum(y, "y").reshape(x.shape), lax.psum(
            jax.ops.segment_sum(mine.astype(i32), jnp.where(mine, ix.reshape(-1), 0), E), ("x", "y")
        )

    return f(p, x)


def attend(a, ck, cv, x, pos, table):
    n = rms(x, a["n1"])
    q = rope(rms(jnp.einsum("btd,dhk->bthk", n, a["q"]), a["qn"]), pos)
    k = rope(jnp.einsum("btd,dhk->bthk", n, a["k"]), pos)
    v = jnp.einsum("btd,dhk->bthk", n, a["v"])
    pg = jnp.take_along_axis(table, jnp.minimum(pos // PG, MAXP - 1), 1)
    ck = ck.at[pg, pos % PG].set(k)
    cv = cv.at[pg, pos % PG].set(v)
    kk = ck[table].reshape(B, S, KV, K)
    vv = cv[table].reshape(B, S, KV, K)
    s = (
        jnp.einsum(
            "btgrk,bsgk->bgrts", q.reshape(B, -1, KV, H // KV, K), kk, preferred_element_type=f32
        )
        * K**-0.5
    )
    s = 30.0 * jnp.tanh(s / 30.0)
    s = jnp.where((jnp.arange(S) <= pos[..., None])[:, None, None], s, -1e9)
    o = jnp.einsum("bgrts,bsgk->btgrk", jax.nn.softmax(s, -1).astype(bf), vv).reshape(B, -1, H, K)
    return x + jnp.einsum("bthk,hkd->btd", o, a["o"]), ck, cv


def big(p, c, tok, pos, table):
    x = shard(p["emb"][tok] * bf(D**0.5), "x")

    def body(x, w):
        w, ck, cv = w
        x, ck, cv = attend(w["a"], ck, cv, x, pos, table)
        y, st = moe_sorted(w["m"], rms(x, w["a"]["n2"]))
        return shard(x + y, "x"), (ck, cv, st)

    with jax.named_scope("target"):
        x, (ck, cv, (load, lost)) = lax.scan(body, x, (p["lay"], c["k"][:L], c["v"][:L]))
        x, lk, lv = attend(p["last"]["a"], c["k"][L], c["v"][L], x, pos, table)
        y, ll = moe_ragged(p["last"]["m"], rms(x, p["last"]["a"]["n2"]))
        x = x + y
        lg = (
            jnp.einsum("btd,vd->btv", rms(x, p["nf"]), p["emb"], preferred_element_type=f32)
            + p["bias"]
        )
    return (
        lg,
        dict(k=jnp.concatenate([ck, lk[None]]), v=jnp.concatenate([cv, lv[None]])),
        jnp.concatenate([load, ll[None]]),
        lost.mean(),
    )


def small(p, r, tok, pos):
    with jax.named_scope("draft"):
        x = p["emb"][tok]
        b = jnp.arange(B)
        at = pos % W
        rp = r["p"].at[b, at].set(pos)
        ks, vs = [], []
        for i, w in enumerate(p["lay"]):
            q, k, v = jnp.split(
                dense8(rms(x, w["n1"]), w["qkv"]).reshape(B, 3 * DH, DD // DH), 3, 1
            )
            q = rope(q[:, None], pos[:, None])[:, 0]
            k = rope(k[:, None], pos[:, None])[:, 0]
            ck = r["k"][i].at[b, at].set(k)
            cv = r["v"][i].at[b, at].set(v)
            ks.append(ck)
            vs.append(cv)
            s = jnp.einsum("bhk,bwhk->bhw", q, ck, preferred_element_type=f32) * (DD // DH) ** -0.5
            s = jnp.where(
                ((rp <= pos[:, None]) & (rp > pos[:, None] - W) & (rp >= 0))[:, None], s, -1e9
            )
            x = x + dense8(
                jnp.einsum("bhw,bwhk->bhk", jax.nn.softmax(s, -1).astype(bf), cv).reshape(B, DD),
                w["o"],
            )
            x = x + dense8(jax.nn.gelu(dense8(rms(x, w["n2"]), w["up"])), w["down"])
        return dense8(rms(x, p["nf"]), p["head"]).astype(f32), dict(
            k=jnp.stack(ks), v=jnp.stack(vs), p=rp
        )


def warp(lg, temp, seen):
    lg = jnp.where(seen > 0, jnp.where(lg > 0, lg / 1.2, lg * 1.2), lg) / temp
    kth = lax.top_k(lg, 64)[0][..., -1:]
    return jax.nn.softmax(jnp.where(lg < kth, -1e9, lg), -1)


def spec_decode_step(tp, dp, pool, ring, table, toks, n, temp, key, limit):
    rows = jnp.arange(B)

    def go(s):
        return (s["it"] < 24) & jnp.any(~s["end"])

    def body(s):
        key, kd, ku, kr = jax.random.split(s["key"], 4)
        last = toks_at = jnp.take_along_axis(s["toks"], s["n"][:, None] - 1, 1)[:, 0]

        def cheap(c, k):
            tok, pos, r, seen = c
            lg, r = small(dp, r, tok, pos)
            q = warp(lg, temp[:, None], seen)
            t = lax.cond(
                jnp.all(temp < 0.05),
                lambda: jnp.argmax(q, -1).astype(i32),
                lambda: jax.random.categorical(k, jnp.log(q + 1e-9)).astype(i32),
            )
            return (t, pos + 1, r, seen.at[rows, t].add(1)), (t, q)

        _, prev = None, jnp.take_along_axis(s["toks"], jnp.maximum(s["n"][:, None] - 2, 0), 1)[:, 0]
        ring = lax.cond(
            jnp.any(s["lag"]), lambda r: small(dp, r, prev, s["n"] - 2)[1], lambda r: r, s["ring"]
        )
        (_, _, ring, seen), (ts, qs) = lax.scan(
            cheap, (last, s["n"] - 1, ring, s["seen"]), jax.random.split(kd, G)
        )
        ts, qs = ts.T, jnp.moveaxis(qs, 0, 1)
        lg, pool, load, lost = big(
            tp,
            s["pool"],
            jnp.concatenate([last[:, None], ts], 1),
            s["n"][:, None] - 1 + jnp.arange(G + 1),
            table,
        )
        with jax.named_scope("verify"):
            ps = warp(lg, temp[:, None, None], s["seen"][:, None])
            pt = jnp.take_along_axis(ps[:, :G], ts[..., None], 2)[..., 0]
            qt = jnp.take_along_axis(qs, ts[..., None], 2)[..., 0]
            ok = jax.random.uniform(ku, (B, G)) < pt / jnp.maximum(qt, 1e-9)
            acc = jnp.sum(jnp.cumprod(ok.astype(i32), 1), 1)
            pa = jnp.take_along_axis(ps, acc[:, None, None], 1)[:, 0]
            qa = jnp.take_along_axis(jnp.pad(qs, ((0, 0), (0, 1), (0, 0))), acc[:, None, None], 1)[
                :, 0
            ]
            res = jnp.maximum(pa - qa, 0.0)
            z = res.sum(-1, keepdims=True)
            res = jnp.where(z > 1e-6, res / jnp.maximum(z, 1e-6), pa)
            new = lax.cond(
                jnp.all(temp < 0.05),
                lambda a: jnp.argmax(pa, -1).astype(i32),
                lambda a: jax.random.categorical(kr, jnp.log(a + 1e-9)).astype(i32),
                res,
            )
            out = jnp.where(
                jnp.arange(G + 1) < acc[:, None], jnp.pad(ts, ((0, 0), (0, 1))), new[:, None]
            )
            put = (jnp.arange(G + 1) <= acc[:, None]) & ~s["end"][:, None]
            eos = jnp.cumsum((out == 1) & put, 1)
            put &= (eos - ((out == 1) & put)) == 0
        with jax.named_scope("commit"):
            at = jnp.where(put, s["n"][:, None] + jnp.arange(G + 1), S)
            toks = s["toks"].at[rows[:, None], at].set(out, mode="drop")
            n = s["n"] + put.sum(1)
            seen = s["seen"].at[rows[:, None], out].add(put.astype(i32))
            end = s["end"] | jnp.any((out == 1) & put, 1) | (n >= limit - G - 1)
            hist = s["hist"] + jax.ops.segment_sum((~s["end"]).astype(i32), acc, G + 1)
        return dict(
            it=s["it"] + 1,
            key=key,
            toks=toks,
            n=n,
            seen=seen,
            end=end,
            pool=pool,
            ring=ring,
            lag=acc == G,
            hist=hist,
            load=s["load"] + load,
            lost=s["lost"] + lost,
        )

    seen = (
        jnp.zeros((B, V), i32).at[rows[:, None], toks].add((jnp.arange(S) < n[:, None]).astype(i32))
    )
    s = lax.while_loop(
        go,
        body,
        dict(
            it=jnp.int32(0),
            key=key,
            toks=toks,
            n=n,
            seen=shard(seen, "x"),
            end=n >= limit - G - 1,
            pool=pool,
            ring=ring,
            lag=jnp.zeros((B,), bool),
            hist=jnp.zeros((G + 1,), i32),
            load=jnp.zeros((L + 1, E), i32),
            lost=jnp.float32(0),
        ),
    )
    mean = jnp.sum(s["hist"] * jnp.arange(G + 1)) / jnp.maximum(s["hist"].sum(), 1)
    return (
        s["toks"],
        s["n"],
        s["pool"],
        s["ring"],
        dict(acc=mean, hist=s["hist"], load=s["load"], lost=s["lost"] / s["it"], it=s["it"]),
    )


c = (
    jax.jit(spec_decode_step, donate_argnums=(2, 3, 5))
    .lower(
        target,
        draft,
        pool,
        ring,
        arr((B, MAXP), "x", dtype=i32),
        arr((B, S), "x", dtype=i32),
        arr((B,), "x", dtype=i32),
        arr((B,), "x"),
        arr((2,), dtype=jnp.uint32),
        arr((B,), "x", dtype=i32),
    )
    .compile()
)
print("compiled", c.memory_analysis())
