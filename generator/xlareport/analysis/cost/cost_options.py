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


def choose_device(words: str, backend: str | None, cost_options: CostOptions) -> tuple[Device, str]:
    """Return the device for estimates, and the grade of that choice.

    `words` describe the device in the dump. A device chosen by the user takes precedence. `words`
    may also give the shape of a slice.
    """
    device, grade = _choose(words, backend, cost_options)
    shape = _SLICE.search(words)
    return (
        replace(device, slice_shape=tuple(map(int, shape.groups()))) if shape else device
    ), grade


def _choose(words: str, backend: str | None, cost_options: CostOptions) -> tuple[Device, str]:
    if cost_options.device is not None:
        return cost_options.device, "chosen"
    user_device = device_named(words, cost_options.devices) if cost_options.devices else None
    named = user_device or device_named(words)
    if named is not None:
        return named, "exact" if is_called(words, named) else "matched"
    return nominal_device(backend or "cpu"), "guessed"
