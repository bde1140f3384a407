"""Donated inputs that loops rebuild, also loops in other loops and one after another."""

import pytest
from tests.analysis.findings.conftest import MakeCase
from tests.analysis.findings.texts import FINDINGS, read_texts

from xlareport.analysis.findings.rebuilt_inputs import rebuilt_inputs

HAVING = read_texts(FINDINGS / "rebuilt-inputs" / "by_hand.txt")["having"]
LOOPS, ENTRY = HAVING.split("ENTRY e {")
STATE = "(s32[], f32[8,256,1024])"
AROUND = f"""tokens {{
  state = {STATE} parameter(0)
  i = s32[] get-tuple-element(state), index=0
  cache = f32[8,256,1024] get-tuple-element(state), index=1
{ENTRY.partition("parameter(0)")[2].strip().partition("ROOT")[0]}
  back = f32[8,256,1024] copy(made)
  k = s32[] constant(1)
  j = s32[] add(i, k)
  ROOT next = {STATE} tuple(j, back)
}}

more {{
  state = {STATE} parameter(0)
  i = s32[] get-tuple-element(state), index=0
  k = s32[] constant(4)
  ROOT c = pred[] compare(i, k), direction=LT
}}

ENTRY e {{
  cache = f32[8,256,1024] parameter(0)
  zero = s32[] constant(0)
  t = {STATE} tuple(zero, cache)
  outer = {STATE} while(t), condition=more, body=tokens
  ROOT r = f32[8,256,1024] get-tuple-element(outer), index=1
}}
"""
NESTED = LOOPS + AROUND
TWICE = HAVING.replace(
    "  ROOT r = f32[8,256,1024] copy(made)",
    """  held = f32[8,256,1024] copy(made)
  empty2 = f32[8,256,1024] broadcast(none), dimensions={}
  t2 = (s32[], f32[8,256,1024], f32[8,256,1024]) tuple(zero, empty2, held)
  loop2 = (s32[], f32[8,256,1024], f32[8,256,1024]) while(t2), condition=condition, body=body
  made2 = f32[8,256,1024] get-tuple-element(loop2), index=1
  ROOT r = f32[8,256,1024] copy(made2)""",
)


def test_a_loop_in_the_body_of_another_rebuilds_its_carry(case_of: MakeCase) -> None:
    (finding,) = rebuilt_inputs(case_of(NESTED))
    assert finding.places == (("e", "cache"), ("tokens", "loop"), ("tokens", "back"))
    assert "`loop` reads slices of the donated input `cache`" in finding.evidence
    assert "which `back` then copies into the carry of the loop around it" in finding.evidence


def test_each_of_two_loops_rebuilds_it(case_of: MakeCase) -> None:
    findings = [*rebuilt_inputs(case_of(TWICE))]
    assert [finding.places[1:] for finding in findings] == [
        (("e", "loop"), ("e", "held")),
        (("e", "loop2"), ("e", "r")),
    ]


@pytest.mark.parametrize(
    ("text", "former", "latter"),
    [
        (NESTED, "tuple(zero, empty, cache)", "tuple(zero, empty, empty)"),
        (NESTED, "tuple(j, back)", "tuple(j, cache)"),
        (NESTED, "{}: (0, {}, may-alias)", "{}: (1, {}, may-alias)"),
        (NESTED, "ROOT r = f32[8,256,1024] get-tuple-element(outer), index=1", "ROOT r = x()"),
        (NESTED, "t = (s32[], f32[8,256,1024]) tuple(zero, cache)", "t = (s32[]) tuple(zero)"),
    ],
)
def test_what_does_not_lead_from_the_input_to_its_output(
    case_of: MakeCase, text: str, former: str, latter: str
) -> None:
    assert former in text
    assert not [*rebuilt_inputs(case_of(text.replace(former, latter)))]


def test_a_loop_whose_body_calls_itself_ends(case_of: MakeCase) -> None:
    assert not [*rebuilt_inputs(case_of(NESTED.replace("body=body", "body=tokens")))]
