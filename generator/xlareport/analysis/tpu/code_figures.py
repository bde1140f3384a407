"""Counts of the operations in a listing of bundles."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from xlareport.analysis.tpu.program_record import DmaCounts
from xlareport.readers.llo.bundle_operation import LloOperation
from xlareport.readers.llo.bundles import Bundle

_NO_CODE = ("inlined_call_operand", "compiler-scheduling-barrier", "sphi")
"""Beginnings of opcodes without machine code: XLA counts a bundle of them alone as empty."""
_STARTS = ("dma.hbm_to_vmem", "dma.vmem_to_hbm")
_WAITS = ("dma.done",)
_MOST_LINES = 50


class CodeFigures(Struct, frozen=True):
    """Operations of a program."""

    nonempty: int
    """Bundles that start something."""
    vmatmul: int
    spill_stores: int
    fill_loads: int
    scalar_spills: int
    scalar_fills: int
    dma: DmaCounts
    waiting: tuple[int, ...]
    """Addresses of the bundles that wait for a DMA."""


def count_code(bundles: Iterable[tuple[int, Sequence[LloOperation]]]) -> CodeFigures:
    """Count the operations of the bundles that start something."""
    opcodes: Counter[str] = Counter()
    spills: Counter[str] = Counter()
    waiting: list[int] = []
    nonempty = 0
    for address, operations in bundles:
        nonempty += not all(operation.opcode.startswith(_NO_CODE) for operation in operations)
        for operation in operations:
            opcodes[operation.opcode] += 1
            if operation.is_spill_slot:
                spills[operation.opcode.partition(".")[0]] += 1
        if any(is_dma_wait(operation.opcode) for operation in operations):
            waiting.append(address)
    return CodeFigures(
        nonempty=nonempty,
        vmatmul=sum(count for opcode, count in opcodes.items() if opcode.startswith("vmatmul")),
        spill_stores=spills["vst"],
        fill_loads=spills["vld"],
        scalar_spills=spills["sst"],
        scalar_fills=spills["sld"],
        dma=_dma(opcodes),
        waiting=tuple(waiting),
    )


def count_lines(bundles: Iterable[Bundle]) -> tuple[tuple[str, int], ...]:
    """Return source lines of a kernel with the number of bundles that execute part of them."""
    counts = Counter(
        f"{file.rpartition('/')[2]}:{line}" for bundle in bundles for file, line in bundle.sources
    )
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_LINES])


def is_dma_wait(opcode: str) -> bool:
    """Return whether an operation waits until a DMA is done."""
    return opcode.startswith(_WAITS)


def _dma(opcodes: Counter[str]) -> DmaCounts:
    all_of_them = {op: count for op, count in opcodes.items() if op.startswith("dma.")}
    waits = sum(count for opcode, count in all_of_them.items() if is_dma_wait(opcode))
    read, written = (all_of_them.get(opcode, 0) for opcode in _STARTS)
    others = sum(all_of_them.values()) - waits - read - written
    return DmaCounts(read, written, others, waits)
