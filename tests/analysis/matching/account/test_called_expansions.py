"""Instructions that became calls of new computations."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_SHAPE = "f32[8,8]{1,0}"
_NUMBERS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
_PARTS = f"({_SHAPE}, s32[8]{{0}})"
_FACTORS = f"""HloModule m

ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {{
  %a = {_SHAPE} parameter(0)
  %b = {_SHAPE} parameter(1)
  %lu.1 = {_PARTS} custom-call(%a), custom_call_target="LuDecomposition"
  %left = {_SHAPE} get-tuple-element(%lu.1), index=0
  %lu.2 = {_PARTS} custom-call(%b), custom_call_target="LuDecomposition"
  %right = {_SHAPE} get-tuple-element(%lu.2), index=0
  ROOT %out = {_SHAPE} add(%left, %right)
}}
"""
_OUTLINED = (
    _FACTORS.replace(
        "ENTRY",
        f"""%factors (p: f32[8,8]) -> (f32[8,8], s32[8]) {{
  %p = {_SHAPE} parameter(0)
  %block = {_PARTS} custom-call(%p), custom_call_target="Block"
  %whole = {_SHAPE} get-tuple-element(%block), index=0
  %rows = s32[8]{{0}} get-tuple-element(%block), index=1
  %one = s32[] constant(1)
  %ones = s32[8]{{0}} broadcast(%one), dimensions={{}}
  %shifted = s32[8]{{0}} add(%rows, %ones)
  %negated = {_SHAPE} negate(%whole)
  ROOT %result = {_PARTS} tuple(%negated, %shifted)
}}

ENTRY""",
    )
    .replace(
        f'%lu.1 = {_PARTS} custom-call(%a), custom_call_target="LuDecomposition"',
        f"%call.1 = {_PARTS} call(%a), to_apply=%factors",
    )
    .replace(
        f'%lu.2 = {_PARTS} custom-call(%b), custom_call_target="LuDecomposition"',
        f"%call.2 = {_PARTS} call(%b), to_apply=%factors",
    )
    .replace("get-tuple-element(%lu.1)", "get-tuple-element(%call.1)")
    .replace("get-tuple-element(%lu.2)", "get-tuple-element(%call.2)")
)


def _expander(name: str, side: str) -> str:
    return f"""%{name} (p.{name}: f32[8,8], q.{name}: f32[8,8]) -> f32[8,8] {{
  %p.{name} = {_SHAPE} parameter(0)
  %q.{name} = {_SHAPE} parameter(1)
  %part.{name} = {_SHAPE} slice(%q.{name}), slice={{[0:8], [0:8]}}
  %inverse.{name} = {_SHAPE} custom-call(%p.{name}), custom_call_target="Invert{side}"
  %dot.{name} = {_SHAPE} dot(%inverse.{name}, %part.{name}), {_NUMBERS}
  ROOT %turned.{name} = {_SHAPE} transpose(%dot.{name}), dimensions={{0,1}}
}}
"""


_SOLVES = f"""HloModule m

ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {{
  %a = {_SHAPE} parameter(0)
  %b = {_SHAPE} parameter(1)
  %solve.1 = {_SHAPE} triangular-solve(%a, %b), left_side=true, lower=true
  %solve.2 = {_SHAPE} triangular-solve(%a, %solve.1), left_side=true
  ROOT %out = {_SHAPE} tanh(%solve.2)
}}
"""
_CALLED = _SOLVES.replace(
    "ENTRY", f"{_expander('low', 'Lower')}\n{_expander('high', 'Upper')}\nENTRY"
).replace(
    f"  %solve.1 = {_SHAPE} triangular-solve(%a, %b), left_side=true, lower=true\n"
    f"  %solve.2 = {_SHAPE} triangular-solve(%a, %solve.1), left_side=true\n"
    f"  ROOT %out = {_SHAPE} tanh(%solve.2)",
    f"  %call.1 = {_SHAPE} call(%a, %b), to_apply=%low\n"
    f"  %call.2 = {_SHAPE} call(%a, %call.1), to_apply=%high\n"
    f"  ROOT %out = {_SHAPE} tanh(%call.2)",
)


def test_two_instructions_with_one_computation_became_its_calls(read: Read) -> None:
    """The result of the computation is no counterpart of both."""
    before, after = read(_FACTORS), read(_OUTLINED)
    matching = match(before, after)
    for number in "12":
        pairing = matching.pairing_before(Place("main", f"lu.{number}"))
        assert pairing is not None
        assert pairing.before == (Place("main", f"lu.{number}"),)
        assert pairing.after == (Place("main", f"call.{number}"),)
        assert pairing.reason == "it calls the new %factors"
    result = matching.pairing_after(Place("factors", "result"))
    assert result is not None
    assert result.relation is Relation.ADDED
    assert "replaced 2 custom-calls with calls" in step(before, after, "`expander`").headline


def test_what_is_in_the_computation_of_a_call_is_what_one_was_expanded_into(read: Read) -> None:
    """Nothing of the second computation is a part of what the first solve was expanded into."""
    before, after = read(_SOLVES), read(_CALLED)
    matching = match(before, after)
    for number, name in (("1", "low"), ("2", "high")):
        pairing = matching.pairing_before(Place("main", f"solve.{number}"))
        assert pairing is not None
        assert pairing.relation is Relation.EXPANDED
        assert pairing.after[0] == Place(name, f"turned.{name}")
        assert {place.computation for place in pairing.after} == {name}
        call = matching.pairing_after(Place("main", f"call.{number}"))
        assert call is not None
        assert call.reason == f"calls what %solve.{number} was expanded into"


def test_all_results_of_an_outlined_generator_are_of_its_expansion(read: Read) -> None:
    """The next state is made of the old one and of constants; what nothing reads is no part."""
    before = """HloModule m

