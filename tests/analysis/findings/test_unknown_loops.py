"""Findings beside and inside loops of unknown trip count, which the totals count once."""

import pytest
from tests.analysis.findings.conftest import MakeCase

from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.findings.rules import find_findings

DECODE = """HloModule m

cond {{
  s = (f32[1024,1024], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  ROOT more = pred[] compare(i, n), direction=LT
}}

body {{
  s = (f32[1024,1024], s32[], s32[]) parameter(0)
  x = f32[1024,1024]{{1,0}} get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[1024,1024]{{1,0}} {opcode}(x)
  ROOT r = (f32[1024,1024], s32[], s32[]) tuple(y, next, n)
}}

ENTRY e {{
  a = f32[1024,1024]{{1,0}} parameter(0)
  limit = s32[] {limit}
  c = f32[1024,1024]{{0,1}} copy(a)
  b = f32[1024,1024]{{1,0}} bitcast(c)
  zero = s32[] constant(0)
  s = (f32[1024,1024], s32[], s32[]) tuple(b, zero, limit)
  loop = (f32[1024,1024], s32[], s32[]) while(s), condition=cond, body=body
  ROOT out = f32[1024,1024]{{1,0}} get-tuple-element(loop), index=0
}}
"""


def copied(case_of: MakeCase, **parts: str) -> Finding:
    findings = find_findings(case_of(DECODE.format(**parts)))
    (finding,) = (finding for finding in findings if finding.rule == "layout-copies")
    return finding


def test_a_copy_beside_a_loop_of_unknown_trip_count_has_a_bound_of_its_share(
    case_of: MakeCase,
) -> None:
    finding = copied(case_of, opcode="tanh", limit="parameter(1)")
    assert finding.beside_loops == ("loop",)
    assert finding.weight == 0
    assert finding.seconds
    assert finding.evidence.endswith(
        "It runs outside of the loop `loop`, whose trip count is not known and counted as 1: with "
        "more iterations its share is smaller."
    )


@pytest.mark.parametrize(
    ("opcode", "limit"), [("tanh", "constant(4)"), ("bitcast", "parameter(1)")]
)
def test_shares_beside_known_or_cheap_loops_are_shares(
    case_of: MakeCase, opcode: str, limit: str
) -> None:
    finding = copied(case_of, opcode=opcode, limit=limit)
    assert finding.beside_loops == ()
    assert finding.weight
    assert "iterations" not in finding.evidence


BOUNDED = """HloModule m

cond {
  s = (f32[1024,1024], s32[], pred[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  more = pred[] get-tuple-element(s), index=2
  n = s32[] constant(64)
  below = pred[] compare(i, n), direction=LT
  ROOT both = pred[] and(below, more)
}

body {
  s = (f32[1024,1024], s32[], pred[]) parameter(0)
  x = f32[1024,1024]{1,0} get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  p = pred[] get-tuple-element(s), index=2
  step = s32[] constant(1)
  next = s32[] add(i, step)
  c = f32[1024,1024]{0,1} copy(x)
  b = f32[1024,1024]{1,0} bitcast(c)
  ROOT r = (f32[1024,1024], s32[], pred[]) tuple(b, next, p)
}

ENTRY e {
  a = f32[1024,1024]{1,0} parameter(0)
  p = pred[] parameter(1)
  t = f32[1024,1024]{1,0} tanh(a)
  zero = s32[] constant(0)
  s = (f32[1024,1024], s32[], pred[]) tuple(t, zero, p)
  loop = (f32[1024,1024], s32[], pred[]) while(s), condition=cond, body=body
  ROOT out = f32[1024,1024]{1,0} get-tuple-element(loop), index=0
}
"""


def test_a_copy_inside_a_loop_of_unknown_trip_count_has_the_time_of_an_iteration(
    case_of: MakeCase,
) -> None:
    case = case_of(BOUNDED)
    (finding,) = (finding for finding in find_findings(case) if finding.rule == "layout-copies")
    assert case.cost.trip_counts["e", "loop"].most == 64
    assert finding.in_loops == ("loop",)
    assert finding.seconds_in_loops == finding.seconds
    assert finding.beside_loops == ()
    assert finding.evidence.endswith(
        " It runs in `loop` (at most 64 iterations), counted once: the times are those of one "
        "iteration."
    )
