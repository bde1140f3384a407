"""Facts of a module for comparisons, in addition to its summary: program, ops, estimate."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport import reader_table
from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.compare.converted_products import TypedProduct, list_typed_products
from xlareport.analysis.compare.given_program import NO_PROGRAM, Program, read_program
from xlareport.analysis.compare.loop_changes import ComparedLoop, compared_loops, time_iteration
from xlareport.analysis.compare.memory_spaces import ComparedSpace, list_spaces
from xlareport.analysis.compare.operations import (
    Operation,
    UnnamedWork,
    count_kernels,
    list_operations,
)
from xlareport.analysis.compare.placed_collectives import PlacedCollective, list_collectives
from xlareport.analysis.cost.cost_options import CostOptions, choose_device
from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.cost.roofline import measure_on_chip_share
from xlareport.analysis.cost.wire import count_sent
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.cost_report.precision_report import (
    PrecisionSum,
    list_products,
    sum_by_precision,
)
from xlareport.analysis.findings.wrapped import unwrap_operation
from xlareport.analysis.tpu.compared_programs import tpu_figures
from xlareport.analysis.tpu.module_programs import read_tpu_programs
from xlareport.analysis.tpu.program_record import TpuProgram
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import NO_CODE
from xlareport.hlo.shape import Shape
from xlareport.program import ParsedModule

_NANOSECONDS = 1e9
ESTIMATE = "least_nanoseconds"
"""The roofline time of a run by estimate; the name of the figure."""
MEMORY = ("occupied_peak_bytes", "allocated_bytes")
"""The figures of the device memory, the one that says most first."""
ITERATION = "iteration_nanoseconds"
"""The roofline time of one iteration of the loops of unknown trip count, which count once."""
COMPILE_TIME = "compile_microseconds"
WRAPPED = "fusions_of_one_instruction"
"""Fusions that a compiler wrapped around one instruction, so that nothing is fused."""


class ComparedOpcode(Struct, frozen=True):
    """The instructions of one opcode outside of fusions, in one run of a module."""

    opcode: str
    seconds: float
    """The roofline time."""
    bytes: int
    kernels: int
    """The instructions, each once."""


class Facts(Struct, frozen=True):
    """The facts of one module that are compared; unknown figures are None."""

    program: Program = NO_PROGRAM
    operations: tuple[Operation, ...] = ()
    """Of the final module, the slowest first."""
    precisions: tuple[PrecisionSum, ...] = ()
    figures: tuple[tuple[str, int], ...] = ()
    """Further figures of the final module that are known."""
    tpu: tuple[TpuProgram, ...] = ()
    """The TPU programs of its instructions; empty if the dump does not have them."""
    device: str = ""
    """For which the time is estimated."""
    opcode_work: tuple[ComparedOpcode, ...] = ()
    """Of the final module."""
    device_grade: str = ""
    """Grade of the device as in a cost report; `guessed` if nothing names it."""
    on_chip_share: float = 0.0
    """The part of the bytes accessed that is in a TPU's VMEM or CMEM; no time includes it."""
    loops: tuple[ComparedLoop, ...] = ()
    """Of the final module."""
    collective_types: tuple[tuple[tuple[str, ...], int], ...] = ()
    """Collectives of the final module by the floating-point types of their results."""
    typed_products: tuple[TypedProduct, ...] = ()
    """Of the final module."""
    spaces: tuple[ComparedSpace, ...] = ()
    """The memory spaces by number; empty if the dump has no figures of them."""
    unnamed: tuple[UnnamedWork, ...] = ()
    """Instructions of the final module without op_name that take time, the slowest first."""
    collectives: tuple[PlacedCollective, ...] = ()
    """Of the final module."""


