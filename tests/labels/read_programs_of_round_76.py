"""A training step of a long-context hybrid decoder: Mamba-2 mixers between ring attention, schedule-free AdamW.

Ahead of time for 2x4 H100: mesh data 2 x seq 4 under plain jit. Keys turn around a ring by rolls of a sharded axis,
states pass from shard to shard by a product with decays, documents are packed, and the loss is taken in chunks.
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
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84929347584
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("data", "seq"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


L, D, H, KV, K, F, V = 6, 1024, 16, 4, 64, 2816, 32000
I, N, HP, W = 2048, 64, 64, 3  # inner width, states, width of a head of the mixer, filter
B, R, T, C, M = 2, 4, 1024, 512, 4  # rows, shards, tokens of a shard, of a chunk, microbatches
HM = I // HP
layers = dict(
    norm=S((L, 3, D), f32),
    mix_in=S((L, D, 2 * I + 2 * N + HM), f32, None, ("data", "seq")),
    filter=S((L, W, I + 2 * N), f32),
    rate=S((L, HM), f32),
    bias=S((L, HM), f32),
    skip=S((L, HM), f32),
    mix_norm=S((L, I), f32),
    mix_out=S((L, I, D), f32, None, ("data", "seq")),
    q=S((L, D, H, K), f32, None, ("data", "seq")),
    kv=S((L, D, 2, KV, K), f32, None, ("data", "seq")),
    o=S((L, H, K, D), f32, None, None, None, ("data", "seq")),
    up=S((L, D, 2, F), f32, None, ("data", "seq")),
    down=S((L, F, D), f32, None, ("data", "seq")),
)
params = dict(embed=S((V, D), f32, None, ("data", "seq")), layers=layers, norm=S((D,), f32))
tokens = S((M, B, R, T + 1), i32, None, "data", "seq")
docs = S((M, B, R, T), i32, None, "data", "seq")
step = S((), i32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
cut = lambda x: con(x, "data", "seq")


def rms(x, g):
    x32 = x.astype(f32)
    return (x32 * lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-5) * g).astype(bf)


def filtered(x, w):
    """Causal filter along all tokens: the last ones of the shard before come by a roll."""
    tail = jnp.roll(x[:, :, -(W - 1) :], 1, 1)
    tail = jnp.where((jnp.arange(R) > 0)[:, None, None], tail, 0)
    long = jnp.concatenate([tail, x], 2)
    return jax.nn.silu(sum(long[:, :, i : i + T] * w[i].astype(bf) for i in range(W)))


def mixed(x, w, first):
    """Mamba-2: quadratic within chunks, states between them by a scan, between shards by a product with decays."""
    z, u, dt = jnp.split(x @ w["mix_in"].astype(bf), [I, 2 * I + 2 * N], -1)
    u, b, c = jnp.split(filtered(u, w["filter"]), [I, I + N], -1)
    dt = jax.nn.softplus(dt.astype(f32) + w["bias"])
    a = dt * -jnp.exp(w["rate"]) - 1e3 * first[..., None].astype(f32)
    cells = lambda y: y.reshape(B, R, T // C, C, *y.shape[3:])
    u, b, c, dt, a = cells(u.reshape(B, R, T, HM, HP)), cells(b), cells(c), cells(dt), cells(a)
    sums = jnp.cumsum(a, 3)
    gap = sums[:, :, :, :, None] - sums[:, :, :, None]
    decay = jnp.exp(jnp.where(jnp.tri(C, dtype=bool)[..., None], gap, -jnp.inf))
    given = (u * dt[..., None].astype(bf)).astype(bf)
    score = jnp.einsum("brgin,brgjn->brgij", c, b)[..., None] * decay.astype(bf)
    y = jnp.einsum("brgijh,brgjhp->brgihp", score, given)
    left = jnp.exp(sums[:, :, :, -1:] - sums).astype(bf)
    state = jnp.einsum("brgjn,brgjh,brgjhp->brghpn", b, left, given).astype(f32)
    whole = jnp.exp(sums[:, :, :, -1])
    whole, state = jnp.moveaxis(whole, 2, 0), jnp.moveaxis(state, 2, 0)
    after = lambda h, z: (h * z[0][..., None, None] + z[1], h)
    end, local = lax.scan(after, jnp.zeros_like(state[0]), (whole, state))
    fade = jnp.cumsum(sums[:, :, :, -1].sum(2), 1)
    fade = jnp.pad(fade, ((0, 0), (1, 0), (0, 0)))[:, :-1, None] - fade[:, None]
    fade = jnp.exp(jnp.where(jnp.tri(R, k=-1, dtype=bool)[..., None], fade, -jnp.inf))
    before = cut(jnp.einsum("brsh,bshpn->brhpn", fade, end))
    passed = jnp.cumprod(jnp.concatenate([jnp.ones_like(whole[:1]), whole[:-1]]), 0)
    states = jnp.moveaxis(local + passed[..., None, None] * before, 0, 2).astype(bf)
    y = y + jnp.einsum("brgin,brghpn,brgih->brgihp", c, states, jnp.exp(sums).astype(bf))
    y = (y + u * w["skip"].astype(bf)[:, None]).reshape(B, R, T, I)
    return rms(y * jax.nn.silu(z), w["mix_norm"]) @ w["mix_out"].astype(bf)


def rotated(x, place):
    angle = place[..., None, None] * 1e4 ** (-jnp.arange(0, K, 2) / K)
    one, two = jnp.split(x.astype(f32), 2, -1)
    sin, cos = jnp.sin(angle), jnp.cos(angle)
    return jnp.concatenate([one * cos - two * sin, two * cos + one * sin], -1).astype(bf)


def ring(x, w, place, doc):
    q = rotated(jnp.einsum("brtd,dhk->brthk", x, w["q"].astype(bf)), place)
    k, v = jnp.moveaxis(jnp.einsum("brtd,dchk->brtchk", x, w["kv"].astype(bf)), 3, 0)
    q, k = q.reshape(B, R, T, KV, H // KV, K), rotated(k, place)
    at = jnp.broadcast_to(jnp.arange(R * T).reshape(R, T), (B, R, T))

    def turn(carry, _):
        top, total, out, k, v, there, of = carry
        s = jnp.einsum("brigqk,brjgk->brgqij", q, k).astype(f32) * K**-0.5
        seen = (at[..., None] >= there[:, :, None]) & (doc[..., None] == of[:, :, None])
        s = jnp.where(seen[:, :, None, None], 30 * jnp.tanh(s / 30), -1e30)
        new = jnp.maximum(top, s.max(-1))
        share = jnp.exp(s - new[..., None])
        scale = jnp.exp(top - new)
        out = out * scale[..., None] + jnp.einsum("brgqij,brjgk->brgqik", share.astype(bf), v)
        k, v, there, of = (cut(jnp.roll(y, 1, 1)) for y in (k, v, there, of))
        return (new, total * scale + share.sum(-1), out, k, v, there, of), None

    flat = (B, R, KV, H // KV, T)
    start = (
        jnp.full(flat, -1e30, f32),
        jnp.zeros(flat, f32),
        jnp.zeros((*flat, K), f32),
        k,
        v,
        at,
        doc,
    )
    start = jax.tree.map(cut, start)
    (_, total, out, *_), _ = lax.scan(jax.checkpoint(turn), start, length=R)
    out = jnp.moveaxis(out / (total + 1e-9)[..., None], 4, 2).reshape(B, R, T, H, K)
    return jnp.einsum("brthk,hkd->brtd", out.astype(bf), w["o"].astype(bf))


def block(x, w, first, place, doc):
    with jax.named_scope("mixer"):
        x = cut(x + mixed(rms(x, w["norm"][0]), w, first))
    with jax.named_scope("ring"):
        x = cut(x + ring(rms(x, w["norm"][1]), w, place, doc))
    with jax.named_scope("mlp"):
        gate, up = jnp.moveaxis(
            jnp.einsum("brtd,dcf->brtcf", rms(x, w["norm"][2]), w["up"].astype(bf)), 3, 0
        )
        return cut(x + (jax.nn.silu(gate) * up) @ w["down"].astype(bf))


def loss(p, tokens, doc):
    flat = doc.reshape(B, R * T)
    first = jnp.concatenate([jnp.ones((B, 1), bool), flat[:, 1:] != flat[:, :-1]], 1)
    start = lax.cummax(jnp.where(first, jnp.arange(R * T), 0), axis=1)
    place = cut((jnp.arange(R * T) - start).reshape(B, R, T).astype(f32))
    first = cut(first.reshape(B, R, T))
    x = cut(jnp.take(p["embed"].astype(bf), tokens[..., :-1], axis=0))
    layer = jax.checkpoint(lambda x, w: (block(x, w, first, place, doc), None))
    x = rms(lax.scan(layer, x, p["layers"])[0], p["norm"])
    label = jnp.where(doc > 0, tokens[..., 1:], -1)

    def chunk(total, z):
        y, label = z
        s = jnp.einsum("brtd,vd->brtv", y, p["embed"].astype(bf)).astype(f32)
        norm = jax.nn.logsumexp(s, -1)
        hit = jnp.take_along_axis(s, jnp.maximum(label, 0)[..., None], -1)[..., 0]
        live = (label >= 0).astype(f32)
        lost, count, right = total
        lost = lost + jnp.sum((norm - hit + 1e-4 * norm**2) * live)
        right = right + jnp.sum((jnp.argmax(s, -1) == label) * live)
        return (lost, count + jnp.sum(live), right), None

    parts = lambda y: jnp.moveaxis(y.reshape(B, R, 4, T // 4, *y.shape[3:]), 2, 0)
    with jax.named_scope("cross_entropy"):
        zero = jnp.zeros((), f32)
        (lost, count, right), _ = lax.scan(
            jax.checkpoint(chunk), (zero, zero, zero), (parts(x), parts(label))
        )
    return lost / count, right / count


def hybrid_train_step(z, x, v, step, tokens, docs):
    """Schedule-free AdamW: slopes at y between the fast weights z and their average x."""
    y = jax.tree.map(lambda a, b: 0.1 * a + 0.9 * b, z, x)

    def micro(total, row):
        (value, right), g = jax.value_and_grad(loss, has_aux=True)(y, *row)
        return jax.tree.map(jnp.add, total, g), (value, right)

    total, (values, right) = lax.scan(micro, jax.tree.map(jnp.zeros_like, y), (tokens, docs))
    g = jax.tree.map(lambda a: a / M, total)
    norm = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
    scale = jnp.where(norm > 1, 1 / norm, 1.0)
    t = (step + 1).astype(f32)
    rate = 2e-3 * jnp.minimum(t / 2000, 1.0) * jnp.sqrt(1 - 0.95**t)
    v = jax.tree.map(lambda a, b: 0.95 * a + 0.05 * (b * scale) ** 2, v, g)
    z = jax.tree.map(
        lambda a, s, b, w: a - rate * (b * scale / (jnp.sqrt(s) + 1e-8) + 0.1 * w), z, v, g, y
    )
    share = 1 / t
    x = jax.tree.map(lambda a, b: (1 - share) * a + share * b, x, z)
    report = dict(loss=values.mean(), right=right.mean(), norm=norm)
    return z, x, v, step + 1, report


c = (
    jax.jit(hybrid_train_step, donate_argnums=(0, 1, 2, 3))
    .lower(params, params, params, step, tokens, docs)
    .compile()
)
print(c.memory_analysis())
