"""Where a snapshot stands: by its number, by a name that is known or extends one, by contents."""

from xlareport.dump.snapshot_order import (
    is_extension,
    is_placed,
    place,
    place_of_contents,
    place_of_time,
    places_of_contents,
)

A, B, C = frozenset({1, 2, 3, 4}), frozenset({1, 2, 5, 6}), frozenset({5, 6, 7, 8})


def test_a_name_that_extends_a_known_one_stands_right_behind_it() -> None:
    names = ["after_codegen_after_hlo_sanitization", "after_codegen", "after_optimizations"]
    assert sorted(names, key=lambda name: place(name, None)) == names[::-1]
    assert is_extension(names[0], None)
    assert not is_extension("after_optimizations", None)


def test_a_number_places_a_snapshot_and_an_unknown_name_does_not() -> None:
    assert is_placed("pass", 17)
    assert not is_placed("before_config_assignment", None)
    assert not is_placed("pass", None)


def test_contents_place_a_snapshot_where_the_least_comes_and_goes() -> None:
    others = [(A, None), (B, None), (C, None)]
    assert place_of_contents(frozenset({1, 2, 3, 5}), None, others) == 1
    assert place_of_contents(frozenset({2, 5, 6, 7}), None, others) == 2
    assert place_of_contents(frozenset({7, 8, 9}), None, others) == 3


def test_times_decide_between_places_that_fit_equally() -> None:
    others = [(A, 10.0), (A, 20.0), (A, 30.0)]
    assert place_of_contents(A, 15.0, others) == 1
    assert place_of_contents(A, None, others) == 3


def test_times_place_a_file_where_they_follow_the_order_of_the_others() -> None:
    assert place_of_time(25.0, [10.0, 20.0, 20.0, 30.0]) == 3
    assert place_of_time(20.0, [10.0, 20.0, 30.0]) is None
    assert place_of_time(25.0, [10.0, 30.0, 20.0]) is None
    assert place_of_time(25.0, [10.0, None, 30.0]) is None
    assert place_of_time(None, [10.0]) is None


def test_contents_name_every_place_that_fits_equally_well() -> None:
    assert places_of_contents(A, [A, A, B]) == [0, 1, 2]
    assert places_of_contents(B, [A, C]) == [1]
