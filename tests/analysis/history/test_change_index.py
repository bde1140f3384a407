"""Which steps can have changed an instruction."""

from tests.analysis.history.six_snapshots import Read

from xlareport.analysis.history.change_index import ChangeIndex
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place

SUMS = """
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8]) -> f32[] {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %half = f32[8]{0} negate(%a)
  ROOT %out = f32[] reduce(%half, %zero), dimensions={0}, to_apply=%add
}
"""
SUMS_RENAMED = SUMS.replace("%half", "%minus")
SUMS_CALL_ANOTHER = SUMS_RENAMED.replace("%add ", "%plus ").replace("=%add", "=%plus")


def index_of(read: Read) -> ChangeIndex:
    first, second, third = (read(one) for one in (SUMS, SUMS_RENAMED, SUMS_CALL_ANOTHER))
    return ChangeIndex([(2, match(first, second)), (5, match(second, third))])


def test_only_the_steps_that_speak_of_a_place_are_looked_at(read: Read) -> None:
    index = index_of(read)
    assert index.step_from(Place("main", "half"), 0) == 2
    assert index.step_to(Place("main", "minus"), 4) == 2
    assert index.step_to(Place("main", "minus"), 1) == 0
    assert index.step_from(Place("main", "zero"), 0) is None
    assert index.step_to(Place("main", "zero"), 9) == 0


def test_a_computation_of_another_name_speaks_of_all_its_lines(read: Read) -> None:
    index = index_of(read)
    assert index.step_from(Place("add", "x"), 0) == 5
    assert index.step_from(Place("add", "x"), 5) is None
    assert index.step_to(Place("plus", "x"), 9) == 5


def test_places_that_changed_together_share_their_steps(read: Read) -> None:
    first, second = read(SUMS), read(SUMS_RENAMED)
    renamed, back = match(first, second), match(second, first)
    index = ChangeIndex([(2, renamed), (5, back), (7, renamed)])
    assert [index.step_to(Place("main", "half"), number) for number in range(1, 9)] == [
        *(0, 0, 0, 0, 5, 5, 5, 5)
    ]
    assert [index.step_from(Place("main", "half"), number) for number in range(8)] == [
        *(2, 2, 7, 7, 7, 7, 7, None)
    ]
