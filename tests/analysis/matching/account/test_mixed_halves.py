"""Halves of 64-bit integers in fusions, where whole pipelines ran between two snapshots."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import ChangeCause, Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_OP = 'metadata={op_name="iota_2x32_shape"}'
_WHOLE = f"""
HloModule m

ENTRY %main (a: u32[4]) -> u32[4] {{
  %a = u32[4]{{0}} parameter(0)
  %count = u64[4]{{0}} iota(), iota_dimension=0, {_OP}
  %three = u64[] constant(3)
  %many = u64[4]{{0}} broadcast(%three), dimensions={{}}, {_OP}
  %product = u64[4]{{0}} multiply(%count, %many), {_OP}
  %shifted = u64[4]{{0}} shift-right-logical(%product, %many), {_OP}
  %short = u32[4]{{0}} convert(%shifted), {_OP}
  ROOT %out = u32[4]{{0}} xor(%a, %short)
}}
"""


def _halves(op: str = _OP) -> str:
    """Return a fusion of 32-bit integer arithmetic of a framework op."""
    return f"""
HloModule m

%fused (p: u32[4]) -> u32[4] {{
  %p = u32[4]{{0}} parameter(0)
  %low = u32[4]{{0}} iota(), iota_dimension=0
  %limit = u32[] constant(65535)
  %limits = u32[4]{{0}} broadcast(%limit), dimensions={{}}, {op}
  %masked = u32[4]{{0}} and(%low, %limits), {op}
  %crossed = u32[4]{{0}} multiply(%masked, %limits), {op}
  %carried = u32[4]{{0}} add(%crossed, %masked), {op}
  ROOT %out = u32[4]{{0}} xor(%p, %carried)
}}

ENTRY %main (a: u32[4]) -> u32[4] {{
  %a = u32[4]{{0}} parameter(0)
  %both = u32[4]{{0}} fusion(%a), kind=kLoop, calls=%fused
  ROOT %end = u32[4]{{0}} add(%both, %a)
}}
"""


def test_which_64_bit_operation_a_fused_half_is_of_is_not_known(read: Read) -> None:
    pairing = match(read(_WHOLE), read(_halves())).pairing_after(Place("fused", "masked"))
    assert pairing is not None
    assert pairing.cause is ChangeCause.UNTRACED
    assert pairing.grade is Grade.GUESSED


def test_repeated_constants_are_new(read: Read) -> None:
    pairing = match(read(_WHOLE), read(_halves())).pairing_after(Place("fused", "limits"))
    assert pairing is not None
    assert pairing.cause is None


def test_halves_of_another_framework_op_are_new(read: Read) -> None:
    other = _halves('metadata={op_name="other"}')
    pairing = match(read(_WHOLE), read(other)).pairing_after(Place("fused", "masked"))
    assert pairing is not None
    assert pairing.cause is None


def test_the_account_says_that_it_is_not_known(read: Read) -> None:
    known = step(read(_WHOLE), read(_halves())).changes
    kinds = {change.after: change.kind for change in known}
    assert kinds[Place("fused", "masked")] is Kind.UNTRACED
