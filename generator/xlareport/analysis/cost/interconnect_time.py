"""How long a collective takes by the bandwidth of the links: a model, not a measurement.

A group whose devices one switch connects sends at the bandwidth of a device. Between domains every
member sends its share over the network. In a torus a group extends along the dimensions along which
its devices lie, or along one where that is not known; a dimension that is no ring has one link at
its ends. Devices of one chip share its links. Latency counts only where the table of devices has
one. Every estimate of a collective is made here.
"""

from collections.abc import Sequence
from math import prod

from msgspec import Struct

from xlareport.analysis.cost.chip_traffic import count_between_chips
from xlareport.analysis.cost.torus_places import Extent, Slice
from xlareport.analysis.cost.wire import ONE_SHOT, TWO_SHOT, CollectiveTraffic
from xlareport.knowledge.devices import Device
from xlareport.knowledge.interconnects import Interconnect, interconnects

WITHOUT_LATENCY = "bytes alone, no latency"
_WITHIN = "the bandwidth between the devices of a chip is not known"
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
    is_torus = links.topology == "torus"
    time = _in_torus(traffic, links, device) if is_torus else _through_switch(traffic, links)
    if time.seconds is None or links.latency:
        return time
    return ModeledTime(time.seconds, f"{time.reason}; {WITHOUT_LATENCY}")


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


def _in_torus(traffic: CollectiveTraffic, links: Interconnect, device: Device) -> ModeledTime:
    between = count_between_chips(traffic, device)
    sent, chips = between.traffic, between.chips
    if sent.group_size < 2:
        return ModeledTime(None, _WITHIN)
    is_placed = chips.holds(sent.devices) and sent.replicas in (1, sent.devices)
    latency = links.latency * _steps(sent)
    if sent.kind in _ONE_HOP:
        shared = max(1, _busiest_link(sent, links, chips)) if is_placed else 1
        seconds = sent.wire_bytes * shared / _link(links)
        where = f", shared by {shared} messages" if shared > 1 else ""
        return ModeledTime(seconds + latency, f"{_link_words(links)}{where}")
    forms = _forms(sent, chips) if is_placed else ()
    assumed = (Extent(sent.group_size, 1, is_whole=True),)
    times = {form: _time_along(sent, links, form, chips.shape) for form in forms or (assumed,)}
    slowest = max(times, key=lambda form: times[form])
    where = _form_words(slowest, links, chips.shape, sent.devices)
    in_order = "" if device.assignment else ", if devices are in the order of their ids"
    basis = in_order if forms else ", if it lies along one dimension"
    with_devices = _sharing_words(device.devices_per_chip, between.sharing)
    return ModeledTime(
        times[slowest] + latency, f"{_link_words(links)}, {where}{with_devices}{basis}"
    )


def _sharing_words(devices: int, groups: int) -> str:
    """Return words for several devices of a chip, which share its links."""
    together = f", whose links {groups} groups share" if groups > 1 else ""
    return f" with {devices} devices each{together}" if devices > 1 else ""


def _time_along(
    traffic: CollectiveTraffic,
    links: Interconnect,
    form: Sequence[Extent],
    slice_shape: Sequence[int],
) -> float:
    """Return the seconds of a group that lies along these dimensions, without latency."""
    rates = [
        _link(links)
        * (2 if _is_ring(extent, links, slice_shape, traffic.devices) else 1)
        / extent.stride
        for extent in form
    ]
    seconds = traffic.wire_bytes / sum(rates)
    if traffic.kind in _ALL_TO_ALL:
        middles = (
            extent.count * traffic.data_bytes / 4 / rate
            for extent, rate in zip(form, rates, strict=True)
        )
        seconds = max(seconds, *middles)
    return seconds


def _forms(traffic: CollectiveTraffic, chips: Slice) -> tuple[tuple[Extent, ...], ...]:
    """Return the different forms of the groups in the torus; empty if one is no regular grid."""
    groups = traffic.groups
    if traffic.group_size == traffic.devices:
        groups = (tuple(range(traffic.devices)),)
    if not groups or max(map(len, groups)) != traffic.group_size:
        return ()
    forms = {chips.extents(group) for group in groups if len(group) > 1}
    return () if () in forms else tuple(sorted(forms, key=repr))


def _busiest_link(traffic: CollectiveTraffic, links: Interconnect, chips: Slice) -> int:
    closed = [
        _is_ring(Extent(size, 1, is_whole=True), links, chips.shape, traffic.devices)
        for size in chips.shape
    ]
    return chips.busiest_link(traffic.pairs, closed)


def _is_ring(extent: Extent, links: Interconnect, slice_shape: Sequence[int], devices: int) -> bool:
    """Return whether a dimension of a group is closed to a ring.

    A slice of a 3D torus is closed if each dimension is a multiple of four chips.
    """
    wraps = links.wraps
    if wraps is None or not extent.is_whole or extent.count * extent.stride < wraps:
        return False
    if links.dimensions != _CUBIC:
        return True
    if prod(slice_shape) == devices:
        return all(size % wraps == 0 for size in slice_shape)
    return devices % (wraps * wraps * wraps) == 0


def _link(links: Interconnect) -> float:
    return links.link or links.bandwidth


def _link_words(links: Interconnect) -> str:
    return f"{_link(links) / 1e9:,.4g} GB/s of one link"


def _form_words(
    form: Sequence[Extent], links: Interconnect, slice_shape: Sequence[int], devices: int
) -> str:
    """Return words for a form: `a block of 2x2 chips`, `a ring of 16 chips`."""
    sizes = "x".join(str(extent.count) for extent in form)
    rings = all(_is_ring(extent, links, slice_shape, devices) for extent in form)
    name = ("ring" if rings else "line") if len(form) == 1 else ("torus" if rings else "block")
    stride = max(extent.stride for extent in form)
    apart = f", {stride} links apart, which other groups share" if stride > 1 else ""
    return f"a {name} of {sizes} chips{apart}"


def _steps(traffic: CollectiveTraffic) -> int:
    if traffic.kind in _ONE_HOP or traffic.algorithm == ONE_SHOT:
        return 1
    if traffic.algorithm == TWO_SHOT:
        return 2
    return (traffic.group_size - 1) * (2 if traffic.kind == "all-reduce" else 1)
