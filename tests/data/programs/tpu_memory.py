"""Compiles for a TPU v5e that is not there: a gradient that needs more memory than one has.

usage: tpu_memory.py ROWS. The compiler computes layers again to save memory; with more rows
that does not suffice, and it gives up.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

WIDTH = 1024
LAYERS = 24


def loss_of(weights, x):
    for layer in range(LAYERS):
        with jax.named_scope(f"layer_{layer}"):
            x = jnp.tanh(x @ weights[layer]) + jnp.sin(x)
    return jnp.sum(x**2)


def main():
    slice_ = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
    sharding = NamedSharding(Mesh(np.array(slice_.devices[:1]), ("x",)), PartitionSpec())

    def argument(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    arguments = argument(LAYERS, WIDTH, WIDTH), argument(int(sys.argv[1]), WIDTH)
    jax.jit(jax.grad(loss_of)).lower(*arguments).compile()


if __name__ == "__main__":
    main()
