"""Split-K products whose partial sums cost more than the product itself."""

from collections.abc import Iterator

from xlareport.analysis.cost.roofline import estimate_time
from xlareport.analysis.cost.work import InstructionCost
from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding, Where, join_names
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's roofline time, all partial sums together."""
_OPERANDS_OF_REDUCE = 2


def split_products(case: Case) -> Iterator[Finding]:
    """Report products written in parts along a new first dimension, which a reduce adds up.

    The parts are counted where writing and reading them takes longer than the whole product by
    the roofline: then more blocks at once cannot pay for them.
    """
    result: list[tuple[float, int, Where]] = []
    for computation, instruction, cost in case.scheduled():
        parts = count_parts(case.module, computation, instruction) if cost.matrix_flops else 0
        size = instruction.shape.byte_size or 0
        seconds = case.time_of_bytes(2.0 * size * (1 - 1 / parts)) * cost.counted if parts else 0.0
        if parts and seconds > _whole(case, cost, size, parts) * cost.counted:
            result.append((seconds, size * cost.counted, (computation.name, instruction.name)))
    seconds = sum(each for each, _, _ in result)
    if case.is_noticeable(seconds, LEAST_SHARE):
        yield _finding(case, sorted(result, key=lambda item: (-item[0], item[2])), seconds)


def _finding(case: Case, products: list[tuple[float, int, Where]], seconds: float) -> Finding:
    names = join_names(name for _, _, (_, name) in products)
    written = sum(size for _, size, _ in products)
    return Finding(
        rule="split-products",
        title="Split-K matmul with costly partial sums",
        places=tuple(place for _, _, place in products[:MOST_PLACES]),
        evidence=(
            f"{units.plural(len(products), 'matmul')} ({names}): "
            f"{units.byte_size(written)} of partial sums are written and read again, "
            f"{units.share(case.share(seconds))} of the module's roofline time and longer than "
            "the unsplit matmuls need."
        ),
        suggestion=(
            "Autotune on the device that runs it, or switch the rewrite off with "
            "xla_gpu_enable_split_k_autotuning=false: splitting pays off where a matmul has fewer "
            "output tiles than the device has multiprocessors."
        ),
        grade="guessed",
        weight=seconds,
        seconds=seconds,
    )


def _whole(case: Case, cost: InstructionCost, size: int, parts: int) -> float:
    """Return the roofline seconds of one run without the split: its parts are not written."""
    least = estimate_time(cost, case.device)
    moved = (cost.main_memory_bytes or 0) - size * (1 - 1 / parts)
    return max(least.arithmetic if least else 0.0, case.time_of_bytes(max(0.0, moved)))


def count_parts(module: HloModule, computation: Computation, product: Instruction) -> int:
    """Return into how many parts a product is split; 0 where nothing adds them up."""
    dimensions = product.shape.dimensions
    count = dimensions[0] if len(dimensions) > 2 else None
    users = computation.users.get(product.name, ())
    if not count or count < 2 or not users:
        return 0
    return count if all(_adds_up(module, user, product) for user in users) else 0


def _adds_up(module: HloModule, user: Instruction, product: Instruction) -> bool:
    """Say whether all that a user makes of a value is its sum over the first dimension."""
    if user.opcode == "reduce":
        return _is_sum(module, user)
    inside = module.by_name.get(user.called[0][1]) if user.opcode == "fusion" else None
    if inside is None or product.name not in user.operand_names:
        return False
    place = user.operand_names.index(product.name)
    if place >= len(inside.parameters):
        return False
    uses = inside.users.get(inside.parameters[place].name, ())
    return bool(uses) and all(each.opcode == "reduce" and _is_sum(module, each) for each in uses)


def _is_sum(module: HloModule, reduce: Instruction) -> bool:
    called = module.by_name.get(reduce.called[0][1]) if reduce.called else None
    adds = called is not None and called.root is not None and called.root.opcode == "add"
    first = reduce.attributes.get("dimensions") == "{0}"
    return adds and first and len(reduce.operands) == _OPERANDS_OF_REDUCE
