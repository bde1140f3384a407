"""Shardings in words: `dimension 0 in 4 parts along x, 2 replicas of each`."""

from xlareport.analysis.shardings.axes import Axes, axes_of
from xlareport.hlo.shardings.mesh import Mesh
from xlareport.hlo.shardings.sharding import Sharding, ShardingKind
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.runtime import units

_MEMBERS = 8
_PLAIN = {
    ShardingKind.REPLICATED: "replicated: whole on each device",
    ShardingKind.MANUAL: "manual: the shape is that of one device's part (shard_map)",
    ShardingKind.UNREDUCED: "unreduced: a partial sum of the whole on each device",
    ShardingKind.UNKNOWN: "unknown",
}
_GROUPS = {
    ShardingKind.REPLICATED: "each part on {} devices",
    ShardingKind.MANUAL: "manual over {} devices",
    ShardingKind.UNREDUCED: "partial sums over {} devices",
}


def describe_sharding(sharding: Sharding, mesh: Mesh | None = None) -> str:
    """Return in words which device holds which part, by mesh axes where these explain it."""
    if sharding.kind == ShardingKind.TUPLE:
        members = [describe_sharding(element, mesh) for element in sharding.elements[:_MEMBERS]]
        more = len(sharding.elements) - len(members)
        return "; ".join([*members, *([f"{more:,} more"] if more else [])]) or "empty tuple"
    if sharding.kind == ShardingKind.MAXIMAL:
        devices = sharding.devices.devices() if sharding.devices is not None else None
        return f"whole on device {devices[0]} only" if devices else "whole on one device"
    if sharding.kind != ShardingKind.TILED:
        return _PLAIN[sharding.kind]
    cuts = describe_tiles(sharding.tiles, axes_of(sharding, mesh))
    groups = [_GROUPS[kind].format(f"{size:,}") for kind, size in sharding.subgroups]
    return ", ".join([*([cuts] if cuts else ["not cut"]), *groups])


def words_of(written: str, mesh: Mesh | None) -> str:
    """Return in words what a written sharding is; `not read` where it cannot be parsed."""
    sharding = parse_sharding(written)
    return describe_sharding(sharding, mesh) if sharding is not None else "not read"


def describe_tiles(tiles: tuple[int, ...], axes: Axes | None = None) -> str:
    """Return which dimensions are cut in how many parts; empty if none is."""
    along = axes if axes is not None and len(axes) == len(tiles) else ((),) * len(tiles)
    return ", ".join(
        f"dimension {number} in {units.count(count)} parts{_along(names)}"
        for number, (count, names) in enumerate(zip(tiles, along, strict=True))
        if count > 1
    )


def _along(names: tuple[str, ...]) -> str:
    return f" along {', '.join(names)}" if names else ""
