from collections.abc import Callable

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.operand_chains import behind, passing_chain, written_operand
from xlareport.analysis.steps.operand_words import Operand
from xlareport.hlo.model import HloModule

_MODULE = """
%fused (p: f32[4,2]) -> f32[8] {
  %p = f32[4,2]{1,0} parameter(0)
  ROOT %flat = f32[8]{0} reshape(%p)
}

ENTRY %main (a: f32[4,2]) -> f32[8] {
  %a = f32[4,2]{1,0} parameter(0)
  %fusion = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused
  %pair = (f32[8]{0}, f32[4,2]{1,0}) tuple(%fusion, %a)
  %first = f32[8]{0} get-tuple-element(%pair), index=0
  %copy = f32[8]{0} copy(%first)
  ROOT %out = f32[8]{0} negate(%copy)
}
"""


def test_an_operand_is_followed_through_copies_tuples_and_fusions(
    read: Callable[[str], HloModule],
) -> None:
    module = read(_MODULE)
    chain = passing_chain(module, written_operand(Place("main", "out"), "copy"))
    names = [str(operand.place.instruction) for operand in chain]
    assert names == ["copy", "first", "pair", "fusion", "flat", "p"]
    assert chain[2].element == "0"


def test_what_computes_a_value_passes_none_on(read: Callable[[str], HloModule]) -> None:
    module = read(_MODULE)
    assert behind(module, Operand(Place("main", "out"), "")) is None
    assert written_operand(Place("main", "out"), "pair#1") == Operand(Place("main", "pair"), "1")
