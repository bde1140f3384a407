"""Bodies of loops that were cloned, and then changed alike."""

from collections.abc import Callable

from xlareport.analysis.matching.account.repeated_bodies import by_place_after
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_TYPE = "(s32[], f32[8])"


def _loop(number: str, body: str, given: str) -> str:
    return f"""  %zero.{number} = s32[] constant(0)
  %start.{number} = {_TYPE} tuple(%zero.{number}, %{given})
  %while.{number} = {_TYPE} while(%start.{number}), condition=%cond, body=%{body}
  %end.{number} = f32[8]{{0}} get-tuple-element(%while.{number}), index=1
"""


def _module(bodies: str, loops: str) -> str:
    return f"""HloModule m

{bodies}%cond (q: {_TYPE}) -> pred[] {{
  %q = {_TYPE} parameter(0)
  %n = s32[] get-tuple-element(%q), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%n, %ten), direction=LT
}}

ENTRY %main (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
{loops}  ROOT %r = (f32[8]{{0}}, f32[8]{{0}}) tuple(%end.1, %end.2)
}}
"""


def _body(name: str, ending: str, operation: str) -> str:
    return f"""%{name} (p: {_TYPE}) -> {_TYPE} {{
  %p{ending} = {_TYPE} parameter(0)
  %i{ending} = s32[] get-tuple-element(%p{ending}), index=0
  %one{ending} = s32[] constant(1)
  %next{ending} = s32[] add(%i{ending}, %one{ending})
  %x{ending} = f32[8]{{0}} get-tuple-element(%p{ending}), index=1
{operation}  ROOT %t{ending} = {_TYPE} tuple(%next{ending}, %y{ending})
}}

"""


def _fused(number: str) -> str:
    return f"""%fused.{number} (g: f32[8]) -> f32[8] {{
  %g.{number} = f32[8]{{0}} parameter(0)
  %sine.{number} = f32[8]{{0}} sine(%g.{number})
  ROOT %double.{number} = f32[8]{{0}} add(%sine.{number}, %sine.{number})
}}

"""


def _fusion(number: str) -> str:
    return f"  %y.{number} = f32[8]{{0}} fusion(%x.{number}), kind=kLoop, calls=%fused.{number}\n"


BEFORE = _module(
    _body("body", "", "  %s = f32[8]{0} sine(%x)\n  %y = f32[8]{0} add(%s, %s)\n"),
    _loop("1", "body", "a") + _loop("2", "body", "b"),
)
AFTER = _module(
    "".join(
        _fused(number) + _body(f"body.clone.{number}", f".{number}", _fusion(number))
        for number in ("8", "9")
    ),
    _loop("1", "body.clone.8", "a") + _loop("2", "body.clone.9", "b"),
)


def test_both_bodies_are_copies_of_the_one_that_was_called_twice(read: Read) -> None:
    matching = match(read(BEFORE), read(AFTER))
    for name, line in (("s", "sine"), ("y", "double")):
        pairing = matching.pairing_before(Place("body", name))
        assert pairing is not None
        places = {Place(f"fused.{number}", f"{line}.{number}") for number in (8, 9)}
        assert {*pairing.after} == places


def test_the_fusion_in_each_holds_what_was_there(read: Read) -> None:
    matching = match(read(BEFORE), read(AFTER))
    for number in (8, 9):
        pairing = matching.pairing_after(Place(f"body.clone.{number}", f"y.{number}"))
        assert pairing is not None
        assert pairing.relation is Relation.FUSED
        assert {*pairing.before} == {Place("body", "s"), Place("body", "y")}


def test_another_body_of_the_same_opcodes_is_no_copy(read: Read) -> None:
    other = AFTER.replace("add(%sine.9, %sine.9)", "add(%sine.9, %g.9)")
    pairing = match(read(BEFORE), read(other)).pairing_after(Place("fused.9", "double.9"))
    assert pairing is None or Place("body", "y") not in pairing.before


def test_a_fusion_that_holds_most_of_an_inlined_call_is_not_what_that_became() -> None:
    call, held, fusion = Place("body", "call"), Place("called", "add"), Place("body.2", "fusion")
    created = Pairing((held,), (fusion,), Grade.MATCHED, "fuses 1 instruction", Relation.FUSED)
    holds = Pairing((call,), (fusion,), Grade.MATCHED, "holds 1 of its 1", Relation.ABSORBED)
    assert by_place_after([created, holds]) == {fusion: created}
