"""Repetitions and sums in the order of the elements."""

from collections.abc import Callable

from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.order_patterns import repetition_pattern, sum_pattern
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_TEXT = """HloModule m

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8], b: f32[2,4,8], c: f32[8,8], z: f32[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[2,4,8]{2,1,0} parameter(1)
  %c = f32[8,8]{1,0} parameter(2)
  %z = f32[] parameter(3)
  %three = f32[2,4,8]{2,1,0} broadcast(%a), dimensions={2}
  %two = f32[8,8]{1,0} broadcast(%a), dimensions={1}
  %down = f32[8,8]{1,0} broadcast(%a), dimensions={0}
  %turned = f32[8,8]{1,0} broadcast(%c), dimensions={1,0}
  %rows = f32[2,4]{1,0} reduce(%b, %z), dimensions={2}, to_apply=%sum
  %lines = f32[8]{0} reduce(%c, %z), dimensions={1}, to_apply=%sum
  ROOT %columns = f32[8]{0} reduce(%c, %z), dimensions={0}, to_apply=%sum
}
"""


def _nodes(read: Read) -> tuple[HloModule, dict[str, Node]]:
    module = read(_TEXT)
    side = start(module, read(_TEXT.replace("%main", "%other"))).before
    assert module.entry is not None
    frame = side.graph.home(module.entry)
    return module, {line.name: frame.node(line) for line in module.entry.instructions}


def test_rows_are_repeated_alike_in_two_and_in_three_dimensions(read: Read) -> None:
    _, nodes = _nodes(read)
    pattern = repetition_pattern(nodes["two"])
    assert pattern == repetition_pattern(nodes["three"]) == ((False, 8), (True, 8))
    assert repetition_pattern(nodes["down"]) == ((True, 8), (False, 8))
    assert repetition_pattern(nodes["turned"]) is None


def test_rows_are_summed_alike(read: Read) -> None:
    module, nodes = _nodes(read)
    assert sum_pattern(module, nodes["rows"]) == ("add", (False, 8), (True, 8))
    assert sum_pattern(module, nodes["lines"]) == sum_pattern(module, nodes["rows"])
    assert sum_pattern(module, nodes["columns"]) != sum_pattern(module, nodes["rows"])
