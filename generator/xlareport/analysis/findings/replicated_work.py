"""Work replicated over devices.

Several devices compute the same dots, convolutions, FFTs, Cholesky decompositions or triangular
solves: all devices together do at least 1.5 times the FLOPs of the program for them. FLOPs before
and after the SPMD partitioner are compared by op_name and source line, which needs the dump of the
passes (`--xla_dump_hlo_pass_re=.*`). The finding appears if the needless part takes 3% or more of
the module's time; that is the upper bound of the saving, without the collectives that a division
may need. The bodies of `shard_map` do not count. A reshape is named if its operand is cut into more
parts than its result.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.shardings.replicated_products import UNDIVIDED, ReplicatedProduct
from xlareport.analysis.source.locations import op_name_of
from xlareport.hlo.model import Computation, Instruction, InstructionKey

LEAST_SHARE = 0.03
"""Of the module's time."""
_MOST_CALLS = 8
"""Fusions in one another around a product."""


def replicated_work(case: Case) -> Iterator[Finding]:
    """Report products of which several devices compute the same, together."""
    seconds = _time_products(case, {product.op_name for product in case.replicated})
    needless = {
        product.op_name: product.needless * sum(seconds[product.op_name].values())
        for product in case.replicated
        if product.op_name in seconds
    }
    saved = sum(needless.values())
    if case.replicated and case.is_noticeable(saved, LEAST_SHARE):
        products = sorted(
            (product for product in case.replicated if product.op_name in needless),
            key=lambda product: -needless[product.op_name],
        )
        places = [place for product in products for place in _longest(seconds[product.op_name])]
        yield _finding(case, products, list(dict.fromkeys(places)), saved)


def _longest(seconds: dict[InstructionKey, float]) -> list[InstructionKey]:
    return sorted(seconds, key=lambda place: (-seconds[place], place))


def _finding(
    case: Case,
    products: Sequence[ReplicatedProduct],
    places: Sequence[InstructionKey],
    saved: float,
) -> Finding:
    first, devices = products[0], case.module.partition_count
    times = f"{first.times:,.1f}".removesuffix(".0")
    reshape = next((product.reshape for product in products if product.reshape), "")
    lost = (
        f" The result of the reshape `{reshape}`, in the snapshot before SPMD partitioning, is cut "
        "into fewer parts than its operand."
        if reshape
        else ""
    )
    return Finding(
        title="Work replicated over devices",
        places=tuple(places),
        evidence=(
            f"{join_names(product.op_name for product in products)}: several devices compute the "
            f"same, which takes at most {case.time_words(saved)}. All {devices:,} devices together "
            f"do {times} times the FLOPs of the program for `{first.op_name}`.{lost}"
        ),
        suggestion=_remedy(first, reshape),
        grade="matched",
        weight=saved,
        seconds=saved,
    )


def _remedy(product: ReplicatedProduct, reshape: str) -> str:
    if product.opcode in UNDIVIDED:
        return _UNDIVIDED.format(opcode=product.opcode)
    return _RESHAPED if reshape else _DIVIDE


_UNDIVIDED = (
    "The SPMD partitioner did not divide the {opcode}. In jax.shard_map over the sharded batch "
    "dimensions each device computes its own batch entries, and the operand is not gathered."
)
_RESHAPED = (
    "A reshape keeps a sharding only of the first of the dimensions that it merges: from [T, B] to "
    "[T*B], one of B is lost. Put the sharded dimension first, leave the dimensions apart "
    "(jax.vmap), or shard T instead."
)
_DIVIDE = (
    "Divide one more dimension of the operands along the mesh axis that none of them uses, for "
    "example the batch along all axes (in_shardings, or jax.lax.with_sharding_constraint). A "
    "divided contracting dimension needs an all-reduce: a small matmul can be faster replicated."
)


def _time_products(case: Case, op_names: set[str]) -> dict[str, dict[InstructionKey, float]]:
    """Return the time of the products of each op_name, by what runs them.

    A product has the part of a fusion's time that it has of its matmul FLOPs.
    """
    seconds: defaultdict[str, dict[InstructionKey, float]] = defaultdict(dict)
    for computation, instruction, cost in case.cost.placed(case.module) if op_names else ():
        op_name = op_name_of(instruction, case.module)
        is_alone = instruction.opcode in UNDIVIDED
        is_product = bool(cost.matrix_flops) and instruction.opcode != "fusion"
        if op_name not in op_names or not (is_alone or is_product):
            continue
        place, holder = _holder(case, computation, instruction)
        whole = case.cost.instructions.get((place.name, holder.name))
        if whole is None:
            continue
        own, all_of_it = (sum(flops for _, flops in item.matrix_flops) for item in (cost, whole))
        share = 1.0 if is_alone else min(1.0, own / all_of_it) if all_of_it else 0.0
        key = place.name, holder.name
        seconds[op_name][key] = seconds[op_name].get(key, 0.0) + case.least(whole) * share
    return dict(seconds)


def _holder(
    case: Case, computation: Computation, instruction: Instruction
) -> tuple[Computation, Instruction]:
    """Return the outermost fusion that runs an instruction, or the instruction itself."""
    for _ in range(_MOST_CALLS):
        around = case.fusions.get(computation.name)
        if around is None:
            break
        computation, instruction = around
    return computation, instruction
