"""Lines that a step kept, of which more is told."""

from collections.abc import Callable

from xlareport.analysis.history.same_lines import same_lines
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import Computation, HloModule, Instruction

Read = Callable[[str], HloModule]

_MODULE = """
HloModule m

%kept (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %n = f32[4]{0} negate(%p)
}

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %x = f32[4]{0} sine(%a)
  ROOT %out = f32[4]{0} call(%x), to_apply=%kept
}
"""


def lines(computation: Computation) -> tuple[Instruction, ...]:
    return computation.instructions


def words(_matching: Matching, before: Place, _after: Place) -> str:
    return "told" if before.instruction != "a" else ""


def test_lines_of_changed_computations_with_words(read: Read) -> None:
    """Of `%a` nothing is said; `%kept` did not change."""
    renamed = _MODULE.replace("%x = ", "%y = ").replace("(%x)", "(%y)")
    matching = match(read(_MODULE), read(renamed))
    places = [(old.instruction, new.instruction) for old, new in same_lines(matching, lines, words)]
    assert places == [("x", "y"), ("out", "out")]
