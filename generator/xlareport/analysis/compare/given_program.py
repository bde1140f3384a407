"""The program that the compiler was given, as far as comparisons need it: arguments, ops, types."""

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from xlareport.analysis.compare.converted_products import TypedProduct, list_typed_products
from xlareport.analysis.compare.loop_changes import ComparedLoop, compared_loops
from xlareport.analysis.compare.moved_operations import Depth, GivenOperation, read_depths
from xlareport.analysis.compare.operations import OperationKey, key_of
from xlareport.analysis.modules.signature import Signature, read_signature
from xlareport.analysis.source.locations import op_name_of, places_of
from xlareport.analysis.source.scopes import Phase
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS, NO_CODE
from xlareport.hlo.shape import is_float_type
from xlareport.hlo.shardings.shardy_attributes import partition_spec

_MOST = 10_000
_SDY_SHARDING = re.compile(r'xla\.sdy\.sharding="((?:[^"\\]|\\.){1,10000})"')


class GivenArgument(Struct, frozen=True):
    """An argument as the program was given to the compiler."""

    label: str
    type: str
    dimensions: tuple[int | None, ...]
    donated: bool
    sharding: str
    """As JAX writes it, `P('x', None)`, where the snapshot has it; else as HLO writes it."""
    bytes: int | None
    """Of one device, as the final snapshot has it; of the whole array where none has."""


class Program(Struct, frozen=True):
    """The facts about the program in the first snapshot of a module."""

    arguments: tuple[GivenArgument, ...]
    operations: tuple[GivenOperation, ...]
    products: tuple[tuple[str, int], ...]
    """Matmuls and convolutions by the type of their first operand."""
    types: tuple[tuple[str, int], ...]
    """Instructions of floating-point results by type."""
    recomputed: int
    """Instructions that jax.checkpoint runs again."""
    barriers: int
    """Number of optimization barriers, which keep recomputed ops from being merged."""
    partitions: int
    replicas: int
    stacks: bool
    """Whether it has stack frames, which XLA writes since 2025."""
    loops: tuple[ComparedLoop, ...] = ()
    typed_products: tuple[TypedProduct, ...] = ()

    @property
    def main_type(self) -> str:
        """The type of most products; of a program without any, that of most results."""
        typed = self.products or self.types
        return max(typed, key=lambda item: (item[1], item[0]), default=("", 0))[0]


NO_PROGRAM = Program((), (), (), (), 0, 0, 1, 1, stacks=False)


def read_program(module: HloModule, final: HloModule | None = None) -> Program:
    """Read the first snapshot of a module; `final` has the arguments of one device."""
    signature = read_signature(module)
    operations: dict[OperationKey, Counter[str]] = {}
    depths: dict[OperationKey, Counter[Depth]] = {}
    products, types = Counter[str](), Counter[str]()
    place, depth_of = places_of(module), read_depths(module)
    for computation, instruction in module.placed:
        if instruction.opcode in NO_CODE:
            continue
        where = place(instruction)
        key = key_of(op_name_of(instruction, module), where.short if where else "")
        operations.setdefault(key, Counter())[instruction.opcode] += 1
        depth = depth_of.get(computation.name, Depth())
        depths.setdefault(key, Counter())[depth] += 1
        if is_float_type(instruction.shape.element_type):
            types[instruction.shape.element_type] += 1
        if instruction.opcode in MATRIX_PRODUCTS and instruction.operand_names:
            operand = computation.operand(instruction)
            products[(operand or instruction).shape.element_type] += 1
    return Program(
        arguments=tuple(_arguments(module, signature, final)),
        operations=tuple(
            GivenOperation(key, tuple(sorted(counts.items())), tuple(sorted(depths[key].items())))
            for key, counts in list(operations.items())[:_MOST]
        ),
        products=tuple(sorted(products.items())),
        types=tuple(sorted(types.items())),
        recomputed=sum(
            counts.total() for key, counts in operations.items() if key.phase is Phase.RECOMPUTED
        ),
        barriers=sum(counts["opt-barrier"] for counts in operations.values()),
        partitions=signature.partitions,
        replicas=module.replica_count,
        stacks=bool(module.stack_frames),
        loops=compared_loops(module),
        typed_products=list_typed_products(module),
    )


def _arguments(
    module: HloModule, signature: Signature, final: HloModule | None
) -> Iterator[GivenArgument]:
    """Yield the arguments; `final` says how many bytes of each are on one device."""
    held = read_signature(final).arguments if final else ()
    if len(held) != len(signature.arguments):
        held = signature.arguments
    parameters = module.parameters
    for argument, parameter, here in zip(signature.arguments, parameters, held, strict=False):
        yield GivenArgument(
            argument.label,
            parameter.shape.element_type,
            parameter.shape.dimensions,
            argument.donated,
            _spec(parameter) or argument.sharding,
            here.bytes,
        )


def _spec(parameter: Instruction) -> str:
    """Return the `PartitionSpec` of an argument; empty where the snapshot does not have it."""
    match = _SDY_SHARDING.search(parameter.attributes.get("frontend_attributes", ""))
    return partition_spec(match[1]) if match else ""
