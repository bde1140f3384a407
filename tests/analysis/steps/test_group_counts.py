"""How many instructions of what opcodes."""

from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.steps.group_counts import AFTER, BEFORE, counted, counted_apart
from xlareport.analysis.steps.groups import grouped
from xlareport.analysis.steps.kinds import Kind


def test_each_side_has_its_own_opcode() -> None:
    groups = grouped([change(Kind.REPLACED)])
    assert (counted(groups, BEFORE), counted(groups, AFTER)) == ("1 add", "1 multiply")


def test_a_custom_call_that_was_removed_is_named_by_its_target() -> None:
    calls = [
        replace(
            change(Kind.REMOVED, f"call.{number}"), opcodes=("custom-call", ""), target="Sharding"
        )
        for number in range(2)
    ]
    assert counted(grouped(calls), BEFORE) == "2 `Sharding` custom-calls"


def test_two_sorts_are_counted_apart_and_an_empty_one_is_left_out() -> None:
    groups = grouped([change(Kind.LAYOUT, "a.1"), change(Kind.REPLACED, "b.2")])
    words = "laid out {}", "replaced {}"
    both = counted_apart(groups, lambda group: group.kind is Kind.REPLACED, *words)
    assert both == "laid out 1 add and replaced 1 add"
    assert counted_apart(groups[:1], lambda _: True, *words) == "replaced 1 add"
