"""Arithmetic behind a dot that the library call in its place does too."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule step
ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %dot.1 = f32[8,8]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %rate = f32[] constant(0.1)
  %rates = f32[8,8]{1,0} broadcast(%rate), dimensions={}
  %scaled = f32[8,8]{1,0} multiply(%dot.1, %rates)
  ROOT %next = f32[8,8]{1,0} subtract(%a, %scaled)
}
"""
_AFTER = """
HloModule step
ENTRY %main (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} parameter(1)
  %call.1 = (f32[8,8]{1,0}, s8[64]{0}) custom-call(%a, %b), custom_call_target="__cublas$gemm", \
backend_config={"gemm_backend_config":{"alpha_real":ALPHA,"beta":0,"epilogue":"EPILOGUE"}}
  %result = f32[8,8]{1,0} get-tuple-element(%call.1), index=0
  ROOT %next = f32[8,8]{1,0} subtract(%a, %result)
}
"""


@pytest.mark.parametrize(
    ("alpha", "epilogue", "reason"),
    [
        ("0.10000000149011612", "DEFAULT", "%call.1 does its work: alpha_real 0.1"),
        ("1", "BIAS", "%call.1 does its work: epilogue BIAS"),
        ("1", "DEFAULT", "%next uses %result instead"),
    ],
)
def test_what_a_call_states_beyond_the_product_is_its_work(
    read: Read, alpha: str, epilogue: str, reason: str
) -> None:
    after = _AFTER.replace("ALPHA", alpha).replace("EPILOGUE", epilogue)
    matching = match(read(_BEFORE), read(after))
    removed = matching.pairing_before(Place("main", "scaled"))
    assert removed is not None
    assert str(removed.reason) == reason
