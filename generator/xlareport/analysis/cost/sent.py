"""Bytes that each device sends in all collectives of a module.

In a collective-permute only the sources of its pairs send, so that the sum over collectives is more
than any device sends where their sources differ.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from xlareport.analysis.cost.wire import CollectiveTraffic


class SentBytes(Struct, frozen=True):
    """Bytes sent per execution of the module."""

    most: int
    """By the device that sends most; an upper bound where it is not known who sends."""
    even: bool
    """Whether every device sends as much."""
    by_all: int


def count_sent(sent: Iterable[tuple[CollectiveTraffic, int]]) -> SentBytes:
    """Return the bytes sent; takes each collective with how often it counts.

    A device is a partition of a replica; pairs are of partitions or of replicas.
    """
    by_each, by_all, even = 0, 0, True
    partitions: Counter[int] = Counter()
    replicas: Counter[int] = Counter()
    sizes = (1, 1)
    for traffic, times in sent:
        sizes = (traffic.devices // traffic.replicas, traffic.replicas)
        size = traffic.wire_bytes * times
        by_all += size * traffic.senders
        if not traffic.pairs:
            by_each += size
            even = even and (not size or traffic.senders == traffic.devices)
            continue
        senders = {source for source, target in traffic.pairs if source != target}
        (replicas if traffic.between_replicas else partitions).update(dict.fromkeys(senders, size))
    spread = [*map(_is_even, (partitions, replicas), sizes)]
    most = by_each + max(partitions.values(), default=0) + max(replicas.values(), default=0)
    return SentBytes(most, even and all(spread), by_all)


def _is_even(by_id: Mapping[int, int], count: int) -> bool:
    """Return whether all of so many senders send as much, or none sends anything."""
    sizes = {size for size in by_id.values() if size}
    return not sizes or (len(sizes) == 1 and sum(map(bool, by_id.values())) == count)
