"""Splits numbers into a bf16 part and the rest, as compensated products do, for an H100 not there.

The rest is what rounding to bf16 loses. XLA's default for GPUs, --xla_allow_excess_precision, lets
the compiler drop the rounding.
"""

import jax
import jax.numpy as jnp
from gpu_kernels import target_config
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding


def split_product(x, w):
    high = x.astype(jnp.bfloat16).astype(jnp.float32)
    rest = x - high
    return jnp.tanh(jnp.sum(high * w, axis=1)), jnp.sum(rest * w, axis=1)


def main():
    topology = topologies.get_topology_desc(
        platform="cuda", target_config=target_config("90"), topology="1x1x1"
    )
    sharding = SingleDeviceSharding(topology.devices[0])
    array = jax.ShapeDtypeStruct((64, 256), jnp.float32, sharding=sharding)
    jax.jit(split_product).lower(array, array).compile()


if __name__ == "__main__":
    main()
