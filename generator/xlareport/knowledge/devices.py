"""Devices and the most that each can do: the table `devices.toml`, and tables of the user's."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert

from xlareport.knowledge.interconnects import Interconnect, Rate


class Device(Struct, frozen=True):
    """The peak rates of one device, as published by its maker."""

    key: str
    name: str
    matrix_flops: Mapping[str, Rate]
    """Flops per second of matrix products, by element type of the operands."""
    vector_flops: Mapping[str, Rate]
    """Flops per second of everything else; empty where the maker gives none."""
    bandwidth: Rate
    """Bytes per second of the device memory."""
    source: str
    """Where the figures come from."""
    memory: int | None = None
    """Bytes of device memory."""
    aliases: tuple[str, ...] = ()
    """Parts of names by which a dump may call it."""
    interconnect: Rate | None = None
    """Bytes per second of its chip to other chips; None if the maker publishes none."""
    devices_per_chip: Annotated[int, Meta(ge=1, le=1024)] = 1
    """Devices that share a chip and its links: those of a TPU v2, v3 and 7x are its two cores."""
    host_link: Rate | None = None
    """Bytes per second to the host's memory, or from it; None where the maker gives none."""
    f32_products: str = ""
    """Default implementation of f32 matmuls: `bf16 passes`, `tf32`; else f32."""
    links: Interconnect | None = None
    """Its interconnect, if the user's own table has it."""
    nominal_for: str = ""
    """The backend for whose unknown devices it is used; empty for a product."""
    capability: str = ""
    """The compute capability of an NVIDIA GPU, `9.0`, or the target of an AMD GPU, `gfx942`."""
    multiprocessors: int | None = None
    """Multiprocessors or compute units of a GPU; None where it is none."""
    slice_shape: tuple[int, ...] = ()
    """Of a TPU the chips along each dimension of the slice that a dump names; empty if none."""
    assignment: tuple[int, ...] = ()
    """The ids of the devices that run a program, in the order of its own numbers; empty if the
    dump does not say: in the order of their ids."""

    @property
    def backend(self) -> str:
        """Its backend, `gpu` or `tpu`; empty for an entry of a user without a capability."""
        tpu = "tpu" if self.key.startswith("tpu-") else ""
        return self.nominal_for or ("gpu" if self.capability else tpu)

    @property
    def names(self) -> tuple[str, ...]:
        """Its key and its aliases in lower case."""
        return (self.key, *map(str.lower, self.aliases))

    def matrix_peak(self, kind: str) -> float:
        """Return the FLOP/s of matmuls of one kind, `bf16`, `f32 highest`, `bf16 x3`."""
        unit, passes = self.passes(kind)
        rates = self.vector_flops if unit == "vector f32" else self.matrix_flops
        return _rate_of(unit.removeprefix("vector "), rates or self.matrix_flops) / passes

    def product_words(self, kind: str) -> str:
        """Return how the chip computes a kind of dot, as in `6 bf16 passes`, `TF32`.

        `not known` for types without a published rate: the compiler converts them, or the chip
        cannot multiply them.
        """
        unit, passes = self.passes(kind)
        if unit == "tf32" and self.f32_products == "tf32":
            return "TF32 in the matrix units"
        if unit == "vector f32":
            return "f32 outside of the matrix units"
        listed = {*self.matrix_flops, *self.vector_flops}
        if not {unit, _SIGNED.get(unit, unit)} & listed:
            return "not known"
        if passes == 1 and not (self.f32_products and kind.startswith("f32")):
            return unit
        return f"{passes} {unit} pass{'es' if passes > 1 else ''}"

    def vector_peak(self, element_type: str = "") -> float:
        """Return the FLOP/s of other work; the rate of matmuls if it is unknown."""
        return _rate_of(element_type or "f32", self.vector_flops or self.matrix_flops)

    def vector_seconds(self, flops: Iterable[tuple[str, int]]) -> float:
        """Return the least time of other work, (element type, FLOPs); 0 if its rate is unknown.

        The rate of matmuls would be no bound: the matrix units do no other work.
        """
        if not self.vector_flops:
            return 0.0
        return sum(count / self.vector_peak(element_type) for element_type, count in flops)

    def passes(self, kind: str) -> tuple[str, int]:
        """Return the type that the chip multiplies, and in how many passes."""
        element_type, _, setting = kind.partition(" ")
        if setting.startswith("x") and setting[1:].isdigit():
            return element_type, max(1, int(setting[1:]))
        if element_type == "f32" and self.f32_products == "bf16 passes":
            return "bf16", _BF16_PASSES.get(setting, 1)
        if element_type == "f32" and self.f32_products == "tf32":
            return ("vector f32" if setting == "highest" else "tf32"), 1
        return element_type, 1


_BF16_PASSES = {"": 1, "high": 3, "highest": 6}
"""Of an f32 product on a TPU: https://docs.jax.dev/en/latest/jax.lax.html#jax.lax.Precision."""
_NARROWER = ("f64", "f32", "tf32", "bf16", "f16", "f8e5m2", "f8e4m3fn", "s8", "s4")
"""Types from wide to narrow: a wide one runs no faster than the next narrow one that is listed."""
_ALIKE = {"tf32": "f32", "f16": "bf16", "u8": "s8", "f8e4m3fnuz": "f8e4m3fn", "u4": "s4"}
_SIGNED = {"u8": "s8"}
"""Integers that are multiplied as fast as those with a sign, where the maker names only these."""
_ARCHITECTURES = ("sm_", "gfx")
"""Beginnings of aliases that several products share."""


class DeviceTableError(ValueError):
    """An invalid table of devices; the message says which entry and why."""


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
    """Return whether a text has the device's own name, not only its architecture's."""
    device_names = (name for name in device.names if not name.startswith(_ARCHITECTURES))
    return any(name in description.lower() for name in device_names)


def device_named(description: str, table: Mapping[str, Device] | None = None) -> Device | None:
    """Return the device that a text names, as in `NVIDIA H100 80GB HBM3` or `sm_9.0a`."""
    wanted = description.lower()
    matches = [
        (len(alias), device)
        for device in (table or devices()).values()
        for alias in device.names
        if alias in wanted
    ]
    return max(matches, key=lambda pair: pair[0])[1] if matches else None


def nominal_device(backend: str) -> Device:
    """Return the round figures that represent a backend's unknown device; a CPU's by default."""
    nominal = {device.nominal_for: device for device in devices().values() if device.nominal_for}
    return nominal.get(backend.lower(), nominal["cpu"])


def _device(key: str, entry: object) -> Device:
    try:
        fields = convert(entry, dict[str, Any])
        return convert({"vector_flops": {}, **fields, "key": key}, Device, strict=False)
    except ValidationError as error:
        raise DeviceTableError(f"device {key}: {error}") from error


def _rate_of(element_type: str, rates: Mapping[str, float]) -> float:
    """Return the rate of a type, else of the next narrower one that is listed, else the highest."""
    if element_type in rates:
        return rates[element_type]
    alike = _ALIKE.get(element_type, element_type)
    wanted = _NARROWER[_NARROWER.index(alike) :] if alike in _NARROWER else ()
    return next((rates[name] for name in wanted if name in rates), max(rates.values()))
