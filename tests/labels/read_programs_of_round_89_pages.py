"""Three programs of a server with pages: a chunk of a prompt, a tree of guessed words verified at once, and pages that are forked and freed.

Ahead of time for v5e 2x4: mesh slot 4 x model 2. Keys and values in int8 pages with a scale of each head, found by tables
of slots; guesses by heads on the last state arranged as a fixed tree, kept along the longest path that the model would draw
too (typical acceptance by entropy), the kept rows written into pages, fresh pages from a list of free ones by counts of users;
rotary with positions scaled by bands, norms of queries and keys, every other layer with a window and sinks of attention;
weights in int8 by columns; words allowed by a grammar whose state is of each slot. Forks copy pages only where shared.
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

topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("slot", "model"))
bf, f32, i32, i8 = jnp.bfloat16, jnp.float32, jnp.int32, jnp.int8
# slots, pages, words of a page, pages of a slot, layers, width, query and key heads, size, hidden, words, chunk, states
B, PAGES, SIZE, MOST, L, D, H, G, HD, F, V, CHUNK, STATES = (
    16,
    512,
    16,
    32,
    4,
    1024,
    16,
    4,
    64,
    2816,
    8192,
    128,
    64,
)
# parents of the nodes of the tree, the rank of each under its head
PARENT = np.array([-1, 0, 0, 0, 1, 1, 2, 4, 4, 5, 7, 7])
RANK = np.array([0, 0, 1, 2, 0, 1, 0, 0, 1, 0, 0, 1])
M = len(PARENT)
DEPTH = np.zeros(M, int)
ABOVE = np.eye(M, dtype=bool)
for n in range(1, M):
    DEPTH[n] = DEPTH[PARENT[n]] + 1
    ABOVE[n] |= ABOVE[PARENT[n]]
HEADS = int(DEPTH.max())


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def whole(*shape, at):
    """Weights in int8 with a scale of each column."""
    scale = (shape[0], *(1 for _ in shape[1:-1]), shape[-1])
    return dict(w=S(shape, i8, *at), s=S(scale, bf, None, *(None for _ in scale[1:-1]), at[-1]))


params = dict(
    words=S((V, D), bf, "model", None),
    q=whole(L, D, H * HD, at=(None, None, "model")),
    kv=whole(L, D, 2 * G * HD, at=(None, None, "model")),
    out=whole(L, H * HD, D, at=(None, "model", None)),
    up=whole(L, D, 2 * F, at=(None, None, "model")),
    down=whole(L, F, D, at=(None, "model", None)),
    norms=S((L, 2, D), bf),
    small=S((L, 2, HD), bf),
    last=S((D,), bf),
    guess=S((HEADS, D, D), bf, None, None, "model"),
    allowed=S((STATES, V), jnp.bool_, None, "model"),
    moves=S((STATES, V), jnp.uint8, None, "model"),
)
server = dict(
    k=S((L, PAGES, SIZE, G, HD), i8, None, "slot", None, "model"),
    v=S((L, PAGES, SIZE, G, HD), i8, None, "slot", None, "model"),
    ks=S((L, PAGES, SIZE, G), bf, None, "slot", None, "model"),
    vs=S((L, PAGES, SIZE, G), bf, None, "slot", None, "model"),
    table=S((B, MOST), i32, "slot"),
    users=S((PAGES,), i32),
    length=S((B,), i32, "slot"),
    state=S((B, D), bf, "slot"),
    word=S((B,), i32, "slot"),
    rule=S((B,), i32, "slot"),
    alive=S((B,), jnp.bool_, "slot"),
    heat=S((B,), f32, "slot"),
    key=S((2,), jnp.uint32),
)
PAGED = ("k", "v", "ks", "vs")
STACK = ("q", "kv", "out", "up", "down", "norms", "small")


def norm(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(bf) * scale


def times(x, w):
    return (x @ w["w"].astype(bf)) * w["s"].reshape(-1)


def rotate(x, at):
    """Slow bands are stretched for long texts, fast ones are left, those between are mixed."""
    speed = 500000.0 ** (-jnp.arange(HD // 2, dtype=f32) / (HD // 2))
    waves = 2 * np.pi / speed
    mix = jnp.clip((8192 / waves - 1) / 3, 0, 1)
    speed = jnp.where(waves > 8192, speed / 8, speed * (mix + (1 - mix) / 8))
    angle = at[..., None, None].astype(f32) * speed
    a, b = x[..., ::2].astype(f32), x[..., 1::2].astype(f32)
    s, c = jnp.sin(angle), jnp.cos(angle)
    return jnp.stack([a * c - b * s, b * c + a * s], -1).reshape(x.shape).astype(bf)


def small(x):
    """Returns int8 rows and their scales."""
    s = jnp.max(jnp.abs(x.astype(f32)), -1) / 127 + 1e-8
    return jnp.round(x.astype(f32) / s[..., None]).astype(i8), s.astype(bf)


def project(w, x, at):
    h = norm(x, w["norms"][0])
    q = times(h, w["q"]).reshape(*h.shape[:-1], H, HD)
    k, v = jnp.split(times(h, w["kv"]).reshape(*h.shape[:-1], 2 * G, HD), 2, -2)
    q, k = norm(q, w["small"][0]), norm(k, w["small"][1])
    return rotate(q, at), rotate(k, at), v


def attend(q, parts, allowed):
    """Attention over pieces of keys, int8 ones by their scales, with one sink that reads nothing."""
    q = q.reshape(*q.shape[:-2], G, H // G, HD)
    s = [
        jnp.einsum("btgrk,bsgk->bgrts", q, k.astype(bf)).astype(f32)
        * (1 if ks is None else ks.astype(f32).transpose(0, 2, 1)[:, :, None, None])
        for k, ks, _, _ in parts
    ]
    s = jnp.where(allowed[:, None, None], jnp.concatenate(s, -1) * HD**-0.5, -1e9)
    top = jnp.maximum(s.max(-1, keepdims=True), 0)
    e = jnp.exp(s - top)
    a = e / (e.sum(-1, keepdims=True) + jnp.exp(-top))
    o, start = 0, 0
    for k, _, v, vs in parts:
        piece = a[..., start : start + k.shape[1]]
        piece = piece if vs is None else piece * vs.astype(f32).transpose(0, 2, 1)[:, :, None, None]
        o, start = (
            o + jnp.einsum("bgrts,bsgk->btgrk", piece.astype(bf), v.astype(bf)),
            start + k.shape[1],
        )
    return o.reshape(*o.shape[:2], H * HD)


def feed(w, x):
    a, b = jnp.split(times(norm(x, w["norms"][1]), w["up"]), 2, -1)
    return times(jax.nn.silu(a) * b, w["down"])


def window(number, mine, theirs):
    near = (mine[..., :, None] - theirs[..., None, :] < 256) | (theirs < 4)[..., None, :]
    return (theirs[..., None, :] <= mine[..., :, None]) & (near | (number % 2 == 0))


def take_pages(users, wanted):
    """Gives a free page to each that wants one, by their ranks; -1 where none is left."""
    free = users == 0
    by_rank = jnp.nonzero(free, size=wanted.shape[0], fill_value=-1)[0]
    rank = jnp.cumsum(wanted.astype(i32)) - 1
    page = jnp.where(wanted, by_rank[jnp.maximum(rank, 0)], -1)
    return page, users.at[jnp.where(page >= 0, page, PAGES)].add(1, mode="drop")


def chunk_step(p, server, words, start, count, slot):
    """Reads one chunk of a prompt into the pages of a slot, attending to what is there."""
    own = server["table"][slot]
    at = start + jnp.arange(CHUNK)
    ends = jnp.arange(MOST) * SIZE
    wanted = (own < 0) & (ends < start + count)
    page, users = take_pages(server["users"], wanted)
    own = jnp.where(wanted, page, own)
    x = con(p["words"][words][None], None, "slot", None)
    real = at < start + count
    to = jnp.where(real, own[at // SIZE], PAGES)
    there = jnp.arange(MOST * SIZE)

    def block(x, layer):
        w, number, kept = layer
        q, k, v = project(w, x, at[None])
        old = [kept[n][own].reshape(1, MOST * SIZE, *kept[n].shape[2:]) for n in PAGED]
        see_old = window(number, at, there) & (there < start)
        see_new = window(number, at, at) & real
        o = attend(
            q,
            [(old[0], old[2], old[1], old[3]), (k, None, v, None)],
            jnp.concatenate([see_old, see_new], -1)[None],
        )
        x = con(x + times(o, w["out"]), None, "slot", None)
        x = con(x + feed(w, x), None, "slot", None)
        (k, ks), (v, vs) = small(k[0]), small(v[0])
        put = lambda c, n: c.at[to, at % SIZE].set(n, mode="drop")
        return x, dict(
            k=put(kept["k"], k), v=put(kept["v"], v), ks=put(kept["ks"], ks), vs=put(kept["vs"], vs)
        )

    x, paged = lax.scan(
        block, x, ({n: p[n] for n in STACK}, jnp.arange(L), {n: server[n] for n in PAGED})
    )
    last = norm(x[0, count - 1], p["last"])
    s = jnp.where(p["allowed"][0], (p["words"] @ last).astype(f32), -jnp.inf)
    return (
        server
        | paged
        | dict(
            table=server["table"].at[slot].set(own),
            users=users,
            length=server["length"].at[slot].set(start + count),
            state=server["state"].at[slot].set(last),
            word=server["word"].at[slot].set(s.argmax().astype(i32)),
            rule=server["rule"].at[slot].set(0),
            alive=server["alive"].at[slot].set(True),
        )
    )


def guesses(p, server):
    """The words of the tree: its root was chosen before, the others are ranks of the heads."""
    h = server["state"][:, None] + jax.nn.silu(
        jnp.einsum("bd,hde->bhe", server["state"], p["guess"])
    )
    s = con(jnp.einsum("bhd,vd->bhv", h, p["words"]), "slot", None, "model")
    _, best = lax.top_k(s.astype(f32), 3)
    words = best[:, np.maximum(DEPTH - 1, 0), RANK]
    return jnp.where(np.arange(M) == 0, server["word"][:, None], words).astype(i32)


def tree_step(p, server):
    """Verifies a tree of words for every slot, and keeps the longest path that is typical."""
    at = server["length"][:, None] + DEPTH
    words = guesses(p, server)
    x = con(p["words"][words], "slot", None, None)
    there = jnp.arange(MOST * SIZE)[None]
    table = jnp.maximum(server["table"], 0)

    def block(x, layer):
        w, number, kept = layer
        q, k, v = project(w, x, at)
        old = [kept[n][table].reshape(B, MOST * SIZE, *kept[n].shape[2:]) for n in PAGED]
        see = window(number, at, there) & (there < server["length"][:, None])[:, None]
        see = jnp.concatenate([see, jnp.broadcast_to(ABOVE, (B, M, M))], -1)
        o = attend(q, [(old[0], old[2], old[1], old[3]), (k, None, v, None)], see)
        x = con(x + times(o, w["out"]), "slot", None, None)
        return con(x + feed(w, x), "slot", None, None), (k, v)

    x, (k, v) = lax.scan(
        block, x, ({n: p[n] for n in STACK}, jnp.arange(L), {n: server[n] for n in PAGED})
    )
    x = norm(x, p["last"])
    rules = [server["rule"]]
    for n in range(M):
        old = server["rule"] if n == 0 else rules[PARENT[n] + 1]
        rules.append(p["moves"][old, words[:, n]].astype(i32))
    rules = jnp.stack(rules[1:], 1)
    s = con(jnp.einsum("bmd,vd->bmv", x, p["words"]).astype(f32), "slot", None, "model")
    s = jnp.where(p["allowed"][rules], s / jnp.maximum(server["heat"], 0.05)[:, None, None], -1e9)
    logp = jax.nn.log_softmax(s)
    chance = jnp.exp(logp)
    entropy = -jnp.sum(chance * logp, -1)
    bar = jnp.minimum(0.09, 0.3 * jnp.exp(-entropy))
    own = jnp.take_along_axis(chance[:, np.maximum(PARENT, 0)], words[..., None], -1)[..., 0]
    fine = (own > bar[:, np.maximum(PARENT, 0)]) | (np.arange(M) == 0)
    path = jnp.all(fine[:, None] | ~ABOVE, -1)
    best = jnp.argmax(jnp.where(path, DEPTH * M - np.arange(M), -M * M), -1)
    many = jnp.where(server["alive"], jnp.asarray(DEPTH)[best] + 1, 0)
    kept = jnp.asarray(ABOVE)[best]
    key, now = jax.random.split(server["key"])
    ends = jnp.take_along_axis(s, best[:, None, None], 1)[:, 0]
    word = jnp.argmax(ends + jax.random.gumbel(now, ends.shape), -1).astype(i32)
    pages = jnp.arange(MOST) * SIZE
    need = (server["table"] < 0) & (pages < (server["length"] + many)[:, None])
    page, users = take_pages(server["users"], need.reshape(-1))
    full_table = jnp.where(need, page.reshape(B, MOST), server["table"])
    to = jnp.take_along_axis(full_table, jnp.minimum(at // SIZE, MOST - 1), 1)
    to = jnp.where(kept & server["alive"][:, None] & (to >= 0), to, PAGES)
    (k, ks), (v, vs) = small(k), small(v)
    put = lambda c, n: jax.vmap(lambda c, n: c.at[to, at % SIZE].set(n, mode="drop"))(c, n)
    new = dict(k=k, v=v, ks=ks, vs=vs)
    told = jnp.where(kept, words, -1)
    length = server["length"] + many
    alive = server["alive"] & ~jnp.any(told == 2, -1) & (length + HEADS + 1 < MOST * SIZE)
    take = lambda a: jnp.take_along_axis(a, best.reshape(-1, *(1,) * (a.ndim - 1)), 1)[:, 0]
    return server | {n: put(server[n], new[n]) for n in PAGED} | dict(
        table=full_table,
        users=users,
        length=length,
        state=take(x),
        word=word,
        rule=take(rules),
        alive=alive,
        key=key,
    ), (told, jnp.sum(many), jnp.mean(entropy))


def fork_step(server, source, ended):
    """Gives slots that ended back, lets others share the pages of a source, and copies a last page that is shared."""
    own = server["table"]
    gone = jnp.where((ended | (source >= 0))[:, None] & (own >= 0), own, PAGES)
    users = server["users"].at[gone].add(-1, mode="drop")
    shared = own[jnp.maximum(source, 0)]
    table = jnp.where(source[:, None] >= 0, shared, jnp.where(ended[:, None], -1, own))
    users = users.at[jnp.where((source >= 0)[:, None] & (shared >= 0), shared, PAGES)].add(
        1, mode="drop"
    )
    pick = lambda a: jnp.where(
        (source >= 0).reshape(-1, *(1,) * (a.ndim - 1)), a[jnp.maximum(source, 0)], a
    )
    length = jnp.where(ended, 0, pick(server["length"]))
    last = jnp.maximum(length - 1, 0) // SIZE
    old = jnp.take_along_axis(table, last[:, None], 1)[:, 0]
    torn = (source >= 0) & (length % SIZE != 0) & (users[jnp.maximum(old, 0)] > 1)
    fresh, users = take_pages(users, torn)
    users = users.at[jnp.where(torn & (fresh >= 0), old, PAGES)].add(-1, mode="drop")
    table = table.at[jnp.arange(B), last].set(jnp.where(torn, fresh, old))
    to, of = jnp.where(torn & (fresh >= 0), fresh, PAGES), jnp.maximum(old, 0)

    def copied(pages):
        return {n: c.at[:, to].set(c[:, of], mode="drop") for n, c in pages.items()}

    paged = lax.cond(jnp.any(torn), copied, lambda pages: pages, {n: server[n] for n in PAGED})
    order = jnp.argsort(jnp.where(users > 0, 0, 1) * PAGES + jnp.arange(PAGES))
    return server | paged | dict(
        table=table,
        users=users,
        length=length,
        **{n: pick(server[n]) for n in ("state", "word", "rule", "heat")},
        alive=pick(server["alive"]) & ~ended,
    ), (jnp.sum(users == 0), order[:B])


if __name__ == "__main__":
    kept = jax.tree.map(lambda x: x.sharding, server)
    with jax.set_mesh(mesh):
        low = jax.jit(chunk_step, donate_argnums=1, out_shardings=kept).trace(
            params, server, S((CHUNK,), i32, "slot"), S((), i32), S((), i32), S((), i32)
        )
        print(len(low.lower(lowering_platforms=("tpu",)).compile().as_text()))
        low = jax.jit(tree_step, donate_argnums=1, out_shardings=(kept, None)).trace(params, server)
        print(len(low.lower(lowering_platforms=("tpu",)).compile().as_text()))
        low = jax.jit(fork_step, donate_argnums=0, out_shardings=(kept, None)).trace(
            server, S((B,), i32, "slot"), S((B,), jnp.bool_, "slot")
        )
        print(len(low.lower(lowering_platforms=("tpu",)).compile().as_text()))
