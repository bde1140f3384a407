"""Runs the HLO texts named on standard input on the CPU; prints a digest of what each returns.

For an interpreter with jaxlib 0.12. Every text gets the same inputs, made from the positions and
shapes of its parameters. A text that this jaxlib cannot compile or run is an error. XLA aborts on
some: who asks starts anew behind that one.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax._src import xla_bridge
from jaxlib import _jax, xla_client
from jaxlib.xla_client import hlo

_MOST_BYTES = 1 << 26
_FIRST, _END = 1, 8
"""The range of whole numbers that are put in: small, for they may be indices; none is 0."""


def main() -> None:
    """Answer each path with one line of JSON: a digest, or an error."""
    backend = xla_bridge.get_backend("cpu")
    for line in sys.stdin:
        try:
            answer = {"digest": _digest(backend, Path(line.rstrip("\n")))}
        except Exception as error:  # noqa: BLE001  jaxlib raises types of its own
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


def _digest(backend: Any, path: Path) -> str:
    module = hlo.hlo_module_from_text(path.read_text("utf-8"))
    computation = hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    shapes = computation.program_shape().parameter_shapes()
    inputs = [jax.device_put(_input(*pair)) for pair in enumerate(shapes)]
    options = xla_client.CompileOptions()
    options.executable_build_options.debug_options.xla_backend_optimization_level = 0
    program = _jax.mlir.xla_computation_to_mlir_module(computation)
    executable = backend.compile_and_load(program, backend.devices()[:1], options)
    digest = hashlib.sha256()
    for output in executable.execute(inputs):
        digest.update(np.asarray(output).tobytes())
    return digest.hexdigest()


def _input(position: int, shape: Any) -> Any:
    """Return random values that are the same for the same position and shape, none of them 0."""
    kind, dimensions = shape.numpy_dtype(), shape.dimensions()
    chance = np.random.default_rng(position)
    if np.prod(dimensions, dtype=np.int64) * kind.itemsize > _MOST_BYTES:
        raise ValueError("too large an input")
    if kind.kind in "iu":
        return chance.integers(_FIRST, _END, dimensions).astype(kind)
    if kind.kind == "b":
        return chance.random(dimensions) < np.float64(0.5)
    return (chance.random(dimensions) + 0.5).astype(kind)


if __name__ == "__main__":
    main()
