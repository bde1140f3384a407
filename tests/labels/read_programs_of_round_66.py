"""xLSTM language model step: mLSTM blocks (chunkwise, matrix memory, stabilised exponential gates, causal depthwise conv)
under scan with remat, sLSTM block by a scan over time (block-diagonal recurrence, normaliser and stabiliser state), one
GQA block with rotary by position in the segment, packed sequences (states reset at segment bounds), hashed bigram
embedding tables, memory of keys read by top_k (retrieval), cross entropy by lax.map over chunks (checkpoint, z-loss,
vocabulary over model), gradient accumulation by scan, LAMB trust ratio on factored second moments, EMA, donated;
H100 x 8, mesh data 4 x model 2, ahead of time."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84929347584
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
d = np.array(
    topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x8").devices
)
over = Mesh(d.reshape(4, 2), ("data", "model"))
f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
A, B, T, C, D, H, KV, F, L, V, HB, M, R, CH = (
    2,
    8,
    128,
    32,
    256,
    4,
    2,
    512,
    2,
    2048,
    4096,
    512,
    4,
    4,
)
K = D // H


def arr(s, *p, dtype=f32):
    return jax.ShapeDtypeStruct(s, dtype, sharding=NamedSharding(over, P(*p)))


def shard(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(over, P(*s)))


params = dict(
    emb=arr((V, D), "model", "data"),
    big=arr((2, HB, D // 2), None, "model", "data"),
    mixb=arr((D, D), "data", "model"),
    ml=dict(
        n=arr((L, D)),
        conv=arr((L, 4, D), None, None, "model"),
        qk=arr((L, D, 2, H, K), None, "data", None, "model"),
        v=arr((L, D, H, K), None, "data", "model"),
        gi=arr((L, D, H), None, "data", "model"),
        gf=arr((L, D, H), None, "data", "model"),
        fb=arr((L, H), None, "model"),
        hn=arr((L, H, K), None, "model"),
        og=arr((L, D, H, K), None, "data", "model"),
        o=arr((L, H, K, D), None, "model", None, "data"),
    ),
    sl=dict(
        n=arr((D,)),
        w=arr((D, 4, H, K), "data", None, "model"),
        r=arr((4, H, K, K), None, "model"),
        b=arr((4, H, K), None, "model"),
        gn=arr((H, K), "model"),
        up=arr((D, 2, F), "data", None, "model"),
        dn=arr((F, D), "model", "data"),
    ),
    at=dict(
        n=arr((D,)),
        q=arr((D, H, K), "data", "model"),
        kv=arr((D, 2, KV, K), "data", None, "model"),
        qn=arr((K,)),
        kn=arr((K,)),
        o=arr((H, K, D), "model", None, "data"),
    ),
    mem=dict(
        key=arr((M, K), "model"),
        val=arr((M, D), "model", "data"),
        q=arr((D, K), "data", None),
        g=arr(()),
    ),
    fn=arr((D,)),
)


def rms(x, g):
    a = x.astype(f32)
    return (a * lax.rsqrt(jnp.mean(a * a, -1, keepdims=True) + 1e-6) * g).astype(bf)


def rope(x, pos):
    w = 1e4 ** (-jnp.arange(0, K, 2, dtype=f32) / K)
    an = pos[..., None, None].astype(f32) * w
    a, b = jnp.split(x.astype(f32), 2, -1)
    c, s = jnp.cos(an), jnp.sin(an)
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1).astype(bf)


def conv(x, w, seg):
    y = 0.0
    for j in range(4):
        xs = jnp.pad(x, ((0, 0), (j, 0), (0, 0)))[:, :T]
        ss = jnp.pad(seg, ((0, 0), (j, 0)))[:, :T]
        y = y + jnp.where((ss == seg)[..., None], xs, bf(0)) * w[j].astype(bf)
    return jax.nn.silu(y)


def mlstm(x, p, seg, first):
    n = rms(x, p["n"])
    c = conv(n, p["conv"], seg)
    q, k = jnp.moveaxis(jnp.einsum("btd,dchk->bcthk", c, p["qk"].astype(bf)), 1, 0)
    v = jnp.einsum("btd,dhk->bthk", n, p["v"].astype(bf))
    ig = jnp.einsum("btd,dh->bth", n.astype(f32), p["gi"])
    lf = jax.nn.log_sigmoid(jnp.einsum("btd,dh->bth", n.astype(f32), p["gf"]) + p["fb"])
    lf = jnp.where(first[..., None], -60.0, lf)
    k = k * bf(K**-0.5)
    ck = lambda a: jnp.moveaxis(a.reshape(B, T // C, C, *a.shape[2:]), 1, 0)

    def chunk(st, xs):
        S, z, m = st
        q, k, v, i, f = xs
        b = jnp.cumsum(f, 1)
        dm = b[:, :, None] - b[:, None] + i[:, None]
        dm = jnp.where(jnp.tril(jnp.ones((C, C), bool))[None, :, :, None], dm, -jnp.inf)
        mi = b + m[:, None]
        mt = jnp.maximum(dm.max(2), mi)
        sc = jnp.einsum("bthk,bshk->btsh", q, k, preferred_element_type=f32) * jnp.exp(
            dm - mt[:, :, None]
        )
        e = jnp.exp(mi - mt)
        num = jnp.einsum("btsh,bshk->bthk", sc.astype(bf), v, preferred_element_type=f32) + e[
            ..., None
        ] * jnp.einsum("bthk,bhkj->bthj", q.astype(f32), S)
        den = sc.sum(2) + e * jnp.einsum("bthk,bhk->bth", q.astype(f32), z)
        h = num / (jnp.maximum(jnp.abs(den), jnp.exp(-mt)) + 1e-6)[..., None]
        g = b[:, -1]
        w = g[:, None] - b + i
        m2 = jnp.maximum(g + m, w.max(1))
        a = jnp.exp(w - m2[:, None])
        r = jnp.exp(g + m - m2)
        kf = k.astype(f32) * a[..., None]
        return (
            r[..., None, None] * S + jnp.einsum("bthk,bthj->bhkj", kf, v.astype(f32)),
            r[..., None] * z + kf.sum(1),
            m2,
        ), h.astype(bf)

    st = (jnp.zeros((B, H, K, K), f32), jnp.zeros((B, H, K), f32), jnp.full((B, H), -1e4, f32))
    _, h = lax.scan(chunk, st, tuple(map(ck, (q, k, v, ig, lf))))
    h = jnp.moveaxis(h, 0, 1).reshape(B, T, H, K)
    h = rms(h, p["hn"]) * jax.nn.sigmoid(jnp.einsum("btd,dhk->bthk", n, p["og"].astype(bf)))
    return shard(x + jnp.einsum("bthk,hkd->btd", h, p["o"].astype(bf)), "data")


def slstm(x, p, first):
    n = rms(x, p["n"])
    w = jnp.moveaxis(jnp.einsum("btd,dghk->btghk", n, p["w"].astype(bf)).astype(f32) + p["b"], 1, 0)

    def cell(st, xs):
        w, f0 = xs
        keep = (~f0).astype(f32)[:, None, None]
        h, c, z, m = jax.tree.map(lambda a: a * keep, st)
        g = w + jnp.einsum("bhk,ghkj->bghj", h, p["r"])
        i, f, u, o = (g[:, j] for j in range(4))
        f = jax.nn.log_sigmoid(f)
        m2 = jnp.maximum(f + m, i)
        ei = jnp.exp(i - m2)
        ef = jnp.exp(f + m - m2)
        c = ef * c + ei * jnp.tanh(u)
        z = ef * z + ei
        h = jax.nn.sigmoid(o) * c / jnp.maximum(z, 1e-6)
        return (h, c, z, m2), h

    _, h = lax.scan(
        jax.checkpoint(cell),
        (jnp.zeros((B, H, K), f32),) * 4,
        (w, jnp.moveaxis(first, 1, 0)),
        unroll=2,
    )
    x = x + rms(jnp.moveaxis(h, 0, 1), p["gn"]).reshape(B, T, D)
    a, b = jnp.moveaxis(jnp.einsum("btd,dcf->btcf", rms(x, p["n"]), p["up"].astype(bf)), 2, 0)
    return shard(x + (jax.nn.gelu(a) * b) @ p["dn"].astype(bf), "data")


def gqa(x, p, seg, pos):
    n = rms(x, p["n"])
    q = rope(rms(jnp.einsum("btd,dhk->bthk", n, p["q"].astype(bf)), p["qn"]), pos).reshape(
        B, T, KV, H // KV, K
    )
    k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", n, p["kv"].astype(bf)), 2, 0)
    k = rope(rms(k, p["kn"]), pos)
    s = jnp.einsum("btgrk,bsgk->bgrts", q, k, preferred_element_type=f32) * K**-0.5
    ok = (seg[:, :, None] == seg[:, None]) & (pos[:, :, None] >= pos[:, None]) & (seg[:, None] > 0)
    a = jax.nn.softmax(jnp.where(ok[:, None, None], s, -1e9), -1).astype(bf)
    return x + jnp.einsum(
        "bthk,hkd->btd",
        jnp.einsum("bgrts,bsgk->btgrk", a, v).reshape(B, T, H, K),
        p["o"].astype(bf),
    )


def memory(x, p):
    q = (x @ p["q"].astype(bf)).astype(f32)
    s, ix = lax.top_k(jnp.einsum("btk,mk->btm", q, p["key"]), R)
    hit = jnp.zeros((M,), f32).at[ix].add(1.0)
    return x + (
        jnp.tanh(p["g"])
        * jnp.einsum("btr,btrd->btd", jax.nn.softmax(s * K**-0.5, -1), p["val"][ix])
    ).astype(bf), hit


def xlstm_train_step(st, tok, seg):
    def loss(p, tok, seg):
        first = jnp.concatenate([jnp.ones((B, 1), bool), seg[:, 1:] != seg[:, :-1]], 1)
        at = jnp.arange(T)[None]
        pos = at - lax.cummax(jnp.where(first, at, 0), axis=1)
        with jax.named_scope("embed"):
            prev = jnp.where(first, 0, jnp.roll(tok, 1, 1))
            hs = [(tok * m1 + prev * m2) % HB for m1, m2 in ((31, 8191), (127, 524287))]
            eb = jnp.concatenate([p["big"][j][h] for j, h in enumerate(hs)], -1).astype(bf)
            x = shard(p["emb"][tok].astype(bf) * bf(D**0.5) + eb @ p["mixb"].astype(bf), "data")
        with jax.named_scope("mlstm"):
            x, _ = lax.scan(
                jax.checkpoint(
                    lambda x, w: (mlstm(x, w, seg, first), None),
                    policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
                ),
                x,
                p["ml"],
            )
        with jax.named_scope("slstm"):
            x = slstm(x, p["sl"], first)
        with jax.named_scope("attend"):
            x = gqa(x, p["at"], seg, pos)
        with jax.named_scope("memory"):
            x, hit = memory(x, p["mem"])
        y = rms(x, p["fn"])
        nxt = jnp.roll(tok, -1, 1)
        ok = ((jnp.roll(seg, -1, 1) == seg) & (seg > 0) & (at < T - 1)).astype(f32)

        @jax.checkpoint
        def ce(a):
            y, t, ok = a
            o = 30.0 * jnp.tanh(
                jnp.einsum("btd,vd->btv", y, p["emb"].astype(bf), preferred_element_type=f32) / 30.0
            )
            o = shard(o, "data", None, "model")
            z = jax.nn.logsumexp(o, -1)
            l = z - jnp.take_along_axis(o, t[..., None], -1)[..., 0]
            return jnp.sum(ok * (l + 1e-4 * z * z)), jnp.sum(ok * (jnp.argmax(o, -1) == t))

        with jax.named_scope("ce"):
            sp = lambda a: jnp.moveaxis(a.reshape(B, CH, T // CH, *a.shape[2:]), 1, 0)
            l, acc = lax.map(ce, (sp(y), sp(nxt), sp(ok)))
        return l.sum(), dict(n=ok.sum(), acc=acc.sum(), hit=hit)

    p = st["p"]

    def micro(c, b):
        (l, aux), g = jax.value_and_grad(loss, has_aux=True)(p, *b)
        return jax.tree.map(jnp.add, c, (g, dict(aux, loss=l))), None

    z = (
        jax.tree.map(lambda a: jnp.zeros(a.shape, f32), p),
        dict(n=0.0, acc=0.0, hit=jnp.zeros((M,), f32), loss=0.0),
    )
    (g, aux), _ = lax.scan(micro, z, (tok, seg))
    n = jnp.maximum(aux["n"], 1.0)
    g = jax.tree.map(lambda a: a / n, g)
    gn = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
    sc = jnp.minimum(1.0, 1.0 / (gn + 1e-6))
    k = st["k"] + 1
    t = k.astype(f32)
    lr = 2e-3 * jnp.minimum(
        t / 200.0, jnp.cos(0.5 * jnp.pi * jnp.clip((t - 200.0) / 5000.0, 0.0, 1.0))
    )
    b2 = 1.0 - t**-0.8

    def upd(p, a, m, v, ema):
        a = a * sc
        s = a * a + 1e-30
        if p.ndim > 1:
            r = b2 * v[0] + (1 - b2) * s.mean(-1)
            c = b2 * v[1] + (1 - b2) * s.mean(-2)
            v = (r, c)
            u = a * lax.rsqrt(r / r.mean(-1, keepdims=True))[..., None] * lax.rsqrt(c)[..., None, :]
        else:
            v = b2 * v + (1 - b2) * s
            u = a * lax.rsqrt(v)
        u = u / jnp.maximum(1.0, jnp.sqrt(jnp.mean(u * u)))
        m = 0.9 * m.astype(f32) + 0.1 * u
        w = m + (0.05 * p if p.ndim > 1 else 0.0)
        pn, wn = jnp.sqrt(jnp.sum(p * p)), jnp.sqrt(jnp.sum(w * w))
        tr = jnp.where((pn > 0) & (wn > 0), jnp.clip(pn / wn, 0.0, 10.0), 1.0)
        q = p - lr * tr * w
        return q, m.astype(bf), v, ema + 0.001 * (q - ema)

    out = jax.tree.map(upd, p, g, st["m"], st["v"], st["e"])
    pick = lambda i: jax.tree.map(lambda _, o: o[i], p, out)
    return dict(p=pick(0), m=pick(1), v=pick(2), e=pick(3), k=k), dict(
        loss=aux["loss"] / n, acc=aux["acc"] / n, used=jnp.mean(aux["hit"] > 0), gn=gn, lr=lr
    )


def fac(a):
    s = tuple(a.sharding.spec) + (None,) * (a.ndim - len(a.sharding.spec))
    return (
        a
        if a.ndim < 2
        else (arr(a.shape[:-1], *s[:-1]), arr(a.shape[:-2] + a.shape[-1:], *s[:-2], s[-1]))
    )


st = dict(
    p=params,
    m=jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, bf, sharding=a.sharding), params),
    v=jax.tree.map(fac, params),
    e=params,
    k=arr((), dtype=i32),
)
c = (
    jax.jit(xlstm_train_step, donate_argnums=0)
    .lower(st, arr((A, B, T), None, "data", dtype=i32), arr((A, B, T), None, "data", dtype=i32))
    .compile()
)
print("compiled", c.memory_analysis())
