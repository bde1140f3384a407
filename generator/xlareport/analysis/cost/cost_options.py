"""The device that estimates of a module are made for: one for all of its pages."""

import re
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.knowledge.devices import Device, device_named, is_called, nominal_device

_SLICE = re.compile(r"slice-shape=(\d{1,6})x(\d{1,6})x(\d{1,6})")


class CostOptions(Struct, frozen=True):
    """Options of the cost model: devices, the assumed device, topology."""

    devices: Mapping[str, Device] = field(default_factory=dict)
    """Devices of the user's own; they come before those that are known."""
    device: Device | None = None
    """The assumed device; takes precedence over the one in the dump."""
    with_source: bool = False
    """Show lines of the source files that the dump names, where this machine has them."""
    others: str = ""
    """For a module that names no device, the texts by which the dump's other modules name theirs;
    empty where these differ or name none."""


def choose_device(words: str, backend: str | None, cost_options: CostOptions) -> tuple[Device, str]:
    """Return the device for estimates, and the grade of that choice.

    `words` describe the device in the dump. A device chosen by the user takes precedence. `words`
    may also give the shape of a slice.
    """
    if cost_options.device is not None:
        return _in_slice(cost_options.device, words), "chosen"
    named = named_device(words, cost_options)
    if named is not None:
        return named, "exact" if is_called(words, named) else "matched"
    other = named_device(cost_options.others, cost_options) if cost_options.others else None
    if other is not None and backend and other.backend == backend.lower():
        return other, "others"
    return _in_slice(nominal_device(backend or "cpu"), words), "guessed"


def named_device(words: str, cost_options: CostOptions) -> Device | None:
    """Return the device that texts of a dump name, with the shape of its slice; None if none."""
    own = device_named(words, cost_options.devices) if cost_options.devices else None
    named = own or device_named(words)
    return _in_slice(named, words) if named is not None else None


def _in_slice(device: Device, words: str) -> Device:
    shape = _SLICE.search(words)
    return replace(device, slice_shape=tuple(map(int, shape.groups()))) if shape else device
