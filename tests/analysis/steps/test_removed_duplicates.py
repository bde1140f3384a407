from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
%first (p: (f32[8])) -> f32[8] {
  %p = (f32[8]{0}) parameter(0)
  ROOT %e = f32[8]{0} get-tuple-element(%p), index=0
}
%second (q: (f32[8])) -> f32[8] {
  %q = (f32[8]{0}) parameter(0)
  %f = f32[8]{0} get-tuple-element(%q), index=0
  ROOT %n = f32[8]{0} negate(%f)
}
ENTRY %main (a: f32[8], i: s32[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %i = s32[] parameter(1)
  %s = f32[8]{0} sine(%a)
  %both = (f32[8]{0}, f32[8]{0}) tuple(%s, %a)
  %t.1 = (f32[8]{0}) tuple(%both#1)
  %t.2 = (f32[8]{0}) tuple(%both#1)
  ROOT %c = f32[8]{0} conditional(%i, %t.1, %t.2), branch_computations={%first, %second}
}
"""


def test_a_tuple_whose_user_uses_an_equal_one_was_merged(read: Read) -> None:
    after = _BEFORE.replace("  %t.2 = (f32[8]{0}) tuple(%both#1)\n", "").replace("%t.2", "%t.1")
    change = step(read(_BEFORE), read(after))
    assert [(row.kind, str(row.before), str(row.after)) for row in change.removed] == [
        (Kind.MERGED, "main/%t.2", "main/%t.1")
    ]


def test_a_tuple_of_something_else_was_removed(read: Read) -> None:
    before = _BEFORE.replace(
        "%t.2 = (f32[8]{0}) tuple(%both#1)", "%t.2 = (f32[8]{0}) tuple(%both#0)"
    )
    after = before.replace("  %t.2 = (f32[8]{0}) tuple(%both#0)\n", "").replace("%t.2", "%t.1")
    assert [row.kind for row in step(read(before), read(after)).removed] == [Kind.REMOVED]


_ELEMENT = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %s = (f32[8]{0}, f32[8]{0}) custom-call(%a), custom_call_target="both"
  %e.2 = f32[8]{0} get-tuple-element(%s), index=1
  %t = (f32[8]{0}) tuple(%e.2)
  %e.1 = f32[8]{0} get-tuple-element(%t), index=0
  %n = f32[8]{0} negate(%e.1)
  ROOT %m = f32[8]{0} add(%n, %e.1)
}
"""


def test_an_element_is_merged_into_what_was_put_in_and_takes_its_name(read: Read) -> None:
    lines = _ELEMENT.replace("%e.2 = ", "%e.1 = ").splitlines(keepends=True)
    after = read("".join(lines[:5] + lines[7:]))
    change = step(read(_ELEMENT), after)
    assert {row.kind for row in change.removed if "%t" not in str(row.before)} == {Kind.MERGED}
