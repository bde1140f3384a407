"""Copies of stacked buffers: what is moved out of the state of a loop."""

from collections.abc import Callable

from xlareport.analysis.cost.phases import FORWARD
from xlareport.analysis.cost.stack_copies import StackCopy, find_stack_copies
from xlareport.analysis.cost.stacked import StackedBuffer
from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.hlo.model import HloModule

TEXT = """turn {
  p = f32[2,4] parameter(0)
  ROOT t = f32[4,2] transpose(p), dimensions={1,0}
}

ENTRY e {
  state = (f32[2,4], f32[2,4]) parameter(0)
  loop = (f32[2,4], f32[2,4]) while(state)
  first = f32[2,4] get-tuple-element(loop), index=0
  second = f32[2,4] get-tuple-element(loop), index=1
  turned = f32[4,2] fusion(second), kind=kLoop, calls=turn
  other = f32[4,2] fusion(first), kind=kLoop, calls=turn
  gathered = f32[4,4] all-gather(second), dimensions={0}
  ROOT computed = f32[2,4] negate(second)
}"""
STACK = StackedBuffer("e", "loop", 1, "s", "f32[2,4]", 32, 16, 2, "", FORWARD)


def test_values_moved_out_of_a_stack(module_of: Callable[[str], HloModule]) -> None:
    names = ("turned", "other", "gathered", "computed")
    values = [((name, ()), 32) for name in names]
    copies = find_stack_copies(values, [STACK], ValueSources(module_of(TEXT)))
    assert copies == (StackCopy(("turned", ()), 32, STACK),)
