"""Work of the branches of a conditional that is done behind it."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_INSIDE = """
HloModule m

%yes (x: bf16[4,8]) -> (f32[4,8], f32[4,8]) {
  %x = bf16[4,8]{1,0} parameter(0)
  %wide.x = f32[4,8]{1,0} convert(%x)
  %sine = f32[4,8]{1,0} sine(%wide.x)
  ROOT %first = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%sine, %wide.x)
}

%no (y: bf16[4,8]) -> (f32[4,8], f32[4,8]) {
  %y = bf16[4,8]{1,0} parameter(0)
  %z = bf16[4,8]{1,0} tanh(%y)
  %wide.z = f32[4,8]{1,0} convert(%z)
  %cosine = f32[4,8]{1,0} cosine(%wide.z)
  ROOT %second = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%cosine, %wide.z)
}

ENTRY %main (c: pred[], b: bf16[4,8]) -> (f32[4,8], f32[4,8]) {
  %c = pred[] parameter(0)
  %b = bf16[4,8]{1,0} parameter(1)
  %either = (f32[4,8]{1,0}, f32[4,8]{1,0}) conditional(%c, %b, %b), BRANCHES
  %chosen = f32[4,8]{1,0} get-tuple-element(%either), index=0
  %same = f32[4,8]{1,0} get-tuple-element(%either), index=1
  ROOT %all = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%chosen, %same)
}
""".replace("BRANCHES", "true_computation=%yes, false_computation=%no")
_BEHIND = (
    _INSIDE.replace("(f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%sine, %wide.x)", "PAIR tuple(%sine, %x)")
    .replace("(f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%cosine, %wide.z)", "PAIR tuple(%cosine, %z)")
    .replace("(f32[4,8]{1,0}, f32[4,8]{1,0}) conditional", "PAIR conditional")
    .replace(
        "%same = f32[4,8]{1,0} get-tuple-element(%either), index=1",
        "%same = bf16[4,8]{1,0} get-tuple-element(%either), index=1\n"
        "  %wide = f32[4,8]{1,0} convert(%same)",
    )
    .replace("tuple(%chosen, %same)", "tuple(%chosen, %wide)")
    .replace("PAIR", "(f32[4,8]{1,0}, bf16[4,8]{1,0})")
)


def test_a_convert_that_branches_still_use_is_copied_behind_the_conditional(read: Read) -> None:
    matching = match(read(_INSIDE), read(_BEHIND))
    pairing = matching.pairing_before(Place("yes", "wide.x"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.after == (Place("yes", "wide.x"), Place("main", "wide"))
    made = step(read(_INSIDE), read(_BEHIND), "`conditional-code-motion`")
    words = " ".join((made.headline, *made.account))
    assert "`%wide.x` in `yes` was cloned to `%wide` outside the conditional `%either`" in words


def _without_other_users(text: str) -> str:
    return text.replace("sine(%wide.x)", "convert(%x)").replace("cosine(%wide.z)", "convert(%y)")


def test_converts_of_all_branches_are_combined_behind_the_conditional(read: Read) -> None:
    before, after = map(_without_other_users, (_INSIDE, _BEHIND))
    for line in ("%wide.x = f32[4,8]{1,0} convert(%x)", "%wide.z = f32[4,8]{1,0} convert(%z)"):
        after = after.replace(f"  {line}\n", "")
    made = step(read(before), read(after), "`conditional-code-motion`")
    words = " ".join((made.headline, *made.account))
    assert "the convert `%wide` in `main` combines `%wide.x` and `%wide.z`" in words


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("tuple(%cosine, %z)", "tuple(%cosine, %y)"),
        ("%wide = f32[4,8]{1,0} convert(%same)", "%wide = f32[4,8]{0,1} convert(%same)"),
    ],
)
def test_a_convert_of_something_else_did_not_leave_the_branches(
    read: Read, line: str, instead: str
) -> None:
    after = _BEHIND.replace(line, instead)
    pairing = match(read(_INSIDE), read(after)).pairing_before(Place("yes", "wide.x"))
    assert pairing is None or Place("main", "wide") not in pairing.after
