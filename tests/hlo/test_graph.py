from tests.modules import parse_module

from xlareport.hlo.graph import (
    called_computations,
    control_predecessors,
    readers_behind,
)
from xlareport.hlo.model import HloModule

TEXT = """HloModule m

%f (p: f32[]) -> f32[] {
  ROOT %p = f32[] parameter(0)
}

ENTRY %e (a: f32[]) -> f32[] {
  %a = (f32[], f32[]) parameter(0)
  %b = f32[] negate(%a#1)
  %c = f32[] fusion(%b, %gone), kind=kLoop, calls=%f, control-predecessors={%d, %a}
  %d = f32[] call(%b), to_apply=%f
  ROOT %r = f32[] add(%c, %c)
}
"""


def module(text: str = TEXT) -> HloModule:
    return parse_module(text)


def test_control_predecessors() -> None:
    entry = module().by_name["e"]
    assert control_predecessors(entry.by_name["c"]) == ("d", "a")
    assert control_predecessors(entry.by_name["b"]) == ()


def test_called_computations_are_found_however_far_down() -> None:
    read = module()
    entry = read.by_name["e"]
    assert called_computations(read, entry.instructions) == {"f"}
    assert called_computations(read, entry.instructions, without=("f",)) == set()
    assert called_computations(read, [entry.by_name["b"]]) == set()


def test_readers_stand_behind_what_is_passed() -> None:
    entry = module().by_name["e"]
    names = [reader.name for reader in readers_behind(entry, "b", {"fusion"})]
    assert names == ["r", "d"]
    assert [reader.name for reader in readers_behind(entry, "b", {"fusion", "add"})] == ["r", "d"]
    assert [reader.name for reader in readers_behind(entry, "b", ())] == ["c", "d"]


def test_the_loop_of_a_body_is_known_where_it_is_the_only_one() -> None:
    text = """HloModule m

go {
  ROOT p = s32[] parameter(0)
}

other {
  ROOT p = s32[] parameter(0)
}

is {
  p = s32[] parameter(0)
  ROOT c = pred[] constant(false)
}

ENTRY e {
  a = s32[] parameter(0)
  w = s32[] while(a), condition=is, body=go
  x = s32[] while(w), condition=is, body=other
  ROOT y = s32[] while(x), condition=is, body=other
}"""
    looped = module(text)
    assert looped.entry is not None
    assert looped.only_loops == {"go": (looped.entry, looped.entry.by_name["w"])}
