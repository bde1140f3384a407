"""The verdict on memory: by the peak, and by what is allocated where only that changed."""

import pytest

from xlareport.analysis.compare.verdict import Basis, Direction, judge_figures

SAME, MORE, LESS = 1_000_000, 1_500_000, 500_000


@pytest.mark.parametrize(
    ("peaks", "allocated", "direction", "basis"),
    [
        ((SAME, MORE), (SAME, LESS), Direction.MORE, Basis.PEAK),
        ((SAME, SAME), (SAME, LESS), Direction.LESS, Basis.ALLOCATED),
        ((SAME, SAME), (SAME, SAME), Direction.SAME, Basis.PEAK),
        ((SAME, SAME), (SAME, None), Direction.SAME, Basis.PEAK),
        ((SAME, None), (SAME, MORE), Direction.MORE, Basis.ALLOCATED),
    ],
)
def test_memory_is_judged_by_what_changed(
    peaks: tuple[int, int | None],
    allocated: tuple[int, int | None],
    direction: Direction,
    basis: Basis,
) -> None:
    base, head = (
        {"occupied_peak_bytes": peak, "allocated_bytes": size}
        for peak, size in zip(peaks, allocated, strict=True)
    )
    memory = judge_figures(base, head).memory
    assert (memory.direction, memory.basis) == (direction, basis)


def test_without_figures_memory_is_not_judged() -> None:
    assert judge_figures({}, {}).memory.direction is Direction.UNKNOWN
