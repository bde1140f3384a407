"""Values that loops and conditionals pass on lie in one buffer."""

from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.cost.aliased_values import (
    find_writer,
    group_aliased_values,
    group_places,
)
from xlareport.analysis.cost.lifetimes import End, Lifetime, follow_aliases
from xlareport.readers.buffer_assignment import Allocation, BufferAssignment, BufferValue
from xlareport.readers.buffer_values import UsedValue

LOOP = b"""HloModule m, is_scheduled=true

body {
  state = (s32[], f32[8]{0}) parameter(0)
  old = f32[8]{0} get-tuple-element(state), index=1
  new = f32[8]{0} negate(old)
  count = s32[] get-tuple-element(state), index=0
  ROOT next = (s32[], f32[8]{0}) tuple(count, new)
}

condition {
  tested = (s32[], f32[8]{0}) parameter(0)
  ROOT less = pred[] constant(false)
}

ENTRY e {
  zero = s32[] constant(0)
  start = f32[8]{0} broadcast(zero), dimensions={}
  init = (s32[], f32[8]{0}) tuple(zero, start)
  loop = (s32[], f32[8]{0}) while(init), condition=condition, body=body
  last = f32[8]{0} get-tuple-element(loop), index=1
  ROOT r = f32[8]{0} negate(last)
}
"""
CONDITIONAL = b"""HloModule m, is_scheduled=true

left {
  x = f32[8]{0} parameter(0)
  ROOT a = f32[8]{0} negate(x)
}

right {
  y = f32[8]{0} parameter(0)
  ROOT b = f32[8]{0} exponential(y)
}

ENTRY e {
  p = pred[] parameter(0)
  v = f32[8]{0} parameter(1)
  chosen = f32[8]{0} conditional(p, v, v), true_computation=left, false_computation=right
  ROOT r = f32[8]{0} negate(chosen)
}
"""


def value(number: int, name: str, index: tuple[int, ...], *more: tuple[str, int]) -> UsedValue:
    positions = [(name, index), *((other, (place,)) for other, place in more)]
    return UsedValue(number, name, index, positions)


def test_the_state_of_a_loop_lies_in_one_buffer() -> None:
    values = [
        value(1, "start", (), ("init", 1)),
        value(2, "tested", (1,)),
        value(3, "state", (1,)),
        value(4, "new", (), ("next", 1)),
        value(5, "loop", (1,)),
        value(6, "r", ()),
        value(7, "state", (0,), ("next", 0)),
    ]
    (buffer,) = group_aliased_values(parse_module(LOOP), values)
    assert set(buffer) == {
        ("start", ()),
        ("tested", (1,)),
        ("state", (1,)),
        ("new", ()),
        ("loop", (1,)),
    }


def test_results_of_branches_lie_in_the_buffer_of_the_conditional() -> None:
    values = [value(number, name, ()) for number, name in enumerate(("a", "b", "chosen", "v", "r"))]
    (buffer,) = group_aliased_values(parse_module(CONDITIONAL), values)
    assert set(buffer) == {("a", ()), ("b", ()), ("chosen", ())}


def test_values_of_unknown_instructions_are_alone() -> None:
    assert group_aliased_values(parse_module(LOOP), [value(1, "no", ()), value(1, "no", ())]) == ()


def test_the_writer_of_loop_state_is_what_the_loop_makes() -> None:
    module = parse_module(LOOP)
    instructions = {instruction.name: instruction for instruction in module.instructions}
    starts = {"start": 1, "state": 4, "new": 5, "loop": 9}
    lives = {
        (name, (1,)): Lifetime(start, 9, 10, End.USE, "", None, None)
        for name, start in starts.items()
    }
    assert find_writer(lives, instructions, lives) == "new"
    assert find_writer([("state", (1,)), ("no", (1,))], instructions, lives) == ""


def test_what_is_written_over_in_place_goes_on_as_what_is_written() -> None:
    """A scatter into a temporary begins in the same bytes where the life of its operand ends."""
    values = tuple(
        BufferValue(number, name, (), offset, 400, "f32[100]")
        for number, (name, offset) in enumerate(
            [("zeros", 0), ("scatter", 0), ("later", 0), ("other", 512)]
        )
    )
    temp = Allocation(0, 1024, 0, None, False, False, False, True, values)  # noqa: FBT003 - as read
    held = replace(temp, is_preallocated_temp=False, maybe_live_out=True)
    groups = list(group_places(BufferAssignment((held, temp))))
    assert groups == [(("zeros", ()), ("scatter", ()), ("later", ()))]
    spans = {"zeros": (71, 134), "scatter": (134, 189), "later": (195, 200), "other": (1, 200)}
    lives = {
        (name, ()): Lifetime(start, end, 300, End.USE, f"after_{name}", 0, 1)
        for name, (start, end) in spans.items()
    }
    followed = follow_aliases(lives, groups)
    follower = followed["zeros", ()].follower
    assert follower is not None
    assert (follower.instruction, follower.end) == ("scatter", 189)
    assert followed["scatter", ()].follower is None
