"""Recompilation.

One function was compiled several times. The finding lists the shapes, types and static arguments
that differ. Name, source lines and operations show that it is one function, so this is a guess.
Eager ops do not count; *Execution graph* lists them.
"""

from collections.abc import Sequence

from xlareport.analysis.findings.finding import Finding, rule_id
from xlareport.analysis.modules.recompilations import Difference, RecompilationGroup
from xlareport.runtime import units

_SHOWN = 2
_MOST_PLACES = 50
"""Modules that a finding names: each of thousands has it, and the group lists all."""
_LONGEST = 60
_MOST_VALUES = 20
"""Values that a sentence names; the group lists all."""


def report_recompilation(group: RecompilationGroup) -> Finding:
    """Return the sentence that a function was compiled again, and what differed."""
    return Finding(
        rule=rule_id(report_recompilation),
        title="Recompilation",
        places=tuple((key, "") for key in group.modules[:_MOST_PLACES]),
        occurrences=len(group.modules),
        evidence=(
            f"{group.name} was compiled {units.plural(len(group.modules), 'time')}: "
            f"{_differences(group.differences)} Guessed to be one function: "
            f"{group.reason}."
        ),
        suggestion=(
            "Keep shapes and types constant between calls: pad to a few sizes, and pass changing "
            "Python numbers as arrays instead of static arguments."
        ),
        grade="guessed",
        weight=0.0,
        severity="medium",
    )


def _differences(differences: Sequence[Difference]) -> str:
    if not differences:
        return "no difference in the dump."
    message = "; ".join(
        f"{difference.what} is {_values(difference.values)}" for difference in differences[:_SHOWN]
    )
    more = len(differences) - _SHOWN
    rest = f", and {units.plural(more, 'more difference')}" if more > 0 else ""
    return f"{message}{rest}."


def _values(values: Sequence[str]) -> str:
    distinct = [value[:_LONGEST] or "absent" for value in dict.fromkeys(values)]
    more = len(distinct) - _MOST_VALUES
    rest = f", and {units.plural(more, 'more value')}" if more > 0 else ""
    return f"{', then '.join(distinct[:_MOST_VALUES])}{rest}"
