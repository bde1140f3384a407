"""A training step of a diffusion transformer on 4 x 2 H100, compiled without a device.

usage: TARGET=FOLDER python program.py    the dump goes to FOLDER
"""

import os

os.environ["XLA_FLAGS"] = (
    f"--xla_dump_to={os.environ['TARGET']} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 core_count: 132 fpus_per_core: 128
  shared_memory_per_block: 49152 shared_memory_per_core: 233472 threads_per_core_limit: 2048
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 84929347584 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 } registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
BATCH, SIDE, CHANNELS, PATCH = 32, 32, 4, 4
DEPTH, WIDTH, HEADS, HIDDEN = 4, 256, 8, 1024
CLASSES, FREQUENCIES, STEPS = 10, 128, 1000
TOKENS, HEAD = (SIDE // PATCH) ** 2, WIDTH // HEADS

SHAPES = {
    "patch": ((PATCH, PATCH, CHANNELS, WIDTH), P(None, None, None, "model")),
    "position": ((TOKENS, WIDTH), P()),
    "time_in": ((FREQUENCIES, WIDTH), P(None, "model")),
    "time_out": ((WIDTH, WIDTH), P("model", None)),
    "label": ((CLASSES + 1, WIDTH), P(None, "model")),
    "last_mod": ((WIDTH, 2 * WIDTH), P(None, "model")),
    "last": ((WIDTH, PATCH * PATCH * CHANNELS), P("model", None)),
    "blocks": {
        "mod": ((DEPTH, WIDTH, 6, WIDTH), P(None, None, None, "model")),
        "mod_bias": ((DEPTH, 6, WIDTH), P(None, None, "model")),
        "qkv": ((DEPTH, WIDTH, 3, HEADS, HEAD), P(None, None, None, "model", None)),
        "out": ((DEPTH, HEADS, HEAD, WIDTH), P(None, "model", None, None)),
        "up": ((DEPTH, WIDTH, HIDDEN), P(None, None, "model")),
        "up_bias": ((DEPTH, HIDDEN), P(None, "model")),
        "down": ((DEPTH, HIDDEN, WIDTH), P(None, "model", None)),
        "down_bias": ((DEPTH, WIDTH), P()),
    },
}


def half(x):
    return x.astype(jnp.bfloat16)


def norm(x):
    x = x.astype(jnp.float32)
    x -= x.mean(-1, keepdims=True)
    return x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6)


def modulate(x, shift, scale):
    return half(norm(x) * (1 + scale[:, None]) + shift[:, None])


def time_embedding(params, t):
    rates = jnp.exp(-jnp.log(10000.0) * jnp.arange(FREQUENCIES // 2) / (FREQUENCIES // 2))
    angles = t[:, None] * rates
    waves = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1)
    return jax.nn.silu(waves @ params["time_in"]) @ params["time_out"]


@jax.checkpoint
def block(x, layer, condition):
    mod = jnp.einsum("bd,dse->sbe", condition, layer["mod"]) + layer["mod_bias"][:, None]
    shift1, scale1, gate1, shift2, scale2, gate2 = mod
    h = modulate(x, shift1, scale1)
    q, k, v = jnp.moveaxis(jnp.einsum("btd,dshk->btshk", h, half(layer["qkv"])), 2, 0)
    scores = jnp.einsum("bqhk,bshk->bhqs", q, k).astype(jnp.float32) * HEAD**-0.5
    mixed = jnp.einsum("bhqs,bshk->bqhk", half(jax.nn.softmax(scores)), v)
    mixed = jnp.einsum("bqhk,hkd->bqd", mixed, half(layer["out"]))
    x = half(x + gate1[:, None] * mixed)
    h = modulate(x, shift2, scale2)
    h = jax.nn.gelu(h @ half(layer["up"]) + half(layer["up_bias"]))
    h = h @ half(layer["down"]) + half(layer["down_bias"])
    return half(x + gate2[:, None] * h)


def model(params, image, t, label):
    x = lax.conv_general_dilated(
        half(image),
        half(params["patch"]),
        (PATCH, PATCH),
        "VALID",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    x = half(x.reshape(-1, TOKENS, WIDTH) + params["position"])
    condition = jax.nn.silu(time_embedding(params, t) + params["label"][label])
    x, _ = lax.scan(lambda c, layer: (block(c, layer, condition), None), x, params["blocks"])
    shift, scale = jnp.split(condition @ params["last_mod"], 2, -1)
    y = modulate(x, shift, scale) @ half(params["last"])
    side = SIDE // PATCH
    y = y.reshape(-1, side, side, PATCH, PATCH, CHANNELS)
    return y.transpose(0, 1, 3, 2, 4, 5).reshape(-1, SIDE, SIDE, CHANNELS).astype(jnp.float32)


def loss(params, image, label, key):
    draw_t, draw_noise, draw_drop = jax.random.split(key, 3)
    t = jax.random.randint(draw_t, (BATCH,), 0, STEPS)
    noise = jax.random.normal(draw_noise, image.shape)
    kept = jnp.cos(0.5 * jnp.pi * (t / STEPS))[:, None, None, None]
    noisy = kept * image + jnp.sqrt(1 - kept * kept) * noise
    label = jnp.where(jax.random.bernoulli(draw_drop, 0.1, (BATCH,)), CLASSES, label)
    guess = model(params, noisy, t.astype(jnp.float32), label)
    return jnp.square(guess - noise).mean()


def dit_train_step(state, image, label, seed):
    count = state["count"] + 1
    key = jax.random.fold_in(jax.random.key(seed), count)
    value, grads = jax.value_and_grad(loss)(state["params"], image, label, key)
    total = jnp.sqrt(sum(jnp.sum(jnp.square(g)) for g in jax.tree.leaves(grads)))
    clip = jnp.minimum(1.0, 1.0 / (total + 1e-6))
    rate = 3e-4 * jnp.minimum(1.0, count / 1000)

    def update(p, g, m, v, e):
        g *= clip
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        step = (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)
        p -= rate * (step + 0.01 * p)
        return p, m, v, 0.9999 * e + 0.0001 * p

    names = ("params", "mean", "variance", "average")
    trees = state["params"], grads, state["mean"], state["variance"], state["average"]
    new = jax.tree.map(update, *trees)
    outer = jax.tree.structure(state["params"])
    new = jax.tree.transpose(outer, jax.tree.structure((0,) * len(names)), new)
    return dict(zip(names, new, strict=True), count=count), {"loss": value, "norm": total}


def main():
    devices = topologies.get_topology_desc(
        platform="cuda", target_config=H100, topology="1x1x8"
    ).devices
    mesh = Mesh(np.array(devices).reshape(4, 2), ("data", "model"))

    def array(shape, spec, dtype="float32"):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))

    def leaf(node):
        return isinstance(node, tuple)

    params = jax.tree.map(lambda node: array(*node), SHAPES, is_leaf=leaf)
    state = dict.fromkeys(("params", "mean", "variance", "average"), params)
    state["count"] = array((), P(), "int32")
    image = array((BATCH, SIDE, SIDE, CHANNELS), P("data"))
    label = array((BATCH,), P("data"), "int32")
    step = jax.jit(dit_train_step, donate_argnums=0)
    compiled = step.lower(state, image, label, array((), P(), "uint32")).compile()
    print(compiled.memory_analysis())


if __name__ == "__main__":
    main()
