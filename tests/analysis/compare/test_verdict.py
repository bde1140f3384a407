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


KIB = 1024


@pytest.mark.parametrize(
    ("name", "base", "head", "direction", "floor"),
    [
        ("occupied_peak_bytes", 4 * KIB, 6 * KIB, Direction.SAME, 16 * KIB),
        ("occupied_peak_bytes", 0, 6 * KIB, Direction.SAME, 16 * KIB),
        ("occupied_peak_bytes", 4 * KIB, 20 * KIB, Direction.MORE, 0),
        ("occupied_peak_bytes", 4096 * KIB, 4097 * KIB, Direction.SAME, 0),
        ("least_nanoseconds", 80, 160, Direction.SAME, 100),
        ("least_nanoseconds", 160, 80, Direction.SAME, 100),
        ("least_nanoseconds", 80, 180, Direction.MORE, 0),
    ],
)
def test_a_change_of_no_weight_is_none(
    name: str, base: int, head: int, direction: Direction, floor: int
) -> None:
    verdict = judge_figures({name: base}, {name: head})
    judged = verdict.memory if name.endswith("bytes") else verdict.time
    assert (judged.direction, judged.floor, judged.is_resolved) == (direction, floor, True)


def test_without_figures_memory_is_not_judged() -> None:
    assert judge_figures({}, {}).memory.direction is Direction.UNKNOWN
