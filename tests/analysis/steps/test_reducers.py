"""Reducers of equal text are the same, whatever they are called."""

from collections.abc import Callable

import pytest

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_REDUCED = """
%first (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

%second (u: f32[], v: f32[]) -> f32[] {
  %u = f32[] parameter(0)
  %v = f32[] parameter(1)
  ROOT %more = f32[] OPCODE(%u, %v)
}

ENTRY %main (a: f32[8,4]) -> f32[8] {
  %a = f32[8,4]{1,0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %r = f32[8]{0} reduce(%a, %zero), dimensions={1}, to_apply=%first
}
"""


@pytest.mark.parametrize(("opcode", "kinds"), [("add", []), ("maximum", [Kind.ATTRIBUTES])])
def test_another_reducer_is_a_change_if_it_does_something_else(
    read: Read, opcode: str, kinds: list[Kind]
) -> None:
    before = _REDUCED.replace("OPCODE", opcode)
    change = step(read(before), read(before.replace("to_apply=%first", "to_apply=%second")))
    assert [row.kind for row in change.changes] == kinds


def test_a_call_of_an_equal_computation_is_a_change(read: Read) -> None:
    called = _REDUCED.replace("OPCODE", "add").replace(
        "reduce(%a, %zero), dimensions={1}", "call(%zero, %zero)"
    )
    called = called.replace("f32[8]{0} call", "f32[] call")
    change = step(read(called), read(called.replace("to_apply=%first", "to_apply=%second")))
    assert [row.kind for row in change.changes] == [Kind.ATTRIBUTES]
