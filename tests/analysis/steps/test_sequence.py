from hypothesis import given
from hypothesis import strategies as st

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.sequence import longest_rising, steady_order
from xlareport.analysis.steps.step import step
from xlareport.hlo.text import TextReader


def test_one_that_moved_is_left_out() -> None:
    assert longest_rising([0, 1, 5, 2, 3]) == {0, 1, 3, 4}


def test_nothing() -> None:
    assert longest_rising([]) == set()


@given(st.lists(st.integers(0, 30), unique=True, max_size=12))
def test_it_rises_and_none_is_longer(places: list[int]) -> None:
    found = sorted(longest_rising(places))
    kept = [places[number] for number in found]
    assert kept == sorted(kept)
    best = [1] * len(places)
    for here in range(len(places)):
        shorter = [best[there] for there in range(here) if places[there] < places[here]]
        best[here] = 1 + max(shorter, default=0)
    assert len(found) == max(best, default=0)


def test_light_ones_move_rather_than_what_they_are_deferred_behind() -> None:
    constants_first = [1, 2, 3, 0, 4]
    assert longest_rising(constants_first) == {0, 1, 2, 4}
    assert steady_order(constants_first, [2, 2, 2, 0, 0]) == {3, 4}
    assert steady_order(constants_first, [2, 2, 2, 1, 1]) == {3, 4}
    assert steady_order(constants_first, [0, 0, 0, 2, 0]) == {0, 1, 2, 4}


@given(
    st.lists(st.integers(0, 30), unique=True, max_size=12),
    st.lists(st.integers(0, 2), min_size=12, max_size=12),
)
def test_a_steady_order_rises_and_nothing_fits_between(
    places: list[int], lightness: list[int]
) -> None:
    steady = sorted(steady_order(places, lightness[: len(places)]))
    kept = [places[number] for number in steady]
    assert kept == sorted(kept)
    for number in set(range(len(places))) - set(steady):
        longer = [places[place] for place in sorted({*steady, number})]
        assert longer != sorted(longer)


def test_what_was_made_anew_moved_rather_than_what_stays() -> None:
    before, after = (
        TextReader().read(
            _SCHEDULED.replace("LINES", lines).replace("COPY", name).encode(), "m.txt"
        )
        for name, lines in (
            ("copy.1", "  %n = f32[8]{0} negate(%a)\n  %copy.1 = f32[8]{0} copy(%a)\n"),
            ("copy.2", "  %copy.2 = f32[8]{0} copy(%a)\n  %n = f32[8]{0} negate(%a)\n"),
        )
    )
    assert before is not None
    assert after is not None
    (row,) = [row for row in step(before, after).changes if row.kind is Kind.REORDERED]
    assert row.after == Place("main", "copy.2")


_SCHEDULED = """HloModule m, is_scheduled=true

ENTRY %main (a: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
LINES  ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%n, %COPY)
}
"""
