"""Which step is named, from differences alone."""

import pytest

from xlareport.replay.first_difference import (
    Departure,
    OutputDifference,
    StageRun,
    Tolerance,
    choose_tolerance,
    find_departure,
    first_rounding,
)


def runs(*errors: float | str | None) -> list[StageRun]:
    return [
        StageRun(str(place), "", ran=False, reason=error)
        if isinstance(error, str)
        else StageRun(str(place), "", ran=True, reason="", difference=OutputDifference(error, 0))
        for place, error in enumerate(errors)
    ]


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ((0.0, 1e-7, 2e-6), None),
        ((0.0, 1e-7, 0.5, 0.5), Departure(2, 1)),
        ((0.0, None, 0.0), Departure(1, 0)),
        ((0.0, "refused", "refused", 0.1), Departure(3, 0)),
        (("refused", 0.0, 0.1), Departure(2, 1)),
        (("refused", "refused"), None),
        ((), None),
    ],
)
def test_the_first_run_beyond_the_tolerance(
    errors: tuple[float | str | None, ...], expected: Departure | None
) -> None:
    assert find_departure(runs(*errors), Tolerance(1e-5, "")) == expected


def test_the_first_change_of_the_last_bits() -> None:
    assert first_rounding(runs(0.0, 0.0, "refused", 1e-7, 1e-7)) == Departure(3, 1)
    assert first_rounding(runs(0.0, 0.0)) is None


def test_a_tolerance_follows_the_coarsest_type() -> None:
    assert choose_tolerance(["float32", "bfloat16"], None).limit == 8 * 2**-7
    assert choose_tolerance(["float32"], None).limit == 100 * 2**-23
    assert choose_tolerance([], None).limit == 0


def test_a_program_that_rounds_badly_gets_a_wider_one() -> None:
    assert choose_tolerance(["float32"], 1e-3).limit == 8e-3
    assert choose_tolerance(["float32"], 1e-9).limit == 100 * 2**-23
