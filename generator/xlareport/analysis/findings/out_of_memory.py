"""Out of device memory.

The TPU compiler ran out of memory and wrote `oom_intermediate_module` or
`oom_top_memory_consuming_instructions`. The tab *Memory* shows the buffers live at peak, how long
they are held, and what was rematerialized.
"""

from collections.abc import Iterator

from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding
from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime import units

_NOTES = frozenset({"oom_intermediate_module", "oom_top_memory_consuming_instructions"})
"""Files that the TPU compiler writes when compilation fails for lack of memory."""


def out_of_memory(case: Case) -> Iterator[Finding]:
    """Report that the compiler gave up, with what takes most memory."""
    noted = sorted(_NOTES & case.stages)
    if not noted:
        return
    reserved = case.memory.allocated_bytes if case.memory else None
    yield Finding(
        title="Out of device memory",
        places=tuple((where.name, instruction.name) for where, instruction in _largest(case)),
        evidence=f"The compiler wrote `{noted[0]}`: it ran out of memory.{_sizes(case)}",
        occurrences=1,
        suggestion=(
            "See the buffers live at peak on the tab Memory. Reduce the batch, use jax.checkpoint, "
            "donate inputs or use narrower types; or shard the largest buffers over more devices."
        ),
        grade="exact",
        weight=case.seconds + case.time_of_bytes(reserved or 0),
        severity="high",
    )


def _sizes(case: Case) -> str:
    memory = case.memory
    if memory is None or memory.allocated_bytes is None:
        return ""
    temporaries = memory.temp_bytes
    of_them = f", including temp {units.byte_size(temporaries)}" if temporaries else ""
    has = case.device.memory
    device = f"; {case.device.name} has {units.byte_size(has)}" if has else ""
    return f" The module needs {units.byte_size(memory.allocated_bytes)}{of_them}{device}."


def _largest(case: Case) -> list[tuple[Computation, Instruction]]:
    """Return the instructions with the largest results, of those that run by themselves."""
    result = [
        (where, instruction)
        for where, instruction, _ in case.scheduled
        if instruction.opcode != "parameter"
    ]
    return sorted(result, key=lambda pair: -(pair[1].shape.byte_size or 0))[:MOST_PLACES]
