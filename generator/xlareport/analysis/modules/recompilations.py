"""Retraces: one function that was compiled several times, and what differs between the times."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.modules.autotuning_pieces import find_autotuning_pieces
from xlareport.analysis.modules.helper_modules import classify_helper, is_own_function
from xlareport.analysis.modules.processes import Processes, name_folder
from xlareport.analysis.modules.signature import Argument
from xlareport.analysis.modules.summary import ModuleSummary

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
    summaries: Sequence[ModuleSummary], assigned: Processes
) -> tuple[RecompilationGroup, ...]:
    """Find the functions that one process compiled several times, by their first modules."""
    return tuple(_group(name, group) for name, group in find_repeated(summaries, assigned))


def find_repeated(
    summaries: Sequence[ModuleSummary], assigned: Processes
) -> Iterator[tuple[str, Sequence[ModuleSummary]]]:
    """Yield the name and the modules of each function that one process compiled several times.

    Pieces of other compilations are no functions: their names are numbers within one module.
    """
    pieces = find_autotuning_pieces(summaries)
    known = [
        summary
        for summary in summaries
        if assigned[summary.files.key] is not None and summary.files.key not in pieces
    ]
    yield from _repeated(known, lambda summary: assigned[summary.files.key])


def find_functions(
    summaries: Sequence[ModuleSummary], assigned: Processes
) -> Mapping[str, Sequence[ModuleSummary]]:
    """Return all modules of each function that was compiled several times, by the key of each.

    Where ranks share a folder and cannot be told apart, its modules count as those of one process.
    """
    pieces = find_autotuning_pieces(summaries)
    programs = [
        summary
        for summary in summaries
        if summary.files.key not in pieces and classify_helper(summary) is None
    ]
    groups = _repeated(
        programs, lambda summary: assigned[summary.files.key] or name_folder(summary)
    )
    return {member.files.key: group for _, group in groups for member in group}


def _repeated(
    summaries: Iterable[ModuleSummary], whose: Callable[[ModuleSummary], object]
) -> Iterator[tuple[str, Sequence[ModuleSummary]]]:
    """Yield the name and the modules of each function with several modules of one owner."""
    named: dict[tuple[object, str], list[list[ModuleSummary]]] = defaultdict(list)
    for summary in summaries:
        if not summary.features.content:
            continue
        groups = named[whose(summary), function_name(summary.display_name)]
        mine = next((group for group in groups if _same_function(group[0], summary)), None)
        if mine is None:
            groups.append([summary])
        else:
            mine.append(summary)
    for (_, name), item in named.items():
        yield from ((name, group) for group in item if len(group) > 1)


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
