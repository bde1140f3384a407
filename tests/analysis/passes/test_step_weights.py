"""Steps are ranked by what they do to the program and what stays of it."""

from xlareport.analysis.modules.summary import StepSummary
from xlareport.analysis.passes.growth import Growth
from xlareport.analysis.passes.step_weights import bytes_share, weigh_steps

STEP = StepSummary(changed=True, added=1, removed=0, modified=0, headline="", weight=7.0)


def growth(accessed: int | None, partitions: int = 1) -> Growth:
    return Growth(9, 1, 0, 1, accessed, partitions)


def test_bytes_that_other_devices_access_are_no_change() -> None:
    assert bytes_share(growth(1000), growth(250, 4)) == 0
    assert bytes_share(growth(None), growth(250)) == 0
    assert bytes_share(growth(100_000), growth(100_001)) == 0


def test_partitioning_weighs_as_much_as_twice_the_bytes() -> None:
    sides = [growth(1000), growth(250, 4), growth(500, 4), growth(5000, 4)]
    assert weigh_steps([None, STEP, STEP, STEP], sides) == (0.0, 100_007.0, 100_007.0, 100_007.0)


def test_bytes_that_the_next_step_takes_back_count_once() -> None:
    """Copies that copy insertion adds first, and mostly removes."""
    sides = [growth(1000), growth(5000), growth(5000), growth(1200)]
    assert weigh_steps([None, STEP, STEP, STEP], sides) == (0.0, 20_007.0, 7.0, 7.0)
    later = [growth(1020), *sides, growth(1100)]
    assert weigh_steps([None, *[STEP] * 4, STEP], later)[2:5] == (20_007.0, 7.0, 7.0)
    less = [growth(1000), growth(5000), growth(5000), growth(900)]
    assert weigh_steps([None, STEP, STEP, STEP], less) == (0.0, 7.0, 7.0, 10_007.0)


def test_steps_without_figures_and_without_change_weigh_what_they_touch() -> None:
    same = StepSummary(changed=False, added=0, removed=0, modified=0, headline="")
    assert weigh_steps([None, STEP], ()) == (0.0, 7.0)
    assert weigh_steps((), ()) == ()
    assert weigh_steps([None, same], [growth(1), growth(2)]) == (0.0, 0.0)
