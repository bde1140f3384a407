"""What a collective waits for besides its own operands."""

from collections.abc import Callable

from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.collectives.waiting import EarlyOperands, find_early, find_queued
from xlareport.hlo.model import Computation, HloModule

Read = Callable[[str], HloModule]

_TEXT = """HloModule m, is_scheduled=true

ENTRY %main (a: f32[4], b: f32[4]) -> (f32[8], f32[8]) {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %x = f32[4]{0} sine(%a)
  %one-start = (f32[4]{0}, f32[8]{0}) all-gather-start(%a), replica_groups={{0,1}}, dimensions={0}
  %one = f32[8]{0} all-gather-done(%one-start)
  %two-start = (f32[4]{0}, f32[8]{0}) all-gather-start(%x), replica_groups={{0,1}}, dimensions={0}
  %two = f32[8]{0} all-gather-done(%two-start)
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%one, %two)
}
"""


def _places(home: Computation) -> dict[str, int]:
    return {line.name: number for number, line in enumerate(home.instructions)}


def test_a_collective_whose_operand_is_ready_waits_for_another_in_flight(read: Read) -> None:
    module = read(_TEXT)
    home = module.by_name["main"]
    one, two = find_collectives(module)
    assert find_queued(home, _places(home), two, (one, two)) == (one.instruction,)
    late = read(_TEXT.replace("sine(%a)", "copy(%a)").replace("(%x), replica", "(%one), replica"))
    one, two = find_collectives(late)
    home = late.by_name["main"]
    assert find_queued(home, _places(home), two, (one, two)) == ()


def test_members_that_are_ready_early_wait_for_the_last(read: Read) -> None:
    text = _TEXT.replace("(%a), replica", "(%b, %x), replica")
    module = read(text)
    home = module.by_name["main"]
    [one, two] = find_collectives(module)
    early = find_early(home, one, {"b": 0.0, "x": 2.0}, 1.0)
    assert early == EarlyOperands(1, "x", share=0.5, seconds=2.0)
    assert find_early(home, one, {"b": 0.0, "x": 2.0}, 3.0) == EarlyOperands(0, "x")
    assert find_early(home, two, {"x": 2.0}, 1.0) == EarlyOperands()
