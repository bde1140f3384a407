"""Values whose equally long dimensions were exchanged."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import StepChange, step
from xlareport.analysis.steps.turned import turned
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
HloModule m

ENTRY %main (a: f32[2,4,4], b: f32[2,4]) -> f32[2,4,4] {
  %a = f32[2,4,4]{2,1,0} parameter(0)
  %b = f32[2,4]{1,0} parameter(1)
"""
_BEFORE = (
    _HEAD
    + """  %row.1 = f32[2,4,1]{2,1,0} reshape(%b)
  %row.2 = f32[2,4]{1,0} reshape(%row.1)
  %wide.1 = f32[2,4,4]{2,1,0} broadcast(%row.2), dimensions={0,1}
  %add.1 = f32[2,4,4]{2,1,0} add(%a, %wide.1)
  %exp.1 = f32[2,4,4]{2,1,0} exponential(%add.1)
  %transpose.1 = f32[2,4,4]{1,2,0} transpose(%exp.1), dimensions={0,2,1}
  ROOT %dot.1 = f32[2,4,4]{2,1,0} dot(%transpose.1, %a), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
}
"""  # noqa: E501 - a line of HLO
)
_AFTER = (
    _HEAD
    + """  %transpose.2 = f32[2,4,4]{1,2,0} transpose(%a), dimensions={0,2,1}
  %wide.2 = f32[2,4,4]{1,2,0} broadcast(%b), dimensions={0,2}
  %add.2 = f32[2,4,4]{1,2,0} add(%transpose.2, %wide.2)
  %exp.2 = f32[2,4,4]{1,2,0} exponential(%add.2)
  ROOT %dot.1 = f32[2,4,4]{2,1,0} dot(%exp.2, %a), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
}
"""  # noqa: E501 - a line of HLO
)
_WORK = _BEFORE[len(_HEAD) : _BEFORE.index("  %transpose.1")]
_AFTER_BOTH = _AFTER.replace(_HEAD, _HEAD + _WORK)


def _words(change: StepChange) -> str:
    return " ".join((change.headline, *change.account))


@pytest.mark.parametrize("name", ["wide", "add", "exp"])
def test_a_value_that_reads_transposed_data_is_turned(read: Read, name: str) -> None:
    matching = match(read(_BEFORE), read(_AFTER))
    places = Place("main", f"{name}.1"), Place("main", f"{name}.2")
    assert matching.partner_after(places[0]) == places[1]
    change = turned(matching, *places)
    assert change is not None
    assert str(change) == ("f32[2,4,4]{2,1,0} → f32[2,4,4]{1,2,0}, dimensions 1 and 2 exchanged")


def test_a_turned_value_has_no_other_layout(read: Read) -> None:
    words = _words(step(read(_BEFORE), read(_AFTER), "`tpu-broadcast-rewriter`"))
    assert "changed the shape of 1 add, 1 exponential and 1 broadcast" in words
    assert "`%transpose.1` in `main` was moved past `%exp.1`" in words
    assert "layout" not in words


def test_a_copy_that_reads_transposed_data_is_in_another_shape(read: Read) -> None:
    before, after = (_with_result(text) for text in (_BEFORE, _AFTER_BOTH))
    words = _words(step(read(before), read(after), "`tpu-broadcast-rewriter`"))
    assert "`%add.1` in `main` was cloned to `%add.2` in the shape `f32[2,4,4]{1,2,0}`" in words
    assert "layout" not in words


def _with_result(text: str) -> str:
    """Return a module that gives the exponential as well."""
    result = "(f32[2,4,4]{2,1,0}, f32[2,4,4]{2,1,0})"
    head, _, rest = text.replace("-> f32[2,4,4]", f"-> {result}").partition("ROOT ")
    line = rest.partition("\n")[0]
    return f"{head}{line}\n  ROOT %out = {result} tuple(%dot.1, %exp.1)\n}}\n"


def test_another_layout_is_one(read: Read) -> None:
    before = _BEFORE.replace("transpose(%exp.1), dimensions={0,2,1}", "copy(%exp.1)")
    after = before.replace("%exp.1 = f32[2,4,4]{2,1,0}", "%exp.1 = f32[2,4,4]{1,2,0}")
    words = _words(step(read(before), read(after), "`layout-assignment`"))
    assert "changed layout: `{2,1,0}` → `{1,2,0}`" in words
