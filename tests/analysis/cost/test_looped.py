"""Times at the most iterations of a loop that the totals count once."""

import pytest

from xlareport.analysis.cost.looped import CountedOnce, MostTime, time_at_most


@pytest.mark.parametrize(
    ("seconds", "inside", "most", "expected"),
    [
        (2.0, 2.0, 11, MostTime(22.0, 22 / 110, 0.2)),
        (2.0, 0.0, 11, MostTime(2.0, 2 / 110, 0.2)),
        (2.0, 2.0, None, MostTime(None, 0.2, 0.2)),
    ],
)
def test_a_time_in_a_loop_grows_with_its_iterations(
    seconds: float, inside: float, most: int | None, expected: MostTime
) -> None:
    loops = [CountedOnce("loop", 10.0, most)]
    result = time_at_most(seconds, inside, 10.0, loops)
    assert result.seconds == expected.seconds
    assert result.share == pytest.approx(expected.share)
    assert result.highest == pytest.approx(expected.highest)
