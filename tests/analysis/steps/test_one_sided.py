from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.steps.one_sided import one_sided_scopes
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]
BASE = """
ENTRY %main {
  %a = f32[8]{0} parameter(0), metadata={op_name="a"}
  ROOT %out = f32[8]{0} tanh(%a), metadata={op_name="jit(f)/jvp(layer_0)/mlp/tanh"}
}
"""
HEAD = """
ENTRY %main {
  %a = f32[8]{0} parameter(0), metadata={op_name="a"}
  %tanh.1 = f32[8]{0} tanh(%a), metadata={op_name="jit(f)/jvp(layer_0)/mlp/tanh"}
  ROOT %out = f32[8]{0} tanh(%tanh.1), metadata={op_name="jit(f)/jvp(layer_1)/mlp/tanh"}
}
"""


def test_the_outermost_scope_of_one_side_is_told_first(read: Read) -> None:
    before, after = read(BASE), read(HEAD)
    assert one_sided_scopes(match(before, after, same_program=False)) == ((), ("layer_1",))
    headline = step(before, after, "The head", same_program=False).headline
    assert headline.startswith("The head has scope `layer_1`, which the base lacks: it added 1 ")
    back = step(after, before, "The head", same_program=False).headline
    assert back.startswith("The head lacks scope `layer_1` of the base: it removed 1 ")


def test_snapshots_of_one_program_have_the_same_scopes(read: Read) -> None:
    assert one_sided_scopes(match(read(BASE), read(HEAD))) == ((), ())
