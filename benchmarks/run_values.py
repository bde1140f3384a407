"""Runs pairs of programs on the CPU and compares their results; one line of JSON for each pair.

For an interpreter with jaxlib 0.10 to 0.12. Standard input: a line of JSON for each pair with the
texts `before` and `after`, the keys and shapes of their inputs, and `pairs` of output numbers.
Inputs with equal keys get equal values. An answer has `equal`, one value for each pair: null where
the numbers of elements differ; or `error`. XLA aborts on some: who asks starts anew behind it.
"""

import json
import re
import sys
import zlib
from typing import Any

import jax
import ml_dtypes
import numpy as np
from jax._src import xla_bridge
from jaxlib import _jax, xla_client
from jaxlib.xla_client import hlo

_MOST_ELEMENTS = 1 << 22
_INTEGERS = 4
"""Whole numbers are below: small, for they may be indices."""
_TOLERANCE = {8: 0.01, 4: 0.01}
_COARSE = 0.06
"""Relative tolerance of types of fewer than four bytes."""
_TYPES = {"pred": np.bool_, "bf16": ml_dtypes.bfloat16, "c64": np.complex64, "c128": np.complex128}
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")


def main() -> None:
    """Answer each line of standard input."""
    backend = xla_bridge.get_backend("cpu")
    for line in sys.stdin:
        asked = json.loads(line)
        answer: dict[str, Any]
        try:
            before = _run(backend, asked["before"], asked["inputs_before"])
            after = _run(backend, asked["after"], asked["inputs_after"])
            pairs = ((before[one], after[other]) for one, other in asked["pairs"])
            answer = {"equal": [_are_equal(*pair) for pair in pairs]}
        except Exception as error:  # noqa: BLE001  jaxlib raises types of its own
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


def _run(backend: Any, text: str, inputs: list[tuple[str, str]]) -> list[Any]:
    module = hlo.hlo_module_from_text(text)
    computation = hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    program = _jax.mlir.xla_computation_to_mlir_module(computation)
    options = xla_client.CompileOptions()
    options.executable_build_options.debug_options.xla_backend_optimization_level = 0
    executable = backend.compile_and_load(program, backend.devices()[:1], options)
    values = [jax.device_put(_input(key, shape)) for key, shape in inputs]
    return [np.asarray(output) for output in executable.execute(values)]


def _input(key: str, shape: str) -> Any:
    """Return random values that are the same for the same key: from 0.5 to 1.5, or small."""
    kind, sizes = _ARRAY.fullmatch(shape).groups()  # type: ignore[union-attr]
    dimensions = tuple(int(size) for size in sizes.split(",") if size)
    if np.prod(dimensions, dtype=np.int64) > _MOST_ELEMENTS:
        raise ValueError("too large an input")
    chance = np.random.default_rng(zlib.crc32(key.encode()))
    dtype = np.dtype(_TYPES.get(kind) or _numpy_name(kind))
    if kind[0] in "su":
        return chance.integers(0, _INTEGERS, dimensions).astype(dtype)
    if kind == "pred":
        return chance.integers(0, 2, dimensions).astype(dtype)
    values = chance.uniform(0.5, 1.5, dimensions)
    return (values + 1j * values[::-1] if kind[0] == "c" else values).astype(dtype)


def _numpy_name(kind: str) -> Any:
    """Return the type that XLA writes as `f32`, `s8` or `f8e4m3fn`."""
    if kind.startswith("f8"):
        return getattr(ml_dtypes, kind.replace("f8", "float8_", 1))
    names = {"f": "float", "s": "int", "u": "uint"}
    return names[kind[0]] + kind[1:]


def _are_equal(before: Any, after: Any) -> bool | None:
    """Return whether two arrays have equal elements, maybe in another order."""
    if before.size != after.size:
        return None
    size = min(before.dtype.itemsize, after.dtype.itemsize)
    one, other = _numbers(before), _numbers(after)
    tolerance = _TOLERANCE.get(size, _COARSE)
    return _close(one, other, tolerance) or _close(np.sort(one), np.sort(other), tolerance)


def _numbers(values: Any) -> Any:
    if np.iscomplexobj(values):
        return np.concatenate([values.real.ravel(), values.imag.ravel()]).astype(np.float64)
    return values.astype(np.float64).ravel()


def _close(one: Any, other: Any, tolerance: float) -> bool:
    largest = np.max(np.abs(one), where=np.isfinite(one), initial=0)
    near = 1e-6 + tolerance * largest / 4
    return bool(np.allclose(one, other, rtol=tolerance, atol=near, equal_nan=True))


if __name__ == "__main__":
    main()
