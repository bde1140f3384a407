"""Figures of two dumps in words: what is better, worse, the same, new or not known."""

from types import SimpleNamespace
from typing import Any

import pytest

from xlareport.analysis.compare.comparison import Quantity, compare_figure
from xlareport.analysis.compare.memory_spaces import SpaceChange
from xlareport.analysis.compare.module_facts import ESTIMATE, ITERATION
from xlareport.pages.compare.compared_figures import (
    FigureRow,
    describe_iteration,
    figure_name,
    figure_rows,
    figures_differ,
    written,
)

MIB = 1 << 20


def rows(*figures: Quantity, **changes: Any) -> tuple[FigureRow, ...]:
    members = {"device_memory": "HBM", "memory_spaces": (), "collectives": (), "precisions": ()}
    by_name = {figure.name: figure for figure in figures}
    compared: Any = SimpleNamespace(by_name=by_name, **(members | changes))
    return figure_rows(compared)


@pytest.mark.parametrize(
    ("quantity", "row"),
    [
        (
            compare_figure("allocated_bytes", 4 * MIB, 3 * MIB),
            FigureRow(
                *("Memory allocated (HBM)", "4.0 MiB", "3.0 MiB", "\N{MINUS SIGN}25.0%"),
                "xr-better",
            ),
        ),
        (
            compare_figure("kernels", 0, 3),
            FigureRow("Instructions outside fusions", "0", "3", "new", "xr-worse"),
        ),
        (
            compare_figure("fusions", 2, 4),
            FigureRow("Fusions", "2", "4", "+100.0%", ""),
        ),
        (
            compare_figure("instructions", 5, None),
            FigureRow("Instructions", "5", "not known", "not known", ""),
        ),
        (
            compare_figure("flops", 8, 8),
            FigureRow("FLOPs", "8 FLOP", "8 FLOP", "the same", ""),
        ),
    ],
)
def test_a_figure_says_whether_it_is_better(quantity: Quantity, row: FigureRow) -> None:
    assert rows(quantity) == (row,)


def test_a_few_bytes_of_many_are_written_as_their_difference() -> None:
    (row,) = rows(compare_figure("bytes_accessed", 4000 * MIB, 4000 * MIB + 64))
    assert (row.change, row.look) == ("+64 B", "")


def test_figures_that_are_0_on_both_sides_are_left_out_and_others_in_their_order() -> None:
    figures = [
        compare_figure("instructions", 3, 4),
        compare_figure("collectives", 0, 0),
        compare_figure(ESTIMATE, 2000, 1000),
    ]
    shown = rows(
        *figures,
        memory_spaces=(SpaceChange("VMEM", "peak", 512, 1024),),
        collectives=(("all-reduce", 1, 2),),
        precisions=(("bf16", 10, 20),),
    )
    assert [(row.label, row.look) for row in shown] == [
        ("Estimated time per run (roofline)", "xr-better"),
        ("Peak memory (VMEM)", ""),
        ("Collectives: all-reduce", ""),
        ("Instructions", ""),
        ("FLOPs of bf16 matmuls", ""),
    ]


def test_units_follow_the_name_of_a_figure() -> None:
    names = ("x_nanoseconds", "x_microseconds", "x_bytes", "flops", "kernels")
    values = [written(name, 2048) for name in names]
    assert values == ["2.05 µs", "2.05 ms", "2.0 KiB", "2.05 kFLOP", "2,048"]
    assert written("flops", None) == "not known"
    assert figure_name("flops") == "FLOPs"
    assert figure_name("other") == "other"


def test_only_figures_of_both_sides_can_differ() -> None:
    assert not figures_differ([compare_figure("a", None, 3), compare_figure("b", 2, 2)])
    assert figures_differ([compare_figure("b", 2, 2), compare_figure("c", 2, 3)])


_ONCE = "The estimate counts loops of unknown trip count once: an iteration takes "


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        (75_000, f"{_ONCE}75 \N{MICRO SIGN}s instead of 150 \N{MICRO SIGN}s (50.0% less)."),
        (150_001, ""),
        (None, ""),
    ],
)
def test_the_change_of_an_iteration_that_the_estimate_counts_once(
    head: int | None, sentence: str
) -> None:
    figure = compare_figure(ITERATION, 150_000, head)
    compared: Any = SimpleNamespace(by_name={ITERATION: figure})
    assert describe_iteration(compared) == sentence