def collect_facts(module: ParsedModule, costed: CostedModule | None) -> Facts:
    """Collect the facts of a module."""
    final = module.final.hlo if module.final else None
    program = read_program(module.snapshots[0].hlo, final) if module.snapshots else NO_PROGRAM
    if costed is None:
        return Facts(program)
    costed = _comparable(costed)
    hlo, cost, device, shares = costed.hlo, costed.cost, costed.device, costed.divided
    listed = list_operations(hlo, cost, shares)
    loops = compared_loops(hlo, cost, shares.seconds)
    files = read_tpu_programs(costed)
    tpu = files.module.programs if files.module else ()
    return Facts(
        program=program,
        operations=listed.operations,
        unnamed=listed.unnamed,
        precisions=sum_by_precision(list_products(hlo, cost, device)),
        figures=(*_further_figures(costed).items(), *_of_iteration(loops), *tpu_figures(tpu)),
        tpu=tpu,
        opcode_work=tuple(_opcode_work(hlo, cost, shares.whole)),
        device=device.name,
        device_grade=costed.device_grade,
        on_chip_share=measure_on_chip_share(cost) if device.key.startswith("tpu-") else 0.0,
        loops=loops,
        collective_types=count_collective_types(hlo),
        typed_products=list_typed_products(hlo),
        spaces=tuple(list_spaces(module, costed.backend)),
        collectives=list_collectives(hlo, cost, shares.seconds),
    )


def _of_iteration(loops: Sequence[ComparedLoop]) -> Iterator[tuple[str, int]]:
    nanoseconds = round(time_iteration(loops) * _NANOSECONDS)
    if nanoseconds:
        yield ITERATION, nanoseconds


def _comparable(costed: CostedModule) -> CostedModule:
    """Return a module on the device that its dump names, for which the roofline is the basis.

    That is the basis of all comparisons: one of two dumps may have no cycles.
    """
    chosen = choose_device(costed.module.device_words, costed.backend, CostOptions())
    if not costed.cost.has_all_cycles and chosen == (costed.device, costed.device_grade):
        return costed  # with its shares, which exist already
    cost = replace(costed.cost, has_all_cycles=False)
    return replace(costed, cost=cost, device=chosen[0], device_grade=chosen[1])


def count_collective_types(module: HloModule) -> tuple[tuple[tuple[str, ...], int], ...]:
    """Count collectives by the floating-point types of their results, as far as they have some."""
    counts: Counter[tuple[str, ...]] = Counter()
    for collective in find_collectives(module):
        computation, name = collective.body
        shape = module.by_name[computation].by_name[name].shape
        types = {array.element_type for array in _arrays(shape)}
        floats = tuple(sorted(kind for kind in types if kind.startswith(("f", "bf"))))
        if floats:
            counts[floats] += 1
    return tuple(sorted(counts.items()))


def _arrays(shape: Shape) -> Iterator[Shape]:
    """Yield the arrays of a shape; scalars, such as a loss, are of no weight and left out."""
    if not shape.elements and shape.dimensions:
        yield shape
    for element in shape.elements:
        yield from _arrays(element)


def _opcode_work(
    module: HloModule, cost: ModuleCost, times: Mapping[tuple[str, str], float]
) -> Iterator[ComparedOpcode]:
    seconds: defaultdict[str, float] = defaultdict(float)
    accessed, kernels = Counter[str](), Counter[str]()
    for computation, instruction, count in cost.placed(module):
        if instruction.opcode not in NO_CODE and not count.fused:
            key = computation.name, instruction.name
            seconds[instruction.opcode] += times.get(key, 0.0)
            accessed[instruction.opcode] += count.of_all_runs(count.bytes_accessed) or 0
            kernels[instruction.opcode] += 1
    for opcode, time in seconds.items():
        yield ComparedOpcode(opcode, time, accessed[opcode], kernels[opcode])


def _further_figures(costed: CostedModule) -> Mapping[str, int]:
    """Return the figures that the summary of a module does not have."""
    hlo, cost = costed.hlo, costed.cost
    figures: dict[str, int] = {}
    if costed.seconds is not None:
        figures[ESTIMATE] = round(costed.seconds * _NANOSECONDS)
    opcodes = Counter(instruction.opcode for instruction in hlo.instructions)
    figures["kernels"] = count_kernels(hlo, cost)
    figures["fusions"] = opcodes["fusion"]
    figures[WRAPPED] = sum(
        unwrap_operation(hlo, instruction) is not instruction for instruction in hlo.instructions
    )
    figures["collectives"] = len(find_collectives(hlo))
    figures["wire_bytes"] = count_sent(
        (traffic, instruction.counted)
        for instruction in cost.instructions.values()
        if not instruction.fused
        for traffic in instruction.traffic
    ).most
    passes = costed.module.side.of(reader_table.PASS_METADATA)
    span = passes.span if passes else None
    if span is not None:
        figures[COMPILE_TIME] = span
    return figures
