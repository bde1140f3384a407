from xlareport.analysis.cost.lifetimes import End, Follower, explain_lifetimes, follow_aliases
from xlareport.readers.buffer_values import Use, UsedValue
from xlareport.readers.live_range import LiveRange, LiveRanges

LIVE = LiveRanges(
    schedule=("x", "y", "z", "w"),
    ranges=(
        LiveRange("x", (), 0, 4),
        LiveRange("y", (), 1, 2),
        LiveRange("z", (0,), 2, 3),
        LiveRange("w", (), 3, 4),
    ),
)
VALUES = [
    UsedValue(1, "y", (), [("y", ())], [Use("z", 1), Use("z", 2)]),
    UsedValue(2, "z", (0,), [("z", (0,))], [Use("q", 0)]),
]


def test_what_ends_a_life() -> None:
    found = explain_lifetimes(LIVE, VALUES, frozenset({"x"}))
    assert found["x", ()].ends is End.ARGUMENT
    assert found["w", ()].ends is End.RESULT
    used = found["y", ()]
    assert (used.ends, used.last_use, used.operand, used.uses) == (End.USE, "z", 1, 2)
    assert (used.start, used.end, used.positions) == (1, 2, 4)


def test_without_a_list_of_uses_the_schedule_alone_tells() -> None:
    used = explain_lifetimes(LIVE, (), frozenset())["z", (0,)]
    assert (used.last_use, used.operand, used.uses) == ("w", None, None)
    other = explain_lifetimes(LIVE, VALUES, frozenset())["z", (0,)]
    assert (other.last_use, other.operand) == ("w", None), "a use elsewhere is not the last one"
    assert other.last_read == ("q", 0)


def test_the_last_read_is_told_where_memory_is_in_use_longer() -> None:
    value = UsedValue(3, "z", (0,), [("z", (0,))], [Use("y", 4), Use("z", 1), Use("x", 0)])
    assert explain_lifetimes(LIVE, [value], frozenset())["z", (0,)].last_read == ("z", 1)
    read = UsedValue(3, "z", (0,), [("z", (0,))], [Use("y", 4), Use("w", 1)])
    assert explain_lifetimes(LIVE, [read], frozenset())["z", (0,)].last_read is None


def test_a_value_goes_on_as_the_last_that_follows_it_without_a_gap() -> None:
    spans = {"new": (0, 3), "loop": (3, 6), "later": (8, 9), "alone": (1, 9)}
    live = LiveRanges(
        schedule=tuple("abcdefghijk"),
        ranges=tuple(LiveRange(name, (), *span) for name, span in spans.items()),
    )
    lives = explain_lifetimes(live, (), frozenset())
    buffer = [("later", ()), ("new", ()), ("loop", ()), ("unknown", ())]
    followed = follow_aliases(lives, [buffer])
    assert followed["new", ()].follower == Follower("loop", (), 6, End.USE, "g", None)
    assert [followed[name, ()].follower for name in ("loop", "later", "alone")] == [None] * 3


def test_a_value_inside_the_life_of_another_is_not_the_last() -> None:
    spans = {"state": (0, 9), "inside": (2, 4)}
    ranges = tuple(LiveRange(name, (), *span) for name, span in spans.items())
    lives = explain_lifetimes(LiveRanges(tuple("abcdefghijk"), ranges), (), frozenset())
    followed = follow_aliases(lives, [[("state", ()), ("inside", ())]])
    assert followed["inside", ()].follower == Follower("state", (), 9, End.USE, "j", None)
    assert followed["state", ()].follower is None
