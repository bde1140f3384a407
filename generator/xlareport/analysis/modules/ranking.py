"""Which module is the program: all evidence summed, and how sure the first place is."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.modules.evidence import PIECES, Evidence, EvidenceRule
from xlareport.analysis.modules.helper_modules import classify_helper
from xlareport.analysis.modules.measures import (
    Assumptions,
    LargestFigures,
    Relations,
    longest_measured,
    measure_work,
)
from xlareport.analysis.modules.processes import places_of
from xlareport.analysis.modules.rank_programs import find_rank_groups
from xlareport.analysis.modules.recompilations import find_repeated, function_name
from xlareport.analysis.modules.state import updates_state
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.knowledge.main_record import main_record
from xlareport.storage.lazy_sequence import LazySequence
from xlareport.storage.packed_keys import ChosenValues

_OFTEN = Assumptions(trip_count=10_000)
_LOOPS = {
    "loops of unknown length ran less often than assumed": Assumptions(trip_count=1),
    "loops of unknown length ran more often than assumed": _OFTEN,
}
_CALLS = {
    "custom calls that cannot be counted did next to nothing": Assumptions(hidden=0.0),
    "custom calls that cannot be counted did as much as their data allow": Assumptions(hidden=1.0),
}
"""Alternative assumptions: if one of them puts another module first, the result is a tie."""

CLEAR = 12
TIE = 3
"""Points between the first two: with the first number a guess is clear, below the second a tie."""
RIVAL = 0.5
"""No guess is clear where another program does this part of its work in one run."""


class Ranked(Struct, frozen=True, dict=True):
    """A module with its evidence, strongest first."""

    summary: ModuleSummary
    score: float
    most: LargestFigures | None = None
    """The figures for comparison; None if nothing was ranked."""
    others: tuple[ModuleSummary, ...] = ()
    """Compilations of the same function that rank lower, whose evidence counts too."""

    @cached_property
    def evidence(self) -> tuple[Evidence, ...]:
        """The evidence, strongest first; computed on access, because few are used."""
        most = self.most
        return list_evidence(self.summary, most, self.others) if most is not None else ()


class RankedModules(LazySequence[Ranked]):
    """Modules in the order of their scores, made on access."""

    def __init__(
        self,
        summaries: Sequence[ModuleSummary],
        order: "array[int]",
        scores: "array[float]",
        most: LargestFigures | None,
        others: "Mapping[int, array[int]]" = MappingProxyType({}),
    ) -> None:
        """Keep the order of the modules' indices, and the score of each index.

        `others` are indices of compilations of the same function that rank lower.
        """
        self.summaries = summaries
        self.order = order
        self.scores = scores
        self.most = most
        self.others = others

    def __len__(self) -> int:
        return len(self.order)

    def value_at(self, place: int) -> Ranked:
        """Return a module by its rank, from 0."""
        return self._ranked(self.order[place])

    def __iter__(self) -> Iterator[Ranked]:
        return map(self._ranked, self.order)

    def _ranked(self, number: int) -> Ranked:
        others = ChosenValues(self.summaries, self.others.get(number, array("q")))
        return Ranked(self.summaries[number], self.scores[number], self.most, tuple(others))

    def in_dump_order(self) -> ChosenValues[ModuleSummary]:
        """Return the modules in dump order, which is faster to iterate."""
        return ChosenValues(self.summaries, array("q", sorted(self.order)))

    def reordered(self, order: Iterable[int]) -> "RankedModules":
        """Return some of the modules in another order, by their places in the dump."""
        ordered = array("q", order)
        return RankedModules(self.summaries, ordered, self.scores, self.most, self.others)


class Ranking(Struct, frozen=True):
    """Modules, the likeliest program first, and the relations that their order follows from."""

    modules: RankedModules
    relations: Relations

    def select(self, is_wanted: Callable[[int], bool]) -> "Ranking":
        """Return the ranking of some of the modules, by their places, in the same order."""
        wanted = self.modules.reordered(filter(is_wanted, self.modules.order))
        return Ranking(wanted, self.relations)


class MainGuess(Struct, frozen=True):
    """The main program, with sureness and alternatives."""

    best: Ranked
    sureness: str
    """`clear`, `likely` or `tie`; `only` if no other module could be read."""
    runners_up: tuple[Ranked, ...]
    unread: int = 0
    """Number of modules that could not be read; one of them may be the main program."""
    otherwise: Ranked | None = None
    """The first module if loops or custom calls do more, or less, than assumed."""
    condition: str = ""
    """Under which assumption `otherwise` comes first."""
    recompilations: Mapping[str, str] = field(default_factory=dict)
    """Keys of other compilations of this program, with the kind; its own key has no kind."""

    @property
    def tie(self) -> bool:
        """Whether nothing in the dump distinguishes this module from another one."""
        return self.sureness == "tie"

    @property
    def alone(self) -> bool:
        """Whether this is the only module that could be read."""
        return self.sureness == "only"

    @property
    def confidence(self) -> float:
        """The probability that it is correct, from such guesses on dumps with a known program.

        In a tie, or if other modules could not be read, 0.5 expresses that nothing is known.
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
    has_open = ranked.most is not None and ranked.most.has_open
    if not ranked or not has_open or ranked[0].summary.open_work:
        return Ranking(ranked, relations)
    often = _ranked(summaries, _OFTEN, relations)
    if often[0].summary.open_work and not updates_state(ranked[0].summary):
        first = often.order[0]
        ranked = ranked.reordered((first, *(place for place in ranked.order if place != first)))
    return Ranking(ranked, relations)


