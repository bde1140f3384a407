"""One small transformer train step in variants: pairs of dumps of which is known what changed.

`paired.py VARIANT [TOPOLOGY]`; the flags and the environments are in make.sh. With a topology such
as `v5e:2x2` it is compiled ahead of time for one TPU of it.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "base"
WIDTH, WORDS, LENGTH = 32, 64, 16
LAYERS = 3 if VARIANT == "layer" else 2
BATCH = 8 if VARIANT == "batch" else 4
DTYPE = jnp.bfloat16 if VARIANT == "dtype" else jnp.float32


def attention(h, w):
    q = h @ w["q"]
    k = h @ w["k"]
    v = h @ w["v"]
    return jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8.0) @ v @ w["o"]


def mlp(h, w):
    return jax.nn.gelu(h @ w["up"]) @ w["down"]


def block(h, w):
    h = h + attention(h, w)
    return h + mlp(h, w)


def loss(params, tokens, targets):
    h = params["words"][tokens]
    layer = jax.checkpoint(block) if VARIANT == "remat" else block
    for w in params["layers"]:
        h = layer(h, w)
    logits = jax.nn.log_softmax(h @ params["words"].T)
    return -jnp.mean(jnp.take_along_axis(logits, targets[..., None], -1))


def train_step(params, tokens, targets):
    value, grads = jax.value_and_grad(loss)(params, tokens, targets)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), value


def shapes():
    layer = {
        **dict.fromkeys("qkvo", (WIDTH, WIDTH)),
        "up": (WIDTH, 4 * WIDTH),
        "down": (4 * WIDTH, WIDTH),
    }
    return {"words": (WORDS, WIDTH), "layers": [layer] * LAYERS}


def specs():
    split = VARIANT == "tensor"
    columns, rows = (PartitionSpec(None, "model"), PartitionSpec("model", None))
    layer = {**dict.fromkeys("qkv", columns), "o": rows, "up": columns, "down": rows}
    whole = PartitionSpec()
    return {
        "words": whole,
        "layers": [layer if split else dict.fromkeys(layer, whole)] * LAYERS,
    }


def is_shape(value):
    return isinstance(value, (tuple, PartitionSpec))


if VARIANT in ("data", "tensor") or len(sys.argv) > 2:
    if len(sys.argv) > 2:
        described = topologies.get_topology_desc(platform="tpu", topology_name=sys.argv[2])
        grid = np.array(described.devices[:1]).reshape(1, 1)
    else:
        grid = np.array(jax.devices()).reshape(2, 2)
    mesh = Mesh(grid, ("data", "model"))
    params = jax.tree.map(
        lambda shape, spec: jax.ShapeDtypeStruct(shape, DTYPE, sharding=NamedSharding(mesh, spec)),
        shapes(),
        specs(),
        is_leaf=is_shape,
    )
    tokens = jax.ShapeDtypeStruct(
        (BATCH, LENGTH), jnp.int32, sharding=NamedSharding(mesh, PartitionSpec("data"))
    )
else:
    params = jax.tree.map(lambda s: jax.ShapeDtypeStruct(s, DTYPE), shapes(), is_leaf=is_shape)
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32)
if VARIANT == "other-first":
    jax.jit(lambda x: jnp.cumsum(x) + 1).lower(jnp.ones(8)).compile()
donate = (0,) if VARIANT == "donated" else ()
jax.jit(train_step, donate_argnums=donate).lower(params, tokens, tokens).compile()
