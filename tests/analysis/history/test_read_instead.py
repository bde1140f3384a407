"""What has the value of a removed tuple element."""

from collections.abc import Callable

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import (
    SnapshotSequence,
    ancestors,
    descendants,
    history,
)
from xlareport.analysis.history.read_instead import read_instead
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_INLINED = """
ENTRY %main (a: f32[8,4], b: f32[8,8]) -> f32[4,8] {
  %a = f32[8,4]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %turned = f32[4,8]{0,1} transpose(%a), dimensions={1,0}
  %sine = f32[8,8]{1,0} sine(%b)
  %both = (f32[4,8]{0,1}, f32[8,8]{1,0}) tuple(%turned, %sine)
  %first = f32[4,8]{0,1} get-tuple-element(%both), index=0
  %second = f32[8,8]{1,0} get-tuple-element(%both), index=1
  %near = f32[4,8]{0,1} copy(%first)
  %far = f32[4,8]{1,0} copy(%near)
  ROOT %dot = f32[4,8]{1,0} dot(%far, %second), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
_GONE = ("  %both", "  %first", "  %second", "  %near", "  %far")
_READ_PAST = "\n".join(
    line for line in _INLINED.splitlines() if not line.startswith(_GONE)
).replace("dot(%far, %second)", "dot(%turned, %sine)")


def test_an_element_goes_on_in_the_value_that_its_reader_reads_past_copies(read: Read) -> None:
    modules = read(_INLINED), read(_READ_PAST)
    now = read_instead(match(*modules), Place("main", "first"))
    turned = Place("main", "turned")
    assert now == (turned, "%dot uses %turned instead of it and 2 copies")
    shots = SnapshotSequence(modules)
    event = history(shots, 0, Place("main", "first"))[1]
    assert (event.event, event.instruction) == (Event.REPLACED, turned)
    assert descendants(shots, 0, [Place("main", "first")]) == (turned,)


def test_an_element_whose_reader_reads_another_value_is_gone(read: Read) -> None:
    other = _READ_PAST.replace("dot(%turned", "dot(%given").replace(
        "  ROOT", "  %given = f32[4,8]{1,0} constant({...})\n  ROOT"
    )
    assert read_instead(match(read(_INLINED), read(other)), Place("main", "first")) is None


_CALL = """
ENTRY %main (a: f32[8], b: f32[4]) -> (f32[8], f32[4]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %call = (f32[8]{0}, f32[4]{0}) custom-call(%a, %b), custom_call_target="TO_GLOBAL"
  %x = f32[8]{0} get-tuple-element(%call), index=0
  %y = f32[4]{0} get-tuple-element(%call), index=1
  ROOT %out = (f32[8]{0}, f32[4]{0}) tuple(%x, %y)
}
""".replace("TO_GLOBAL", "xla.sdy.LocalToGlobalShape")
_CALLS = """
ENTRY %main (a: f32[8], b: f32[4]) -> (f32[8], f32[4]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %call.1 = f32[8]{0} custom-call(%a), custom_call_target="SPMDShardToFullShape"
  %call.2 = f32[4]{0} custom-call(%b), custom_call_target="SPMDShardToFullShape"
  ROOT %out = (f32[8]{0}, f32[4]{0}) tuple(%call.1, %call.2)
}
"""


def test_an_element_of_a_call_that_was_split_is_the_call_of_its_number(read: Read) -> None:
    now = read_instead(match(read(_CALL), read(_CALLS)), Place("main", "y"))
    assert now == (Place("main", "call.2"), "%call was split, and %call.2 gives it")


def test_the_history_of_a_split_call_is_that_of_each_call(read: Read) -> None:
    gone = _CALLS.replace("(%call.1, %call.2)", "(%call.1, %b)").replace("  %call.2", "  //%call.2")
    last = "\n".join(line for line in gone.splitlines() if not line.startswith("  //"))
    shots = SnapshotSequence((read(_CALL), read(_CALLS), read(last)))
    events = history(shots, 0, Place("main", "call"))
    removed = [event.instruction for event in events if event.event is Event.REMOVED]
    assert removed == [Place("main", "call.2")]


_ADDED = """
ENTRY %main (a: f32[8], b: f32[8], c: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %c = f32[8]{0} parameter(2)
  %near = f32[8]{0} add(%a, %b)
  ROOT %sum = f32[8]{0} add(%near, %c)
}
"""
_ADDED_ANEW = _ADDED.replace(
    "%near = f32[8]{0} add(%a, %b)", "%far = f32[8]{0} add(%b, %c)"
).replace("add(%near, %c)", "add(%a, %far)")


def test_a_sum_that_takes_in_another_one_continues_both(read: Read) -> None:
    shots = SnapshotSequence((read(_ADDED), read(_ADDED_ANEW)))
    near, whole = Place("main", "near"), Place("main", "sum")
    assert descendants(shots, 0, [near]) == (whole,)
    assert near in ancestors(shots, 1, [whole])
    event = next(event for event in history(shots, 1, whole) if near in event.sources)
    assert (event.event, event.why) == (Event.CHANGED, "does the work of %near too")
