"""Generators of random bits that were written out as arithmetic."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.generated_bits import generated_bits
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.search_start import start

_BEFORE = """HloModule m

ENTRY main {
  s = u64[2] parameter(0)
  rng = (u64[2], u32[8,2]) rng-bit-generator(s), algorithm=rng_philox
  next = u64[2] get-tuple-element(rng), index=0
  bits = u32[8,2] get-tuple-element(rng), index=1
  given = u32[2] bitcast-convert(next)
  joined = u32[4] concatenate(given, given), dimensions={0}
  used = u32[8,2] not(bits)
  ROOT out = (u32[4], u32[8,2]) tuple(joined, used)
}
"""
_AFTER = """HloModule m

ENTRY main {
  s = u64[2] parameter(0)
  ids = u64[4] iota(), iota_dimension=0
  factor = u64[] constant(NUMBER)
  factors = u64[4] broadcast(factor), dimensions={}
  times = u64[4] multiply(ids, factors)
  low = u32[4] convert(times)
  key = u64[1] slice(s), slice={[0:1]}
  small = u32[1] convert(key)
  scalar = u32[] reshape(small)
  wide = u32[4] broadcast(scalar), dimensions={}
  mixed = u32[4] xor(low, wide)
  one = u32[4,1] reshape(mixed)
  other = u32[4,1] reshape(low)
  all = u32[4,4] concatenate(one, other, one, other), dimensions={1}
  bits = u32[8,2] reshape(all)
  given = u32[2] bitcast-convert(key)
  joined = u32[4] concatenate(given, given), dimensions={0}
  used = u32[8,2] not(bits)
  ROOT out = (u32[4], u32[8,2]) tuple(joined, used)
}
"""


def _pairing(number: str, before: str = _BEFORE) -> tuple[Relation | None, set[str]]:
    matching = match(parse_module(before), parse_module(_AFTER.replace("NUMBER", number)))
    pairing = matching.pairing_before(Place("main", "rng"))
    names = {place.instruction for place in pairing.after} if pairing else set()
    return (pairing.relation if pairing else None), names


@pytest.mark.parametrize("number", ["3528531795", "466688986"])
def test_what_computes_the_bits_is_what_the_generator_was_expanded_into(number: str) -> None:
    relation, names = _pairing(number)
    assert relation is Relation.EXPANDED
    assert {"all", "mixed", "times", "ids", "factors", "wide"} <= names
    assert not names & {"s", "used", "joined", "given"}


def _generated(before: str, number: str = "3528531795") -> set[str]:
    """Return the names of what the rule alone finds."""
    after = parse_module(_AFTER.replace("NUMBER", number))
    search = start(parse_module(before), after, same_program=True)
    generated_bits(search)
    return {part.instruction.name for parts in search.generated.values() for part in parts}


def test_arithmetic_with_other_numbers_is_no_generator() -> None:
    assert {"all", "times"} <= _generated(_BEFORE)
    assert not _generated(_BEFORE, "7")


def test_a_generator_that_stays_was_not_written_out() -> None:
    assert not _generated(_AFTER.replace("NUMBER", "3528531795"))
    stays = _AFTER.replace("  used =", "  rng = (u64[2], u32[8,2]) rng-bit-generator(s)\n  used =")
    search = start(parse_module(_BEFORE), parse_module(stays), same_program=True)
    generated_bits(search)
    assert not search.generated


def test_of_two_generators_of_one_size_and_op_it_is_not_known_which_was_written_out() -> None:
    more = "  second = (u64[2], u32[4,4]) rng-bit-generator(next), algorithm=rng_philox\n"
    again = "  more = u32[4,4] get-tuple-element(second), index=1\n"
    before = _BEFORE.replace("  used =", f"{more}{again}  same = u32[8,2] reshape(more)\n  used =")
    assert not _generated(before.replace("not(bits)", "xor(bits, same)"))
