"""Value numbers of whole computations: equal results for equal arguments."""

from collections.abc import Collection, Iterator

from msgspec import Struct, field

from xlareport.analysis.matching.sides.facts import callees_of, facts_of
from xlareport.analysis.matching.sides.forms import Forms
from xlareport.analysis.matching.sides.values import UNKNOWN, Tokens
from xlareport.hlo.model import Computation, HloModule

_DEEPEST = 100
"""Depth of nested calls that is compared; deeper calls count as different."""
_COPY_MARKS = frozenset({"clone", "cloned", "remat", "remat2", "copy", "sunk", "dup"})


class Contents(Struct):
    """Value numbers of the computations of one module, each computed once."""

    module: HloModule
    forms: Forms
    tokens: Tokens
    _known: dict[str, int] = field(default_factory=dict)
    _alike: dict[tuple[str, ...], list[str]] | None = None
    """Names by opcodes."""
    _holding: dict[tuple[str, ...], dict[int, dict[str, str]]] = field(default_factory=dict)
    """For computations with the same opcodes: names by value number and name stem."""

    def of(self, name: str, depth: int = 0) -> int:
        """Return the token of a computation; UNKNOWN where there is none, or it calls itself."""
        number = self._known.get(name)
        if number is None:
            self._known[name] = UNKNOWN
            computation = self.module.by_name.get(name)
            closed = computation is None or depth > _DEEPEST
            number = UNKNOWN if closed else self._derive(self.module.by_name[name], depth)
            self._known[name] = number
        return number

    def _derive(self, computation: Computation, depth: int) -> int:
        values: dict[str, int] = {}
        for line in computation.instructions:
            if line.operand_names is line.operands:  # no elements of tuples
                operands = tuple([(values.get(name, UNKNOWN), "") for name in line.operands])
            else:
                parts = [operand.partition("#") for operand in line.operands]
                operands = tuple([(values.get(name, UNKNOWN), part) for name, _, part in parts])
            callees = tuple([self.of(callee, depth + 1) for callee in callees_of(line)])
            values[line.name] = self.tokens.of(("line", self.forms.of(line), callees, operands))
        root = computation.root
        return UNKNOWN if root is None else self.tokens.of(("computation", values[root.name]))

    def holding(self, token: int, like: Computation) -> str | None:
        """Return a computation with this value number, preferably with the name stem of `like`."""
        opcodes = facts_of(like).opcodes
        if opcodes not in self._holding:
            self._holding[opcodes] = self._held(opcodes)
        result = self._holding[opcodes].get(token, {})
        first = next(iter(result.values()), None)
        return None if token == UNKNOWN else result.get(stem(like.name), first)

    def _held(self, opcodes: tuple[str, ...]) -> dict[int, dict[str, str]]:
        if self._alike is None:
            self._alike = {}
            for computation in self.module.computations:
                self._alike.setdefault(facts_of(computation).opcodes, []).append(computation.name)
        result: dict[int, dict[str, str]] = {}
        for name in self._alike.get(opcodes, ()):
            result.setdefault(self.of(name), {}).setdefault(stem(name), name)
        return result


def stem(name: str) -> str:
    """Return a name without numbers and copy marks at its end: `region_1` of `region_1.4.clone`."""
    return [name, *_shorter(name)][-1]


def copied_name(name: str, names: Collection[str]) -> str:
    """Return the name among `names` that a copy has with marks or numbers behind it; '' if none."""
    return next((shorter for shorter in _shorter(name) if shorter in names), "")


def _shorter(name: str) -> Iterator[str]:
    """Yield a name without its last number or copy mark, then without the last two, and so on."""
    while True:
        head, dot, tail = name.rpartition(".")
        if not dot or not (tail.isdigit() or tail in _COPY_MARKS):
            return
        name = head
        yield name
