"""Sentences of report.json, which pages show too: main program, values in memory."""

from xlareport.analysis.cost.lifetimes import End, Lifetime
from xlareport.analysis.cost_report.memory_report import ValueRow
from xlareport.analysis.modules.ranking import MainGuess
from xlareport.knowledge.main_record import main_record
from xlareport.runtime import units


def meaning(guess: MainGuess) -> str:
    """Return in a sentence or two how sure a guess is and where that is known from."""
    if guess.otherwise is not None:
        return f"{_TIED_BY_ASSUMPTION} {_SETTLES}"
    if guess.tie:
        return f"Nothing in the dump tells the first modules apart. {_SETTLES}"
    if guess.alone and guess.unread:
        return "A module that could not be read may be the program."
    if guess.alone:
        return "The only module."
    more = "" if guess.sureness == "clear" else f" {_SETTLES}"
    return f"{_AHEAD[guess.sureness]} {_record(guess.sureness)}{more}"


def _record(sureness: str) -> str:
    """Return how often guesses were right on dumps on which nothing was tuned."""
    unseen, known = main_record()["unseen"], main_record()[sureness]
    return (
        f"Of {unseen.of} public dumps on which the ranking was not tuned, it named the program of "
        f"{unseen.right}; of {units.plural(known.of, 'guess', 'guesses')} like this among them, "
        f"{known.right} {'was' if known.right == 1 else 'were'} right."
    )


def decided() -> str:
    """Return the sentence that a marker decided."""
    return "The only module with the marker."


_AHEAD = {
    "clear": "Far more evidence than for any other module.",
    "likely": "More evidence than for any other module, by a small margin.",
}
_TIED_BY_ASSUMPTION = (
    "How often a loop runs, or what a custom call computes, is not in the dump, and which module "
    "is the program depends on it."
)
_SETTLES = "A marker (--marker) or a profiler trace (*.trace.json.gz) beside the dump would decide."


def sureness(name: str) -> str:
    """Return in a word or two how sure a guess is."""
    return _SURENESS[name]


_SURENESS = {
    "clear": "high confidence",
    "likely": "likely",
    "tie": "a tie",
    "only": "the only readable module",
    "marker": "by the marker",
}


def why(life: Lifetime | None) -> str:
    """Return why a value is live that long; empty if unknown."""
    if life is None:
        return ""
    match life.ends:
        case End.ARGUMENT:
            return "entry parameter"
        case End.RESULT:
            return "output"
    of = f", {units.plural(life.uses, 'use')}" if life.uses and life.uses > 1 else ""
    if life.uses is not None and life.operand is None:
        shared = f"its memory is shared and in use up to %{life.last_use}"
        if life.last_read is None:
            return f"no use; {shared}"
        return f"last use: %{life.last_read[0]} (operand {life.last_read[1]}){of}; {shared}"
    operand = f" (operand {life.operand})" if life.operand is not None else ""
    return f"last use: %{life.last_use}{operand}{of}"


def value_name(value_row: ValueRow) -> str:
    """Return the instruction's name, with the index in its tuple for an element."""
    return (
        f"{value_row.instruction}{{{','.join(map(str, value_row.index))}}}"
        if value_row.index
        else value_row.instruction
    )
