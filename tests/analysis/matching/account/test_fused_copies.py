"""Copies in fusions of values that all layers have, such as a mask."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def _mask(ending: str, op: str) -> str:
    """Return the lines of a mask of a framework op."""
    of_op = f'metadata={{op_name="{op}"}}'
    return f"""  %row.{ending} = s32[8,8]{{1,0}} iota(), iota_dimension=0, {of_op}
  %column.{ending} = s32[8,8]{{1,0}} iota(), iota_dimension=1, {of_op}
  %mask.{ending} = pred[8,8]{{1,0}} compare(%row.{ending}, %column.{ending}), direction=GE, {of_op}
"""


_BEFORE = f"""
HloModule m

ENTRY %main (a: f32[8,8], b: f32[8,8]) -> (f32[8,8], f32[8,8]) {{
  %a = f32[8,8]{{1,0}} parameter(0)
  %b = f32[8,8]{{1,0}} parameter(1)
{_mask("1", "layer_0/tril")}{_mask("2", "layer_1/tril")}\
  %low.1 = f32[8,8]{{1,0}} select(%mask.1, %a, %b)
  %low.2 = f32[8,8]{{1,0}} select(%mask.2, %b, %a)
  ROOT %out = (f32[8,8]{{1,0}}, f32[8,8]{{1,0}}) tuple(%low.1, %low.2)
}}
"""


def _fused(ending: str, op: str, root: str) -> str:
    return f"""
%fused.{ending} (p.{ending}: f32[8,8], q.{ending}: f32[8,8]) -> f32[8,8] {{
  %p.{ending} = f32[8,8]{{1,0}} parameter(0)
  %q.{ending} = f32[8,8]{{1,0}} parameter(1)
{_mask(ending, op)}{root}
}}
"""


def _select(ending: str) -> str:
    operands = f"%mask.{ending}, %p.{ending}, %q.{ending}"
    return f"  ROOT %low.{ending} = f32[8,8]{{1,0}} select({operands})"


_COUNTS = """  %ones = s32[8,8]{1,0} convert(%mask.9)
  %floats = f32[8,8]{1,0} convert(%ones)
  ROOT %grown = f32[8,8]{1,0} multiply(%floats, %p.9)"""


def _after(op: str) -> str:
    """Return both selects in fusions, and a third fusion that uses a mask of a framework op."""
    fusions = (
        _fused("1", "layer_0/tril", _select("1")),
        _fused("2", "layer_1/tril", _select("2")),
        _fused("9", op, _COUNTS),
    )
    shape = "f32[8,8]{1,0}"
    return f"""
HloModule m
{"".join(fusions)}
ENTRY %main (a: f32[8,8], b: f32[8,8]) -> (f32[8,8], f32[8,8]) {{
  %a = {shape} parameter(0)
  %b = {shape} parameter(1)
  %fusion.1 = {shape} fusion(%a, %b), kind=kLoop, calls=%fused.1
  %fusion.2 = {shape} fusion(%b, %a), kind=kLoop, calls=%fused.2
  %fusion.9 = {shape} fusion(%fusion.2, %a), kind=kLoop, calls=%fused.9
  ROOT %out = ({shape}, {shape}) tuple(%fusion.1, %fusion.9)
}}
"""


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("name", ["row", "column", "mask"])
def test_a_copy_has_the_original_of_its_framework_op(read: Read, layer: int, name: str) -> None:
    matching = match(read(_BEFORE), read(_after(f"layer_{layer}/tril")))
    pairing = matching.pairing_after(Place("fused.9", f"{name}.9"))
    assert pairing is not None
    assert pairing.before == (Place("main", f"{name}.{layer + 1}"),)
    known = pairing.known_of(pairing.before[0], Place("fused.9", f"{name}.9"))
    assert str(known.reason).startswith("a further copy")


def test_an_equal_value_of_another_framework_op_is_no_copy(read: Read) -> None:
    matching = match(read(_BEFORE), read(_after("layer_2/tril")))
    pairing = matching.pairing_after(Place("fused.9", "mask.9"))
    assert pairing is not None
    assert pairing.before == ()
