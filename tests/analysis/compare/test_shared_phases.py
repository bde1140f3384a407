"""Ops of which only one module's op_names have the phase."""

from msgspec.structs import replace

from xlareport.analysis.compare.collective_members import CombinedMember
from xlareport.analysis.compare.module_facts import Facts
from xlareport.analysis.compare.moved_work import align_facts
from xlareport.analysis.compare.operations import Operation, OperationKey, UnnamedWork
from xlareport.analysis.compare.placed_collectives import PlacedCollective
from xlareport.analysis.compare.shared_phases import share_phases
from xlareport.analysis.source.scopes import Phase


def operation(phase: Phase, op: str, seconds: float, line: str = "m.py:9") -> Operation:
    key = OperationKey(phase, "", op, line)
    return Operation(key, seconds, 8, 2, 1, ((op, 1),), ((op, "f32"),))


PHASED = Facts(
    operations=(
        operation(Phase.BACKWARD, "dot", 2.0),
        operation(Phase.FORWARD, "dot", 1.0),
        operation(Phase.BACKWARD, "add_any", 0.5),
        operation(Phase.OTHER, "mul", 0.25, "m.py:20"),
        operation(Phase.FORWARD, "exp", 0.125, "m.py:14"),
    )
)
BARE = Facts(
    operations=(
        operation(Phase.OTHER, "dot", 4.0),
        operation(Phase.OTHER, "add_any", 0.5),
        operation(Phase.OTHER, "mul", 0.25, "m.py:20"),
        operation(Phase.FORWARD, "exp", 0.125, "m.py:14"),
    )
)


def test_an_op_that_has_phases_in_one_module_is_the_same_op() -> None:
    for sides, sign in ((PHASED, BARE), 1), ((BARE, PHASED), -1):
        changes = align_facts(*share_phases(*sides))
        assert all(change.in_both for change in changes)
        assert next((change.key.op, change.seconds) for change in changes) == ("dot", sign)
        phases = {change.key.op: change.key.phase for change in changes}
        assert phases["dot"] is phases["add_any"] is Phase.OTHER
        assert phases["exp"] is Phase.FORWARD


def test_what_is_counted_with_such_an_op_follows_it() -> None:
    back, other = (
        OperationKey(phase, "", "dot", "m.py:9") for phase in (Phase.BACKWARD, Phase.OTHER)
    )
    work = UnnamedWork("copy", "f32[8]", ((back, 1.0, 8),), back, is_kernel=True)
    member = CombinedMember(Phase.BACKWARD, "dot", 8, 32)
    reduce = PlacedCollective("all-reduce", Phase.BACKWARD, "dot", "f32[8]", "r", 1.0)
    facts = replace(PHASED, unnamed=(work,), collectives=(replace(reduce, members=(member,)),))
    base, _ = share_phases(facts, BARE)
    (copy,), (collective,) = base.unnamed, base.collectives
    assert (copy.main, copy.parts) == (other, ((other, 1.0, 8),))
    assert {collective.phase, *(each.phase for each in collective.members)} == {Phase.OTHER}


def test_a_program_without_gradients_keeps_the_phases_of_the_other() -> None:
    inference = Facts(operations=(operation(Phase.OTHER, "dot", 1.0),))
    assert share_phases(inference, PHASED) == (inference, PHASED)
