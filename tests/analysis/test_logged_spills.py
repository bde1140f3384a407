"""Spills of a log, at the kernels that they are about."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.analyzed import analyze_named

from xlareport.analysis.logged_spills import assign_spills
from xlareport.analysis.module import ModuleAnalysis
from xlareport.readers.spill_log import LoggedSpill


@pytest.fixture(scope="module")
def module(unpacked: Callable[[str], Path]) -> ModuleAnalysis:
    """Return a module whose PTX was not compiled: its spills are not known."""
    return analyze_named(unpacked("gpu-kernels") / "sm_90", "attention").analysis


def first_kernel(module: ModuleAnalysis) -> str:
    assert module.kernels is not None
    return module.kernels.kernels[0].name


def spills(module: ModuleAnalysis) -> list[tuple[str, int | None, int | None]]:
    assert module.kernels is not None
    return [
        (kernel.name, kernel.spill_bytes, kernel.spilled_registers)
        for kernel in module.kernels.kernels
        if kernel.spill_bytes or kernel.spilled_registers
    ]


def test_a_kernel_of_its_name(module: ModuleAnalysis) -> None:
    """The worst of several lines counts, as a guess: candidates of the autotuner are logged too."""
    name = first_kernel(module)
    lines = [LoggedSpill(name, "", store_bytes=8, load_bytes=bytes_) for bytes_ in (4, 16, 12)]
    (result,) = assign_spills([module], lines)
    assert spills(result) == [(name, 24, None)]
    assert result.kernels is not None
    assert result.cost is not None
    (source,) = (each for each in result.kernels.kernels[0].sources if each.grade == "guessed")
    assert (source.figure, source.source) == ("spill_bytes", "log of the compiler")
    (finding,) = (each for each in result.cost.findings if each.rule == "kernel-spills")
    assert finding.grade == "guessed"
    assert "(log of the compiler)" in finding.evidence


def test_a_name_that_two_modules_have(module: ModuleAnalysis) -> None:
    """Only the LLVM module of the line tells which is meant; without it nothing is said."""
    name = first_kernel(module)
    other = replace(
        module,
        summary=replace(module.summary, files=replace(module.summary.files, name="jit_other")),
    )
    unnamed = list(assign_spills([module, other], [LoggedSpill(name, "", store_bytes=1)]))
    assert unnamed == [module, other]
    line = LoggedSpill(name, "jit_other", 0, 7)
    first, second = assign_spills([module, other], [line])
    assert (spills(first), spills(second)) == ([], [(name, None, 7)])


def test_what_the_code_says_is_before_a_log(data: Path) -> None:
    """A code object has the count of its own kernel."""
    module = analyze_named(data / "rocm-made", "sums").analysis
    line = LoggedSpill("input_reduce_fusion", "jit_sums", 1, 2)
    assert list(assign_spills([module], [line])) == [module]


def test_a_line_that_names_no_kernel(module: ModuleAnalysis) -> None:
    """An LLVM module of a kernel's name is that kernel; of the whole module it is any of its."""
    name = first_kernel(module)
    (result,) = assign_spills([module], [LoggedSpill("", f"{name}_consts", 0, 3)])
    assert spills(result) == [(name, None, 3)]
    whole = LoggedSpill("", module.summary.files.name, 0, 3)
    assert list(assign_spills([module], [whole])) == [module]
