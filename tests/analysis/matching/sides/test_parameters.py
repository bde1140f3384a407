import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.sides.parameters import can_continue
from xlareport.hlo.model import Instruction

MODULE = """\
HloModule m

ENTRY %main (a: {0}, b: {1}) -> {1} {{
  %a = {0} parameter(0)
  ROOT %b = {1} parameter(1)
}}
"""


def parameters(first: str, second: str) -> tuple[Instruction, Instruction]:
    module = parse_module(MODULE.format(first, second))
    one, other = module.instructions
    return one, other


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f32[1000,256]{1,0}", "f32[1000,256]{0,1}"),
        ("f32[1000,256]{1,0}", "f32[250,256]{1,0}"),
        ("f32[10]{0}", "f32[4]{0}"),
        ("f32[4,8]{1,0}", "f32[32]{0}"),
        ("f32[8]{0}", "bf16[8]{0}"),
        ("f32[16]{0}", "(f32[16]{0})"),
        ("f32[4,8]{0,1}", "(s32[], f32[4,8]{1,0})"),
        ("(f32[16]{0}, s32[])", "(s32[], f32[16]{0}, pred[])"),
    ],
)
def test_a_parameter_can_be_another(before: str, after: str) -> None:
    assert can_continue(*parameters(before, after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f32[1000,256]{1,0}", "s32[1,128]{1,0}"),
        ("f32[8]{0}", "pred[8]{0}"),
        ("f32[]", "bf16[2048,1024]{1,0}"),
        ("f32[1000,256]{1,0}", "f32[999,256]{1,0}"),
        ("f32[16]{0}", "(s32[], pred[])"),
        ("f32[4,8]{0,1}", "(f32[8,4]{1,0})"),
    ],
)
def test_a_parameter_cannot_be_another(before: str, after: str) -> None:
    assert not can_continue(*parameters(before, after))


CONSTANTS = """\
HloModule m

ENTRY %main () -> f32[1] {{
  %a = f32[] constant({0})
  ROOT %{2} = f32[1]{{0}} constant({1})
}}
"""


@pytest.mark.parametrize(
    ("before", "after", "name", "can"),
    [("2", "{2}", "b", True), ("64", "0.015625", "b", False), ("1", "{ -1 }", "b", False)],
)
def test_constants_go_on_by_value(before: str, after: str, name: str, *, can: bool) -> None:
    module = parse_module(CONSTANTS.format(before, after, name))
    one, other = module.instructions
    assert can_continue(one, other) is can
