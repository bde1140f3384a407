"""Beam search of an encoder-decoder: speech encoder, then a while loop over tokens with reordered caches.

Ahead of time for four H100: mesh data 2 x tensor 2; top-k over beams, gathers of the cache, early stop.
"""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np
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
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("data", "tensor"))
bf, f32 = jnp.bfloat16, jnp.float32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


LE, LD, D, H, hd, F, V, B, K, M, T, E = 6, 6, 512, 8, 64, 2048, 16000, 16, 4, 80, 512, 64


def attn(L):
    return dict(
        q=S((L, D, H, hd), bf, None, None, "tensor"),
        k=S((L, D, H, hd), bf, None, None, "tensor"),
        v=S((L, D, H, hd), bf, None, None, "tensor"),
        o=S((L, H, hd, D), bf, None, "tensor"),
        n=S((L, D), f32),
    )


def mlp(L):
    return dict(
        a=S((L, D, F), bf, None, None, "tensor"),
        b=S((L, F, D), bf, None, "tensor"),
        n=S((L, D), f32),
    )


W = dict(
    c1=S((3, M, D), bf),
    c2=S((3, D, D), bf, None, None, "tensor"),
    enc=dict(at=attn(LE), ff=mlp(LE)),
    dec=dict(at=attn(LD), x=attn(LD), ff=mlp(LD)),
    emb=S((V, D), bf, "tensor"),
    pos=S((E, D), f32),
    nf=S((D,), f32),
)
mel = S((B, 2 * T, M), bf, "data")
con = lambda x, *s: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def ln(x, g):
    y = x.astype(f32)
    m = y.mean(-1, keepdims=True)
    return ((y - m) * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-5) * g).astype(bf)


def conv(x, w, s):
    return jax.nn.gelu(
        jax.lax.conv_general_dilated(x, w, (s,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
    )


def heads(x, w):
    return jnp.einsum("btd,dhk->bthk", x, w)


def sdpa(q, k, v, mask=None):
    s = jnp.einsum("bthk,bshk->bhts", q, k).astype(f32) * hd**-0.5
    s = s if mask is None else jnp.where(mask, s, -1e9)
    return jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s).astype(bf), v)


def encode(w, mel):
    x = con(conv(conv(mel, w["c1"], 1), w["c2"], 2), "data")

    def layer(x, l):
        a, f = l["at"], l["ff"]
        h = ln(x, a["n"])
        x = x + jnp.einsum(
            "bthk,hkd->btd", sdpa(heads(h, a["q"]), heads(h, a["k"]), heads(h, a["v"])), a["o"]
        )
        return x + jax.nn.gelu(ln(x, f["n"]) @ f["a"]) @ f["b"], None

    with jax.named_scope("encoder"):
        return jax.lax.scan(layer, x, w["enc"])[0]


def beam_search_step(w, mel, limit):
    enc = encode(w, mel)
    with jax.named_scope("cross_cache"):
        ck, cv = (
            jnp.repeat(jnp.einsum("btd,ldhk->lbthk", enc, w["dec"]["x"][n]), K, 1) for n in "kv"
        )
    cache = tuple(
        con(jnp.zeros((LD, B * K, E, H, hd), bf), None, "data", None, "tensor") for _ in range(2)
    )

    def one(tok, t, cache):
        x = (w["emb"][tok] + w["pos"][t].astype(bf))[:, None]
        valid = (jnp.arange(E) <= t)[None, None, None]

        def layer(x, l):
            p, kc, vc, ck, cv = l
            a, c, f = p["at"], p["x"], p["ff"]
            h = ln(x, a["n"])
            kc = jax.lax.dynamic_update_slice_in_dim(kc, heads(h, a["k"]), t, 1)
            vc = jax.lax.dynamic_update_slice_in_dim(vc, heads(h, a["v"]), t, 1)
            x = x + jnp.einsum("bthk,hkd->btd", sdpa(heads(h, a["q"]), kc, vc, valid), a["o"])
            x = x + jnp.einsum("bthk,hkd->btd", sdpa(heads(ln(x, c["n"]), c["q"]), ck, cv), c["o"])
            return x + jax.nn.gelu(ln(x, f["n"]) @ f["a"]) @ f["b"], (kc, vc)

        with jax.named_scope("decoder"):
            x, cache = jax.lax.scan(layer, x, (w["dec"], *cache, ck, cv))
        with jax.named_scope("logits"):
            return jax.nn.log_softmax((ln(x, w["nf"])[:, 0] @ w["emb"].T).astype(f32)), cache

    def cond(s):
        return (s[0] < limit) & ~jnp.all(s[4])

    def body(s):
        t, tok, score, seq, done, cache = s
        lp, cache = one(tok.reshape(-1), t, cache)
        lp = lp.reshape(B, K, V)
        lp = jnp.where(done[..., None], jnp.where(jnp.arange(V) == 2, 0.0, -1e9), lp)
        with jax.named_scope("topk"):
            score, flat = jax.lax.top_k((score[..., None] + lp).reshape(B, K * V), K)
        beam, tok = flat // V, flat % V
        with jax.named_scope("reorder"):
            rows = (jnp.arange(B)[:, None] * K + beam).reshape(-1)
            cache = jax.tree.map(lambda c: jnp.take(c, rows, 1), cache)
            seq = jnp.take_along_axis(seq, beam[..., None], 1)
            done = jnp.take_along_axis(done, beam, 1)
        return t + 1, tok, score, seq.at[:, :, t].set(tok), done | (tok == 2), cache

    init = (
        0,
        jnp.ones((B, K), jnp.int32),
        jnp.where(jnp.arange(K) == 0, 0.0, -1e9) + jnp.zeros((B, 1)),
        jnp.zeros((B, K, E), jnp.int32),
        jnp.zeros((B, K), bool),
        cache,
    )
    t, _, score, seq, done, _ = jax.lax.while_loop(cond, body, init)
    best = jnp.argmax(score / jnp.maximum(1, (seq != 2).sum(-1)) ** 0.6, -1)
    return jnp.take_along_axis(seq, best[:, None, None], 1)[:, 0], score, t


c = jax.jit(beam_search_step).lower(W, mel, S((), jnp.int32)).compile()
print(c.memory_analysis())
