"""Shardings along mesh axes as tiles: axes of each dimension, and the remaining ones."""

from collections.abc import Mapping, Sequence
from math import prod

from msgspec import Struct

from xlareport.hlo.shardings.device_order import MOST_DIMENSIONS, DeviceOrder
from xlareport.hlo.shardings.mesh import AxisPart, Mesh, count_devices, order_along, part_sizes
from xlareport.hlo.shardings.sharding import DimensionAxes, Sharding, ShardingKind, tiled


class AxisWords(Struct, frozen=True):
    """The axes after the dimensions: `replicated={'x'}, unreduced={'y'}, manual={'z'}`."""

    replicated: tuple[AxisPart, ...] = ()
    unreduced: tuple[AxisPart, ...] = ()
    manual: tuple[AxisPart, ...] = ()

    @staticmethod
    def of(lists: Mapping[str, tuple[AxisPart, ...] | None]) -> "AxisWords | None":
        """Return the lists by their words; None for another word, or an unreadable list."""
        known = {word: axes for word, axes in lists.items() if axes is not None}
        if len(known) < len(lists) or not known.keys() <= {"replicated", "unreduced", "manual"}:
            return None
        return AxisWords(
            known.get("replicated", ()), known.get("unreduced", ()), known.get("manual", ())
        )


def make_named(
    mesh: Mesh, dimensions: Sequence[DimensionAxes], words: AxisWords | None
) -> Sharding | None:
    """Return the sharding along axes as tiles and devices; None where an axis is unknown.

    As XLA turns it into tiles: dimensions first, then what neither cuts nor is manual or
    unreduced, in the order of the mesh.
    """
    if words is None or len(dimensions) > MOST_DIMENSIONS:
        return None
    cutting = [part for dimension in dimensions for part in dimension.axes]
    order = order_along(mesh, [*cutting, *words.manual, *words.unreduced])
    lists = [*(dimension.axes for dimension in dimensions), words.manual, words.unreduced]
    sizes = [part_sizes(mesh, axes) for axes in lists]
    if order is None or None in sizes or part_sizes(mesh, words.replicated) is None:
        return None
    counts = tuple(prod(size) for size in sizes if size is not None)
    return _tiled_by_counts(mesh, tuple(dimensions), counts, order)


def _tiled_by_counts(
    mesh: Mesh, dimensions: tuple[DimensionAxes, ...], counts: tuple[int, ...], order: DeviceOrder
) -> Sharding:
    """Make a sharding of the counts of parts: by dimension, then manual and unreduced ones."""
    tiles, (manual, unreduced) = counts[: len(dimensions)], counts[len(dimensions) :]
    everyone = count_devices(mesh)
    groups = (
        (ShardingKind.MANUAL, manual),
        (ShardingKind.UNREDUCED, unreduced),
        (ShardingKind.REPLICATED, everyone // prod(counts)),
    )
    return tiled(tiles, groups, order, mesh, dimensions)
