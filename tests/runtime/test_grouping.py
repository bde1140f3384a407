"""Grouping keeps the order in which keys and items came."""

from xlareport.runtime.grouping import common_prefix, group_by_key, sole_pairs


def test_keys_and_items_keep_their_order() -> None:
    groups = group_by_key([("b", 1), ("a", 2), ("b", 3)])
    assert list(groups.items()) == [("b", [1, 3]), ("a", [2])]


def test_nothing_gives_no_groups() -> None:
    assert group_by_key([]) == {}


def test_pairs_are_alone_on_both_sides() -> None:
    old = [("b", 1), ("a", 2), ("c", 3), ("c", 4), (None, 5)]
    new = [("a", "x"), ("b", "y"), ("c", "z"), (None, "n")]
    assert list(sole_pairs(old, new)) == [(1, "y"), (2, "x")]


def test_what_all_paths_begin_with() -> None:
    assert common_prefix([("a", "b", "c"), ("a", "b"), ("a", "b", "d")]) == ("a", "b")
    assert common_prefix([("a",), ("b",)]) == ()
    assert common_prefix([]) == ()
