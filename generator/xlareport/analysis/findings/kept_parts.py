"""All-reduces of which every device reads its own part alone: a reduce-scatter sends half."""

from collections.abc import Iterator

from xlareport.analysis.collectives.figures import CollectiveFigures
from xlareport.hlo.model import Computation, HloModule, Instruction

_PASSED = frozenset(
    {"bitcast", "convert", "copy", "copy-done", "copy-start", "get-tuple-element", "reshape"}
    | {"transpose"}
)
_DEEPEST = 20
_Place = tuple[Computation, Instruction]


def describe_kept_part(module: HloModule, figures: CollectiveFigures) -> str:
    """Return a sentence on an all-reduce whose results are only sliced; empty for others.

    The slices have to be as many times smaller as a group has devices: whether their offsets are
    those of the devices is not followed.
    """
    collective, group = figures.collective, figures.group_size
    home = module.by_name[collective.computation]
    last = home.by_name[collective.done or collective.instruction]
    body = module.find(*collective.body)
    if collective.kind != "all-reduce" or body is None or not group or group < 2:
        return ""
    kept = _kept(module, (home, last), _DEEPEST)
    whole = sum(leaf.element_count or 0 for leaf in body.shape.elements or (body.shape,))
    if not kept or kept * group != whole:
        return ""
    return (
        f" Only slices read `{collective.instruction}`, 1/{group} of it on each device: a "
        "reduce-scatter sends half."
    )


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
