"""The changes between two modules: their kinds, and how many instructions each gained."""

from collections.abc import Callable

import pytest
from tests.modules import parse_module

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.changes import Change, changes
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

TEXT = """
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %sum.1 = f32[8]{0} add(%a, %b), metadata={op_name="jit(f)/layer_3/mlp/add"}
  %out.1 = f32[8]{0} exponential(%sum.1), metadata={op_name="jit(f)/layer_3/mlp/exp"}
  ROOT %end = f32[8]{0} tanh(%out.1)
}
"""


def changed(read: Read, *replacements: tuple[str, str]) -> list[Change]:
    after = TEXT
    for old, new in replacements:
        assert old in after
        after = after.replace(old, new)
    return list(changes(match(read(TEXT), read(after))))


def test_equal_modules_have_no_changes(read: Read) -> None:
    assert changed(read) == []


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("add(%a, %b)", "multiply(%a, %b)", Kind.REPLACED),
        ("%out.1", "%other", Kind.RENAMED),
        ("layer_3/mlp/exp", "layer_3/mlp/e", Kind.METADATA),
        ("f32[8]{0} exponential", "f32[8]{0:T(8)} exponential", Kind.LAYOUT),
    ],
)
def test_the_change_of_a_line_has_its_kind(old: str, new: str, kind: Kind, read: Read) -> None:
    assert kind in {change.kind for change in changed(read, (old, new))}


def test_numbers_at_the_end_of_names_are_numbering(read: Read) -> None:
    (change,) = (it for it in changed(read, ("%sum.1", "%sum.7")) if it.kind is Kind.RENAMED)
    assert change.numbering
    (change,) = (it for it in changed(read, ("%sum.1", "%total")) if it.kind is Kind.RENAMED)
    assert not change.numbering


def test_a_change_has_the_scope_of_the_framework_else_its_computation(read: Read) -> None:
    by_name = {
        change.before.instruction: change
        for change in changed(read, ("add(%a", "subtract(%a"), ("tanh", "cosine"))
        if change.before is not None
    }
    assert (by_name["sum.1"].scope, by_name["sum.1"].scoped) == ("layer_3/mlp", True)
    assert (by_name["end"].scope, by_name["end"].scoped) == ("main", False)
    assert by_name["sum.1"].opcodes == ("add", "subtract")


DEAD = ("  ROOT", "  %idle = f32[8]{0} cosine(%a)\n  ROOT")


def test_the_balance_of_all_changes_is_how_much_the_module_grew(read: Read) -> None:
    more = changed(read, DEAD)
    assert sum(change.balance for change in more) == 1
    after = TEXT.replace(*DEAD)
    less = list(changes(match(read(after), read(TEXT))))
    assert sum(change.balance for change in less) == -1
    assert [change.before for change in less if change.balance] == [Place("main", "idle")]


FUSED = """
%fused (p: f32[8], q: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %sum.1 = f32[8]{0} add(%p, %q), metadata={op_name="jit(f)/layer_3/mlp/add"}
  ROOT %out.1 = f32[8]{0} exponential(%sum.1), metadata={op_name="jit(f)/layer_3/mlp/exp"}
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %f = f32[8]{0} fusion(%a, %b), kind=kLoop, calls=%fused
  ROOT %end = f32[8]{0} tanh(%f)
}
"""


def test_a_fusion_names_its_members_and_is_the_only_new_instruction(read: Read) -> None:
    made = list(changes(match(read(TEXT), read(FUSED))))
    (fused,) = (change for change in made if change.kind is Kind.FUSED)
    assert fused.after == Place("main", "f")
    assert {place.instruction for place in fused.members} == {"sum.1", "out.1"}
    assert (fused.opcodes, fused.balance) == (("", "fusion"), 1)


def test_an_unfused_fusion_gives_up_its_members(read: Read) -> None:
    made = list(changes(match(read(FUSED), read(TEXT))))
    (inlined,) = (change for change in made if change.before == Place("main", "f"))
    assert inlined.kind in (Kind.INLINED, Kind.ABSORBED)
    assert {place.instruction for place in inlined.members} == {"sum.1", "out.1"}
    assert inlined.balance == -1


def test_another_order_of_a_schedule_is_a_change_of_scheduled_modules(read: Read) -> None:
    two = TEXT.replace(*DEAD).replace("tanh(%out.1)", "add(%out.1, %idle)")
    idle = "  %idle = f32[8]{0} cosine(%a)\n"
    early = two.replace(idle, "").replace("  %sum.1", f"{idle}  %sum.1")
    assert list(changes(match(read(two), read(early)))) == []
    scheduled = [parse_module(f"HloModule m, is_scheduled=true\n{text}") for text in (two, early)]
    (moved,) = changes(match(*scheduled))
    assert (moved.kind, moved.before) == (Kind.REORDERED, Place("main", "idle"))
    assert [str(detail) for detail in moved.details] == ["from position 4 to 2"]
