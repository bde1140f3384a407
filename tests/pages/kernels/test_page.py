"""The page on the kernels of our own dumps: of NVIDIA GPUs with bounds, of an AMD GPU."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.analyzed import analyze_named

from xlareport.analysis.dump import relate_modules
from xlareport.analysis.kernels.record import ModuleKernels
from xlareport.dump.source import open_source
from xlareport.dump_reading import ReadingOptions, analyze, begin_reading
from xlareport.pages.kernels.page import KernelsPage, kernels_page
from xlareport.pages.tables import PartPage
from xlareport.records.build import build_report
from xlareport.records.report import ModuleRecord
from xlareport.runtime.progress import silent
from xlareport.runtime.worker_pool import WorkerPool


def analyzed(folder: Path, name: str, device: str = "") -> ModuleKernels:
    kernels = analyze_named(folder, name, device).analysis.kernels
    assert kernels is not None
    return kernels


def recorded(folder: Path, name: str) -> ModuleRecord:
    with open_source(folder) as source, WorkerPool(1) as workers:
        options = ReadingOptions(pictures="none")
        analyzed = analyze(begin_reading(source, options, workers, silent, pages=True))
        report = build_report(analyzed, relate_modules(analyzed))
    return next(module for module in report.modules if name in module.name)


@pytest.fixture(scope="module")
def page(unpacked: Callable[[str], Path]) -> KernelsPage:
    folder = unpacked("gpu-kernels") / "sm_90"
    return kernels_page(recorded(folder, "attention"), analyzed(folder, "attention"))


def widths(page: PartPage) -> set[int]:
    return {
        len(row) - len(table.columns) for table in page.tables.values() for row in table.rows
    } | {0}


def test_kernels_are_ranked_by_their_time(page: KernelsPage) -> None:
    """Bounds are shown as bounds, and the page says how to know more."""
    table = page.tables["kernels"]
    assert table.sort == (1, "desc")
    assert widths(page) == {0}
    assert page.lead.startswith(f"{len(table.rows)} GPU kernels. Largest shares of roofline time:")
    assert "132 multiprocessors (core_count of gpu_target_config)" in page.card
    assert "upper bounds" in page.compiler
    assert any(" to " in kernel.summary for kernel in page.kernels)
    sentences = [text for kernel in page.kernels for text in kernel.sentences]
    assert any("registers a thread" in text for text in sentences)
    assert any("768 B of shared memory" in text for text in sentences)


def test_a_card_of_another_kind_is_ignored(unpacked: Callable[[str], Path]) -> None:
    folder = unpacked("gpu-kernels") / "sm_90"
    own = analyzed(folder, "attention", "amd-mi300x")
    page = kernels_page(recorded(folder, "attention"), own)
    assert page.card.endswith(
        "--device AMD Instinct MI300X is ignored: these kernels cannot run on it."
    )
    assert (
        "--device"
        not in kernels_page(
            recorded(folder, "attention"), analyzed(folder, "attention", "nvidia-h100")
        ).card
    )


def test_another_card_is_hypothetical(unpacked: Callable[[str], Path]) -> None:
    folder = unpacked("gpu-kernels") / "sm_90"
    own = analyzed(folder, "attention", "nvidia-a100")
    other = kernels_page(recorded(folder, "attention"), own)
    assert other.card.startswith("Hypothetical, by --device: NVIDIA A100")


def test_an_amd_gpu(data: Path) -> None:
    """Spilled registers are told, and the occupancy of whole work-groups."""
    folder = data / "rocm-made"
    page = kernels_page(recorded(folder, "sums"), analyzed(folder, "sums"))
    assert "target gfx90a, number of compute units unknown" in page.card
    assert "LLVM" in page.card
    assert page.compiler == ""
    assert [figure.value for figure in page.figures if figure.label == "Spilling"] == ["1"]
    assert "AMD Instinct MI300X" in {column.title for column in page.tables["kernel-cards"].columns}
    assert [kernel.summary for kernel in page.kernels][:2] == [
        *("100%", "50% by registers and scalar registers"),
    ]
    sentences = [text for kernel in page.kernels for text in kernel.sentences]
    assert any("1 block on a compute unit at once" in text for text in sentences)
    assert any("104 scalar registers a wavefront" in text for text in sentences)


def test_the_report_has_them(unpacked: Callable[[str], Path]) -> None:
    """report.json has every kernel, each figure with its source."""
    record = recorded(unpacked("gpu-kernels") / "sm_90", "attention")
    assert len(record.kernels) > 5
    for kernel in record.kernels:
        named = {source.figure for source in kernel.sources}
        assert {"threads", "blocks", "dynamic_shared_bytes", "registers_at_most"} <= named
        assert kernel.share is not None
    assert record.gemms is not None
    assert len(record.gemms.gemms) > 2
    assert all(gemm.loaded_bytes for gemm in record.gemms.gemms)
    assert record.tuning is not None
    assert record.tuning.results == ()
    assert record.command_buffers
