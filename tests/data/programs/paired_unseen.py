"""Three further programs in variants: pairs on CPU, GPU and TPU of which is known what changed.

`paired_unseen.py PROGRAM VARIANT BACKEND`, with `conv`, `scan` or `attention`, and `cpu`, `gpu` or
`tpu`; the last two are compiled ahead of time. Flags and environments are in make.sh.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

PROGRAM, VARIANT, BACKEND = sys.argv[1:4]
DTYPE = jnp.bfloat16 if VARIANT == "dtype" else jnp.float32
LAYERS = 4 if VARIANT == "layer" else 3
BATCH = 32 if VARIANT == "batch" else 16
H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
  shared_memory_per_core: 233472 threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 84929347584 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 }
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""


def conv_block(x, w):
    y = jax.lax.conv_general_dilated(
        x, w["kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    mean = y.mean((0, 1, 2))
    spread = ((y - mean) ** 2).mean((0, 1, 2))
    y = (y - mean) * jax.lax.rsqrt(spread + 1e-5) * w["gain"] + w["shift"]
    return x + jax.nn.relu(y)


def conv_model(params, images):
    h = images @ params["stem"]
    block = jax.checkpoint(conv_block) if VARIANT == "remat" else conv_block
    for w in params["blocks"]:
        with jax.named_scope("block"):
            h = block(h, w)
    return h.mean((1, 2)) @ params["head"]


CONV = {
    "stem": (3, 16),
    "blocks": [{"kernel": (3, 3, 16, 16), "gain": (16,), "shift": (16,)}] * LAYERS,
    "head": (16, 10),
}


def cell(carry, x, w):
    gates = x @ w["x"] + carry @ w["h"] + w["b"]
    reset, update, new = jnp.split(gates, 3, -1)
    state = jnp.tanh(new) * jax.nn.sigmoid(reset)
    update = jax.nn.sigmoid(update)
    return carry * update + state * (1 - update)


def scan_model(params, steps):
    h = steps @ params["stem"]
    for w in params["cells"]:

        def advance(carry, x, w=w):
            step = jax.checkpoint(cell) if VARIANT == "remat" else cell
            carry = step(carry, x, w)
            return carry, carry

        start = jnp.zeros((h.shape[1], h.shape[2]), h.dtype)
        _, h = jax.lax.scan(advance, start, h)
    return h[-1] @ params["head"]


SCAN = {
    "stem": (24, 32),
    "cells": [{"x": (32, 96), "h": (32, 96), "b": (96,)}] * LAYERS,
    "head": (32, 10),
}


def norm(x, gain):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain


def heads(x):
    return x.reshape(*x.shape[:-1], 4, -1)


def attend(x, w):
    q = heads(x @ w["query"])
    k = heads(x @ w["key"])
    v = heads(x @ w["value"])
    scores = jnp.einsum("bthd,bshd->bhts", q, k) * q.shape[-1] ** -0.5
    seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9))
    return jnp.einsum("bhts,bshd->bthd", weights, v).reshape(x.shape) @ w["out"]


def attention_layer(x, w):
    x = x + attend(norm(x, w["gain"]), w)
    gated = jax.nn.silu(x @ w["gate"]) * (x @ w["up"])
    return x + gated @ w["down"]


def attention_model(params, frames):
    h = frames @ params["stem"]
    layer = jax.checkpoint(attention_layer) if VARIANT == "remat" else attention_layer
    for w in params["layers"]:
        h = layer(h, w)
    return h[:, -1] @ params["head"]


ATTENTION = {
    "stem": (24, 64),
    "layers": [
        {
            **dict.fromkeys(("query", "key", "value", "out"), (64, 64)),
            **dict.fromkeys(("gate", "up"), (64, 128)),
            "down": (128, 64),
            "gain": (64,),
        }
    ]
    * LAYERS,
    "head": (64, 10),
}

MODELS = {
    "conv": (conv_model, CONV, (BATCH, 16, 16, 3), 0),
    "scan": (scan_model, SCAN, (20, BATCH, 24), 1),
    "attention": (attention_model, ATTENTION, (BATCH, 32, 24), 0),
}
MODEL, SHAPES, INPUT, BATCH_AXIS = MODELS[PROGRAM]


def loss(params, inputs, labels):
    logits = jax.nn.log_softmax(MODEL(params, inputs))
    return -jnp.mean(jnp.take_along_axis(logits, labels[:, None], -1))


def fit(params, momentum, inputs, labels):
    value, grads = jax.value_and_grad(loss)(params, inputs, labels)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    return jax.tree.map(lambda p, m: p - 0.01 * m, params, momentum), momentum, value


def devices():
    if BACKEND == "cpu":
        return jax.devices()
    if BACKEND == "gpu":
        size = 4 if VARIANT in ("data", "tensor") else 1
        described = topologies.get_topology_desc(
            platform="cuda", target_config=H100, topology=f"1x1x{size}"
        )
    else:
        described = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
    return described.devices


if VARIANT in ("data", "tensor"):
    mesh = Mesh(np.array(devices()[:4]).reshape(2, 2), ("data", "model"))
    BATCHED = PartitionSpec(*[None] * BATCH_AXIS, "data")
else:
    mesh = Mesh(np.array(devices()[:1]).reshape(1, 1), ("data", "model"))
    BATCHED = PartitionSpec()


def given(shape, dtype, spec):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))


def weight(shape):
    wide = VARIANT == "tensor" and len(shape) > 1 and shape[-1] % 2 == 0
    return given(shape, DTYPE, PartitionSpec(*[None] * (len(shape) - 1), "model" if wide else None))


params = jax.tree.map(weight, SHAPES, is_leaf=lambda value: isinstance(value, tuple))
inputs = given(INPUT, DTYPE, BATCHED)
labels = given((BATCH,), jnp.int32, PartitionSpec("data") if len(BATCHED) else PartitionSpec())
if VARIANT == "other-first":
    first = given((8,), jnp.float32, PartitionSpec())
    jax.jit(lambda x: jnp.cumsum(x) + 1).lower(first).compile()
donate = (0, 1) if VARIANT == "donated" else ()
compiled = jax.jit(fit, donate_argnums=donate).lower(params, params, inputs, labels).compile()
print(compiled.cost_analysis(), compiled.memory_analysis())
