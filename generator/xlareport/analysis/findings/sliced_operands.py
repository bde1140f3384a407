"""Slice copied before a matmul.

In a loop, a dynamic-slice, or a fusion that only slices, writes parts of larger arrays to memory,
and only matmuls read them. The stacked weights of a scan over layers and a stacked KV cache are
examples. The slices take 2% or more of the estimated time. A matmul that reads the part in place
needs no copy. A slice into another memory space, such as the VMEM of a TPU, counts if the compiler
gives its estimated cycles, less the time to read it once from HBM: what is asynchronous is a
prefetch and is not reported.
"""

from collections.abc import Iterator, Sequence

from xlareport.analysis.cost.layout_spaces import space_of
from xlareport.analysis.cost.work import InstructionCost
from xlareport.analysis.findings.arguments import name_argument
from xlareport.analysis.findings.finding import (
    MOST_PLACES,
    Case,
    Finding,
    describe_executions,
    join_names,
)
from xlareport.hlo.graph import readers_behind
from xlareport.hlo.model import Computation, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import ALIASES, NO_CODE, REARRANGEMENTS
from xlareport.hlo.shape import without_layout
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable

LEAST_SHARE = 0.02
"""Of the module's roofline time."""
_COPIES = REARRANGEMENTS | NO_CODE | {"dynamic-slice"}
_AS_SEPARATE_ARRAYS = (
    "Pass the parts as separate arrays, or unroll the loop (unroll of jax.lax.scan), so that a "
    "product reads its operand where it is."
)
_IN_PLACE = (
    "Check --xla_gpu_enable_dynamic_slice_fusion, by which library calls read a slice in place. "
)


def sliced_operands(case: Case) -> Iterator[Finding]:
    """Report slices in loops that are written to memory for matmuls alone."""
    for computation, instruction, cost in case.scheduled:
        seconds = _spared_seconds(case, instruction, cost) if cost.counted > 1 else 0.0
        if not case.is_noticeable(seconds, LEAST_SHARE):
            continue
        sources = _sliced(case, instruction)
        products = _products(case, computation, instruction) if sources else ()
        if products:
            place = computation.name, instruction.name
            yield _finding(case, place, seconds, sources, products)


def _spared_seconds(case: Case, slicing: Instruction, cost: InstructionCost) -> float:
    """Return the time of all runs that is spared if nothing is copied; 0 of a prefetch."""
    seconds = case.least(cost)
    if not _leaves_device_memory(slicing):
        return seconds
    if cost.cycles is None or not case.basis.clock:
        return 0.0
    read = case.time_of_bytes(slicing.shape.byte_size or 0) * cost.counted
    return max(0.0, seconds - read)


def _leaves_device_memory(slicing: Instruction) -> bool:
    return any(space_of(shape.text) for shape in slicing.shape.members)


def _finding(
    case: Case,
    place: InstructionKey,
    seconds: float,
    sources: Sequence[str],
    products: Sequence[Instruction],
) -> Finding:
    slicing, cost = case.module.by_name[place[0]].by_name[place[1]], case.cost.instructions[place]
    into = " to VMEM" if case.backend == "tpu" and _leaves_device_memory(slicing) else ""
    readers = join_names(product.name for product in products)
    is_call = any(product.opcode == "custom-call" for product in products)
    return Finding(
        title="Slice copied before a matmul",
        places=(place, *((place[0], product.name) for product in products))[:MOST_PLACES],
        occurrences=1,
        evidence=(
            f"`{slicing.name}` copies {units.byte_size(slicing.shape.byte_size or 0)} of "
            f"{_describe(case, place[0], sources)}{into} for {readers}"
            f"{describe_executions(cost.counted)}: {case.share_words(seconds)}."
        ),
        suggestion=(_IN_PLACE if is_call and case.backend == "gpu" else "") + _AS_SEPARATE_ARRAYS,
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _describe(case: Case, computation: str, names: Sequence[str]) -> str:
    """Return the sliced arrays as words: arguments by their names, with the shape of the first."""
    home = case.module.by_name[computation]
    words = [name_argument(case.module, home, name) or name for name in names]
    source = home.by_name.get(names[0])
    return join_names(words) + (f", {without_layout(source.shape.text)}," if source else "")


def _sliced(case: Case, slicing: Instruction) -> tuple[str, ...]:
    """Return the arrays whose parts an instruction copies; empty if it does anything else."""
    if slicing.opcode == "dynamic-slice":
        return slicing.operand_names[:1]
    inside = case.module.callee(slicing) if slicing.opcode == "fusion" else None
    if inside is None:
        return ()
    data = [inner for inner in inside.instructions if inner.shape.dimensions]
    if not all(inner.opcode in _COPIES for inner in data):
        return ()
    origins = [
        _origin(inside, inner).name
        for inner in inside.instructions
        if inner.opcode == "dynamic-slice"
    ]
    parameters = [parameter.name for parameter in inside.parameters]
    by_parameter = dict(zip(parameters, slicing.operand_names, strict=False))
    return tuple(dict.fromkeys(by_parameter.get(origin, origin) for origin in origins))


def _origin(computation: Computation, slicing: Instruction) -> Instruction:
    """Return what a slice is cut from, before moves of the whole."""

    def first_operand(instruction: Instruction) -> list[Instruction]:
        operand = computation.operand(instruction)
        return [operand] if operand else []

    *_, origin = reachable([slicing], first_operand)
    return origin


def _products(
    case: Case, computation: Computation, slicing: Instruction
) -> tuple[Instruction, ...]:
    """Return the matmuls that read a value; empty where anything else reads it too."""
    readers = tuple(readers_behind(computation, slicing.name, ALIASES))
    costs = [case.cost.instructions.get((computation.name, reader.name)) for reader in readers]
    return readers if all(cost and cost.matrix_flops for cost in costs) else ()
