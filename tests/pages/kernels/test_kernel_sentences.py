"""A kernel in words: every figure of it, and only those that are known."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.kernels.card import find_card, known_cards
from xlareport.analysis.kernels.kernel import kernel_record
from xlareport.analysis.kernels.kernel_resources import KernelEvidence
from xlareport.analysis.kernels.record import KernelRecord, ModuleKernels
from xlareport.pages.kernels.kernel_sentences import describe_kernel, describe_occupancy
from xlareport.readers.ptxas_output import CompiledKernel
from xlareport.readers.thunks import Launch

MODULE = ModuleKernels(
    kernels=(),
    device="NVIDIA H100 SXM5",
    capability="9.0",
    multiprocessors=132,
    multiprocessors_source="",
    is_hypothetical=False,
    compiler="ptxas 12.9.86",
)


def kernel(blocks: int, threads: int, registers: int, spills: int = 0) -> KernelRecord:
    compiled = CompiledKernel("k", "sm_90a", registers, 0, spills, spills, spills, 0)
    launch = {Launch(blocks, threads, 0): 1}
    evidence = KernelEvidence("k", launch, 1, None, compiled, "ptxas 12.9.86")
    card = find_card("NVIDIA H100", "sm_90a", None, None)
    return kernel_record(evidence, [("main", "fusion.1", "exact")], card, known_cards())


def words(record: KernelRecord) -> str:
    return " ".join(describe_kernel(record, MODULE))


def test_every_question_has_its_sentence() -> None:
    """Why it is so low, what would change it, and the same launch elsewhere."""
    text = words(kernel(13_200, 128, 46))
    assert "Launched by `fusion.1`: 13,200 blocks of 128 threads." in text
    assert "46 registers a thread, 0 B of shared memory a block, no spills, by ptxas" in text
    assert "Occupancy 62.5%: 10 blocks on a multiprocessor at once." in text
    assert "threads 16, blocks 32, registers 10" in text
    assert "With at most 40 registers occupancy would be 75%." in text
    assert "10.0 waves; the last, partial one matters little." in text
    assert "NVIDIA A100 SXM4 80 GB" in text


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        (64, "68 multiprocessors get no block."),
        (3_000, "1.42 waves: over all of them 71% of the card holds a block."),
    ],
)
def test_waves(blocks: int, sentence: str) -> None:
    """16 blocks of 128 threads on each of 132 multiprocessors are one wave."""
    assert sentence in words(kernel(blocks, 128, 32))


def test_spills() -> None:
    assert "registers spilled (100 B of stores, 100 B of loads" in words(kernel(1, 128, 255, 100))


def test_what_is_not_known() -> None:
    """Nothing is said of figures that are not there."""
    bare = kernel_record(KernelEvidence("k", named=1), [], None, ())
    assert words(bare) == (
        "No instruction is known to launch it. Its resources are not known. "
        "No file of code defines it."
    )
    assert describe_occupancy(bare) == "occupancy not known"
    ranged = replace(bare, occupancy_at_least=0.5, occupancy_at_most=1.0)
    assert describe_occupancy(ranged) == "50% to 100%"
    assert describe_occupancy(kernel(1, 1024, 32)) == "100%"
    above = replace(bare, occupancy_at_most=0.5)
    assert describe_occupancy(above) == "at most 50%"


def test_pairs_of_compute_units() -> None:
    """In WGP mode the blocks are those of two compute units."""
    own = replace(kernel(1320, 128, 32), is_on_pairs=True)
    text = " ".join(describe_kernel(own, replace(MODULE, capability="gfx1100")))
    assert "16 blocks on a pair of compute units at once" in text


def test_blocks_that_do_not_fit() -> None:
    """With 72 registers 1,024 threads need more than there are."""
    assert "512 threads 25%, 1024 threads do not fit" in words(kernel(9588, 64, 72))


@pytest.mark.parametrize(
    ("strategy", "planned"),
    [
        ("KERNEL_STRATEGY_DEFAULT", "XLA plans NCCL"),
        ("KERNEL_STRATEGY_TRITON_TWO_SHOT", "XLA plans this"),
    ],
)
def test_a_kernel_of_a_collective_may_not_run(strategy: str, planned: str) -> None:
    text = words(replace(kernel(64, 512, 32), strategy=strategy))
    assert "Compiled for `fusion.1`" in text
    assert f"kernel_strategy `{strategy}`: {planned}" in text
    assert "run time" in text
