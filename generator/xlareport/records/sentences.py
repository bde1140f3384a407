"""Sentences of report.json, which pages show too: main program, collectives, values in memory."""

from collections.abc import Sequence

from xlareport.analysis.cost.lifetimes import End, Lifetime
from xlareport.analysis.cost.resharding import Resharding
from xlareport.analysis.cost_report.memory_report import ValueRow
from xlareport.analysis.cost_report.work_report import CollectiveRow
from xlareport.analysis.modules.ranking import MainGuess
from xlareport.knowledge.main_record import main_record
from xlareport.runtime import units

_GROUPS = 4
_MEMBERS = 8
_NAMES = 6


def meaning(guess: MainGuess) -> str:
    """Say in a sentence or two how sure a guess is and where that is known from."""
    if guess.by_rounds is not None:
        return f"{_TIED_BY_LOOPS} {_SETTLES}"
    if guess.tie:
        return f"Nothing in the dump tells the first modules apart. {_SETTLES}"
    if guess.alone and guess.unread:
        return "One of the modules that could not be read may as well be the program."
    if guess.alone:
        return "No other module is there."
    more = "" if guess.sureness == "clear" else f" {_SETTLES}"
    return f"{_AHEAD[guess.sureness]} {_record(guess.sureness)}{more}"


def _record(sureness: str) -> str:
    """Say how often guesses were right: at first sight, and where the ranking was tuned."""
    unseen, known = main_record()["unseen"], main_record()[sureness]
    return (
        f"Of {unseen.of} programs that it had never met, the ranking named {unseen.right}. Of "
        f"{units.plural(known.of, 'guess', 'guesses')} like this on dumps whose program is known, "
        f"{known.right} named it, but on some of those dumps the ranking was tuned."
    )


def decided() -> str:
    """Say that a marker decided."""
    return "It alone contains the marker."


_AHEAD = {
    "clear": "Much more speaks for it than for any other module.",
    "likely": "More speaks for it than for any other module, but not by much.",
}
_TIED_BY_LOOPS = (
    "How often a loop runs is not in the dump, and which module is the program depends on it."
)
_SETTLES = (
    "A marker (--marker) would settle it, or a trace (*.trace.json.gz of a profiler) put beside "
    "the dump."
)


def sureness(name: str) -> str:
    """Say in a word or two how sure a guess is."""
    return _SURENESS[name]


_SURENESS = {
    "clear": "a clear case",
    "likely": "likely",
    "tie": "a tie",
    "only": "the only one that could be read",
    "marker": "by the marker",
}


def groups_words(row: CollectiveRow) -> str:
    """Write out the first replica groups; how many there are where they are not listed."""
    found = row.one.groups
    if found is None:
        return "" if row.one.kind == "collective-permute" else "all devices"
    if found.groups is None:
        return f"{found.count:,} groups of {found.size:,}"
    shown = [
        f"{{{','.join(map(str, one[:_MEMBERS]))}{_more(one)}}}" for one in found.groups[:_GROUPS]
    ]
    more = f" and {found.count - _GROUPS:,} more" if found.count > _GROUPS else ""
    return " ".join(shown) + more


def _more(group: Sequence[int]) -> str:
    return ",..." if len(group) > _MEMBERS else ""


def sharding_words(row: CollectiveRow) -> str:
    """Say which shardings made a collective, with the grade; empty where the dump does not tell."""
    more = len(row.reshardings) - _NAMES
    said = [_sharding_words(one) for one in row.reshardings[:_NAMES]]
    return "; ".join([*said, f"{more:,} more"] if more > 0 else said)


def _sharding_words(found: Resharding) -> str:
    said = [f"%{found.operand}"] if found.operand else []
    if found.parameter is not None:
        said.append(f"moves argument %{found.parameter.instruction} {found.parameter.sharding}")
    if found.wanted_by is not None:
        said.append(f"for %{found.wanted_by.instruction} {found.wanted_by.sharding}")
    if found.operands:
        given = ", ".join(f"%{one.instruction} {one.sharding}" for one in found.operands)
        said.append(f"from {given}")
    return f"{' '.join(said)} ({found.grade})"


def why(life: Lifetime | None) -> str:
    """Say why a value lives as long as it does; empty where the dump does not tell."""
    if life is None:
        return ""
    match life.ends:
        case End.ARGUMENT:
            return "an argument: the caller holds it for the whole run"
        case End.RESULT:
            return "it is returned: it lives to the end"
    operand = f" (operand {life.operand})" if life.operand is not None else ""
    of = f", the last of {units.plural(life.uses, 'use')}" if life.uses and life.uses > 1 else ""
    return f"used last by %{life.last_use}{operand}{of}"


def value_name(one: ValueRow) -> str:
    """Return the instruction, with the place in its tuple where it is a part of one."""
    return f"{one.instruction}{{{','.join(map(str, one.index))}}}" if one.index else one.instruction
