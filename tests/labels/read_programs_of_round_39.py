"""Beam decode loop: KV cache on a 2x2 mesh, scan over layers, cache reorder by gather, repeat counts by scatter."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

L, D, H, F, V, B, K, S = 3, 256, 4, 512, 1024, 4, 4, 32
f32, bf, i32, i8 = jnp.float32, jnp.bfloat16, jnp.int32, jnp.int8
C = D // H


def devices():
    if sys.argv[1] == "cpu":
        return np.array(jax.devices()).reshape(2, 2)
    from jax.experimental import topologies

    return np.array(
        topologies.get_topology_desc(platform="tpu", topology_name=sys.argv[1]).devices
    ).reshape(2, 2)


mesh = Mesh(devices(), ("lane", "shard"))


def arr(shape, dtype, *spec):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


params = dict(
    emb=arr((V, D), bf, "shard"),
    pos=arr((S, D), bf),
    gain=arr((L, 2, D), f32),
    qkv=arr((L, 3, D, H, C), bf, None, None, None, "shard"),
    out=arr((L, H, C, D), bf, None, "shard"),
    up=arr((L, D, F), i8, None, None, "shard"),
    up_s=arr((L, F), f32, None, "shard"),
    down=arr((L, F, D), i8, None, "shard"),
    down_s=arr((L, D), f32),
)


def rms(x, g):
    y = x.astype(f32)
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5) * g).astype(bf)


def layer(t, x, w, cache):
    q, k, v = jnp.einsum("bkd,cdhe->cbkhe", rms(x, w["gain"][0]), w["qkv"])
    cache = jax.lax.dynamic_update_slice(
        cache, jnp.stack([k, v])[:, :, :, None], (0, 0, 0, t, 0, 0)
    )
    s = jnp.einsum("bkhe,bkshe->bkhs", q, cache[0]).astype(f32) * C**-0.5
    s = jnp.where(jnp.arange(S) <= t, s, -jnp.inf)
    a = jnp.einsum("bkhs,bkshe,hed->bkd", jax.nn.softmax(s).astype(bf), cache[1], w["out"])
    x = x + a
    h = jax.nn.silu((rms(x, w["gain"][1]) @ w["up"].astype(bf)) * w["up_s"].astype(bf))
    return x + ((h @ w["down"].astype(bf)) * w["down_s"].astype(bf)), cache


def beam_decode(params, cache, first, key):
    emb, pos = params["emb"], params["pos"]
    ws = {k: v for k, v in params.items() if k not in ("emb", "pos")}

    def cond(st):
        t, toks, score, seen, done, cache, key = st
        return (t < S - 1) & ~jnp.all(done)

    def body(st):
        t, toks, score, seen, done, cache, key = st
        last = jax.lax.dynamic_index_in_dim(toks, t, 2, keepdims=False)
        x = emb[last] + pos[t]
        x, cache = jax.lax.scan(lambda x, wc: layer(t, x, *wc), x, (ws, cache))
        lg = jnp.einsum("bkd,vd->bkv", x, emb).astype(f32)
        lg = jnp.where(seen > 2, lg - 1.3 * seen, lg)
        key, sub = jax.random.split(key)
        lp = jax.nn.log_softmax(lg + 0.01 * jax.random.gumbel(sub, lg.shape))
        lp = jnp.where(done[..., None], jnp.where(jnp.arange(V) == 0, 0.0, -1e9), lp)
        tot = (score[..., None] + lp).reshape(B, K * V)
        score, ix = jax.lax.top_k(tot, K)
        src, tok = ix // V, ix % V
        b = jnp.arange(B)[:, None]
        toks = jnp.take_along_axis(toks, src[..., None], 1).at[:, :, t + 1].set(tok)
        seen = seen[b, src].at[b, jnp.arange(K)[None], tok].add(1.0)
        cache = jax.vmap(jax.vmap(jax.vmap(lambda c, s: c[s]), (0, None)), (0, None))(
            cache.swapaxes(1, 2).swapaxes(1, 2), src
        )
        done = jnp.take_along_axis(done, src, 1) | (tok == 0)
        return t + 1, toks, score, seen, done, cache, key

    toks = jnp.zeros((B, K, S), i32).at[:, :, 0].set(first[:, None])
    score = jnp.where(jnp.arange(K) == 0, 0.0, -1e9) * jnp.ones((B, 1))
    seen = jnp.zeros((B, K, V), f32)
    done = jnp.zeros((B, K), bool)
    st = jax.lax.while_loop(cond, body, (jnp.int32(0), toks, score, seen, done, cache, key))
    _, toks, score, _, done, cache, _ = st
    best = jnp.argmax(score / jnp.maximum((toks != 0).sum(-1), 1) ** 0.7, 1)
    return jnp.take_along_axis(toks, best[:, None, None], 1)[:, 0], score, cache


cache = arr((L, 2, B, K, S, H, C), bf, None, None, "lane", None, None, "shard")
c = (
    jax.jit(beam_decode, donate_argnums=1)
    .lower(params, cache, arr((B,), i32, "lane"), arr((2,), jnp.uint32))
    .compile()
)
print(c.memory_analysis())
