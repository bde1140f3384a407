"""Which module is the program: all evidence summed, and how sure the first place is."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.modules.evidence import PIECES, Evidence
from xlareport.analysis.modules.helper_modules import classify_helper
from xlareport.analysis.modules.measures import (
    Assumptions,
    Most,
    Relations,
    longest_measured,
    measure_work,
)
from xlareport.analysis.modules.processes import assign_processes
from xlareport.analysis.modules.ranks import find_rank_groups
from xlareport.analysis.modules.recompilations import find_repeated
from xlareport.analysis.modules.state import updates_state
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.knowledge.main_record import main_record

_OFTEN = Assumptions(rounds=10_000)
_LOOPS = {
    "loops of unknown length ran less often than assumed": Assumptions(rounds=1),
    "loops of unknown length ran more often than assumed": _OFTEN,
}
_CALLS = {
    "custom calls that cannot be counted did next to nothing": Assumptions(hidden=0.0),
    "custom calls that cannot be counted did as much as their data allow": Assumptions(hidden=1.0),
}
"""Other assumptions: if one of them puts another module first, it is a tie."""

CLEAR = 12
TIE = 3
"""Points between the first two: with the first number a guess is clear, below the second a tie."""
RIVAL = 0.5
"""No guess is clear where another program does this part of its work in one run."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A module with its evidence, strongest first."""

    summary: ModuleSummary
    score: float
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class MainGuess:
    """The main program, how sure, and what else it could be."""

    best: Ranked
    sureness: str
    """`clear`, `likely` or `tie`; `only` where no other module could be read."""
    runners_up: tuple[Ranked, ...]
    unread: int = 0
    """Modules that could not be read: one of them may as well be the program."""
    otherwise: Ranked | None = None
    """What comes first if loops or custom calls do more, or less, than was assumed."""
    condition: str = ""
    """Under which assumption `otherwise` comes first."""

    @property
    def tie(self) -> bool:
        """Nothing in the dump tells this module from another one."""
        return self.sureness == "tie"

    @property
    def alone(self) -> bool:
        """It could be read, and no other module could."""
        return self.sureness == "only"

    @property
    def confidence(self) -> float:
        """The chance that it is right, from guesses like it on dumps whose program is known.

        In a tie, and where the rest could not be read, one half says that nothing is known.
        """
        if self.tie or (self.alone and self.unread):
            return 0.5
        return round(main_record()[self.sureness].chance, 2)


def rank_modules(summaries: Sequence[ModuleSummary]) -> tuple[Ranked, ...]:
    """Rank modules, the likeliest program first; equal scores stay in the order given.

    A loop that runs until its data say so is what a program is made of where nothing trains: with
    its module ahead at many rounds, that goes first. The guess is a tie all the same.
    """
    relations = Relations.of(summaries)
    ranked = _ranked(summaries, Assumptions(), relations)
    if not ranked or ranked[0].summary.open_work or not _any_open(ranked):
        return ranked
    often = _ranked(summaries, _OFTEN, relations)[0]
    if not often.summary.open_work or updates_state(ranked[0].summary):
        return ranked
    return tuple(sorted(ranked, key=lambda ranked: ranked.summary is not often.summary))


def _any_open(ranked: Sequence[Ranked]) -> bool:
    return any(candidate.summary.open_work for candidate in ranked)


def _ranked(
    summaries: Sequence[ModuleSummary], assumed: Assumptions, relations: Relations
) -> tuple[Ranked, ...]:
    most = Most.of(summaries, assumed, relations)
    ranked = []
    for summary in summaries:
        evidence = [piece(summary, most) for piece in PIECES]
        kept = sorted((e for e in evidence if e.points > 0), key=lambda e: -e.points)
        ranked.append(Ranked(summary, sum(e.points for e in kept), tuple(kept)))
    return tuple(sorted(ranked, key=lambda ranked: -ranked.score))


def guess_main(ranked: Sequence[Ranked]) -> MainGuess | None:
    """Return the guess; None for a dump without modules."""
    if not ranked:
        return None
    best = ranked[0]
    same = find_recompilations(best.summary, [candidate.summary for candidate in ranked])
    rest = tuple(candidate for candidate in ranked[1:] if candidate.summary.files.key not in same)
    other, condition = _otherwise(ranked, same)
    near = tuple(rival for rival in rest[:3] if rival.score > best.score * 0.25)
    if other is not None and all(rival.summary is not other.summary for rival in near):
        near = (*near, other)
    unread = sum(candidate.summary.final.instructions is None for candidate in ranked)
    return MainGuess(best, _sureness(ranked, rest, other), near, unread, other, condition)


def _sureness(ranked: Sequence[Ranked], rest: Sequence[Ranked], other: Ranked | None) -> str:
    best = ranked[0]
    read = [candidate for candidate in ranked if candidate.summary.final.instructions is not None]
    if len(read) == 1 and read[0] is best:
        return "only"
    margin = best.score - (rest[0].score if rest else 0.0)
    if not read or margin < TIE or other is not None:
        return "tie"
    is_clear = margin >= CLEAR and not _has_rival(ranked, rest)
    # Where an operation outside of jit comes first, the program may not be in the dump.
    return "clear" if is_clear and classify_helper(best.summary) is None else "likely"


def _has_rival(ranked: Sequence[Ranked], rest: Sequence[Ranked]) -> bool:
    """Return whether another program does about as much; no trace counts their runs."""
    if longest_measured([candidate.summary for candidate in ranked]):
        return False
    relations = Relations.of([candidate.summary for candidate in ranked])
    done, *others = (
        measure_work(each.summary, Assumptions(), relations) for each in (ranked[0], *rest)
    )
    return max(others, default=0.0) > RIVAL * done


def _otherwise(ranked: Sequence[Ranked], same: Collection[str]) -> tuple[Ranked | None, str]:
    """Return a module that comes first under another assumption, and which that is."""
    has_hidden = any(candidate.summary.calls.hidden for candidate in ranked)
    cases = (_LOOPS if _any_open(ranked) else {}) | (_CALLS if has_hidden else {})
    if not cases:
        return None, ""
    summaries = [candidate.summary for candidate in ranked]
    relations = Relations.of(summaries)
    for condition, assumed in cases.items():
        first = _ranked(summaries, assumed, relations)[0]
        if first.summary.files.key not in same:
            return first, condition
    return None, ""


def find_recompilations(
    best: ModuleSummary, summaries: Sequence[ModuleSummary]
) -> Mapping[str, str]:
    """Return the keys of modules that are this one once more, and in what way."""
    result, assigned = {best.files.key: ""}, assign_processes(summaries)
    for _, members in find_rank_groups(summaries, assigned):
        if any(member.files.key == best.files.key for member in members):
            for member in members:
                result.setdefault(member.files.key, "compiled by another process")
    for _, members in find_repeated(summaries, assigned):
        if any(member.files.key in result for member in members):
            for summary in members:
                result.setdefault(summary.files.key, "compiled once more")
    return result
