"""What a comparison says, as plain records: compare.json field by field, and the pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlareport import __version__
from xlareport.analysis.compare.causes import find_causes, parting
from xlareport.analysis.compare.comparison import Comparison, Sketched
from xlareport.analysis.compare.divergence import SnapshotDigest, Where
from xlareport.pages.compare.module_diff import ModuleDiff
from xlareport.records.report import DumpRecord, GeneratorRecord, ProblemRecord

_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class CauseView:
    """An answer to why both differ."""

    kind: str
    """`device`, `option`, `compiler`, `program`, `modules`, `autotuning` or `pass`."""
    sentence: str
    """Names stand between backticks."""
    grade: str
    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuantityView:
    """A figure of both; None where it is not known."""

    name: str
    base: int | None
    head: int | None
    change: float | None
    """As a share of the base."""


@dataclass(frozen=True, slots=True)
class DivergenceView:
    """Where both part."""

    where: str
    """`nowhere`, `input`, `pass` or `unknown`."""
    sentence: str
    base: str | None
    """Label of the first snapshot of the base that differs."""
    head: str | None


@dataclass(frozen=True, slots=True)
class OptionView:
    """An option that differs; None where it is at its default."""

    name: str
    base: str | None
    head: str | None


@dataclass(frozen=True, slots=True)
class PortView:
    """An argument or a result that differs; None where a side has none of that number."""

    what: str
    base: str | None
    head: str | None


@dataclass(frozen=True, slots=True)
class ContrastView:
    """A place at which both are laid side by side."""

    id: str
    label: str
    headline: str
    added: int
    removed: int
    modified: int
    layouts: int
    """Instructions of which the layout differs."""


@dataclass(frozen=True, slots=True)
class TimeChangeView:
    """What a profiler saw of an instruction in both, in microseconds of one run."""

    base: tuple[str, ...]
    """Its names; several where some became one or one became several, none where it is new."""
    head: tuple[str, ...]
    before: float
    """Own time: without what ran inside of it."""
    after: float
    grade: str
    """How sure it is that these are the same work."""
    certain: bool | None
    """The times differ by more than chance; None where that cannot be said."""
    what: str
    """What changed in its compilation."""


@dataclass(frozen=True, slots=True)
class ScopeTimeView:
    """The own time of all instructions of a scope, in microseconds of one run."""

    scope: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class ComparedTimesView:
    """Two profiles of a module."""

    base_runs: int
    head_runs: int
    before: float
    """Microseconds of one run, from its first instruction to its last."""
    after: float
    grade: str
    """`guessed` where several modules of the name may be the one that ran."""
    slower: int
    """Instructions that became slower by more than chance."""
    instructions: tuple[TimeChangeView, ...]
    """What became slowest first; of many the first and the last."""
    left_out: int
    scopes: tuple[ScopeTimeView, ...]


@dataclass(frozen=True, slots=True)
class ComparedView:
    """A module and what became of it."""

    name: str
    slug: str
    base: str | None
    """Its key in the base; None for a module that only the head has."""
    head: str | None
    main: bool
    """The head takes it for the main program, else the base did."""
    paired: str
    """Why these two are held for the same module."""
    grade: str
    bare: bool
    """Only figures are known of one side: it is a report.json without texts."""
    identical: bool
    """Nothing differs, from the first snapshot to the last."""
    same: bool
    """Both end in the same code."""
    divergence: DivergenceView
    figures: tuple[QuantityView, ...]
    opcodes: tuple[tuple[str, int, int], ...]
    """Counts in the optimised modules that differ: base, head."""
    collectives: tuple[tuple[str, int, int], ...]
    options: tuple[OptionView, ...]
    ports: tuple[PortView, ...]
    """Where the entry signatures of the optimised modules differ."""
    only_base: tuple[str, ...]
    only_head: tuple[str, ...]
    contrasts: tuple[ContrastView, ...]
    times: ComparedTimesView | None = None
    """What profilers saw of both; None where they did not see both."""

    @property
    def has_page(self) -> bool:
        """Whether there is anything to show on a page of its own."""
        return bool(self.contrasts) or not self.identical or self.times is not None


@dataclass(frozen=True, slots=True)
class BreachView:
    """A budget that was not kept."""

    budget: str
    module: str
    sentence: str


@dataclass(frozen=True, slots=True)
class CompareView:
    """Everything that a comparison says."""

    schema: int
    generator: GeneratorRecord
    base: DumpRecord
    head: DumpRecord
    identical: bool
    causes: tuple[CauseView, ...]
    modules: tuple[ComparedView, ...]
    breaches: tuple[BreachView, ...]
    problems: tuple[ProblemRecord, ...]

    @property
    def main(self) -> ComparedView | None:
        """The main program, where one was found."""
        return next((module for module in self.modules if module.main), None)


Mains = tuple[str | None, str | None]
"""Keys of the main programs of the base and of the head."""


def compare_view(
    dumps: tuple[DumpRecord, DumpRecord],
    mains: Mains,
    comparisons: Sequence[Comparison],
    contrasts: Mapping[int, ModuleDiff],
    problems: Sequence[ProblemRecord],
) -> CompareView:
    """Make the records; `contrasts` are those of the comparisons by their place."""
    main = _main(comparisons, mains)
    modules = tuple(
        _compared(comparison, contrasts.get(place), main=place == main)
        for place, comparison in enumerate(comparisons)
    )
    result = [
        ProblemRecord("", None, contrast.problem)
        for contrast in contrasts.values()
        if contrast.problem
    ]
    return CompareView(
        schema=_SCHEMA,
        generator=GeneratorRecord("xlareport", __version__),
        base=dumps[0],
        head=dumps[1],
        identical=all(module.identical for module in modules),
        causes=tuple(
            CauseView(cause.kind, cause.sentence, str(cause.grade), cause.modules)
            for cause in find_causes(comparisons)
        ),
        modules=modules,
        breaches=(),
        problems=(*problems, *result),
    )


def _main(comparisons: Sequence[Comparison], mains: Mains) -> int | None:
    for side, key in (("head", mains[1]), ("base", mains[0])):
        for place, comparison in enumerate(comparisons):
            known: Sketched | None = getattr(comparison, side)
            if known is not None and known.sketch.key == key:
                return place
    return None


def _compared(comparison: Comparison, contrast: ModuleDiff | None, *, main: bool) -> ComparedView:
    side = "" if comparison.head else "base-"
    return ComparedView(
        name=comparison.one.sketch.name,
        slug=f"{side}{comparison.one.summary.files.slug}",
        base=comparison.base.sketch.key if comparison.base else None,
        head=comparison.head.sketch.key if comparison.head else None,
        main=main,
        paired=comparison.pair.reason,
        grade=str(comparison.pair.grade),
        bare=comparison.bare,
        identical=comparison.identical,
        same=comparison.same,
        divergence=_divergence(comparison),
        figures=tuple(
            QuantityView(each.name, each.base, each.head, each.change)
            for each in comparison.quantities
        ),
        opcodes=comparison.opcodes,
        collectives=comparison.collectives,
        options=tuple(OptionView(each.name, each.base, each.head) for each in comparison.options),
        ports=tuple(PortView(each.what, each.base, each.head) for each in comparison.ports),
        only_base=comparison.only_base,
        only_head=comparison.only_head,
        contrasts=tuple(
            ContrastView(
                id=row.id,
                label=row.label,
                headline=row.headline,
                added=row.added,
                removed=row.removed,
                modified=row.modified,
                layouts=row.layouts,
            )
            for row in (contrast.rows if contrast else ())
        ),
    )


def _divergence(comparison: Comparison) -> DivergenceView:
    where = comparison.divergence.where
    if comparison.base is None or comparison.head is None:
        return DivergenceView(
            str(Where.NOWHERE), f"{comparison.pair.reason.capitalize()}.", None, None
        )
    if comparison.bare:
        return DivergenceView(str(Where.UNKNOWN), "Only figures are known.", None, None)
    return DivergenceView(
        where=str(where),
        sentence=f"{parting(comparison)}.",
        base=_label(comparison.base.moments, comparison.divergence.base),
        head=_label(comparison.head.moments, comparison.divergence.head),
    )


def _label(moments: Sequence[SnapshotDigest], number: int | None) -> str | None:
    return None if number is None else moments[number].label
