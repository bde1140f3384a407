"""Two programs of a hybrid decoder: a training step (gated delta rule, experts that drop nothing, SOAP), and a decoding step.

Ahead of time for 2x4 H100: mesh data 2 x expert 4. Three layers keep a state by the gated delta rule in chunks (a
triangular inverse each, a short causal convolution), every fourth has gated attention with partial rotary; words are
sorted by their expert and sent by ragged all-to-all, experts by ragged dots, a shared expert beside them; a second head
for the word after the next; SOAP with QR of its bases every tenth step; decoding one word for each request with states,
windows of the convolution and caches of different lengths.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84942979072
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("data", "expert"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# sequences, length, blocks of four layers, width, heads, size of a head, experts, chosen, hidden, vocabulary, chunk, window
B, T, G, D, H, HD, E, TOP, F, V, C, W = 16, 2048, 2, 1024, 8, 128, 32, 2, 512, 32000, 64, 4
WAYS = 4
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
wide = lambda x: con(x, "data", None, None)
spread = lambda x: con(x, ("data", "expert"), None)


def moe(*lead):
    none = (None,) * len(lead)
    return dict(
        router=S((*lead, D, E), f32),
        up=S((*lead, E, D, 2 * F), f32, *none, "expert", None, "data"),
        down=S((*lead, E, F, D), f32, *none, "expert", "data", None),
        shared_up=S((*lead, D, 2 * F), f32, *none, "data", "expert"),
        shared_down=S((*lead, F, D), f32, *none, "expert", "data"),
        norms=S((*lead, 2, D), f32),
    )


params = dict(
    embed=S((V, D), f32, "expert", "data"),
    delta=dict(
        qkv=S((G, 3, D, 3 * H * HD), f32, None, None, "data", "expert"),
        conv=S((G, 3, W, 3 * H * HD), f32, None, None, None, "expert"),
        gates=S((G, 3, D, 2 * H), f32),
        speed=S((G, 3, H), f32),
        z=S((G, 3, D, H * HD), f32, None, None, "data", "expert"),
        out=S((G, 3, H * HD, D), f32, None, None, "expert", "data"),
        **moe(G, 3),
    ),
    full=dict(
        qkvg=S((G, D, 4 * H * HD), f32, None, "data", "expert"),
        out=S((G, H * HD, D), f32, None, "expert", "data"),
        **moe(G),
    ),
    second=S((2 * D, D), f32, "data", "expert"),
    last=S((D,), f32),
)
square = dict(left=S((D, D), f32), right=S((D, D), f32), ql=S((D, D), f32), qr=S((D, D), f32))
state = dict(params=params, m=params, v=params, bases=square, step=S((), i32))
batch = dict(tokens=S((B, T + 2), i32, "data"), documents=S((B, T), i32, "data"))


def norm(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * (1 + scale)).astype(bf)


def unit(x):
    return x * lax.rsqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-6)


def delta_rule(q, k, v, beta, decay):
    """The gated delta rule by chunks: what a chunk writes is a triangular system."""
    n = T // C
    cut = lambda x: jnp.moveaxis(x.reshape(B, n, C, H, -1), 3, 2).astype(f32)
    q, k, v = unit(cut(q)) * HD**-0.5, unit(cut(k)), cut(v)
    beta, decay = cut(beta), jnp.cumsum(cut(decay)[..., 0], -1)
    gap = decay[..., :, None] - decay[..., None, :]
    low = jnp.tril(jnp.ones((C, C), bool))
    fall = jnp.where(low, jnp.exp(jnp.where(low, gap, 0.0)), 0.0)
    kb = k * beta
    a = jnp.tril(jnp.einsum("bnhtd,bnhsd->bnhts", kb, k) * fall, -1) + jnp.eye(C)
    both = jnp.concatenate([v * beta, kb * jnp.exp(decay)[..., None]], -1)
    u, w = jnp.split(
        lax.linalg.triangular_solve(a, both, left_side=True, lower=True, unit_diagonal=True), 2, -1
    )
    inner = jnp.einsum("bnhtd,bnhsd->bnhts", q, k) * fall

    def chunk(s, c):
        q, k, u, w, d, a = c
        new = u - jnp.einsum("bhtd,bhde->bhte", w, s)
        y = jnp.einsum("bhtd,bhde->bhte", q * jnp.exp(d)[..., None], s) + a @ new
        kept = jnp.exp(d[..., -1:] - d)[..., None]
        s = s * jnp.exp(d[..., -1])[..., None, None] + jnp.einsum("bhtd,bhte->bhde", k * kept, new)
        return s, y

    s = jnp.zeros((B, H, HD, HD), f32)
    move = lambda x: jnp.moveaxis(x, 1, 0)
    _, y = lax.scan(chunk, s, tuple(map(move, (q, k, u, w, decay, inner))))
    return jnp.moveaxis(y, 0, 1).swapaxes(2, 3).reshape(B, T, H, HD)


def delta_layer(x, p, docs):
    h = norm(x, p["norms"][0])
    y = h @ p["qkv"].astype(bf)
    past = jnp.pad(y, ((0, 0), (W - 1, 0), (0, 0)))
    same = jnp.pad(docs, ((0, 0), (W - 1, 0)), constant_values=-1)
    y = sum(
        jnp.where((same[:, i : i + T] == docs)[..., None], past[:, i : i + T], 0)
        * p["conv"][i].astype(bf)
        for i in range(W)
    )
    q, k, v = jnp.split(jax.nn.silu(con(y, "data", None, "expert")), 3, -1)
    b, a = jnp.split(h.astype(f32) @ p["gates"], 2, -1)
    first = jnp.diff(docs, axis=1, prepend=-1) != 0
    decay = -jnp.exp(p["speed"]) * jax.nn.softplus(a) - 30.0 * first[..., None]
    head = lambda x: con(x.reshape(B, T, H, -1), "data", None, "expert", None)
    y = delta_rule(head(q), head(k), head(v), head(jax.nn.sigmoid(b)), head(decay))
    y = unit(y) * jax.nn.silu(head(h @ p["z"].astype(bf)))
    x = wide(x + y.reshape(B, T, H * HD).astype(bf) @ p["out"].astype(bf))
    return wide(x + experts(norm(x, p["norms"][1]), p))


def turned(x, at):
    """Rotary of a quarter of a head."""
    part = HD // 4
    angle = at[..., None, None] * 1e7 ** (-jnp.arange(part // 2) * 2.0 / part)
    a, b, rest = x[..., : part // 2], x[..., part // 2 : part], x[..., part:]
    s, c = jnp.sin(angle), jnp.cos(angle)
    return jnp.concatenate([a * c - b * s, b * c + a * s, rest], -1).astype(bf)


def full_layer(x, p, docs):
    h = norm(x, p["norms"][0])
    y = con(h @ p["qkvg"].astype(bf), "data", None, "expert")
    q, k, v, g = jnp.split(y.reshape(B, T, H, 4 * HD), 4, -1)
    at = jnp.arange(T, dtype=f32)[None]
    q, k = turned(unit(q.astype(f32)), at), turned(unit(k.astype(f32)), at)
    s = jnp.einsum("bthd,bshd->bhts", q, k, preferred_element_type=f32) * HD**0.5
    seen = (docs[:, :, None] == docs[:, None]) & jnp.tril(jnp.ones((T, T), bool))
    s = jax.nn.softmax(jnp.where(seen[:, None], s, -1e30), -1).astype(bf)
    y = jnp.einsum("bhts,bshd->bthd", s, v) * jax.nn.sigmoid(g)
    x = wide(x + y.reshape(B, T, H * HD) @ p["out"].astype(bf))
    return wide(x + experts(norm(x, p["norms"][1]), p))


def exchange(rows, counts, back=False):
    """Rows sorted by device go to their devices, or come back; `counts` are what each sends to each."""
    me = lax.axis_index("expert")
    table = lax.all_gather(counts, "expert")
    table = table.T if back else table
    before = jnp.cumsum(table, 1) - table
    into = (jnp.cumsum(table, 0) - table)[me]
    return lax.ragged_all_to_all(
        rows,
        jnp.zeros((len(rows) if back else 2 * len(rows), rows.shape[1]), rows.dtype),
        before[me].astype(i32),
        table[me].astype(i32),
        into.astype(i32),
        table[:, me].astype(i32),
        axis_name="expert",
    )


def route(x, router, up, down):
    """Each word to its experts: sorted, sent, multiplied in groups, sent back, weighted."""
    flat = x.reshape(-1, D)
    share, chosen = lax.top_k(jax.nn.softmax(flat.astype(f32) @ router, -1), TOP)
    share = share / share.sum(-1, keepdims=True)
    order = jnp.argsort(chosen.reshape(-1))
    rows = flat[order // TOP]
    sizes = jnp.bincount(chosen.reshape(-1), length=E)
    counts = sizes.reshape(WAYS, -1).sum(1)
    got = exchange(rows, counts)
    mine = lax.dynamic_slice_in_dim(
        lax.all_gather(sizes, "expert"), lax.axis_index("expert") * (E // WAYS), E // WAYS, 1
    )
    owner = jnp.repeat(
        jnp.tile(jnp.arange(E // WAYS), WAYS), mine.reshape(-1), total_repeat_length=len(got)
    )
    again = jnp.argsort(owner)
    groups = mine.sum(0).astype(i32)
    h = lax.ragged_dot(got[again], up.astype(bf), groups)
    a, b = jnp.split(h, 2, -1)
    h = lax.ragged_dot(jax.nn.silu(a) * b, down.astype(bf), groups)
    sent = exchange(jnp.zeros_like(got).at[again].set(h), counts, back=True)[: len(rows)]
    y = jnp.zeros((len(rows), D), bf).at[order].set(sent).reshape(-1, TOP, D)
    y = jnp.einsum("ntd,nt->nd", y, share.astype(bf)).reshape(x.shape)
    return y, lax.pmean(sizes.astype(f32), ("data", "expert"))


sent = jax.shard_map(
    route,
    mesh=mesh,
    in_specs=(P("data", "expert"), P(), P("expert"), P("expert")),
    out_specs=(P("data", "expert"), P()),
    check_vma=False,
)


def experts(x, p):
    y, _ = sent(con(x, "data", "expert", None), p["router"], p["up"], p["down"])
    a, b = jnp.split(x @ p["shared_up"].astype(bf), 2, -1)
    return wide(y) + (jax.nn.silu(a) * b) @ p["shared_down"].astype(bf)


def spoken(x, embed, targets):
    z = con(x @ embed.T.astype(bf), "data", None, "expert").astype(f32)
    lse = jax.nn.logsumexp(z, -1)
    right = jnp.take_along_axis(z, targets[..., None], -1)[..., 0]
    return jnp.mean(lse - right + 1e-4 * lse**2)


def loss(p, batch):
    tokens, docs = batch["tokens"], batch["documents"]
    x = wide(p["embed"].astype(bf)[tokens[:, :T]])

    def block(x, c):
        delta, full = c
        step = jax.checkpoint(lambda x, d: (delta_layer(x, d, docs), None))
        x, _ = lax.scan(step, x, delta)
        return jax.checkpoint(full_layer)(x, full, docs), None

    x, _ = lax.scan(block, x, (p["delta"], p["full"]))
    x = norm(x, p["last"])
    first = spoken(x, p["embed"], tokens[:, 1 : T + 1])
    following = jnp.concatenate([x, p["embed"].astype(bf)[tokens[:, 1 : T + 1]]], -1)
    second = spoken(norm(following @ p["second"].astype(bf), p["last"]), p["embed"], tokens[:, 2:])
    return first + 0.3 * second


def soap(g, m, v, b, step):
    """The matrix of the second head in the bases of its two covariances."""
    top, low = g[:D], g[D:]
    left = 0.95 * b["left"] + 0.05 * (top @ top.T + low @ low.T)
    right = 0.95 * b["right"] + 0.05 * g.T @ g
    turn = lambda s, q: jnp.linalg.qr(s @ q)[0]
    ql, qr = lax.cond(
        step % 10 == 0,
        lambda: (turn(left, b["ql"]), turn(right, b["qr"])),
        lambda: (b["ql"], b["qr"]),
    )
    inside = lambda x: jnp.concatenate([ql.T @ x[:D], ql.T @ x[D:]]) @ qr
    outside = lambda x: jnp.concatenate([ql @ x[:D], ql @ x[D:]]) @ qr.T
    v = 0.95 * v + 0.05 * inside(g) ** 2
    return outside(inside(m) / (jnp.sqrt(v) + 1e-8)), v, dict(left=left, right=right, ql=ql, qr=qr)


def hybrid_train_step(state, batch):
    value, grads = jax.value_and_grad(loss)(state["params"], batch)
    size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
    grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / (size + 1e-9)), grads)
    step = state["step"] + 1
    rate = 3e-4 * jnp.minimum(step / 500, 1.0)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, state["v"], grads)
    move = jax.tree.map(lambda m, v: m / (jnp.sqrt(v) + 1e-8), m, v)
    move["second"], v["second"], bases = soap(
        grads["second"], m["second"], state["v"]["second"], state["bases"], step
    )
    new = jax.tree.map(lambda p, d: p - rate * (d + 0.1 * p * (p.ndim > 1)), state["params"], move)
    return dict(params=new, m=m, v=v, bases=bases, step=step), dict(loss=value, size=size)


# requests, longest cache
N, LONG = 64, 4096
flat = jax.tree.map(lambda p: jax.ShapeDtypeStruct(p.shape, bf, sharding=p.sharding), params)
held = dict(
    s=S((G, 3, N, H, HD, HD), f32, None, None, "data", "expert"),
    past=S((G, 3, N, W - 1, 3 * H * HD), bf, None, None, "data", None, "expert"),
    k=S((G, N, LONG, H, HD), bf, None, "data", None, "expert"),
    v=S((G, N, LONG, H, HD), bf, None, "data", None, "expert"),
    length=S((N,), i32, "data"),
    word=S((N,), i32, "data"),
    key=S((2,), jnp.uint32),
)


def dense_experts(x, p):
    """Few words: every expert takes every word, weighted."""
    share, chosen = lax.top_k(jax.nn.softmax(x.astype(f32) @ p["router"].astype(f32), -1), TOP)
    weight = jnp.sum(
        jax.nn.one_hot(chosen, E) * (share / share.sum(-1, keepdims=True))[..., None], 1
    )
    a, b = jnp.split(jnp.einsum("nd,edf->enf", x, p["up"]), 2, -1)
    y = jnp.einsum("enf,efd,ne->nd", jax.nn.silu(a) * b, p["down"], weight.astype(bf))
    a, b = jnp.split(x @ p["shared_up"], 2, -1)
    return con(y + (jax.nn.silu(a) * b) @ p["shared_down"], "data", None)


def hybrid_decode_step(p, held):
    x = con(p["embed"][held["word"]], "data", None)
    at = held["length"]

    def delta(x, c):
        p, s, past = c
        h = norm(x, p["norms"][0])
        seen = jnp.concatenate([past, (h @ p["qkv"])[:, None]], 1)
        q, k, v = jnp.split(jax.nn.silu(jnp.einsum("nwc,wc->nc", seen, p["conv"])), 3, -1)
        head = lambda x: con(x.reshape(N, H, HD), "data", "expert", None).astype(f32)
        q, k, v = unit(head(q)) * HD**-0.5, unit(head(k)), head(v)
        b, a = jnp.split(h.astype(f32) @ p["gates"].astype(f32), 2, -1)
        s = s * jnp.exp(-jnp.exp(p["speed"].astype(f32)) * jax.nn.softplus(a))[..., None, None]
        wrong = (v - jnp.einsum("nhd,nhde->nhe", k, s)) * jax.nn.sigmoid(b)[..., None]
        s = s + k[..., None] * wrong[..., None, :]
        y = unit(jnp.einsum("nhd,nhde->nhe", q, s)) * jax.nn.silu(head(h @ p["z"]))
        x = con(x + y.reshape(N, H * HD).astype(bf) @ p["out"], "data", None)
        return x + dense_experts(norm(x, p["norms"][1]), p), (s, seen[:, 1:])

    def block(x, c):
        d, f, s, past, ck, cv = c
        x, (s, past) = lax.scan(delta, x, (d, s, past))
        h = norm(x, f["norms"][0])
        q, k, v, g = jnp.split(
            con((h @ f["qkvg"]).reshape(N, H, 4 * HD), "data", "expert", None), 4, -1
        )
        q = turned(unit(q.astype(f32)), at.astype(f32))
        k = turned(unit(k.astype(f32)), at.astype(f32))
        put = jax.vmap(lambda c, n, i: lax.dynamic_update_slice_in_dim(c, n[None], i, 0))
        ck, cv = put(ck, k, at), put(cv, v, at)
        z = jnp.einsum("nhd,nthd->nht", q, ck, preferred_element_type=f32) * HD**0.5
        z = jnp.where((jnp.arange(LONG) <= at[:, None])[:, None], z, -1e30)
        y = jnp.einsum("nht,nthd->nhd", jax.nn.softmax(z, -1).astype(bf), cv) * jax.nn.sigmoid(g)
        x = con(x + y.reshape(N, H * HD) @ f["out"], "data", None)
        return x + dense_experts(norm(x, f["norms"][1]), f), (s, past, ck, cv)

    x, (s, past, k, v) = lax.scan(
        block, x, (p["delta"], p["full"], held["s"], held["past"], held["k"], held["v"])
    )
    z = con(norm(x, p["last"]) @ p["embed"].T, "data", "expert").astype(f32)
    best, which = lax.top_k(z, 64)
    kept = jnp.cumsum(jax.nn.softmax(best / 0.7, -1), -1) - jax.nn.softmax(best / 0.7, -1) < 0.9
    key, noise = jax.random.split(jax.random.wrap_key_data(held["key"]))
    drawn = jax.random.categorical(noise, jnp.where(kept, best / 0.7, -jnp.inf), -1)
    word = jnp.take_along_axis(which, drawn[:, None], 1)[:, 0]
    new = dict(s=s, past=past, k=k, v=v, length=at + 1, word=word, key=jax.random.key_data(key))
    return new, word


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        c = jax.jit(hybrid_train_step, donate_argnums=0).trace(state, batch)
        c.lower(lowering_platforms=("cuda",)).compile()
        c = jax.jit(hybrid_decode_step, donate_argnums=1).trace(flat, held)
        c.lower(lowering_platforms=("cuda",)).compile()
