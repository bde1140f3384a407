"""A training step of a decoder with long contexts: pieces of a sequence over "context", fp8 products with old scales.

Ahead of time for 2x4 H100: mesh fsdp 2 x context 4. Each device holds two pieces of a sequence, one early and one late
(balanced causal work), keys and values are gathered in a shard_map and read block by block with a running softmax;
products in e4m3 and e5m2 by scales of a history of maxima that is state; rotary stretched by frequency, attention
sinks; AdamW with moments in bfloat16 that are rounded by random bits, a step without effect where a gradient is not finite.
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
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("fsdp", "context"))
bf, f32, i32, e4, e5 = jnp.bfloat16, jnp.float32, jnp.int32, jnp.float8_e4m3fn, jnp.float8_e5m2


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# sequences, length, layers, width, heads, heads of keys, size of a head, hidden, vocabulary, history, block of keys
B, T, L, D, H, K, HD, F, V, HIST, BLOCK = 4, 8192, 4, 1024, 8, 2, 128, 2816, 32000, 16, 512
CP = 4
PIECE = T // (2 * CP)
params = dict(
    embed=S((V, D), f32, ("fsdp", "context")),
    layers=dict(
        q=S((L, D, H * HD), f32, None, "fsdp", "context"),
        kv=S((L, D, 2 * K * HD), f32, None, "fsdp", "context"),
        o=S((L, H * HD, D), f32, None, "context", "fsdp"),
        up=S((L, D, 2 * F), f32, None, "fsdp", "context"),
        down=S((L, F, D), f32, None, "context", "fsdp"),
        sink=S((L, H), f32),
        norms=S((L, 2, D), f32),
    ),
    last=S((D,), f32),
    head=S((D, V), f32, "fsdp", "context"),
)
narrow = jax.tree.map(lambda p: jax.ShapeDtypeStruct(p.shape, bf, sharding=p.sharding), params)
scales = S((L, 5, 3, HIST), f32)
state = dict(
    params=params,
    m=narrow,
    v=narrow,
    scales=scales,
    step=S((), i32),
    skipped=S((), i32),
    key=S((2,), jnp.uint32),
)
batch = dict(
    tokens=S((B, T), i32, "fsdp", "context"),
    targets=S((B, T), i32, "fsdp", "context"),
    documents=S((B, T), i32, "fsdp", "context"),
)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
wide = lambda x: con(x, "fsdp", "context", None)


def rounded(x, amax, dt):
    """x in eight bits by the largest maximum of a history."""
    most = float(jnp.finfo(dt).max)
    scale = jnp.where(jnp.max(amax) > 0, most / jnp.max(amax), 1.0)
    return jnp.clip(x.astype(f32) * scale, -most, most).astype(dt), 1 / scale


@jax.custom_vjp
def product(x, w, history):
    return product_forward(x, w, history)[0]


def product_forward(x, w, history):
    a, sa = rounded(x, history[0], e4)
    b, sb = rounded(w, history[1], e4)
    y = lax.dot_general(a, b, (((2,), (0,)), ((), ())), preferred_element_type=f32) * (sa * sb)
    seen = jnp.stack([jnp.max(jnp.abs(x)).astype(f32), jnp.max(jnp.abs(w)).astype(f32)])
    return y.astype(bf), (a, sa, b, sb, history, seen)


def product_backward(kept, g):
    a, sa, b, sb, history, seen = kept
    c, sc = rounded(g, history[2], e5)
    dx = lax.dot_general(c, b, (((2,), (1,)), ((), ())), preferred_element_type=f32) * (sc * sb)
    dw = lax.dot_general(a, c, (((0, 1), (0, 1)), ((), ())), preferred_element_type=f32) * (sa * sc)
    new = jnp.concatenate([seen, jnp.max(jnp.abs(g)).astype(f32)[None]])
    # the "gradient" of a history is the history that follows it
    return dx.astype(bf), dw, jnp.roll(history, 1, axis=1).at[:, 0].set(new)


product.defvjp(product_forward, product_backward)


def rotary(x, at):
    half = HD // 2
    speed = 1e4 ** (-jnp.arange(half, dtype=f32) / half)
    turns = 2048 * speed / (2 * jnp.pi)
    share = jnp.clip((turns - 1) / 31, 0, 1)
    angle = at[..., None, None].astype(f32) * (speed * share + speed / 4 * (1 - share))
    a, b = jnp.split(x.astype(f32), 2, -1)
    s, c = jnp.sin(angle), jnp.cos(angle)
    return (jnp.concatenate([a * c - b * s, b * c + a * s], -1) * 1.1386).astype(bf)


def places():
    """Positions of what a device holds: piece i and piece 2 CP - 1 - i."""
    i = lax.axis_index("context")
    return jnp.concatenate(
        [i * PIECE + jnp.arange(PIECE), (2 * CP - 1 - i) * PIECE + jnp.arange(PIECE)]
    )


def attend(q, k, v, docs, sink):
    at = places()
    q, k = rotary(q, at[None]), rotary(k, at[None])
    every = lambda x: lax.all_gather(x, "context", axis=1, tiled=True)
    k, v, kat, kdocs = every(k), every(v), every(at[None])[0], every(docs)
    n = T // BLOCK
    blocks = lambda x: jnp.moveaxis(x.reshape(x.shape[0], n, BLOCK, *x.shape[2:]), 1, 0)
    q = q.reshape(*q.shape[:2], K, H // K, HD)

    @jax.checkpoint
    def block(carry, kept):
        most, total, y = carry
        kb, vb, a, d = kept
        s = jnp.einsum("btkgh,bskh->bkgts", q, kb, preferred_element_type=f32) * HD**-0.5
        seen = (at[:, None] >= a[None]) & (docs[:, :, None] == d[:, None])
        s = jnp.where(seen[:, None, None], s, -1e30)
        new = jnp.maximum(most, s.max(-1))
        w = jnp.exp(s - new[..., None])
        old = jnp.exp(most - new)
        y = y * old[..., None] + jnp.einsum(
            "bkgts,bskh->bkgth", w.astype(bf), vb, preferred_element_type=f32
        )
        return (new, total * old + w.sum(-1), y), None

    shape = (q.shape[0], K, H // K, q.shape[1])
    first = jnp.broadcast_to(sink.reshape(K, H // K)[None, :, :, None], shape)
    vary = lambda x: lax.pcast(x, ("fsdp", "context"), to="varying")
    start = (vary(first), vary(jnp.ones(shape, f32)), vary(jnp.zeros((*shape, HD), f32)))
    (_, total, y), _ = lax.scan(
        block, start, (blocks(k), blocks(v), kat.reshape(n, BLOCK), blocks(kdocs))
    )
    y = y / total[..., None]
    return jnp.moveaxis(y, 3, 1).reshape(*q.shape[:2], H * HD).astype(bf)


attention = jax.shard_map(
    attend,
    mesh=mesh,
    in_specs=(
        P("fsdp", "context"),
        P("fsdp", "context"),
        P("fsdp", "context"),
        P("fsdp", "context"),
        P(),
    ),
    out_specs=P("fsdp", "context"),
)


def norm(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5) * scale).astype(bf)


def layer(x, p, history, docs):
    z = norm(x, p["norms"][0])
    q = product(z, p["q"], history[0]).reshape(B, T, H, HD)
    kv = product(z, p["kv"], history[1]).reshape(B, T, 2, K, HD)
    y = attention(q, kv[:, :, 0], kv[:, :, 1], docs, p["sink"])
    x = wide(x + product(y, p["o"], history[2]))
    gate, up = jnp.split(product(norm(x, p["norms"][1]), p["up"], history[3]), 2, -1)
    return wide(x + product(jax.nn.silu(gate) * up, p["down"], history[4]))


def loss(params, scales, g):
    x = wide(params["embed"].astype(bf)[g["tokens"]])
    step = jax.checkpoint(lambda x, c: (layer(x, *c, g["documents"]), None))
    x, _ = lax.scan(step, x, (params["layers"], scales))
    x = norm(x, params["last"])
    z = con(x @ params["head"].astype(bf), "fsdp", "context", None).astype(f32)
    lse = jax.nn.logsumexp(z, -1)
    right = jnp.take_along_axis(z, g["targets"][..., None], -1)[..., 0]
    weight = (g["targets"] > 0).astype(f32)
    return jnp.sum(weight * (lse - right)) / jnp.maximum(jnp.sum(weight), 1)


def context_train_step(state, batch):
    value, (grads, scales) = jax.value_and_grad(loss, (0, 1))(
        state["params"], state["scales"], batch
    )
    size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
    good = jnp.isfinite(size)
    clip = jnp.minimum(1.0, 1.0 / (size + 1e-9))
    step = state["step"] + good.astype(i32)
    t = step.astype(f32)
    rate = 2e-4 * jnp.minimum(t / 1000, lax.rsqrt(jnp.maximum(t, 1000.0) / 1000))
    key, noise = jax.random.split(jax.random.wrap_key_data(state["key"]))
    keys = iter(jax.random.split(noise, 2 * len(jax.tree.leaves(grads))))

    def narrowed(x):
        bits = lax.bitcast_convert_type(x, jnp.uint32)
        bits = bits + (jax.random.bits(next(keys), x.shape) & 0xFFFF)
        return lax.bitcast_convert_type(bits & jnp.uint32(0xFFFF0000), f32).astype(bf)

    def update(p, g, m, v):
        g = clip * jnp.where(good, g, 0)
        wm = 0.9 * m.astype(f32) + 0.1 * g
        wv = 0.95 * v.astype(f32) + 0.05 * g * g
        move = (wm / (1 - 0.9**t)) / (jnp.sqrt(wv / (1 - 0.95**t)) + 1e-8)
        new = p - rate * (move + 0.1 * p * (p.ndim > 1))
        pick = lambda a, b: jnp.where(good, a, b)
        return pick(new, p), pick(narrowed(wm), m), pick(narrowed(wv), v)

    out = jax.tree.map(update, state["params"], grads, state["m"], state["v"])
    p, m, v = jax.tree.transpose(jax.tree.structure(grads), jax.tree.structure((0, 0, 0)), out)
    state = dict(
        params=p,
        m=m,
        v=v,
        scales=jnp.where(good, scales, state["scales"]),
        step=step,
        skipped=state["skipped"] + (~good).astype(i32),
        key=jax.random.key_data(key),
    )
    return state, dict(loss=value, size=size)


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = (
            jax.jit(context_train_step, donate_argnums=0)
            .trace(state, batch)
            .lower(lowering_platforms=("cuda",))
        )
        print("ok", len(low.compile().as_text()))
