"""Pairs the elements of a loop's carried tuple when a pass added, dropped or reordered some."""

from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from xlareport.analysis.matching.sides.element_orders import are_permuted
from xlareport.analysis.matching.sides.graph import Node, element_taken
from xlareport.analysis.matching.sides.loop_results import (
    behind_copies,
    equal_results,
    loop_side,
    pair_results,
)
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime.grouping import group_by_key

if TYPE_CHECKING:
    from xlareport.analysis.matching.search.search import Search
    from xlareport.analysis.matching.sides.side import Side


class KeptElements(Struct, frozen=True):
    """What became of the elements of a carried tuple."""

    origins: Mapping[int, int] = {}
    """The old index of each new element, as far as it is known."""
    merged: Mapping[int, int] = {}
    """The index of the first of several equal old elements, by that of the others."""


def kept_elements(search: "Search", before: Node, after: Node) -> KeptElements:
    """Return which elements a tuple kept, and which of them a pass merged.

    Elements with equal shape, initial value and result are paired in order if as many remain, or
    as many as are left without duplicates. Where a pass copies initial values, what it copies is
    compared.
    """
    loop, other = loop_of(search.before, before), loop_of(search.after, after)
    if loop is None or other is None:
        return KeptElements()
    count = len(other.instruction.shape.elements)
    kept = _with_alike(search, loop, other, KeptElements())
    if len(kept.origins) < count:
        kept = _with_alike(search, loop, other, kept, past_copies=True)
    if len(kept.origins) < count:
        kept = _with_results(search, loop, other, kept)
    return _with_dropped(search, loop, other, kept)


def _with_alike(
    search: "Search", loop: Node, other: Node, kept: KeptElements, *, past_copies: bool = False
) -> KeptElements:
    """Return what is known of the elements, and of those of the others that are alike."""
    known_before = {*kept.origins.values(), *kept.merged}
    old = _keyed(search, search.before, loop, known_before, past_copies=past_copies)
    new = _keyed(search, search.after, other, kept.origins, past_copies=past_copies)
    origins, merged = dict(kept.origins), dict(kept.merged)
    in_order = not are_permuted(loop.instruction.shape, other.instruction.shape)
    for key, numbers in new.items():
        known = old.get(key, [])
        if len(known) > 1 and not in_order:
            continue  # what reads them tells which is which
        if len(numbers) != len(known):
            alike = _alike(search.before, loop, known)
            known = [first for first, *_ in alike]
            if len(numbers) != len(known) or len(_alike(search.after, other, numbers)) != len(
                known
            ):
                continue
            merged |= {number: first for first, *rest in alike for number in rest}
        origins |= zip(numbers, known, strict=True)
    return KeptElements(origins, merged)


def _with_results(search: "Search", loop: Node, other: Node, kept: KeptElements) -> KeptElements:
    """Return what is known of the elements, and of those that the bodies compute in order."""
    sides = loop_side(search.before, loop), loop_side(search.after, other)
    origins, merged = dict(kept.origins), dict(kept.merged)
    for firsts, others in pair_results(search, *sides, kept.origins, [*kept.merged]):
        merged |= {number: first for first, *rest in firsts for number in rest}
        for (first, *_), numbers in zip(firsts, others, strict=True):
            origins |= dict.fromkeys(numbers, first)
    return KeptElements(origins, merged)


def _with_dropped(search: "Search", loop: Node, other: Node, kept: KeptElements) -> KeptElements:
    """Return what is known of the elements, and which were dropped as equals of kept ones."""
    counts = (len(node.instruction.shape.elements) for node in (loop, other))
    dropped = next(counts) - next(counts) - len(kept.merged)
    if dropped <= 0:
        return kept
    old = loop_side(search.before, loop)
    known = {*kept.origins.values()}
    equals = equal_results(search.before, old, known) if old.results else {}
    return KeptElements(kept.origins, {**equals, **kept.merged})


def taken_again(node: Node) -> Node | None:
    """Return the element that continues one of a tuple that was read through, where it held `node`.

    It is taken of the tuple now that `node` was taken of.
    """
    line, home = node.instruction, node.frame.computation
    source = home.operand(line)
    if line.opcode != "get-tuple-element" or source is None or source not in node.frame.kept:
        return None
    for held in home.users.get(line.name, ()):
        for user in home.users.get(held.name, ()) if held.opcode == "tuple" else ():
            now = node.frame.node(user).partner if _takes(user, held, line.name) else None
            taken = now.instruction if now is not None else user
            if taken.operands == line.operands and element_taken(taken) == element_taken(line):
                return now
    return None


