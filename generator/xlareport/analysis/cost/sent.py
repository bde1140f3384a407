"""Bytes that each device sends in all collectives of a module.

In a collective-permute only the sources of its pairs send, so that devices may send different sums.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from xlareport.analysis.cost.wire import CollectiveTraffic


class SentBytes(Struct, frozen=True):
    """Bytes sent per execution of the module."""

    most: int
    """By the device that sends most; an upper bound where it is not known who sends."""
    least: int
    """By the device that sends least; a lower bound where it is not known who sends."""
    by_all: int
    is_exact: bool
    """Whether it is known of each collective which devices send."""


def count_sent(sent: Iterable[tuple[CollectiveTraffic, int]]) -> SentBytes:
    """Return the bytes sent; takes each collective with how often it counts.

    A device is a partition of a replica; pairs are of partitions or of replicas.
    """
    by_each, by_some, by_all = 0, 0, 0
    partitions: Counter[int] = Counter()
    replicas: Counter[int] = Counter()
    sizes = (1, 1)
    for traffic, times in sent:
        sizes = (traffic.devices // traffic.replicas, traffic.replicas)
        size = traffic.wire_bytes * times
        by_all += size * traffic.senders
        if not traffic.pairs:
            is_each = traffic.senders == traffic.devices
            by_each += size if is_each else 0
            by_some += 0 if is_each else size
            continue
        senders = {source for source, target in traffic.pairs if source != target}
        (replicas if traffic.between_replicas else partitions).update(dict.fromkeys(senders, size))
    ranges = [*map(_range, (partitions, replicas), sizes)]
    least, most = (by_each + sum(ends) for ends in zip(*ranges, strict=True))
    return SentBytes(most + by_some, least, by_all, is_exact=not by_some)


def _range(by_id: Mapping[int, int], count: int) -> tuple[int, int]:
    """Return the least and the most bytes that one of the ids below `count` sends."""
    sizes = [by_id[number] for number in sorted(by_id)]
    return (min(sizes, default=0) if len(sizes) >= count else 0), max(sizes, default=0)
