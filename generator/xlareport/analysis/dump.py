"""All that holds between the modules of a dump, worked out once: ranking, links, roles, groups."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xlareport.analysis.module import ModuleAnalysis, outline_of
from xlareport.analysis.modules.eager import EagerFunction, group_eager_functions
from xlareport.analysis.modules.helper_modules import Role
from xlareport.analysis.modules.links import ModuleLink, link_modules
from xlareport.analysis.modules.marker import MarkerHit
from xlareport.analysis.modules.measures import Relations
from xlareport.analysis.modules.ranking import (
    MainGuess,
    Ranked,
    Ranking,
    guess_main,
    rank_modules,
)
from xlareport.analysis.modules.recompilations import RecompilationGroup, group_recompilations
from xlareport.analysis.modules.roles import assign_roles
from xlareport.analysis.modules.runs import Run, find_runs
from xlareport.analysis.modules.settings import OptionOrigin
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.modules.tpu_flags import TpuFlags
from xlareport.analysis.ranks.groups import RankGroup, group_ranks
from xlareport.analysis.ranks.members import RankTable, list_ranks
from xlareport.analysis.ranks.verdicts import RankDifference
from xlareport.dump.modules import Artifact, FileFigures, GroupedDump
from xlareport.dump.stored_groups import NamedDump
from xlareport.readers.tf_graph import FrameworkGraph
from xlareport.runtime.errors import Problem
from xlareport.runtime.faults import Faults
from xlareport.storage.shared_values import SharedValues
from xlareport.storage.spooled_values import SpooledValues


class StoredAnalyses(SpooledValues[ModuleAnalysis]):
    """Analyses of modules: all of each in a file beyond the first, an outline in memory."""

    def __init__(self, folder: Path | None = None, resident: int | None = None) -> None:
        super().__init__(folder, resident)
        self.outlines: list[ModuleAnalysis] = []
        self.reads = SpooledValues[tuple[str, ...]](folder, resident)
        """Of each the paths of its files that were read."""
        self._shared = SharedValues()

    def append(self, value: ModuleAnalysis) -> None:
        """Add an analysis at the end."""
        super().append(value)
        self.reads.append(value.read)
        self.outlines.append(self._outline(value, len(self) - 1))

    def replace(self, place: int, value: ModuleAnalysis) -> None:
        """Put another analysis in a place."""
        super().replace(place, value)
        self.reads.replace(place, value.read)
        self.outlines[place] = self._outline(value, place)

    def reorder(self, order: Iterable[int]) -> None:
        """Put the analyses into another order, given by their places until now."""
        order = list(order)
        super().reorder(order)
        self.reads.reorder(order)
        self.outlines = [self.outlines[place] for place in order]

    def _outline(self, value: ModuleAnalysis, place: int) -> ModuleAnalysis:
        return value if self.is_resident(place) else outline_of(value, self._shared)


@dataclass(frozen=True, slots=True)
class AnalyzedDump:
    """A dump with each of its modules analyzed."""

    name: str
    named: NamedDump
    """The files, and the modules that they make up."""
    problems: tuple[Problem, ...]
    modules: Sequence[ModuleAnalysis]
    """In the order of `grouped.modules`."""
    ranks: RankTable
    """The processes, and which modules each of them compiled."""
    graphs: tuple[FrameworkGraph, ...] = ()
    """Graphs of the framework, where the dump has them."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why the framework left operations out of its clusters, by their names, as its log says."""
    side_files: Mapping[str, str] = field(default_factory=dict)
    """What files that belong to no module were read for, by their paths."""
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
    def reads(self) -> Sequence[tuple[str, ...]]:
        """Of each module the paths of its files that were read."""
        if isinstance(self.modules, StoredAnalyses):
            return self.modules.reads
        return [module.read for module in self.modules]

    @property
    def outlines(self) -> Sequence[ModuleAnalysis]:
        """The modules, in a large dump of each no more than what relations and lists need."""
        return self.modules.outlines if isinstance(self.modules, StoredAnalyses) else self.modules

    @property
    def summaries(self) -> tuple[ModuleSummary, ...]:
        """The modules in figures."""
        return tuple(module.summary for module in self.outlines)

    @property
    def file_figures(self) -> Mapping[str, FileFigures]:
        """What lists say of the files of each module, by its key."""
        return {summary.files.key: summary.files.figures for summary in self.summaries}

    def settings_of(self, key: str | None) -> tuple[OptionOrigin, ...]:
        """Return the options of a module, else of the first module that has some."""
        stated = {
            summary.files.key: summary.settings for summary in self.summaries if summary.settings
        }
        return stated.get(key or "", next(iter(stated.values()), ()))

    def tpu_flags_of(self, key: str | None) -> TpuFlags | None:
        """Return the flags of a module's TPU compiler, else of the first module that has some."""
        stated = {
            summary.files.key: summary.tpu_flags for summary in self.summaries if summary.tpu_flags
        }
        return stated.get(key or "", next(iter(stated.values()), None))


