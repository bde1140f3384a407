"""The page on memory: three figures, what lives at the peak and why, what would have to shrink."""

from dataclasses import dataclass

from markupsafe import Markup

from xlareport.analysis.cost.residency import Share
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.report import CostReport
from xlareport.pages import words
from xlareport.pages.cost.charts import memory_curve
from xlareport.pages.cost.page import per_device
from xlareport.pages.figures import Figure
from xlareport.pages.memory.tables import (
    AllocationKindRow,
    FillRow,
    LayoutRow,
    SpaceRow,
    TreeRow,
    fill_rows,
    kind_rows,
    layout_rows,
    memory_tables,
    named,
    space_rows,
    tree_rows,
)
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import PartPage
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units


@dataclass(frozen=True, slots=True)
class MemoryPage(PartPage):
    """Everything on the page."""

    lead: str
    per_device: str
    figures: tuple[Figure, ...]
    is_estimate: bool
    spaces: tuple[SpaceRow, ...]
    curve: Markup
    curve_words: str
    peak: str
    peak_scopes: tuple[Share, ...]
    peak_lines: tuple[Share, ...]
    tree: tuple[TreeRow, ...]
    saving: str
    kinds: tuple[AllocationKindRow, ...]
    donation: str
    fills: tuple[FillRow, ...]
    layouts: tuple[LayoutRow, ...]
    remat: Markup


def memory_page(module: ModuleRecord, cost: CostReport) -> MemoryPage:
    """Make the page of one module."""
    memory = cost.memory
    return MemoryPage(
        name=words.short_name(module.name),
        slug=module.slug,
        tables=memory_tables(module.backend, memory),
        lead=_lead(memory),
        per_device=per_device(cost.totals.devices),
        figures=tuple(_figures(memory)),
        is_estimate=memory.estimate is not None,
        spaces=tuple(space_rows(module.backend, memory)),
        curve=Markup(_curve(memory)),  # noqa: S704 - made and escaped there
        curve_words=_CURVE_ESTIMATE if memory.estimate else _CURVE,
        peak=_peak(memory),
        peak_scopes=named(memory.peak_scopes, "no scope is said"),
        peak_lines=named(memory.peak_lines, "no line is said"),
        tree=tuple(tree_rows(memory.breakdown)),
        saving=_saving(memory),
        kinds=kind_rows(module.backend, memory),
        donation=_donation(memory),
        fills=tuple(fill_rows(memory)),
        layouts=layout_rows(module.backend, memory),
        remat=prose(_remat(memory)),
    )


_CURVE = (
    "Bytes that live at each place of the schedule, added up from the live ranges in the dump. "
    "Values that share memory count each, so it can pass the peak that the file states."
)
_CURVE_ESTIMATE = (
    "Bytes that live while each instruction of the entry runs, estimated from the schedule: each "
    "result from where it is made to its last use. Padding and sharing are not seen."
)


def _lead(memory: MemoryReport) -> str:
    peak, reserved = memory.figures.live_peak_bytes, memory.figures.allocated_bytes
    if reserved is None and peak is None and memory.estimate is None:
        return "The dump says nothing about the memory of this module."
    message = (
        f"It reserves {units.byte_size(reserved)} of main memory" if reserved is not None else ""
    )
    lives = f"{units.byte_size(peak)} live at once at the peak" if peak is not None else ""
    if memory.estimate is not None:
        lives = (
            f"about {units.byte_size(memory.estimate.bytes)} live at the peak, while "
            f"%{memory.estimate.at} runs, guessed from the schedule because the dump has no file "
            "that says it"
        )
    words = "; ".join(text for text in (message, lives) if text)
    return f"{words[0].upper()}{words[1:]}.{_why_more(memory)}{_fullest(memory)}"


def _fullest(memory: MemoryReport) -> str:
    """Say that the file marks a moment as the peak which is not the fullest."""
    if memory.fullest is None or memory.marked_position is None:
        return ""
    return (
        " At another moment more lives: the file marks position "
        f"{units.count(memory.marked_position)} as the peak, while its own live ranges add up to "
        f"{units.byte_size(memory.fullest.size)} at position "
        f"{units.count(memory.fullest.position)}, "
        "for which the memory that is reserved has room. This page goes by the live ranges."
    )


def _why_more(memory: MemoryReport) -> str:
    """Explain a peak beyond what is reserved, which looks like a contradiction."""
    if not _beyond(memory):
        return ""
    spaces = ", in all memory spaces" if len(memory.figures.spaces) > 1 else ""
    return f" The peak counts an argument and the result written over it each{spaces}."


