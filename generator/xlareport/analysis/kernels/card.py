"""The card that the kernels of a module run on, with the limits for occupancy."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.kernels.kernel_occupancy import Unit
from xlareport.knowledge.compute_units import ComputeUnit, amd_target_of, compute_units
from xlareport.knowledge.devices import Device, device_named, devices
from xlareport.knowledge.multiprocessors import capability_of, multiprocessors
from xlareport.readers.gpu_objects import ObjectKernel

_AMD_TABLE = "ROCm documentation, AMD GPU specifications"


class Card(Struct, frozen=True):
    """A card with its multiprocessors, or with the compute units of an AMD GPU."""

    key: str
    """In the table of devices; empty where it is not in it."""
    name: str
    unit: Unit
    count: int | None
    """Number of multiprocessors or compute units; None if unknown."""
    count_source: str
    is_hypothetical: bool = False

    def running(self, code: ObjectKernel | None) -> "Card":
        """Return the card as it runs machine code: on AMD GPUs perhaps in pairs of units."""
        if code is None or not isinstance(self.unit, ComputeUnit):
            return self
        unit = self.unit.running(code.warp, in_pairs=code.in_pairs)
        halves = unit.partitions // self.unit.partitions
        return replace(self, unit=unit, count=self.count // halves if self.count else self.count)

    def could_run(self, other: "Card") -> bool:
        """Return whether a launch on another card can be imagined on this one."""
        if isinstance(self.unit, ComputeUnit) and isinstance(other.unit, ComputeUnit):
            return self.unit.is_paired == other.unit.is_paired
        return isinstance(self.unit, ComputeUnit) == isinstance(other.unit, ComputeUnit)


def card_of(device: Device) -> Card | None:
    """Return a device of the table as a card; None if its limits are unknown."""
    unit = multiprocessors().get(device.capability) or compute_units().get(device.capability)
    if unit is None:
        return None
    source = device.source.partition(";")[0]
    return Card(device.key, device.name, unit, device.multiprocessors, source)


def known_cards() -> tuple[Card, ...]:
    """Return every card of the tables of devices and of compute units."""
    listed = tuple(card for card in map(card_of, devices().values()) if card is not None)
    names = {card.name for card in listed}
    return (*listed, *(card for card in _amd_cards() if card.name not in names))


def find_card(words: str, target: str, cores: int | None, chosen: Device | None) -> Card | None:
    """Return the card of a module; None if its limits are unknown.

    The user's choice comes first. `words` describe the device in the dump, `target` is the target
    of its PTX or code objects, `cores` is `core_count` of its `gpu_target_config`.
    """
    named = _own_card(words, target, cores)
    other = card_of(chosen) if chosen is not None else None
    if other is None or named is None:
        is_unknown_amd = named is None and bool(amd_target_of(f"{words} {target}"))
        return named if other is None or is_unknown_amd else _imagined(other)
    if named.key == other.key or not other.could_run(named):
        return named
    return _imagined(other)


def _imagined(card: Card) -> Card:
    return replace(card, is_hypothetical=True)


def _own_card(words: str, target: str, cores: int | None) -> Card | None:
    amd = amd_target_of(target) or amd_target_of(words)
    capability = amd or capability_of(target) or capability_of(words)
    unit = compute_units().get(amd) if amd else multiprocessors().get(capability)
    if unit is None:
        return None
    device = device_named(words)
    device = device if device is not None and device.capability == capability else _by(capability)
    card = Card("", "", unit, None, "") if device is None else card_of(device)
    if card is not None and cores is not None:
        return replace(card, count=cores, count_source="core_count of gpu_target_config")
    return card


def _by(capability: str) -> Device | None:
    return next((device for device in devices().values() if device.capability == capability), None)


def _amd_cards() -> Iterator[Card]:
    for unit in compute_units().values():
        for name, count in unit.cards.items():
            yield Card("", name, unit, count, _AMD_TABLE)
