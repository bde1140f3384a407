"""What can happen to an instruction at a step."""

from collections.abc import Callable

from xlareport.analysis.history.events import Event, addition, expanded_into
from xlareport.analysis.history.instruction import sources_of
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade


def test_an_expansion_goes_on_as_its_result_and_where_that_only_moves_data_as_the_work(
    read: Callable[[str], HloModule],
) -> None:
    """A loop that a later pass unrolls leaves the work; the move behind it may be gone by then."""
    text = """
%body (x: (f32[9], f32[1])) -> (f32[9], f32[1]) {
  ROOT %x = (f32[9]{0}, f32[1]{0}) parameter(0)
}

%going (y: (f32[9], f32[1])) -> pred[] {
  %y = (f32[9]{0}, f32[1]{0}) parameter(0)
  ROOT %no = pred[] constant(false)
}

ENTRY %main (a: f32[9]) -> f32[] {
  %a = f32[9]{0} parameter(0)
  %room = f32[1]{0} constant({0})
  %tuple.1 = (f32[9]{0}, f32[1]{0}) tuple(%a, %room)
  %while.1 = (f32[9]{0}, f32[1]{0}) while(%tuple.1), condition=%going, body=%body
  %part = f32[1]{0} get-tuple-element(%while.1), index=1
  %reshape.1 = f32[] reshape(%part)
  ROOT %out = f32[] negate(%reshape.1)
}
"""
    module = read(text)
    names = ("reshape.1", "part", "while.1", "tuple.1", "room")
    parts = tuple(Place("main", name) for name in names)
    before = (Place("main", "gather.1"),)
    pairing = Pairing(before, parts, Grade.MATCHED, "", Relation.EXPANDED)
    matching = Matching(module, module, {}, (pairing,))
    assert expanded_into(matching, pairing) == (parts[0], parts[2])
    pairing.after = (parts[2], *parts[3:])
    assert expanded_into(matching, pairing) == (parts[2],)


def test_a_constant_that_an_expansion_uses_comes_from_nothing(
    read: Callable[[str], HloModule],
) -> None:
    module = read("""
ENTRY %main (a: f32[9]) -> f32[9] {
  %a = f32[9]{0} parameter(0)
  %zero = f32[] constant(0)
  %zeros = f32[9]{0} broadcast(%zero), dimensions={}
  ROOT %out = f32[9]{0} maximum(%a, %zeros)
}
""")
    out, zero, zeros = (Place("main", name) for name in ("out", "zero", "zeros"))
    before = (Place("main", "relu"),)
    pairing = Pairing(before, (out, zero, zeros), Grade.MATCHED, "", Relation.EXPANDED)
    matching = Matching(module, module, {}, (pairing,))
    assert sources_of(matching, out) == before
    assert sources_of(matching, zero) == sources_of(matching, zeros) == ()
    assert addition(1, zero, pairing).event is Event.ADDED
