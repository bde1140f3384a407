"""The arguments and results of a module, to find which module can feed which."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from msgspec import Struct

from xlareport.analysis.modules.signature import Argument, Result, Signature
from xlareport.analysis.modules.summary import ModuleSummary

_MANY = 400
"""Modules with more arguments or results are compared by these first ones only."""

_ANYWHERE = frozenset({"", "{replicated}", "{maximal device=0}"})
"""Shardings that a framework assigns by default; they are no evidence."""


class Port(Struct, frozen=True):
    """An array that is an argument or a result; scalars are excluded."""

    shape: str
    sharding: str
    layout: str
    """As the compiler left it; empty where it is not known or not comparable."""
    donated: bool = False

    def fits(self, other: "Port") -> bool:
        """Return whether two ports can be the same array: no known property contradicts."""
        return (
            self.shape == other.shape
            and (self.sharding == other.sharding or not _ANYWHERE.isdisjoint(self._with(other)))
            and (self.layout == other.layout or not (self.layout and other.layout))
        )

    def _with(self, other: "Port") -> tuple[str, str]:
        return self.sharding, other.sharding


class Ports(Struct, frozen=True, dict=True):
    """The arguments and results of one module."""

    key: str
    content: str
    arguments: tuple[Port, ...]
    results: tuple[Port, ...]
    scalars: tuple[tuple[str, ...], tuple[str, ...]]
    """Shapes of the numbers that it takes and gives."""
    moves: bool
    """Whether it only casts or moves its arguments."""

    @cached_property
    def shapes(self) -> frozenset[str]:
        """Shapes of the results."""
        return frozenset(result.shape for result in self.results)

    def makes(self, wanted: Port) -> bool:
        """Return whether some result can be this argument of another module."""
        return any(result.fits(wanted) for result in self.results)


def find_ports(summary: ModuleSummary) -> Ports:
    """Return a module's ports: shapes and shardings of the input HLO, layouts of the final one."""
    given, left = summary.features.given, summary.signature
    arguments = given.arguments[:_MANY]
    results = given.results[:_MANY]
    alike = _comparable(given, left)
    layouts = (
        [argument.layout for argument in left.arguments],
        [result.layout for result in left.results],
    )
    return Ports(
        key=summary.files.key,
        content=summary.features.content,
        arguments=tuple(
            Port(
                argument.shape, argument.sharding, layouts[0][at] if alike else "", argument.donated
            )
            for at, argument in enumerate(arguments)
            if not _is_scalar(argument)
        ),
        results=tuple(
            Port(result.shape, result.sharding, layouts[1][at] if alike else "")
            for at, result in enumerate(results)
            if not _is_scalar(result)
        ),
        scalars=(_scalars(arguments), _scalars(results)),
        moves=set(dict(summary.features.operations)) <= {"convert"},
    )


def _comparable(given: Signature, left: Signature) -> bool:
    """Return whether the optimized module has the same arguments and results, unpartitioned."""
    return _shapes(given) == _shapes(left)


def _shapes(signature: Signature) -> tuple[list[str], list[str]]:
    return [argument.shape for argument in signature.arguments], [
        result.shape for result in signature.results
    ]


def _is_scalar(value: Argument | Result) -> bool:
    return "[]" in value.shape


def _scalars(value: Iterable[Argument | Result]) -> tuple[str, ...]:
    return tuple(item.shape for item in value if _is_scalar(item))


def find_common_run(results: Sequence[Port], arguments: Sequence[Port]) -> tuple[str, ...]:
    """Return the shapes of the longest run that both have in a row; none if it does not fit."""
    given, taken = [result.shape for result in results], [argument.shape for argument in arguments]
    match = SequenceMatcher(None, given, taken, autojunk=False).find_longest_match()
    pairs = zip(results[match.a : match.a + match.size], arguments[match.b :], strict=False)
    if not all(port.fits(other) for port, other in pairs):
        return ()
    return tuple(given[match.a : match.a + match.size])


def remove_shapes(wanted: Iterable[Port], shapes: Iterable[str]) -> list[Port]:
    """Return the arguments without the first one of each given shape."""
    left = list(wanted)
    for shape in shapes:
        left.remove(next(port for port in left if port.shape == shape))
    return left
