"""What is computed only for certain instructions."""

from tests.modules import parse_module

from xlareport.analysis.cost.only_uses import find_only_for
from xlareport.hlo.model import Computation, Instruction

TEXT = """HloModule m

scaled {
  p = f32[8]{0} parameter(0)
  ROOT s = f32[8]{0} negate(p)
}

ENTRY main {
  m = f32[8]{0} parameter(0)
  g = f32[8]{0} parameter(1)
  decayed = f32[8]{0} fusion(m), kind=kLoop, calls=scaled
  squared = f32[8]{0} multiply(g, g)
  shown = f32[8]{0} negate(g)
  update = f32[8]{0} add(decayed, squared)
  ROOT out = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(update, decayed, shown)
}
"""


def _is_update(_: Computation, line: Instruction, __: str) -> bool:
    return line.name == "update"


def _may_be(_: Computation, line: Instruction, __: str) -> bool:
    return line.name not in {"g", "update"}


def test_what_only_the_users_read_is_theirs_with_the_contents_of_its_fusions() -> None:
    module = parse_module(TEXT)
    names = find_only_for(module.computations, module, _is_update, _may_be)
    assert names["main"] == {"m", "decayed", "squared"}
    assert names["scaled"] == {"p", "s"}


def test_what_another_instruction_reads_as_well_is_not() -> None:
    module = parse_module(TEXT.replace("negate(g)", "negate(squared)"))
    names = find_only_for(module.computations, module, _is_update, _may_be)
    assert "squared" not in names["main"]
