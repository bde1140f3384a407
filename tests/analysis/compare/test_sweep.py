"""Which of several dumps is not like the others."""

from xlareport.analysis.compare.sweep import Member, Outlier, find_outlier


def members(*values: int) -> list[Member]:
    return [Member(str(place), "jit_f", {"flops": value}) for place, value in enumerate(values)]


def test_the_odd_one() -> None:
    assert find_outlier(members(100, 101, 180, 100, 99)) == Outlier(2, "flops", 180, 100)


def test_a_sweep_over_sizes_has_no_odd_one() -> None:
    assert find_outlier(members(100, 200, 400, 800)) is None


def test_noise_and_two_dumps_are_no_odd_ones() -> None:
    assert find_outlier(members(100, 103, 101, 99)) is None
    assert find_outlier(members(100, 900)) is None


def test_a_figure_that_one_dump_lacks_decides_nothing() -> None:
    known = members(100, 101, 500, 100)
    assert find_outlier([*known, Member("4", None, {})]) is None
