"""A training step and a search of a transducer: chunks of frames, an LSTM over words, a loss over the lattice of both.

Ahead of time for 2x4 H100: mesh fsdp 4 x model 2. Filter banks masked in time and frequency, two strided convolutions,
blocks of attention in chunks with a left context (relative positions by a table), layers in a scan with remat; a joint
net over frames and words, its loss by a scan over diagonals of the lattice in log space, a second loss
by a small head, Adam with a warm-up by roots and clipping; the search takes frames one by one in a while loop, the LSTM
moves only for words that are no blanks.
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
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("fsdp", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# utterances, frames, banks, words, layers, width, heads, hidden, LSTM, joint, vocabulary, frames of a chunk, of its left
B, T, N, U, L, D, H, F, R, J, V, CH, LEFT = 32, 512, 80, 48, 4, 512, 8, 2048, 640, 640, 1024, 16, 64
Q = T // 4


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params = dict(
    first=S((3, 3, 1, 64), f32, None, None, None, "model"),
    second=S((3, 3, 64, 64), f32, None, None, "fsdp", "model"),
    into=S((64 * (N // 4), D), f32, "fsdp", "model"),
    qkv=S((L, D, 3, H, D // H), f32, None, "fsdp", None, "model"),
    out=S((L, H, D // H, D), f32, None, "model", None, "fsdp"),
    near=S((L, H, CH + LEFT + CH), f32, None, "model"),
    up=S((L, D, F), f32, None, "fsdp", "model"),
    down=S((L, F, D), f32, None, "model", "fsdp"),
    norms=S((L, 2, D), f32),
    words=S((V, R), f32, "model", "fsdp"),
    cell=S((2, R, 4 * R), f32, None, "fsdp", "model"),
    bias=S((4 * R,), f32, "model"),
    frames_in=S((D, J), f32, "fsdp", "model"),
    words_in=S((R, J), f32, "fsdp", "model"),
    head=S((J, V), f32, "fsdp", "model"),
    simple=S((D, V), f32, "fsdp", "model"),
)
state = dict(params=params, m=params, v=params, step=S((), i32), key=S((2,), jnp.uint32))
batch = dict(
    banks=S((B, T, N), f32, "fsdp"),
    frames=S((B,), i32, "fsdp"),
    words=S((B, U), i32, "fsdp"),
    count=S((B,), i32, "fsdp"),
)


def norm(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * scale).astype(x.dtype)


def masked(x, key):
    kt, kf = jax.random.split(key)
    for axis, size, k in ((1, 60, kt), (2, 20, kf)):
        start, width = (jax.random.uniform(k, (2, B, 2)) * size).astype(i32)
        start = start * (x.shape[axis] // size)
        at = jnp.arange(x.shape[axis])
        hidden = ((at >= start[..., None]) & (at < (start + width)[..., None])).any(1)
        x = jnp.where(jnp.expand_dims(hidden, 3 - axis), 0.0, x)
    return x


def encode(p, banks):
    mean = banks.mean(1, keepdims=True)
    x = ((banks - mean) * lax.rsqrt(banks.var(1, keepdims=True) + 1e-5)).astype(bf)[..., None]
    for name in ("first", "second"):
        x = lax.conv_general_dilated(
            x, p[name].astype(bf), (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(x)
    x = con(x.reshape(B, Q, -1) @ p["into"].astype(bf), "fsdp", None, None)
    chunk = jnp.arange(Q) // CH
    ahead = jnp.arange(Q)[None] - jnp.arange(Q)[:, None]
    seen = (chunk[None] <= chunk[:, None]) & (ahead > -LEFT)
    place = jnp.clip(ahead + LEFT, 0, LEFT + 2 * CH - 1)

    def block(x, w):
        q, k, v = jnp.moveaxis(
            jnp.einsum("btd,dchk->cbhtk", norm(x, w["norms"][0]), w["qkv"].astype(bf)), 0, 0
        )
        s = jnp.einsum("bhtk,bhsk->bhts", q, k).astype(f32) * (D // H) ** -0.5
        s = jnp.where(seen, s + w["near"][:, place], -1e9)
        o = jnp.einsum("bhts,bhsk->bthk", jax.nn.softmax(s, -1).astype(bf), v)
        x = con(x + jnp.einsum("bthk,hkd->btd", o, w["out"].astype(bf)), "fsdp", None, None)
        y = jax.nn.silu(norm(x, w["norms"][1]) @ w["up"].astype(bf)) @ w["down"].astype(bf)
        return con(x + y, "fsdp", None, None), None

    layers = {n: p[n] for n in ("qkv", "out", "near", "up", "down", "norms")}
    return lax.scan(jax.checkpoint(block), x, layers)[0]


def lstm(p, hc, x):
    h, c = hc
    z = x @ p["cell"][0].astype(bf) + h @ p["cell"][1].astype(bf) + p["bias"].astype(bf)
    i, f, g, o = jnp.split(z.astype(f32), 4, -1)
    c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return (jax.nn.sigmoid(o) * jnp.tanh(c)).astype(bf), c


def predict(p, words):
    x = p["words"].astype(bf)[jnp.pad(words, ((0, 0), (1, 0)))]

    def one(hc, e):
        hc = lstm(p, hc, e)
        return hc, hc[0]

    start = jnp.zeros((B, R), bf), jnp.zeros((B, R), f32)
    return jnp.moveaxis(lax.scan(one, start, jnp.moveaxis(x, 1, 0))[1], 0, 1)


def join(p, x, y):
    return jnp.tanh(x @ p["frames_in"].astype(bf) + y @ p["words_in"].astype(bf)) @ p[
        "head"
    ].astype(bf)


def lattice(blank, word, frames, count):
    """The negative log of the sum over all paths, by diagonals, from log-scores [B, Q, U + 1] of both moves."""
    u = jnp.arange(U + 1)
    at = jnp.arange(Q + U)[:, None] - u
    fits = (at >= 0) & (at < Q)
    by_diagonal = lambda x: jnp.where(
        fits, jnp.moveaxis(x, 0, 2)[jnp.clip(at, 0, Q - 1), u].transpose(2, 0, 1), -1e30
    )
    blank, word = by_diagonal(blank), by_diagonal(word)

    def diagonal(alpha, now):
        stay, move = alpha + now[0], alpha + now[1]
        alpha = jnp.logaddexp(stay, jnp.pad(move[:, :-1], ((0, 0), (1, 0)), constant_values=-1e30))
        return alpha, stay

    start = jnp.where(u == 0, 0.0, -1e30) * jnp.ones((B, 1))
    _, sums = lax.scan(diagonal, start, (jnp.moveaxis(blank, 1, 0), jnp.moveaxis(word, 1, 0)))
    return -sums[frames // 4 - 1 + count, jnp.arange(B), count]


def loss(p, batch, key):
    x = encode(p, masked(batch["banks"], key))
    y = predict(p, batch["words"])
    z = con(join(p, x[:, :, None], y[:, None]), "fsdp", None, None, "model").astype(f32)
    total = jax.nn.logsumexp(z, -1)
    blank = z[..., 0] - total
    where = jnp.broadcast_to(batch["words"][:, None, :, None], (B, Q, U, 1))
    word = jnp.take_along_axis(z[:, :, :-1], where, -1)[..., 0] - total[:, :, :-1]
    there = (jnp.arange(U) < batch["count"][:, None])[:, None]
    path = lattice(
        blank,
        jnp.pad(jnp.where(there, word, -1e30), ((0, 0), (0, 0), (0, 1))),
        batch["frames"],
        batch["count"],
    )
    small = jax.nn.log_softmax((x @ p["simple"].astype(bf)).astype(f32).max(1))
    bag = jax.nn.one_hot(batch["words"], V).max(1)
    return jnp.mean(path / batch["count"]) - 0.1 * jnp.mean(jnp.sum(small * bag, -1))


def transducer_step(state, batch):
    key, mine = jax.random.split(jax.random.wrap_key_data(state["key"]))
    value, g = jax.value_and_grad(loss)(state["params"], batch, mine)
    size = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
    step = state["step"] + 1
    t = step.astype(f32)
    rate = 5.0 * D**-0.5 * jnp.minimum(t**-0.5, t * 10000.0**-1.5)
    rate = rate * jnp.sqrt(1 - 0.98**t) / (1 - 0.9**t)
    g = jax.tree.map(lambda x: x * jnp.minimum(1.0, 5.0 / size), g)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, state["m"], g)
    v = jax.tree.map(lambda a, b: 0.98 * a + 0.02 * b * b, state["v"], g)
    new = jax.tree.map(
        lambda w, a, b: w - rate * a / (jnp.sqrt(b) + 1e-9),
        state["params"],
        m,
        v,
    )
    return dict(params=new, m=m, v=v, step=step, key=jax.random.key_data(key)), (value, size)


def transducer_search(p, banks, frames):
    x = encode(p, banks)

    def one(held):
        at, said, words, (h, c), out = held
        z = join(p, jnp.take_along_axis(x, at[:, None, None], 1)[:, 0], h).astype(f32)
        word = jnp.argmax(z, -1)
        live = at < frames // 4
        says = live & (word > 0) & (said < 3)
        full = jnp.minimum(words, U - 1)
        out = out.at[jnp.arange(B), full].set(jnp.where(says, word, out[jnp.arange(B), full]))
        h2, c2 = lstm(p, (h, c), p["words"].astype(bf)[word])
        h, c = jnp.where(says[:, None], h2, h), jnp.where(says[:, None], c2, c)
        at = jnp.minimum(at + (live & ~says), Q - 1)
        return at, jnp.where(says, said + 1, 0), words + says, (h, c), out

    start = (jnp.zeros(B, i32), jnp.zeros(B, i32), jnp.zeros(B, i32))
    h, c = lstm(p, (jnp.zeros((B, R), bf), jnp.zeros((B, R), f32)), jnp.zeros((B, R), bf))
    held = (*start, (h, c), jnp.zeros((B, U), i32))
    held = lax.while_loop(lambda s: (s[0] < jnp.minimum(frames // 4, Q - 1)).any(), one, held)
    return held[4], held[2]


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = jax.jit(transducer_step, donate_argnums=0).trace(state, batch)
        print(len(low.lower(lowering_platforms=("cuda",)).compile().as_text()))
        low = jax.jit(transducer_search).trace(params, batch["banks"], batch["frames"])
        print(len(low.lower(lowering_platforms=("cuda",)).compile().as_text()))
