"""Memory-bound matmul.

The low operational intensity of a matmul, fused or not, limits it to less than 10% of the device's
peak FLOP/s.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.roofline import estimate_time
from xlareport.analysis.cost.work import InstructionCost
from xlareport.analysis.findings.expanded import name_expanded
from xlareport.analysis.findings.finding import Case, Finding
from xlareport.analysis.findings.ranked_values import are_ranked
from xlareport.hlo.model import Instruction
from xlareport.knowledge.custom_calls import PRODUCT_WORK, find
from xlareport.runtime import units

MOST_OF_PEAK = 0.1
"""The part of the device's peak that memory allows; below it is reported."""
LEAST_SHARE = 0.05
"""Of the module's roofline time."""
_OPERAND_REMEDY = "Batch several matmuls into one, or use a narrower type for the operands."
_RESULT_REMEDY = (
    "Give the result a narrower type, or compute what uses it in the same kernel, as fused "
    "attention does."
)
_RANKED = (
    " Its results are put in order (sort, top-k or argmax): a narrower type can change the order."
)


def starved_products(case: Case) -> Iterator[Finding]:
    """Report products that cannot reach a tenth of the peak, by the roofline's estimate."""
    for computation, instruction, cost in case.scheduled:
        least, seconds = estimate_time(cost, case.device), case.least(cost)
        is_product = cost.matrix_flops and not _is_solve(instruction)
        if not is_product or least is None or not case.is_noticeable(seconds, LEAST_SHARE):
            continue
        reached = least.arithmetic / least.seconds if least.seconds else 1.0
        if reached < MOST_OF_PEAK:
            is_ranked = are_ranked(case.module, computation, instruction)
            intensity = cost.intensity or 0.0
            yield Finding(
                title="Memory-bound matmul",
                places=((computation.name, instruction.name),),
                evidence=(
                    f"`{instruction.name}`: {intensity:.1f} FLOP/byte, capped at "
                    f"{units.share(reached)} of peak FLOP/s on {case.device.name}."
                    f"{_describe_result(cost)}"
                ),
                suggestion=f"{_advise(instruction, cost)}{_RANKED if is_ranked else ''}",
                grade="guessed",
                weight=seconds,
                seconds=seconds * (1 - reached),
            )


def _advise(instruction: Instruction, cost: InstructionCost) -> str:
    operation = name_expanded(instruction)
    if operation:
        return (
            f"The compiler computes {operation} by matmuls of its own sizes: transform less data."
        )
    return _RESULT_REMEDY if _is_result_most(cost) else _OPERAND_REMEDY


def _is_result_most(cost: InstructionCost) -> bool:
    """Return whether more bytes are written than read: neither batching nor the operands help."""
    return (cost.bytes_written or 0) > (cost.bytes_read or 0)


def _describe_result(cost: InstructionCost) -> str:
    if not _is_result_most(cost) or not cost.bytes_accessed:
        return ""
    written = units.share((cost.bytes_written or 0) / cost.bytes_accessed)
    return f" {written} of the bytes are its result."


def _is_solve(instruction: Instruction) -> bool:
    """Return whether a library call is none that multiplies: nothing can be batched into it."""
    if instruction.opcode != "custom-call":
        return instruction.opcode in ("triangular-solve", "cholesky")
    call = find(instruction.call_target)
    return call is None or call.work not in PRODUCT_WORK | {"estimate"}
