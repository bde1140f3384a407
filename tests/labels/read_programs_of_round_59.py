"""Sequence-to-sequence serving: encoder, chunked prefill of the decoder prompt, beam search with early exit, int8 weights, donated KV cache."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

d = np.array(topologies.get_topology_desc(platform="tpu", topology_name=sys.argv[1]).devices)
mesh = Mesh(d.reshape(2, 2), ("batch", "model"))
f32, bf, i8, i32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32


def S(shape, dt=f32, *s):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*s)))


B, K, L, D, H, F, V, SRC, PRE, CH, T = 8, 4, 3, 512, 8, 2048, 8192, 256, 64, 32, 128
dh = D // H
NEG = -1e9
EOS = 2


def Q(shape, *s):
    return dict(
        q=S((L,) + shape, i8, None, *s), s=S((L, shape[-1]), f32, None, s[-1] if s else None)
    )


def deq(w):
    return w["q"].astype(bf) * w["s"].astype(bf)


def mm(x, w):
    y = jax.lax.dot_general(
        x.astype(bf),
        w["q"].astype(bf),
        (((x.ndim - 1,), (0,)), ((), ())),
        preferred_element_type=f32,
    )
    return (y * w["s"]).astype(bf)


def qact(x):
    s = jnp.max(jnp.abs(x), -1, keepdims=True).astype(f32) / 127.0 + 1e-8
    return jnp.clip(jnp.round(x.astype(f32) / s), -127, 127).astype(i8), s


def mm8(x, w):  # int8 x int8 -> int32
    xq, xs = qact(x)
    y = jax.lax.dot_general(
        xq, w["q"], (((x.ndim - 1,), (0,)), ((), ())), preferred_element_type=i32
    )
    return (y.astype(f32) * xs * w["s"]).astype(bf)


def norm(x, g):
    a = x.astype(f32)
    return (a * jax.lax.rsqrt(jnp.mean(a * a, -1, keepdims=True) + 1e-6) * g).astype(bf)


def heads(x):
    return x.reshape(x.shape[:-1] + (H, dh))


def attend(q, k, v, mask):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=f32) * dh**-0.5
    p = jax.nn.softmax(jnp.where(mask, s, NEG), -1).astype(bf)
    o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
    return o.reshape(o.shape[:2] + (D,))


def ffn(x, w):
    return mm8(jax.nn.silu(mm(x, w["g"]).astype(f32)).astype(bf) * mm(x, w["u"]), w["d"])


def con(x, *s):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def encoder(p, src, slen):
    x = con(p["emb"][src].astype(bf) * p["embs"][src][..., None].astype(bf), "batch", None, None)
    m = (jnp.arange(SRC)[None] < slen[:, None])[:, None, None]

    def layer(x, w):
        h = norm(x, w["n1"])
        q, k, v = (heads(mm(h, w[n])) for n in ("q", "k", "v"))
        x = x + mm(attend(q, k, v, m), w["o"])
        x = x + ffn(norm(x, w["n2"]), w)
        return con(x, "batch", None, None), None

    return jax.lax.scan(layer, x, p["enc"])[0]


def dec_layers(p, x, cache, ck, cv, smask, pos, n):
    """n new tokens of every row at pos; the scan carries the whole cache and updates it at its place."""
    mask = (jnp.arange(T)[None] <= (pos + jnp.arange(n))[:, None])[None, None]

    def layer(c, w):
        x, kc, vc = c
        w, i, k2, v2 = w
        h = norm(x, w["n1"])
        q, k, v = (heads(mm(h, w[a])) for a in ("q", "k", "v"))
        kc = jax.lax.dynamic_update_slice(kc, k[None], (i, 0, pos, 0, 0))
        vc = jax.lax.dynamic_update_slice(vc, v[None], (i, 0, pos, 0, 0))
        x = x + mm(attend(q, kc[i], vc[i], mask), w["o"])
        x = x + mm(attend(heads(mm(norm(x, w["n3"]), w["cq"])), k2, v2, smask), w["co"])
        return (x + ffn(norm(x, w["n2"]), w), kc, vc), None

    (x, kc, vc), _ = jax.lax.scan(layer, (x,) + cache, (p["dec"], jnp.arange(L), ck, cv))
    return x, (kc, vc)


def embed(p, t, pos):
    return p["emb"][t].astype(bf) * p["embs"][t][..., None].astype(
        bf
    ) + jax.lax.dynamic_slice_in_dim(p["pos"], pos, t.shape[1], 0)[None].astype(bf)


def logits(p, x):
    y = jax.lax.dot_general(
        norm(x, p["nf"]),
        p["emb"].astype(bf),
        (((x.ndim - 1,), (1,)), ((), ())),
        preferred_element_type=f32,
    )
    return con(y * p["embs"], "batch", "model")


def rows(x):
    return x.reshape((B * K,) + x.shape[2:])


def beam_decode(p, src, slen, prompt, kc, vc, key, opt):
    with jax.named_scope("encode"):
        e = encoder(p, src, slen)
    cr = lambda n: jax.vmap(lambda q, s: heads(mm(e, dict(q=q, s=s))))(
        p["dec"][n]["q"], p["dec"][n]["s"]
    )
    ck, cv = (jnp.repeat(cr(n), K, axis=1) for n in ("ck", "cv"))
    smask = jnp.repeat(jnp.arange(SRC)[None] < slen[:, None], K, 0)[:, None, None]
    pr = jnp.repeat(prompt, K, 0)

    def chunk(c, i):
        x, cache = dec_layers(
            p,
            embed(p, jax.lax.dynamic_slice_in_dim(pr, i * CH, CH, 1), i * CH),
            c[0],
            ck,
            cv,
            smask,
            i * CH,
            CH,
        )
        return (cache, x[:, -1]), None

    with jax.named_scope("prefill"):
        (cache, x), _ = jax.lax.scan(
            chunk, ((kc, vc), jnp.zeros((B * K, D), bf)), jnp.arange(PRE // CH)
        )
    seq = jnp.zeros((B, K, T), i32).at[:, :, :PRE].set(prompt[:, None])
    score = jnp.where(jnp.arange(K) == 0, 0.0, NEG)[None].repeat(B, 0)
    fin = jnp.zeros((B, K), bool)
    best = jnp.full((B,), NEG)

    def alive(c):
        return (
            (c["t"] < T)
            & ~jnp.all(c["fin"])
            & jnp.any(c["best"] < c["score"].max(1) / ((T + 5.0) / 6.0) ** opt["alpha"])
        )

    def greedy(lp, k, score, fin):
        tot = score[..., None] + jnp.where(
            fin[..., None], jnp.where(jnp.arange(V) == EOS, 0.0, NEG), lp
        )
        s, ix = jax.lax.top_k(tot.reshape(B, K * V), K)
        return s, ix // V, ix % V

    def sample(lp, k, score, fin):
        v, _ = jax.lax.top_k(lp, 40)
        lp2 = jnp.where(lp < v[..., -1:], NEG, lp) / opt["temp"]
        srt = jnp.sort(jax.nn.softmax(lp2, -1), -1)[..., ::-1]
        cut = jnp.sum(jnp.cumsum(srt, -1) < opt["top_p"], -1, keepdims=True)
        lp2 = jnp.where(
            jax.nn.softmax(lp2, -1) < jnp.take_along_axis(srt, jnp.minimum(cut, V - 1), -1),
            NEG,
            lp2,
        )
        tk = jnp.where(fin, EOS, jax.random.categorical(k, lp2))
        s = score + jnp.where(fin, 0.0, jnp.take_along_axis(lp, tk[..., None], -1)[..., 0])
        return s, jnp.broadcast_to(jnp.arange(K), (B, K)), tk

    def step(c):
        t = c["t"]
        key, k = jax.random.split(c["key"])
        lg = logits(p, c["x"]).reshape(B, K, V)
        seen = (
            jnp.zeros((B, K, V), bool)
            .at[jnp.arange(B)[:, None, None], jnp.arange(K)[None, :, None], c["seq"]]
            .set(True)
        )
        lg = jnp.where(seen, jnp.where(lg > 0, lg / opt["rep"], lg * opt["rep"]), lg)
        s, par, tok = jax.lax.cond(
            opt["sample"] > 0, sample, greedy, jax.nn.log_softmax(lg, -1), k, c["score"], c["fin"]
        )
        seq = jnp.take_along_axis(c["seq"], par[..., None], 1)
        seq = jax.lax.dynamic_update_slice(seq, tok[..., None], (0, 0, t))
        fin = jnp.take_along_axis(c["fin"], par, 1) | (tok == EOS)
        flat = (jnp.arange(B)[:, None] * K + par).reshape(-1)
        moved = jnp.any(par != jnp.arange(K)[None])
        kc, vc = jax.lax.cond(
            moved, lambda a: tuple(z[:, flat] for z in a), lambda a: a, c["cache"]
        )
        x, cache = dec_layers(p, embed(p, tok.reshape(-1, 1), t), (kc, vc), ck, cv, smask, t, 1)
        norm_s = s / ((t + 6.0 - PRE) / 6.0) ** opt["alpha"]
        best = jnp.maximum(c["best"], jnp.max(jnp.where(fin, norm_s, NEG), 1))
        return dict(t=t + 1, key=key, seq=seq, score=s, fin=fin, best=best, cache=cache, x=x[:, 0])

    with jax.named_scope("decode"):
        c = jax.lax.while_loop(
            alive,
            step,
            dict(
                t=jnp.int32(PRE),
                key=key,
                seq=seq,
                score=score,
                fin=fin,
                best=best,
                cache=cache,
                x=x,
            ),
        )
    order = jnp.argsort(-c["score"], 1)
    return (
        jnp.take_along_axis(c["seq"], order[..., None], 1),
        jnp.take_along_axis(c["score"], order, 1),
        c["cache"][0],
        c["cache"][1],
        c["key"],
        c["t"],
    )


m = "model"


def att(*n):
    return {a: (Q((D, D), m, None) if a.endswith("o") else Q((D, D), None, m)) for a in n}


def blk(*a, ns=("n1", "n2")):
    return dict(
        att(*a),
        **{n: S((L, D)) for n in ns},
        g=Q((D, F), None, m),
        u=Q((D, F), None, m),
        d=Q((F, D), m, None),
    )


p = dict(
    emb=S((V, D), i8, m, None),
    embs=S((V,), f32, m),
    pos=S((T, D), f32),
    nf=S((D,)),
    enc=blk("q", "k", "v", "o"),
    dec=blk("q", "k", "v", "o", "cq", "ck", "cv", "co", ns=("n1", "n2", "n3")),
)
opt = {n: S(()) for n in ("alpha", "temp", "top_p", "rep")}
opt["sample"] = S((), i32)
cs = S((L, B * K, T, H, dh), bf, None, "batch", None, m)
lo = jax.jit(beam_decode, donate_argnums=(4, 5)).lower(
    p,
    S((B, SRC), i32, "batch"),
    S((B,), i32, "batch"),
    S((B, PRE), i32, "batch"),
    cs,
    cs,
    S((2,), jnp.uint32),
    opt,
)
c = lo.compile()
print("compiled", c.memory_analysis())
