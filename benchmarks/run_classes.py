"""Runs pairs of programs on the CPU and says which of their outputs are equal; a line for each.

For an interpreter with jaxlib 0.10 to 0.12. Standard input: a line of JSON for each pair with the
texts `before` and `after`, and the keys and shapes of their inputs. Inputs with equal keys get
equal values. An answer has `before` and `after`: a number for each output, equal for equal values
whatever the order of elements, null for a value of fewer than eight different elements; or `error`.
All floats are of 64 bits, so equal values differ by rounding alone. Everything runs twice, on
positive inputs and on inputs of both signs, and what is equal has to be so in both.
"""

from typing import Any

import jax
import numpy as np
from cpu_runs import answer_lines, compile_text, random_input

_CLOSE = 1e-10
"""Relative to the largest element: more than rounding, less than an epsilon of the program."""
_FEWEST = 8
"""Different elements of a value that no other has by chance."""
_RANGES = ((0.5, 1.5), (-1.5, 1.5))
_Known = tuple[float, int, Any]
"""The mean of a value, its number, and its sorted elements."""


def _answer(backend: Any, asked: dict[str, Any]) -> dict[str, list[int | None]]:
    before, after = (compile_text(backend, asked[side]) for side in ("before", "after"))
    runs = []
    for limits in _RANGES:
        values = []
        for program, side in ((before, "before"), (after, "after")):
            inputs = asked[f"inputs_{side}"]
            given = [jax.device_put(random_input(key, shape, limits)) for key, shape in inputs]
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
    answer_lines(_answer)
