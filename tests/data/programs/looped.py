"""Loops, branches and a call under the profiler: a scan with a conditional, nested whiles."""

import os
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.xla_metadata import set_xla_metadata

STEPS = 5


@jax.jit
def inner(x):
    return jnp.tanh(x @ x)


@jax.jit
def loops(x):
    def layer(carry, step):
        with jax.named_scope("layer"):
            carry = inner(carry)
        with jax.named_scope("choose"):
            positive = carry[0, 0] > 0
            carry = lax.cond(positive, lambda y: jnp.sin(y @ y), lambda y: jnp.cos(y) @ y, carry)
        return carry, carry.sum() * step

    def again(state):
        count, y = state
        return count + 1, lax.fori_loop(0, 3, lambda _, z: inner(z), y)

    x, sums = lax.scan(layer, x, jnp.arange(6.0))
    count, x = lax.while_loop(lambda state: state[0] < 4, again, (0, x))
    with set_xla_metadata(inlineable="false"):
        x = inner(x)
    return x, sums, count


def main():
    x = jnp.linspace(-1.0, 1.0, 128 * 128).reshape(128, 128)
    loops(x)[0].block_until_ready()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    dump = Path(os.environ["XLA_FLAGS"].partition("--xla_dump_to=")[2].partition(" ")[0])
    with jax.profiler.trace(dump / "profile", profiler_options=options):
        for _ in range(STEPS):
            x = loops(x)[0]
        x.block_until_ready()


if __name__ == "__main__":
    main()
