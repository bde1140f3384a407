"""Recompilations: functions that were compiled several times, and the differences."""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from xlareport.analysis.modules.autotuning_pieces import AutotuningPieces, find_autotuning_pieces
from xlareport.analysis.modules.helper_modules import classify_helper, is_own_function
from xlareport.analysis.modules.processes import Processes, name_folder
from xlareport.analysis.modules.signature import Argument
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.storage.packed_keys import ChosenValues, digest_number, group_alike

_NUMBERED = re.compile(r"(?>(?:\d+[._])+)")
"""Numbers at the end, of a name read backwards: from its end there is one place to begin."""
_CLUSTER = re.compile(r"cluster_\w+")
_ALIKE = 0.8
_TELLING = 5
"""Number of operations from which equal operations are evidence."""
_ROWS = 40


class Difference(Struct, frozen=True):
    """A property that differs between members: one value for each member, in order."""

    what: str
    values: tuple[str, ...]


class RecompilationGroup(Struct, frozen=True):
    """A function that was compiled several times."""

    name: str
    modules: tuple[str, ...]
    """Their keys."""
    differences: tuple[Difference, ...]
    reason: str
    """Why these count as one function: a guess from name, source lines and operations."""
    changed_steps: int
    """Steps that changed something in the compilations after the first one."""
    is_helper: bool = False
    """Whether each is an operation outside of jit or the like, compiled once for each shape."""


def group_recompilations(
    summaries: Sequence[ModuleSummary],
    assigned: Processes,
    keep: Callable[[Iterable[RecompilationGroup]], Sequence[RecompilationGroup]] = tuple,
) -> Sequence[RecompilationGroup]:
    """Return functions that one process compiled several times, in order of first modules.

    `keep` converts them to a sequence.
    """
    return keep(_group(name, group) for name, group in find_repeated(summaries, assigned))


def find_repeated(
    summaries: Sequence[ModuleSummary],
    assigned: Processes,
    pieces: AutotuningPieces | None = None,
) -> Iterator[tuple[str, Sequence[ModuleSummary]]]:
    """Yield name and modules of each function that one process compiled several times.

    Pieces of other compilations are no functions: their names are numbers within one module.
    `pieces` are those of the whole dump, if `summaries` is only a part of it.
    """
    pieces = pieces or find_autotuning_pieces(summaries)
    owners = (None if summary in pieces else assigned[summary.files.key] for summary in summaries)
    yield from _repeated(summaries, owners)


def find_functions(
    summaries: Sequence[ModuleSummary], assigned: Processes, pieces: AutotuningPieces
) -> "Sequence[array[int]]":
    """Return the indices of the modules of each function that was compiled several times.

    Ranks that share a folder and cannot be separated count as one process.
    """
    owners = (
        None
        if summary in pieces or classify_helper(summary) is not None
        else assigned[summary.files.key] or name_folder(summary)
        for summary in summaries
    )
    return [array("q", group.places) for _, group in _repeated(summaries, owners)]


def _repeated(
    summaries: Sequence[ModuleSummary], owners: Iterable[object]
) -> Iterator[tuple[str, ChosenValues[ModuleSummary]]]:
    """Yield name and modules of each function with several modules of the same owner.

    `owners` has the owner of each module; None for modules that do not count.
    """
    names, places = array("q"), array("q")
    """The digests of the names, and the places, of the modules that count."""
    for place, (summary, owner) in enumerate(zip(summaries, owners, strict=True)):
        if summary.features.content and owner is not None:
            names.append(digest_number((owner, function_name(summary.display_name))))
            places.append(place)
    for same_name in group_alike(names):
        members = array("q", (places[at] for at in same_name))
        name = function_name(summaries[members[0]].display_name)
        for group in _functions(ChosenValues(summaries, members)):
            if len(group) > 1:
                yield name, ChosenValues(summaries, array("q", (members[at] for at in group)))


