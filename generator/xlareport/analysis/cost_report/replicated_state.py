"""Optimizer state, parameters and weights of which several devices hold the same part.

An argument is a parameter if ops of the forward or backward pass read it, and optimizer state if
none of them does and a parameter has its dimensions and the end of its name:
`s.mu['layers']['up']` belongs to `p['layers']['up']`. In a program without gradients, the arrays
of an argument that is not donated are weights.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.cost.phases import is_forward, is_gradient
from xlareport.analysis.cost.tiling import allocated_size
from xlareport.analysis.shardings.sharding_report import ShardingReport
from xlareport.analysis.shardings.sharding_words import axes_of
from xlareport.analysis.source.argument_names import name_arguments, split_name
from xlareport.analysis.source.lookup_tables import find_lookup_tables
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.hlo.shardings.mesh import Mesh
from xlareport.hlo.shardings.sharding import Sharding, ShardingKind
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.runtime.graphs import reachable

_MOVES = ALIASES | {"convert", "copy", "reshape", "transpose", "tuple"}
"""Opcodes that pass on an argument."""
_LEAST_OF_AXIS = 0.1
"""Of what the best axis saves: an axis that saves less is not worth its collectives."""


class ReplicatedArguments(Struct, frozen=True):
    """Arguments of one kind that are replicated along axes of the mesh."""

    kind: str
    """`state`: of the optimizer; `parameters`; `weights`, if nothing updates them."""
    names: tuple[str, ...]
    """What their names begin with, the most bytes first."""
    count: int
    size: int
    """Bytes on each device."""
    axes: tuple[str, ...]
    """Those along which arguments can be split further, the one that saves the most first."""
    devices: int
    """How many hold the same: the product of the sizes of the axes."""
    saved: int
    """Bytes on each device that sharding along all axes saves."""
    cut: tuple[str, ...] = ()
    """Weights of which each use takes the same part alone, the most bytes first."""
    saved_of_cut: int = 0
    """Bytes on each device that sharding these like their uses saves."""
    tables: tuple[str, ...] = ()
    """Those of which the program only looks up rows, the most bytes first."""


class _Leaf(Struct, frozen=True):
    """An array of the arguments."""

    name: tuple[str, ...]
    whole: tuple[int | None, ...]
    """Its dimensions before the partitioner."""
    part: tuple[int | None, ...]
    size: int
    """Bytes on each device."""
    axes: frozenset[str]
    """Those along which it is split."""
    is_read: bool
    """Whether the forward or the backward pass reads it."""
    is_donated: bool
    cuts: int
    """Into how many parts all its uses cut it; 1 where they do not."""
    is_table: bool
    """Whether the program only looks up rows of it."""


def find_replicated_arguments(
    before: HloModule | None, module: HloModule, shardings: ShardingReport | None
) -> tuple[ReplicatedArguments, ...]:
    """Return what could be split further: optimizer state and its parameters, or weights.

    `before` is the module before optimization, whose op_names show what reads an argument. Each is
    split along all axes of the mesh that divide it.
    """
    mesh = shardings.mesh.mesh if shardings and shardings.mesh else None
    if before is None or before.entry is None or shardings is None or mesh is None:
        return ()
    leaves = tuple(_leaves(before, module, shardings, mesh))
    read: dict[tuple[object, ...], list[_Leaf]] = defaultdict(list)
    for leaf in leaves:
        if leaf.is_read:
            read[_ending(leaf)].append(leaf)
    state = [leaf for leaf in leaves if not leaf.is_read and _ending(leaf) in read]
    twins = [(leaf, _twin(leaf, read[_ending(leaf)])) for leaf in state]
    named = [(leaf, _beginning(leaf, twin)) for leaf, twin in twins]
    owners = {twin: _beginning(twin, leaf) for leaf, twin in twins}
    kinds = [
        _split(named, mesh, "state"),
        _split([*owners.items()], mesh, "parameters"),
        _split_weights(leaves, mesh),
    ]
    return tuple(kind for kind in kinds if kind is not None)


def _ending(leaf: _Leaf) -> tuple[object, ...]:
    return (*leaf.name[1:][-1:], leaf.whole)


def _twin(leaf: _Leaf, read: Sequence[_Leaf]) -> _Leaf:
    """Return the parameter whose name agrees the furthest from its end."""
    return max(read, key=lambda other: _common(leaf, other))


def _common(leaf: _Leaf, other: _Leaf) -> int:
    """Return how many parts at the ends of two names are equal."""
    pairs = list(zip(reversed(leaf.name[1:]), reversed(other.name[1:]), strict=False))
    return next(
        (at for at, (part, other_part) in enumerate(pairs) if part != other_part), len(pairs)
    )


def _beginning(leaf: _Leaf, twin: _Leaf) -> str:
    """Return the part of a name in which it differs from its twin: `s.mu`."""
    return "".join(leaf.name[: len(leaf.name) - _common(leaf, twin)])


def _split(named: Sequence[tuple[_Leaf, str]], mesh: Mesh, kind: str) -> ReplicatedArguments | None:
    """Return the arguments that axes of the mesh can split, None if there are none."""
    sizes = {axis: devices for axis, devices in mesh.axes if devices > 1}
    saved = {axis: _saved_along(named, {axis: sizes[axis]}) for axis in sizes}
    least = _LEAST_OF_AXIS * max(saved.values(), default=0)
    used = {axis: sizes[axis] for axis in sizes if saved[axis] and saved[axis] >= least}
    fitting = [(leaf, name) for leaf, name in named if _further_axes(leaf, used)]
    if not fitting:
        return None
    return ReplicatedArguments(
        kind=kind,
        names=tuple(_by_size(fitting)),
        count=len(fitting),
        size=sum(leaf.size for leaf, _ in fitting),
        axes=tuple(sorted(used, key=lambda axis: -saved[axis])),
        devices=prod(used.values()),
        saved=_saved_along(fitting, used),
        tables=tuple(_by_size((leaf, "".join(leaf.name)) for leaf, _ in fitting if leaf.is_table)),
    )


def _split_weights(leaves: Sequence[_Leaf], mesh: Mesh) -> ReplicatedArguments | None:
    """Return arrays that a program without gradients only reads, by the names of their arguments.

    Only axes along which other arguments are split: along these, devices do different work.
    """
    if any(leaf.is_read for leaf in leaves):
        return None
    used = frozenset[str]().union(*(leaf.axes for leaf in leaves))
    working = replace(mesh, axes=tuple(axis for axis in mesh.axes if axis[0] in used))
    kept = [leaf for leaf in leaves if not leaf.is_donated and len(leaf.name) > 1]
    group = _split([(leaf, leaf.name[0]) for leaf in kept], working, "weights")
    cut = [leaf for leaf in kept if leaf.cuts > 1]
    return group and replace(
        group,
        cut=tuple(_by_size((leaf, "".join(leaf.name)) for leaf in cut)),
        saved_of_cut=sum(leaf.size - leaf.size // leaf.cuts for leaf in cut),
    )


def _saved_along(named: Iterable[tuple[_Leaf, str]], axes: Mapping[str, int]) -> int:
    """Return the bytes on each device that axes, given with their sizes, can save."""
    parts = [(leaf.size, prod(_further_axes(leaf, axes).values())) for leaf, _ in named]
    return sum(size - size // cuts for size, cuts in parts)


def _further_axes(leaf: _Leaf, mesh: Mapping[str, int]) -> dict[str, int]:
    """Return the axes that split no dimension of an argument yet and can, the largest first."""
    sizes = list(leaf.part)
    axes: dict[str, int] = {}
    for axis, devices in sorted(mesh.items(), key=lambda item: -item[1]):
        at = next((at for at, size in enumerate(sizes) if size and size % devices == 0), None)
        if axis not in leaf.axes and at is not None:
            sizes[at] = (sizes[at] or 0) // devices
            axes[axis] = devices
    return axes


def _by_size(named: Iterable[tuple[_Leaf, str]]) -> list[str]:
    sizes: dict[str, int] = defaultdict(int)
    for leaf, name in named:
        sizes[name] += leaf.size
    return sorted(sizes, key=lambda name: (-sizes[name], name))


def _leaves(
    before: HloModule, module: HloModule, shardings: ShardingReport, mesh: Mesh
) -> Iterator[_Leaf]:
    """Yield the named arrays among the arguments whose sharding is known."""
    whole = before.parameters
    part = module.parameters
    names = name_arguments(before)
    if before.entry is None or not len(whole) == len(part) == len(shardings.parameters):
        return
    donated = {alias.parameter for alias in find_donations(module).aliases}
    cuts = dict(shardings.cut_parameters)
    tables = find_lookup_tables(before)
    for number, (old, new) in enumerate(zip(whole, part, strict=True)):
        value = shardings.parameters[number]
        sharding = parse_sharding(value.sharding) if value.sharding else None
        axes = _axes(sharding, mesh)
        name = tuple(split_name(names.get(old.name, "")))
        if name and axes is not None and old.shape.dimensions:
            yield _Leaf(
                *(name, old.shape.dimensions, new.shape.dimensions),
                size=allocated_size(new.shape) or 0,
                axes=axes,
                is_donated=number in donated,
                is_read=_is_read_by_passes(before, before.entry, old),
                cuts=cuts.get(number, 1),
                is_table=number in tables,
            )


def _axes(sharding: Sharding | None, mesh: Mesh) -> frozenset[str] | None:
    """Return the axes along which a value is split; None if they are not known."""
    if sharding is None:
        return None
    if sharding.kind is ShardingKind.REPLICATED:
        return frozenset()
    axes = axes_of(sharding, mesh)
    return (
        None
        if axes is None
        else frozenset(axis.partition(":")[0] for names in axes for axis in names)
    )


def _is_read_by_passes(module: HloModule, entry: Computation, parameter: Instruction) -> bool:
    """Return whether an op of the forward or backward pass reads an argument, by its op_name."""
    users: Mapping[str, tuple[Instruction, ...]] = entry.users

    def following(value: Instruction) -> tuple[Instruction, ...]:
        is_passed = value is parameter or value.opcode in _MOVES
        return users.get(value.name, ()) if is_passed else ()

    return any(
        is_forward(reader, module) or is_gradient(reader, module)
        for reader in reachable([parameter], following)
    )