def unranked(summaries: Sequence[ModuleSummary]) -> RankedModules:
    """Return modules in their own order, without scores."""
    scores = array("d", bytes(8 * len(summaries)))
    return RankedModules(summaries, array("q", range(len(summaries))), scores, None)


def _ranked(
    summaries: Sequence[ModuleSummary], assumed: Assumptions, relations: Relations
) -> RankedModules:
    most = LargestFigures.of(summaries, assumed, relations)
    scores = array(
        "d", (sum(piece(summary, most).points for piece in PIECES) for summary in summaries)
    )
    others: dict[int, array[int]] = {}
    for function in _functions(summaries, relations):
        best = max(function, key=scores.__getitem__)
        others[best] = array("q", (place for place in function if place != best))
    for place, companions in others.items():
        every = list_evidence(summaries[place], most, ChosenValues(summaries, companions))
        scores[place] = sum(piece.points for piece in every)
    order = array("q", sorted(range(len(scores)), key=lambda place: -scores[place]))
    return RankedModules(summaries, order, scores, most, others)


def _functions(summaries: Sequence[ModuleSummary], relations: Relations) -> Iterator[Sequence[int]]:
    """Yield the indices of the modules of each function with several compilations."""
    if summaries is relations.summaries:
        yield from relations.functions
        return
    key_places = places_of(relations.summaries)
    ranked_places = array("q", (-1 for _ in range(len(key_places))))
    for place, summary in enumerate(summaries):
        ranked_places[key_places[summary.files.key]] = place
    for function in relations.functions:
        ours = [ranked_places[place] for place in function if ranked_places[place] >= 0]
        if len(ours) > 1:
            yield ours


def list_evidence(
    summary: ModuleSummary, most: LargestFigures, others: Sequence[ModuleSummary] = ()
) -> tuple[Evidence, ...]:
    """Return the evidence for a module, strongest first.

    A function that was compiled for several shapes is one program: what any of its compilations
    shows counts for it, once.
    """
    evidence = (_strongest(piece, summary, most, others) for piece in PIECES)
    return tuple(
        sorted(
            (piece for piece in evidence if piece.points > 0),
            key=lambda piece: (piece.is_second, -piece.points),
        )
    )


def _strongest(
    piece: EvidenceRule,
    summary: ModuleSummary,
    most: LargestFigures,
    others: Sequence[ModuleSummary],
) -> Evidence:
    evidence = piece(summary, most)
    more, key = max(
        ((piece(other, most), other.files.key) for other in others),
        key=lambda rival: rival[0].points,
        default=(evidence, ""),
    )
    if more.points <= evidence.points:
        return evidence
    place = f"as its compilation {key}"
    return replace(more, remark=f"{more.remark}, {place}" if more.remark else place)


