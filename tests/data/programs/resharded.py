"""Programs for eight CPU devices that change the sharding of a value.

`python resharded.py NAME [gspmd]` compiles one of them, with Shardy unless GSPMD is asked for.
"""

import os
import sys

os.environ["XLA_FLAGS"] += " --xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

jax.config.update("jax_use_shardy_partitioner", sys.argv[2:] != ["gspmd"])
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)


def over(*axes):
    """Return a sharding of each dimension along axes of the mesh."""
    return NamedSharding(mesh, PartitionSpec(*axes))


def constrained(value, *axes):
    """Return the value with a sharding that the program asks for."""
    return jax.lax.with_sharding_constraint(value, over(*axes))


def rematerialized(a, b, c):
    """Add values of two shardings that the partitioner knows no way between (xla 15207)."""
    return c + constrained(a + b, None, ("x", "y"), None)


def adjusted(a, b, c):
    """Add the same values, with one axis moved at a time."""
    step = constrained(a + b, None, "y", "x")
    return c + constrained(step, None, ("y", "x"), None)


def weights_gathered(x, first, second):
    """Multiply by weights that are sharded for storage only (FSDP)."""
    hidden = jnp.tanh(x @ constrained(first, None, None))
    return hidden @ constrained(second, None, None)


def replicated(a, b):
    """Add values that the program wants whole on each device."""
    return constrained(a + b) * 2.0


def replicated_between(a, b, c):
    """Add values of two shardings that the program itself makes whole in between."""
    return c + constrained(constrained(a + b), None, ("x", "y"), None)


def gathered_by_hand(a):
    """Gather and slice in a shard_map, as an algorithm of the program."""

    def part(rows):
        whole = jax.lax.all_gather(rows, "x", tiled=True)
        size = whole.shape[1] // 4
        return jax.lax.dynamic_slice_in_dim(whole, jax.lax.axis_index("x") * size, size, 1)

    specs = {"in_specs": PartitionSpec("x"), "out_specs": PartitionSpec(None, "x")}
    return jax.shard_map(part, mesh=mesh, check_vma=False, **specs)(a)


CUBE, MATRIX = jnp.zeros((16, 16, 16)), jnp.zeros((64, 64))
FIRST, LAST, TURNED = over("y", None, "x"), over(None, ("x", "y")), over(None, ("y", "x"))
ROWS, TILES = over(("x", "y")), over("x", "y")
PROGRAMS = {
    rematerialized: ((FIRST, FIRST, LAST), LAST, CUBE),
    adjusted: ((FIRST, FIRST, TURNED), TURNED, CUBE),
    weights_gathered: ((ROWS, ROWS, ROWS), ROWS, MATRIX),
    replicated: ((TILES, TILES), None, MATRIX),
    replicated_between: ((FIRST, FIRST, LAST), LAST, CUBE),
    gathered_by_hand: ((over("x"),), over(None, "x"), MATRIX),
}

for function, (arguments, result, value) in PROGRAMS.items():
    if function.__name__ == sys.argv[1]:
        compiled = jax.jit(function, in_shardings=arguments, out_shardings=result)
        compiled.lower(*[value] * len(arguments)).compile()
