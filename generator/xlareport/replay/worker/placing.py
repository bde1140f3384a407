"""Arrays on several devices: their parts, and the whole array of parts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_Value = Mapping[str, Any]
"""Dimensions of the array, those of a shard, and the box of each device."""


def parts_of(array: Any, value: _Value) -> list[Any]:
    """Return each device's shard of an array; shards at the end are padded with zeros."""
    return [_shard_of_array(array, box, value["local"]) for box in value["boxes"]]


def _shard_of_array(array: Any, box: Sequence[Sequence[int]], local: Sequence[int]) -> Any:
    held = array[tuple(slice(start, stop) for start, stop in box)]
    if len(local) != held.ndim:  # the first dimension counts the replicas
        return held.reshape(local)
    missing = [(0, wanted - size) for wanted, size in zip(local, held.shape, strict=True)]
    return np.pad(held, missing) if any(after for _, after in missing) else held


def whole_of(parts: Sequence[Any], value: _Value) -> list[Any]:
    """Return the array of the parts of all devices, and others where copies of a part differ.

    The first of several holds the copies of the first devices, the last those of the last.
    """
    copies: list[list[int]] = []
    taken: dict[str, int] = {}
    for device, box in enumerate(value["boxes"]):
        number = taken.get(str(box), 0)
        taken[str(box)] = number + 1
        if number == len(copies):
            copies.append([])
        copies[number].append(device)
    first = _assembled(parts, copies[0], value)
    wholes = [first]
    for devices in copies[1:]:
        other = _assembled(parts, devices, value, first)
        if wholes[0].tobytes() != other.tobytes():
            wholes.append(other)
    return wholes


def _assembled(
    parts: Sequence[Any], devices: Sequence[int], value: _Value, like: Any = None
) -> Any:
    whole = np.zeros(tuple(value["dimensions"]), parts[0].dtype) if like is None else like.copy()
    for device in devices:
        place = tuple(slice(start, stop) for start, stop in value["boxes"][device])
        sizes = [stop - start for start, stop in value["boxes"][device]]
        held = parts[device]
        if held.ndim == len(sizes):
            held = held[tuple(slice(0, size) for size in sizes)]
        whole[place] = held.reshape(sizes)
    return whole