def _functions(members: Sequence[ModuleSummary]) -> "Iterable[array[int]]":
    """Return the indices of modules with the same name, grouped by function."""
    firsts: list[ModuleSummary] = []
    groups: list[array[int]] = []
    for at, summary in enumerate(members):
        same = (number for number, first in enumerate(firsts) if _same_function(first, summary))
        mine = next(same, None)
        if mine is None:
            firsts.append(summary)
            groups.append(array("q", (at,)))
        else:
            groups[mine].append(at)
    return groups


def function_name(module: str) -> str:
    """Return the name of a module without suffixes that frameworks add for each compilation.

    The number of a TensorFlow cluster is part of its name: another number is another cluster.
    """
    plain = module.partition("__Xla")[0]
    if _CLUSTER.fullmatch(plain):
        return plain
    match = _NUMBERED.match(plain[::-1])
    return plain[: len(plain) - match.end()] or plain if match else plain


def _same_function(module: ModuleSummary, other: ModuleSummary) -> bool:
    """Return whether modules of one name are the same function: by source lines or operations.

    A module with few operations resembles many others.
    """
    if _same_operation(module, other):
        return True
    shared = share_lines(module, other)
    if shared is not None:
        return shared
    least = min(module.features.operation_count, other.features.operation_count)
    if module.features.content == other.features.content:
        return least > 0
    return least >= _TELLING and _likeness(module, other) >= _ALIKE


def share_lines(module: ModuleSummary, other: ModuleSummary) -> bool | None:
    """Return whether modules share half of their source lines; None if either has none."""
    mine, yours = set(module.features.places), set(other.features.places)
    return 2 * len(mine & yours) >= min(len(mine), len(yours)) if mine and yours else None


def _same_operation(module: ModuleSummary, other: ModuleSummary) -> bool:
    """Return whether both are one eager operation of JAX, which is compiled for each shape."""
    alike = module.features.operations == other.features.operations != ()
    return alike and all(_is_operation(summary) for summary in (module, other))


def _is_operation(module: ModuleSummary) -> bool:
    from_one_line = len(module.features.places) == 1
    return from_one_line and module.origin.frontend == "jax" and not is_own_function(module)


def _likeness(summary: ModuleSummary, other: ModuleSummary) -> float:
    mine, yours = (
        Counter(dict(summary.features.operations)),
        Counter(dict(other.features.operations)),
    )
    either = (mine | yours).total()
    return (mine & yours).total() / either if either else 1.0


def _group(name: str, members: Sequence[ModuleSummary]) -> RecompilationGroup:
    """Return the group of a function; its modules are iterated twice and not kept."""
    first, compared, keys = members[0], _Compared(), []
    changed, is_helper, same_operation, has_places = 0, True, True, True
    for member in members:
        keys.append(member.files.key)
        compared.add(member)
        again = len(keys) > 1
        changed += member.changed_steps if again else 0
        is_helper = is_helper and classify_helper(member) is not None
        same_operation = same_operation and (not again or _same_operation(first, member))
        has_places = has_places and bool(member.features.places)
    differences = tuple(islice(compared.differences(members), _ROWS))
    reason = (
        "an operation of the same name outside jit"
        if same_operation
        else "the same name and the same source lines"
        if has_places
        else "the same name, alike inside"
    )
    return RecompilationGroup(name, tuple(keys), differences, reason, changed, is_helper)


class _Values:
    """A value for each member, in order; runs of equal values need no space."""

    def __init__(self, default: str = "") -> None:
        self._default = default
        self._known: dict[str, str] = {}
        self._values: list[str] = []
        """Empty as long as all are the same."""
        self._count = 0

    def put(self, member: int, value: str) -> None:
        """Set the value of a member by its index; members without a value have the default."""
        if self._count < member:
            self._add(self._default, member - self._count)
        self._add(value, 1)

    def _add(self, value: str, times: int) -> None:
        value = self._known.setdefault(value, value)
        if len(self._known) > 1 and not self._values:
            self._values = [next(iter(self._known))] * self._count
        if len(self._known) > 1:
            self._values += [value] * times
        self._count += times

    def of_all(self, members: int) -> tuple[str, ...]:
        """Return the values of `members` members; empty if all are equal."""
        if self._count < members:
            self._add(self._default, members - self._count)
        return tuple(self._values)


