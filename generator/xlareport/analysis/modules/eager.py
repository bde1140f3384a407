"""Operations that ran outside of jit: which function called them, and would wrapping it help."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from xlareport.analysis.modules.module_role import OUTSIDE_JIT, ModuleRole, Role
from xlareport.analysis.modules.summary import ModuleSummary

_WORTH = 3


class EagerFunction(Struct, frozen=True):
    """A function of the user that ran operations one by one."""

    name: str
    modules: tuple[str, ...]
    """Keys of the modules that would go if it were wrapped in jit."""


def group_eager_functions(
    summaries: Sequence[ModuleSummary],
    roles: Sequence[Role],
    keep: Callable[[Iterable[EagerFunction]], Sequence[EagerFunction]] = tuple,
) -> Sequence[EagerFunction]:
    """Return functions whose single operations were compiled as modules, most modules first.

    A function on the stack of a main program calls that program, and a jit of it would include the
    program, so it is left out, as is the top level of a file. `keep` returns a sequence of the
    functions.
    """
    drivers = {
        name
        for place, role in enumerate(roles)
        if role.name == ModuleRole.MAIN
        for name in _outer(summaries[place])
    }
    calls: dict[str, array[int]] = defaultdict(lambda: array("q"))
    for place, (summary, role) in enumerate(zip(summaries, roles, strict=True)):
        if role.name in OUTSIDE_JIT:
            for name in _outer(summary) - drivers:
                calls[name].append(place)
    worth = [(name, places) for name, places in calls.items() if len(places) >= _WORTH]
    worth.sort(key=lambda function: (-len(function[1]), function[0]))
    return keep(
        EagerFunction(name, tuple(summaries[place].files.key for place in places))
        for name, places in worth
    )


def _outer(summary: ModuleSummary) -> set[str]:
    """Return the named functions of a stack; nested functions count as their outer function."""
    counted = Counter(name.partition(".<locals>")[0] for name in summary.features.functions)
    return {name for name in counted if name and not name.startswith("<")}
