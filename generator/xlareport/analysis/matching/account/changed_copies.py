"""Copies of closed computations that a pass changed: a comparator that also breaks ties."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.computations import unpaired
from xlareport.analysis.matching.sides.facts import callees_of
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.retyped import retyped_lines
from xlareport.hlo.model import Computation, Instruction
from xlareport.knowledge.grades import Grade, weakest


class CopiedLine(NamedTuple):
    """A line of a new computation that does what a line of the copied one does."""

    before: Place
    after: Place
    grade: Grade


def changed_copies(search: Search) -> Iterator[CopiedLine]:
    """Yield the lines that new computations took over from what their callers called before."""
    before, after = (side.graph.module.by_name for side in (search.before, search.after))
    grades = {link.after: link.grade for link in search.links}
    for name in unpaired(search.computations, 1):
        for old, grade in _called_before(search, name, grades):
            known = before.get(old)
            lines = [] if known is None else _lines_taken_over(search, known, after[name])
            if any(new.opcode != "parameter" for _, new in lines):
                for line, new in lines:
                    yield CopiedLine(Place(old, line), Place(name, new.name), grade)
                break


def _called_before(
    search: Search, name: str, grades: Mapping[Node, Grade]
) -> Iterator[tuple[str, Grade]]:
    """Yield what the partners of the callers of a new computation call, and how sure that is."""
    for computation, call in search.after.graph.call_sites(name):
        home = search.after.homes.get(computation.name)
        node = None if home is None else home.nodes.get(call.instruction.name)
        partner = None if node is None else node.partner
        if node is None or partner is None:
            continue
        line, other = call.instruction, partner.instruction
        if line.opcode == other.opcode and len(line.called) == len(other.called):
            position = [callee for _, callee in line.called].index(name)
            # A part of what was split has the partner of the whole, which alone has a link.
            linked = node if node in grades else partner.partner
            grade = grades.get(linked, Grade.MATCHED) if linked is not None else Grade.MATCHED
            yield other.called[position][1], weakest((grade, Grade.MATCHED))


def _lines_taken_over(
    search: Search, old: Computation, new: Computation
) -> list[tuple[str, Instruction]]:
    """Return the names of old lines with the new lines that do the same, maybe in other types."""
    retyped = retyped_lines(old, new, search.forms)
    return [*retyped.items()] if retyped else _lines_alike(search, old, new)


def _lines_alike(
    search: Search, old: Computation, new: Computation
) -> list[tuple[str, Instruction]]:
    """Return the names of old lines with the new lines that compute the same, some more than once.

    The parameters of one number are taken for each other.
    """
    known = {line.name: line.name for line in old.instructions}
    waiting: dict[object, list[str]] = {}
    for line in old.instructions:
        waiting.setdefault(_line_key(search, line, known), []).append(line.name)
    names: dict[str, str] = {}
    result: list[tuple[str, Instruction]] = []
    numbers = {line.argument: line.name for line in old.parameters}
    for line in new.instructions:
        fitting = waiting.get(_line_key(search, line, names))
        if not fitting and line.opcode == "parameter" and line.argument in numbers:
            fitting = [numbers[line.argument]]  # a tuple that lost or got elements
        if fitting:
            again = bool(line.operands) and len(fitting) == 1
            names[line.name] = fitting[0] if again else fitting.pop(0)
            result.append((names[line.name], line))
    return result


def _line_key(search: Search, line: Instruction, names: Mapping[str, str]) -> object:
    """Return what a line does to which operands, these by their names in the old computation."""
    operands = tuple([names.get(operand) for operand in line.operands])
    own = line.name if None in operands else ""
    return search.forms.of(line), operands, callees_of(line), own
