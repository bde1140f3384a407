from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

REDUCED = """
%most (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %max = f32[] maximum(%x, %y)
}

ENTRY %main (a: f32[4,8]) -> f32[4,8] {
  %a = f32[4,8]{1,0} parameter(0)
  %sine = f32[4,8]{1,0} sine(%a)
  %least = f32[] constant(-inf)
  %reduce = f32[4]{0} reduce(%sine, %least), dimensions={1}, to_apply=%most
  %wide = f32[4,8]{1,0} broadcast(%reduce), dimensions={0}
  ROOT %out = f32[4,8]{1,0} subtract(%sine, %wide)
}
"""
WINDOW = (
    "%window = f32[4,8]{1,0} reduce-window(%sine, %least), window={size=1x15 pad=0_0x7_7}, "
    "to_apply=%most"
)
WINDOWED = (
    "\n".join(line for line in REDUCED.splitlines() if "%wide =" not in line)
    .replace("%reduce = f32[4]{0} reduce(%sine, %least), dimensions={1}, to_apply=%most", WINDOW)
    .replace("%wide", "%window")
)


def test_a_reduction_and_its_broadcast_become_a_window(read: Read) -> None:
    pairing = match(read(REDUCED), read(WINDOWED)).pairing_before(Place("main", "reduce"))
    assert pairing is not None
    assert pairing.after == (Place("main", "window"),)
    assert pairing.relation is Relation.REWRITTEN


def test_another_operation_is_no_such_window(read: Read) -> None:
    least = WINDOWED.replace("maximum", "minimum").replace("%most", "%least_of")
    pairing = match(read(REDUCED), read(least)).pairing_before(Place("main", "reduce"))
    assert pairing is not None
    assert pairing.relation is not Relation.REWRITTEN
