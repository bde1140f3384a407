"""The answer on cost on the home page: the work, its time, what takes most of it."""

from collections.abc import Sequence
from math import isclose

from xlareport.analysis.cost.heavy import HeavyInstruction
from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.pages import words
from xlareport.pages.cost.basis import describe_on_chip, describe_time_by_cycles
from xlareport.pages.cost.page import devices_of
from xlareport.pages.cost.unknown_loops import iterations_words, named_loops
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units
from xlareport.runtime.english import capitalize, listing

MOST_NAMED = 3
"""Instructions that an answer names."""
_TIE = 1e-3
"""By how much times differ, as a share, that count as equal."""


def heaviest(cost: CostReport | None) -> Sequence[HeavyInstruction]:
    """Return the instructions that the answer names, the longest first."""
    return cost.heaviest[:MOST_NAMED] if cost else ()


def cost_lines(module: ModuleRecord, cost: CostReport) -> list[str]:
    """Return lines on the work of an execution, its time, and the instructions with most of it.

    Empty where no instruction takes any time.
    """
    rows = [row for row in heaviest(cost) if row.share > 0]
    if not rows:
        return []
    work = f"{_work(cost)}{_per_device(module)}".strip()
    first = capitalize(work) if words.is_whole(module) else f"Last snapshot: {work}"
    time = f"{describe_on_chip(cost)}{describe_time_by_cycles(cost)}"
    counted_once = f"{iterations_words(cost)}{_uncounted(cost)}"
    lines = (first, time, _share_of_heaviest(cost, rows), counted_once)
    return [line.strip() for line in lines if line.strip()]


def _per_device(module: ModuleRecord) -> str:
    devices = devices_of(module)
    return f" Per-device figures ({devices:,} devices)." if devices > 1 else ""


def _share_of_heaviest(cost: CostReport, rows: Sequence[HeavyInstruction]) -> str:
    tied = _tied(cost)
    rows = tied or rows
    names = _tied_words(tied) if tied else listing([f"`%{row.instruction}`" for row in rows])
    share = units.share(min(1.0, sum(row.share for row in rows)))
    accounts = "accounts" if len(rows) == 1 else "account"
    return f"{names} {accounts} for {share} of the {cost.time_name}{_share_of_flops(cost, rows)}."


def _tied(cost: CostReport) -> Sequence[HeavyInstruction]:
    """Return the heaviest instructions where more than are named need the same time.

    Those at the end of the list can have further equals: they are not counted.
    """
    first = cost.heaviest[0]
    seconds = first.seconds
    tied = [
        row
        for row in cost.heaviest
        if row.opcode == first.opcode and isclose(row.seconds, seconds, rel_tol=_TIE)
    ]
    return tied if MOST_NAMED < len(tied) < len(cost.heaviest) else ()


def _tied_words(rows: Sequence[HeavyInstruction]) -> str:
    """Return `16 all-reduces of 112 µs each`, with the names of the first."""
    kind = units.plural(len(rows), rows[0].opcode.removesuffix("-start"))
    names = sorted((row.instruction for row in rows), key=lambda name: (len(name), name))
    shown = ", ".join(f"`%{name}`" for name in names[:MOST_NAMED])
    more = len(rows) - MOST_NAMED
    return f"{kind} of {units.seconds(rows[0].seconds)} each ({shown} and {more:,} more)"


def _work(cost: CostReport) -> str:
    """Return how much one run does, and how long that takes at least on a device that is known."""
    done = []
    if cost.totals.flops:
        done.append(units.quantity(cost.totals.flops, "FLOP"))
    if cost.totals.bytes_accessed:
        done.append(f"{units.byte_size(cost.totals.bytes_accessed)} accessed")
    if cost.seconds and cost.device_grade != "guessed":
        like = "a device like " if cost.device_grade in ("matched", "others") else ""
        # Only GPUs have multiprocessors: each of their kernels is a launch.
        launches = " without launches" if cost.device.multiprocessors else ""
        time = f"roofline time {units.seconds(cost.seconds)}{launches}"
        done.append(f"{time} on {like}{cost.device.name}")
    least = f"{cost.totals.bound} " if cost.totals.bound else ""
    if not done:
        return ""
    return f"{least}{', '.join(done)} per execution."


def _share_of_flops(cost: CostReport, rows: Sequence[HeavyInstruction]) -> str:
    """Return how much of the flops that can be counted some instructions do."""
    done = sum((row.cost.flops or 0) * row.cost.counted for row in rows)
    if not cost.totals.flops or not done:
        return ""
    counted = " that can be counted" if cost.totals.is_partial else ""
    return f" and {units.share(min(1.0, done / cost.totals.flops))} of the FLOPs{counted}"


def _uncounted(cost: CostReport) -> str:
    """Return a sentence on uncounted instructions, and how many of them are custom calls."""
    number = cost.totals.unknown_ops
    if not number:
        return ""
    loops = sum(loop.trip_count.count is None for loop in cost.loops)
    number, rest = max(0, number - loops), max(0, loops - named_loops(cost))
    more = "more " if rest < loops else ""
    once = f" {rest:,} {more}{_LOOPS[rest > 1]}: counted once." if rest else ""
    if not number:
        return once
    custom = sum(uncounted.opcode == "custom-call" for uncounted in cost.uncounted)
    if custom == number:
        return f" {units.plural(custom, 'custom call')} cannot be counted.{once}"
    of_them = f" ({units.plural(custom, 'custom call')} among them)" if custom else ""
    return f" {units.plural(number, 'instruction')} cannot be counted{of_them}.{once}"


_LOOPS = ("loop of unknown trip count", "loops of unknown trip count")
