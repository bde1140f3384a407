"""Clones that took the place of their originals."""

from collections.abc import Callable

from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule m
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %both = f32[] add(%x, %y)
}
ENTRY %main (a: f32[8,4]) -> f32[4] {
  %a = f32[8,4]{1,0} parameter(0)
  %zero = f32[] constant(0)
  %neg.0 = f32[8,4]{1,0} negate(%a)
  %total = f32[4]{0} reduce(%neg.0, %zero), dimensions={0}, to_apply=%sum
  ROOT %out = f32[4]{0} sine(%total)
}
"""
_AFTER = _BEFORE.replace("reduce(%neg.0", "reduce(%a").replace(
    "  ROOT %out = f32[4]{0} sine(%total)",
    "  %negate = f32[4]{0} negate(%total)\n  ROOT %out = f32[4]{0} sine(%negate)",
)


def test_the_clone_of_what_lost_its_users_is_that_moved(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER))
    assert "moved 1 negate past other instructions" in change.headline
    words = " ".join((change.headline, *change.account))
    assert "cloned" not in words
    assert "without live users" not in words  # told with the move
    (moved,) = change.added
    assert str(moved.reason) == "past %total"
    assert [str(detail) for detail in moved.details] == [
        "in the shape f32[4]{0}; the original has no live users"
    ]


def test_the_clone_of_what_is_still_read_is_a_clone(read: Read) -> None:
    acting = 'custom_call_target="f", custom_call_has_side_effect=true'
    keep = f"%kept = f32[8,4]{{1,0}} custom-call(%neg.0), {acting}\n  ROOT %out"
    before, after = (text.replace("ROOT %out", keep) for text in (_BEFORE, _AFTER))
    change = step(read(before), read(after))
    assert "cloned 1 negate" in change.headline


def test_what_took_the_place_of_an_original_that_is_left_is_no_new_name_of_it(read: Read) -> None:
    text = (
        "HloModule m\n\nENTRY %main (a: f32[2,8], b: f32[4,8]) -> f32[2,4] {\n"
        "  %a = f32[2,8]{1,0} parameter(0)\n  %b = f32[4,8]{1,0} parameter(1)\n"
        "  %dot.1 = f32[2,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
        "LINES  ROOT %out = f32[2,4]{1,0} sine(%READ)\n}\n"
    )
    lines = (
        "  %turned = f32[8,4]{1,0} transpose(%b), dimensions={1,0}\n  %dot.2 = f32[2,4]{1,0}"
        " dot(%a, %turned), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    )
    before = read(text.replace("LINES", "").replace("READ", "dot.1"))
    after = read(text.replace("LINES", lines).replace("READ", "dot.2"))
    change = step(before, after)
    words = " ".join((change.headline, *change.account))
    assert "`%dot.1` in `main` has no live users now: `%dot.2` took its place" in words
    assert "(now `%dot.2`)" in words
    assert {str(known.after) for known in change.added} == {"main/%turned", "main/%dot.2"}
