"""Arrows say which operand they bring and how much."""

from collections.abc import Callable

import pytest

from xlareport.hlo.model import HloModule
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.drawing import Arrow
from xlareport.pictures.operand_uses import Item, Uses, collect_uses
from xlareport.pictures.scene import Instance

MODULE = """
ENTRY main {
  x = f32[64,64] parameter(0)
  a = f32[64,64] abs(x)
  b = f32[64,64] negate(a)
  small = f32[8] custom-call(a), custom_call_target="f"
  number = f32[] custom-call(b), custom_call_target="g"
  product = f32[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  square = f32[64,64] subtract(a, a)
  sum = f32[64,64] add(a, b)
  pair = (f32[64,64], f32[8]) custom-call(a, small, number), custom_call_target="h"
  left = f32[64,64] get-tuple-element(pair), index=0
  right = f32[8] get-tuple-element(pair), index=1
  both = f32[64,64] custom-call(left, right), custom_call_target="i", control-predecessors={sum}
  only = f32[8] reduce(right, number), dimensions={}, to_apply=f
  ROOT out = (f32[64,64], f32[8], f32[64,64], f32[64,64]) tuple(both, only, square, sum)
}
"""


@pytest.fixture
def uses(module_of: Callable[[str], HloModule]) -> Uses:
    """Return what the whole module uses, each instruction in a box."""
    return found(module_of(MODULE), lambda _: True)


def found(module: HloModule, shown: Callable[[str], bool]) -> Uses:
    assert module.entry is not None
    instance = Instance(Folding(module.entry))
    items = [Item(instance, drawing) for drawing in instance.drawn() if shown(drawing.name)]
    return collect_uses(
        items, [drawing.name for drawing in instance.drawn() if shown(drawing.name)]
    )


def edges(uses: Uses) -> dict[tuple[str, str], Arrow]:
    return {(edge.source, edge.target): edge for edge in uses.edges() if edge.style != "control"}


def test_an_operand_has_its_number_where_that_matters(uses: Uses) -> None:
    found = edges(uses)
    assert found["a", "product"].label == "0"
    assert found["b", "product"].label == "1"
    assert found["a", "sum"].label == found["b", "sum"].label == ""
    assert found["x", "a"].label == "" if ("x", "a") in found else True


def test_an_operand_that_comes_alone_needs_no_number(uses: Uses) -> None:
    assert edges(uses)["a", "square"].label == ""


def test_elements_of_tuples_are_told(uses: Uses) -> None:
    assert edges(uses)["pair", "both"].label == "#0,#1"


def test_a_small_value_has_a_thin_arrow(uses: Uses) -> None:
    found = edges(uses)
    assert found["a", "b"].style == "normal"
    assert found["small", "pair"].style == "thin"
    assert found["pair", "only"].style == "thin"
    assert found["pair", "both"].style == "normal"


def test_control_has_an_arrow_of_its_own(uses: Uses) -> None:
    assert uses.edges()[-1] == Arrow("sum", "both", style="control")


def test_folded_operands_are_told_by_number(uses: Uses) -> None:
    assert uses.folded == {"a": [(0, "parameter 0 f32[64,64]")]}


def test_the_elements_of_the_result_are_numbered(uses: Uses) -> None:
    assert uses.outputs == {"both": [0], "only": [1], "square": [2], "sum": [3]}


def test_what_has_no_box_is_made_or_used_outside(module_of: Callable[[str], HloModule]) -> None:
    uses = found(module_of(MODULE), {"product", "sum", "pair"}.__contains__)
    users = {name: used_by for name, (_, used_by) in uses.outside.items()}
    assert users == {
        "a": ["product", "sum", "pair"],
        "b": ["product", "sum"],
        "small": ["pair"],
        "number": ["pair"],
    }
    assert uses.leaving == {"pair"}


def test_arrows_with_single_numbers_can_be_dropped(uses: Uses) -> None:
    before = len(uses.edges())
    assert uses.drop_numbers({"product"}) == 0
    assert uses.drop_numbers({"pair"}) == 1
    assert len(uses.edges()) == before - 1
    assert ("number", "pair") not in edges(uses)
