"""What chips send one another where several devices share a chip and its links.

The devices of a chip add up, or hand on, what they have in common: of an all-gather, all-reduce or
reduce-scatter each byte passes a link once for the chip. Time within a chip is not counted.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.torus_places import Slice
from xlareport.analysis.cost.wire import CollectiveTraffic, wire_share
from xlareport.knowledge.devices import Device

_EACH_ITS_OWN = frozenset({"all-to-all", "ragged-all-to-all"})
"""Kinds in which each device sends data that no other device of its chip has."""
_PAIRED = "collective-permute"


class ChipTraffic(Struct, frozen=True):
    """A collective as traffic between chips."""

    traffic: CollectiveTraffic
    """Its devices are chips. A chip's bytes are those of all groups that share its links; the size
    of its groups is 1 where nothing leaves a chip."""
    chips: Slice
    """The slice, with chips in the order of their numbers; without a shape where it is unknown."""
    sharing: int = 1
    """Groups of the collective on one chip."""


def count_between_chips(traffic: CollectiveTraffic, device: Device) -> ChipTraffic:
    """Return what chips send one another; of one device per chip the traffic itself."""
    many = device.devices_per_chip
    by_device = traffic.replicas in (1, traffic.devices)
    if many == 1 or not by_device:  # groups of replicas and partitions are not of devices
        return ChipTraffic(traffic, Slice(device.slice_shape, device.assignment))
    ids = device.assignment or range(traffic.devices)
    is_known = sorted(ids) == list(range(traffic.devices))
    chips = Slice(device.slice_shape if is_known else (), ())
    numbers = _ChipNumbers(ids if is_known else range(traffic.devices), many)
    total = -(-traffic.devices // many)
    whole = replace(
        traffic, devices=total, replicas=total if traffic.replicas > 1 else traffic.replicas
    )
    if traffic.kind == _PAIRED:
        return ChipTraffic(_between_pairs(whole, numbers, is_placed=bool(chips.shape)), chips)
    groups = traffic.groups
    if traffic.group_size == traffic.devices or not groups:
        groups = tuple(
            tuple(range(at, at + traffic.group_size))
            for at in range(0, traffic.devices - traffic.group_size + 1, traffic.group_size)
        )
    return _between_groups(whole, numbers, groups, chips)


class _ChipNumbers(Struct, frozen=True):
    """The chip of each device of a program."""

    ids: Sequence[int]
    many: int

    def of(self, devices: Iterable[int]) -> tuple[int, ...]:
        """Return the chips of devices, in their order."""
        count = len(self.ids)
        return tuple((self.ids[at] if at < count else at) // self.many for at in devices)


def _between_pairs(
    traffic: CollectiveTraffic, numbers: _ChipNumbers, *, is_placed: bool
) -> CollectiveTraffic:
    """Return permutes between chips; without places a link sends what all its pairs do."""
    pairs = tuple((source, target) for source, target in map(numbers.of, traffic.pairs))
    leaves = not pairs or any(source != target for source, target in pairs)
    between = replace(traffic, pairs=pairs, groups=pairs, group_size=2 if leaves else 1)
    crossing = Counter(pair for pair in pairs if pair[0] != pair[1])
    sharing = 1 if is_placed else max(crossing.values(), default=1)
    return replace(
        between,
        data_bytes=between.data_bytes * sharing,
        wire_bytes=between.wire_bytes * sharing,
    )


def _between_groups(
    traffic: CollectiveTraffic,
    numbers: _ChipNumbers,
    groups: Sequence[tuple[int, ...]],
    chips: Slice,
) -> ChipTraffic:
    counts = [Counter(numbers.of(group)) for group in groups]
    size = max(map(len, counts), default=1)
    members = max((max(count.values()) for count in counts if count), default=1)
    sharing = max(Counter(chip for count in counts for chip in count).values(), default=1)
    data = traffic.data_bytes * sharing * (members if traffic.kind in _EACH_ITS_OWN else 1)
    between = replace(
        traffic,
        groups=tuple(dict.fromkeys(tuple(sorted(count)) for count in counts)),
        group_size=size,
        data_bytes=data,
        wire_bytes=int(data * wire_share(traffic.kind, size)),
    )
    return ChipTraffic(between, chips, sharing)
