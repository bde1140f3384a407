"""Bodies of loops whose result takes the elements of a copy of the former result."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.loops.opened_results import sole_opened
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_LOOP = """
%body (p: (s32[], s32[], f32[8])) -> (s32[], s32[], f32[8]) {
  %p = (s32[], s32[], f32[8]) parameter(0)
  %one = s32[] constant(1)
  %i = s32[] get-tuple-element(%p), index=0
  %j = s32[] get-tuple-element(%p), index=1
  %x = f32[8] get-tuple-element(%p), index=2
  %add.237 = s32[] add(%i, %one), metadata={op_name="while/body/add"}
  %add.238 = s32[] add(%j, %one), metadata={op_name="while/body/eval/add"}
  %fill = f32[8] broadcast(%add.238), dimensions={}
  %power = f32[8] power(%x, %fill)
  ROOT %tuple.7 = (s32[], s32[], f32[8]) tuple(%add.237, %add.238, %power)
}

%cond (c: (s32[], s32[], f32[8])) -> pred[] {
  %c = (s32[], s32[], f32[8]) parameter(0)
  %n = s32[] constant(10)
  %k = s32[] get-tuple-element(%c), index=0
  ROOT %less = pred[] compare(%k, %n), direction=LT
}

ENTRY %main (a: s32[], b: s32[], y: f32[8]) -> (s32[], s32[], f32[8]) {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  %y = f32[8] parameter(2)
  %init = (s32[], s32[], f32[8]) tuple(%a, %b, %y)
  ROOT %while = (s32[], s32[], f32[8]) while(%init), condition=%cond, body=%body
}
"""
_BODY = """
%body.clone (q: (s32[], s32[], f32[8])) -> (s32[], s32[], f32[8]) {
  %q = (s32[], s32[], f32[8]) parameter(0)
  %one.1 = s32[] constant(1)
  %i.1 = s32[] get-tuple-element(%q), index=0
  %j.1 = s32[] get-tuple-element(%q), index=1
  %x.1 = f32[8] get-tuple-element(%q), index=2
  %multiply = s32[] multiply(%i.1, %one.1)
  %add.1321 = s32[] add(%j.1, %multiply)
  %tuple.12 = (s32[], s32[], f32[8]) tuple(%i.1, %add.1321, %x.1)
  %two = s32[] constant(1)
  %i.2 = s32[] get-tuple-element(%tuple.12), index=0
  %j.2 = s32[] get-tuple-element(%tuple.12), index=1
  %x.2 = f32[8] get-tuple-element(%tuple.12), index=2
  %add.1093 = s32[] add(%i.2, %two), metadata={op_name="while/body/add"}
  %add.1094 = s32[] add(%j.2, %two), metadata={op_name="while/body/eval/add"}
  %fill.1 = f32[8] broadcast(%add.1094), dimensions={}
  %power.1 = f32[8] power(%x.2, %fill.1)
  %tuple.10 = (s32[], s32[], f32[8]) tuple(%add.1093, %add.1094, %power.1)
  %i.3 = s32[] get-tuple-element(%tuple.10), index=0
  %x.3 = f32[8] get-tuple-element(%tuple.10), index=2
  ROOT %tuple.13 = (s32[], s32[], f32[8]) tuple(%i.3, %j.1, %x.3)
}
"""
_COMPUTED = _BODY + _LOOP[_LOOP.index("\n%cond") :].replace("body=%body", "body=%body.clone")


def test_a_counter_that_is_computed_at_the_start_of_the_body_is_new(read: Read) -> None:
    matching = match(read(_LOOP), read(_COMPUTED))
    assert matching.partner_after(Place("body", "tuple.7")) == Place("body.clone", "tuple.10")
    assert matching.partner_after(Place("body", "add.238")) == Place("body.clone", "add.1094")
    assert Place("body.clone", "add.1321") in matching.added


@pytest.mark.parametrize(
    ("results", "opened"),
    [
        ("%i.3, %j.1, %x.3", "tuple.10"),
        ("%i.3, %j.2, %x.3", None),
        ("%i.3, %add.1321, %x.3", None),
        ("%i.1, %j.1, %x.1", None),
        ("%x.3, %j.1, %i.3", None),
        ("%i.3, %j.1", None),
    ],
    ids=["passed on", "of another", "computed", "all passed on", "in another order", "fewer"],
)
def test_a_result_opens_the_tuple_of_which_it_takes_the_elements(
    read: Read, results: str, opened: str | None
) -> None:
    now = _COMPUTED.replace("tuple(%i.3, %j.1, %x.3)", f"tuple({results})")
    search = start(read(_LOOP), read(now))
    frames = search.before.frames, search.after.frames
    former, result = [
        next(
            frame.node(frame.computation.by_name[name])
            for frame in numbered.values()
            if name in frame.computation.by_name
        )
        for name, numbered in zip(("tuple.7", "tuple.13"), frames, strict=True)
    ]
    whole = sole_opened(former, result)
    assert (None if whole is None else whole.instruction.name) == opened
