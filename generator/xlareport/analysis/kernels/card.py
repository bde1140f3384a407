"""The card that the kernels of a module run on, as far as occupancy asks."""

import re
from dataclasses import dataclass

from xlareport.knowledge.devices import Device, device_named, devices
from xlareport.knowledge.multiprocessors import Multiprocessor, capability_of, multiprocessors

_AMD = "gfx"
_CORES = re.compile(rb"\bcore_count: (\d{1,6})\b")


@dataclass(frozen=True, slots=True)
class Card:
    """A card with its multiprocessors."""

    key: str
    """In the table of devices; empty where it is not in it."""
    name: str
    sm: Multiprocessor
    count: int | None
    """Multiprocessors; None where neither the dump nor the table says."""
    count_source: str
    is_hypothetical: bool = False


def card_of(device: Device) -> Card | None:
    """Return a device of the table as a card; None for one that is no NVIDIA GPU."""
    sm = multiprocessors().get(device.capability)
    if sm is None:
        return None
    return Card(device.key, device.name, sm, device.multiprocessors, device.source)


def known_cards() -> tuple[Card, ...]:
    """Return every card of the table of devices."""
    return tuple(card for card in map(card_of, devices().values()) if card is not None)


def find_card(words: str, target: str, config: bytes | None, chosen: Device | None) -> Card | None:
    """Return the card of a module; None where its compute capability is not known.

    The user's choice comes first. `words` are what the dump says of its device, `target` is that of
    its PTX, `config` the content of its `gpu_target_config`.
    """
    own = _own_card(words, target, config)
    other = card_of(chosen) if chosen is not None else None
    if other is None or _AMD in words:
        return own
    if own is not None and own.key == other.key:
        return own
    return Card(
        other.key, other.name, other.sm, other.count, other.count_source, is_hypothetical=True
    )


def _own_card(words: str, target: str, config: bytes | None) -> Card | None:
    capability = capability_of(target) or capability_of(words)
    sm = multiprocessors().get(capability)
    if sm is None:
        return None
    device = device_named(words)
    device = device if device is not None and device.capability == capability else _by(capability)
    cores = _CORES.search(config or b"")
    if cores is not None:
        count, source = int(cores[1]) or None, "core_count of gpu_target_config"
    else:
        count, source = (device.multiprocessors, device.source) if device else (None, "")
    return Card(device.key if device else "", device.name if device else "", sm, count, source)


def _by(capability: str) -> Device | None:
    return next((each for each in devices().values() if each.capability == capability), None)
