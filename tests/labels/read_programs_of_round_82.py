"""A training step of a decoder of local and global layers: micro-batches, a loss in chunks of the vocabulary, AdamW.

Ahead of time for 2x4 H100: mesh data 4 x model 2. Five layers with a sliding window to one without, by their number in
a scan; normalized queries and keys, rotary of two bases, grouped queries, capped scores; the gradients of four
micro-batches are summed by a scan; the loss takes 4 chunks of the vocabulary; AdamW with decay by name and a warm-up.
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
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("data", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# micro-batches, sequences, length, layers, width, heads, heads of keys, size of a head, hidden, vocabulary, window
M, B, T, L, D, H, K, HD, F, V, WINDOW = 4, 16, 1024, 6, 1024, 8, 4, 128, 4096, 32768, 256
CHUNKS = 4
params = dict(
    embed=S((V, D), f32, "model", "data"),
    layers=dict(
        q=S((L, D, H, HD), f32, None, "data", "model"),
        kv=S((L, 2, D, K, HD), f32, None, None, "data", "model"),
        o=S((L, H, HD, D), f32, None, "model", None, "data"),
        gate=S((L, 2, D, F), f32, None, None, "data", "model"),
        down=S((L, F, D), f32, None, "model", "data"),
        norms=S((L, 4, D), f32),
        qnorm=S((L, HD), f32),
        knorm=S((L, HD), f32),
    ),
    last=S((D,), f32),
)
state = dict(params=params, m=params, v=params, step=S((), i32))
batch = dict(
    tokens=S((M, B, T + 1), i32, None, "data"),
    segments=S((M, B, T), i32, None, "data"),
    positions=S((M, B, T), i32, None, "data"),
)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def norm(x, scale):
    y = x.astype(f32)
    y = y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)
    return (y * (1 + scale)).astype(x.dtype)


def rotate(x, positions, base):
    half = x.shape[-1] // 2
    speed = base ** (-jnp.arange(half, dtype=f32) / half)
    angle = positions[..., None, None].astype(f32) * speed
    a, b = jnp.split(x.astype(f32), 2, -1)
    s, c = jnp.sin(angle), jnp.cos(angle)
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1).astype(x.dtype)


def attention(p, x, g, is_global):
    q = jnp.einsum("btd,dhk->bthk", x, p["q"].astype(bf))
    k, v = jnp.einsum("btd,cdhk->cbthk", x, p["kv"].astype(bf))
    base = jnp.where(is_global, 1e6, 1e4)
    q = rotate(norm(q, p["qnorm"]), g["positions"], base) * HD**-0.5
    k = rotate(norm(k, p["knorm"]), g["positions"], base)
    q = q.reshape(*q.shape[:2], K, H // K, HD)
    s = jnp.einsum("btkgh,bskh->bkgts", q, k).astype(f32)
    s = 50.0 * jnp.tanh(s / 50.0)
    at = jnp.arange(T)
    ahead = at[:, None] - at[None]
    seen = (ahead >= 0) & (is_global | (ahead < WINDOW))
    same = g["segments"][:, :, None] == g["segments"][:, None]
    s = jnp.where((seen & same)[:, None, None], s, -2.4e38)
    w = jax.nn.softmax(s, -1).astype(bf)
    y = jnp.einsum("bkgts,bskh->btkgh", w, v).reshape(*x.shape[:2], H, HD)
    return jnp.einsum("bthk,hkd->btd", y, p["o"].astype(bf))


def layer(x, p, g, number):
    is_global = number % 6 == 5
    x = con(x, "data", None, None)
    y = attention(p, norm(x, p["norms"][0]), g, is_global)
    x = x + norm(y, p["norms"][1])
    z = norm(x, p["norms"][2])
    gate, up = jnp.einsum("btd,cdf->cbtf", z, p["gate"].astype(bf))
    y = (jax.nn.gelu(gate) * up) @ p["down"].astype(bf)
    return x + norm(y, p["norms"][3])


def loss(params, g):
    table = params["embed"]
    x = (table[g["tokens"][:, :-1]] * D**0.5).astype(bf)
    step = jax.checkpoint(
        lambda x, c: (layer(x, c[0], g, c[1]), None),
        policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
    )
    x, _ = lax.scan(step, x, (params["layers"], jnp.arange(L)))
    x = norm(x, params["last"])
    y = g["tokens"][:, 1:]
    rows = table.reshape(CHUNKS, V // CHUNKS, D)

    def chunk(carry, c):
        most, total, right = carry
        part, number = c
        z = jnp.einsum("btd,vd->btv", x, con(part, "model", None).astype(bf)).astype(f32)
        z = 30.0 * jnp.tanh(z / 30.0)
        new = jnp.maximum(most, z.max(-1))
        total = total * jnp.exp(most - new) + jnp.exp(z - new[..., None]).sum(-1)
        place = y - number * (V // CHUNKS)
        here = (place >= 0) & (place < V // CHUNKS)
        found = jnp.take_along_axis(z, jnp.clip(place, 0, V // CHUNKS - 1)[..., None], -1)[..., 0]
        return (new, total, right + jnp.where(here, found, 0)), None

    start = (jnp.full(y.shape, -1e30, f32), jnp.zeros(y.shape, f32), jnp.zeros(y.shape, f32))
    (most, total, right), _ = lax.scan(jax.checkpoint(chunk), start, (rows, jnp.arange(CHUNKS)))
    weight = (g["segments"] > 0).astype(f32)
    z = most + jnp.log(total)
    return jnp.sum(weight * (z - right + 1e-4 * z * z)), jnp.sum(weight)


def window_train_step(state, batch):
    def one(carry, g):
        (value, count), grads = jax.value_and_grad(loss, has_aux=True)(state["params"], g)
        return jax.tree.map(jnp.add, carry, (grads, value, count)), None

    zeros = (jax.tree.map(lambda p: jnp.zeros(p.shape, f32), state["params"]), 0.0, 0.0)
    (grads, value, count), _ = lax.scan(one, zeros, batch)
    grads = jax.tree.map(lambda g: g / count, grads)
    size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
    clip = jnp.minimum(1.0, 1.0 / (size + 1e-9))
    step = state["step"] + 1
    t = step.astype(f32)
    rate = 3e-4 * jnp.minimum(t / 2000, 0.5 * (1 + jnp.cos(jnp.pi * jnp.clip(t / 1e5, 0, 1))))

    def update(path, p, g, m, v):
        m = 0.9 * m + 0.1 * clip * g
        v = 0.95 * v + 0.05 * (clip * g) ** 2
        move = (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.95**t)) + 1e-8)
        decay = 0.0 if "norm" in str(path) or "last" in str(path) else 0.1
        return p - rate * (move + decay * p), m, v

    out = jax.tree_util.tree_map_with_path(update, state["params"], grads, state["m"], state["v"])
    p, m, v = jax.tree.transpose(jax.tree.structure(grads), jax.tree.structure((0, 0, 0)), out)
    return dict(params=p, m=m, v=v, step=step), dict(loss=value / count, size=size)


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = (
            jax.jit(window_train_step, donate_argnums=0)
            .trace(state, batch)
            .lower(lowering_platforms=("cuda",))
        )
        print("ok", len(low.compile().as_text()))
