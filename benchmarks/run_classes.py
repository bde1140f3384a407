"""Runs pairs of programs on the CPU and says which of their outputs are equal; a line for each.

For an interpreter with jaxlib 0.10 to 0.12. Standard input: a line of JSON for each pair with the
texts `before` and `after`, and the keys and shapes of their inputs. Inputs with equal keys get
equal values. An answer has `before` and `after`: a number for each output, equal for equal values
whatever the order of elements, null for a value of fewer than eight different elements; or `error`.
All floats are of 64 bits, so equal values differ by rounding alone. Everything runs twice, on
positive inputs and on inputs of both signs, and what is equal has to be so in both.
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
_CLOSE = 1e-10
"""Relative to the largest element: more than rounding, less than an epsilon of the program."""
_FEWEST = 8
"""Different elements of a value that no other has by chance."""
_RANGES = ((0.5, 1.5), (-1.5, 1.5))
_TYPES = {"pred": np.bool_, "c128": np.complex128}
_Known = tuple[float, int, Any]
"""The mean of a value, its number, and its sorted elements."""
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")


def main() -> None:
    """Answer each line of standard input."""
    backend = xla_bridge.get_backend("cpu")
    for line in sys.stdin:
        asked = json.loads(line)
        answer: dict[str, Any]
        try:
            answer = _answer(backend, asked)
        except Exception as error:  # noqa: BLE001  jaxlib raises types of its own
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


def _answer(backend: Any, asked: dict[str, Any]) -> dict[str, list[int | None]]:
    before, after = (_compiled(backend, asked[side]) for side in ("before", "after"))
    runs = []
    for limits in _RANGES:
        values = []
        for program, side in ((before, "before"), (after, "after")):
            inputs = asked[f"inputs_{side}"]
            given = [jax.device_put(_input(key, shape, limits)) for key, shape in inputs]
            values += [_numbers(np.asarray(output)) for output in program.execute(given)]
        runs.append(values)
    equal = _common([_classes(values) for values in runs])
    return {"before": equal[: asked["count"]], "after": equal[asked["count"] :]}


def _common(runs: list[list[int | None]]) -> list[int | None]:
    """Return numbers that are equal where those of all runs are; None where any is."""
    known: dict[tuple[int | None, ...], int] = {}
    return [
        None if None in run else known.setdefault(run, len(known))
        for run in zip(*runs, strict=True)
    ]


def _compiled(backend: Any, text: str) -> Any:
    module = hlo.hlo_module_from_text(text)
    computation = hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    program = _jax.mlir.xla_computation_to_mlir_module(computation)
    options = xla_client.CompileOptions()
    options.executable_build_options.debug_options.xla_backend_optimization_level = 0
    return backend.compile_and_load(program, backend.devices()[:1], options)


def _input(key: str, shape: str, limits: tuple[float, float]) -> Any:
    """Return random values that are the same for the same key."""
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
    return (values + 1j * chance.uniform(*limits, dimensions) if kind[0] == "c" else values).astype(
        dtype
    )


def _numpy_name(kind: str) -> Any:
    """Return the type that XLA writes as `f64`, `s8` or `u32`."""
    if kind in ("s4", "u4", "s2", "u2"):
        return getattr(ml_dtypes, kind.replace("s", "int").replace("u", "uint"))
    names = {"f": "float", "s": "int", "u": "uint"}
    return names[kind[0]] + kind[1:]


def _classes(values: list[Any]) -> list[int | None]:
    """Return the number of the first equal value, for each value; None for one of few elements."""
    known: dict[tuple[int, int], list[_Known]] = {}
    return [_class(known, number, value) for number, value in enumerate(values)]


def _class(known: dict[tuple[int, int], list[_Known]], number: int, value: Any) -> int | None:
    if value is None:
        return None
    finite = value[np.isfinite(value)]
    mean, near = float(np.mean(finite)), _CLOSE * float(np.max(np.abs(finite)))
    alike = known.setdefault((value.size, finite.size), [])
    for other, first, elements in alike:
        same = abs(other - mean) <= 2 * near
        if same and np.allclose(elements, value, rtol=0, atol=near, equal_nan=True):
            return first
    alike.append((mean, number, value))
    return number


def _numbers(values: Any) -> Any:
    """Return sorted elements; None for whole numbers and for fewer than eight different ones."""
    if values.dtype.kind not in "fc" or values.size < _FEWEST:
        return None
    parts = [values.real, values.imag] if values.dtype.kind == "c" else [values]
    ordered = np.sort(np.concatenate([part.ravel() for part in parts]))
    finite = ordered[np.isfinite(ordered)]
    if finite.size < _FEWEST:
        return None
    steps = np.count_nonzero(np.diff(finite) > _CLOSE * np.max(np.abs(finite)))
    return ordered if steps >= _FEWEST - 1 else None


if __name__ == "__main__":
    main()
