"""Work on an operand of a conditional that the branch which reads it does itself now."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_ROWS, _COLUMNS = "f32[4,8]{1,0}", "f32[4,8]{0,1}"
_BESIDE = f"""
HloModule m

%near (p: f32[4,8]) -> (f32[4,8], s32[]) {{
  %p = {_COLUMNS} parameter(0)
  %none = s32[] constant(0)
  ROOT %given = ({_COLUMNS}, s32[]) tuple(%p, %none)
}}

%far (q: (f32[4,8], s32[])) -> (f32[4,8], s32[]) {{
  ROOT %q = ({_COLUMNS}, s32[]) parameter(0)
}}

ENTRY %main (a: f32[4,8], b: (f32[4,8], s32[]), i: pred[]) -> f32[4,8] {{
  %a = {_ROWS} parameter(0)
  %b = ({_COLUMNS}, s32[]) parameter(1)
  %i = pred[] parameter(2)
  %copy.1 = {_COLUMNS} copy(%a)
  %if = ({_COLUMNS}, s32[]) conditional(%i, %copy.1, %b), branch_computations={{%near, %far}}
  %value = {_COLUMNS} get-tuple-element(%if), index=0
  ROOT %tanh = {_COLUMNS} tanh(%value)
}}
"""
_INSIDE = (
    _BESIDE.replace(f"  %copy.1 = {_COLUMNS} copy(%a)\n", f"  %whole = ({_ROWS}) tuple(%a)\n")
    .replace("(%i, %copy.1, %b)", "(%i, %whole, %b)")
    .replace(
        f"  %p = {_COLUMNS} parameter(0)\n",
        f"  %p = ({_ROWS}) parameter(0)\n"
        f"  %part = {_ROWS} get-tuple-element(%p), index=0\n"
        f"  %copy.2 = {_COLUMNS} copy(%part)\n",
    )
    .replace("tuple(%p, %none)", "tuple(%copy.2, %none)")
)
_COPY, _INNER = Place("main", "copy.1"), Place("near", "copy.2")


def test_a_copy_that_only_a_branch_read_is_made_in_it(read: Read) -> None:
    made = step(read(_BESIDE), read(_INSIDE), "`conditional-code-motion`")
    assert made.headline.startswith(
        "`conditional-code-motion` moved 1 copy into a branch of a conditional"
    )
    assert "`%copy.1` in `main` moved into a branch of `%if`" in made.headline
    assert "changed the shape of 1 parameter" in made.headline


def test_a_copy_of_something_else_did_not_move(read: Read) -> None:
    other = _INSIDE.replace("copy(%part)", "copy(%part.1)").replace(
        "  %copy.2", f"  %part.1 = {_ROWS} negate(%part)\n  %copy.2"
    )
    assert match(read(_BESIDE), read(other)).partner_after(_COPY) != _INNER


def test_what_others_read_too_stays(read: Read) -> None:
    """A copy that is read behind the conditional as well is no work of the branch alone."""
    wide = "tanh(%value)", "add(%value, %copy.1)"
    before = _BESIDE.replace(*wide)
    after = _INSIDE.replace(*wide).replace("  %whole", f"  %copy.1 = {_COLUMNS} copy(%a)\n  %whole")
    assert match(read(before), read(after)).partner_after(_COPY) == _COPY


_BOTH = (
    _BESIDE.replace("(%i, %copy.1, %b)", "(%i, %copy.1, %copy.1)")
    .replace(
        f"  ROOT %q = ({_COLUMNS}, s32[]) parameter(0)\n",
        f"  %q = {_COLUMNS} parameter(0)\n  %one = s32[] constant(1)\n"
        f"  ROOT %other = ({_COLUMNS}, s32[]) tuple(%q, %one)\n",
    )
    .replace("%far (q: (f32[4,8], s32[]))", "%far (q: f32[4,8])")
)
_BOTH_INSIDE = (
    _BOTH.replace(f"  %copy.1 = {_COLUMNS} copy(%a)\n", "")
    .replace("(%i, %copy.1, %copy.1)", "(%i, %a, %a)")
    .replace(
        f"%p = {_COLUMNS} parameter(0)\n",
        f"%p = {_ROWS} parameter(0)\n  %copy.2 = {_COLUMNS} copy(%p)\n",
    )
    .replace(
        f"%q = {_COLUMNS} parameter(0)\n",
        f"%q = {_ROWS} parameter(0)\n  %copy.3 = {_COLUMNS} copy(%q)\n",
    )
    .replace("tuple(%p,", "tuple(%copy.2,")
    .replace("tuple(%q,", "tuple(%copy.3,")
)


def test_a_copy_that_both_branches_read_is_made_in_each(read: Read) -> None:
    made = step(read(_BOTH), read(_BOTH_INSIDE), "`conditional-code-motion`")
    assert "moved 1 copy into a branch of a conditional" in made.headline
    words = " ".join((made.headline, *made.account))
    assert "`%copy.1` in `main` was cloned to `%copy.3` in `%far`" in words
    assert "dded" not in words


def test_a_copy_that_a_branch_got_in_a_tuple_is_made_in_it(read: Read) -> None:
    given = _BESIDE.replace("(%i, %copy.1, %b)", "(%i, %whole, %b)").replace(
        "  %if =", f"  %whole = ({_COLUMNS}) tuple(%copy.1)\n  %if ="
    )
    given = given.replace(
        f"  %p = {_COLUMNS} parameter(0)\n",
        f"  %p = ({_COLUMNS}) parameter(0)\n  %part = {_COLUMNS} get-tuple-element(%p), index=0\n",
    ).replace("tuple(%p, %none)", "tuple(%part, %none)")
    made = step(read(given), read(_INSIDE), "`conditional-code-motion`")
    assert "moved 1 copy into a branch of a conditional" in made.headline
