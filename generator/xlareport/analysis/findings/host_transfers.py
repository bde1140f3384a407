"""Transfers between host and device inside a loop."""

from collections.abc import Iterator

from xlareport.analysis.cost.custom_calls import name_target
from xlareport.analysis.findings.finding import Case, Finding
from xlareport.hlo.model import Instruction

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
    """Report what talks to the host and runs more than once."""
    for computation, instruction, cost in case.scheduled():
        in_loop = cost.counted > 1 or (cost.executions is None and cost.counted > 0)
        if in_loop and _talks_to_host(instruction):
            times = "an unknown number of" if cost.executions is None else f"{cost.executions:,}"
            yield Finding(
                rule="host-transfers",
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
            )


def _talks_to_host(instruction: Instruction) -> bool:
    if instruction.opcode in _ALWAYS:
        return True
    if instruction.opcode in _MAYBE:
        return instruction.attributes.get("is_host_transfer") == "true"
    return instruction.opcode == "custom-call" and name_target(instruction) in _CALLS
