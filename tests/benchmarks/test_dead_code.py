"""What nothing needs, by operands alone."""

import sys
from pathlib import Path

from tests.modules import parse_module

from xlareport.analysis.matching.search.pairing import Place

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from dead_code import is_dead

_TEXT = """
HloModule m

%sum (u: f32[], v: f32[]) -> f32[] {
  %u = f32[] parameter(0)
  %v = f32[] parameter(1)
  ROOT %both = f32[] add(%u, %v)
}

ENTRY %main (a: f32[4,4]) -> f32[4,4] {
  %a = f32[4,4]{1,0} parameter(0)
  %zero = f32[] constant(0)
  %dot.1 = f32[4,4]{1,0} dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %sine = f32[4,4]{1,0} sine(%dot.1)
  %reduce = f32[4]{0} reduce(%sine, %zero), dimensions={1}, to_apply=%sum
  %dot.2 = f32[4,4]{1,0} dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.3 = f32[4,4]{1,0} dot(%a, %a), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  %sent = f32[4,4]{1,0} custom-call(%dot.3), custom_call_target="Print"
  ROOT %out = f32[4,4]{1,0} negate(%dot.2)
}
"""


def test_what_is_read_only_by_what_nothing_reads_is_dead() -> None:
    module = parse_module(_TEXT)
    dead = {name for name in module.by_name["main"].by_name if is_dead(module, Place("main", name))}
    assert dead == {"dot.1", "sine", "reduce", "zero"}


def test_an_unknown_instruction_is_not_dead() -> None:
    assert not is_dead(parse_module(_TEXT), Place("main", "dot.4"))
    assert not is_dead(parse_module(_TEXT), Place("other", "dot.1"))
