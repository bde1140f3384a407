"""f32 matmul of upcast bf16 inputs.

The program converts both operands of a dot from 16 to 32 bits. Multiply in the narrow type and set
`preferred_element_type` for a wide accumulator, unless you need the accuracy. Dots that no matrix
unit computes are omitted: dots of two vectors, dots without a contracting dimension, and dots that
become elementwise operations.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import parse_integers
from xlareport.analysis.findings.finding import Case, Finding
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS, REARRANGEMENTS

_NARROW = frozenset({"bf16", "f16"})
_WIDE = frozenset({"f32", "f64"})
_RENAMING = REARRANGEMENTS | {"broadcast"}
_PRODUCTS = MATRIX_PRODUCTS | {"custom-call"}
_LONGEST_WAY = 20
LEAST_ELEMENTS = 1 << 14
"""Of each operand."""


def wide_products(case: Case) -> Iterator[Finding]:
    """Report dots whose operands were both converted from a narrow type by the framework."""
    module = case.before or case.module
    became = case.module if case.is_optimized and case.before is not None else None
    for computation, instruction in _dots(module):
        sources = [_source(computation, name) for name in instruction.operand_names[:2]]
        narrower = [source for source in sources if source is not None]
        if len(narrower) < 2 or (became is not None and _is_elementwise_in(became, instruction)):
            continue
        narrow, wide = narrower[0].shape.element_type, instruction.shape.element_type
        yield Finding(
            title=f"{wide} matmul of upcast {narrow} inputs",
            places=(
                (computation.name, instruction.name),
                *((computation.name, source.name) for source in narrower),
            ),
            evidence=(
                f"`{instruction.name}` multiplies {wide}; its operands are upcast from {narrow} "
                f"(`{narrower[0].name}`, `{narrower[1].name}`)."
            ),
            occurrences=1,
            suggestion=(
                f"Multiply in {narrow} and set preferred_element_type={wide} in JAX: a wide "
                "accumulator at the speed of the narrow matmul."
            ),
            grade="exact",
            weight=case.time_of_bytes(
                sum(float(source.shape.byte_size or 0) for source in narrower)
            ),
        )


def _dots(module: HloModule) -> Iterator[tuple[Computation, Instruction]]:
    for computation, instruction in module.placed:
        is_wide = instruction.shape.element_type in _WIDE
        if instruction.opcode == "dot" and is_wide and _is_matmul(computation, instruction):
            yield computation, instruction


def _is_matmul(computation: Computation, dot: Instruction) -> bool:
    """Return whether a dot sums over more than one element and has more than one result."""
    left = computation.operand(dot)
    try:
        numbers = parse_integers(dot.attributes.get("lhs_contracting_dims", ""))
    except UncountableError:
        return False
    sizes = left.shape.dimensions if left else ()
    contracted = [sizes[number] for number in numbers if number < len(sizes)]
    return dot.shape.element_count != 1 and any(size != 1 for size in contracted)


def _is_elementwise_in(module: HloModule, dot: Instruction) -> bool:
    """Return whether its op_name is in the final module, and on no matmul or library call."""
    own = dot.metadata.op_name
    alike = [
        instruction
        for instruction in module.instructions
        if own and f"/{instruction.metadata.op_name}".endswith(f"/{own}")
    ]
    return bool(alike) and not any(_multiplies(module, line) for line in alike)


def _multiplies(module: HloModule, instruction: Instruction) -> bool:
    inside = module.callees(instruction)
    lines = (instruction, *(line for held in inside for line in held.instructions))
    return any(line.opcode in _PRODUCTS for line in lines)


def _source(computation: Computation, name: str) -> Instruction | None:
    """Return the narrow value from which an operand was converted; None where it was not."""
    instruction = computation.by_name.get(name)
    for _ in range(_LONGEST_WAY):
        if instruction is None or not instruction.operands:
            return None
        source = computation.operand(instruction)
        if instruction.opcode == "convert":
            narrow = source is not None and source.shape.element_type in _NARROW
            large = (instruction.shape.element_count or 0) >= LEAST_ELEMENTS
            return source if narrow and large else None
        if instruction.opcode not in _RENAMING:
            return None
        instruction = source
    return None
