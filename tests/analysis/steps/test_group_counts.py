"""How many instructions of what opcodes."""

from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.steps.group_counts import AFTER, BEFORE, counted
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
