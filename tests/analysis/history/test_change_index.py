from collections.abc import Callable

from xlareport.analysis.history.change_index import ChangeIndex
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

FIRST = """
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
RENAMED = FIRST.replace("%half", "%minus")
CALLS_ANOTHER = RENAMED.replace("%add ", "%plus ").replace("=%add", "=%plus")


def told(read: Read) -> ChangeIndex:
    first, second, third = (read(one) for one in (FIRST, RENAMED, CALLS_ANOTHER))
    return ChangeIndex([(2, match(first, second)), (5, match(second, third))])


def test_only_the_steps_that_speak_of_a_place_are_looked_at(read: Read) -> None:
    found = told(read)
    assert found.step_from(Place("main", "half"), 0) == 2
    assert found.step_to(Place("main", "minus"), 4) == 2
    assert found.step_to(Place("main", "minus"), 1) == 0
    assert found.step_from(Place("main", "zero"), 0) is None
    assert found.step_to(Place("main", "zero"), 9) == 0


def test_a_computation_of_another_name_speaks_of_all_its_lines(read: Read) -> None:
    found = told(read)
    assert found.step_from(Place("add", "x"), 0) == 5
    assert found.step_from(Place("add", "x"), 5) is None
    assert found.step_to(Place("plus", "x"), 9) == 5
