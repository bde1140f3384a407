"""A training step of a point-cloud transformer: farthest points in a while loop, nearest neighbors, vector attention.

Ahead of time for 2x4 H100: mesh cloud 4 x width 2. Points are thinned once, features go back by inverse distances,
neighbors by top-k, groups by gathers, running means of batch norm, Lovasz loss by sorting, SGD with Nesterov momentum.
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
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("cloud", "width"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


B, N, K, CLASSES = 16, 2048, 16, 13
C = (64, 128)


def block(c):
    return dict(
        qkv=S((c, 3, c), f32, None, None, "width"),
        place=[S((3, c), f32), S((c, c), f32, None, "width")],
        gate=[S((c, c), f32, "width"), S((c, c), f32, None, "width")],
        out=S((c, c), f32, "width"),
        scale=S((2, c), f32),
        shift=S((2, c), f32),
    )


params = dict(
    stem=S((6, C[0]), f32),
    blocks=[block(c) for c in C],
    down=[S((a + 3, b), f32, None, "width") for a, b in zip(C, C[1:])],
    up=[S((b + a, a), f32, None, "width") for a, b in zip(C, C[1:])],
    head=S((C[0], CLASSES), f32),
)
running = [dict(mean=S((2, c), f32), spread=S((2, c), f32)) for c in C]
places, colors = S((B, N, 3), f32, "cloud"), S((B, N, 3), f32, "cloud")
labels, angle = S((B, N), i32, "cloud"), S((B,), f32, "cloud")
step = S((), i32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def farthest(places, count):
    b, n, _ = places.shape

    def body(state):
        chosen, near, last, i = state
        chosen = chosen.at[:, i].set(last)
        here = jnp.take_along_axis(places, last[:, None, None], 1)
        near = jnp.minimum(near, jnp.sum((places - here) ** 2, -1))
        return chosen, near, jnp.argmax(near, -1).astype(i32), i + 1

    start = (jnp.zeros((b, count), i32), jnp.full((b, n), 1e10, f32), jnp.zeros((b,), i32), i32(0))
    return lax.while_loop(lambda s: s[3] < count, body, start)[0]


def nearest(a, b, k):
    """The k points of b that are nearest to each of a."""
    square = jnp.sum(a * a, -1)[:, :, None] - 2 * jnp.einsum("bnc,bmc->bnm", a, b)
    distance, index = lax.top_k(-(square + jnp.sum(b * b, -1)[:, None]), k)
    return -distance, index


group = jax.vmap(lambda x, index: x[index])


def normed(x, scale, shift, old):
    mean = jnp.mean(x.astype(f32), (0, 1))
    spread = jnp.mean(x.astype(f32) ** 2, (0, 1)) - mean**2
    y = (x.astype(f32) - mean) * lax.rsqrt(spread + 1e-5) * scale + shift
    new = [0.9 * a + 0.1 * lax.stop_gradient(b) for a, b in zip(old, (mean, spread))]
    return y.astype(bf), new


def attention(w, old, places, x):
    _, index = nearest(places, places, K)
    h, new0 = normed(x, w["scale"][0], w["shift"][0], (old["mean"][0], old["spread"][0]))
    q, k, v = jnp.moveaxis(jnp.einsum("bnc,cde->bnde", h, w["qkv"].astype(bf)), 2, 0)
    q, k, v = (con(z, "cloud", None, "width") for z in (q, k, v))
    away = places[:, :, None] - group(places, index)
    here = jax.nn.relu(away.astype(bf) @ w["place"][0].astype(bf)) @ w["place"][1].astype(bf)
    a = q[:, :, None] - group(k, index) + here
    a = jax.nn.relu(a @ w["gate"][0].astype(bf)) @ w["gate"][1].astype(bf)
    a = jax.nn.softmax(con(a, "cloud", None, None, "width").astype(f32), 2).astype(bf)
    y = jnp.einsum("bnkc,bnkc->bnc", a, group(v, index) + here)
    y, new1 = normed(y, w["scale"][1], w["shift"][1], (old["mean"][1], old["spread"][1]))
    new = dict(mean=jnp.stack([new0[0], new1[0]]), spread=jnp.stack([new0[1], new1[1]]))
    return x + jax.nn.relu(y) @ w["out"].astype(bf), new


def down(w, places, x, count):
    chosen = farthest(lax.stop_gradient(places), count)
    fewer = group(places, chosen)
    _, index = nearest(fewer, places, K)
    away = (group(places, index) - fewer[:, :, None]).astype(bf)
    y = jnp.concatenate([away, group(x, index)], -1) @ w.astype(bf)
    return fewer, jnp.max(jax.nn.relu(con(y, "cloud", None, None, "width")), 2)


def up(w, fine, coarse, x, y):
    distance, index = nearest(fine, coarse, 3)
    share = 1 / (jnp.maximum(distance, 0) + 1e-8)
    share = (share / jnp.sum(share, -1, keepdims=True)).astype(bf)
    back = jnp.einsum("bnk,bnkc->bnc", share, group(y, index))
    return jax.nn.relu(jnp.concatenate([x, back], -1) @ w.astype(bf))


def lovasz(chance, label):
    wrong = jnp.abs(jax.nn.one_hot(label, CLASSES) - chance)
    order = jnp.argsort(-lax.stop_gradient(wrong), axis=1)
    wrong = jnp.take_along_axis(wrong, order, 1)
    truth = jnp.take_along_axis(jax.nn.one_hot(label, CLASSES), order, 1)
    total = truth.sum(1, keepdims=True)
    shared = total - jnp.cumsum(truth, 1)
    slope = 1 - shared / (total + jnp.cumsum(1 - truth, 1))
    slope = jnp.concatenate([slope[:, :1], slope[:, 1:] - slope[:, :-1]], 1)
    return jnp.sum(wrong * lax.stop_gradient(slope), 1)


def loss(p, old, places, colors, labels):
    x = jnp.concatenate([places, colors], -1).astype(bf) @ p["stem"].astype(bf)
    sets, features, new = [places], [], []
    for level in range(2):
        with jax.named_scope(f"attend{level}"):
            run = jax.checkpoint(attention) if level == 0 else attention
            x, stats = run(p["blocks"][level], old[level], sets[-1], x)
        features.append(x)
        new.append(stats)
        if level < 1:
            with jax.named_scope(f"down{level}"):
                fewer, x = down(p["down"][level], sets[-1], x, N // 4 ** (level + 1))
            sets.append(fewer)
    for level in (0,):
        with jax.named_scope(f"up{level}"):
            x = up(p["up"][level], sets[level], sets[level + 1], features[level], x)
    logits = (x @ p["head"].astype(bf)).astype(f32)
    known = (labels < CLASSES).astype(f32)
    chance = jax.nn.log_softmax(logits)
    with jax.named_scope("loss"):
        picked = jnp.take_along_axis(chance, jnp.minimum(labels, CLASSES - 1)[..., None], -1)[
            ..., 0
        ]
        entropy = -jnp.sum(picked * known) / jnp.maximum(known.sum(), 1)
        over = jnp.mean(lovasz(jnp.exp(chance), labels))
    right = jnp.sum((jnp.argmax(logits, -1) == labels) * known)
    table = jnp.zeros((CLASSES + 1, CLASSES), i32).at[labels, jnp.argmax(logits, -1)].add(1)
    return entropy + over, (new, right, table)


def points_train_step(p, momentum, old, step, places, colors, labels, angle):
    with jax.named_scope("turn"):
        c, s, z = jnp.cos(angle), jnp.sin(angle), jnp.zeros_like(angle)
        turn = jnp.stack([c, -s, z, s, c, z, z, z, z + 1], -1).reshape(B, 3, 3)
        places = jnp.einsum("bnc,bcd->bnd", places, turn)
        places = places - jnp.mean(places, 1, keepdims=True)
        places = places / jnp.max(jnp.linalg.norm(places, axis=-1), 1)[:, None, None]
    (value, (new, right, table)), g = jax.value_and_grad(loss, has_aux=True)(
        p, old, places, colors, labels
    )
    rate = 0.05 * (1 + jnp.cos(jnp.pi * step.astype(f32) / 10000))
    g = jax.tree.map(lambda a, b: a + 1e-4 * b, g, p)
    momentum = jax.tree.map(lambda a, b: 0.9 * a + b, momentum, g)
    p = jax.tree.map(lambda w, a, b: w - rate * (0.9 * a + b), p, momentum, g)
    meet = jnp.diagonal(table[:CLASSES]).astype(f32)
    union = table.sum(0)[:CLASSES] + table.sum(1)[:CLASSES] - meet
    return (
        p,
        momentum,
        new,
        step + 1,
        dict(loss=value, right=right, union=jnp.mean(meet / (union + 1))),
    )


c = (
    jax.jit(points_train_step, donate_argnums=(0, 1, 2, 3))
    .lower(params, params, running, step, places, colors, labels, angle)
    .compile()
)
print(c.memory_analysis())
