"""Which module is the program: all evidence summed, and how sure the first place is."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xlareport.analysis.modules.evidence import PIECES, Evidence, Piece
from xlareport.analysis.modules.helper_modules import classify_helper
from xlareport.analysis.modules.measures import (
    Assumptions,
    Most,
    Relations,
    longest_measured,
    measure_work,
)
from xlareport.analysis.modules.ranks import find_rank_groups
from xlareport.analysis.modules.recompilations import find_repeated
from xlareport.analysis.modules.state import updates_state
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.knowledge.main_record import main_record

_OFTEN = Assumptions(trip_count=10_000)
_LOOPS = {
    "loops of unknown length ran less often than assumed": Assumptions(trip_count=1),
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
    most: Most | None = None
    """What it is compared with; None where nothing was ranked."""
    others: tuple[ModuleSummary, ...] = ()
    """Compilations of the same function that rank below it, whose evidence counts as well."""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What speaks for it, strongest first: made when it is asked for, since few are."""
        most = self.most
        return list_evidence(self.summary, most, self.others) if most is not None else ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Modules, the likeliest program first, and the relations that their order follows from."""

    modules: tuple[Ranked, ...]
    relations: Relations

    def select(self, keys: Collection[str]) -> "Ranking":
        """Return the ranking of some of the modules, in the same order."""
        kept = tuple(ranked for ranked in self.modules if ranked.summary.files.key in keys)
        return Ranking(kept, self.relations)


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
    recompilations: Mapping[str, str] = field(default_factory=dict)
    """The keys of modules that are this program once more, and in what way; its own with none."""

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


def rank_modules(summaries: Sequence[ModuleSummary], relations: Relations | None = None) -> Ranking:
    """Rank modules, the likeliest program first; equal scores stay in the order given.

    `relations` may be those of further modules as well; without them those of the modules are used.

    A loop that runs until its data say so is what a program is made of where nothing trains: with
    its module ahead at many iterations, that goes first. The guess is a tie all the same.
    """
    relations = relations or Relations.of(summaries)
    ranked = _ranked(summaries, Assumptions(), relations)
    if not ranked or ranked[0].summary.open_work or not _any_open(ranked):
        return Ranking(ranked, relations)
    often = _ranked(summaries, _OFTEN, relations)[0]
    if often.summary.open_work and not updates_state(ranked[0].summary):
        ranked = tuple(sorted(ranked, key=lambda ranked: ranked.summary is not often.summary))
    return Ranking(ranked, relations)


def _any_open(ranked: Sequence[Ranked]) -> bool:
    return any(candidate.summary.open_work for candidate in ranked)


def _ranked(
    summaries: Sequence[ModuleSummary], assumed: Assumptions, relations: Relations
) -> tuple[Ranked, ...]:
    most = Most.of(summaries, assumed, relations)
    scores = {
        summary.files.key: sum(piece(summary, most).points for piece in PIECES)
        for summary in summaries
    }
    ranked = (
        _rank(summary, most, scores, _others(summary, scores, relations)) for summary in summaries
    )
    return tuple(sorted(ranked, key=lambda ranked: -ranked.score))


def _rank(
    summary: ModuleSummary,
    most: Most,
    scores: Mapping[str, float],
    others: tuple[ModuleSummary, ...],
) -> Ranked:
    if not others:
        return Ranked(summary, scores[summary.files.key], most)
    score = sum(piece.points for piece in list_evidence(summary, most, others))
    return Ranked(summary, score, most, others)


def _others(
    summary: ModuleSummary, scores: Mapping[str, float], relations: Relations
) -> tuple[ModuleSummary, ...]:
    """Return the other compilations of a function by that of them which has most; else none."""
    function = relations.functions.get(summary.files.key, ())
    ranked = [member for member in function if member.files.key in scores]
    if len(ranked) <= 1 or max(ranked, key=lambda member: scores[member.files.key]) is not summary:
        return ()
    return tuple(member for member in ranked if member is not summary)


def list_evidence(
    summary: ModuleSummary, most: Most, others: Sequence[ModuleSummary] = ()
) -> tuple[Evidence, ...]:
    """Return the evidence for a module, strongest first.

    A function that was compiled for several shapes is one program: what any of its compilations
    shows counts for it, once.
    """
    evidence = (_strongest(piece, summary, most, others) for piece in PIECES)
    return tuple(
        sorted((piece for piece in evidence if piece.points > 0), key=lambda piece: -piece.points)
    )


def _strongest(
    piece: Piece, summary: ModuleSummary, most: Most, others: Sequence[ModuleSummary]
) -> Evidence:
    own = piece(summary, most)
    more, key = max(
        ((piece(other, most), other.files.key) for other in others),
        key=lambda rival: rival[0].points,
        default=(own, ""),
    )
    if more.points <= own.points:
        return own
    place = f"as its compilation {key}"
    return replace(more, remark=f"{more.remark}, {place}" if more.remark else place)


def guess_main(ranking: Ranking) -> MainGuess | None:
    """Return the guess; None for a dump without modules."""
    ranked, relations = ranking.modules, ranking.relations
    if not ranked:
        return None
    best = ranked[0]
    same = _find_recompilations(best.summary, relations)
    again = {*same, *(other.files.key for rival in ranked[1:] for other in rival.others)}
    rest = tuple(candidate for candidate in ranked[1:] if candidate.summary.files.key not in again)
    other, condition = _otherwise(ranking, same)
    near = tuple(rival for rival in rest[:3] if rival.score > best.score * 0.25)
    if other is not None and all(rival.summary is not other.summary for rival in near):
        near = (*near, other)
    unread = sum(candidate.summary.final.instructions is None for candidate in ranked)
    return MainGuess(best, _sureness(ranking, rest, other), near, unread, other, condition, same)


def _sureness(ranking: Ranking, rest: Sequence[Ranked], other: Ranked | None) -> str:
    ranked = ranking.modules
    best = ranked[0]
    read = [candidate for candidate in ranked if candidate.summary.final.instructions is not None]
    if len(read) == 1 and read[0] is best:
        return "only"
    margin = best.score - (rest[0].score if rest else 0.0)
    if not read or margin < TIE or other is not None:
        return "tie"
    is_clear = margin >= CLEAR and not _has_rival(ranking, rest)
    # Where an operation outside of jit comes first, the program may not be in the dump.
    return "clear" if is_clear and classify_helper(best.summary) is None else "likely"


def _has_rival(ranking: Ranking, rest: Sequence[Ranked]) -> bool:
    """Return whether another program does about as much; no trace counts their runs."""
    if longest_measured([candidate.summary for candidate in ranking.modules]):
        return False
    done, *others = (
        measure_work(candidate.summary, Assumptions(), ranking.relations)
        for candidate in (ranking.modules[0], *rest)
    )
    return max(others, default=0.0) > RIVAL * done


def _otherwise(ranking: Ranking, same: Collection[str]) -> tuple[Ranked | None, str]:
    """Return a module that comes first under another assumption, and which that is."""
    ranked = ranking.modules
    has_hidden = any(candidate.summary.calls.hidden for candidate in ranked)
    cases = (_LOOPS if _any_open(ranked) else {}) | (_CALLS if has_hidden else {})
    if not cases:
        return None, ""
    summaries = [candidate.summary for candidate in ranked]
    for condition, assumed in cases.items():
        first = _ranked(summaries, assumed, ranking.relations)[0]
        if first.summary.files.key not in same:
            return first, condition
    return None, ""


def _find_recompilations(best: ModuleSummary, relations: Relations) -> Mapping[str, str]:
    result = {best.files.key: ""}
    for _, members in find_rank_groups(relations.summaries, relations.processes):
        if any(member.files.key == best.files.key for member in members):
            for member in members:
                result.setdefault(member.files.key, "compiled by another process")
    for _, members in find_repeated(relations.summaries, relations.processes):
        if any(member.files.key in result for member in members):
            for summary in members:
                result.setdefault(summary.files.key, "compiled once more")
    return result
