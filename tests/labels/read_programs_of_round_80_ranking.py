"""A training step of a generative ranking model: long histories by pointwise attention, tasks by expert gates, a teacher.

Ahead of time for 2x2 chips of 7x: mesh data 2 x seq 4 under plain jit. Histories are cut over seq with keys gathered,
biases by time buckets, targets read the history; a frozen teacher gives hints and soft labels, slopes of tasks that
conflict are projected at the shared representation, tables by FTRL on the rows that were read, the rest by NAdam.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="tpu7x:2x2x1")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("data", "seq"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# requests, events of a history, candidates, words of a title, dense features
B, N, M, W, X = 32, 2048, 32, 8, 128
D, H, hd, L, E, TASKS, BUCKETS = 512, 8, 64, 4, 6, 4, 64
ITEMS, ACTORS, WORDS = 1 << 20, 1 << 18, 1 << 16
TEACHER = 1024


def tower(n, d, h):
    return dict(
        norm=S((n, 2, d), f32),
        uvqk=S((n, d, 4, h, hd), f32, None, "data"),
        time=S((n, h, BUCKETS), f32),
        place=S((n, h, 128), f32),
        out=S((n, h, hd, d), f32, None, None, None, "data"),
    )


tables = dict(
    item=S((ITEMS, D), f32, ("data", "seq")),
    actor=S((ACTORS, 128), f32, ("data", "seq")),
    word=S((WORDS, 128), f32, "seq"),
)
dense = dict(
    tower=tower(L, D, H),
    mix=S((D + 128 + 128 + 16, D), f32),
    action=S((32, 16), f32),
    features=[S((X, 256), f32), S((256, D), f32)],
    cross=S((2, H, hd, D), f32, None, None, None, "data"),
    experts=[S((E, 2 * D, 512), f32, None, "data"), S((E, 512, 256), f32, None, None, "data")],
    gates=S((TASKS, 2 * D, E), f32),
    heads=[S((TASKS, 256, 64), f32), S((TASKS, 64), f32), S((TASKS,), f32)],
    hint=S((D, TEACHER), f32, None, "data"),
    spread=S((TASKS,), f32),
    scale=S((D,), f32),
)
teacher = dict(
    tower=jax.tree.map(lambda x: S(x.shape, bf, *x.sharding.spec), tower(2, TEACHER, 16)),
    lift=S((D, TEACHER), bf),
    head=S((2 * TEACHER, TASKS), bf),
)
batch = dict(
    item=S((B, N), i32, "data", "seq"),
    actor=S((B, N), i32, "data", "seq"),
    action=S((B, N), jnp.uint8, "data", "seq"),
    time=S((B, N), i32, "data", "seq"),
    length=S((B,), i32, "data"),
    target=S((B, M), i32, "data"),
    owner=S((B, M), i32, "data"),
    title=S((B, M, W), i32, "data"),
    titles=S((B, M), i32, "data"),
    features=S((B, M, X), f32, "data"),
    now=S((B,), i32, "data"),
    click=S((B, M), jnp.bool_, "data"),
    like=S((B, M), jnp.bool_, "data"),
    watch=S((B, M), f32, "data"),
    weight=S((B, M), f32, "data"),
)
moments = dict(m=dense, v=dense)
ftrl = dict(
    z=tables,
    n=dict(
        item=S((ITEMS,), f32, ("data", "seq")),
        actor=S((ACTORS,), f32, ("data", "seq")),
        word=S((WORDS,), f32, "seq"),
    ),
)
step = S((), i32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def norm(x, g):
    x32 = x.astype(f32)
    mean = jnp.mean(x32, -1, keepdims=True)
    return ((x32 - mean) * lax.rsqrt(jnp.var(x32, -1, keepdims=True) + 1e-6) * g).astype(bf)


def bucket(then):
    return jnp.clip((jnp.log1p(jnp.abs(then).astype(f32)) / 0.3).astype(i32), 0, BUCKETS - 1)


def bias(w, ours, theirs, at, ats):
    """Biases of pairs: by the time between them and by the places between them."""
    far = jnp.take(w["time"].astype(bf), bucket(ours[:, :, None] - theirs[:, None]), axis=1)
    gap = jnp.clip(at[:, :, None] - ats[:, None], 0, 127)
    return (far + jnp.take(w["place"].astype(bf), gap, axis=1)).transpose(1, 0, 2, 3)


def unit(x, w, g):
    """A layer of gated pointwise attention; queries stay cut over seq, keys are gathered."""
    h = norm(x, w["norm"][0])
    u, v, q, k = jnp.einsum("bnd,dthk->tbnhk", h, w["uvqk"].astype(bf))
    k, v = con(k, "data"), con(v, "data")
    with jax.named_scope("pairs"):
        at = jnp.broadcast_to(jnp.arange(N)[None], (B, N))
        s = jnp.einsum("bnhk,bmhk->bhnm", q, k) + bias(w, g["time"], con(g["time"], "data"), at, at)
        keep = (at[:, :, None] >= at[:, None]) & (at[:, None] < g["length"][:, None, None])
        s = jnp.where(keep[:, None], jax.nn.silu(s.astype(f32)) / N, 0.0).astype(bf)
        y = jnp.einsum("bhnm,bmhk->bnhk", con(s, "data", None, "seq"), v)
    b, n = y.shape[:2]
    y = norm(y.reshape(b, n, -1), 1.0).reshape(y.shape) * jax.nn.silu(u)
    y = y * w["norm"][1, : y.shape[2] * hd].reshape(y.shape[2], hd).astype(bf)
    return con(x + jnp.einsum("bnhk,hkd->bnd", y, w["out"].astype(bf)), "data", "seq")


def looked_up(t, g):
    """Rows of the tables that a batch reads."""
    with jax.named_scope("tables"):
        rows = dict(
            item=con(t["item"][g["item"]], "data", "seq"),
            actor=con(t["actor"][g["actor"]], "data", "seq"),
            target=con(t["item"][g["target"]], "data"),
            owner=con(t["actor"][g["owner"]], "data"),
            word=con(t["word"][g["title"]], "data"),
        )
    return rows


def shared(p, rows, g):
    """The representation of candidates that all tasks read, and the last states of the history."""
    with jax.named_scope("events"):
        act = p["action"][g["action"]]
        words = (jnp.arange(W)[None, None] < g["titles"][..., None])[..., None]
        title = jnp.sum(rows["word"] * words, 2) / jnp.maximum(g["titles"], 1)[..., None]
        x = [rows["item"], rows["actor"], jnp.zeros((B, N, 128), f32), act]
        x = con(jnp.concatenate(x, -1).astype(bf) @ p["mix"].astype(bf), "data", "seq")
    with jax.named_scope("history"):
        x, _ = lax.scan(jax.checkpoint(lambda x, w: (unit(x, w, g), None)), x, p["tower"])
        x = norm(x, p["scale"])
    with jax.named_scope("candidates"):
        y = [rows["target"], rows["owner"], title, jnp.zeros((B, M, 16), f32)]
        y = jnp.concatenate(y, -1).astype(bf) @ p["mix"].astype(bf)
        h = jax.nn.gelu(jnp.log1p(jnp.abs(g["features"])).astype(bf) @ p["features"][0].astype(bf))
        y = y + h @ p["features"][1].astype(bf)
        q = jnp.einsum("bmd,hkd->bmhk", y, p["cross"][0].astype(bf))
        k = jnp.einsum("bnd,hkd->bnhk", x, p["cross"][1].astype(bf))
        s = jnp.einsum("bmhk,bnhk->bhmn", q, k).astype(f32) * hd**-0.5
        there = jnp.arange(N)[None] < g["length"][:, None]
        s = jax.nn.softmax(jnp.where(there[:, None, None], s, -1e9), -1).astype(bf)
        read = jnp.einsum("bhmn,bnd->bmhd", s, x).mean(2)
        return con(jnp.concatenate([y, read], -1), "data"), x


def tasks(p, z):
    """Logits of the tasks from the shared representation, by experts and gates."""
    with jax.named_scope("tasks"):
        h = jax.nn.relu(jnp.einsum("bmd,edf->ebmf", z, p["experts"][0].astype(bf)))
        h = jax.nn.relu(jnp.einsum("ebmf,efg->ebmg", h, p["experts"][1].astype(bf)))
        gate = jax.nn.softmax(jnp.einsum("bmd,tde->tbme", z, p["gates"].astype(bf)).astype(f32), -1)
        h = jnp.einsum("tbme,ebmg->tbmg", gate.astype(bf), h)
        h = jax.nn.relu(jnp.einsum("tbmg,tgk->tbmk", h, p["heads"][0].astype(bf)))
        out = jnp.einsum("tbmk,tk->tbm", h.astype(f32), p["heads"][1])
        return out + p["heads"][2][:, None, None]


def losses(p, z, soft, g):
    """A loss of each task: clicks, likes, minutes, and the order of candidates; soft labels for all."""
    out = tasks(p, z)
    w = g["weight"] / jnp.sum(g["weight"])
    with jax.named_scope("losses"):
        cross = lambda x, y: jnp.maximum(x, 0) - x * y + jnp.log1p(jnp.exp(-jnp.abs(x)))
        click, like = g["click"].astype(f32), g["like"].astype(f32)
        minutes = jnp.log1p(g["watch"])
        order = jnp.argsort(-g["watch"], -1)
        ranked = jnp.take_along_axis(out[3], order, 1)
        rest = jnp.flip(lax.cumlogsumexp(jnp.flip(ranked, 1), 1), 1)
        miss = out[2] - minutes
        huber = jnp.where(jnp.abs(miss) < 1, 0.5 * miss * miss, jnp.abs(miss) - 0.5)
        own = jnp.stack(
            [
                jnp.sum(w * cross(out[0], click)),
                jnp.sum(w * click * cross(out[1], like)),
                jnp.sum(w * huber),
                jnp.mean((rest - ranked)[:, : M // 2]),
            ]
        )
        heat = 2.0
        told = jax.nn.softmax(soft / heat, -1)
        apart = told * (jax.nn.log_softmax(soft / heat, -1) - jax.nn.log_softmax(out / heat, -1))
        own = own + 0.3 * heat**2 * jnp.mean(jnp.sum(apart, -1), -1)
        s = p["spread"]
        return own * jnp.exp(-s) + 0.5 * s, (own, out)


def taught(t, rows, g):
    """Hints and soft labels of the frozen teacher."""
    with jax.named_scope("teacher"):
        x = con(rows["item"].astype(bf) @ t["lift"], "data", "seq")
        x, _ = lax.scan(lambda x, w: (unit(x, w, g), None), x, t["tower"])
        y = rows["target"].astype(bf) @ t["lift"]
        last = jnp.maximum(g["length"] - 1, 0)[:, None, None]
        user = jnp.take_along_axis(x, last, 1)
        z = jnp.concatenate([y * user, y], -1)
        return x, (z @ t["head"]).astype(f32).transpose(2, 0, 1)


def project(slopes):
    """Slopes of tasks, each without what goes against another one."""
    flat = slopes.reshape(TASKS, -1).astype(f32)

    def one(own):
        def off(own, other):
            dot = jnp.vdot(own, other)
            return own - jnp.where(
                dot < 0, dot / (jnp.vdot(other, other) + 1e-12), 0.0
            ) * other, dot < 0

        return lax.scan(off, own, flat)

    kept, conflicts = jax.vmap(one)(flat)
    return jnp.sum(kept, 0).reshape(slopes.shape[1:]), jnp.sum(conflicts)


def apply_ftrl(t, z, n, ids, slopes, rate=0.05, one=1e-4, two=1e-3):
    """FTRL on the rows that were read; slopes of a row that was read twice are summed first."""
    order = jnp.argsort(ids)
    ids, slopes = ids[order], slopes[order]
    first = jnp.concatenate([jnp.ones((1,), bool), ids[1:] != ids[:-1]])
    place = jnp.cumsum(first) - 1
    total = jax.ops.segment_sum(slopes, place, ids.size, indices_are_sorted=True)
    row = jnp.full(ids.shape, t.shape[0], i32).at[place].set(ids, mode="drop")
    old, was = t.at[row].get(mode="fill", fill_value=0), n.at[row].get(mode="fill", fill_value=0)
    square = was + jnp.mean(total * total, -1)
    sigma = (jnp.sqrt(square) - jnp.sqrt(was)) / rate
    new_z = z.at[row].get(mode="fill", fill_value=0) + total - sigma[:, None] * old
    small = jnp.abs(new_z) <= one
    new = (jnp.sign(new_z) * one - new_z) / ((1 + jnp.sqrt(square)) / rate + two)[:, None]
    new = jnp.where(small, 0.0, new)
    return (
        t.at[row].set(new, mode="drop"),
        z.at[row].set(new_z, mode="drop"),
        n.at[row].set(square, mode="drop"),
    )


def rank_train_step(t, p, opt, fz, fn, old, step, g):
    rows = looked_up(t, g)
    hints, soft = jax.tree.map(lax.stop_gradient, taught(old, rows, g))
    (z, x), back = jax.vjp(lambda p, rows: shared(p, rows, g), p, rows)
    values, pull, (own, out) = jax.vjp(lambda p, z: losses(p, z, soft, g), p, z, has_aux=True)
    (of_tasks, slopes) = jax.vmap(pull)(jnp.eye(TASKS, dtype=f32))
    slope, conflicts = project(slopes)

    def near(p, x):
        there = (jnp.arange(N)[None] < g["length"][:, None])[..., None]
        miss = (x @ p["hint"].astype(bf)).astype(f32) - hints.astype(f32)
        return 0.1 * jnp.sum(jnp.where(there, miss * miss, 0.0)) / (jnp.sum(g["length"]) * TEACHER)

    hinted, (by_hint, dx) = jax.value_and_grad(near, (0, 1))(p, x)
    by_shared, of_rows = back((slope.astype(z.dtype), dx))
    grads = jax.tree.map(lambda a, b, c: jnp.sum(a, 0) + b + c, of_tasks, by_hint, by_shared)
    with jax.named_scope("nadam"):
        now = (step + 1).astype(f32)
        m = jax.tree.map(lambda a, x: 0.9 * a + 0.1 * x, opt["m"], grads)
        v = jax.tree.map(lambda a, x: 0.999 * a + 0.001 * x * x, opt["v"], grads)
        look = lambda a, x: 0.9 * a / (1 - 0.9 ** (now + 1)) + 0.1 * x / (1 - 0.9**now)
        p = jax.tree.map(
            lambda w, a, b, x: w - 1e-3 * look(a, x) / (jnp.sqrt(b / (1 - 0.999**now)) + 1e-8),
            p,
            m,
            v,
            grads,
        )
    with jax.named_scope("ftrl"):
        flat = lambda x: x.reshape(-1, x.shape[-1])
        ids = dict(
            item=jnp.concatenate([g["item"].reshape(-1), g["target"].reshape(-1)]),
            actor=jnp.concatenate([g["actor"].reshape(-1), g["owner"].reshape(-1)]),
            word=g["title"].reshape(-1),
        )
        moved = dict(
            item=jnp.concatenate([flat(of_rows["item"]), flat(of_rows["target"])]),
            actor=jnp.concatenate([flat(of_rows["actor"]), flat(of_rows["owner"])]),
            word=flat(of_rows["word"]),
        )
        new = {name: apply_ftrl(t[name], fz[name], fn[name], ids[name], moved[name]) for name in t}
        t, fz, fn = ({name: parts[i] for name, parts in new.items()} for i in range(3))
    with jax.named_scope("metrics"):
        prob = jax.nn.sigmoid(out[0]).reshape(-1)
        order = jnp.argsort(prob)
        hit = g["click"].reshape(-1)[order].astype(f32)
        places = jnp.arange(hit.size, dtype=f32) + 1
        good = jnp.sum(hit)
        area = (jnp.sum(places * hit) - good * (good + 1) / 2) / (good * (hit.size - good) + 1)
    told = dict(values=values, own=own, hint=hinted, area=area, conflicts=conflicts)
    return t, p, dict(m=m, v=v), fz, fn, step + 1, told


kept = jax.tree.map(lambda x: x.sharding, (tables, dense, moments, ftrl["z"], ftrl["n"], step))
c = (
    jax.jit(rank_train_step, donate_argnums=(0, 1, 2, 3, 4), out_shardings=(*kept, None))
    .lower(tables, dense, moments, ftrl["z"], ftrl["n"], teacher, step, batch)
    .compile()
)
print(c.memory_analysis())
