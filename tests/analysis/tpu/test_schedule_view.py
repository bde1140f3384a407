"""The schedule on a page: its columns, runs and busiest bundles."""

from types import SimpleNamespace

from xlareport.analysis.tpu.schedule_view import MOST_CYCLES, view_schedule
from xlareport.llo_files import LloProgram
from xlareport.readers.llo.bundles import Bundle
from xlareport.readers.llo.utilization import Utilization


def program(valu: list[int], *, texts: int | None = None) -> LloProgram:
    used = Utilization(("MXU", "VALU"), {"MXU": 2, "VALU": 2}, {
        "MXU": bytes(len(valu)),
        "VALU": bytes(valu),
    })  # fmt: skip
    bundles = [Bundle(at, 0, f"{{ b{at} }}") for at in range(len(valu) if texts is None else texts)]
    schedule = SimpleNamespace(bundles=bundles)
    nothing = (None,) * 5
    return LloProgram("p", "p.txt", schedule, None, used, *nothing[:4], ())


def test_without_a_table_of_units_there_is_no_view() -> None:
    without = LloProgram("p", "p.txt", *(None,) * 7, ())
    assert view_schedule(without, None) is None


def test_equal_neighbors_run_together() -> None:
    view = view_schedule(program([1, 1, 1, 1]), [1, 4, 4, 1])
    assert view is not None
    assert view.counts == ((1, 1), (4, 2), (1, 1))
    unknown = view_schedule(program([1]), None)
    assert unknown is not None
    assert unknown.counts == ()


def test_the_busiest_stretch_comes_with_its_bundles() -> None:
    view = view_schedule(program([0] * 12 + [2] * 12 + [0] * 12), None)
    assert view is not None
    (stretch,) = view.ranges
    assert (stretch.begin, stretch.share, stretch.runs) == (12, 0.5, None)
    assert stretch.bundles[0] == "{ b12 }"
    assert len(stretch.bundles) == 12


def test_how_often_a_stretch_runs_weighs_it() -> None:
    seldom, often = [2] * 12, [1] * 12
    counts = [1] * 12 + [10] * 12
    view = view_schedule(program([*seldom, *often] * 4), counts * 4)
    assert view is not None
    assert [stretch.begin % 24 for stretch in view.ranges].count(12) == 4


def test_a_listing_of_another_length_is_not_shown() -> None:
    view = view_schedule(program([2] * 12, texts=5), None)
    assert view is not None
    assert view.ranges == ()


def test_of_a_long_schedule_the_first_cycles_are_shown() -> None:
    view = view_schedule(program([1] * (MOST_CYCLES + 5)), None)
    assert view is not None
    assert view.cycles == MOST_CYCLES + 5
    assert {len(column) for column in view.columns.values()} == {MOST_CYCLES}
