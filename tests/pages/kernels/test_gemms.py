"""The tables of matrix products and of results of autotuning."""

from pathlib import Path

from tests.pages.records_of_modules import module

from xlareport.analysis.kernels.gemms import GemmRecord, ModuleGemms
from xlareport.pages.kernels.gemms import describe_gemm, tabulate_gemms, tabulate_tuning
from xlareport.readers.autotune_results import read_autotune_results

FILE = Path(__file__).parents[2] / "readers/data/autotune_results.pbtxt"
GEMM = GemmRecord(
    computation="main",
    instruction="gemm",
    made_by="Triton",
    algorithm="",
    tile=(1, 32, 64),
    warps=4,
    stages=3,
    result=(4, 256, 512),
    contracted=196,
    split_k=4,
    operand_bytes=100,
    loaded_bytes=800,
    partial_bytes=64,
)
GEMMS = ModuleGemms((GEMM, GEMM), (32, 64))


def test_what_is_said_of_all() -> None:
    """One tile for all, and whether anything was measured."""
    same = "2 GEMMs. Every Triton GEMM has the same tile, 32x64, for all sizes."
    assert describe_gemm(GEMMS, None) == same
    assert "has no results: nothing was measured" in describe_gemm(GEMMS, ())
    results, _ = read_autotune_results(FILE.read_bytes(), "x")
    assert describe_gemm(GEMMS, results).endswith("autotune_results holds 6 results.")


def test_a_row_for_each() -> None:
    """With the traffic of its tiles and of split-K."""
    table = tabulate_gemms(module("main"), GEMMS)
    link, *cells = table.rows[0]
    assert link == ["gemm", "m/k.html?code#unit=gemm"]
    assert cells[:5] == ["Triton", "4x256x512", 196, "1x32x64", 4]
    assert cells[5:8] == [100, 800, 64]
    assert len(table.rows[0]) == len(table.columns)


def test_results_have_a_row_each() -> None:
    """The slowest first; what the file does not say is not known."""
    results, _ = read_autotune_results(FILE.read_bytes(), "x")
    table = tabulate_tuning(results)
    assert table.sort == (1, "desc")
    made_by = [row[0] for row in table.rows]
    assert made_by == ["Triton", "cuDNN", "custom kernel", "cuBLAS", None, "NATIVE_EMITTER"]
    assert table.rows[0][1] == 17.44
    assert table.rows[1][1] is None
    assert "split_k 4" in str(table.rows[0][2])
