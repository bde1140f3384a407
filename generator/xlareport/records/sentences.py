"""Sentences of report.json, which pages show too: main program, values in memory."""

from xlareport.analysis.cost.lifetimes import End, Follower, Lifetime
from xlareport.analysis.cost_report.value_row import element_name
from xlareport.analysis.modules.ranking import MainGuess
from xlareport.knowledge.main_record import main_record
from xlareport.runtime import units


def meaning(guess: MainGuess) -> str:
    """Return in a sentence or two how sure a guess is and where that is known from."""
    if guess.otherwise is not None:
        return f"{_TIED_BY_ASSUMPTION} {_SETTLES}"
    if guess.tie:
        return f"Nothing in the dump separates the first modules. {_SETTLES}"
    if guess.alone and guess.unread:
        return "A module that could not be read may be the program."
    if guess.alone:
        return "The only module."
    more = "" if guess.sureness == "clear" else f" {_SETTLES}"
    return f"{_AHEAD[guess.sureness]} {_record(guess.sureness)}{more}"


def _record(sureness: str) -> str:
    """Return how often guesses were right on dumps on which nothing was tuned."""
    unseen, seen = main_record()["unseen"], main_record()[sureness]
    return (
        f"Of {unseen.of} public dumps on which the ranking was not tuned, it named the program of "
        f"{unseen.right}; of {units.plural(seen.of, 'guess', 'guesses')} like this among them, "
        f"{seen.right} {'was' if seen.right == 1 else 'were'} right."
    )


def decided() -> str:
    """Return the sentence that a marker decided."""
    return "The only module with the marker."


_AHEAD = {
    "clear": "Far more evidence than for any other module.",
    "likely": "More evidence than for any other module, by a small margin.",
}
_TIED_BY_ASSUMPTION = (
    "The main program depends on a trip count, or on a custom call, that is not known from the "
    "dump."
)
_SETTLES = "A marker (--marker) or a profile next to the dump (*.trace.json.gz) resolves this."


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


def why(lifetime: Lifetime | None) -> str:
    """Return why a value is live that long; empty if unknown."""
    if lifetime is None:
        return ""
    follower = lifetime.follower if lifetime.ends is End.USE else None
    if follower is None:
        return _end(lifetime)
    user = lifetime.last_read[0] if lifetime.last_read else _own_use(lifetime)
    return f"{_followed(follower)}; {f'last own use %{user}' if user else 'no own use'}"


def _own_use(lifetime: Lifetime) -> str:
    """Return the last instruction that reads a value; empty if none does."""
    is_read = lifetime.uses is None or lifetime.operand is not None
    return lifetime.last_use if is_read else ""


def _end(lifetime: Lifetime) -> str:
    match lifetime.ends:
        case End.ARGUMENT:
            return "entry parameter"
        case End.RESULT:
            return "output"
    if lifetime.uses is not None and lifetime.operand is None:
        last = lifetime.last_read
        read = _use(last[0], last[1], lifetime.uses) if last else "no use"
        return f"{read}; its memory is in use until %{lifetime.last_use}"
    return _use(lifetime.last_use, lifetime.operand, lifetime.uses)


def _use(instruction: str, operand: int | None, uses: int | None) -> str:
    """Return the last use of a value: `last use %dot.1 (operand 0, last of 3 by XLA's count)`.

    Bitcasts and the done of an asynchronous op count.
    """
    place = [f"operand {operand}"] if operand is not None else []
    place += [f"last of {units.count(uses)} by XLA's count"] if uses and uses > 1 else []
    return f"last use %{instruction}" + (f" ({', '.join(place)})" if place else "")


def _followed(follower: Follower) -> str:
    """Return as which later value the memory of a value is in use, and until when."""
    name = element_name(follower.instruction, follower.index)
    if follower.ends is not End.USE:
        return f"{'entry parameter' if follower.ends is End.ARGUMENT else 'output'} as %{name}"
    return f"as %{name} until %{follower.last_use} (position {units.count(follower.end)})"
