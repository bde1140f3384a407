"""The records of compare.json, field by field; pages show the same."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from xlareport import __version__
from xlareport.analysis.compare.causes import Cause, find_causes
from xlareport.analysis.compare.comparison import (
    Comparison,
    OptionChange,
    PortChange,
    Quantity,
    Sketched,
    compare_figure,
)
from xlareport.analysis.compare.divergence import SnapshotDigest, Where
from xlareport.analysis.compare.memory_spaces import SpaceChange, compare_spaces, name_device_memory
from xlareport.analysis.compare.merged_products import join_merged
from xlareport.analysis.compare.module_facts import Facts
from xlareport.analysis.compare.moved_work import align_facts
from xlareport.analysis.compare.operations import OperationChange
from xlareport.analysis.compare.parting import parting
from xlareport.analysis.compare.placed_collectives import (
    CollectiveChange,
    ResizedCollectives,
    compare_collectives,
    find_resized,
)
from xlareport.analysis.compare.time_changes import ComparedTimes
from xlareport.analysis.compare.verdict import NO_VERDICT, Verdict, judge
from xlareport.analysis.tpu.compared_programs import TpuProgramChange, align_programs
from xlareport.records.report import DumpRecord, GeneratorRecord
from xlareport.runtime.errors import Problem

_SCHEMA = 2
_OPERATIONS = 500
"""Limit on listed operations of one module."""
RUN = "run_nanoseconds"
"""Measured duration of one run; only if both sides have a profile."""


class DivergenceRecord(Struct, frozen=True):
    """Where both part."""

    where: str
    """`nowhere`, `input`, `header`, `pass` or `unknown`."""
    sentence: str
    base: str | None
    """Label of the first snapshot of the base that differs."""
    head: str | None


class DifferenceRecord(Struct, frozen=True):
    """A place at which both are laid side by side."""

    id: str
    label: str
    headline: str
    added: int
    removed: int
    modified: int
    layouts: int
    """Instructions of which the layout differs."""


class ComparedRecord(Struct, frozen=True):
    """A module of the base and its counterpart in the head."""

    name: str
    slug: str
    base: str | None
    """Its key in the base; None for a module that only the head has."""
    head: str | None
    main: bool
    """The head takes it for the main program, else the base did."""
    paired: str
    """How the two modules were paired."""
    grade: str
    bare: bool
    """Whether one side has only figures: a report.json without texts."""
    identical: bool
    """Whether nothing differs, from the first snapshot to the last."""
    same: bool
    """Both end in the same code."""
    divergence: DivergenceRecord
    figures: tuple[Quantity, ...]
    opcodes: tuple[tuple[str, int, int], ...]
    """Counts in the optimized modules that differ: base, head."""
    collectives: tuple[tuple[str, int, int], ...]
    options: tuple[OptionChange, ...]
    ports: tuple[PortChange, ...]
    """Where the entry signatures of the optimized modules differ."""
    only_base: tuple[str, ...]
    only_head: tuple[str, ...]
    contrasts: tuple[DifferenceRecord, ...]
    times: ComparedTimes | None = None
    """The profiles of both sides; None unless both have one."""
    operations: tuple[OperationChange, ...] = ()
    """The operations whose estimate or bytes changed, what changed most first."""
    tpu_programs: tuple[TpuProgramChange, ...] = ()
    """HLO instructions whose programs on a TPU differ."""
    device_memory: str = ""
    """The memory of the memory figures, as `HBM`; empty where the head uses no other."""
    memory_spaces: tuple[SpaceChange, ...] = ()
    """The other memory spaces that differ, by number."""
    precisions: tuple[tuple[str, int, int], ...] = ()
    """FLOPs of products by their precision: base, head."""
    counts: tuple[tuple[str, int | None, int | None], ...] = ()
    """Operations with their asynchronous forms in the optimized modules; None where not known."""
    not_optimized: tuple[str, ...] = ()
    """The sides, `base` and `head`, whose dumps have no optimized module."""
    only_optimized: tuple[str, ...] = ()
    """The sides whose dumps have only the optimized module, as for cached programs."""
    extracted: bool = False
    """Whether it was extracted from another module for autotuning: paired by content alone."""
    one_sided_collectives: tuple[CollectiveChange, ...] = ()
    """Collectives that only one side has, of the kinds whose counts differ, the slowest first."""
    resized_collectives: tuple[ResizedCollectives, ...] = ()
    """Collectives of one op on one line that are as many on both sides and send other bytes."""

    @property
    def by_name(self) -> Mapping[str, Quantity]:
        """The figures by name."""
        return {figure.name: figure for figure in self.figures}

    @property
    def not_paired(self) -> bool:
        """Whether it was extracted for autotuning, and the other side has none of its content."""
        return self.extracted and (self.base is None or self.head is None)

    @property
    def has_page(self) -> bool:
        """Whether there is anything to show on a page of its own."""
        return (
            bool(self.contrasts or self.tpu_programs)
            or not self.identical
            or self.times is not None
        )


class BreachRecord(Struct, frozen=True):
    """A budget that was not kept."""

    budget: str
    module: str
    sentence: str


class UncheckedRecord(Struct, frozen=True):
    """A budget that could not be checked, or not for each module that it is for."""

    budget: str
    reason: str


class ComparisonRecord(Struct, frozen=True):
    """The content of compare.json."""

    schema: int
    generator: GeneratorRecord
    base: DumpRecord
    head: DumpRecord
    identical: bool
    verdict: Verdict
    """Of the main program; of the largest pair where no main program is known."""
    causes: tuple[Cause, ...]
    modules: tuple[ComparedRecord, ...]
    breaches: tuple[BreachRecord, ...]
    problems: tuple[Problem, ...]
    unchecked: tuple[UncheckedRecord, ...] = ()
    """Budgets that could not be checked: neither kept nor broken."""

    @property
    def main(self) -> ComparedRecord | None:
        """The main program, where one was found."""
        return next((module for module in self.modules if module.main), None)


Mains = tuple[str | None, str | None]
"""Keys of the main programs of the base and of the head."""


def compare_record(
    dumps: tuple[DumpRecord, DumpRecord],
    mains: Mains,
    comparisons: Sequence[Comparison],
    *,
    differences: Mapping[int, tuple[DifferenceRecord, ...]],
    timings: Mapping[int, ComparedTimes | None],
    problems: Sequence[Problem],
) -> ComparisonRecord:
    """Make the records; `differences` and `timings` are those of the comparisons by their place."""
    main = find_main(comparisons, mains)
    modules = tuple(
        _with_times(
            _compared(comparison, differences.get(place, ()), main=place == main),
            timings.get(place),
        )
        for place, comparison in enumerate(comparisons)
    )
    return ComparisonRecord(
        schema=_SCHEMA,
        generator=GeneratorRecord("xlareport", __version__),
        base=dumps[0],
        head=dumps[1],
        identical=all(module.identical for module in modules),
        verdict=NO_VERDICT if main is None else judge(comparisons[main], timings.get(main)),
        causes=find_causes(comparisons, None if main is None else comparisons[main]),
        modules=modules,
        breaches=(),
        problems=tuple(problems),
    )


def _with_times(compared: ComparedRecord, times: ComparedTimes | None) -> ComparedRecord:
    """Add what was measured; the time of a run is a figure too."""
    if times is None:
        return compared
    run = compare_figure(RUN, round(times.before * 1000), round(times.after * 1000))
    return replace(compared, times=times, figures=(*compared.figures, run))


def find_main(comparisons: Sequence[Comparison], mains: Mains) -> int | None:
    """Return the place of the main program: that of the head, else that of the base."""
    for side, key in (("head", mains[1]), ("base", mains[0])):
        for place, comparison in enumerate(comparisons):
            sketched: Sketched | None = getattr(comparison, side)
            if sketched is not None and sketched.sketch.key == key:
                return place
    return None


def _compared(
    comparison: Comparison, differences: tuple[DifferenceRecord, ...], *, main: bool
) -> ComparedRecord:
    side = "" if comparison.head else "base-"
    compared = ComparedRecord(
        name=comparison.present.sketch.name,
        slug=f"{side}{comparison.present.summary.files.slug}",
        base=comparison.base.sketch.key if comparison.base else None,
        head=comparison.head.sketch.key if comparison.head else None,
        main=main,
        paired=comparison.pair.reason,
        grade=str(comparison.pair.grade),
        bare=comparison.bare,
        identical=comparison.identical,
        same=comparison.same,
        divergence=_divergence(comparison),
        figures=comparison.quantities,
        opcodes=comparison.opcodes,
        collectives=comparison.collectives,
        options=comparison.options,
        ports=comparison.ports,
        only_base=comparison.only_base,
        only_head=comparison.only_head,
        contrasts=differences,
        device_memory=name_device_memory(comparison.present.facts.spaces),
        precisions=tuple(_precisions(comparison)),
        counts=tuple(_counts(comparison)),
        not_optimized=tuple(_not_optimized(comparison)),
        only_optimized=tuple(_only_optimized(comparison)),
        extracted=comparison.pair.extracted,
    )
    return _with_facts(compared, comparison) if comparison.base and comparison.head else compared


def _with_facts(compared: ComparedRecord, comparison: Comparison) -> ComparedRecord:
    """Return the record of a module that both sides have with what differs between them."""
    base, head = (side.facts for side in comparison.sides)
    return replace(
        compared,
        operations=() if compared.same else tuple(_operations(base, head)),
        tpu_programs=align_programs(base.tpu, head.tpu),
        memory_spaces=tuple(compare_spaces(base.spaces, head.spaces)),
        one_sided_collectives=compare_collectives(base.collectives, head.collectives),
        resized_collectives=find_resized(base.collectives, head.collectives),
    )


def _operations(base: Facts, head: Facts) -> Iterator[OperationChange]:
    """Yield the first of the operations that differ."""
    changes = join_merged(align_facts(base, head))
    different = (
        change for change in changes if change.seconds or change.bytes or not change.in_both
    )
    yield from islice(different, _OPERATIONS)


def _precisions(comparison: Comparison) -> Iterator[tuple[str, int, int]]:
    ours, theirs = (
        {precision.kind: precision.flops for precision in side.facts.precisions} if side else {}
        for side in (comparison.base, comparison.head)
    )
    for kind in {**ours, **theirs}:
        yield kind, ours.get(kind, 0), theirs.get(kind, 0)


def _counts(comparison: Comparison) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield how often each operation is in the base and in the head."""
    ours, theirs = _side_counts(comparison.base), _side_counts(comparison.head)
    for name in sorted({*(ours or ()), *(theirs or ())}):
        yield (
            name,
            None if ours is None else ours.get(name, 0),
            None if theirs is None else theirs.get(name, 0),
        )


