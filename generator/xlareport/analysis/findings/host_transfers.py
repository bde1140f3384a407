"""Host transfer inside a while loop.

A callback, infeed, outfeed or host transfer is executed more than once per module execution. Debug
prints are the usual reason.
"""

from collections.abc import Iterator
from functools import partial

from xlareport.analysis.cost.host_memory import HostTransfer, find_host_transfers
from xlareport.analysis.findings.finding import Case, Finding
from xlareport.hlo.model import Instruction
from xlareport.runtime import units

_ALWAYS = frozenset({"infeed", "outfeed"})
_MAYBE = frozenset({"send", "recv"})
_CALLS = (
    "MoveToHost",
    "MoveToDevice",
    "xla_python_cpu_callback",
    "xla_python_gpu_callback",
    "xla_ffi_python_cpu_callback",
    "xla_ffi_python_gpu_callback",
    "xla_ffi_partitioned_python_cpu_callback",
)


def host_transfers(case: Case) -> Iterator[Finding]:
    """Report what talks to the host, or moves data to or from its memory, more than once."""
    yield from map(partial(_memory_transfer, case), _in_loops(case))
    for computation, instruction, cost in case.scheduled:
        in_loop = cost.counted > 1 or (cost.executions is None and cost.counted > 0)
        if in_loop and _talks_to_host(instruction):
            times = "an unknown number of" if cost.executions is None else f"{cost.executions:,}"
            yield Finding(
                title="Host transfer inside a while loop",
                places=((computation.name, instruction.name),),
                evidence=(
                    f"`{instruction.name}` ({instruction.opcode}) waits for the host in {times} "
                    "executions per module execution."
                ),
                suggestion=(
                    "Collect the values in the loop and transfer them once after it, or remove "
                    "the callback or debug print."
                ),
                grade="exact",
                weight=case.least(cost),
                severity="medium",
            )


def _in_loops(case: Case) -> Iterator[HostTransfer]:
    for transfer in find_host_transfers(case.module, case.cost):
        is_once = transfer.executions == 1
        if not is_once and transfer.opcode != "custom-call":
            yield transfer


def _memory_transfer(case: Case, transfer: HostTransfer) -> Finding:
    """Report a transfer of `pinned_host` memory; whether it overlaps with compute is not known."""
    total = transfer.total_bytes
    times = (
        "an unknown number of times"
        if total is None
        else f"{transfer.executions:,} times, {units.byte_size(total)} in total"
    )
    return Finding(
        title="Host memory transfer inside a while loop",
        places=((transfer.computation, transfer.instruction),),
        evidence=(
            f"`{transfer.instruction}` moves {units.byte_size(transfer.bytes)} "
            f"{transfer.direction} memory {times}, per module execution."
        ),
        suggestion=(
            "Check in a profile that the transfers overlap with compute; where they do not, "
            "offload less, or rematerialize instead."
        ),
        grade="exact",
        weight=transfer.seconds(case.device.host_link) or 0.0,
        severity="medium",
    )


def _talks_to_host(instruction: Instruction) -> bool:
    if instruction.opcode in _ALWAYS:
        return True
    if instruction.opcode in _MAYBE:
        return instruction.attributes.get("is_host_transfer") == "true"
    return instruction.opcode == "custom-call" and instruction.call_target in _CALLS
