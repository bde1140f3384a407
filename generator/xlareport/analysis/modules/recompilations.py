"""Retraces: one function that was compiled several times, and what differs between the times."""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from xlareport.analysis.modules.autotuning_pieces import (
    AutotuningPieces,
    find_autotuning_pieces,
)
from xlareport.analysis.modules.helper_modules import classify_helper, is_own_function
from xlareport.analysis.modules.processes import Processes, name_folder
from xlareport.analysis.modules.signature import Argument
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.storage.packed_keys import ChosenValues, digest_number, group_alike

_NUMBERED = re.compile(r"(?:\d++[._])++")
"""Numbers at the end, of a name read backwards: from its end there is one place to begin."""
_CLUSTER = re.compile(r"cluster_\w+")
_ALIKE = 0.8
_TELLING = 5
"""Operations from which on it says something that two modules have the same ones."""
_ROWS = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not the same in all members: one value for each member, in their order."""

    what: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecompilationGroup:
    """One function compiled several times."""

    name: str
    modules: tuple[str, ...]
    """Their keys."""
    differences: tuple[Difference, ...]
    reason: str
    """Why these are held for one function: a guess from name, source lines and operations."""
    changed_steps: int
    """Steps that changed something in the compilations after the first one."""
    is_helper: bool = False
    """Whether each is an operation outside of jit or the like, compiled once for each shape."""


def group_recompilations(
    summaries: Sequence[ModuleSummary],
    assigned: Processes,
    keep: Callable[[Iterable[RecompilationGroup]], Sequence[RecompilationGroup]] = tuple,
) -> Sequence[RecompilationGroup]:
    """Find the functions that one process compiled several times, by their first modules.

    `keep` returns a sequence of them.
    """
    return keep(_group(name, list(group)) for name, group in find_repeated(summaries, assigned))


def find_repeated(
    summaries: Sequence[ModuleSummary],
    assigned: Processes,
    pieces: AutotuningPieces | None = None,
) -> Iterator[tuple[str, Sequence[ModuleSummary]]]:
    """Yield the name and the modules of each function that one process compiled several times.

    Pieces of other compilations are no functions: their names are numbers within one module.
    `pieces` are those of the dump, where the modules are a part of it.
    """
    pieces = pieces or find_autotuning_pieces(summaries)
    owners = (None if summary in pieces else assigned[summary.files.key] for summary in summaries)
    yield from _repeated(summaries, owners)


def find_functions(
    summaries: Sequence[ModuleSummary], assigned: Processes, pieces: AutotuningPieces
) -> "Sequence[array[int]]":
    """Return the places of the modules of each function that was compiled several times.

    Where ranks share a folder and cannot be told apart, its modules count as those of one process.
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
    """Yield the name and the modules of each function with several modules of one owner.

    `owners` has that of each module, None for modules that do not count.
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
    """Return the places of modules of one name by the function that each is."""
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
    """Return the name of a module without what frameworks append for each compilation.

    The number of a TensorFlow cluster is its name: another number is another cluster.
    """
    plain = module.partition("__Xla")[0]
    if _CLUSTER.fullmatch(plain):
        return plain
    match = _NUMBERED.match(plain[::-1])
    return plain[: len(plain) - match.end()] or plain if match else plain


def _same_function(module: ModuleSummary, other: ModuleSummary) -> bool:
    """Return whether modules of one name are one function: from the same lines, or much alike.

    A module of few operations is like many others.
    """
    if _same_operation(module, other):
        return True
    mine, yours = set(module.features.places), set(other.features.places)
    if mine and yours:
        return 2 * len(mine & yours) >= min(len(mine), len(yours))
    least = min(module.features.operation_count, other.features.operation_count)
    if module.features.content == other.features.content:
        return least > 0
    return least >= _TELLING and _likeness(module, other) >= _ALIKE


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
    keys = tuple(member.files.key for member in members)
    differences = tuple(_differences(members))[:_ROWS]
    changed = sum(member.changed_steps for member in members[1:])
    is_helper = all(classify_helper(member) is not None for member in members)
    return RecompilationGroup(name, keys, differences, _reason(members), changed, is_helper)


def _reason(members: Sequence[ModuleSummary]) -> str:
    if all(_same_operation(members[0], member) for member in members[1:]):
        return "an operation of the same name outside jit"
    if all(member.features.places for member in members):
        return "the same name and the same source lines"
    return "the same name, alike inside"


def _differences(members: Sequence[ModuleSummary]) -> Iterator[Difference]:
    for what, value in _ASPECTS:
        yield from _unless_equal(what, [value(member) for member in members])
    most = max(len(member.features.given.arguments) for member in members)
    for number in range(most):
        yield from _argument(number, members)
    yield from _results(members)
    yield from _scalars(members)
    yield from _flags(members)


def _unless_equal(what: str, values: Sequence[str]) -> Iterator[Difference]:
    if len(set(values)) > 1:
        yield Difference(what, tuple(values))


_ASPECTS: tuple[tuple[str, Callable[[ModuleSummary], str]], ...] = (
    ("number of arguments", lambda summary: str(len(summary.features.given.arguments))),
    ("number of results", lambda summary: str(len(summary.features.given.results))),
    ("devices it was partitioned over", lambda summary: str(summary.features.given.partitions)),
)


def _argument(number: int, members: Sequence[ModuleSummary]) -> Iterator[Difference]:
    given = [member.features.given.arguments for member in members]
    mine = [arguments[number] if number < len(arguments) else None for arguments in given]
    label = next(argument.label for argument in mine if argument is not None)
    for what, value in _OF_ARGUMENT:
        result = [value(argument) if argument is not None else "absent" for argument in mine]
        yield from _unless_equal(f"argument {number} ({label}): {what}", result)


_OF_ARGUMENT: tuple[tuple[str, Callable[[Argument], str]], ...] = (
    ("shape", lambda argument: argument.shape),
    ("sharding", lambda argument: argument.sharding or "none"),
    ("layout", lambda argument: argument.layout),
    ("donated", lambda argument: "yes" if argument.donated else "no"),
)


def _results(members: Sequence[ModuleSummary]) -> Iterator[Difference]:
    returned = [member.features.given.results for member in members]
    if len({len(results) for results in returned}) == 1:
        for number, results in enumerate(zip(*returned, strict=True)):
            result = [result.shape for result in results]
            yield from _unless_equal(f"result {number}: shape", result)


def _scalars(members: Sequence[ModuleSummary]) -> Iterator[Difference]:
    """Compare the scalar constants: static values and Python numbers end up there."""
    counted = [Counter(member.features.scalars) for member in members]
    shared = counted[0].copy()
    for counts in counted[1:]:
        shared &= counts
    own = [", ".join(sorted((counts - shared).elements())[:6]) or "none" for counts in counted]
    yield from _unless_equal("constants that not all of them have (static values show here)", own)


def _flags(members: Sequence[ModuleSummary]) -> Iterator[Difference]:
    stated = [
        {setting.setting.name: setting.setting.value for setting in member.settings}
        for member in members
    ]
    if not all(stated):
        return
    for name in sorted(set().union(*stated)):
        if not name.startswith("xla_dump"):
            result = [item.get(name, "default") for item in stated]
            yield from _unless_equal(f"option {name}", result)
