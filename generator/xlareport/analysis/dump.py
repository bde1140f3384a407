"""The relations between the modules of a dump: ranking, links, roles, groups."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.findings.recompilations import report_recompilation
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.autotuning_pieces import find_autotuning_pieces
from xlareport.analysis.modules.chains import Chains, find_chains
from xlareport.analysis.modules.clusters import ClusteredGraph, cluster_graphs
from xlareport.analysis.modules.eager import EagerFunction, group_eager_functions
from xlareport.analysis.modules.marker import MarkerHit
from xlareport.analysis.modules.measures import Relations
from xlareport.analysis.modules.module_links import ModuleLink, link_modules
from xlareport.analysis.modules.module_role import ModuleRole, Role
from xlareport.analysis.modules.processes import places_of
from xlareport.analysis.modules.ranking import (
    MainGuess,
    RankedModules,
    Ranking,
    guess_main,
    rank_modules,
    unranked,
)
from xlareport.analysis.modules.recompilations import RecompilationGroup, group_recompilations
from xlareport.analysis.modules.roles import assign_roles
from xlareport.analysis.modules.runs import Run, find_runs
from xlareport.analysis.modules.settings import OptionOrigin
from xlareport.analysis.modules.summary import ModuleSummary, outline_summary
from xlareport.analysis.modules.tpu_flags import TpuFlags
from xlareport.analysis.ranks.members import RankTable
from xlareport.analysis.ranks.rank_groups import RankGroup, group_ranks
from xlareport.analysis.ranks.verdicts import RankDifference
from xlareport.dump.grouping import NamedDump
from xlareport.dump.modules import Artifact, GroupedDump, ModuleFiles
from xlareport.readers.tf_graph import FrameworkGraph
from xlareport.runtime.errors import Problem
from xlareport.runtime.faults import Faults
from xlareport.storage.lazy_sequence import LazySequence
from xlareport.storage.packed_keys import KeyedValues, index_keys, keys_in_order
from xlareport.storage.shared_values import SharedValues
from xlareport.storage.spooled_values import SMALL_RESIDENT, SpooledValues
from xlareport.storage.value_blocks import ValueBlocks

T = TypeVar("T")


class AnalysisOutline(Struct, frozen=True):
    """The part of a module's analysis that relations between modules and lists need."""

    summary: ModuleSummary
    marker: MarkerHit | None
    same_as: ModuleFiles | None
    is_identical: bool


def outline_of(analysis: ModuleAnalysis | AnalysisOutline) -> AnalysisOutline:
    """Return the outline of an analysis."""
    return AnalysisOutline(
        analysis.summary, analysis.marker, analysis.same_as, analysis.is_identical
    )


def small_outline(
    analysis: ModuleAnalysis | AnalysisOutline, shared: SharedValues
) -> AnalysisOutline:
    """Return an outline with a smaller summary, whose values it shares with other modules."""
    return replace(outline_of(analysis), summary=outline_summary(analysis.summary, shared))


class StoredAnalyses(SpooledValues[ModuleAnalysis]):
    """Analyses of modules: beyond a limit in a file, with outlines in another file."""

    def __init__(self, folder: Path | None = None, resident: int | None = None) -> None:
        super().__init__(folder, resident)
        self.reads = SpooledValues[tuple[str, ...]](folder, resident)
        """The paths of each module's files that were read."""
        self.timed_passes: set[str] = set()
        """The names of all passes whose times are known."""
        self._outlines = SpooledValues[AnalysisOutline](folder, resident)
        self._shared = SharedValues()
        self._together: OutlineSummaries | None = None
        """The outlines in order, with shared values; None until first used."""

    @property
    def outlines(self) -> Sequence[AnalysisOutline]:
        """The outline of each module, for relations and lists."""
        return self.summaries.outlines

    @property
    def summaries(self) -> "OutlineSummaries":
        """The summaries of the outlines."""
        if self._together is None:
            outlines: Sequence[AnalysisOutline] = self._outlines
            if len(self) > self.resident:
                shared = (small_outline(outline, self._shared) for outline in outlines)
                outlines = _keep_small(shared, len(self), self.folder)
            self._together = OutlineSummaries(outlines)
        return self._together

    def append(self, value: ModuleAnalysis) -> None:
        """Add an analysis at the end."""
        super().append(value)
        self.reads.append(value.read)
        if value.overview:
            self.timed_passes.update(timed.name for timed in value.overview.passes)
        self._outlines.append(self._outline(value, len(self) - 1))
        self._together = None

    def replaced(self, values: Iterable[ModuleAnalysis]) -> "StoredAnalyses":
        """Return other analyses of the same modules, kept where these are."""
        return StoredAnalyses(self.folder, self.resident).extend(values)

    def replace(self, place: int, value: ModuleAnalysis) -> None:
        """Put another analysis in a place."""
        super().replace(place, value)
        self.reads.replace(place, value.read)
        self._outlines.replace(place, self._outline(value, place))
        self._together = None

    def reorder(self, order: Iterable[int]) -> None:
        """Put the analyses into another order, given by their places until now."""
        order = array("q", order)
        super().reorder(order)
        self.reads.reorder(order)
        self._outlines.reorder(order)
        self._together = None

    def _outline(self, value: ModuleAnalysis, place: int) -> AnalysisOutline:
        is_resident = self.is_resident(place)
        return outline_of(value) if is_resident else small_outline(value, self._shared)


