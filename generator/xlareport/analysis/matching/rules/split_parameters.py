"""A rule for parameters that are tuples, of which a pass makes one parameter for each element."""

from collections.abc import Sequence

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.pairing import Relation
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Frame, Node
from xlareport.hlo.model import Instruction
from xlareport.knowledge.grades import Grade
from xlareport.runtime import units


def split_parameters(search: Search) -> None:
    """Pair a parameter that is a tuple with those of its elements, where all parameters fit."""
    for frame in search.before.graph.frames:
        name = frame.computation.name
        other = search.after.homes.get(search.computations.pairs.get(name, name))
        if other is not None and _may_be_split(frame, other):
            for line, parts in _parts(frame, other):
                _split(search, frame.node(line), [other.node(part) for part in parts])


def _may_be_split(frame: Frame, other: Frame) -> bool:
    old, new = frame.computation.parameters, other.computation.parameters
    return len(old) < len(new) and any(line.shape.elements for line in old)


def _parts(frame: Frame, other: Frame) -> Sequence[tuple[Instruction, Sequence[Instruction]]]:
    """Return the parameters that were split, each with its parts; none where one does not fit."""
    split: list[tuple[Instruction, Sequence[Instruction]]] = []
    new, place = other.computation.parameters, 0
    for line in frame.computation.parameters:
        elements = line.shape.elements
        parts = new[place : place + len(elements)]
        if elements and [_plain(part) for part in parts] == [item.plain for item in elements]:
            split.append((line, parts))
        elif [_plain(line)] != [_plain(part) for part in new[place : place + 1]]:
            return ()
        place += len(parts) if split and split[-1][0] is line else 1
    return split if place == len(new) else ()


def _plain(line: Instruction) -> str:
    return line.shape.plain


def _split(search: Search, whole: Node, parts: Sequence[Node]) -> None:
    if not all(map(is_free, (whole, *parts))):
        return
    reason = f"{units.plural(len(parts), 'parameter')}, one for each of its elements"
    if search.link(whole, parts[0], Grade.MATCHED, reason, Relation.SPLIT):
        search.before.values.name_element(whole, (0,), parts[0].token)
        for number, part in enumerate(parts[1:], 1):
            search.part(whole, part, number)