@dataclass(frozen=True, slots=True)
class DumpRelations:
    """What holds between the modules of a dump."""

    ranking: tuple[Ranked, ...]
    """Those with the user's marker first, then the likeliest main program."""
    marked: Mapping[str, MarkerHit]
    """Modules that contain the user's marker, by key."""
    guess: MainGuess | None
    """The main program; None where no module could be read."""
    links: tuple[ModuleLink, ...]
    roles: tuple[Role, ...]
    """One for each module, in the order of the modules."""
    recompilations: tuple[RecompilationGroup, ...]
    eager_functions: tuple[EagerFunction, ...]
    rank_groups: tuple[RankGroup, ...]
    """Programs that several processes compiled."""
    ranks: RankTable
    """The processes, and which modules each of them compiled."""
    process_count: int | None
    """How many processes wrote the dump; None where that is not known."""
    problems: tuple[Problem, ...]
    """Parts that could not be worked out."""
    runs: tuple[Run, ...] = ()
    """Programs that several runs left in one dump; empty where there is one program."""


def relate_modules(dump: AnalyzedDump) -> DumpRelations:
    """Work out what holds between modules; a part that fails is listed and left at its default."""
    summaries, table, faults = dump.summaries, dump.ranks, Faults(dump.name)
    marked = {module.summary.files.key: module.marker for module in dump.outlines if module.marker}
    ranking = _rank(dump, marked, faults)
    guess = faults.attempt(
        "The guess of the main program", lambda: _guess_main(dump, ranking, marked), None
    )
    module_links = faults.attempt(
        "The links", lambda: link_modules(summaries, table.assigned, dump.graphs, table.orders), ()
    )
    proven = [(link.source, link.target) for link in module_links if link.grade == "exact"]
    unknown = tuple(Role("unknown", "the roles could not be told") for _ in summaries)
    module_roles = faults.attempt(
        "The roles", lambda: assign_roles(summaries, guess, proven), unknown
    )
    return DumpRelations(
        ranking=ranking.modules,
        marked=marked,
        guess=guess,
        links=module_links,
        roles=module_roles,
        recompilations=faults.attempt(
            "What was compiled again", lambda: group_recompilations(summaries, table.assigned), ()
        ),
        eager_functions=faults.attempt(
            "What ran eagerly", lambda: group_eager_functions(summaries, module_roles), ()
        ),
        rank_groups=faults.attempt(
            "The ranks of devices", lambda: group_ranks(summaries, table, dump.rank_differences), ()
        ),
        runs=faults.attempt(
            "The runs", lambda: find_runs(ranking.relations, guess, table.holders), ()
        ),
        ranks=table,
        process_count=table.count(summaries),
        problems=tuple(faults.problems),
    )


def _rank(dump: AnalyzedDump, marked: Mapping[str, MarkerHit], faults: Faults) -> Ranking:
    """Rank the modules, those with the marker first; in their own order where that fails."""
    summaries, processes = dump.summaries, dump.ranks.assigned
    unknown = Relations(
        summaries, processes, {}, {}, {summary.files.key: 1.0 for summary in summaries}, {}
    )
    unranked = Ranking(tuple(Ranked(summary, 0.0) for summary in summaries), unknown)
    ranking = faults.attempt(
        "The ranking of the modules",
        lambda: rank_modules(summaries, Relations.of(summaries, processes)),
        unranked,
    )
    ordered = sorted(ranking.modules, key=lambda ranked: ranked.summary.files.key not in marked)
    return Ranking(tuple(ordered), ranking.relations)


def _guess_main(
    dump: AnalyzedDump, ranking: Ranking, marked: Mapping[str, MarkerHit]
) -> MainGuess | None:
    """Guess the main program among modules with the marker where there are any, else among all."""
    duplicates = {module.summary.files.key for module in dump.outlines if module.same_as}
    candidates = {ranked.summary.files.key for ranked in ranking.modules} - duplicates
    return guess_main(ranking.select(candidates & marked.keys() or candidates))


def rank_table(
    name: str, summaries: Sequence[ModuleSummary], grouped: GroupedDump
) -> tuple[RankTable, Sequence[Problem]]:
    """Return the processes of a dump; not known, with the problem, where that fails."""
    keys, faults = [summary.files.key for summary in summaries], Faults(name)
    unknown = RankTable((), dict.fromkeys(keys, ()), dict.fromkeys(keys, None))
    table = faults.attempt("The processes", lambda: list_ranks(summaries, grouped), unknown)
    return table, faults.problems
