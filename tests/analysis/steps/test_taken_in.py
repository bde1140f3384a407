"""Moves of data that a dot or convolution does itself now."""

import re
from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange, step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_APART = """
HloModule m

ENTRY %main (a: f32[8,4], b: f32[8,16]) -> (f32[4,16], f32[8,4]) {
  %a = f32[8,4]{1,0} parameter(0)
  %b = f32[8,16]{1,0} parameter(1)
  %wave = f32[8,4]{1,0} sine(%a)
  %turned = f32[4,8]{1,0} transpose(%wave), dimensions={1,0}
  %dot = f32[4,16]{1,0} dot(%turned, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %out = (f32[4,16]{1,0}, f32[8,4]{1,0}) tuple(%dot, %wave)
}
"""
_FOLDED = _APART.replace(
    "  %turned = f32[4,8]{1,0} transpose(%wave), dimensions={1,0}\n", ""
).replace("dot(%turned, %b), lhs_contracting_dims={1}", "dot(%wave, %b), lhs_contracting_dims={0}")


def _step(read: Read, before: str, after: str) -> StepChange:
    return step(read(before), read(after), "`transpose-folding`")


def _kinds(made: StepChange) -> set[Kind]:
    return {
        change.kind
        for change in made.changes
        if change.before is not None and change.before.instruction == "turned"
    }


def test_a_transpose_is_folded_into_the_dot_that_read_it(read: Read) -> None:
    made = _step(read, _APART, _FOLDED)
    assert made.headline.startswith(
        "`transpose-folding` folded 1 transpose into a dot and changed attributes of 1 dot; "
        "the transpose `%turned` in `main` was folded into `%dot`."
    )
    assert _kinds(made) == {Kind.TAKEN}


def test_a_transpose_that_stays_without_users_is_folded_too(read: Read) -> None:
    left = _FOLDED.replace(
        "  %dot =", "  %turned = f32[4,8]{1,0} transpose(%wave), dimensions={1,0}\n  %dot ="
    )
    assert _kinds(_step(read, _APART, left)) == {Kind.TAKEN}


def test_a_transpose_of_what_the_dot_no_longer_reads_is_removed(read: Read) -> None:
    other = _FOLDED.replace("dot(%wave, %b)", "dot(%a, %b)")
    assert Kind.TAKEN not in _kinds(_step(read, _APART, other))


def test_a_copy_before_a_dot_that_is_as_it_was_is_removed(read: Read) -> None:
    copied = _FOLDED.replace("  %dot =", "  %turned = f32[8,4]{1,0} copy(%wave)\n  %dot =").replace(
        "dot(%wave", "dot(%turned"
    )
    assert Kind.TAKEN not in _kinds(_step(read, copied, _FOLDED))


_OF_ONE = """
HloModule m

ENTRY %main (a: f32[4,8,1,3], b: f32[4,1,3,5]) -> f32[4,1,8,5] {
  %a = f32[4,8,1,3]{3,2,1,0} parameter(0)
  %b = f32[4,1,3,5]{3,2,1,0} parameter(1)
  %wave = f32[4,8,1,3]{3,2,1,0} sine(%a)
  %turned = f32[4,1,8,3]{3,2,1,0} transpose(%wave), dimensions={0,2,1,3}
  ROOT %dot = f32[4,1,8,5]{3,2,1,0} dot(%turned, %b), lhs_batch_dims={0,1}, \
lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={2}
}
"""


def test_a_transpose_of_a_dimension_of_size_1_is_not_folded_where_a_reshape_stands(
    read: Read,
) -> None:
    apart = _OF_ONE.replace(
        "  %turned = f32[4,1,8,3]{3,2,1,0} transpose(%wave)",
        "  %squeezed = f32[4,8,1,3]{3,2,1,0} reshape(%wave)\n"
        "  %turned = f32[4,1,8,3]{3,2,1,0} transpose(%squeezed)",
    ).replace("ROOT %dot", "%same = f32[4,1,8,3]{3,2,1,0} reshape(%turned)\n  ROOT %dot")
    apart = apart.replace("f32[4,8,1,3]", "f32[1,4,8,1,3]").replace(
        "%squeezed = f32[1,4,8,1,3]", "%squeezed = f32[4,8,1,3]"
    )
    apart = re.sub(r"(f32\[1,4,8,1,3\])\{3,2,1,0\}", r"\1{4,3,2,1,0}", apart)
    reshaped = """
HloModule m

ENTRY %main (a: f32[1,4,8,1,3], b: f32[4,1,3,5]) -> f32[4,1,8,5] {
  %a = f32[1,4,8,1,3]{4,3,2,1,0} parameter(0)
  %b = f32[4,1,3,5]{3,2,1,0} parameter(1)
  %wave = f32[1,4,8,1,3]{4,3,2,1,0} sine(%a)
  %same = f32[4,1,8,3]{3,2,1,0} reshape(%wave)
  %reshape.1 = f32[4,8,3]{2,1,0} reshape(%same)
  %reshape.2 = f32[4,3,5]{2,1,0} reshape(%b)
  %dot.1 = f32[4,8,5]{2,1,0} dot(%reshape.1, %reshape.2), lhs_batch_dims={0}, \
lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  ROOT %reshape.3 = f32[4,1,8,5]{3,2,1,0} reshape(%dot.1)
}
"""
    made = _step(read, apart, reshaped)
    assert Kind.TAKEN not in {change.kind for change in made.changes}, made.headline


def test_a_transpose_of_a_dimension_of_size_1_is_folded_where_the_dot_reads_its_operand(
    read: Read,
) -> None:
    folded = "".join(
        line for line in _OF_ONE.splitlines(keepends=True) if not line.startswith("  %turned")
    ).replace("dot(%turned, %b), lhs_batch_dims={0,1}", "dot(%wave, %b), lhs_batch_dims={0,2}")
    assert _kinds(_step(read, _OF_ONE, folded)) == {Kind.TAKEN}
