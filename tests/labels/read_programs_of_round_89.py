"""Three programs of retrieval: a training step of two towers, a fit of an index by cells and codes, a search with an exact second pass.

For eight CPU devices: mesh rows 4 x table 2. Histories by a gated recurrence and attention over time, bags of categories
by segments, in-batch negatives with logs of estimated frequencies, a queue of older items with a momentum tower, masked
repeats, a ranker of crossed features on the hardest negatives; Adagrad by rows for tables that were touched, Adam for the
rest. Then cells by Lloyd's steps until they rest (empty cells are given far items), codes of residues by subspaces; the
search probes cells, sums tables of distances, and ranks the best again by full vectors with a boost for fresh ones.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
)
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("rows", "table"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# users, items of a history, items, categories, categories of an item, width, hidden, queue, buckets of frequencies
B, T, N, C, K, D, F, Q, Z = 256, 48, 65536, 512, 6, 128, 512, 2048, 8192
# cells, subspaces, codes, those of a cell, cells that are probed, results
CELLS, SUB, CODES, ROOM, PROBE, TOP = 256, 16, 64, 512, 8, 20


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
tables = dict(items=S((N, D), f32, "table"), kinds=S((C, D), f32))
dense = dict(
    gates=S((2 * D, 3 * D), f32, "rows", "table"),
    read=S((2, D, 4, 32), f32, None, None, "table"),
    up=S((2 * D, F), f32, "rows", "table"),
    down=S((F, D), f32, "table", "rows"),
    item_up=S((2 * D, F), f32, "rows", "table"),
    item_down=S((F, D), f32, "table", "rows"),
    cross=S((3, 3 * D), f32),
    score=S((3 * D, 1), f32, "table"),
    heat=S((), f32),
)
state = dict(
    tables=tables,
    sums=dict(items=S((N,), f32, "table"), kinds=S((C,), f32)),
    dense=dense,
    slow={n: dense[n] for n in ("item_up", "item_down")},
    m=dense,
    v=dense,
    queue=S((Q, D), f32, "rows"),
    queue_ids=S((Q,), i32, "rows"),
    head=S((), i32),
    last_seen=S((Z,), f32),
    gap=S((Z,), f32),
    step=S((), i32),
)
batch = dict(
    history=S((B, T), i32, "rows"),
    length=S((B,), i32, "rows"),
    ages=S((B, T), f32, "rows"),
    item=S((B,), i32, "rows"),
    kinds=S((B, K), i32, "rows"),
    clicked=S((B,), f32, "rows"),
)


def unit(x):
    return x * lax.rsqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-6)


def user_tower(d, rows, ages, length):
    """A gated recurrence over what was seen, then attention by the last state with a decay by age."""
    there = jnp.arange(T) < length[:, None]

    def cell(h, xs):
        x, on = xs
        g = jnp.concatenate([x, h], -1).astype(bf) @ d["gates"].astype(bf)
        z, r, c = jnp.split(g.astype(f32), 3, -1)
        z = jax.nn.sigmoid(z)
        new = con((1 - z) * h + z * jnp.tanh(jax.nn.sigmoid(r) * c), "rows", "table")
        h = jnp.where(on[:, None], new, h)
        return h, h

    h0 = con(jnp.zeros((B, D)), "rows", "table")
    last, seen = lax.scan(cell, h0, (rows.swapaxes(0, 1), there.T))
    q = jnp.einsum("bd,dhk->bhk", last, d["read"][0])
    k = jnp.einsum("tbd,dhk->bhtk", seen, d["read"][1])
    s = jnp.einsum("bhk,bhtk->bht", q, k) * 32**-0.5 - jnp.log1p(ages)[:, None]
    a = jax.nn.softmax(jnp.where(there[:, None], s, -1e9), -1)
    read = jnp.einsum("bht,tbd->bhd", a, seen).mean(1)
    x = jax.nn.gelu(jnp.concatenate([last, read], -1) @ d["up"]) @ d["down"]
    return con(unit(x + last), "rows", None)


def item_tower(d, rows, kinds):
    x = jax.nn.gelu(jnp.concatenate([rows, kinds], -1) @ d["item_up"]) @ d["item_down"]
    return con(unit(x + rows), "rows", None)


def bags(table, kinds):
    """Sums of the categories of an item by segments, those below zero left out."""
    flat = kinds.reshape(-1)
    rows = jnp.where((flat >= 0)[:, None], table[jnp.maximum(flat, 0)], 0.0)
    of = jnp.repeat(jnp.arange(kinds.shape[0]), K)
    many = jax.ops.segment_sum((flat >= 0).astype(f32), of, kinds.shape[0])
    return jax.ops.segment_sum(rows, of, kinds.shape[0]) / jnp.maximum(many, 1)[:, None]


def crossed(d, u, i):
    x0 = jnp.concatenate([u, i, u * i], -1)
    x, _ = lax.scan(
        lambda x, w: (x0 * jnp.sum(x * w, -1, keepdims=True) + x, None),
        x0,
        d["cross"],
    )
    return (x @ d["score"])[..., 0]


def tower_step(state, batch):
    t, now = state["tables"], state["step"].astype(f32) + 1
    bucket = (batch["item"] * 40503) % Z
    gap = (
        state["gap"]
        .at[bucket]
        .set(0.95 * state["gap"][bucket] + 0.05 * (now - state["last_seen"][bucket]))
    )
    last_seen = state["last_seen"].at[bucket].max(now)
    log_share = -jnp.log(jnp.maximum(gap[bucket], 1.0))

    def loss(d, kinds_table, seen, own):
        u = user_tower(d, seen, batch["ages"], batch["length"])
        kinds = bags(kinds_table, batch["kinds"])
        v = item_tower(d, own, kinds)
        slow = lax.stop_gradient(item_tower(state["slow"], own, kinds))
        every = jnp.concatenate([v, state["queue"]])
        ids = jnp.concatenate([batch["item"], state["queue_ids"]])
        s = con(jnp.einsum("bd,nd->bn", u.astype(bf), every.astype(bf)), "rows", "table")
        s = s.astype(f32) * jnp.exp(jnp.minimum(d["heat"], 4.6))
        s = s.at[:, :B].add(-log_share)
        same = (batch["item"][:, None] == ids) & ~jnp.eye(B, Q + B, dtype=bool)
        s = jnp.where(same, -1e9, s)
        best = jnp.take_along_axis(s, jnp.arange(B)[:, None], 1)[:, 0]
        match = jnp.mean(jax.nn.logsumexp(s, -1) - best)
        _, hard = lax.top_k(jnp.where(jnp.eye(B, Q + B, dtype=bool), -jnp.inf, s), 4)
        bad = every[hard]
        good_score = crossed(d, u, v)
        bad_score = crossed(d, jnp.broadcast_to(u[:, None], bad.shape), bad)
        click = jnp.mean(jax.nn.softplus(good_score) - batch["clicked"] * good_score)
        order = jnp.mean(jax.nn.softplus(bad_score - good_score[:, None]))
        return match + 0.3 * click + 0.1 * order, (match, click, slow)

    seen, own = t["items"][batch["history"]], t["items"][batch["item"]]
    (_, told), (gd, gk, gs, go) = jax.value_and_grad(loss, (0, 1, 2, 3), has_aux=True)(
        state["dense"], t["kinds"], seen, own
    )
    *told, slow_items = told
    ids = jnp.concatenate([batch["history"].reshape(-1), batch["item"]])
    slopes = jnp.concatenate([gs.reshape(-1, D), go])
    order = jnp.argsort(ids)
    ids, slopes = ids[order], slopes[order]
    first = jnp.concatenate([jnp.ones(1, bool), ids[1:] != ids[:-1]])
    group = jnp.cumsum(first) - 1
    total = jax.ops.segment_sum(slopes, group, ids.shape[0], indices_are_sorted=True)
    to = jnp.full(ids.shape, N).at[group].set(ids)
    grown = state["sums"]["items"].at[to].add(jnp.mean(total * total, -1), mode="drop")
    by = lax.rsqrt(grown.at[to].get(mode="fill", fill_value=1.0) + 1e-8)
    items = t["items"].at[to].add(-0.05 * total * by[:, None], mode="drop")
    kind_sums = state["sums"]["kinds"] + jnp.mean(gk * gk, -1)
    kinds = t["kinds"] - 0.05 * gk * lax.rsqrt(kind_sums + 1e-8)[:, None]
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gd)))
    gd = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / (norm + 1e-6)), gd)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], gd)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["v"], gd)
    d = jax.tree.map(
        lambda p, m, v: p - 1e-3 * (m / (1 - 0.9**now)) / (jnp.sqrt(v / (1 - 0.999**now)) + 1e-8),
        state["dense"],
        m,
        v,
    )
    slow = {n: 0.99 * w + 0.01 * d[n] for n, w in state["slow"].items()}
    queue = lax.dynamic_update_slice(state["queue"], slow_items, (state["head"], 0))
    queue_ids = lax.dynamic_update_slice(state["queue_ids"], batch["item"], (state["head"],))
    return dict(
        tables=dict(items=items, kinds=kinds),
        sums=dict(items=grown, kinds=kind_sums),
        dense=d,
        slow=slow,
        m=m,
        v=v,
        queue=queue,
        queue_ids=queue_ids,
        head=(state["head"] + B) % Q,
        last_seen=last_seen,
        gap=gap,
        step=state["step"] + 1,
    ), (told, norm)


def nearest(x, centers):
    d = jnp.sum(centers * centers, -1) - 2 * (x.astype(bf) @ centers.T.astype(bf)).astype(f32)
    return d.argmin(-1).astype(i32), d.min(-1)


def lloyd(x, centers, most):
    def go(s):
        return (s[2] > 1e-3) & (s[1] < most)

    def body(s):
        c, n, _ = s
        at, far = nearest(x, c)
        hot = jax.nn.one_hot(at, c.shape[0], dtype=f32)
        many, total = hot.sum(0), hot.T @ x
        _, spare = lax.top_k(far + jnp.sum(x * x, -1), c.shape[0])
        new = jnp.where((many > 0)[:, None], total / jnp.maximum(many, 1)[:, None], x[spare])
        return new, n + 1, jnp.max(jnp.sum((new - c) ** 2, -1))

    return lax.while_loop(go, body, (centers, 0, jnp.inf))


def index_fit(vectors, key):
    """Cells and their lists, and a code book of each subspace with the codes of every item."""
    pick = jax.random.choice(key, N, (4096,), replace=False)
    some = con(vectors[pick], "rows", None)
    cells, steps, _ = lloyd(some, some[:CELLS], 12)
    at, _ = lax.map(lambda x: nearest(x, cells), vectors.reshape(16, -1, D))
    at = at.reshape(-1)
    rest = some - cells[nearest(some, cells)[0]]
    parts = rest.reshape(-1, SUB, D // SUB).swapaxes(0, 1)
    books, _, _ = jax.vmap(lambda x: lloyd(x, x[:CODES], 6))(con(parts, "table"))
    left = (vectors - cells[at]).reshape(N, SUB, D // SUB)
    codes = jax.vmap(nearest, (1, 0), 1)(left, books)[0].astype(jnp.uint8)
    order = jnp.argsort(at, stable=True)
    many = jnp.bincount(at, length=CELLS)
    start = jnp.cumsum(many) - many
    place = jnp.arange(N) - start[at[order]]
    lists = jnp.full((CELLS, ROOM), -1, i32).at[at[order], place].set(order, mode="drop")
    return cells, books, codes, con(lists, "table", None), steps, jnp.maximum(many - ROOM, 0).sum()


def search(queries, cells, books, codes, lists, vectors, fresh):
    s = queries @ cells.T
    good, which = lax.top_k(s, PROBE)
    rows = jnp.einsum("bsk,sck->bsc", queries.reshape(-1, SUB, D // SUB), books)

    def one(row, base, cell):
        ids = lists[cell]
        code = codes[jnp.maximum(ids, 0)].astype(i32)
        part = jax.vmap(lambda c: jnp.take_along_axis(row, c.T, 1).sum(0))(code)
        part = jnp.where(ids >= 0, part + base[:, None], -jnp.inf).reshape(-1)
        best, at = lax.approx_max_k(part, 4 * TOP)
        return best, ids.reshape(-1)[at]

    rough, ids = lax.map(lambda a: one(*a), (rows, good, which), batch_size=16)
    full = con(jnp.einsum("bd,bnd->bn", queries, vectors[jnp.maximum(ids, 0)]), "rows", None)
    full = full + 0.05 * jnp.exp(-fresh[jnp.maximum(ids, 0)] / 7.0)
    score, at = lax.top_k(jnp.where(ids >= 0, full, -jnp.inf), TOP)
    moved = jnp.mean(jnp.abs(lax.top_k(rough, TOP)[1] - at).astype(f32))
    return score, jnp.take_along_axis(ids, at, 1), moved


if __name__ == "__main__":
    index = (
        S((CELLS, D), f32),
        S((SUB, CODES, D // SUB), f32, "table"),
        S((N, SUB), jnp.uint8, "rows"),
        S((CELLS, ROOM), i32, "table"),
    )
    vectors = S((N, D), f32, "rows")
    kept = jax.tree.map(lambda x: x.sharding, state)
    with jax.set_mesh(mesh):
        low = jax.jit(tower_step, donate_argnums=0, out_shardings=(kept, None)).lower(state, batch)
        print(len(low.compile().as_text()))
        low = jax.jit(index_fit).lower(vectors, S((2,), jnp.uint32))
        print(len(low.compile().as_text()))
        low = jax.jit(search).lower(S((B, D), f32, "rows"), *index, vectors, S((N,), f32, "rows"))
        print(len(low.compile().as_text()))