def _keep_small(
    outlines: Iterable[AnalysisOutline], number: int, folder: Path | None
) -> Sequence[AnalysisOutline]:
    """Return small outlines, in memory or, of very many modules, some together in a file."""
    if number <= SMALL_RESIDENT:
        return tuple(outlines)
    return ValueBlocks(SpooledValues(folder, 0), outlines)


class OutlineSummaries(LazySequence[ModuleSummary]):
    """The summaries of outlines, and the places of their keys."""

    def __init__(self, outlines: Sequence[AnalysisOutline]) -> None:
        self.outlines = outlines

    @cached_property
    def key_places(self) -> Mapping[str, int]:
        """The index of each module by its key."""
        return index_keys((summary.files.key for summary in self), len(self))

    def __len__(self) -> int:
        return len(self.outlines)

    def value_at(self, place: int) -> ModuleSummary:
        """Return the summary of a module by its place."""
        return self.outlines[place].summary

    def __iter__(self) -> Iterator[ModuleSummary]:
        return (outline.summary for outline in self.outlines)


class FileTotals(Struct, frozen=True):
    """How many files each module has, and their bytes."""

    counts: "array[int]"
    bytes: "array[int]"


class AnalyzedDump(Struct, frozen=True, dict=True):
    """A dump with each of its modules analyzed."""

    name: str
    named: NamedDump
    """The files, and the modules that they make up."""
    problems: tuple[Problem, ...]
    modules: StoredAnalyses
    """In the order of `grouped.modules`."""
    ranks: RankTable
    """The processes, and the modules that each of them compiled."""
    graphs: tuple[FrameworkGraph, ...] = ()
    """Graphs of the framework, where the dump has them."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why the framework left operations out of its clusters, by operation name, from its log."""
    side_files: Mapping[str, str] = field(default_factory=dict)
    """The purpose of each file that was read and belongs to no module, by path."""
    rank_differences: Mapping[str, RankDifference] = field(default_factory=dict)
    """Where modules differ from that of most ranks, by their keys."""

    @property
    def artifacts(self) -> Sequence[Artifact]:
        """All files, by their paths."""
        return self.named.artifacts

    @property
    def grouped(self) -> GroupedDump:
        """The modules by their files."""
        return self.named.grouped

    @property
    def summaries(self) -> OutlineSummaries:
        """The modules in figures."""
        return self.modules.summaries

    def keep(self, values: Iterable[T]) -> Sequence[T]:
        """Return values, in memory or, of very many modules, read on access."""
        if len(self.modules) <= SMALL_RESIDENT:
            return tuple(values)
        return SpooledValues[T](self.modules.folder, 0).extend(values)

    @cached_property
    def marked(self) -> Mapping[str, MarkerHit]:
        """The modules that contain the marker, by their keys."""
        outlines = self.modules.outlines
        return {module.summary.files.key: module.marker for module in outlines if module.marker}

    @property
    def module_keys(self) -> Sequence[str]:
        """The keys of the modules, in their order."""
        return keys_in_order(places_of(self.summaries))

    @property
    def file_totals(self) -> FileTotals:
        """The number of files and bytes of each module, for lists."""
        totals = FileTotals(array("q"), array("q"))
        for summary in self.summaries:
            figures = summary.files.figures
            totals.counts.append(figures.count)
            totals.bytes.append(figures.bytes)
        return totals

    def settings_of(self, key: str | None) -> tuple[OptionOrigin, ...]:
        """Return the options of a module, else of the first module that has some."""
        return self._stated(key, lambda summary: summary.settings) or ()

    def tpu_flags_of(self, key: str | None) -> TpuFlags | None:
        """Return the flags of a module's TPU compiler, else of the first module that has some."""
        return self._stated(key, lambda summary: summary.tpu_flags)

    def _stated(self, key: str | None, value: Callable[[ModuleSummary], T]) -> T | None:
        first: T | None = None
        for summary in self.summaries:
            stated = value(summary)
            if stated and summary.files.key == key:
                return stated
            first = first or stated or None
        return first


