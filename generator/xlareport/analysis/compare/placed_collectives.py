"""Which collectives only one of two modules has, by kind, scope and shape."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.collectives.find import Collective, find_collectives
from xlareport.analysis.source.scopes import (
    Phase,
    mask_numbers,
    numbered_opcode,
    phase_of,
    plain_path,
)
from xlareport.hlo.model import HloModule, InstructionKey
from xlareport.hlo.shape import without_layout


class PlacedCollective(Struct, frozen=True):
    """A collective of the final module, with what is the same in two compilations."""

    kind: str
    """The opcode without `-start`."""
    phase: Phase
    """Of its op_name: `forward`, `backward`, `recomputed`; empty if unknown."""
    path: str
    """Named scopes and op with numbers replaced, so that layers are equal: `layer_*/mlp/add`."""
    shape: str
    """Of its result, without layouts."""
    instruction: str
    """Its name in its own module."""
    seconds: float
    """Roofline seconds of all its executions in one run."""


class CollectiveChange(Struct, frozen=True):
    """A collective that only one module has."""

    in_head: bool
    """Whether the head has it, else the base."""
    collective: PlacedCollective


def list_collectives(
    module: HloModule, seconds: Mapping[InstructionKey, float]
) -> tuple[PlacedCollective, ...]:
    """Return the collectives of a module; `seconds` are those of instructions, fusions divided."""
    return tuple(_placed(module, seconds, collective) for collective in find_collectives(module))


def _placed(
    module: HloModule, seconds: Mapping[InstructionKey, float], collective: Collective
) -> PlacedCollective:
    body = module.by_name[collective.body[0]].by_name[collective.body[1]]
    outside = module.by_name[collective.computation].by_name
    op_name = body.metadata.op_name or outside[collective.instruction].metadata.op_name
    first = "" if numbered_opcode(op_name) else op_name
    shape = (
        outside[collective.done].shape if collective.done and not collective.inner else body.shape
    )
    keys = {collective.body, *((collective.computation, part) for part in collective.parts)}
    return PlacedCollective(
        kind=collective.kind,
        phase=phase_of(first),
        path=mask_numbers(plain_path(first)),
        shape=without_layout(shape.text),
        instruction=collective.instruction,
        seconds=sum(seconds.get(key, 0.0) for key in keys),
    )


def compare_collectives(
    base: Sequence[PlacedCollective], head: Sequence[PlacedCollective]
) -> tuple[CollectiveChange, ...]:
    """Return what only one side has of the kinds whose counts differ, the slowest first.

    Of the same kind and scope those of one shape are the same, then those of any shape: a
    collective whose shape changed is not a new one.
    """
    ours, theirs = _counts(base), _counts(head)
    kinds = {kind for kind in ours | theirs if ours[kind] != theirs[kind]}
    rest = [[placed for placed in side if placed.kind in kinds] for side in (base, head)]
    for mark in (_with_shape, _without_shape):
        rest = [_unmatched(rest[0], rest[1], mark), _unmatched(rest[1], rest[0], mark)]
    changes = [
        CollectiveChange(bool(side), collective)
        for side, collectives in enumerate(rest)
        for collective in collectives
    ]
    return tuple(sorted(changes, key=lambda change: -change.collective.seconds))


def _counts(collectives: Iterable[PlacedCollective]) -> Counter[str]:
    return Counter(collective.kind for collective in collectives)


def _with_shape(collective: PlacedCollective) -> tuple[str, ...]:
    return *_without_shape(collective), collective.shape


def _without_shape(collective: PlacedCollective) -> tuple[str, ...]:
    return collective.kind, collective.phase, collective.path


def _unmatched(
    these: Iterable[PlacedCollective],
    others: Iterable[PlacedCollective],
    mark: Callable[[PlacedCollective], tuple[str, ...]],
) -> list[PlacedCollective]:
    return list(_beyond(these, Counter(map(mark, others)), mark))


def _beyond(
    these: Iterable[PlacedCollective],
    counts: Counter[tuple[str, ...]],
    mark: Callable[[PlacedCollective], tuple[str, ...]],
) -> Iterator[PlacedCollective]:
    """Yield those beyond the counts of the other side."""
    for collective in these:
        counts[mark(collective)] -= 1
        if counts[mark(collective)] < 0:
            yield collective
