"""Copies of closed computations, and copies that were merged.

Equal contents are not enough, because many reduction bodies are equal: callers or names decide.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.computations import unpaired
from xlareport.analysis.matching.sides.contents import Contents, copied_name, stem
from xlareport.analysis.matching.sides.facts import Call, facts_of
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.paired_lines import pair_lines
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.model import Computation, Instruction
from xlareport.knowledge.grades import Grade


class Copy(NamedTuple):
    """A computation and the computation on the other side that it is a copy of."""

    name: str
    other: str
    grade: Grade
    """EXACT if a caller confirms it, MATCHED if it has the name of the other with a mark behind it.

    A guess if only the first part of the name does.
    """


def list_copies(search: Search) -> Iterator[Copy]:
    """Yield new computations, with the old computation that each is a copy of."""
    contents = search.contents[1], search.contents[0]
    grades = {link.after: link.grade for link in search.links}
    copies = _Copies((search.after, search.before), contents, grades, are_new=True)
    yield from copies.of(unpaired(search.computations, 1))


def copies_merged(search: Search) -> Iterator[Copy]:
    """Yield removed computations, with the new computation that is called instead."""
    grades = {link.before: link.grade for link in search.links}
    copies = _Copies((search.before, search.after), search.contents, grades, are_new=False)
    yield from copies.of(unpaired(search.computations, 0))


def inlined_copies(
    search: Search, instruction: Instruction, other: Instruction
) -> Iterator[tuple[str, str]]:
    """Yield (old, new) inlined computations that a copied call and its original call."""
    known = search.computations
    for (_, old), (_, new) in zip(instruction.called, other.called, strict=False):
        original = search.before.graph.module.by_name.get(old)
        copy = known.after.get(new)
        if original is None or copy is None or new in known.partners or new not in known.opened:
            continue
        if facts_of(original).opcodes == facts_of(copy).opcodes:
            yield old, new


def continues_others(computation: Computation, placed: Collection[Place]) -> bool:
    """Return whether all that a new computation computes continues old instructions elsewhere."""
    lines = [line for line in computation.instructions if line.opcode != "parameter"]
    return bool(lines) and all(Place(computation.name, line.name) in placed for line in lines)


def _goes_on(node: Node) -> bool:
    """Return whether a caller still exists, and not as an instruction that calls nothing."""
    if node.kept or node.partner is None:
        return node.kept
    return bool(node.partner.instruction.called) and not _is_taken_in(node)


def _is_taken_in(node: Node) -> bool:
    """Return whether a reduce became part of another one, which applies what that applied."""
    whole = node.partner
    is_part = whole is not None and whole.partner is not node
    return (
        is_part
        and whole is not None
        and node.instruction.opcode == whole.instruction.opcode == "reduce"
    )


class _Copies:
    """Finds the originals of one side's computations on the other side."""

    def __init__(
        self,
        sides: tuple[Side, Side],
        contents: tuple[Contents, Contents],
        grades: Mapping[Node, Grade],
        *,
        are_new: bool,
    ) -> None:
        self._here, self._there = sides
        self._contents = contents
        self._known: dict[str, str | None] = {}
        self._grades: dict[str, Grade] = {}
        self._link_grades = grades
        self._are_new = are_new
        self._pairs: dict[str, Mapping[str, Instruction]] = {}
        """The lines of the originals, by the names of copies and of their lines."""

    def of(self, names: Sequence[str]) -> Iterator[Copy]:
        """Yield the computations that have an original."""
        for name in reversed(names):  # XLA prints what is called before its callers
            other = self._original(name)
            if other is not None:
                yield Copy(name, other, self._grades[name])

    def _original(self, name: str) -> str | None:
        if name not in self._known:
            self._known[name] = None
            sites = self._here.graph.call_sites(name)
            first = next(self._called_by_likes(name, sites), None)
            if first is None and self._may_go_on(sites):
                named = copied_name(name, self._there.graph.module.by_name)
                is_copy = bool(named) and self._alike(name, named)
                anew = not is_copy and self._is_applied_anew(sites)
                guess = None if anew else self._of_one_stem(name)
                first = (named, Grade.MATCHED) if is_copy else guess
            self._known[name], self._grades[name] = first or (None, Grade.GUESSED)
        return self._known[name]

    def _may_go_on(self, sites: Sequence[tuple[Computation, Call]]) -> bool:
        """Return whether any caller is new, or goes on as one that calls something."""
        nodes = [self._node(computation, call.instruction) for computation, call in sites]
        return any(self._are_new or node is None or _goes_on(node) for node in nodes)

    def _is_applied_anew(self, sites: Sequence[tuple[Computation, Call]]) -> bool:
        """Return whether only new instructions apply a new computation, as the sum of a new reduce.

        A pass makes such a one for each: that another is equal says nothing.
        """
        nodes = [self._node(computation, call.instruction) for computation, call in sites]
        applied = all(
            call.attribute == "to_apply" and call.instruction.opcode != "call" for _, call in sites
        )
        new = all(
            node is not None
            and not node.kept
            and (node.partner is None or not node.partner.instruction.called)
            for node in nodes
        )
        return self._are_new and bool(sites) and applied and new

    def _called_by_likes(
        self, name: str, sites: Sequence[tuple[Computation, Call]]
    ) -> Iterator[tuple[str, Grade]]:
        """Yield equal computations that the callers' partners call, with that pairing's grade."""
        for computation, call in sites:
            caller = self._node(computation, call.instruction)
            if caller is not None and not self._are_new and _is_taken_in(caller):
                continue
            other = self._called_instead(computation, call)
            if other is not None and self._alike(name, other):
                yield other, self._grade_there(computation, call.instruction)

    def _called_instead(self, computation: Computation, call: Call) -> str | None:
        """Return the computation that the corresponding call on the other side calls."""
        line = self._line_there(computation, call.instruction)
        position = [callee for _, callee in call.instruction.called].index(call.callee)
        called = () if line is None else line.called
        return called[position][1] if position < len(called) else None

    def _node(self, computation: Computation, line: Instruction) -> Node | None:
        home = self._here.homes.get(computation.name)
        return None if home is None else home.nodes.get(line.name)

    def _grade_there(self, computation: Computation, line: Instruction) -> Grade:
        """Return the grade of the correspondence of an instruction with the other side."""
        node = self._node(computation, line)
        if node is not None and node.partner is not None:
            return self._link_grades.get(node, Grade.EXACT)
        return self._grades.get(computation.name, Grade.EXACT)

    def _line_there(self, computation: Computation, line: Instruction) -> Instruction | None:
        node = self._node(computation, line)
        if node is not None and node.partner is not None:
            return node.partner.instruction
        original = self._known.get(computation.name)
        if original is None:
            return None
        pairs = self._pairs.get(computation.name)
        if pairs is None:
            there = self._there.graph.module.by_name[original]
            pairs = self._pairs[computation.name] = pair_lines(computation, there)
        return pairs.get(line.name)

    def _alike(self, name: str, other: str) -> bool:
        """Return whether two computations have equal contents and as many instructions."""
        lines = self._here.graph.module.by_name[name].instructions
        others = self._there.graph.module.by_name.get(other)
        token = self._contents[0].of(name)
        known = others is not None and token != UNKNOWN and len(lines) == len(others.instructions)
        return known and token == self._contents[1].of(other)

    def _of_one_stem(self, name: str) -> tuple[str, Grade] | None:
        here = self._here.graph.module.by_name[name]
        other = self._contents[1].holding(self._contents[0].of(name), here)
        known = other is not None and stem(other) == stem(name)
        return (other, Grade.GUESSED) if other is not None and known else None
