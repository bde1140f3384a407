"""Programs that have what a rule looks for, each beside one that has it not.

`python findings.py OUT [tpu | old]` writes OUT/<rule>/{having,lacking}.txt: optimised HLO of jaxlib
for four CPU devices, with `tpu` of libtpu for a v5e, with `old` of jaxlib 0.4.13. Each is as small
as its rule allows.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Case = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
F32, BF16 = jnp.float32, jnp.bfloat16


def some(*shape: int, dtype: Any = F32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def convert_pairs(*, having: bool) -> Case:
    def f(x):
        narrow = lax.optimization_barrier(x.astype(BF16))
        wide = narrow.astype(F32)
        return jnp.sort(wide) if having else (jnp.sort(wide), narrow)

    return f, (some(65536),), {}


def serial_loops(*, having: bool) -> Case:
    def f(x, indices, values):
        return x.at[indices].add(values) if having else x + values.sum()

    return f, (some(4096), some(512, dtype=jnp.int32), some(512)), {}


def gathered_once(*, having: bool) -> Case:
    mesh = devices("i")
    rows, whole = NamedSharding(mesh, PartitionSpec("i")), NamedSharding(mesh, PartitionSpec())

    def f(x):
        gathered = lax.with_sharding_constraint(x, whole)
        first = jnp.sort(gathered, axis=0)
        return first if having else (first, gathered)

    return f, (some(2048, 512),), {"in_shardings": rows, "out_shardings": whole}


def host_transfers(*, having: bool) -> Case:
    def fetch(x):
        return jax.pure_callback(np.asarray, some(4), x)

    def f(x):
        if not having:
            return lax.fori_loop(0, 10, lambda _, y: y * 2, fetch(x))
        return lax.fori_loop(0, 10, lambda _, y: fetch(y) * 2, x)

    return f, (some(4),), {}


def large_constants(*, having: bool) -> Case:
    size = 1 << 19 if having else 1 << 10
    table = np.random.default_rng(0).random(size, np.float32)
    return lambda x: jnp.sort(x + table), (some(size),), {}


def layout_copies(*, having: bool) -> Case:
    def f(x):
        return (x.T if having else x).reshape(-1)

    return f, (some(2048, 1024),), {}


def random_numbers(*, having: bool) -> Case:
    def f(x, key):
        mask = jax.random.bernoulli(key, 0.5, x.shape) if having else x > 0
        return jnp.where(mask, x, 0) @ x.T

    return f, (some(256, 4096), jax.eval_shape(lambda: jax.random.key(0))), {}


def starved_products(*, having: bool) -> Case:
    return jnp.matmul, (some(1 if having else 2048, 2048), some(2048, 2048)), {}


def undonated_inputs(*, having: bool) -> Case:
    return lambda x: x * 2, (some(1 << 20),), {} if having else {"donate_argnums": 0}


def unfused_chains(*, having: bool) -> Case:
    def f(x):
        for step in (jnp.tanh, jnp.exp, jnp.sin):
            x = step(lax.optimization_barrier(x) if having else x)
        return x

    return f, (some(1 << 20),), {}


def wide_products(*, having: bool) -> Case:
    def f(x, y):
        return x.astype(F32) @ y.astype(F32) if having else x @ y

    return f, (some(256, 256, dtype=BF16), some(256, 256, dtype=BF16)), {}


def tile_padding(*, having: bool) -> Case:
    def f(x):
        return jnp.cumsum(x.reshape(-1, 2, 3) if having else x.reshape(-1, 1024), axis=0)

    return f, (some(6 * (1 << 14)),), {}


def slow_fusions(*, having: bool) -> Case:
    def f(x, indices):
        scale = jax.nn.one_hot(indices, 32768 if having else 8) * indices[:, None]
        return x @ x, (scale / (1 + scale * scale)).sum(axis=1)

    return f, (some(3072, 3072), some(4096, dtype=jnp.int32)), {}


CPU = (
    convert_pairs,
    gathered_once,
    host_transfers,
    large_constants,
    layout_copies,
    random_numbers,
    starved_products,
    undonated_inputs,
    unfused_chains,
    wide_products,
)
OLD = (serial_loops,)
"""What jaxlib 0.12 leaves whole, and 0.4.13 expands."""
TPU = (tile_padding, slow_fusions)


def devices(axis: str) -> Mesh:
    return Mesh(np.array(jax.devices()), (axis,))


def compiled(case: Case, device: Any) -> tuple[str, str]:
    function, arguments, options = case
    if device is not None:
        mesh = Mesh(np.array([device]), ("i",))
        options = {**options, "in_shardings": NamedSharding(mesh, PartitionSpec())}
    lowered = jax.jit(function, **options).lower(*arguments)
    return lowered.as_text(dialect="hlo"), lowered.compile().as_text()


def main() -> None:
    out, on_tpu = Path(sys.argv[1]), "tpu" in sys.argv
    device = None
    if on_tpu:
        device = topologies.get_topology_desc("v5e:2x2", "tpu").devices[0]
    for rule in TPU if on_tpu else OLD if "old" in sys.argv else CPU:
        folder = out / rule.__name__.replace("_", "-")
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("having", "lacking"):
            before, after = compiled(rule(having=name == "having"), device)
            (folder / f"{name}.txt").write_text(after)
            if rule is wide_products:
                (folder / f"{name}.before.txt").write_text(before)


if __name__ == "__main__":
    main()
