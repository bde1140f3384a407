"""Constants applied in a row that became one."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %tanh = f32[8]{0} tanh(%a)
"""


def _run(*steps: tuple[str, str]) -> str:
    """Return a module that applies constants to a tanh in a row, each by an opcode."""
    lines, last = [], "tanh"
    for number, (opcode, constant) in enumerate(steps):
        place = f"{len(steps)}{number}"
        lines += [
            f"  %c.{place} = f32[] constant({constant})",
            f"  %b.{place} = f32[8]{{0}} broadcast(%c.{place}), dimensions={{}}",
            f"  %r.{place} = f32[8]{{0}} {opcode}(%{last}, %b.{place})",
        ]
        last = f"r.{place}"
    return "\n".join([_HEAD, *lines, f"  ROOT %out = f32[8]{{0}} negate(%{last})", "}"])


_TWICE = _run(("multiply", "2"), ("multiply", "3"))


@pytest.mark.parametrize(
    ("steps", "whole"),
    [
        ((("multiply", "2"), ("multiply", "3")), ("multiply", "6")),
        ((("multiply", "3"), ("divide", "2")), ("multiply", "1.5")),
        ((("divide", "4"), ("divide", "2")), ("divide", "8")),
        ((("add", "2"), ("subtract", "5")), ("add", "-3")),
        ((("add", "2"), ("add", "3"), ("add", "4")), ("add", "9")),
    ],
)
def test_constants_applied_in_a_row_are_gathered(
    read: Read, steps: tuple[tuple[str, str], ...], whole: tuple[str, str]
) -> None:
    matching = match(read(_run(*steps)), read(_run(whole)))
    pairing = matching.pairing_after(Place("main", "r.10"))
    assert pairing is not None
    assert pairing.relation is Relation.COMBINED
    count = len(steps)
    assert {place.instruction for place in pairing.before} == {
        f"r.{count}{number}" for number in range(count)
    }


@pytest.mark.parametrize(
    ("steps", "whole"),
    [
        ((("multiply", "2"), ("multiply", "3")), ("multiply", "7")),  # another value
        ((("multiply", "2"), ("multiply", "1")), ("multiply", "2")),  # removed, not combined
        ((("multiply", "2"), ("add", "3")), ("add", "5")),
        ((("multiply", "2"), ("multiply", "{...}")), ("multiply", "6")),
    ],
)
def test_others_are_not(
    read: Read, steps: tuple[tuple[str, str], ...], whole: tuple[str, str]
) -> None:
    matching = match(read(_run(*steps)), read(_run(whole)))
    pairing = matching.pairing_after(Place("main", "r.10"))
    assert pairing is None or pairing.relation is not Relation.COMBINED


def test_the_constants_are_told_with_them(read: Read) -> None:
    change = step(read(_TWICE), read(_run(("multiply", "6"))), "`algsimp`")
    combined = "`algsimp` combined 2 multiplies, 2 broadcasts and 2 constants into 3; "
    assert change.headline.startswith(combined)
    assert not change.added
    reasons = {str(known.reason) for known in change.modified}
    assert "%r.10 applies both constants at once" in reasons
    assert "the product of the constants" in reasons


def test_constants_multiplied_first_are_factors_in_another_order(read: Read) -> None:
    before = read(_TWICE)
    after = _TWICE.replace("%r.20 = f32[8]{0} multiply(%tanh, %b.20)", "").replace(
        "%r.21 = f32[8]{0} multiply(%r.20, %b.21)",
        "%all = f32[8]{0} multiply(%b.20, %b.21)\n  %r.21 = f32[8]{0} multiply(%tanh, %all)",
    )
    matching = match(before, read(after))
    pairing = matching.pairing_before(Place("main", "r.21"))
    assert pairing is not None
    assert str(pairing.reason) == "the same factors, multiplied in another order"
    part = matching.pairing_before(Place("main", "r.20"))
    assert part is not None
    whole = "%r.21, which multiplies the same factors in another order"
    assert (part.after, str(part.reason)) == ((), f"replaced by {whole}")
