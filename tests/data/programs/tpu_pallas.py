"""Compiles for a TPU v5e that is not there: two calls of a Pallas kernel, over grids of two sizes.

Mosaic, the compiler of such kernels, writes its own files; their names do not tell which call.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

BLOCK = (8, 128)


def scale_kernel(x_ref, y_ref, out_ref):
    out_ref[...] = x_ref[...] * 2.0 + y_ref[...]


def scaled_sum(x, y):
    rows, columns = x.shape
    block = pl.BlockSpec(BLOCK, lambda i, j: (i, j))
    return pl.pallas_call(
        scale_kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(rows // BLOCK[0], columns // BLOCK[1]),
        in_specs=[block, block],
        out_specs=block,
        name="scaled_sum",
    )(x, y)


def blend(x, y):
    small = scaled_sum(x[:16], y[:16])
    return scaled_sum(x, y).sum() + small.sum()


def main():
    slice_ = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
    sharding = NamedSharding(Mesh(np.array(slice_.devices[:1]), ("x",)), PartitionSpec())
    argument = jax.ShapeDtypeStruct((64, 256), jnp.float32, sharding=sharding)
    traced = jax.jit(blend).trace(argument, argument)
    traced.lower(lowering_platforms=("tpu",)).compile()


if __name__ == "__main__":
    main()
