"""The record of a kernel: occupancy, waves, and what would change them."""

import pytest

from xlareport.analysis.kernels.card import Card, find_card, known_cards
from xlareport.analysis.kernels.kernel import kernel_record
from xlareport.analysis.kernels.kernel_resources import KernelEvidence
from xlareport.analysis.kernels.record import KernelRecord
from xlareport.readers.ptx import read_ptx
from xlareport.readers.ptxas_output import CompiledKernel
from xlareport.readers.thunks import Launch


def card() -> Card:
    found = find_card("NVIDIA H100", "sm_90a", 132, None)
    assert found is not None
    return found


def record(launch: Launch, compiled: CompiledKernel | None, text: bytes = b"") -> KernelRecord:
    (ptx,) = read_ptx(text) if text else (None,)
    evidence = KernelEvidence(
        "k", {launch: 1}, 1, ptx, compiled, "ptxas 12.9.86" if compiled else ""
    )
    return kernel_record(evidence, [("main", "fusion.1", "exact")], card(), known_cards())


def test_the_question_of_66_percent() -> None:
    """128 threads of 46 registers: 10 blocks, 62.5%; with 40 registers 12 blocks would fit."""
    own = record(Launch(13_200, 128, 0), CompiledKernel("k", "sm_90a", 46, 0, 0, 0, 0, 0))
    assert (own.occupancy, own.resident_blocks, own.limited_by) == (0.625, 10, ("registers",))
    assert own.waves == 10
    assert own.wave_efficiency == 1
    assert (own.registers_for_next, own.occupancy_of_next) == (40, 0.75)
    there = {each.device: each for each in own.elsewhere}
    assert there["nvidia-a100"].occupancy == 0.625
    assert there["nvidia-t4"].limited_by == ("threads",)
    assert there["nvidia-t4"].occupancy == 1
    assert "nvidia-h100" not in there


def test_a_tail() -> None:
    """1.5 waves take as long as two: three quarters of the blocks that could run do."""
    own = record(
        Launch(16 * 132 * 3 // 2, 128, 0), CompiledKernel("k", "sm_90a", 32, 0, 0, 0, 0, 0)
    )
    assert own.waves == pytest.approx(1.5)
    assert own.wave_efficiency == pytest.approx(0.75)


def test_bounds_that_meet_are_exact() -> None:
    """Where shared memory leaves room for one block, registers do not matter."""
    text = b".target sm_90a\n.entry k()\n.reqntid 1024\n{\n}\n"
    own = record(Launch(132, 1024, 0), None, text)
    assert own.registers is None
    assert own.registers_at_most == 64
    assert (own.occupancy_at_least, own.occupancy_at_most) == (0.5, 1.0)
    small = record(Launch(132, 1024, 200_000), None, text)
    assert (small.occupancy, small.limited_by) == (0.5, ("shared memory",))
    assert small.occupancy_at_least is None


def test_another_card_makes_a_guess() -> None:
    """The registers are those for the dump's own target."""
    from xlareport.knowledge.devices import devices

    other = find_card("NVIDIA H100", "sm_90a", None, devices()["nvidia-a100"])
    compiled = CompiledKernel("k", "sm_90a", 46, 0, 0, 0, 0, 0)
    evidence = KernelEvidence("k", {Launch(1, 128, 0): 1}, 1, None, compiled, "ptxas 12.9.86")
    own = kernel_record(evidence, [], other, ())
    (source,) = [each for each in own.sources if each.figure == "occupancy"]
    assert source.grade == "guessed"
    assert own.device == "nvidia-a100"
    assert own.grade == "guessed"


def test_what_is_not_known_is_none() -> None:
    """Without a card, and without machine code."""
    own = kernel_record(KernelEvidence("k", named=2), [], None, known_cards())
    assert (own.occupancy, own.waves, own.registers, own.shared_bytes) == (None,) * 4
    assert own.launches == 2
    assert own.note == "No file of code defines it."


def test_a_fault_of_the_assembler_is_told() -> None:
    """The reader learns why registers are not known."""
    (ptx,) = read_ptx(b".target sm_90a\n.entry k()\n{\n}\n")
    evidence = KernelEvidence(
        "k", ptx=ptx, compiler="ptxas 12.9.86", fault="Unsupported .version 99.0"
    )
    assert (
        kernel_record(evidence, [], card(), ()).note == "ptxas 12.9.86: Unsupported .version 99.0"
    )
