"""A training step and the use of a one-stage detector: a ResNet with batch norm, a pyramid, focal loss, suppression.

Ahead of time for four B200: mesh data 2 x model 2. Bottlenecks with batch norm over the whole batch and running moments,
top-down features of three levels, heads shared by levels, anchors matched to boxes by overlap, sigmoid focal loss and
overlap loss, SGD with momentum and a cosine; the use takes the best thousand scores and suppresses overlaps in a loop.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

B200 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 148 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 8000000000000 l2_cache_size: 132644864 clock_rate_ghz: 1.965 device_memory_size: 191502155776
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 10 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA B200"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=B200, topology="1x1x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("data", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# images, their side, boxes of an image, classes, channels of the pyramid
B, SIDE, N, C, K = 16, 256, 16, 80, 128
STAGES = ((64, 256), (128, 512), (256, 1024), (512, 2048))
SHAPES = ("NHWC", "HWIO", "NHWC")


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params, moments = {}, {}


def layer(name, size, inside, outside, has_norm=True):
    params[name] = dict(w=S((size, size, inside, outside), f32, None, None, None, "model"))
    if has_norm:
        params[name] |= dict(scale=S((outside,), f32), shift=S((outside,), f32))
        moments[name] = dict(mean=S((outside,), f32), var=S((outside,), f32))
    else:
        params[name] |= dict(bias=S((outside,), f32))


layer("stem", 7, 3, 64)
width = 64
for number, (small, large) in enumerate(STAGES):
    layer(f"{number}a", 1, width, small)
    layer(f"{number}b", 3, small, small)
    layer(f"{number}c", 1, small, large)
    layer(f"{number}s", 1, width, large)
    width = large
for number, inside in ((1, 512), (2, 1024), (3, 2048)):
    layer(f"side{number}", 1, inside, K, has_norm=False)
    layer(f"smooth{number}", 3, K, K, has_norm=False)
for head, outside in (("kind", C), ("box", 4)):
    layer(f"{head}1", 3, K, K, has_norm=False)
    layer(f"{head}2", 3, K, outside, has_norm=False)
state = dict(params=params, speed=params, moments=moments, step=S((), i32))
batch = dict(
    image=S((B, SIDE, SIDE, 3), f32, "data"),
    box=S((B, N, 4), f32, "data"),
    kind=S((B, N), i32, "data"),
    count=S((B,), i32, "data"),
)


def conv(x, w, stride=1):
    return lax.conv_general_dilated(
        x, w.astype(bf), (stride, stride), "SAME", dimension_numbers=SHAPES
    )


def features(p, moments, x, train):
    new = {}

    def normed(name, x, stride=1, act=True):
        y = con(conv(x, p[name]["w"], stride), "data", None, None, "model").astype(f32)
        old = moments[name]
        if train:
            mean, var = y.mean((0, 1, 2)), y.var((0, 1, 2))
            new[name] = dict(mean=0.9 * old["mean"] + 0.1 * mean, var=0.9 * old["var"] + 0.1 * var)
        else:
            mean, var = old["mean"], old["var"]
        y = (y - mean) * lax.rsqrt(var + 1e-5) * p[name]["scale"] + p[name]["shift"]
        return (jax.nn.relu(y) if act else y).astype(bf)

    x = normed("stem", x.astype(bf), 2)
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    levels = []
    for number in range(4):
        stride = 1 if number == 0 else 2
        short = normed(f"{number}s", x, stride, act=False)
        y = normed(f"{number}c", normed(f"{number}b", normed(f"{number}a", x), stride), act=False)
        x = jax.nn.relu(short + y)
        levels.append(x)
    up, out = None, []
    for number in (3, 2, 1):
        side = conv(levels[number], p[f"side{number}"]["w"]) + p[f"side{number}"]["bias"].astype(bf)
        if up is not None:
            side = side + jnp.repeat(jnp.repeat(up, 2, 1), 2, 2)
        up = side
        out.append(conv(side, p[f"smooth{number}"]["w"]) + p[f"smooth{number}"]["bias"].astype(bf))
    return out[::-1], new


def heads(p, levels):
    def head(name, x):
        y = jax.nn.relu(conv(x, p[name + "1"]["w"]) + p[name + "1"]["bias"].astype(bf))
        y = conv(y, p[name + "2"]["w"]).astype(f32) + p[name + "2"]["bias"]
        return y.reshape(B, -1, y.shape[-1])

    kinds = jnp.concatenate([head("kind", x) for x in levels], 1)
    return kinds, jnp.concatenate([head("box", x) for x in levels], 1)


def anchors():
    every = []
    for stride in (8, 16, 32):
        at = (jnp.arange(SIDE // stride) + 0.5) * stride
        y, x = jnp.meshgrid(at, at, indexing="ij")
        mid = jnp.stack([y, x], -1).reshape(-1, 2)
        every.append(jnp.concatenate([mid - 2 * stride, mid + 2 * stride], -1))
    return jnp.concatenate(every)


def overlap(a, b):
    low, high = jnp.maximum(a[..., :2], b[..., :2]), jnp.minimum(a[..., 2:], b[..., 2:])
    both = jnp.prod(jnp.maximum(high - low, 0), -1)
    area = lambda x: jnp.prod(jnp.maximum(x[..., 2:] - x[..., :2], 0), -1)
    return both / (area(a) + area(b) - both + 1e-6)


def decode(a, moved):
    mid, size = (a[:, :2] + a[:, 2:]) / 2, a[:, 2:] - a[:, :2]
    mid = mid + moved[..., :2] * size
    half = jnp.exp(jnp.clip(moved[..., 2:], -4, 4)) * size / 2
    return jnp.concatenate([mid - half, mid + half], -1)


def loss(p, moments, batch):
    levels, new = features(p, moments, batch["image"], True)
    kinds, moved = heads(p, levels)
    a = anchors()
    shared = overlap(a[None, :, None], batch["box"][:, None])
    shared = jnp.where(jnp.arange(N) < batch["count"][:, None, None], shared, -1.0)
    best, which = shared.max(-1), shared.argmax(-1)
    forced = jax.vmap(lambda f, i: f.at[i].set(True, mode="drop"))(
        jnp.zeros(best.shape, bool),
        jnp.where(jnp.arange(N) < batch["count"][:, None], shared.argmax(1), a.shape[0]),
    )
    hit, ignored = (best >= 0.5) | forced, (best >= 0.4) & (best < 0.5) & ~forced
    kind = jnp.take_along_axis(batch["kind"], which, 1)
    target = jax.nn.one_hot(jnp.where(hit, kind, -1), C)
    chance = jax.nn.sigmoid(kinds)
    cross = jax.nn.softplus(kinds) - kinds * target
    focus = jnp.where(target > 0, 0.25 * (1 - chance) ** 2, 0.75 * chance**2)
    count = jnp.maximum(hit.sum(), 1).astype(f32)
    sort = jnp.sum(cross * focus * ~ignored[..., None]) / count
    box = jnp.take_along_axis(batch["box"], which[..., None], 1)
    place = jnp.sum(jnp.where(hit, 1 - overlap(decode(a, moved), box), 0.0)) / count
    return sort + 2 * place, (new, sort, place)


def detector_step(state, batch):
    (_, (moments, *parts)), grads = jax.value_and_grad(loss, has_aux=True)(
        state["params"], state["moments"], batch
    )
    rate = 0.02 * 0.5 * (1 + jnp.cos(jnp.pi * state["step"].astype(f32) / 90000))
    decay = lambda p, g: g + 1e-4 * p if p.ndim > 1 else g
    speed = jax.tree.map(
        lambda s, g, p: 0.9 * s + decay(p, g), state["speed"], grads, state["params"]
    )
    p = jax.tree.map(lambda p, s: p - rate * s, state["params"], speed)
    return dict(params=p, speed=speed, moments=moments, step=state["step"] + 1), parts


def detect(p, moments, image):
    kinds, moved = heads(p, features(p, moments, image, False)[0])
    boxes = decode(anchors(), moved)
    score, flat = lax.top_k(jax.nn.sigmoid(kinds).reshape(B, -1), 1000)
    where, kind = flat // C, flat % C
    box = jnp.take_along_axis(boxes, where[..., None], 1)
    apart = box + kind[..., None] * (2.0 * SIDE)
    over = overlap(apart[:, :, None], apart[:, None]) > 0.5

    def one(i, kept):
        mine = lax.dynamic_index_in_dim(over, i, 1, keepdims=False)
        lower = jnp.arange(1000) > i
        return kept & ~(mine & lower & kept[:, i][:, None])

    kept = lax.fori_loop(0, 1000, one, score > 0.05)
    final, order = lax.top_k(jnp.where(kept, score, 0.0), 100)
    return (
        jnp.take_along_axis(box, order[..., None], 1),
        jnp.take_along_axis(kind, order, 1),
        final,
    )


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = jax.jit(detector_step, donate_argnums=0).trace(state, batch)
        print(len(low.lower(lowering_platforms=("cuda",)).compile().as_text()))
        low = jax.jit(detect).trace(params, moments, batch["image"])
        print(len(low.lower(lowering_platforms=("cuda",)).compile().as_text()))