def _beyond(memory: MemoryReport) -> str:
    """Say that what lives passes what is reserved; empty where it does not."""
    peak, reserved = memory.figures.live_peak_bytes, memory.figures.allocated_bytes
    if peak is None or reserved is None or peak <= reserved:
        return ""
    return "; more than is allocated, because values that share memory count each"


def _figures(memory: MemoryReport) -> list[Figure]:
    figures = memory.figures
    result = (
        (
            "Allocated",
            figures.allocated_bytes,
            "the sum of all allocations of the main memory, used at once or not",
        ),
        (
            "Live at the peak",
            figures.live_peak_bytes,
            f"the most that lives at once, arguments too, without padding{_beyond(memory)}",
        ),
        ("For temporaries", figures.temp_bytes, "on top of arguments, results and constants"),
    )
    shown = [
        Figure(label, units.byte_size(value), note)
        for label, value, note in result
        if value is not None
    ]
    if memory.estimate is not None:
        note = "guessed by the schedule"
        shown.append(Figure("Live at the peak", units.byte_size(memory.estimate.bytes), note))
    return shown


def _curve(memory: MemoryReport) -> str:
    if memory.estimate is not None:
        curve = memory.estimate.curve
        return memory_curve(
            memory.curve, memory.positions, curve.index(max(curve)), f"%{memory.estimate.at}"
        )
    at = f"%{memory.peak_instruction}" if memory.peak_instruction else "its end"
    return memory_curve(memory.curve, memory.positions, memory.peak_position, at)


def _peak(memory: MemoryReport) -> str:
    if not memory.at_peak_count:
        return ""
    values = units.plural(memory.at_peak_count, "value lives", "values live")
    if memory.estimate is not None:
        return f"{values} while %{memory.estimate.at} runs, guessed from the schedule."
    if memory.peak_position is None:
        return ""
    when = f"when %{memory.peak_instruction} runs" if memory.peak_instruction else "at the end"
    by = ", the fullest moment by the live ranges" if memory.fullest else ""
    return (
        f"{values} {when}, at position {units.count(memory.peak_position)} of "
        f"{units.count(max(0, memory.positions - 1))}{by}."
    )


def _saving(memory: MemoryReport) -> str:
    saving = memory.saving
    if saving is None:
        return ""
    if not saving.is_enough:
        most = units.byte_size(saving.reached)
        return (
            f"A fifth of the peak cannot be saved by shrinking temporaries: {most} would still "
            "live, most of it arguments of the module."
        )
    if not saving.buffers:
        return ""
    freed = sum(size for _, size in saving.buffers)
    text, these = (
        ("this value", "It has")
        if len(saving.buffers) == 1
        else (f"these {len(saving.buffers):,} values", "Together they have")
    )
    why = _why_so_much(freed, saving.peak - saving.reached)
    before, after = units.byte_size(saving.peak), units.byte_size(saving.reached)
    return (
        f"Without {text} at least a fifth of the peak would be saved: {before} would become "
        f"{after}. {these} {units.byte_size(freed)}{why}. The "
        "schedule and what shares memory are taken to stay as they are, so it is an estimate."
    )


def _why_so_much(freed: int, saved: int) -> str:
    """Explain values that are larger than what they save, which looks like a mistake."""
    if freed <= saved:
        return ""
    return (
        ", more than that saves: when one is gone the peak moves to another moment, and the next "
        "is the largest that lives then"
    )


def _donation(memory: MemoryReport) -> str:
    given = [donation for donation in memory.donations if donation.donated]
    could = [donation for donation in memory.donations if not donation.donated]
    if not memory.donations:
        return "No argument has the form of a result, so there is nothing to donate."
    size = units.byte_size(sum(row.size or 0 for row in given))
    message = f"{units.plural(len(given), 'argument')} ({size}) may be overwritten by a result."
    if could:
        more = units.byte_size(sum(row.size or 0 for row in could))
        message += (
            f" {units.plural(len(could), 'more argument')} ({more}) could be, by form: donating "
            "them saves that much if the caller does not need them afterwards (donate_argnums)."
        )
    return message


def _remat(memory: MemoryReport) -> str:
    if not memory.rematerialised:
        return (
            "Nothing is computed again to save memory: no instruction of the final module says so."
        )
    by_xla = sum(rematerialised.by == "XLA" for rematerialised in memory.rematerialised)
    asked = len(memory.rematerialised) - by_xla
    return (
        f"{units.plural(len(memory.rematerialised), 'instruction')} computed again instead of "
        "being "
        f"kept: {by_xla:,} by XLA, {asked:,} because the program asked for it (jax.checkpoint). "
        "They are known by `.remat` in the name and by `rematted_computation` in the scope; one "
        "that was merged with what it repeats keeps the mark."
    )