class _Compared:
    """The differences between modules that are added one after another."""

    def __init__(self) -> None:
        self._members = 0
        self._aspects = [_Values() for _ in _ASPECTS]
        self._labels: list[str] = []
        """The labels of arguments, each from the first module with that many arguments."""
        self._arguments: list[list[_Values]] = []
        self._result_counts: set[int] = set()
        self._results: list[_Values] = []
        self._scalars: Counter[str] | None = None
        """Scalar constants that all have."""
        self._flags: dict[str, _Values] = {}
        self._has_flags = True

    def add(self, member: ModuleSummary) -> None:
        """Take the next module."""
        number = self._members
        self._members += 1
        for values, (_, aspect) in zip(self._aspects, _ASPECTS, strict=True):
            values.put(number, aspect(member))
        given = member.features.given
        for argument in given.arguments[len(self._labels) :]:
            self._labels.append(argument.label)
            self._arguments.append([_Values("absent") for _ in _OF_ARGUMENT])
        for columns, argument in zip(self._arguments, given.arguments, strict=False):
            for values, (_, value) in zip(columns, _OF_ARGUMENT, strict=True):
                values.put(number, value(argument))
        self._result_counts.add(len(given.results))
        self._results += [_Values() for _ in given.results[len(self._results) :]]
        for values, result in zip(self._results, given.results, strict=False):
            values.put(number, result.shape)
        counts = Counter(member.features.scalars)
        self._scalars = counts if self._scalars is None else self._scalars & counts
        self._has_flags = self._has_flags and bool(member.settings)
        stated = {choice.setting.name: choice.setting.value for choice in member.settings}
        for name, text in stated.items():
            self._flags.setdefault(name, _Values("default")).put(number, text)

    def differences(self, members: Sequence[ModuleSummary]) -> Iterator[Difference]:
        """Yield the differences; `members` are the modules that were added."""
        for values, (what, _) in zip(self._aspects, _ASPECTS, strict=True):
            yield from self._unless_equal(what, values)
        for number, (label, columns) in enumerate(zip(self._labels, self._arguments, strict=True)):
            for values, (what, _) in zip(columns, _OF_ARGUMENT, strict=True):
                yield from self._unless_equal(f"argument {number} ({label}): {what}", values)
        if len(self._result_counts) == 1:
            for number, values in enumerate(self._results):
                yield from self._unless_equal(f"result {number}: shape", values)
        constants = "constants that not all of them have (static values show here)"
        yield from self._unless_equal(constants, self._own_scalars(members))
        for name in sorted(self._flags) if self._has_flags else ():
            if not name.startswith("xla_dump"):
                yield from self._unless_equal(f"option {name}", self._flags[name])

    def _own_scalars(self, members: Iterable[ModuleSummary]) -> _Values:
        """Compare the scalar constants: static values and Python numbers end up there."""
        shared, values = self._scalars or Counter(), _Values()
        for number, member in enumerate(members):
            scalars = sorted((Counter(member.features.scalars) - shared).elements())
            values.put(number, ", ".join(scalars[:6]) or "none")
        return values

    def _unless_equal(self, what: str, values: _Values) -> Iterator[Difference]:
        differing = values.of_all(self._members)
        if differing:
            yield Difference(what, differing)


_ASPECTS: tuple[tuple[str, Callable[[ModuleSummary], str]], ...] = (
    ("number of arguments", lambda summary: str(len(summary.features.given.arguments))),
    ("number of results", lambda summary: str(len(summary.features.given.results))),
    ("devices it was partitioned over", lambda summary: str(summary.features.given.partitions)),
)
_OF_ARGUMENT: tuple[tuple[str, Callable[[Argument], str]], ...] = (
    ("shape", lambda argument: argument.shape),
    ("sharding", lambda argument: argument.sharding or "none"),
    ("layout", lambda argument: argument.layout),
    ("donated", lambda argument: "yes" if argument.donated else "no"),
)
