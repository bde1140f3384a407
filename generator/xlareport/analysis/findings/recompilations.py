"""One function that was compiled several times: a finding about a dump, not about a module."""

from collections.abc import Sequence

from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.modules.retraces import Difference, RetraceGroup
from xlareport.runtime import units

_SHOWN = 2
_LONGEST = 60


def recompilation(group: RetraceGroup) -> Finding:
    """Say that a function was compiled again, and what differed."""
    return Finding(
        rule="recompilations",
        title="One function, compiled again and again",
        places=tuple((one.files.key, "") for one in group.members),
        evidence=(
            f"{group.name} was compiled {units.plural(len(group.members), 'time')}: "
            f"{_differences(group.differences)} That it is one function is a guess: "
            f"{group.reason}."
        ),
        suggestion=(
            "Keep shapes and types the same from call to call: pad to a few sizes, and pass Python "
            "numbers that change as arrays instead of static arguments."
        ),
        grade="guessed",
        weight=0.0,
    )


def _differences(found: Sequence[Difference]) -> str:
    if not found:
        return "nothing that the dump shows differs."
    said = "; ".join(f"{one.what} is {_values(one.values)}" for one in found[:_SHOWN])
    more = len(found) - _SHOWN
    rest = f", and {units.plural(more, 'more difference')}" if more > 0 else ""
    return f"{said}{rest}."


def _values(values: Sequence[str]) -> str:
    return ", then ".join(one[:_LONGEST] or "absent" for one in dict.fromkeys(values))