def _takes(user: Instruction, held: Instruction, name: str) -> bool:
    """Return whether an instruction takes the element of a tuple that has a name there."""
    names = [*held.operand_names]
    return any(names[index : index + 1] == [name] for index in element_taken(user))


def loop_given(side: "Side", node: Node) -> Node | None:
    """Return the loop that a tuple gives its values: at its start, or after each iteration."""
    line, home = node.instruction, node.frame.computation
    if line.opcode != "tuple":
        return None
    if line is home.root:
        return _caller(side, home.name)
    users = home.users.get(line.name, ())
    return node.frame.node(users[0]) if [user.opcode for user in users] == ["while"] else None


def loop_of(side: "Side", node: Node) -> Node | None:
    """Return a loop, of its body's parameter too; None of anything else."""
    if node.instruction.opcode == "while":
        return node
    is_parameter = node.instruction.opcode == "parameter"
    return _caller(side, node.frame.computation.name) if is_parameter else None


def _caller(side: "Side", computation: str) -> Node | None:
    """Return the loop that alone calls a computation."""
    sites = side.graph.call_sites(computation)
    if len(sites) != 1 or sites[0][1].instruction.opcode != "while":
        return None
    home = side.homes.get(sites[0][0].name)
    return None if home is None else home.node(sites[0][1].instruction)


def _keyed(
    search: "Search", side: "Side", loop: Node, known: Container[int], *, past_copies: bool
) -> dict[Hashable, list[int]]:
    """Return the indices of the other loop-carried elements by shape, start value and result."""
    starts = _starts(side, loop, past_copies=past_copies)
    makers = _makers(side, loop)
    shapes = [search.forms.shape(shape) for shape in loop.instruction.shape.elements]
    return group_by_key(
        (
            (
                shape,
                starts[number] if number < len(starts) else UNKNOWN,
                makers.get(number, ""),
            ),
            number,
        )
        for number, shape in enumerate(shapes)
        if number not in known
    )


def _starts(side: "Side", loop: Node, *, past_copies: bool) -> list[int]:
    """Return the value numbers of a loop's initial values, or of what they are copies of."""
    operands = side.graph.operands(loop)
    single = operands[0][0] if len(operands) == 1 else None
    if single is None or single.instruction.opcode != "tuple":
        return []
    operands = side.graph.operands(single)
    starts = [behind_copies(side, operand) for operand in operands] if past_copies else operands
    return [side.value_of(start) for start in starts]


def _alike(side: "Side", loop: Node, numbers: Sequence[int]) -> list[list[int]]:
    """Return the elements of a loop with those that it computes in the same way.

    Each from its own former value. If the loop returns no tuple, nothing is known.
    """
    body = _body(side, loop)
    root = None if body is None else body.root
    names = [] if root is None or root.opcode != "tuple" else [*root.operand_names]
    if body is None or not numbers or len(names) <= max(numbers):
        return []
    lines = {number: body.by_name.get(names[number]) for number in numbers}
    return [
        *group_by_key(
            (number if line is None else (line.opcode, *_read(body, line, number)), number)
            for number, line in lines.items()
        ).values()
    ]


def _read(body: Computation, line: Instruction, number: int) -> Iterator[str]:
    """Yield the operands of a line; empty for the element of a number of what the body is given."""
    for name in line.operand_names:
        operand = body.by_name.get(name)
        own = operand is not None and operand.opcode == "get-tuple-element"
        given = own and body.operand(operand) if operand else None
        taken = given and given.opcode == "parameter" and operand
        yield "" if taken and taken.attributes.get("index") == str(number) else name


def _body(side: "Side", loop: Node) -> Computation | None:
    return side.graph.module.callee(loop.instruction, "body")


def _makers(side: "Side", loop: Node) -> dict[int, str]:
    """Return the opcode of each element of the tuple that a loop body returns."""
    body = _body(side, loop)
    root = None if body is None else body.root
    if body is None or root is None or root.opcode != "tuple":
        return {}
    lines = [body.by_name.get(name.partition("#")[0]) for name in root.operands]
    return {number: line.opcode for number, line in enumerate(lines) if line is not None}
