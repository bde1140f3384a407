"""A server step of a masked diffusion language model: slots of requests, chunked prefill, blocks filled by confidence.

Ahead of time for 2x4 B200: mesh slots 2 x heads 4, grouped-query attention over an f8 cache with a length per slot,
a block of masked words denoised in a while loop (top-p, Gumbel, the surest kept, doubtful ones masked again), then
committed to the cache; slots that end are given to waiting prompts by ranks and scatters, all state donated.
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
topo = topologies.get_topology_desc(platform="cuda", target_config=B200, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("slots", "heads"))
bf, f32, i32, f8 = jnp.bfloat16, jnp.float32, jnp.int32, jnp.float8_e4m3fn


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# slots, waiting prompts, longest request, prefill chunk, block of masks, rounds of denoising
B, Q, T, C, G, ROUNDS = 32, 16, 2048, 128, 16, 12
L, D, H, KV, hd, F, V = 8, 2048, 16, 4, 128, 6144, 65536
MASK, END = 3, 2

layers = dict(
    norm=S((L, 2, D), bf),
    q=S((L, D, H, hd), bf, None, None, "heads"),
    kv=S((L, D, 2, KV, hd), bf, None, None, None, "heads"),
    sure=S((L, 2, hd), bf),
    out=S((L, H, hd, D), bf, None, "heads"),
    up=S((L, D, 2, F), bf, None, None, None, "heads"),
    down=S((L, F, D), bf, None, "heads"),
)
params = dict(
    words=S((V, D), bf, "heads"), layers=layers, norm=S((D,), bf), head=S((D, V), bf, None, "heads")
)
state = dict(
    cache=S((L, 2, B, T, KV, hd), f8, None, None, "slots", None, "heads"),
    scale=S((L, 2, B, KV), f32, None, None, "slots", "heads"),
    text=S((B, T), i32, "slots"),
    prompt=S((B,), i32, "slots"),
    done=S((B,), i32, "slots"),
    limit=S((B,), i32, "slots"),
    heat=S((B,), f32, "slots"),
    mass=S((B,), f32, "slots"),
    owner=S((B,), i32, "slots"),
)
waiting = dict(
    text=S((Q, T), i32),
    prompt=S((Q,), i32),
    limit=S((Q,), i32),
    heat=S((Q,), f32),
    mass=S((Q,), f32),
    owner=S((Q,), i32),
    count=S((), i32),
)
key = S((2,), jnp.uint32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def rms(x, g):
    x32 = x.astype(f32)
    return (x32 * lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6)).astype(bf) * g


def turn(x, at):
    half = hd // 2
    rate = np.exp(-np.log(5e5) * np.arange(half) / half).astype(np.float32)
    angle = at[..., None].astype(f32) * rate
    cos, sin = jnp.cos(angle)[:, :, None], jnp.sin(angle)[:, :, None]
    a, b = x[..., :half].astype(f32), x[..., half:].astype(f32)
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(bf)


def layer(x, w, cache, scale, at, seen, own):
    """x: words of each slot; cache: of the layer; seen: words in the cache; own: which pairs of x see each other."""
    n = x.shape[1]
    with jax.named_scope("attention"):
        h = rms(x, w["norm"][0])
        q = jnp.einsum("bnd,dhk->bnhk", h, w["q"])
        kv = jnp.einsum("bnd,dthk->tbnhk", h, w["kv"])
        q = turn(rms(q, w["sure"][0]), at).reshape(B, n, KV, H // KV, hd)
        k, v = turn(rms(kv[0], w["sure"][1]), at), kv[1]
        old = cache.astype(bf) * scale[:, :, None, :, None].astype(bf)
        far = jnp.einsum("bngrk,btgk->bgrnt", q, old[0]).astype(f32)
        near = jnp.einsum("bngrk,bmgk->bgrnm", q, k).astype(f32)
        there = jnp.arange(T)[None] < seen[:, None]
        far = jnp.where(there[:, None, None, None], far * hd**-0.5, -1e30)
        near = jnp.where(own[:, None, None], near * hd**-0.5, -1e30)
        top = jnp.maximum(far.max(-1, keepdims=True), near.max(-1, keepdims=True))
        far, near = jnp.exp(far - top), jnp.exp(near - top)
        total = far.sum(-1) + near.sum(-1)
        mixed = jnp.einsum("bgrnt,btgk->bngrk", far.astype(bf), old[1]).astype(f32)
        mixed = mixed + jnp.einsum("bgrnm,bmgk->bngrk", near.astype(bf), v).astype(f32)
        mixed = mixed / total.transpose(0, 3, 1, 2)[..., None]
        mixed = mixed.astype(bf).reshape(B, n, H, hd)
        x = con(x + jnp.einsum("bnhk,hkd->bnd", mixed, w["out"]), "slots")
    with jax.named_scope("mlp"):
        h = jnp.einsum("bnd,dtf->tbnf", rms(x, w["norm"][1]), w["up"])
        x = con(x + (jax.nn.silu(h[0]) * h[1]) @ w["down"], "slots")
    return x, jnp.stack([k, v])


def put(cache, scale, new, at, count):
    """Writes the new keys and values of each slot at its own place, `count` of them."""
    n = new.shape[2]
    f = (new.astype(f32) / scale[:, :, None, :, None]).clip(-448, 448).astype(f8)

    place = at[:, None] + jnp.arange(n)[None]
    place = jnp.where(jnp.arange(n)[None] < count[:, None], place, T)
    return cache.at[:, jnp.arange(B)[:, None], place].set(f, mode="drop", unique_indices=True)


def run(p, words, s, at, seen, own, count=None):
    """All layers over the words of each slot; the cache is written where `count` is given."""
    x = con(p["words"][words], "slots")

    def body(x, w):
        w, cache, scale = w
        x, new = layer(x, w, cache, scale, at, seen, own)
        return x, cache if count is None else put(cache, scale, new, seen, count)

    def read(x, w):
        return body(x, w)[0], None

    x, cache = lax.scan(read if count is None else body, x, (p["layers"], s["cache"], s["scale"]))
    return rms(x, p["norm"]), s["cache"] if count is None else cache


def prefill(p, s):
    left = jnp.clip(s["prompt"] - s["done"], 0, C)
    at = s["done"][:, None] + jnp.arange(C)[None]
    words = jnp.take_along_axis(s["text"], jnp.minimum(at, T - 1), 1)
    own = (jnp.arange(C)[:, None] >= jnp.arange(C)[None])[None]
    own = own & (jnp.arange(C)[None, None] < left[:, None, None])
    _, cache = run(p, words, s, at, s["done"], own, left)
    return s | dict(cache=cache, done=s["done"] + left)


def choose(logits, heat, mass, key):
    """A word of the smallest set that holds the mass, with its probability."""
    logits = logits / jnp.maximum(heat, 1e-3)[:, None, None]
    prob = jax.nn.softmax(logits, -1)
    down = -jnp.sort(-prob, -1)
    total = jnp.cumsum(down, -1)
    cut = jnp.sum(total - down < mass[:, None, None], -1, keepdims=True) - 1
    least = jnp.take_along_axis(down, jnp.maximum(cut, 0), -1)
    noise = jax.random.gumbel(key, logits.shape, f32)
    word = jnp.argmax(jnp.where(prob >= least, logits + noise, -jnp.inf), -1)
    word = jnp.where(heat[:, None] > 0, word, jnp.argmax(logits, -1)).astype(i32)
    return word, jnp.take_along_axis(prob, word[..., None], -1)[..., 0]


def denoise(p, s, key):
    active = (s["owner"] >= 0) & (s["done"] >= s["prompt"])
    at = s["done"][:, None] + jnp.arange(G)[None]
    own = jnp.ones((B, G, G), bool)

    def body(c):
        block, sure, key, count = c
        key, now = jax.random.split(key)
        x, _ = run(p, block, s, at, s["done"], own)
        with jax.named_scope("choice"):
            logits = con((x @ p["head"]).astype(f32), "slots", None, "heads")
            logits = jnp.where(jnp.arange(V) == MASK, -1e30, logits)
            word, prob = choose(logits, s["heat"], s["mass"], now)
        with jax.named_scope("confidence"):
            masked = block == MASK
            rank = jnp.argsort(jnp.argsort(jnp.where(masked, -prob, jnp.inf), -1), -1)
            need = -(-masked.sum(-1) // (ROUNDS - count))
            take = masked & ((rank < need[:, None]) | (prob > 0.9))
            block = jnp.where(take, word, block)
            sure = jnp.where(take, prob, sure)
            _, worst = lax.top_k(-sure, 2)
            doubt = jnp.zeros((B, G), bool).at[jnp.arange(B)[:, None], worst].set(True)
            doubt = doubt & (sure < 0.3) & (count < ROUNDS // 2)
            block = jnp.where(doubt & active[:, None], MASK, block)
        return block, jnp.where(block == MASK, 1.0, sure), key, count + 1

    def going(c):
        return (c[3] < ROUNDS) & jnp.any((c[0] == MASK) & active[:, None])

    block = jnp.full((B, G), MASK, i32)
    block, sure, _, rounds = lax.while_loop(going, body, (block, jnp.ones((B, G)), key, i32(0)))
    return block, active, rounds


def commit(p, s, block, active):
    ends = jnp.cumsum(block == END, -1)
    count = jnp.where(active, jnp.sum((ends == 0) | ((ends == 1) & (block == END)), -1), 0)
    at = s["done"][:, None] + jnp.arange(G)[None]
    own = jnp.broadcast_to(jnp.arange(G)[None, None] < count[:, None, None], (B, G, G))
    write = lambda s: run(p, block, s, at, s["done"], own, count)[1]
    cache = lax.cond(jnp.any(active), write, lambda s: s["cache"], s)
    rows = jnp.broadcast_to(jnp.arange(B)[:, None], at.shape)
    place = jnp.where(jnp.arange(G)[None] < count[:, None], at, T)
    text = s["text"].at[rows, place].set(block, mode="drop")
    s = s | dict(cache=cache, text=text, done=s["done"] + count)
    over = active & ((ends[:, -1] > 0) | (s["done"] >= jnp.minimum(s["limit"], T - C)))
    return s, over, count


def admit(s, over, q):
    """Gives free slots to waiting prompts in their order."""
    free = over | (s["owner"] < 0)
    rank = jnp.cumsum(free) - 1
    taken = free & (rank < q["count"])
    source = jnp.where(taken, rank, 0)
    pick = lambda old, new: jnp.where(
        taken.reshape(-1, *[1] * (old.ndim - 1)), new[source].astype(old.dtype), old
    )
    t = {name: pick(s[name], q[name]) for name in ("text", "prompt", "limit", "heat", "mass")}
    owner = jnp.where(taken, q["owner"][source], jnp.where(over, -1, s["owner"]))
    done = jnp.where(taken, 0, s["done"])
    used = jnp.zeros((Q,), bool).at[jnp.where(taken, rank, Q)].set(True, mode="drop")
    return s | t | dict(owner=owner, done=done), used


def serve(p, s, q, key):
    waits = jnp.any((s["owner"] >= 0) & (s["done"] < s["prompt"]))
    with jax.named_scope("prefill"):
        s = lax.cond(waits, lambda s: prefill(p, s), lambda s: s, s)
    with jax.named_scope("denoise"):
        block, active, rounds = denoise(p, s, key)
    with jax.named_scope("commit"):
        s, over, count = commit(p, s, block, active)
    with jax.named_scope("admit"):
        s, used = admit(s, over, q)
    return s, dict(block=block, count=count, over=over, used=used, rounds=rounds)


kept = jax.tree.map(lambda x: x.sharding, state)
c = (
    jax.jit(serve, donate_argnums=1, out_shardings=(kept, None))
    .lower(params, state, waiting, key)
    .compile()
)
print(c.memory_analysis())
