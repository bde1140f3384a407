"""What the programs that run HLO on the CPU have in common: their lines, compiling, and inputs.

For an interpreter with jaxlib 0.10 to 0.12.
"""

import json
import re
import sys
import zlib
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from jax._src import xla_bridge
from jaxlib import _jax, xla_client
from jaxlib.xla_client import hlo

_MOST_ELEMENTS = 1 << 22
_INTEGERS = 4
"""Whole numbers are below: small, for they may be indices."""
_TYPES = {"pred": np.bool_, "bf16": ml_dtypes.bfloat16, "c64": np.complex64, "c128": np.complex128}
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")


def answer_lines(answer_of: Callable[[Any, dict[str, Any]], dict[str, Any]]) -> None:
    """Write a line of JSON for each line of standard input: the answer of a backend, or `error`."""
    backend = xla_bridge.get_backend("cpu")
    for line in sys.stdin:
        answer: dict[str, Any]
        try:
            answer = answer_of(backend, json.loads(line))
        except Exception as error:  # noqa: BLE001  jaxlib raises types of its own
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


def compile_text(backend: Any, text: str) -> Any:
    """Return the executable of HLO text, without optimizations of the backend."""
    module = hlo.hlo_module_from_text(text)
    computation = hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    program = _jax.mlir.xla_computation_to_mlir_module(computation)
    options = xla_client.CompileOptions()
    options.executable_build_options.debug_options.xla_backend_optimization_level = 0
    return backend.compile_and_load(program, backend.devices()[:1], options)


def random_input(key: str, shape: str, limits: tuple[float, float]) -> Any:
    """Return random values, the same for the same key: in the limits, or small whole numbers."""
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
    values = chance.uniform(*limits, dimensions)
    if kind[0] == "c":
        values = values + 1j * chance.uniform(*limits, dimensions)
    return values.astype(dtype)


def _numpy_name(kind: str) -> Any:
    """Return the type that XLA writes as `f32`, `s8`, `u4` or `f8e4m3fn`."""
    if kind.startswith("f8"):
        return getattr(ml_dtypes, kind.replace("f8", "float8_", 1))
    if kind in ("s4", "u4", "s2", "u2"):
        return getattr(ml_dtypes, kind.replace("s", "int").replace("u", "uint"))
    names = {"f": "float", "s": "int", "u": "uint"}
    return names[kind[0]] + kind[1:]
