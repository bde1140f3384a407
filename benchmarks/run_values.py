"""Runs pairs of programs on the CPU and compares their results; one line of JSON for each pair.

For an interpreter with jaxlib 0.10 to 0.12. Standard input: a line of JSON for each pair with the
texts `before` and `after`, the keys and shapes of their inputs, and `pairs` of output numbers.
Inputs with equal keys get equal values. An answer has `equal`, one value for each pair: null where
the numbers of elements differ; or `error`. XLA aborts on some: who asks starts anew behind it.
"""

from typing import Any

import jax
import numpy as np
from cpu_runs import answer_lines, compile_text, random_input

_LIMITS = (0.5, 1.5)
"""Of the random inputs."""
_TOLERANCE = {8: 0.01, 4: 0.01}
_COARSE = 0.06
"""Relative tolerance of types of fewer than four bytes."""


def _answer(backend: Any, asked: dict[str, Any]) -> dict[str, Any]:
    before = _run(backend, asked["before"], asked["inputs_before"])
    after = _run(backend, asked["after"], asked["inputs_after"])
    pairs = ((before[one], after[other]) for one, other in asked["pairs"])
    return {"equal": [_are_equal(*pair) for pair in pairs]}


def _run(backend: Any, text: str, inputs: list[tuple[str, str]]) -> list[Any]:
    values = [jax.device_put(random_input(key, shape, _LIMITS)) for key, shape in inputs]
    return [np.asarray(output) for output in compile_text(backend, text).execute(values)]


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
    answer_lines(_answer)