def _side_counts(side: Sketched | None) -> Mapping[str, int] | None:
    """Return the counts of a side: empty where it lacks the module, None where not known."""
    if side is None:
        return {}
    return dict(side.summary.operations) if side.final is not None else None


def _not_optimized(comparison: Comparison) -> Iterator[str]:
    for name, side in (("base", comparison.base), ("head", comparison.head)):
        if side is not None and side.final is not None and not side.is_optimized:
            yield name


def _only_optimized(comparison: Comparison) -> Iterator[str]:
    for name, side in (("base", comparison.base), ("head", comparison.head)):
        if side is not None and side.is_optimized and len(side.stages) == 1:
            yield name


def _divergence(comparison: Comparison) -> DivergenceRecord:
    where = comparison.divergence.where
    if comparison.base is None or comparison.head is None:
        return DivergenceRecord(
            str(Where.NOWHERE), f"{comparison.pair.reason.capitalize()}.", None, None
        )
    if comparison.bare:
        return DivergenceRecord(str(Where.UNKNOWN), "Only figures are known.", None, None)
    return DivergenceRecord(
        where=str(where),
        sentence=f"{parting(comparison)}.",
        base=_label(comparison.base.snapshots, comparison.divergence.base),
        head=_label(comparison.head.snapshots, comparison.divergence.head),
    )


def _label(snapshots: Sequence[SnapshotDigest], number: int | None) -> str | None:
    return None if number is None else snapshots[number].label
