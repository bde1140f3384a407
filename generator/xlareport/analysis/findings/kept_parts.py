"""All-reduces of which every device reads its own part alone: a reduce-scatter sends half."""

from collections.abc import Iterable, Iterator

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.findings.finding import join_names
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

_PASSED = frozenset(
    {"bitcast", "convert", "copy", "copy-done", "copy-start", "get-tuple-element", "reshape"}
    | {"transpose"}
)
_DEEPEST = 20
_FEWEST = 2
"""Devices of a group that has parts."""
_LEAST_SENT = 0.1
"""Of the bytes of all: half of less is no gain to name."""
_Place = tuple[Computation, Instruction]


def describe_kept_parts(module: HloModule, collectives: Iterable[CollectiveFigures]) -> str:
    """Return a sentence on the all-reduces whose results are only sliced.

    Empty without any, and where they send little of what all of the collectives send.
    """
    collectives = tuple(collectives)
    alike = group_by_key(
        (figures.group_size, figures)
        for figures in collectives
        if figures.group_size and _is_only_sliced(module, figures, figures.group_size)
    )
    sliced = sum(figures.sent_bytes for some in alike.values() for figures in some)
    if not alike or sliced < _LEAST_SENT * sum(figures.sent_bytes for figures in collectives):
        return ""
    named = [
        f"{join_names(figures.collective.instruction for figures in some)}, 1/{size} of "
        f"{'it' if len(some) == 1 else 'each'} on each device"
        for size, some in alike.items()
    ]
    return (
        f" Only slices read {', and '.join(named)}: a reduce-scatter sends half, "
        f"{units.byte_size(sliced // 2)} less."
    )


def _is_only_sliced(module: HloModule, figures: CollectiveFigures, group: int) -> bool:
    """Return whether an all-reduce is only read by slices, of all its elements if it is combined.

    The slices have to be as many times smaller as a group has devices: whether their offsets are
    those of the devices is not followed.
    """
    collective = figures.collective
    home = module.by_name[collective.computation]
    last = home.by_name[collective.done or collective.instruction]
    body = module.find(*collective.body)
    if collective.kind != "all-reduce" or body is None or group < _FEWEST:
        return False
    kept = _kept(module, (home, last), _DEEPEST)
    whole = sum(leaf.element_count or 0 for leaf in body.shape.members)
    return bool(kept) and (kept or 0) * group == whole


def _kept(module: HloModule, place: _Place, deepest: int) -> int | None:
    """Return the elements of the slice that alone reads a value; None if anything else reads it.

    Of a tuple it is the sum over its elements. Several slices of one value may differ in offset.
    """
    home, value = place
    readers = list(_readers(module, home, value))
    indices = {reader.taken_element for _, reader in readers}
    if not deepest or value is home.root or len(readers) != len(indices):
        return None
    total = 0
    for where, reader in readers:
        if reader.opcode == "dynamic-slice":
            kept = reader.shape.element_count
        elif reader.opcode == "parameter" or reader.opcode in _PASSED:
            kept = _kept(module, (where, reader), deepest - 1)
        else:
            kept = None
        if kept is None:
            return None
        total += kept
    return total


def _readers(module: HloModule, home: Computation, value: Instruction) -> Iterator[_Place]:
    """Yield what reads a value; of a fusion its parameter."""
    for user in home.users.get(value.name, ()):
        inside = module.callee(user)
        if user.opcode != "fusion" or inside is None:
            yield home, user
            continue
        for name, parameter in zip(user.operand_names, inside.parameters, strict=False):
            if name == value.name:
                yield inside, parameter
