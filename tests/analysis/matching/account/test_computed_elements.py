"""Elements of a loop that are computed from another one of it."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_STATE = "(s32[], s32[], f32[8])"
_TAKEN = "".join(
    f"  %p.{n} = {shape} get-tuple-element(%p), index={n}\n"
    for n, shape in enumerate(("s32[]", "s32[]", "f32[8]{0}"))
)
_BEFORE = f"""
HloModule m

%body (p: {_STATE}) -> {_STATE} {{
  %p = (s32[], s32[], f32[8]{{0}}) parameter(0)
  %one = s32[] constant(1)
{_TAKEN}  %next.0 = s32[] add(%p.0, %one)
  %next.1 = s32[] add(%p.1, %one)
  %read = f32[1]{{0}} dynamic-slice(%p.2, %p.1), dynamic_slice_sizes={{1}}
  %next.2 = f32[8]{{0}} dynamic-update-slice(%p.2, %read, %p.0)
  ROOT %out = (s32[], s32[], f32[8]{{0}}) tuple(%next.0, %next.1, %next.2)
}}

%condition (q: {_STATE}) -> pred[] {{
  %q = (s32[], s32[], f32[8]{{0}}) parameter(0)
  %four = s32[] constant(4)
  %q.0 = s32[] get-tuple-element(%q), index=0
  ROOT %less = pred[] compare(%q.0, %four), direction=LT
}}

ENTRY %main (a: f32[8], b: s32[]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = s32[] parameter(1)
  %zero = s32[] constant(0)
  %start = (s32[], s32[], f32[8]{{0}}) tuple(%zero, %b, %a)
  %loop = (s32[], s32[], f32[8]{{0}}) while(%start), condition=%condition, body=%body
  ROOT %end = f32[8]{{0}} get-tuple-element(%loop), index=2
}}
"""
_AFTER = (
    _BEFORE.replace(
        "  %next.1 = s32[] add(%p.1, %one)\n",
        "  %times = s32[] multiply(%p.0, %one)\n  %counted = s32[] add(%p.1, %times)\n"
        "  %next.1 = s32[] add(%counted, %one)\n",
    )
    .replace("dynamic-slice(%p.2, %p.1)", "dynamic-slice(%p.2, %counted)")
    .replace("tuple(%next.0, %next.1,", "tuple(%next.0, %p.1,")
    .replace("%loop", "%while.9")
)


def test_an_element_that_is_computed_from_the_counter_is_no_counter_any_more(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_AFTER)).pairing_after(Place("body", "counted"))
    assert pairing is not None
    assert str(pairing.reason) == "computes element 1 of %while.9 from element 0"
    change = step(read(_BEFORE), read(_AFTER))
    words = " ".join((change.headline, *change.account))
    assert "`%counted` in `body` was added: computes element 1 of `%while.9` from" in words


def test_a_sum_of_an_element_that_still_counts_is_none_of_these(read: Read) -> None:
    after = _AFTER.replace("tuple(%next.0, %p.1,", "tuple(%next.0, %next.1,")
    pairing = match(read(_BEFORE), read(after)).pairing_after(Place("body", "counted"))
    assert pairing is not None
    assert "computes element" not in str(pairing.reason)