def guess_main(ranking: Ranking) -> MainGuess | None:
    """Return the guess; None for a dump without modules."""
    ranked, relations = ranking.modules, ranking.relations
    if not ranked:
        return None
    best = ranked[0]
    same = _find_recompilations(best.summary, relations)
    rivals = _rest(ranked, same)
    other, condition = _otherwise(ranking, same)
    near = tuple(rival for rival in rivals[:3] if rival.score > best.score * 0.25)
    if other is not None and all(_module_key(rival) != _module_key(other) for rival in near):
        near = (*near, other)
    unread = sum(summary.final.instructions is None for summary in ranked.in_dump_order())
    sureness = _sureness(ranking, rivals, len(ranked) - unread, other)
    return MainGuess(best, sureness, near, unread, other, condition, same)


def _module_key(ranked: Ranked) -> str:
    return ranked.summary.files.key


def _rest(ranked: RankedModules, same: Iterable[str]) -> RankedModules:
    """Return the modules behind the first, each program once; `same` are the first once more."""
    places = places_of(ranked.summaries)
    again = {places[key] for key in same if key in places}
    again.update(other for place in ranked.order[1:] for other in ranked.others.get(place, ()))
    return ranked.reordered(place for place in ranked.order[1:] if place not in again)


def _sureness(ranking: Ranking, rest: RankedModules, read: int, other: Ranked | None) -> str:
    """Return how sure the first place is; `read` is how many modules could be read."""
    best = ranking.modules[0]
    if read == 1 and best.summary.final.instructions is not None:
        return "only"
    margin = best.score - (rest[0].score if rest else 0.0)
    if not read or margin < TIE or other is not None:
        return "tie"
    is_clear = margin >= CLEAR and not _has_rival(ranking, rest)
    # Where an operation outside of jit comes first, the program may not be in the dump.
    return "clear" if is_clear and classify_helper(best.summary) is None else "likely"


def _has_rival(ranking: Ranking, rest: RankedModules) -> bool:
    """Return whether another program does about as much; no trace counts their runs."""
    modules = ranking.modules
    if longest_measured(modules.in_dump_order()):
        return False
    done = measure_work(modules[0].summary, Assumptions(), ranking.relations)
    others = (
        measure_work(summary, Assumptions(), ranking.relations) for summary in rest.in_dump_order()
    )
    return max(others, default=0.0) > RIVAL * done


def _otherwise(ranking: Ranking, same: Collection[str]) -> tuple[Ranked | None, str]:
    """Return a module that comes first under another assumption, and which that is."""
    ranked = ranking.modules
    summaries = ranked.in_dump_order()
    has_hidden = any(summary.calls.hidden for summary in summaries)
    has_open = any(summary.open_work for summary in summaries)
    cases = (_LOOPS if has_open else {}) | (_CALLS if has_hidden else {})
    ranks = {place: rank for rank, place in enumerate(ranked.order)} if cases else {}
    for condition, assumed in cases.items():
        again = _ranked(summaries, assumed, ranking.relations)
        # of equal scores that which ranks higher otherwise
        first = min(
            range(len(again)), key=lambda at: (-again.scores[at], ranks[summaries.places[at]])
        )
        if summaries[first].files.key not in same:
            return again.reordered([first])[0], condition
    return None, ""


def _find_recompilations(best: ModuleSummary, relations: Relations) -> Mapping[str, str]:
    words = {best.files.key: ""}
    name = function_name(best.display_name)
    named = [
        place
        for place, summary in enumerate(relations.summaries)
        if function_name(summary.display_name) == name
    ]
    same_name = ChosenValues(relations.summaries, named)
    for _, members in find_rank_groups(same_name, relations.processes):
        if any(member.files.key == best.files.key for member in members):
            for member in members:
                words.setdefault(member.files.key, "compiled by another process")
    for _, members in find_repeated(same_name, relations.processes, relations.pieces):
        if any(member.files.key in words for member in members):
            for summary in members:
                words.setdefault(summary.files.key, "compiled once more")
    return words
