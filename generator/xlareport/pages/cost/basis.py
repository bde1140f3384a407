"""Sentences on what times are estimated by, and on what the roofline leaves out."""

from xlareport.analysis.cost_report.cost_report import CostReport
from xlareport.runtime import english, units

_LEAST_ON_CHIP = 0.1
"""Share of the bytes accessed from which the first page says that the roofline leaves them out."""
_ON_CHIP = {1: "VMEM", 3: "CMEM"}
"""Memory spaces of TPUs on the chip, see knowledge/memory_spaces.toml."""


def on_chip_spaces(cost: CostReport) -> str:
    """Return the on-chip memory that no figure includes, because its bandwidth is unpublished."""
    if not cost.device.key.startswith("tpu-"):
        return ""
    spaces = {space.number for space in cost.memory.layout_spaces if space.size}
    names = [name for number, name in _ON_CHIP.items() if number in spaces]
    if not names:
        return ""
    part = f", {units.share(cost.on_chip_share)} of the bytes accessed" * (cost.on_chip_share > 0)
    return (
        f" Roofline times exclude accesses to {' and '.join(names)} (bandwidth not published"
        f"{part}): a chip that keeps more of the data there has a shorter roofline time, so "
        "compare times of one chip only. Bytes accessed, read and written include them."
    )


def describe_unmodeled(cost: CostReport) -> str:
    """Return a sentence on collectives without a modeled time; empty without any."""
    unmodeled = cost.unmodeled_collectives
    if unmodeled is None:
        return ""
    count = units.plural(unmodeled.count, "collective")
    have, their = ("has", "its") if unmodeled.count == 1 else ("have", "their")
    return (
        f" {count} {have} no modeled time on links ({unmodeled.reason}): the roofline time has "
        f"{their} memory accesses only."
    )


def describe_on_chip(cost: CostReport) -> str:
    """Return a sentence on what the roofline time leaves out; empty where that is little."""
    if cost.on_chip_share < _LEAST_ON_CHIP:
        return ""
    share = units.share(cost.on_chip_share)
    return f" The roofline time leaves out {share} of the bytes accessed, which stay on the chip."


def describe_cycles(cost: CostReport) -> str:
    """Return sentences on the compiler's own estimate; empty where the dump has none."""
    cycles = cost.cycles
    if cycles is None:
        return ""
    instructions = units.plural(cycles.instructions, "instruction")
    count = f"{units.count(cycles.cycles)} cycles of {instructions}"
    if cycles.seconds is None or cycles.clock is None:
        why = "the clock is not known" if cycles.clock is None else "too few instructions have them"
        return f"{count}, as the compiler estimates. Shares are of roofline time: {why}.{_SOURCE}"
    return (
        f"{units.seconds(cycles.seconds)} by the compiler's estimated cycles: {count} at "
        f"{cycles.clock / 1e9:.4g} GHz, and the roofline time of all others. Shares are of this "
        f"time.{_without_cycles(cost)}{_SOURCE}"
    )


_SOURCE = (
    " The cycles are in the backend_config of the last snapshot (estimated_cycles), matched by "
    "name, opcode, shape and operands."
)


def describe_time_by_cycles(cost: CostReport) -> str:
    """Return a sentence on the time by the compiler's cycles; empty where none is longer.

    Where too few instructions have cycles, it is the time of those alone.
    """
    cycles = cost.cycles
    if cycles is None or cycles.clock is None:
        return ""
    counted = cycles.cycles / cycles.clock
    if cycles.seconds is None:
        number = units.plural(cycles.instructions, "instruction")
        alone = (
            f" By the compiler's estimated cycles, {number} alone take {units.seconds(counted)}."
        )
        return alone if counted > (cost.seconds or 0.0) else ""
    words = f" By the compiler's estimated cycles: {units.seconds(cycles.seconds)}"
    rest = cycles.seconds - counted
    if rest < _LEAST_REST * cycles.seconds:
        return f"{words}.{_without_cycles(cost)}"
    overlaps = (
        f", {units.seconds(cost.asynchronous_seconds)} of it asynchronous"
        if cost.asynchronous_seconds
        else ""
    )
    return (
        f"{words}, of which {units.seconds(rest)} is the roofline time of collectives, copies and "
        f"other instructions without cycles{overlaps}.{_without_cycles(cost)}"
    )


def _without_cycles(cost: CostReport) -> str:
    """Return a sentence on what takes longer than its roofline time; empty without any."""
    kinds = cost.without_cycles
    if not kinds:
        return ""
    named = english.listing([units.plural(number, kind) for kind, number in kinds])
    is_single = sum(number for _, number in kinds) == 1
    have, their = ("has", "its") if is_single else ("have", "their")
    return f" {named} {have} no estimated cycles: {their} time is not known."


_LEAST_REST = 0.02
"""Share of the time that is not of cycles: less is not told."""