class DumpRelations(Struct, frozen=True):
    """The relations between the modules of a dump."""

    ranking: RankedModules
    """Modules with the user's marker first, then the most likely main program."""
    marked: Mapping[str, MarkerHit]
    """Modules that contain the user's marker, by key."""
    guess: MainGuess | None
    """The main program; None where no module could be read."""
    links: Sequence[ModuleLink]
    chains: Chains
    """How the links connect the modules."""
    roles: tuple[Role, ...]
    """The role of each module, in the order of the modules."""
    recompilations: Sequence[RecompilationGroup]
    group_of_module: Sequence[int]
    """The index of each module's group in `recompilations`; -1 without a group."""
    recompilation_findings: Sequence[Finding | None]
    """The finding of each group; None for groups of helpers."""
    eager_functions: Sequence[EagerFunction]
    rank_groups: tuple[RankGroup, ...]
    """Programs that several processes compiled."""
    ranks: RankTable
    """The processes, and the modules that each of them compiled."""
    process_count: int | None
    """How many processes wrote the dump; None where that is not known."""
    problems: tuple[Problem, ...]
    """Parts that could not be worked out."""
    graphs: tuple[ClusteredGraph, ...] = ()
    """The framework's graphs, divided into what XLA compiles and what it does not."""
    runs: tuple[Run, ...] = ()
    """Programs that several runs left in one dump; empty where there is one program."""


_UNKNOWN = Role(ModuleRole.UNKNOWN, "the roles could not be determined")


def relate_modules(dump: AnalyzedDump) -> DumpRelations:
    """Return the relations between modules; a part that fails is listed and left empty."""
    summaries, table, faults = dump.summaries, dump.ranks, Faults(dump.name)
    attempt, keep = faults.attempt, dump.keep
    ranking = _rank(dump, faults)
    guess = attempt("The guess of the main program", lambda: _guess_main(dump, ranking), None)
    module_links = attempt(
        "The links",
        lambda: link_modules(summaries, table.assigned, dump.graphs, table.orders, keep),
        (),
    )
    proven = [link.ends for link in module_links if link.grade == "exact"]
    linked = (link.ends for link in module_links)
    unknown = (_UNKNOWN,) * len(summaries)
    roles = attempt("The roles", lambda: assign_roles(summaries, guess, proven), unknown)
    recompilations: Sequence[RecompilationGroup] = attempt(
        "What was compiled again", lambda: group_recompilations(summaries, table.assigned, keep), ()
    )
    return DumpRelations(
        ranking=ranking.modules,
        marked=dump.marked,
        guess=guess,
        links=module_links,
        chains=attempt("The chains of modules", lambda: find_chains(linked), Chains((), ())),
        roles=roles,
        recompilations=recompilations,
        group_of_module=_number_groups(recompilations, places_of(summaries)),
        recompilation_findings=attempt(
            "The findings on what was compiled again",
            lambda: keep(map(_finding_of, recompilations)),
            (None,) * len(recompilations),
        ),
        eager_functions=attempt(
            "What ran eagerly", lambda: group_eager_functions(summaries, roles, keep), ()
        ),
        rank_groups=attempt(
            "The ranks of devices", lambda: group_ranks(summaries, table, dump.rank_differences), ()
        ),
        graphs=attempt(
            "The clusters of the framework's graphs",
            lambda: cluster_graphs(dump.graphs, summaries, dump.reasons),
            (),
        ),
        runs=attempt("The runs", lambda: find_runs(ranking.relations, guess, table.holders), ()),
        ranks=table,
        process_count=table.count(summaries),
        problems=tuple(faults.problems),
    )


def _number_groups(
    groups: Iterable[RecompilationGroup], places: Mapping[str, int]
) -> Sequence[int]:
    """Return the index of each module's group; -1 without a group."""
    numbers = array("q", (-1 for _ in range(len(places))))
    for number, group in enumerate(groups):
        for key in group.modules:
            numbers[places[key]] = number
    return numbers


def _finding_of(group: RecompilationGroup) -> Finding | None:
    return None if group.is_helper else report_recompilation(group)


def _rank(dump: AnalyzedDump, faults: Faults) -> Ranking:
    """Rank the modules, those with the marker first; in their own order where that fails."""
    marked = dump.marked
    summaries, processes = dump.summaries, dump.ranks.assigned
    alike = KeyedValues(places_of(summaries), (1.0,) * len(summaries))
    unknown = Relations(summaries, processes, {}, {}, alike, find_autotuning_pieces(()), ())
    ranking = faults.attempt(
        "The ranking of the modules",
        lambda: rank_modules(summaries, Relations.of(summaries, processes)),
        Ranking(unranked(summaries), unknown),
    )
    if not marked:
        return ranking
    first = {places_of(summaries)[key] for key in marked}
    ordered = sorted(ranking.modules.order, key=lambda place: place not in first)
    return Ranking(ranking.modules.reordered(ordered), ranking.relations)


def _guess_main(dump: AnalyzedDump, ranking: Ranking) -> MainGuess | None:
    """Guess the main program among modules with the marker where there are any, else among all."""
    repeats = bytearray(bool(module.same_as) for module in dump.modules.outlines)
    places = places_of(dump.summaries)
    hits = {place for key in dump.marked if not repeats[place := places[key]]}
    if hits:
        return guess_main(ranking.select(hits.__contains__))
    return guess_main(ranking.select(lambda place: not repeats[place]) if any(repeats) else ranking)
