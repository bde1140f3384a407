"""New slices that take one of several joined results out of the whole."""

from collections.abc import Callable

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.instruction import SnapshotSequence, ancestors, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
ENTRY %main (x: f32[8,4], a: f32[4,2], b: f32[4,2], c: f32[4,2]) -> (f32[8,2], f32[8,2]) {
  %x = f32[8,4]{1,0} parameter(0)
  %a = f32[4,2]{1,0} parameter(1)
  %b = f32[4,2]{1,0} parameter(2)
"""
_DIMENSIONS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
_TAIL = """
  %u = f32[8,2]{1,0} negate(%one)
  %v = f32[8,2]{1,0} tanh(%other)
  ROOT %out = (f32[8,2]{1,0}, f32[8,2]{1,0}) tuple(%u, %v)
}
"""
_APART = f"""{_HEAD}
  %one = f32[8,2]{{1,0}} dot(%x, %a), {_DIMENSIONS}
  %other = f32[8,2]{{1,0}} dot(%x, %b), {_DIMENSIONS}
{_TAIL}"""
_JOINED = f"""{_HEAD}
  %all = f32[4,4]{{1,0}} concatenate(%a, %b), dimensions={{1}}
  %whole = f32[8,4]{{1,0}} dot(%x, %all), {_DIMENSIONS}
  %slice.1 = f32[8,4]{{1,0}} slice(%whole), slice={{[0:8], [0:4]}}
  %slice.2 = f32[8,2]{{1,0}} slice(%slice.1), slice={{[0:8], [0:2]}}
  %slice.3 = f32[8,2]{{1,0}} slice(%whole), slice={{[0:8], [2:4]}}
{_TAIL.replace("%one", "%slice.2").replace("%other", "%slice.3")}"""


def _reason(before: HloModule, after: HloModule, name: str) -> str:
    pairing = match(before, after).pairing_after(Place("main", name))
    assert pairing is not None
    return str(pairing.reason)


def test_a_slice_names_the_result_that_it_takes_out(read: Read) -> None:
    apart, joined = read(_APART), read(_JOINED)
    assert _reason(apart, joined, "slice.2") == "takes the result of %one out of %whole"
    assert _reason(apart, joined, "slice.3") == "takes the result of %other out of %whole"
    assert _reason(apart, joined, "slice.1") == "inserted between %whole and %u"


def test_a_slice_of_what_was_not_joined_takes_nothing_out(read: Read) -> None:
    plain = _APART.replace("negate(%one)", "negate(%part)").replace(
        "  %u =", "  %part = f32[8,2]{1,0} slice(%one), slice={[0:8], [0:2]}\n  %u ="
    )
    assert _reason(read(_APART), read(plain), "part") == "inserted between %one and %u"


def test_the_history_of_a_slice_goes_on_from_the_result_that_it_takes_out(read: Read) -> None:
    shots = SnapshotSequence([read(_APART), read(_JOINED)])
    part, member = Place("main", "slice.3"), Place("main", "other")
    assert [*ancestors(shots, 1, [part])] == [member]
    [event] = [known for known in history(shots, 1, part) if known.event is Event.CREATED]
    assert event.sources == (member,)
    assert event.why == "takes the result of %other out of %whole"


_SUM = """%sum (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}

ENTRY %main (a: f32[4,2], b: f32[3]) -> (f32[4,2], f32[3]) {
  %a = f32[4,2]{1,0} parameter(0)
  %b = f32[3]{0} parameter(1)
"""
_OF_ARRAYS = f"""{_SUM}
  %all-reduce.1 = (f32[4,2]{{1,0}}, f32[3]{{0}}) all-reduce(%a, %b), to_apply=%sum
  %one = f32[4,2]{{1,0}} get-tuple-element(%all-reduce.1), index=0
  %other = f32[3]{{0}} get-tuple-element(%all-reduce.1), index=1
  %u = f32[4,2]{{1,0}} negate(%one)
  %v = f32[3]{{0}} tanh(%other)
  ROOT %out = (f32[4,2]{{1,0}}, f32[3]{{0}}) tuple(%u, %v)
}}
"""
_FLAT = f"""{_SUM}
  %flat.1 = f32[8]{{0}} bitcast(%a)
  %flat.2 = f32[3]{{0}} bitcast(%b)
  %all = f32[11]{{0}} concatenate(%flat.1, %flat.2), dimensions={{0}}
  %all-reduce.2 = f32[11]{{0}} all-reduce(%all), to_apply=%sum
  %slice.1 = f32[8]{{0}} slice(%all-reduce.2), slice={{[0:8]}}
  %shaped.1 = f32[4,2]{{1,0}} bitcast(%slice.1)
  %slice.2 = f32[3]{{0}} slice(%all-reduce.2), slice={{[8:11]}}
  %shaped.2 = f32[3]{{0}} bitcast(%slice.2)
  %both = (f32[4,2]{{1,0}}, f32[3]{{0}}) tuple(%shaped.1, %shaped.2)
  %one = f32[4,2]{{1,0}} get-tuple-element(%both), index=0
  %other = f32[3]{{0}} get-tuple-element(%both), index=1
  %u = f32[4,2]{{1,0}} negate(%one)
  %v = f32[3]{{0}} tanh(%other)
  ROOT %out = (f32[4,2]{{1,0}}, f32[3]{{0}}) tuple(%u, %v)
}}
"""


def test_a_slice_of_a_flat_all_reduce_names_the_array_that_it_takes_out(read: Read) -> None:
    """`all-reduce-contiguous` reduces one array of the concatenated operands."""
    arrays, flat = read(_OF_ARRAYS), read(_FLAT)
    assert _reason(arrays, flat, "slice.1") == "takes the result of %one out of %all-reduce.2"
    assert _reason(arrays, flat, "slice.2") == "takes the result of %other out of %all-reduce.2"
    shots = SnapshotSequence([arrays, flat])
    assert [*ancestors(shots, 1, [Place("main", "slice.2")])] == [Place("main", "other")]