ENTRY %main (s: u32[2]) -> (u32[2], u32[8]) {
  %s = u32[2]{0} parameter(0)
  %rng.1 = (u32[2]{0}, u32[8]{0}) rng-bit-generator(%s), algorithm=rng_philox
  %state = u32[2]{0} get-tuple-element(%rng.1), index=0
  %bits = u32[8]{0} get-tuple-element(%rng.1), index=1
  %used = u32[8]{0} not(%bits)
  ROOT %out = (u32[2]{0}, u32[8]{0}) tuple(%state, %used)
}
"""
    inner = """%rng (p: u32[2]) -> (u32[2], u32[8]) {
  %p = u32[2]{0} parameter(0)
  %key = u32[] constant(3528531795)
  %twice = u32[] add(%key, %key)
  %keys = u32[2]{0} broadcast(%twice), dimensions={}
  %next = u32[2]{0} add(%p, %keys)
  %idle = u32[] add(%twice, %key)
  %ids = u32[8]{0} iota(), iota_dimension=0
  %first = u32[1]{0} slice(%p), slice={[0:1]}
  %wide = u32[8]{0} broadcast(%first), dimensions={0}
  %mixed = u32[8]{0} xor(%ids, %wide)
  ROOT %both = (u32[2]{0}, u32[8]{0}) tuple(%next, %mixed)
}
"""
    after = before.replace("ENTRY", f"{inner}\nENTRY").replace(
        "rng-bit-generator(%s), algorithm=rng_philox", "call(%s), to_apply=%rng"
    )
    after = after.replace("%rng.1", "%call.1")
    matching = match(read(before), read(after))
    pairing = matching.pairing_before(Place("main", "rng.1"))
    assert pairing is not None
    assert pairing.relation is Relation.EXPANDED
    names = {place.instruction for place in pairing.after}
    assert {"both", "mixed", "next", "keys", "twice", "key"} <= names
    assert "idle" not in names


def test_a_call_of_a_computation_that_was_there_is_no_expansion(read: Read) -> None:
    head = _OUTLINED[: _OUTLINED.index("ENTRY")].removeprefix("HloModule m\n")
    before = _FACTORS.replace("\nENTRY", f"{head}\nENTRY").replace(
        f'%lu.2 = {_PARTS} custom-call(%b), custom_call_target="LuDecomposition"',
        f"%lu.2 = {_PARTS} call(%b), to_apply=%factors",
    )
    matching = match(read(before), read(_OUTLINED))
    pairing = matching.pairing_before(Place("main", "lu.1"))
    assert pairing is None or "calls the new" not in str(pairing.reason)


def test_what_is_only_outlined_continues_in_the_computation(read: Read) -> None:
    head = "ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {"
    before = f"""HloModule m

{head}
  %a = {_SHAPE} parameter(0)
  %b = {_SHAPE} parameter(1)
  %sum = {_SHAPE} add(%a, %b)
  %wave = {_SHAPE} sine(%sum)
  ROOT %out = {_SHAPE} tanh(%wave)
}}
"""
    inner = f"""%part (p: f32[8,8], q: f32[8,8]) -> f32[8,8] {{
  %p = {_SHAPE} parameter(0)
  %q = {_SHAPE} parameter(1)
  %sum.1 = {_SHAPE} add(%p, %q)
  ROOT %wave.1 = {_SHAPE} sine(%sum.1)
}}
"""
    after = before.replace(head, f"{inner}\n{head}").replace(f"  %sum = {_SHAPE} add(%a, %b)\n", "")
    after = after.replace("%wave = ", "%call = ").replace(
        "sine(%sum)", "call(%a, %b), to_apply=%part"
    )
    matching = match(read(before), read(after.replace("tanh(%wave)", "tanh(%call)")))
    assert matching.partner_after(Place("main", "wave")) == Place("part", "wave.1")
    call = matching.pairing_after(Place("main", "call"))
    assert call is not None
    assert call.relation is Relation.OUTLINED
