"""Converts that passed a concatenation."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_OF_RESULT = """
HloModule m

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8,2] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %sine = f32[8]{0} sine(%a)
  %cosine = f32[8]{0} cosine(%b)
  %first = f32[8,1]{1,0} reshape(%sine), metadata={op_name="stack"}
  %second = f32[8,1]{1,0} reshape(%cosine), metadata={op_name="stack"}
  %stack = f32[8,2]{1,0} concatenate(%first, %second), dimensions={1}, metadata={op_name="stack"}
  %rounded = bf16[8,2]{1,0} convert(%stack), metadata={op_name="convert"}
  %negative = bf16[8,2]{1,0} negate(%rounded)
  ROOT %wide = f32[8,2]{1,0} convert(%negative)
}
"""
_OF_OPERANDS = """
HloModule m

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8,2] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %sine = f32[8]{0} sine(%a)
  %cosine = f32[8]{0} cosine(%b)
  %convert.1 = bf16[8]{0} convert(%sine), metadata={op_name="stack"}
  %first.1 = bf16[8,1]{1,0} reshape(%convert.1), metadata={op_name="stack"}
  %convert.2 = bf16[8]{0} convert(%cosine), metadata={op_name="stack"}
  %second.1 = bf16[8,1]{1,0} reshape(%convert.2), metadata={op_name="stack"}
  %stack.1 = bf16[8,2]{1,0} concatenate(%first.1, %second.1), dimensions={1}, \
metadata={op_name="stack"}
  %negative = bf16[8,2]{1,0} negate(%stack.1)
  ROOT %wide = f32[8,2]{1,0} convert(%negative)
}
"""


def test_a_convert_of_a_concatenation_became_one_of_each_operand(read: Read) -> None:
    before, after = read(_OF_RESULT), read(_OF_OPERANDS)
    pairing = match(before, after).pairing_before(Place("main", "rounded"))
    assert pairing is not None
    assert pairing.relation is Relation.SPLIT
    assert pairing.after == (Place("main", "convert.1"), Place("main", "convert.2"))
    made = step(before, after, "`convert-mover`")
    assert not made.removed
    assert (
        "`%rounded` in `main` was moved past `%stack` and split into `%convert.1` and `%convert.2`"
        in " ".join((made.headline, *made.account))
    )


def test_converts_of_the_operands_became_one_of_the_concatenation(read: Read) -> None:
    before, after = read(_OF_OPERANDS), read(_OF_RESULT)
    pairing = match(before, after).pairing_after(Place("main", "rounded"))
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED
    assert pairing.before == (Place("main", "convert.1"), Place("main", "convert.2"))
    made = step(before, after, "`convert-mover`")
    assert not made.added
    assert (
        "`%rounded` in `main` combines `%convert.1` and `%convert.2`, which moved past `%stack.1`"
        in " ".join((made.headline, *made.account))
    )


def test_a_concatenation_of_other_values_has_no_moved_converts(read: Read) -> None:
    after = _OF_OPERANDS.replace("convert(%sine)", "convert(%a)")
    pairing = match(read(_OF_RESULT), read(after)).pairing_after(Place("main", "convert.1"))
    assert pairing is None or pairing.relation is not Relation.SPLIT


_NAMES = {
    "%first.1": "%convert.1",
    "%second.1": "%convert.2",
    "%first": "%sine",
    "%second": "%cosine",
    "f32[8,2]": "f32[16]",
    "bf16[8,2]": "bf16[16]",
    "{1,0}": "{0}",
    "dimensions={1}": "dimensions={0}",
}


def _straight(text: str) -> str:
    """Return a program without its reshapes."""
    lines = (line for line in text.splitlines(keepends=True) if "reshape" not in line)
    joined = "".join(lines)
    for name, other in _NAMES.items():
        joined = joined.replace(name, other)
    return joined


def test_a_convert_that_was_paired_with_the_first_of_several_has_all(read: Read) -> None:
    """Without reshapes, the first one is found before the others."""
    straight = map(_straight, (_OF_RESULT, _OF_OPERANDS))
    pairing = match(*map(read, straight)).pairing_before(Place("main", "rounded"))
    assert pairing is not None
    assert pairing.relation is Relation.SPLIT
    assert {place.instruction for place in pairing.after} == {"convert.1", "convert.2"}


_NARROW = """
HloModule m

ENTRY %main (p: f32[4], q: f32[4]) -> (bf16[8], f32[8]) {
  %p = f32[4]{0} parameter(0)
  %q = f32[4]{0} parameter(1)
  %cat = f32[8]{0} concatenate(%p, %q), dimensions={0}
  %e = f32[8]{0} exponential(%cat)
  %cv = bf16[8]{0} convert(%cat)
  ROOT %n = (bf16[8]{0}, f32[8]{0}) tuple(%cv, %e)
}
"""


def test_a_convert_that_stays_is_not_split(read: Read) -> None:
    """The concatenation alone is done in another type."""
    after = _NARROW.replace(
        "  %cat = f32[8]{0} concatenate(%p, %q), dimensions={0}\n",
        """  %c.1 = bf16[4]{0} convert(%p)
  %c.2 = bf16[4]{0} convert(%q)
  %cat = bf16[8]{0} concatenate(%c.1, %c.2), dimensions={0}
  %up = f32[8]{0} convert(%cat)
""",
    )
    after = after.replace("exponential(%cat)", "exponential(%up)").replace(
        "%cv = bf16[8]{0} convert(%cat)", "%cv = bf16[8]{0} convert(%up)"
    )
    pairing = match(read(_NARROW), read(after)).pairing_before(Place("main", "cv"))
    assert pairing is not None
    assert pairing.after == (Place("main", "cv"),)


def test_a_convert_of_a_name_that_is_not_there_is_read(read: Read) -> None:
    before = _NARROW.replace("%e = f32[8]{0} exponential(%cat)", "%e = f32[8]{0} parameter(2)")
    after = (
        before.replace(
            "  %cat = f32[8]{0} concatenate(%p, %q), dimensions={0}\n",
            """  %c.1 = bf16[4]{0} convert(%missing)
  %c.2 = bf16[4]{0} convert(%q)
  %cat = bf16[8]{0} concatenate(%c.1, %c.2), dimensions={0}
""",
        )
        .replace("  %cv = bf16[8]{0} convert(%cat)\n", "")
        .replace("tuple(%cv", "tuple(%cat")
    )
    assert match(read(before), read(after)).partner_after(Place("main", "q")) is not None
