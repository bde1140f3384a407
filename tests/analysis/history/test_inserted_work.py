"""A pass that inserts heavy work before an instruction changed what this one reads."""

from collections.abc import Callable

from xlareport.analysis.history.events import Event
from xlareport.analysis.history.inserted_work import inserted_before
from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_ADD = """
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

%less (p: s32[], q: s32[], v: s32[], w: s32[]) -> pred[] {
  %p = s32[] parameter(0)
  %q = s32[] parameter(1)
  %v = s32[] parameter(2)
  %w = s32[] parameter(3)
  ROOT %compare = pred[] compare(%p, %q), direction=LT
}
"""
_HEAD = """
ENTRY %main (a: f32[64], i: s32[8,1], u: f32[8]) -> f32[64] {
  %a = f32[64]{0} parameter(0)
  %i = s32[8,1]{1,0} parameter(1)
  %u = f32[8]{0} parameter(2)
"""
_SCATTER = (
    "scatter(%a, {}, {}), update_window_dims={{}}, inserted_window_dims={{0}}, {}to_apply=%add"
)
_DIMENSIONS = "scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
_BEFORE = f"""{_HEAD}  %scatter = f32[64]{{0}} {_SCATTER.format("%i", "%u", _DIMENSIONS)}
  ROOT %out = f32[64]{{0}} negate(%scatter)
}}
"""
_AFTER = f"""{_HEAD}  %flat = s32[8]{{0}} reshape(%i)
  %iota = s32[8]{{0}} iota(), iota_dimension=0
  %sort = (s32[8]{{0}}, s32[8]{{0}}) sort(%flat, %iota), dimensions={{0}}, to_apply=%less
  %keys = s32[8]{{0}} get-tuple-element(%sort), index=0
  %rows = s32[8,1]{{1,0}} reshape(%keys)
  %scatter = f32[64]{{0}} {_SCATTER.format("%rows", "%u", _DIMENSIONS)}
  ROOT %out = f32[64]{{0}} negate(%scatter)
}}
"""
_PLACE = Place("main", "scatter")


def test_a_sort_before_a_scatter_is_an_event_of_the_scatter(read: Read) -> None:
    """What `tpu_scatter_gather_optimizer` does."""
    snapshots = SnapshotSequence([read(_ADD + _BEFORE), read(_ADD + _AFTER)])
    for number in (0, 1):
        events = history(snapshots, number, _PLACE)
        (event,) = [event for event in events if event.event is Event.CHANGED]
        assert event.why == "reads the new %sort"


def test_what_is_not_heavy_has_no_such_event(read: Read) -> None:
    matching = match(read(_ADD + _BEFORE), read(_ADD + _AFTER))
    assert not inserted_before(matching, Place("main", "out"))
    assert not inserted_before(matching, Place("main", "rows"))


def test_only_heavy_work_counts(read: Read) -> None:
    plain = _AFTER.replace(
        "%keys = s32[8]{0} get-tuple-element(%sort), index=0", "%keys = s32[8]{0} add(%flat, %iota)"
    )
    assert not inserted_before(match(read(_ADD + _BEFORE), read(_ADD + plain)), _PLACE)
