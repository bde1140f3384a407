"""Counts of the operations in a listing of bundles."""

from types import SimpleNamespace

from xlareport.analysis.tpu.code_figures import count_code, count_lines
from xlareport.readers.llo.bundle_operation import LloOperation


def operation(opcode: str, operands: str = "") -> LloOperation:
    return LloOperation("", opcode, "", negated=False, operands=operands)


SPILLED = "[#allocation3_spill]"


def test_bundles_of_operands_alone_start_nothing() -> None:
    figures = count_code(
        [(0, [operation("inlined_call_operand.vmem")]), (1, [operation("vadd.f32")]), (2, [])]
    )
    assert figures.nonempty == 1
    barrier = operation("compiler-scheduling-barrier")
    phi = operation("sphi", "%s2_s20, %s4_s20")
    bundles = [(0, [barrier, barrier]), (1, [phi, phi]), (2, [operation("2pop.sc7b"), phi])]
    assert count_code(bundles).nonempty == 1


def test_spills_are_counted_by_kind_and_direction() -> None:
    spilled = [
        (at, [operation(opcode, SPILLED)]) for at, opcode in enumerate(("vst", "vld", "sst"))
    ]
    figures = count_code([*spilled, (3, [operation("vst", "[#allocation2]")])])
    assert (figures.spill_stores, figures.fill_loads) == (1, 1)
    assert (figures.scalar_spills, figures.scalar_fills) == (1, 0)


def test_transfers_are_counted_by_direction_and_waits_by_place() -> None:
    opcodes = ("dma.hbm_to_vmem", "dma.vmem_to_hbm", "dma.general", "dma.done.wait", "vmatmul.bf16")
    figures = count_code((10 + at, [operation(opcode)]) for at, opcode in enumerate(opcodes))
    dma = figures.dma
    assert (dma.hbm_to_vmem, dma.vmem_to_hbm, dma.others, dma.waits) == (1, 1, 1, 1)
    assert figures.waiting == (13,)
    assert figures.vmatmul == 1


def test_source_lines_are_sorted_by_their_bundles() -> None:
    bundles = [
        SimpleNamespace(sources=(("/a/kernel.py", "7"), ("/a/kernel.py", "9"))),
        SimpleNamespace(sources=(("/a/kernel.py", "9"),)),
    ]
    assert count_lines(bundles) == (("kernel.py:9", 2), ("kernel.py:7", 1))
