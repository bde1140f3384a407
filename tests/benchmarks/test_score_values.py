"""What is run to compare the values of a pair: a program for each side, with shared inputs."""

import os
import sys
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import score_values
from asking import ask
from value_programs import ValueProgram

BEFORE = """\
HloModule m

%sum (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %add = f32[] add(%p, %q)
}

%fused (r: f32[4,2]) -> f32[4] {
  %r = f32[4,2]{1,0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %total = f32[4]{0} reduce(%r, %zero), dimensions={1}, to_apply=%sum
}

ENTRY %main (x: f32[4,2]) -> f32[4] {
  %x = f32[4,2]{1,0:T(8,128)} parameter(0)
  %id = u32[] partition-id()
  %id.1 = u32[] partition-id()
  %both = u32[] add(%id, %id.1)
  %fusion = f32[4]{0} fusion(%x), kind=kLoop, calls=%fused
  ROOT %neg = f32[4]{0} negate(%fusion), metadata={op_name="neg"}
}
"""
AFTER = BEFORE.replace("%neg =", "%neg.7 =").replace("%fusion =", "%fusion.7 =")
AFTER = AFTER.replace("negate(%fusion)", "negate(%fusion.7)")


def test_a_fusion_is_inlined_and_layouts_and_metadata_are_left_out() -> None:
    program = ValueProgram(parse_module(BEFORE), "main")
    text, inputs = program.text([program.variables[Place("main", "neg")]])
    assert [program.sources[name].place for name in inputs] == [Place("main", "x")]
    assert "fusion" not in text
    assert "metadata" not in text
    assert "T(8,128)" not in text
    assert "dimensions={1}, to_apply=%sum" in text
    assert text.count("ENTRY") == 1


def test_the_number_of_a_device_is_one_input() -> None:
    program = ValueProgram(parse_module(BEFORE), "main")
    both = program.variables[Place("main", "both")]
    assert len(program.inputs[both]) == 1


@pytest.mark.skipif("XLAREPORT_JAX_PYTHON" not in os.environ, reason="needs jaxlib 0.12")
@pytest.mark.parametrize(("opcode", "equal"), [("negate", True), ("exponential", False)])
def test_a_pair_of_other_values_is_seen(opcode: str, *, equal: bool) -> None:
    before, after = parse_module(BEFORE), parse_module(AFTER.replace("negate", opcode))
    change = step(before, after)
    [question] = score_values.questions_of(before, after, change)
    [answer] = ask(
        os.environ["XLAREPORT_JAX_PYTHON"], score_values.RUNNER, [question.asked], {}, 100
    )
    claims = [claim.after.instruction for claim in question.claims]
    assert answer["equal"][claims.index("neg.7")] is equal
