"""Memory spaces other than the device memory in a comparison: each that differs, with its bytes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.compare.memory_spaces import (
    ComparedSpace,
    SpaceChange,
    compare_spaces,
    name_device_memory,
)
from xlareport.compare import compare
from xlareport.pages.compare.first_page import compare_page
from xlareport.report import BuildOptions

HBM = ComparedSpace(0, "HBM", 100, 90)


@pytest.mark.parametrize(
    ("base", "head", "changes"),
    [
        ((8, 6), (8, 7), [SpaceChange("VMEM", "peak", 6, 7)]),
        ((8, 6), (9, 6), [SpaceChange("VMEM", "allocated", 8, 9)]),
        ((8, None), (9, 6), [SpaceChange("VMEM", "allocated", 8, 9)]),
        ((8, 6), (8, 6), []),
        (None, (9, 6), [SpaceChange("VMEM", "peak", 0, 6)]),
        ((9, 6), None, [SpaceChange("VMEM", "peak", 6, 0)]),
    ],
)
def test_spaces_that_differ(
    base: tuple[int, int | None] | None,
    head: tuple[int, int | None] | None,
    changes: list[SpaceChange],
) -> None:
    sides = [(HBM, *([ComparedSpace(1, "VMEM", *side)] if side else [])) for side in (base, head)]
    assert list(compare_spaces(*sides)) == changes


def test_a_side_without_figures_has_no_other_spaces() -> None:
    assert list(compare_spaces((), (HBM, ComparedSpace(1, "VMEM", 8, 8)))) == []


def test_the_device_memory_is_named_beside_others() -> None:
    assert name_device_memory((HBM, ComparedSpace(1, "VMEM", 8, 8))) == "HBM"
    assert name_device_memory((HBM,)) == ""
    assert name_device_memory(()) == ""


def test_the_page_has_each_space_of_a_tpu(unpacked: Callable[[str], Path]) -> None:
    pairs = unpacked("pairs-unseen")
    sides = pairs / "tpu-scan-base", pairs / "tpu-scan-dtype"
    page = compare_page(compare(*sides, BuildOptions(jobs=1), site=False).view)
    rows = {row.label: (row.base, row.head, row.change) for row in page.figures}
    assert "Memory allocated (HBM)" in rows
    assert rows["Memory allocated (VMEM)"] == ("5.3 MiB", "2.8 MiB", "\N{MINUS SIGN}46.6%")
    assert page.memory is not None
    assert page.memory.basis.startswith("HBM, ")
