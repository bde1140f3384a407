"""Figures of one kernel, by the files that say them; without machine code they are bounds."""

from xlareport.analysis.kernels.kernel_resources import KernelEvidence, find_resources
from xlareport.knowledge.multiprocessors import multiprocessors
from xlareport.readers.gpu_objects import ObjectKernel
from xlareport.readers.ptx import read_ptx
from xlareport.readers.ptxas_output import CompiledKernel
from xlareport.readers.thunks import Launch

HOPPER = multiprocessors()["9.0"]
TEXT = b"""
.target sm_90a
.entry k()
.reqntid 1024
{
    .shared .align 4 .b8 s[1024];
}
"""
COMPILED = CompiledKernel("k", "sm_90a", 40, 512, 8, 16, 24, 1)


def sources(resources: object) -> dict[str, tuple[str, str]]:
    return {each.figure: (each.grade, each.source) for each in resources.sources}  # type: ignore[attr-defined]


def test_bounds_of_a_text() -> None:
    """1,024 threads leave 64 registers for each; declared memory may be dropped."""
    (ptx,) = read_ptx(TEXT)
    resources = find_resources(KernelEvidence("k", ptx=ptx), HOPPER)
    assert (resources.threads, resources.blocks, resources.registers) == (1024, None, None)
    assert (resources.registers_at_most, resources.shared, resources.shared_at_most) == (
        64,
        None,
        1024,
    )
    assert sources(resources)["threads"] == ("exact", ".reqntid of the PTX")


def test_the_assembler() -> None:
    """Its figures are exact for its version, and bounds go."""
    (ptx,) = read_ptx(TEXT)
    evidence = KernelEvidence("k", {Launch(8, 1024, 100): 2}, 2, ptx, COMPILED, "ptxas 12.9.86")
    resources = find_resources(evidence, HOPPER)
    assert (resources.registers, resources.registers_at_most, resources.shared) == (40, None, 612)
    assert (resources.stack_bytes, resources.spill_store_bytes, resources.spill_load_bytes) == (
        8,
        16,
        24,
    )
    assert sources(resources)["registers"] == ("exact", "ptxas 12.9.86 for sm_90a")
    assert sources(resources)["dynamic_shared_bytes"] == ("exact", "thunk sequence")


def test_machine_code_is_before_the_assembler() -> None:
    """It is what ran; spills of NVIDIA's are not in it."""
    machine = ObjectKernel("k", 48, 256, 0, None, "cubin (.nv.info)")
    evidence = KernelEvidence(
        "k", {Launch(8, 64, 0): 1}, 1, None, COMPILED, "ptxas 12.9.86", machine
    )
    resources = find_resources(evidence, HOPPER)
    assert (resources.registers, resources.shared, resources.spill_store_bytes) == (48, 256, None)
    assert sources(resources)["registers"] == ("exact", "cubin (.nv.info)")


def test_several_launches() -> None:
    """The one that is named most often counts, and the figure is no longer exact."""
    evidence = KernelEvidence("k", {Launch(8, 64, 0): 1, Launch(9, 128, 0): 3}, 4)
    resources = find_resources(evidence, HOPPER)
    assert (resources.threads, resources.blocks) == (128, 9)
    assert sources(resources)["threads"][0] == "matched"


def test_nothing_is_known() -> None:
    """A kernel that only a thunk names, on a card that is not known."""
    resources = find_resources(KernelEvidence("k", named=1), None)
    assert (resources.threads, resources.registers_at_most, resources.shared_at_most) == (
        None,
        None,
        None,
    )
    assert resources.sources == ()
