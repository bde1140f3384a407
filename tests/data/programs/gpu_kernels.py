"""Compiles programs for a GPU that is not there, whose kernels spill or use dynamic shared memory.

usage: gpu_kernels.py SM [NAME...]    (75, 89, 90 or 120: a compute capability without its dot)
"""

import sys

import jax
import jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

CARDS = {  # name, SMs, shared bytes of an SM, of a block with opt-in, threads of an SM
    "75": ("Tesla T4", 40, 65536, 65536, 1024),
    "89": ("NVIDIA L4", 58, 102400, 101376, 1536),
    "90": ("NVIDIA H100 80GB HBM3", 132, 233472, 232448, 2048),
    "120": ("NVIDIA RTX PRO 6000 Blackwell", 188, 102400, 101376, 1536),
}


def target_config(sm):
    name, cores, shared, of_block, threads = CARDS[sm]
    return f"""
gpu_device_info {{
  cuda_compute_capability {{ major: {sm[:-1]} minor: {sm[-1]} }}
  threads_per_block_limit: 1024
  threads_per_warp: 32
  threads_per_core_limit: {threads}
  shared_memory_per_block: 49152
  shared_memory_per_block_optin: {of_block}
  shared_memory_per_core: {shared}
  registers_per_block_limit: 65536
  registers_per_core_limit: 65536
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  core_count: {cores}
  fpus_per_core: 128
  clock_rate_ghz: 1.7
  l2_cache_size: 41943040
  memory_bandwidth: 1000000000000
  device_memory_size: 42949672960
}}
platform_name: "CUDA"
device_description_str: "{name}"
runtime_version {{ major: 12 minor: 8 patch: 0 }}
dnn_version_info {{ major: 9 minor: 7 }}
"""


def reduce_many(*arrays):
    """Sums of many arrays in one kernel: every thread holds a sum of each in registers."""

    def combine(left, right):
        total = sum(left) + sum(right)
        return tuple(x + y * (1 + 0 * total) for x, y in zip(left, right, strict=True))

    zeros = tuple(jnp.zeros((), array.dtype) for array in arrays)
    return jax.lax.reduce(arrays, zeros, combine, (1,))


def small_products(x):
    """Products of small matrices, all of whose elements a thread holds."""
    size = x.shape[0]
    rows = [[x[i, j] for j in range(size)] for i in range(size)]
    for _ in range(2):
        rows = [
            [sum(rows[i][k] * rows[k][j] for k in range(size)) for j in range(size)]
            for i in range(size)
        ]
    return jnp.stack([jnp.stack(row) for row in rows])


def attention_step(q, k, v, w):
    """Triton products and a softmax: their shared memory is dynamic."""
    scores = jnp.einsum("bhtd,bhsd->bhts", q, k) * 0.125
    weights = jax.nn.softmax(scores.astype(jnp.float32)).astype(q.dtype)
    out = jnp.einsum("bhts,bhsd->bhtd", weights, v).reshape(-1, w.shape[0])
    return jax.nn.gelu(out @ w) @ w.T


def mixed_sums(x, y):
    """A few kernels of other kinds: a transposition, a scan, reductions."""
    return jnp.cumsum(x, 0), jnp.var(x, 1), x.T + 1, jnp.argmax(y, -1), jnp.sort(y[:, :256])


def array(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def programs():
    for count, dtype in ((64, "float64"), (80, "float64"), (128, "float32"), (144, "float32")):
        yield f"reduce_{count}_{dtype}", reduce_many, [array(64, 4096, dtype=dtype)] * count
    yield "products_8", small_products, [array(8, 8, 4096)]
    yield "products_16", small_products, [array(16, 16, 4096)]
    half = array(4, 8, 256, 64, dtype=jnp.float16)
    yield "attention_step", attention_step, [half] * 3 + [array(512, 2048, dtype=jnp.float16)]
    yield "mixed_sums", mixed_sums, [array(1000, 777), array(64, 3000)]


def main(sm, *wanted):
    jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - its only form
    config = target_config(sm)
    one = topologies.get_topology_desc(platform="cuda", target_config=config, topology="1x1x1")
    sharding = SingleDeviceSharding(one.devices[0])
    for name, function, shapes in programs():
        if wanted and name not in wanted:
            continue
        arguments = [
            jax.ShapeDtypeStruct(each.shape, each.dtype, sharding=sharding) for each in shapes
        ]

        def program(*values, function=function):
            return function(*values)

        program.__name__ = name
        try:
            jax.jit(program, out_shardings=sharding).lower(*arguments).compile()
        except jax.errors.JaxRuntimeError as error:  # the files are written before it fails
            print(f"{name} for sm_{sm}: {str(error)[:200]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
