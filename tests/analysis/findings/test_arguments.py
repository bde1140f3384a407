"""The argument of the program that a value of a loop begins as."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.findings.arguments import name_argument

MODULE = """HloModule m, is_scheduled=true

first {
  x = f32[4,8] parameter(0)
  ROOT y = f32[2,8] slice(x), slice={[0:2], [0:8]}
}

second {
  x = f32[4,8] parameter(0)
  ROOT y = f32[2,8] slice(x), slice={[2:4], [0:8]}
}

body {
  s = (f32[4,8], pred[]) parameter(0)
  c = f32[4,8] get-tuple-element(s), index=0
  p = pred[] get-tuple-element(s), index=1
  ROOT r = (f32[4,8], pred[]) tuple(c, p)
}

condition {
  s = (f32[4,8], pred[]) parameter(0)
  ROOT p = pred[] get-tuple-element(s), index=1
}

ENTRY e {
  a = f32[4,8] parameter(0), metadata={op_name="cache['k']"}
  b = f32[4,8] parameter(1), metadata={op_name="cache['v']"}
  q = pred[] parameter(2)
  h = ((f32[4,8]), f32[2,8], u32[]) async-start(a), calls=first
  i = ((f32[4,8]), f32[2,8], u32[]) async-start(a), calls=second
  j = f32[2,8] async-done(h)
  k = f32[2,8] async-done(i)
  v = f32[4,8] custom-call(j, k), custom_call_target="ConcatBitcast"
  t = (f32[4,8], pred[]) tuple(v, q)
  ROOT w = (f32[4,8], pred[]) while(t), condition=condition, body=body
}
"""


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("", "", "cache['k']"),
        ("async-start(a), calls=second", "async-start(b), calls=second", ""),  # of two arrays
        ("f32[4,8] custom-call(j, k)", "f32[4,8] custom-call(j, q)", ""),
        ("ConcatBitcast", "Other", ""),
    ],
)
def test_parts_of_an_argument_joined_again_are_that_argument(
    before: str, after: str, name: str
) -> None:
    module = parse_module(MODULE.replace(before, after) if before else MODULE)
    assert name_argument(module, module.by_name["body"], "c") == name
