"""Which lines of a computation are those of another in other element types."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.sides.forms import Forms
from xlareport.analysis.matching.sides.retyped import retyped_lines
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BODY = """
%body (p: (f32[4], s32[])) -> (f32[4], s32[]) {
  %p = (f32[4]{0}, s32[]) parameter(0)
  %value = f32[4]{0} get-tuple-element(%p), index=0
  %count = s32[] get-tuple-element(%p), index=1
  %sine = f32[4]{0} sine(%value)
  %less = f32[4]{0} subtract(%sine, %value)
  ROOT %out = (f32[4]{0}, s32[]) tuple(%less, %count)
}
"""
_COPY = """
%copy (p.1: (bf16[4], s32[])) -> (bf16[4], s32[]) {
  %p.1 = (bf16[4]{0}, s32[]) parameter(0)
  %count.1 = s32[] get-tuple-element(%p.1), index=1
  %value.1 = bf16[4]{0} get-tuple-element(%p.1), index=0
  %sine.1 = bf16[4]{0} sine(%value.1)
  %less.1 = bf16[4]{0} subtract(%sine.1, %value.1)
  ROOT %out.1 = (bf16[4]{0}, s32[]) tuple(%less.1, %count.1)
}
"""
_ENTRY = "ENTRY %main (a: s32[]) -> s32[] {\n  ROOT %a = s32[] parameter(0)\n}\n"


def _pairs(read: Read, copy: str) -> dict[str, str]:
    body, other = read(_BODY + copy + _ENTRY).computations[:2]
    return {name: line.name for name, line in retyped_lines(body, other, Forms()).items()}


def test_lines_of_one_graph_in_other_types_are_paired_in_whatever_order(read: Read) -> None:
    names = ("p", "value", "count", "sine", "less", "out")
    assert _pairs(read, _COPY) == {name: f"{name}.1" for name in names}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bf16[4]", "f32[4]"),
        ("bf16[4]", "bf16[5]"),
        ("sine(", "cosine("),
        ("subtract(%sine.1, %value.1)", "subtract(%value.1, %sine.1)"),
        ("index=0", "index=1"),
        ("  ROOT", "  %more = bf16[4]{0} negate(%less.1)\n  ROOT"),
    ],
    ids=["types", "dimensions", "opcode", "operands", "attributes", "a line more"],
)
def test_others_are_not(read: Read, old: str, new: str) -> None:
    assert old in _COPY
    assert not _pairs(read, _COPY.replace(old, new))


def test_computations_without_parameters_are_not(read: Read) -> None:
    first = "\n%one () -> f32[] {\n  ROOT %c = f32[] constant(1)\n}\n"
    second = first.replace("f32", "bf16").replace("one", "other").replace("%c", "%d")
    body, other = read(first + second + _ENTRY).computations[:2]
    assert not retyped_lines(body, other, Forms())


def test_a_tuple_of_the_same_elements_in_another_order_is_of_no_other_types(read: Read) -> None:
    line = "  ROOT %p = (f32[4]{0}, s32[4]{0}) parameter(0)"
    body = f"\n%one (p: (f32[4], s32[4])) -> (f32[4], s32[4]) {{\n{line}\n}}\n"
    turned = body.replace("%one", "%other").replace("%p ", "%q ").replace("f32", "u32")
    turned = turned.replace("s32", "f32").replace("u32", "s32")
    first, second = read(body + turned + _ENTRY).computations[:2]
    assert not retyped_lines(first, second, Forms())
