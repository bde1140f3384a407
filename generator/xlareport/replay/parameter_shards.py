"""Finds the shard of each parameter and result on a device, from the partitioning step."""

from collections.abc import Iterator, Sequence

from xlareport.analysis.cost.partitions import is_partitioned
from xlareport.analysis.shardings.moved import IndexBounds, device_boxes
from xlareport.analysis.shardings.partitioning import find_partitioning
from xlareport.hlo.model import HloModule
from xlareport.hlo.shape import Shape
from xlareport.hlo.shardings.sharding import Sharding, ShardingKind
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.replay.placement import Placement, ValuePlacement
from xlareport.replay.runnable_program import NotRunnableError

MOST_DEVICES = 64
"""Limit on devices: each is a thread with a copy of its data."""
_WHOLE = Sharding(ShardingKind.REPLICATED)


def find_placement(modules: Sequence[HloModule], module: HloModule) -> Placement | None:
    """Return the placement of values of one of a module's snapshots; None for one device.

    Before the SPMD partitioner a program has whole arrays, which one device can run. Raises
    NotRunnableError if the dump does not show the placement.
    """
    replicas, partitions = module.replica_count, module.partition_count
    if replicas > 1 and partitions > 1:
        raise NotRunnableError(f"it has {replicas} replicas of {partitions} partitions each")
    if max(replicas, partitions) > MOST_DEVICES:
        raise NotRunnableError(
            f"it runs on {max(replicas, partitions):,} devices; {MOST_DEVICES} are the most"
        )
    if replicas > 1:
        return _replicated(module, replicas)
    if partitions == 1 or not is_partitioned(module):
        return None
    return _partitioned(modules, module, partitions)


def _replicated(module: HloModule, replicas: int) -> Placement:
    """Each replica has parameters and results of its own: they are stacked."""

    def stacked(shapes: Sequence[Shape]) -> tuple[ValuePlacement, ...]:
        return tuple(_stacked(_sizes(shape), replicas) for shape in shapes)

    return Placement(replicas, stacked(_parameters(module)), stacked(_results(module)))


def _stacked(local: tuple[int, ...], replicas: int) -> ValuePlacement:
    whole_sizes = tuple((0, size) for size in local)
    boxes = tuple(((number, number + 1), *whole_sizes) for number in range(replicas))
    return ValuePlacement((replicas, *local), boxes)


def _partitioned(modules: Sequence[HloModule], module: HloModule, devices: int) -> Placement:
    partitioning = find_partitioning(modules)
    if partitioning is None:
        raise NotRunnableError("the dump has no snapshot from before the SPMD partitioner")
    before, spreads = partitioning.before, partitioning.is_propagated
    pairs = (
        ("parameter", _parameters(before), _parameters(module), _parameter_shardings(before)),
        ("result", _results(before), _results(module), _result_shardings(before)),
    )
    placed = []
    for what, whole, local, shardings in pairs:
        if not len(whole) == len(local) == len(shardings):
            raise NotRunnableError(f"the partitioner changed the number of its {what}s")
        sides = zip(whole, local, shardings, strict=True)
        placed.append(
            tuple(
                _placed(f"{what} {number}", *side, devices, is_propagated=spreads)
                for number, side in enumerate(sides)
            )
        )
    return Placement(devices, placed[0], placed[1])


def _placed(
    what: str,
    whole: Shape,
    local: Shape,
    sharding: Sharding | None,
    devices: int,
    *,
    is_propagated: bool,
) -> ValuePlacement:
    dimensions, held = _sizes(whole), _sizes(local)
    if sharding is None and (is_propagated or dimensions == held):
        sharding = _WHOLE
    if sharding is None:
        raise NotRunnableError(f"the dump does not say how {what} is sharded")
    boxes = device_boxes(sharding, dimensions, devices)
    if boxes is None:
        raise NotRunnableError(f"the shards of {what} are not known")
    if tuple(_largest(list(boxes.values()), len(dimensions))) != held:
        raise NotRunnableError(f"{what} is not sharded as before the partitioner")
    return ValuePlacement(dimensions, tuple(boxes[device] for device in range(devices)))


def _largest(boxes: Sequence[IndexBounds], rank: int) -> Iterator[int]:
    for place in range(rank):
        yield max(box[place][1] - box[place][0] for box in boxes)


def _parameters(module: HloModule) -> list[Shape]:
    given = module.parameters
    return [leaf for argument in given for leaf in _leaves(argument.shape)]


def _results(module: HloModule) -> list[Shape]:
    root = module.entry.root if module.entry is not None else None
    return list(_leaves(root.shape)) if root is not None else []


def _leaves(shape: Shape) -> Iterator[Shape]:
    if shape.element_type != "tuple":
        yield shape
    for element in shape.elements:
        yield from _leaves(element)


def _parameter_shardings(module: HloModule) -> list[Sharding | None]:
    """Return the sharding of each array of the parameters; a tuple's are a flat list."""
    given = module.parameters
    return [
        sharding
        for argument in given
        for sharding in _spread(
            argument.attributes.get("sharding", ""), sum(1 for _ in _leaves(argument.shape))
        )
    ]


def _result_shardings(module: HloModule) -> list[Sharding | None]:
    root = module.entry.root if module.entry is not None else None
    if root is None:
        return []
    return _spread(root.attributes.get("sharding", ""), len(_results(module)))


def _spread(written: str, count: int) -> list[Sharding | None]:
    sharding = parse_sharding(written) if written else None
    if sharding is not None and sharding.kind == ShardingKind.TUPLE:
        return list(sharding.elements)
    return [sharding] * count


def _sizes(shape: Shape) -> tuple[int, ...]:
    return tuple(size or 0 for size in shape.dimensions)
