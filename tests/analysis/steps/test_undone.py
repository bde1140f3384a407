"""Transposes that a pass moved past an instruction, and undoes at their old place."""

from collections.abc import Callable

from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
ENTRY %main (a: bf16[2,3,4]) -> f32[4,2,3] {
  %a = bf16[2,3,4]{2,1,0} parameter(0)
  %transpose.1 = bf16[4,2,3]{2,1,0} transpose(%a), dimensions={2,0,1}
"""
_BEFORE = f"""{_HEAD}
  %convert.1 = f32[4,2,3]{{2,1,0}} convert(%transpose.1)
  ROOT %out = f32[4,2,3]{{2,1,0}} tanh(%convert.1)
}}
"""
_AFTER = f"""{_HEAD}
  %transpose.2 = bf16[2,3,4]{{1,0,2}} transpose(%transpose.1), dimensions={{1,2,0}}
  %convert.2 = f32[2,3,4]{{2,1,0}} convert(%transpose.2)
  %transpose.3 = f32[4,2,3]{{2,1,0}} transpose(%convert.2), dimensions={{2,0,1}}
  ROOT %out = f32[4,2,3]{{2,1,0}} tanh(%transpose.3)
}}
"""


def test_a_transpose_that_is_undone_where_it_was_is_moved(read: Read) -> None:
    change = step(read(_BEFORE), read(_AFTER), "`reshape-mover`")
    words = " ".join((change.headline, *change.account))
    assert "cloned" not in words.lower()
    assert "moved 1 transpose past other instructions" in words
    assert (
        "`%transpose.1` in `main` was moved past `%convert.2` (now `%transpose.3`),"
        " and `%transpose.2` undoes the original" in words
    )
    assert "`%transpose.2` in `main` was added: undoes `%transpose.1`" in words


def test_the_copy_of_a_transpose_that_is_still_read_is_a_clone(read: Read) -> None:
    kept = "  %kept = bf16[4,2,3]{2,1,0} negate(%transpose.1)\n  ROOT"
    root = "(f32[4,2,3]{2,1,0}, bf16[4,2,3]{2,1,0}) tuple(%last, %kept)"
    before, after = (
        text.replace(
            "  ROOT %out = f32[4,2,3]{2,1,0} tanh", "  %last = f32[4,2,3]{2,1,0} tanh"
        ).replace("\n}", f"\n{kept} %out = {root}\n}}")
        for text in (_BEFORE, _AFTER)
    )
    change = step(read(before), read(after), "`reshape-mover`")
    words = " ".join((change.headline, *change.account)).lower()
    assert "cloned 1 transpose" in words
    assert "undoes" not in words
