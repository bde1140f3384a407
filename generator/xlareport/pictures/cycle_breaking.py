"""Splits groups of a computation where values go in both directions between two of them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from xlareport.hlo.model import Instruction
from xlareport.pictures.parts import (
    SMALLEST_PART,
    TO,
    InstructionGroup,
    Thing,
    first_of,
    instructions_of,
    name_of,
    size_of,
)
from xlareport.pictures.value_flow import Label, ValueFlow, in_order, quotient, split

NewTarget = Callable[[str], str]
"""Returns a unique path for a part."""


def order_without_cycles(
    things: Sequence[Thing], flow: ValueFlow, new_target: NewTarget
) -> list[Thing]:
    """Return the items in order of use; a part in a cycle is split."""
    if not any(isinstance(thing, InstructionGroup) for thing in things):
        return sorted(things, key=lambda thing: flow.places[first_of(thing).name])
    pieces = [*_pieces(things, flow, new_target)]
    owner = {name: at for at, piece in enumerate(pieces) for name in _names(piece)}
    firsts = [flow.places[first_of(piece).name] for piece in pieces]
    names = sorted(owner, key=flow.places.__getitem__)
    return [
        pieces[at] for at in in_order(len(pieces), firsts.__getitem__, quotient(names, owner, flow))
    ]


def _pieces(things: Sequence[Thing], flow: ValueFlow, new_target: NewTarget) -> Iterator[Thing]:
    owner: Mapping[str, Label] = {
        name: at for at, thing in enumerate(things) for name in _names(thing)
    }
    names = sorted(owner, key=flow.places.__getitem__)
    stretches = split(names, owner, flow)
    for thing in things:
        numbers = dict.fromkeys(stretches[name].number for name in _names(thing))
        if len(numbers) == 1:
            yield thing
            continue
        for number in sorted(numbers):
            kept = {name for name in _names(thing) if stretches[name].number == number}
            yield from _restricted(thing, kept, number, new_target)


def _names(thing: Thing) -> Iterator[str]:
    return (instruction.name for instruction in instructions_of(thing))


def _restricted(
    thing: Thing, kept: Collection[str], number: int, new_target: NewTarget
) -> Iterator[Thing]:
    """Yield the kept instructions of a group: as a smaller group if large enough, else singly."""
    if isinstance(thing, Instruction):
        yield from (thing,) if thing.name in kept else ()
        return
    inner = [
        inner_thing
        for part in thing.things
        for inner_thing in _restricted(part, kept, number, new_target)
    ]
    size = sum(map(size_of, inner))
    if size < SMALLEST_PART or len(inner) == 1:
        yield from inner
        return
    target = thing.target if number == 1 else f"g={new_target(thing.target[2:])}"
    yield replace(
        thing, target=target, title=_title(thing, inner, number), things=tuple(inner), size=size
    )


def _title(part: InstructionGroup, inner: Sequence[Thing], number: int) -> str:
    if part.kind in {"run", "stretch"} or (part.kind == "alike" and TO in part.title):
        return f"{name_of(inner[0])}{TO}{name_of(inner[-1])}"
    return numbered(part.title, number)


def numbered(title: str, number: int) -> str:
    """Return the title of a piece of a part: `forward`, then `forward (2)`."""
    return title if number == 1 else f"{title} ({number})"
