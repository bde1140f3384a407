"""The two programs of a server of a mixture-of-experts decoder: a prompt into its slot, and one word for all slots.

Ahead of time for v5e 2x2: mesh data 2 x model 2. Grouped-query attention over a cache with a row of each slot, layers by
a scan that carries the cache as state, two of eight experts by a softmax of their scores with places up to a capacity,
one shared expert, rotary with a position per slot; a temperature per slot, top-k and top-p, words that came before are
made less likely, slots end at a stop word; cache and counts donated.
"""

import os

os.environ.update(
    JAX_PLATFORMS="cpu",
    TPU_SKIP_MDS_QUERY="1",
    TPU_WORKER_HOSTNAMES="localhost",
    ALLOW_MULTIPLE_LIBTPU_LOAD="1",
)
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("data", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# slots, words of a cache, words of a prompt, layers, width, query and key heads, size, hidden, experts, capacity, vocabulary
B, T, PROMPT, L, D, H, G, HD, F, E, V = 32, 1024, 256, 4, 1024, 16, 4, 64, 2048, 8, 16384


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params = dict(
    words=S((V, D), bf, "model", None),
    q=S((L, D, H, HD), bf, None, "data", "model"),
    kv=S((L, 2, D, G, HD), bf, None, None, "data", "model"),
    out=S((L, H, HD, D), bf, None, "model", None, "data"),
    router=S((L, D, E), f32),
    up=S((L, E, D, 2, F), bf, None, "model", "data"),
    down=S((L, E, F, D), bf, None, "model", None, "data"),
    shared_up=S((L, D, 2, F // 2), bf, None, "data", None, "model"),
    shared_down=S((L, F // 2, D), bf, None, "model", "data"),
    norms=S((L, 2, D), bf),
    last=S((D,), bf),
    head=S((D, V), bf, "data", "model"),
)
server = dict(
    k=S((L, B, T, G, HD), bf, None, "data", None, "model"),
    v=S((L, B, T, G, HD), bf, None, "data", None, "model"),
    length=S((B,), i32, "data"),
    word=S((B,), i32, "data"),
    seen=S((B, V), jnp.int8, "data", "model"),
    alive=S((B,), jnp.bool_, "data"),
    heat=S((B,), f32, "data"),
    key=S((2,), jnp.uint32),
)


def norm(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(bf) * scale


def rotate(x, at):
    speed = 500000.0 ** (-jnp.arange(HD // 2, dtype=f32) / (HD // 2))
    angle = at[..., None, None].astype(f32) * speed
    a, b = jnp.split(x.astype(f32), 2, -1)
    s, c = jnp.sin(angle), jnp.cos(angle)
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1).astype(bf)


def experts(w, x, capacity):
    """Two experts of each word, by one-hot products with places up to a capacity."""
    n = x.shape[0]
    chance = jax.nn.softmax(x.astype(f32) @ w["router"])
    share, which = lax.top_k(chance, 2)
    share = share / share.sum(-1, keepdims=True)
    hot = jax.nn.one_hot(which.T.reshape(-1), E, dtype=i32)
    place = jnp.sum((jnp.cumsum(hot, 0) - 1) * hot, -1).reshape(2, n)
    to = (
        jax.nn.one_hot(which.T, E, dtype=bf)[..., None]
        * jax.nn.one_hot(place, capacity, dtype=bf)[:, :, None]
    )
    send = to.sum(0)
    taken = con(jnp.einsum("nd,nec->ecd", x, send), "model", None, None)
    g = jnp.einsum("ecd,edgf->ecgf", taken, w["up"])
    y = jnp.einsum("ecf,efd->ecd", jax.nn.silu(g[:, :, 0]) * g[:, :, 1], w["down"])
    y = con(y, "model", None, None)
    mixed = jnp.einsum("ecd,knec,nk->nd", y, to, share.astype(bf))
    g = jnp.einsum("nd,dgf->ngf", x, w["shared_up"])
    return mixed + (jax.nn.silu(g[:, 0]) * g[:, 1]) @ w["shared_down"]


def attend(q, k, v, allowed):
    q = q.reshape(*q.shape[:2], G, H // G, HD)
    s = jnp.einsum("btgrk,bsgk->bgrts", q, k).astype(f32) * HD**-0.5
    s = jnp.where(allowed[:, None, None], s, -jnp.inf)
    o = jnp.einsum("bgrts,bsgk->btgrk", jax.nn.softmax(s, -1).astype(bf), v)
    return o.reshape(*o.shape[:2], H, HD)


def layers_of(p):
    return {n: w for n, w in p.items() if n not in ("words", "last", "head")}


def fill(p, server, prompt, count, slot):
    """Reads a prompt, writes its keys and values into a slot, and chooses its first word."""
    x = con(p["words"][prompt][None], None, "data", None)
    at = jnp.arange(PROMPT)[None]
    allowed = (at[:, None] <= at[..., None]) & (at < count)[:, None]

    def block(x, w):
        h = norm(x, w["norms"][0])
        q = rotate(jnp.einsum("btd,dhk->bthk", h, w["q"]), at)
        k, v = jnp.einsum("btd,cdgk->cbtgk", h, w["kv"])
        k = rotate(k, at)
        x = x + jnp.einsum("bthk,hkd->btd", attend(q, k, v, allowed), w["out"])
        h = norm(x, w["norms"][1]).reshape(-1, D)
        return x + experts(w, h, PROMPT // 2).reshape(x.shape), (k[:, :, :], v)

    x, (k, v) = lax.scan(block, x, layers_of(p))
    x = norm(x[0, count - 1], p["last"])
    word = jnp.argmax((x @ p["head"]).astype(f32)).astype(i32)
    place = (0, slot, 0, 0, 0)
    there = (jnp.arange(PROMPT) < count).astype(i32)
    counts = jnp.zeros((V,), i32).at[prompt].add(there)
    return server | dict(
        k=lax.dynamic_update_slice(server["k"], k, place),
        v=lax.dynamic_update_slice(server["v"], v, place),
        length=server["length"].at[slot].set(count),
        word=server["word"].at[slot].set(word),
        alive=server["alive"].at[slot].set(True),
        seen=server["seen"].at[slot].set((counts > 0).astype(jnp.int8)),
    )


def choose(s, server):
    key, now = jax.random.split(server["key"])
    s = jnp.where(server["seen"] > 0, jnp.where(s > 0, s / 1.1, s * 1.1), s)
    s = s / jnp.maximum(server["heat"], 1e-3)[:, None]
    best, which = lax.top_k(s, 64)
    chance = jax.nn.softmax(best)
    best = jnp.where(jnp.cumsum(chance, -1) - chance < 0.9, best, -jnp.inf)
    drawn = jnp.argmax(best + jax.random.gumbel(now, best.shape), -1)
    drawn = jnp.where(server["heat"] < 1e-3, 0, drawn)
    return jnp.take_along_axis(which, drawn[:, None], 1)[:, 0].astype(i32), key


def decode(p, server):
    """One word for each slot."""
    at = server["length"]
    x = con(p["words"][server["word"]][:, None], "data", None, None)
    allowed = (jnp.arange(T) <= at[:, None])[:, None]
    write = jax.vmap(lambda c, n, i: lax.dynamic_update_slice(c, n, (i, 0, 0)))

    def block(carry, layer):
        x, ks, vs = carry
        w, number = layer
        h = norm(x, w["norms"][0])
        q = rotate(jnp.einsum("btd,dhk->bthk", h, w["q"]), at[:, None])
        k, v = jnp.einsum("btd,cdgk->cbtgk", h, w["kv"])
        k = rotate(k, at[:, None])
        k = write(lax.dynamic_index_in_dim(ks, number, keepdims=False), k, at)
        v = write(lax.dynamic_index_in_dim(vs, number, keepdims=False), v, at)
        x = x + jnp.einsum("bthk,hkd->btd", attend(q, k, v, allowed), w["out"])
        h = norm(x, w["norms"][1]).reshape(-1, D)
        x = con(x + experts(w, h, B // 2).reshape(x.shape), "data", None, None)
        ks = lax.dynamic_update_index_in_dim(ks, k, number, 0)
        vs = lax.dynamic_update_index_in_dim(vs, v, number, 0)
        return (x, ks, vs), None

    (x, k, v), _ = lax.scan(block, (x, server["k"], server["v"]), (layers_of(p), jnp.arange(L)))
    s = con((norm(x[:, 0], p["last"]) @ p["head"]).astype(f32), "data", "model")
    word, key = choose(s, server)
    word = jnp.where(server["alive"], word, 0)
    alive = server["alive"] & (word != 2) & (at + 1 < T)
    seen = server["seen"].at[jnp.arange(B), word].set(1)
    return server | dict(
        k=k, v=v, key=key, word=word, alive=alive, length=at + alive, seen=seen
    ), word


if __name__ == "__main__":
    kept = jax.tree.map(lambda x: x.sharding, server)
    with jax.set_mesh(mesh):
        low = jax.jit(fill, donate_argnums=1, out_shardings=kept).trace(
            params, server, S((PROMPT,), i32, "data"), S((), i32), S((), i32)
        )
        print(len(low.lower(lowering_platforms=("tpu",)).compile().as_text()))
        low = jax.jit(decode, donate_argnums=1, out_shardings=(kept, None)).trace(params, server)
        print(len(low.lower(lowering_platforms=("tpu",)).compile().as_text()))
