"""Devices and the most that each can do: the table `devices.toml`, and tables of the user's."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Device:
    """What one device can do at most, by its maker's word."""

    key: str
    name: str
    matrix_flops: Mapping[str, float]
    """Flops per second of matrix products, by element type of the operands."""
    vector_flops: Mapping[str, float]
    """Flops per second of everything else; empty where the maker gives none."""
    bandwidth: float
    """Bytes per second of the main memory."""
    source: str
    """Where the figures come from."""
    memory: int | None = None
    """Bytes of main memory."""
    aliases: tuple[str, ...] = ()
    """Parts of names by which a dump may call it, in lower case."""
    nominal_for: str = ""
    """The backend whose unknown devices it stands for; empty for a product."""

    def matrix_peak(self, element_type: str) -> float:
        """Return the flops per second of products of one type; the highest where it is unknown."""
        return self.matrix_flops.get(element_type) or max(self.matrix_flops.values())

    def vector_peak(self) -> float:
        """Return the flops per second of other work; of products where it is unknown."""
        return max((self.vector_flops or self.matrix_flops).values())


_ARCHITECTURES = ("sm_", "gfx")
"""Beginnings of aliases that several products share."""


class DeviceTableError(ValueError):
    """A table of devices that cannot be used; its text says which entry and why."""


def parse_devices(text: str) -> Mapping[str, Device]:
    """Parse a table like `devices.toml`. Raises DeviceTableError, naming the entry."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DeviceTableError(f"the table of devices is not TOML: {error}") from error
    return {key: _device(key, entry) for key, entry in table.items()}


@cache
def devices() -> Mapping[str, Device]:
    """Return the devices that are known, by key."""
    return parse_devices(files(__package__).joinpath("devices.toml").read_text("utf-8"))


def is_called(description: str, device: Device) -> bool:
    """Say whether a text has the device's own name, not only its architecture's."""
    names = (device.key, *device.aliases)
    own = (name for name in names if not name.startswith(_ARCHITECTURES))
    return any(name in description.lower() for name in own)


def device_named(description: str, table: Mapping[str, Device] | None = None) -> Device | None:
    """Return the device that a text names, as in `NVIDIA H100 80GB HBM3` or `sm_9.0a`."""
    wanted = description.lower()
    result = [
        (len(alias), device)
        for device in (table or devices()).values()
        for alias in (device.key, *device.aliases)
        if alias in wanted
    ]
    return max(result, key=lambda pair: pair[0])[1] if result else None


def nominal_device(backend: str) -> Device:
    """Return the round figures that stand for a backend's unknown device; a CPU's by default."""
    nominal = {device.nominal_for: device for device in devices().values() if device.nominal_for}
    return nominal.get(backend.lower(), nominal["cpu"])


def _device(key: str, entry: Any) -> Device:
    try:
        return Device(
            key=key,
            name=str(entry["name"]),
            matrix_flops=_rates(entry["matrix_flops"]),
            vector_flops=_rates(entry.get("vector_flops", {})),
            bandwidth=_rate(entry["bandwidth"]),
            source=str(entry["source"]),
            memory=int(entry["memory"]) if "memory" in entry else None,
            aliases=tuple(str(item).lower() for item in entry.get("aliases", [])),
            nominal_for=str(entry.get("nominal_for", "")),
        )
    except KeyError as error:
        raise DeviceTableError(f"device {key}: {error} is missing") from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DeviceTableError(f"device {key}: {error}") from error


def _rates(table: Mapping[str, float]) -> Mapping[str, float]:
    return {str(name): _rate(value) for name, value in table.items()}


def _rate(value: float) -> float:
    rate = float(value)
    if not 0 < rate < float("inf"):
        raise ValueError(f"{value} is not a rate")
    return rate
