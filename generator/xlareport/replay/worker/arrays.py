"""Arrays of the child process: inputs by their ranges, files of arrays, differences of outputs."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from xlareport.replay.ulp import ulp_distance

MOST_BYTES = 1 << 32
"""Of all inputs together, and of all outputs."""


class TooLargeError(ValueError):
    """Inputs or outputs take more memory than the child is given."""


def make_inputs(ranges: Sequence[Mapping[str, Any]], seed: int) -> list[Any]:
    """Return random arrays of the ranges; the same for the same seed and place."""
    total = sum(
        int(np.prod(range_["dimensions"], dtype=np.int64)) * _dtype(range_["dtype"]).itemsize
        for range_ in ranges
    )
    if total > MOST_BYTES:
        raise TooLargeError(f"the inputs take {total:,} bytes")
    return [
        _make_input(bounds, np.random.default_rng([seed, place]))
        for place, bounds in enumerate(ranges)
    ]


def _make_input(wanted: Mapping[str, Any], chance: Any) -> Any:
    dtype, dimensions = _dtype(wanted["dtype"]), tuple(wanted["dimensions"])
    low, high = wanted["low"], wanted["high"]
    if dtype == np.bool_:
        return chance.random(dimensions) < np.float64(0.5)
    if dtype.kind in "iu":
        return chance.integers(low, high, dimensions, dtype=np.int64).astype(dtype)
    values = low + (high - low) * chance.random(dimensions)
    if dtype.kind == "c":
        values = values + 1j * (low + (high - low) * chance.random(dimensions))
    return values.astype(dtype)


def _dtype(name: str) -> Any:
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def save(path: Path, arrays: Sequence[Any]) -> None:
    """Write arrays to a file, those of types that numpy does not have as their bits."""
    save_outputs(path, [[array] for array in arrays])


def save_outputs(path: Path, outputs: Sequence[Sequence[Any]]) -> None:
    """Write outputs, each with its other copies where devices do not agree."""
    named = {}
    for place, copies in enumerate(outputs):
        for number, array in enumerate(copies):
            plain = array if array.dtype.kind in "biufc" else array.view(f"u{array.dtype.itemsize}")
            other = f":{number}" if number else ""
            named[f"{place}:{array.dtype.name}{other}"] = plain
    with path.open("wb") as file:
        np.savez(file, **named)


def load_outputs(path: Path) -> list[list[Any]]:
    """Read what `save_outputs` wrote."""
    outputs: list[list[Any]] = []
    with np.load(path, allow_pickle=False) as file:
        for key in file.files:
            if key.count(":") == 1:
                outputs.append([])
            outputs[-1].append(_typed(key, file[key]))
    return outputs


def load(path: Path) -> list[Any]:
    """Read what `save` wrote, or a file of a user: arrays in the order of the parameters."""
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
            raise TooLargeError(f"{path.name} holds more than {MOST_BYTES:,} bytes")
    with np.load(path, allow_pickle=False) as file:
        return [_typed(key, file[key]) for key in file.files]


def _typed(key: str, array: Any) -> Any:
    dtype = _dtype(key.split(":")[1] if ":" in key else array.dtype.name)
    return array if array.dtype == dtype else array.view(dtype)


def worst_difference(expected: Sequence[Any], actual: Sequence[Any]) -> dict[str, Any]:
    """Return the largest difference of the copies of an output, one for each device or one."""
    differences = [
        difference(expected[min(number, len(expected) - 1)], array)
        for number, array in enumerate(actual)
    ]
    return max(
        differences,
        key=lambda difference: (difference["error"] is None, difference["error"] or 0.0),
    )


def difference(expected: Any, actual: Any) -> dict[str, Any]:
    """Return how far an output is from another: relative error, ULP, differing elements.

    The relative error of an element is relative to it or to the root mean square of all, whichever
    is larger. A NaN or an infinity on one side only is an infinite error, given as None.
    """
    if expected.shape != actual.shape:
        return {"error": None, "ulp": None, "differing": None, "reason": "the shape differs"}
    same_type = expected.dtype == actual.dtype
    ulp = _ulp(expected, actual) if same_type and _is_real_float(expected.dtype) else None
    first, second = (_wide(array) for array in (expected, actual))
    differing = int(np.count_nonzero((first != second) & ~(np.isnan(first) & np.isnan(second))))
    finite = np.isfinite(first)
    if not np.array_equal(finite, np.isfinite(second)) or _infinities_differ(first, second):
        return {"error": None, "ulp": ulp, "differing": differing, "reason": "not finite"}
    return {"error": _error(first[finite], second[finite]), "ulp": ulp, "differing": differing}


def _is_real_float(dtype: Any) -> bool:
    return dtype.name in {"float16", "bfloat16", "float32", "float64"}


def _wide(array: Any) -> Any:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _infinities_differ(first: Any, second: Any) -> bool:
    infinite = np.isinf(first) | np.isinf(second)
    return not np.array_equal(first[infinite], second[infinite])


def _error(first: Any, second: Any) -> float | None:
    distance = np.abs(first - second)
    differing = distance > 0
    if not differing.any():
        return 0.0
    scale = np.sqrt(np.mean(np.abs(first) ** 2))
    size = np.maximum(np.abs(first), scale)[differing]
    if not size.all():
        return None
    return float(np.max(distance[differing] / size))


def _ulp(first: Any, second: Any) -> int:
    width = first.dtype.itemsize * 8
    compared = ~(np.isnan(first.astype(np.float64)) | np.isnan(second.astype(np.float64)))
    left, right = (_bits(array, width)[compared.reshape(-1)] for array in (first, second))
    if width == 64:
        return _distance_of_doubles(left, right)
    return int(np.max(ulp_distance(left, right, width), initial=0))


def _bits(array: Any, width: int) -> Any:
    plain = np.ascontiguousarray(array).reshape(-1)
    return plain.view(f"u{width // 8}").astype(np.uint64).view(np.int64)


def _distance_of_doubles(first: Any, second: Any) -> int:
    """Distances of doubles of unlike signs do not fit into 64 bits: whole numbers of Python do."""
    unequal = first != second
    pairs = zip(first[unequal].tolist(), second[unequal].tolist(), strict=True)
    whole = (1 << 64) - 1
    return max((ulp_distance(a & whole, b & whole, 64) for a, b in pairs), default=0)


def widened(array: Any) -> Any:
    """Return floats as doubles; other arrays as they are."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.float64) if _is_real_float(array.dtype) else array


def describe(copies: Sequence[Any]) -> dict[str, Any]:
    """Return type and shape of an output, and whether any value is finite.

    Of several copies that differ between devices, the first one counts.
    """
    array = copies[0]
    finite = np.isfinite(_wide(array))
    return {
        "dtype": array.dtype.name,
        "dimensions": list(array.shape),
        "copies": len(copies),
        "finite": bool(finite.all()),
        "informative": bool(finite.any()) or not array.size,
    }
