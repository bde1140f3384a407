"""What is new and has no live users is told as such."""

from collections.abc import Callable

from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_DEAD_FUSION = """
%f (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %s = f32[8]{0} sine(%p)
}
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %x = f32[8]{0} sine(%a)
  %fusion.1 = f32[8]{0} fusion(%a), kind=kLoop, calls=%f
  %n = f32[8]{0} negate(%a)
  ROOT %m = f32[8]{0} add(%n, %x)
}
"""


def test_a_new_fusion_that_nothing_uses_is_added_without_users(read: Read) -> None:
    before = _DEAD_FUSION.partition("ENTRY")[2].replace(
        "  %fusion.1 = f32[8]{0} fusion(%a), kind=kLoop, calls=%f\n", ""
    )
    change = step(read(f"ENTRY{before}"), read(_DEAD_FUSION))
    assert [row.reason for row in change.added if row.kind is Kind.UNUSED] == ["it has no users"]
    assert "created" not in change.headline


def test_dead_instructions_are_fused_as_others_are(read: Read) -> None:
    """The CPU compiler puts each instruction that is left into a fusion of its own."""
    fusion = "  %fusion.1 = f32[8]{0} fusion(%a), kind=kLoop, calls=%f\n"
    before = _DEAD_FUSION.partition("ENTRY")[2].replace(fusion, "  %s.1 = f32[8]{0} cosine(%a)\n")
    change = step(read(f"ENTRY{before}"), read(_DEAD_FUSION.replace("sine(%p)", "cosine(%p)")))
    assert not [row for row in change.added if row.kind is Kind.UNUSED]
    assert "created 1 fusion" in change.headline
