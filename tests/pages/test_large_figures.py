"""Large figures of an optimized module."""

import pytest

from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.pages.large_figures import least_of, main_figures


def shown(final: ModuleFigures, devices: int = 1) -> dict[str, tuple[str, str]]:
    figures = main_figures(final, devices)
    return {figure.label: (figure.value, figure.note) for figure in figures}


def test_a_figure_that_is_not_known_is_left_out() -> None:
    assert shown(ModuleFigures(instructions=7)) == {}


def test_the_peak_stands_for_the_allocations_where_it_is_known() -> None:
    both = ModuleFigures(occupied_peak_bytes=1 << 20, allocated_bytes=2 << 20)
    assert [*shown(both)] == ["Peak memory"]
    assert shown(ModuleFigures(allocated_bytes=2 << 20)) == {
        "Allocated": ("2.0 MiB", "all device allocations")
    }


def test_of_several_partitions_figures_are_those_of_one_device() -> None:
    value, note = shown(ModuleFigures(flops=2_000_000_000), 8)["FLOPs"]
    assert value == "2.00 GFLOP"
    assert note.startswith("per device, one of 8; ")


@pytest.mark.parametrize(
    ("unknown", "branches", "bound"),
    [(0, 0, ""), (1, 0, "at least; "), (0, 1, "at most; "), (1, 1, "about; ")],
)
def test_bounds_are_named(unknown: int, branches: int, bound: str) -> None:
    final = ModuleFigures(flops=1, unknown_ops=unknown, branches=branches)
    assert least_of(final) == bound
    figures = shown(final)
    assert figures["FLOPs"][1] == f"{bound}per execution, loops times trip count"
    assert ("Not counted" in figures, "Conditionals" in figures) == (unknown > 0, branches > 0)
