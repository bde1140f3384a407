"""Each rule on a kernel that has what it looks for, and on the nearest one that has not."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.kernels.card import find_card
from xlareport.analysis.kernels.kernel import kernel_record
from xlareport.analysis.kernels.kernel_findings import KernelTimes, find_kernel_findings
from xlareport.analysis.kernels.kernel_resources import KernelEvidence
from xlareport.analysis.kernels.record import KernelRecord, ModuleKernels
from xlareport.readers.ptx import read_ptx
from xlareport.readers.ptxas_output import CompiledKernel
from xlareport.readers.thunks import Launch
from xlareport.runtime.resources import find_resource

PLACE = ("main", "fusion.1")
HEAVY = KernelTimes(1e-3, {PLACE: 0.5})
LIGHT = KernelTimes(1e-3, {PLACE: 0.01})
SHORT = KernelTimes(1e-6, {PLACE: 0.5})


def kernel(
    *,
    blocks: int = 132 * 64,
    threads: int = 128,
    registers: int = 32,
    shared: int = 0,
    spills: int = 0,
    text: bytes = b"",
) -> KernelRecord:
    (ptx,) = read_ptx(b".target sm_90a\n.entry k()\n{\n" + text + b"\n}\n")
    compiled = CompiledKernel("k", "sm_90a", registers, shared, spills, spills, spills, 0)
    launches = {Launch(blocks, threads, 0): 1}
    evidence = KernelEvidence("k", launches, 1, ptx, compiled, "ptxas 12.9.86")
    card = find_card("NVIDIA H100", "sm_90a", None, None)
    return kernel_record(evidence, [(*PLACE, "exact")], card, ())


def rules(record: KernelRecord, times: KernelTimes = HEAVY) -> list[str]:
    module = ModuleKernels((record,), "", "9.0", 132, "", is_hypothetical=False, compiler="")
    return [finding.rule for finding in find_kernel_findings(module, times)]


def test_spills_are_told_however_short() -> None:
    """No kernel should spill, so the time does not matter."""
    assert rules(kernel(spills=16), SHORT) == ["kernel-spills"]
    assert rules(kernel()) == []
    amd = replace(kernel(), spilled_registers=7)
    assert rules(amd) == ["kernel-spills"]


def test_low_occupancy() -> None:
    """255 registers leave room for 2 blocks of 128 threads, 70,000 bytes for 3 of 64."""
    assert rules(kernel(registers=255)) == ["kernel-occupancy"]
    assert rules(kernel(shared=70_000, threads=64)) == ["kernel-occupancy"]


@pytest.mark.parametrize(
    ("record", "times"),
    [
        (kernel(registers=255), LIGHT),
        (kernel(registers=255), SHORT),
        (kernel(registers=255, blocks=132), HEAVY),
        (kernel(registers=255, text=b"mma.sync.aligned.m16n8k16"), HEAVY),
        (kernel(registers=255, text=b"wgmma.mma_async.sync"), HEAVY),
        (kernel(registers=64), HEAVY),
    ],
)
def test_no_low_occupancy(record: KernelRecord, times: KernelTimes) -> None:
    """A part too small, a card that is not filled, matrix units, a quarter and more."""
    assert "kernel-occupancy" not in rules(record, times)


def test_machine_code_does_not_say_whether_it_has_matrix_units() -> None:
    """A kernel of an AMD GPU may be a GEMM: nothing is said of its occupancy."""
    low = kernel(registers=255)
    assert rules(replace(low, target="gfx942")) == []
    assert rules(replace(low, target="")) == []


@pytest.mark.parametrize(
    ("waves", "tail"),
    [
        (0.5, True),
        (0.85, False),
        (1.0, False),
        (1.5, True),
        (1.7, False),
        (3.1, True),
        (4.1, False),
    ],
)
def test_tails(waves: float, tail: bool) -> None:  # noqa: FBT001 - a case
    """Waves / waves rounded up below 0.8, and fewer than four waves."""
    record = kernel(blocks=round(16 * 132 * waves))
    assert ("kernel-tail" in rules(record)) is tail
    assert "kernel-tail" not in rules(record, LIGHT)


def test_every_rule_is_in_the_guide() -> None:
    guide = (find_resource("site_src") / "guide" / "findings.md").read_text("utf-8")
    for name in ("kernel-spills", "kernel-occupancy", "kernel-tail"):
        assert f"{{ #{name} }}" in guide
