"""What collectives hide together at most, with each piece of work used once."""

import sys

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


def test_without_work_beside_several_collectives_no_graph_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    times = {"a": 5.0, "b": 2.0, "none": 0.0}
    work = [["a", "none"], ["b", "none"]]

    assert maximum_flow([4.0, 4.0], work, times) == 6.0
    assert maximum_flow([4.0, 4.0], [["none"], ["none"]], times) == 0.0
