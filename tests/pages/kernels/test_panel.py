"""Figures of kernels at the instruction that launches them."""

from msgspec.structs import replace

from xlareport.analysis.kernels.card import find_card
from xlareport.analysis.kernels.kernel import kernel_record
from xlareport.analysis.kernels.kernel_resources import KernelEvidence
from xlareport.analysis.kernels.record import ModuleKernels
from xlareport.pages.kernels.panel import kernel_facts
from xlareport.readers.ptxas_output import CompiledKernel
from xlareport.readers.thunks import Launch

COMPILED = CompiledKernel("k", "sm_90a", 46, 512, 0, 8, 16, 0)
PLACE = ("main", "fusion.1")


def kernels(*records: object) -> ModuleKernels:
    return ModuleKernels(records, "", "9.0", 132, "", is_hypothetical=False, compiler="")  # type: ignore[arg-type]


def test_figures_that_are_known() -> None:
    """A row for each; what is not known has none."""
    card = find_card("NVIDIA H100", "sm_90a", None, None)
    launches = {Launch(1320, 128, 0): 1}
    evidence = KernelEvidence("k", launches, 1, None, COMPILED, "ptxas 12.9.86")
    record = kernel_record(evidence, [(*PLACE, "exact")], card, ())
    facts = kernel_facts(kernels(record, replace(record, name="other", instructions=())))
    assert facts == {
        PLACE: [
            ["Kernel", "k"],
            ["Launch", "1,320 blocks of 128 threads"],
            ["Registers", "46"],
            ["Shared memory", "512 B"],
            ["Spills", "24 B"],
            ["Occupancy", "62.5% by registers"],
            ["Waves", "1"],
        ]
    }


def test_nothing_is_known() -> None:
    record = kernel_record(KernelEvidence("k", named=1), [(*PLACE, "exact")], None, ())
    assert kernel_facts(kernels(record)) == {PLACE: [["Kernel", "k"]]}
    assert kernel_facts(None) == {}
