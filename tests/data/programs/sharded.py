"""Programs of eight devices whose collectives have every cause: sharded.py cpu|gpu|tpu."""

import os
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

target = sys.argv[1]
if target == "cpu":  # the devices are made when they are first asked for
    os.environ["XLA_FLAGS"] += " --xla_force_host_platform_device_count=8"

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
  shared_memory_per_core: 233472 threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
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


def find_devices():
    if target == "cpu":
        return jax.devices()
    if target == "gpu":
        topology = {"platform": "cuda", "target_config": H100, "topology": "1x1x8"}
    else:
        topology = {"platform": "tpu", "topology_name": "v5e:2x4"}
    return topologies.get_topology_desc(**topology).devices


devices = np.array(find_devices())
grid = Mesh(devices.reshape(2, 4), ("data", "model"))
line = Mesh(devices, ("x",))
P = PartitionSpec


def array(mesh, shape, *axes):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*axes)))


def fsdp_step(params, x, y):
    """Two gathers of weights, a partial sum over `model`, gradients summed over `data`."""

    def loss(params):
        hidden = jnp.tanh(x @ params["up"])
        return jnp.mean((x + hidden @ params["down"] - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda old, step: old - 0.1 * step, params, gradients), value


def experts(x, weights):
    """Two all-to-alls and a sum, all written by the user."""

    @partial(jax.shard_map, mesh=line, in_specs=(P("x"), P("x")), out_specs=(P("x"), P()))
    def layer(x, weights):
        sent = jax.lax.all_to_all(x.reshape(8, -1, 64), "x", 0, 0)
        done = jnp.einsum("etd,edf->etf", sent.reshape(1, -1, 64), weights)
        back = jax.lax.all_to_all(done.reshape(8, -1, 64), "x", 0, 0)
        return back.reshape(-1, 64), jax.lax.psum(back.sum(), "x")

    return layer(x, weights)


def blurred(image, kernel):
    """A convolution that needs the rows of its neighbors."""
    names = ("NHWC", "HWIO", "NHWC")
    result = jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=names)
    return jax.lax.with_sharding_constraint(result, NamedSharding(line, P(None, "x")))


def turned(x, y):
    """A value wanted along the other axes, and one wanted whole."""
    first = jax.lax.with_sharding_constraint(jnp.sin(x), NamedSharding(grid, P("model", "data")))
    return first, jax.lax.with_sharding_constraint(jnp.cos(y), NamedSharding(grid, P()))


params = {
    "up": array(grid, (256, 1024), "data", "model"),
    "down": array(grid, (1024, 256), "model", "data"),
}
batch = array(grid, (64, 256), "data")
jax.jit(fsdp_step).lower(params, batch, batch).compile()
jax.jit(experts).lower(array(line, (512, 64), "x"), array(line, (8, 64, 64), "x")).compile()
image = array(line, (2, 64, 32, 8), None, "x")
jax.jit(blurred).lower(image, array(line, (3, 3, 8, 8))).compile()
values = array(grid, (256, 256), "data", "model"), array(grid, (256, 32), "data")
jax.jit(turned).lower(*values).compile()
