"""Added and removed converts to a narrower float that only changed places with data movement.

`convert(concatenate(a, b))` and `concatenate(convert(a), convert(b))` are equal bit for bit.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.arithmetic import narrows
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.rounded_choices import EXACT, is_choice_of
from xlareport.hlo.model import Computation, HloModule
from xlareport.runtime.graphs import reachable

Types = tuple[str, str]
"""The element types of a value before and after a convert."""

ConvertKey = tuple[Place | None, bool]
"""The place of a convert, and whether it is in the module after."""

_GONE_OR_NEW = frozenset({Kind.ADDED, Kind.DEFINED, Kind.REMOVED, Kind.UNTRACED})
MOVERS = frozenset(
    {
        "all-gather",
        "all-to-all",
        "bitcast",
        "broadcast",
        "collective-permute",
        "concatenate",
        "copy",
        "dynamic-slice",
        "dynamic-update-slice",
        "gather",
        "pad",
        "reshape",
        "reverse",
        "select",
        "slice",
        "transpose",
    }
)
"""Opcodes whose result consists of elements of their operands."""


def key_of(change: Change) -> ConvertKey:
    """Return the place of what was added or removed, and whether it was added."""
    return change.after or change.before, change.after is not None


def rounding_of(change: Change, matching: Matching) -> Types | None:
    """Return the types of an added or removed convert that loses precision; None otherwise."""
    place = change.after or change.before
    if change.kind not in _GONE_OR_NEW or "convert" not in change.opcodes or place is None:
        return None
    return _rounding_at(matching.after if change.after else matching.before, place)


def _rounding_at(module: HloModule, place: Place) -> Types | None:
    line = module.find(*place)
    operand = next(iter(line.operand_names), None) if line else None  # drawings leave some out
    source = module.find(place.computation, operand) if operand else None
    types = (source.shape.element_type, line.shape.element_type) if source and line else ("", "")
    if source is not None and source.opcode == "constant" and source.argument in EXACT:
        return None
    return types if narrows(*types) else None


def list_roundings(changes: Iterable[Change], matching: Matching) -> dict[ConvertKey, Types]:
    """Return the added and removed converts that round anew, with their types.

    Left out are those that a counterpart does on the other side of data movement, those of a choice
    whose counterpart is rounded itself, and where as many of the same types were added as removed.
    """
    known = {
        key_of(change): types
        for change in changes
        if (types := rounding_of(change, matching)) is not None
    }
    left = {
        (place, is_new): types
        for (place, is_new), types in known.items()
        if place is not None and not _is_moved(place, types, matching, is_new=is_new)
    }
    balance: Counter[Types] = Counter()
    for (_, is_new), types in left.items():
        balance[types] += 1 if is_new else -1
    return {key: types for key, types in left.items() if balance[types]}


def _is_moved(place: Place, types: Types, matching: Matching, *, is_new: bool) -> bool:
    """Return whether what a convert reads, or gives on, is rounded on the other side."""
    here = (matching.after if is_new else matching.before).by_name.get(place.computation)
    if here is None:
        return False
    partner = matching.partner_before if is_new else matching.partner_after
    there = matching.before if is_new else matching.after
    sources = [source for source in _behind(here, place.instruction) if source != place.instruction]
    places = [Place(here.name, source) for source in sources]
    if places and all(is_choice_of(at, types[1], matching, is_new=is_new) for at in places):
        return True
    partners = [partner(at) for at in places]
    return bool(partners) and all(
        other is not None and _is_converted(there, other, types) for other in partners
    )


def _behind(home: Computation, name: str) -> Iterator[str]:
    """Yield the names of what is behind an instruction and the movers that it reads."""

    def operands(known: str) -> list[str]:
        line = home.by_name.get(known)
        moves = line is not None and (line.opcode in MOVERS or known == name)
        return [*line.operand_names] if line is not None and moves else []

    for known in reachable([name], operands):
        line = home.by_name.get(known)
        if line is not None and line.opcode not in MOVERS:
            yield known


def _is_converted(module: HloModule, place: Place, types: Types) -> bool:
    """Return whether a value is converted so, itself or behind the movers that read it."""
    home = module.by_name.get(place.computation)
    if home is None:
        return False

    def movers(name: str) -> list[str]:
        users = home.users.get(name, ()) if home is not None else ()
        return [user.name for user in users if user.opcode in MOVERS]

    return any(
        user.opcode == "convert" and _rounding_at(module, Place(home.name, user.name)) == types
        for name in reachable([place.instruction], movers)
        for user in home.users.get(name, ())
    )
