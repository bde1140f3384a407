"""How long a collective takes by the bandwidth of the links: a model, not a measurement.

A group whose devices one switch connects sends at the bandwidth of a device. Between domains every
member sends its share over the network. In a torus a group extends along one dimension, a group of
the whole slice along all; a dimension that is no ring has one link at its ends. Latency counts only
where the table of devices has one. Every estimate of a collective is made here.
"""

from collections.abc import Sequence
from math import prod

from msgspec import Struct

from xlareport.analysis.cost.wire import ONE_SHOT, TWO_SHOT, CollectiveTraffic
from xlareport.knowledge.devices import Device
from xlareport.knowledge.interconnects import Interconnect, interconnects

NOT_MODELED = "no bandwidth between devices is known for {name}"
_ALL_TO_ALL = frozenset({"all-to-all", "ragged-all-to-all"})
_CUBIC = 3
_ONE_HOP = frozenset({"collective-permute", "collective-broadcast"})


class ModeledTime(Struct, frozen=True):
    """The modeled time of one execution of a collective."""

    seconds: float | None
    reason: str
    """The basis of the estimate; if there is none, why not."""


def links_of(device: Device) -> Interconnect | None:
    """Return a device's interconnect: from its own table, the report's, or its bandwidth."""
    links = device.links or interconnects().get(device.key)
    if links is not None or not device.interconnect:
        return links
    return Interconnect("switch", device.interconnect, device.source)


def model_time(traffic: CollectiveTraffic, device: Device) -> ModeledTime:
    """Return how long one run of a collective takes."""
    links = links_of(device)
    if links is None:
        return ModeledTime(None, NOT_MODELED.format(name=device.name))
    if traffic.group_size < 2 or not traffic.wire_bytes:
        return ModeledTime(0.0, "nothing is sent")
    if links.topology == "torus":
        return _in_torus(traffic, links, device.slice_shape)
    return _through_switch(traffic, links)


def _through_switch(traffic: CollectiveTraffic, links: Interconnect) -> ModeledTime:
    inside = _members_in_domain(traffic, links.domain)
    latency = links.latency * _steps(traffic)
    if inside >= traffic.group_size:
        seconds = traffic.wire_bytes / links.bandwidth + latency
        return ModeledTime(seconds, f"{links.bandwidth / 1e9:,.4g} GB/s of one device")
    if links.beyond is None:
        return ModeledTime(None, f"a group is larger than a domain of {links.domain} devices")
    if traffic.kind in _ONE_HOP:
        seconds = traffic.wire_bytes / links.beyond
    elif traffic.kind in _ALL_TO_ALL:
        outside = traffic.data_bytes * (traffic.group_size - inside) / traffic.group_size
        seconds = max(outside / links.beyond, traffic.wire_bytes / links.bandwidth)
    else:
        seconds = traffic.wire_bytes / min(links.bandwidth, links.beyond * inside)
    return ModeledTime(
        seconds + latency,
        f"{links.beyond / 1e9:,.4g} GB/s of one device to other domains, {inside} members in each",
    )


def _members_in_domain(traffic: CollectiveTraffic, domain: int | None) -> int:
    """Return how many members of a group share a domain, by their numbers; the fewest of all."""
    if domain is None:
        return traffic.group_size
    if not traffic.groups:
        return min(traffic.group_size, domain) if traffic.devices > domain else traffic.group_size
    fewest = traffic.group_size
    for group in traffic.groups:
        counts: dict[int, int] = {}
        for device in group:
            counts[device // domain] = counts.get(device // domain, 0) + 1
        if len(counts) > 1:
            fewest = min(fewest, *counts.values())
    return fewest


def _in_torus(
    traffic: CollectiveTraffic, links: Interconnect, slice_shape: Sequence[int]
) -> ModeledTime:
    link = links.link or links.bandwidth
    extents = _extents(traffic, slice_shape)
    rings = _are_rings(extents, links, slice_shape, traffic.devices)
    bandwidth = link * (2 if rings else 1)
    latency = links.latency * _steps(traffic)
    form = "ring" if rings else "line"
    where = f"{link / 1e9:,.4g} GB/s of one link, a {form} along {_dimensions(len(extents))}"
    if traffic.kind in _ONE_HOP:
        return ModeledTime(
            traffic.wire_bytes / link + latency, f"{link / 1e9:,.4g} GB/s of one link"
        )
    seconds = traffic.wire_bytes / (bandwidth * len(extents))
    if traffic.kind in _ALL_TO_ALL:
        seconds = max(seconds, max(extents) * traffic.data_bytes / 4 / bandwidth)
    return ModeledTime(seconds + latency, where)


def _are_rings(
    extents: Sequence[int], links: Interconnect, slice_shape: Sequence[int], devices: int
) -> bool:
    """Return whether the torus dimensions of a group are closed to rings.

    A slice of a 3D torus is closed if each dimension is a multiple of four chips.
    """
    wraps = links.wraps
    if wraps is None or any(extent < wraps for extent in extents):
        return False
    if links.dimensions != _CUBIC:
        return True
    if prod(slice_shape) == devices:
        return all(size % wraps == 0 for size in slice_shape)
    return devices % (wraps * wraps * wraps) == 0


def _dimensions(count: int) -> str:
    return "one dimension" if count == 1 else f"{count} dimensions"


def _extents(traffic: CollectiveTraffic, slice_shape: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes of the torus dimensions that a group extends along."""
    sizes = tuple(size for size in slice_shape if size > 1)
    if traffic.group_size == traffic.devices and prod(sizes) == traffic.devices:
        return sizes
    return (traffic.group_size,)


def _steps(traffic: CollectiveTraffic) -> int:
    if traffic.kind in _ONE_HOP or traffic.algorithm == ONE_SHOT:
        return 1
    if traffic.algorithm == TWO_SHOT:
        return 2
    return (traffic.group_size - 1) * (2 if traffic.kind == "all-reduce" else 1)
