"""The first page of a comparison: the answer, why, the main program's figures, all modules."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.compare.causes import Cause
from xlareport.analysis.compare.comparison import Quantity
from xlareport.analysis.compare.effects import Effect
from xlareport.analysis.compare.module_facts import ESTIMATE, MEMORY
from xlareport.analysis.compare.verdict import Basis
from xlareport.pages import words
from xlareport.pages.compare.addresses import page_of
from xlareport.pages.compare.compared_figures import (
    FigureRow,
    describe_iteration,
    figure_name,
    figure_rows,
    figures_differ,
)
from xlareport.pages.compare.source_changes import (
    OF_COMPILATION,
    OUTSIDE,
    describe_changes,
    describe_program_change,
)
from xlareport.pages.compare.verdict import (
    JudgementRow,
    describe_regression,
    describe_verdict,
    explains,
    memory_row,
    time_row,
)
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import Cell, Column, Table, tabulate
from xlareport.records.compare import RUN, ComparedRecord, ComparisonRecord
from xlareport.runtime import units
from xlareport.runtime.english import plain

TABLE = "compared"
"""The payload key of the table of modules."""
NOT_PAIRED = "not-paired"
"""The payload key of the table of modules that have no counterpart to be compared with."""
OPERATIONS = "operations"
"""The payload key of the table of operations of the main program."""
COLLECTIVES = "collectives"
"""The payload key of the table of collectives of the main program that one side has."""
MOST_CAUSES = 5
_ORDER = (
    *("differs", "other figures", "new", "gone", "not paired"),
    *("same code", "same figures", "identical"),
)
_WHY_NOT = (
    "XLA numbers them anew in each compilation, and the other side has none of their content."
)


def tabulate_compared_modules(modules: Sequence[ComparedRecord]) -> Mapping[str, Table]:
    """Return the tables of modules by their keys: those that are not paired have their own."""
    paired = [module for module in modules if not module.not_paired]
    unpaired = [module for module in modules if module.not_paired]
    tables = {TABLE: _table(paired)}
    return {**tables, NOT_PAIRED: _table(unpaired)} if unpaired else tables


def _table(modules: Sequence[ComparedRecord]) -> Table:
    """Return a table of modules, the differing ones first."""
    peak = "at the peak, else allocated"
    return tabulate(
        sorted(modules, key=lambda module: _ORDER.index(_result(module)[0])),
        {
            Column("Module", "link"): _linked_name,
            Column("Result", "chip"): lambda row: list(_result(row)),
            Column("First divergence"): lambda row: (
                "" if row.identical else plain(row.divergence.sentence)
            ),
            Column("Instructions, base", "int"): lambda row: _figure(row, "instructions").base,
            Column("Instructions, head", "int"): lambda row: _figure(row, "instructions").head,
            Column("Memory, base", "bytes", peak): lambda row: _figure(row, *MEMORY).base,
            Column("Memory, head", "bytes", peak): lambda row: _figure(row, *MEMORY).head,
            Column("Paired", help="How the two modules were paired"): lambda row: (
                f"{row.paired} ({row.grade})"
            ),
        },
        empty="Neither dump has such a module.",
    )


def _linked_name(module: ComparedRecord) -> Cell:
    name = words.short_name(module.name)
    return [name, page_of(module)] if module.has_page else name


def _figure(module: ComparedRecord, *names: str) -> Quantity:
    """Return the first of some figures that a module has, else one of unknown values."""
    figures = module.by_name
    known = (figures[name] for name in names if name in figures)
    return next(known, Quantity(names[0], None, None, None))


def _result(compared: ComparedRecord) -> tuple[str, str]:
    """Return a word and its look."""
    if compared.not_paired:
        return "not paired", "xr-same"
    if compared.base is None:
        return "new", "xr-added"
    if compared.head is None:
        return "gone", "xr-removed"
    if compared.bare:
        return (
            ("other figures", "xr-changed")
            if figures_differ(compared.figures)
            else ("same figures", "xr-same")
        )
    if compared.identical:
        return "identical", "xr-same"
    return ("same code", "xr-same") if compared.same else ("differs", "xr-changed")


_LINKS = 3
"""Modules that a cause leads to."""
_PROBLEMS = 10


class CauseRow(Struct, frozen=True):
    """A cause with the pages that show it."""

    sentence: Markup
    effect: str
    """Its effect on cost; empty if it cannot be separated."""
    why: Markup
    grade: str
    links: tuple[tuple[str, str], ...]
    """(name, address)."""
    more: int
    notes: tuple[Markup, ...]


class ComparePage(Struct, frozen=True):
    """Everything on the first page."""

    base_name: str
    """The last part of the path of the base; empty where both are called the same."""
    head_name: str
    lead: str
    time: JudgementRow | None
    """None where no main program is known, or it has no counterpart."""
    memory: JudgementRow | None
    regression: str
    """Whether it is one, in a sentence; empty where no main program was judged."""
    changed: str
    """The sources of change: the program, its options, the compiler; empty if there are none."""
    base: str
    head: str
    causes: tuple[CauseRow, ...]
    more_causes: tuple[CauseRow, ...]
    main: str
    main_address: str
    figures: tuple[FigureRow, ...]
    operations: str
    """The payload key of the table of operations; empty if nothing differs."""
    collectives: str
    """The payload key of the table of collectives that one side has; empty if there are none."""
    counts: str
    key: str
    not_paired: str
    """Sentence on the modules that are not paired; empty without any."""
    not_paired_key: str
    problems: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """How the dumps were made, where xlareport made them."""


def compare_page(view: ComparisonRecord, remarks: Sequence[str] = ()) -> ComparePage:
    """Make the first page."""
    main = view.main
    shown = main is not None and main.has_page
    causes = tuple(_cause(view, place) for place in range(len(view.causes)))
    judged = main is not None and main.base is not None and main.head is not None
    names = [PurePath(side.path).name for side in (view.base, view.head)]
    if len({*names}) < len(names) or not all(names):
        names = ["", ""]
    return ComparePage(
        base_name=names[0],
        head_name=names[1],
        lead=lead(view),
        time=time_row(view.verdict.time, view.verdict.work) if judged else None,
        memory=_memory_row(view, main) if judged and main else None,
        regression=_regression(view, main) if judged and main else "",
        changed=describe_changes(view.causes, instructions=not _has_same_instructions(main)),
        base=view.base.path,
        head=view.head.path,
        causes=causes[:MOST_CAUSES],
        more_causes=causes[MOST_CAUSES:],
        main=words.short_name(main.name) if main else "",
        main_address=page_of(main) if main and shown else "",
        figures=_figures(view, main) if main else (),
        operations=OPERATIONS if main and main.operations else "",
        collectives=COLLECTIVES if main and main.one_sided_collectives else "",
        counts=f"{counts_of(view)} {_pairs_sentence(view.modules)}",
        key=TABLE,
        not_paired=_not_paired(view.modules),
        not_paired_key=NOT_PAIRED,
        problems=tuple(_problems(view)),
        remarks=tuple(remarks),
    )


def _regression(view: ComparisonRecord, main: ComparedRecord) -> str:
    """Return whether it is one, with the change of an iteration that the estimate counts once."""
    sentence = describe_regression(view.verdict, _changed(view))
    is_estimated = view.verdict.time.basis is Basis.ROOFLINE
    return f"{sentence} {describe_iteration(main)}".rstrip() if is_estimated else sentence


def _memory_row(view: ComparisonRecord, main: ComparedRecord) -> JudgementRow:
    """Return the judgement of the memory, which is named where there are others."""
    row = memory_row(view.verdict.memory, view.verdict.work)
    named = main.device_memory if row.figures else ""
    return replace(row, basis=f"{named}, {row.basis}") if named else row


def _has_same_instructions(main: ComparedRecord | None) -> bool:
    """Return whether the compiler was given the same instructions of the main program."""
    return main is not None and main.divergence.where in _SAME_INSTRUCTIONS


def _changed(view: ComparisonRecord) -> str:
    """Return that the program does other work; empty if its header differs alone."""
    kinds = {cause.kind for cause in view.causes} - OUTSIDE.keys() - OF_COMPILATION
    if _has_same_instructions(view.main) and kinds <= _SAME_WORK:
        return ""
    return describe_program_change(view.causes)


_SAME_INSTRUCTIONS = ("header", "pass", "nowhere")
_SAME_WORK = frozenset({"donation", "header"})


def _figures(view: ComparisonRecord, main: ComparedRecord) -> tuple[FigureRow, ...]:
    """Return the figures; none is better or worse if they cannot be compared.

    This is also the case if the program does more work and needs proportionally more time.
    """
    rows = figure_rows(main)
    verdict = view.verdict
    if verdict.memory.obstacle or explains(verdict.work, verdict.time):
        return tuple(replace(row, look="") for row in rows)
    times = {figure_name(name) for name in (RUN, ESTIMATE)} if verdict.time.obstacle else ()
    return tuple(replace(row, look="") if row.label in times else row for row in rows)


def _problems(view: ComparisonRecord) -> Iterator[str]:
    for problem in view.problems[:_PROBLEMS]:
        yield f"{problem.path}: {problem.message}" if problem.path else problem.message
    if len(view.problems) > _PROBLEMS:
        yield f"And {len(view.problems) - _PROBLEMS} more, which compare.json lists."


def lead(view: ComparisonRecord) -> str:
    """Return the answer in a sentence: time and memory of the main program, else the modules."""
    main = view.main
    if main is None or main.base is None or main.head is None or main.bare:
        return _of_modules(view)
    return describe_verdict(view.verdict)


def _of_modules(view: ComparisonRecord) -> str:
    if not view.modules:
        return "Neither dump has a module."
    if any(module.bare for module in view.modules):
        changed = sum(module.bare and figures_differ(module.figures) for module in view.modules)
        how_many = units.plural(len(view.modules), "module")
        return f"Only figures can be compared: of {how_many}, {changed} have different figures."
    return counts_of(view)


def counts_of(view: ComparisonRecord) -> str:
    """Return how many modules differ."""
    if view.identical and any(module.same for module in view.modules):
        return "No differences: every module has the same snapshots in both."
    modules = [module for module in view.modules if not module.not_paired]
    differ = sum(not module.identical for module in modules)
    unread = sum(not module.same and not module.figures for module in modules)
    ends = sum(not module.same for module in modules) - unread
    how_many = units.plural(len(modules), "module")
    verb = "differs" if differ == 1 else "differ"
    end = "ends" if ends == 1 else "end"
    how = f", and {ends} {end} in different optimized HLO"
    if not ends:
        how = "" if unread else " on the way or in options, and none in its optimized HLO"
    more = f" No optimized HLO of {unread:,} was read." if unread else ""
    return f"Of {how_many}, {differ} {verb}{how}.{more}"


def _pairs_sentence(modules: Sequence[ComparedRecord]) -> str:
    pairs = [module for module in modules if module.base and module.head]
    same = sum(pair.same for pair in pairs)
    bare = all(pair.bare for pair in pairs)
    new = sum(module.base is None and not module.extracted for module in modules)
    gone = sum(module.head is None and not module.extracted for module in modules)
    of_them = "" if bare else f", {same} of them with the same optimized HLO"
    parts = [f"{units.plural(len(pairs), 'module')} paired{of_them}"]
    parts += [f"{new} only in the head"] if new else []
    parts += [f"{gone} only in the base"] if gone else []
    return ", ".join(parts) + "."


def _not_paired(modules: Sequence[ComparedRecord]) -> str:
    unpaired = sum(module.not_paired for module in modules)
    if not unpaired:
        return ""
    subject = units.plural(unpaired, "module") + " extracted for autotuning"
    extracted = [module for module in modules if module.extracted]
    sides = {"base": any(m.base for m in extracted), "head": any(m.head for m in extracted)}
    without = next((side for side, has_some in sides.items() if not has_some), "")
    why = f"the {without} has no modules of this kind." if without else _WHY_NOT
    return f"{subject} {'is' if unpaired == 1 else 'are'} not paired: {why}"


def _cause(view: ComparisonRecord, place: int) -> CauseRow:
    cause = view.causes[place]
    wanted = set(cause.modules)
    members = [module for module in view.modules if (module.head or module.base) in wanted]
    members.sort(key=lambda member: not member.main)
    return CauseRow(
        sentence=prose(cause.sentence),
        effect=describe_effect(cause.effect),
        why=prose(cause.why),
        grade=cause.grade,
        links=tuple(
            (words.short_name(member.name), _shown_at(cause, member))
            for member in members[:_LINKS]
            if member.has_page
        ),
        more=max(0, len(members) - _LINKS),
        notes=tuple(prose(note) for note in cause.notes),
    )


def _shown_at(cause: Cause, member: ComparedRecord) -> str:
    """Return the address of the place that shows a cause, else that of the module's page."""
    ids = {difference.id for difference in member.contrasts}
    place = next((place_id for place_id in cause.shown_at if place_id in ids), None)
    return f"{page_of(member)}#step={place}" if place else page_of(member)


def describe_effect(effect: Effect) -> str:
    """Return the effect of a cause on a run of the main program, time first."""
    figures = list(_effects(effect))
    of = f", in all {effect.opcode} instructions" if effect.opcode and figures else ""
    remark = ", the rest of the change" if effect.is_rest and figures else ""
    return ", ".join(figures) + of + remark


def _effects(effect: Effect) -> Iterator[str]:
    if effect.seconds:
        yield f"{units.with_sign(effect.seconds, units.seconds)} estimated time"
    if effect.memory_bytes:
        yield f"{units.with_sign(effect.memory_bytes, units.byte_size)} memory"
    if effect.accessed_bytes:
        yield f"{units.with_sign(effect.accessed_bytes, units.byte_size)} bytes accessed"
    if effect.sent_bytes:
        yield f"{units.with_sign(effect.sent_bytes, units.byte_size)} sent to other devices"
    if effect.kernels:
        plural = "" if abs(effect.kernels) == 1 else "s"
        yield f"{units.with_sign(effect.kernels, units.count)} instruction{plural} outside fusions"
