"""Operations that ran outside of jit: which function called them, and would wrapping it help."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from xlareport.analysis.modules.helper_modules import Role
from xlareport.analysis.modules.summary import ModuleSummary

_OUTSIDE = frozenset({"eager op", "cast or transfer", "random numbers"})
_WORTH = 3


@dataclass(frozen=True, slots=True)
class EagerFunction:
    """A function of the user that ran operations one by one."""

    name: str
    modules: tuple[str, ...]
    """Keys of the modules that would go if it were wrapped in jit."""


def group_eager_functions(
    summaries: Sequence[ModuleSummary], roles: Sequence[Role]
) -> tuple[EagerFunction, ...]:
    """Find functions whose single operations became modules; the one with most of them first.

    A function on the stack of a main program calls that: to wrap it would be to wrap the program,
    so it is left out, as is the top level of a file.
    """
    played = list(zip(summaries, roles, strict=True))
    drivers = {name for summary, role in played if role.name == "main" for name in _outer(summary)}
    calls: dict[str, list[str]] = defaultdict(list)
    for summary, role in played:
        if role.name in _OUTSIDE:
            for name in _outer(summary) - drivers:
                calls[name].append(summary.files.key)
    eager_functions = [EagerFunction(name, tuple(keys)) for name, keys in calls.items()]
    worth = [
        eager_function
        for eager_function in eager_functions
        if len(eager_function.modules) >= _WORTH
    ]
    return tuple(
        sorted(
            worth, key=lambda eager_function: (-len(eager_function.modules), eager_function.name)
        )
    )


def _outer(summary: ModuleSummary) -> set[str]:
    """Return the named functions of a stack; what is defined inside of one counts as that one."""
    counted = Counter(name.partition(".<locals>")[0] for name in summary.features.functions)
    return {name for name in counted if name and not name.startswith("<")}
