"""Collectives that are moved, and such as nothing hides, for each reason: overlapped.py gpu|tpu.

With cpu: halos in two dimensions.
"""

import os
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

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
TOPOLOGIES = {
    "gpu": {"platform": "cuda", "target_config": H100, "topology": "1x1x8"},
    "tpu": {"platform": "tpu", "topology_name": "tpu7x:2x2x1"},
}
target = sys.argv[1]
if target == "cpu":  # the devices are made when they are first asked for
    os.environ["XLA_FLAGS"] += " --xla_force_host_platform_device_count=8"
    devices = np.array(jax.devices())
else:
    devices = np.array(topologies.get_topology_desc(**TOPOLOGIES[target]).devices)
mesh = Mesh(devices.reshape(2, 4), ("rows", "cols"))
P = PartitionSpec
OVERLAP = {"xla_gpu_enable_latency_hiding_scheduler": True}


def mapped(**specs):
    return partial(jax.shard_map, mesh=mesh, check_vma=False, **specs)


def array(shape, *axes, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*axes)))


def compiled(function, *arguments, **options):
    jax.jit(function).lower(*arguments).compile(options if target == "gpu" else None)


def accumulated(w, batches):
    """The sum over `rows` is moved behind the loop."""

    @mapped(in_specs=(P(), P(None, "rows")), out_specs=P())
    def step(w, batches):
        def body(total, x):
            gradient = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
            return total + jax.lax.psum(gradient, "rows"), None

        return jax.lax.scan(body, jnp.zeros_like(w), batches)[0]

    return w - 0.1 * step(w, batches)


def dependent(x, w, v):
    """Every product feeds the sum or needs it."""

    @mapped(in_specs=(P(None, "cols"), P("cols"), P()), out_specs=P())
    def step(x, w, v):
        return jax.lax.psum(x @ w, "cols") @ v

    return step(x, w, v)


def independent(x, w, v):
    """A product that neither feeds the sum nor needs it."""

    @mapped(in_specs=(P(), P(), P()), out_specs=(P(), P()))
    def step(x, w, v):
        return jax.lax.psum(x, "cols"), jnp.tanh(w @ v)

    return step(x, w, v)


def synchronous(x, w, v):
    """The same, compiled without asynchronous collectives."""
    return independent(x, w, v)


def limited(x, y, w, v):
    """Two large sums, and a product that the scheduler may set beside one of them only."""

    @mapped(in_specs=(P(), P(), P(), P()), out_specs=(P(), P(), P()))
    def step(x, y, w, v):
        return jax.lax.psum(x, "cols"), jax.lax.pmax(y, "rows"), jnp.tanh(w @ v)

    return step(x, y, w, v)


def alone(x):
    """A sum and nothing else."""

    @mapped(in_specs=P("rows"), out_specs=P("rows"))
    def step(x):
        return jax.lax.psum(x, "cols")

    return step(x)


def broadcast(x, w):
    """A collective-broadcast, which JAX writes for GPUs alone."""

    @mapped(in_specs=(P("rows"), P()), out_specs=P("rows"))
    def step(x, w):
        return jnp.tanh(x @ jax.lax.pbroadcast(w, ("cols",), 0))

    return step(x, w)


def ragged(x, out, *places):
    """A ragged all-to-all along `cols`."""

    @mapped(in_specs=(P("cols"),) * 6, out_specs=P("cols"))
    def step(x, out, *places):
        return 2 * jax.lax.ragged_all_to_all(x, out, *places, axis_name="cols")

    return step(x, out, *places)


def smoothed(image, first, second):
    """Two convolutions that need the edges of neighbors in both dimensions."""
    names = ("NHWC", "HWIO", "NHWC")
    inner = jax.lax.conv_general_dilated(image, first, (1, 1), "SAME", dimension_numbers=names)
    return jax.lax.conv_general_dilated(
        jax.nn.relu(inner), second, (2, 2), "SAME", dimension_numbers=names
    )


if target == "cpu":
    image = array((4, 64, 64, 16), None, "rows", "cols")
    compiled(smoothed, image, array((3, 3, 16, 32)), array((3, 3, 32, 32)))
    sys.exit()
large, product = array((1024, 1024)), array((2048, 2048), dtype=jnp.bfloat16)
places = [array((16,), "cols", dtype=jnp.int32)] * 4
compiled(accumulated, array((512, 512)), array((4, 128, 512), None, "rows"))
compiled(ragged, *[array((2048, 256), "cols")] * 2, *places)
compiled(independent, large, product, product, **OVERLAP)
if target == "gpu":
    compiled(dependent, array((1024, 4096), None, "cols"), array((4096, 1024), "cols"), large)
    compiled(synchronous, large, product, product, xla_gpu_disable_async_collectives="ALLREDUCE")
    huge = array((4096, 4096))
    compiled(limited, huge, huge, product, product, **OVERLAP)
    compiled(alone, large)
    compiled(broadcast, array((64, 512), "rows"), array((512, 512)))
