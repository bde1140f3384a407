"""The page on memory: what is held and in use, what lives at the peak, what would save."""

from dataclasses import dataclass

from markupsafe import Markup

from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.report import CostReport
from xlareport.pages import words
from xlareport.pages.cost.charts import memory_curve
from xlareport.pages.cost.page import per_device
from xlareport.pages.figures import Figure
from xlareport.pages.memory.tables import (
    breakdown_table,
    fills_table,
    kinds_table,
    layouts_table,
    memory_tables,
    shares_table,
    spaces_table,
)
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import PartPage, Table
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units


@dataclass(frozen=True, slots=True)
class MemoryPage(PartPage):
    """Everything on the page."""

    lead: str
    per_device: str
    figures: tuple[Figure, ...]
    is_estimate: bool
    spaces: Table
    curve: Markup
    curve_words: str
    peak: str
    peak_scopes: Table
    peak_lines: Table
    breakdown: Table
    saving: str
    kinds: Table
    donation: str
    fills: Table
    layouts: Table
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
        spaces=spaces_table(module.backend, memory),
        curve=Markup(_curve(memory)),  # noqa: S704 - made and escaped there
        curve_words=_CURVE_ESTIMATE if memory.estimate else _CURVE,
        peak=_peak(memory),
        peak_scopes=shares_table("Scope", memory.peak_scopes, "no scope is said"),
        peak_lines=shares_table("Line", memory.peak_lines, "no line is said"),
        breakdown=breakdown_table(memory.breakdown),
        saving=_saving(memory),
        kinds=kinds_table(module.backend, memory),
        donation=_donation(memory),
        fills=fills_table(memory),
        layouts=layouts_table(module.backend, memory),
        remat=prose(_remat(memory)),
    )


_CURVE = (
    "Bytes of main memory in use at each place of the schedule: arguments, results and constants "
    "throughout, and of the allocations for temporaries the places that living values cover. "
    "Values that share a place count once."
)
_CURVE_ESTIMATE = (
    "Bytes that live while each instruction of the entry runs, estimated from the schedule: each "
    "result from where it is made to its last use. Padding and sharing are not seen."
)


def _lead(memory: MemoryReport) -> str:
    figures, held = memory.figures, memory.figures.held
    if figures.allocated_bytes is None and memory.occupied_peak_bytes is None and not memory.curve:
        return "The dump says nothing about the memory of this module."
    facts = []
    if held is not None:
        facts.append(f"A run holds {units.byte_size(held.total_bytes)} of device memory")
    elif figures.allocated_bytes is not None:
        facts.append(f"A run reserves {units.byte_size(figures.allocated_bytes)} of main memory")
    if memory.occupied_peak_bytes is not None:
        most = units.byte_size(memory.occupied_peak_bytes)
        facts.append(f"at most {most} of main memory are in use at once")
    if memory.estimate is not None:
        facts.append(
            f"about {units.byte_size(memory.estimate.bytes)} live at the peak, while "
            f"%{memory.estimate.at} runs, guessed from the schedule because the dump has no file "
            "that says it"
        )
    words = "; ".join(facts)
    return f"{words[0].upper()}{words[1:]}.{_host(memory)}"


def _host(memory: MemoryReport) -> str:
    held = memory.figures.held
    if held is None or not held.host_bytes:
        return ""
    return f" Another {units.byte_size(held.host_bytes)} lie in the memory of the host."


def _figures(memory: MemoryReport) -> list[Figure]:
    figures, held = memory.figures, memory.figures.held
    rows: list[tuple[str, int | None, str]] = []
    if held is not None:
        rows = [
            ("Held by a run", held.total_bytes, _HELD),
            ("Arguments", held.argument_bytes, "of the module"),
            ("Outputs", held.output_bytes, "those written over arguments included"),
            ("Aliased", held.alias_bytes, "outputs written over arguments"),
        ]
    rows += [
        ("Temporaries", figures.temp_bytes, "the allocations of main memory for them"),
        ("In use at the peak", memory.occupied_peak_bytes, "of main memory, at one position"),
        ("Allocated", figures.allocated_bytes, "all allocations of main memory"),
        ("XLA's live peak", figures.live_peak_bytes, _LIVE_PEAK),
        ("Host memory", held.host_bytes if held and held.host_bytes else None, "pinned_host"),
    ]
    if memory.estimate is not None:
        rows.append(("Live at the peak", memory.estimate.bytes, "guessed by the schedule"))
    return [
        Figure(label, units.byte_size(size), note) for label, size, note in rows if size is not None
    ]


_HELD = (
    "arguments + outputs + temporaries - aliased, as memory_analysis() counts; the dump does not "
    "give the size of the generated code"
)
_LIVE_PEAK = (
    "as the live-range file states it: logical sizes, values of all memory spaces, those that "
    "share memory each"
)


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
    return (
        f"{values} {when}, at position {units.count(memory.peak_position)} of "
        f"{units.count(max(0, memory.positions - 1))}.{_marked(memory)}"
    )


def _marked(memory: MemoryReport) -> str:
    """Say where the live-range file has its mark, if that is another position."""
    if memory.marked_position in (None, memory.peak_position):
        return ""
    return (
        f" The live-range file marks position {units.count(memory.marked_position)}: it adds up "
        "the logical sizes of values in all memory spaces."
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
