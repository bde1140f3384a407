"""Scatters of single elements that became selects, by comparing indices with an iota."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_ADD = (
    "%add (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n"
    "  %y = f32[] parameter(1)\n  ROOT %s = f32[] add(%x, %y)\n}\n\n"
)
_OP = 'metadata={op_name="jit(f)/scatter-add"}'
BEFORE = f"""HloModule m

{_ADD}ENTRY %main (i: s32[4], w: f32[4,8]) -> (f32[4,8], f32[4]) {{
  %i = s32[4]{{0}} parameter(0)
  %w = f32[4,8]{{1,0}} parameter(1)
  %zero = f32[] constant(0)
  %array = f32[4,8]{{1,0}} broadcast(%zero), dimensions={{}}
  %seven = f32[] constant(7)
  %updates = f32[4]{{0}} broadcast(%seven), dimensions={{}}
  %index = s32[4,1]{{1,0}} reshape(%i)
  %scatter.1 = f32[4,8]{{1,0}} scatter(%array, %index, %updates), update_window_dims={{}}, \
inserted_window_dims={{1}}, scatter_dims_to_operand_dims={{1}}, input_batching_dims={{0}}, \
scatter_indices_batching_dims={{0}}, index_vector_dim=1, to_apply=%add, {_OP}
  %sum.2 = f32[4]{{0}} reduce(%scatter.1, %zero), dimensions={{1}}, to_apply=%add
  %product.3 = f32[4,8]{{1,0}} multiply(%scatter.1, %w)
  ROOT %t = (f32[4,8]{{1,0}}, f32[4]{{0}}) tuple(%product.3, %sum.2)
}}
"""


def _one_hot(number: int, direction: str, fill: str) -> str:
    """Return a select of the updates where an iota equals the indices, with numbered names."""
    return f"""  %zero.{number} = f32[] constant({fill})
  %seven.{number} = f32[] constant(7)
  %wide.{number} = s32[4,8]{{1,0}} broadcast(%p.{number}), dimensions={{0}}
  %iota.{number} = s32[4,8]{{1,0}} iota(), iota_dimension=1
  %found.{number} = pred[4,8]{{1,0}} compare(%wide.{number}, %iota.{number}), direction={direction}
  %updates.{number} = f32[4,8]{{1,0}} broadcast(%seven.{number}), dimensions={{}}
  %array.{number} = f32[4,8]{{1,0}} broadcast(%zero.{number}), dimensions={{}}
  %select.{number} = f32[4,8]{{1,0}} select(%found.{number}, %updates.{number}, %array.{number}), \
{_OP}
"""


def _after(direction: str = "EQ", fill: str = "0") -> str:
    return f"""HloModule m

{_ADD}%fused.1 (p.1: s32[4]) -> f32[4] {{
  %p.1 = s32[4]{{0}} parameter(0)
{_one_hot(1, direction, fill)}  ROOT %reduce.1 = f32[4]{{0}} reduce(%select.1, %zero.1), \
dimensions={{1}}, to_apply=%add
}}

%fused.2 (p.2: s32[4], q: f32[4,8]) -> f32[4,8] {{
  %p.2 = s32[4]{{0}} parameter(0)
  %q = f32[4,8]{{1,0}} parameter(1)
{_one_hot(2, direction, fill)}  ROOT %multiply.2 = f32[4,8]{{1,0}} multiply(%select.2, %q)
}}

ENTRY %main (i: s32[4], w: f32[4,8]) -> (f32[4,8], f32[4]) {{
  %i = s32[4]{{0}} parameter(0)
  %w = f32[4,8]{{1,0}} parameter(1)
  %fusion.1 = f32[4]{{0}} fusion(%i), kind=kLoop, calls=%fused.1
  %fusion.2 = f32[4,8]{{1,0}} fusion(%i, %w), kind=kLoop, calls=%fused.2
  ROOT %t = (f32[4,8]{{1,0}}, f32[4]{{0}}) tuple(%fusion.2, %fusion.1)
}}
"""


def test_a_scatter_is_expanded_into_what_fusions_select_by_comparing(read: Read) -> None:
    before, after = read(BEFORE), read(_after())
    matching = match(before, after)
    pairing = matching.pairing_before(Place("main", "scatter.1"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    first, second = ([f"{name}.{number}" for name in _PARTS] for number in (1, 2))
    assert {place.instruction for place in pairing.after} == {*first, *second}
    assert pairing.after[0].instruction == "select.1"
    assert matching.partner_after(Place("main", "array")) == Place("fused.1", "array.1")
    told = step(before, after)
    assert not any("not known" in sentence for sentence in (told.headline, *told.account))
    holder = matching.pairing_after(Place("main", "fusion.1"))
    assert holder is not None
    assert "new" not in str(holder.reason)


_PARTS = ("select", "found", "wide", "iota")


@pytest.mark.parametrize("after", [_after("LT"), _after(fill="1")])
def test_another_comparison_or_array_is_no_scatter(read: Read, after: str) -> None:
    """What its other user reads is a copy of what took its place in one fusion."""
    pairing = match(read(BEFORE), read(after)).pairing_before(Place("main", "scatter.1"))
    assert pairing is not None
    reasons = {place: pairing.known_of(pairing.before[0], place).reason for place in pairing.after}
    own = {place for place, why in reasons.items() if not str(why).startswith("a further copy of")}
    is_expanded = pairing.relation is Relation.EXPANDED
    assert not is_expanded or {place.computation for place in own} == {"fused.2"}


def test_the_sum_of_a_scatter_is_not_merged_into_another_of_its_stem(read: Read) -> None:
    """What the scatter became applies none."""
    own = _ADD.replace("%add ", "%add.9 ").replace("%s =", "%s.9 =")
    own = own.replace("%x", "%v").replace("%y", "%w").replace("(x: f32[], y:", "(v: f32[], w:")
    before = BEFORE.replace(_ADD, own + _ADD).replace(
        f"to_apply=%add, {_OP}", f"to_apply=%add.9, {_OP}"
    )
    pairing = match(read(before), read(_after())).pairing_before(Place("add.9", "s.9"))
    assert pairing is not None
    assert pairing.relation is Relation.REMOVED
