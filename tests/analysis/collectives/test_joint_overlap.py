"""What collectives hide together at most, with each piece of work used once."""

import pytest

from xlareport.analysis.collectives.joint_overlap import maximum_flow


@pytest.mark.parametrize(
    ("limits", "work", "expected"),
    [
        ([3.0, 4.0], [["a"], ["a"]], 5.0),
        ([3.0, 4.0], [["a"], ["a", "b"]], 7.0),
        ([6.0, 6.0], [["a", "b"], ["a"]], 7.0),
        ([1.0, 1.0], [["a"], ["b"]], 2.0),
        ([5.0, 2.0, 2.0], [["a", "b"], ["a"], ["b"]], 7.0),
        ([4.0], [[]], 0.0),
    ],
)
def test_each_piece_of_work_hides_its_own_time(
    limits: list[float], work: list[list[str]], expected: float
) -> None:
    assert maximum_flow(limits, work, {"a": 5.0, "b": 2.0}) == pytest.approx(expected)
