"""Compiles two small programs for a TPU that need not be there: what their instructions run as.

`python tpu_machine.py TOPOLOGY`: two equal layers, a Pallas kernel with a grid and a reduction with
a padded product; a loop whose product asks for the highest precision.
"""

import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

devices = topologies.get_topology_desc(platform="tpu", topology_name=sys.argv[1]).devices
whole = NamedSharding(Mesh(np.array(devices[:1]), ("x",)), PartitionSpec())


def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=whole)


def multiply(x, y, out):
    @pl.when(pl.program_id(1) == 0)
    def _():
        out[...] = jnp.zeros_like(out)

    out[...] += jnp.dot(x[...], y[...], preferred_element_type=jnp.float32)


def product(x, y):
    return pl.pallas_call(
        multiply,
        out_shape=jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), jnp.float32),
        grid=(x.shape[0] // 64, x.shape[1] // 128),
        in_specs=[
            pl.BlockSpec((64, 128), lambda row, step: (row, step)),
            pl.BlockSpec((128, 128), lambda _, step: (step, 0)),
        ],
        out_specs=pl.BlockSpec((64, 128), lambda row, _: (row, 0)),
        name="product",
    )(x, y)


def layers(x, first, second, last):
    for number, weights in enumerate((first, second)):
        with jax.named_scope(f"layer{number}"):
            x = jax.nn.gelu(x @ weights)
    return jnp.exp(product(x, last) @ last[:128, :40].astype(jnp.float32)).sum()


def train(weights, x):
    def body(carry, layer):
        return jnp.tanh(jnp.dot(carry, layer, precision="highest")), ()

    return jax.lax.scan(body, x, weights)[0]


programs = {
    layers: (array(128, 256), array(256, 256), array(256, 256), array(256, 128)),
    train: (array(5, 96, 96, dtype=jnp.float32), array(32, 96, dtype=jnp.float32)),
}
for program, arguments in programs.items():
    jax.jit(program).trace(*arguments).lower(lowering_platforms=("tpu",)).compile()
