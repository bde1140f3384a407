"""Facts of two modules without the phases that only one module's op_names have.

JAX 0.6 wrote no phase outside of traced functions: each op would be only in the base and only in
the head.
"""

from collections.abc import Collection

from msgspec.structs import replace

from xlareport.analysis.compare.module_facts import Facts
from xlareport.analysis.compare.operations import OperationKey, UnnamedWork, add_up
from xlareport.analysis.compare.placed_collectives import PlacedCollective, path_of
from xlareport.analysis.source.scopes import Phase
from xlareport.runtime.grouping import group_by_key

_NONE = frozenset({Phase.OTHER})


def share_phases(base: Facts, head: Facts) -> tuple[Facts, Facts]:
    """Return the facts; ops whose gradients have a phase in one module alone have none in both.

    A program without gradients has none of the ops that only a backward pass has.
    """
    ours, theirs = _phases_of(base), _phases_of(head)
    unlike = {
        key: ours[key] | theirs[key]
        for key in ours.keys() & theirs.keys()
        if (ours[key] == _NONE) != (theirs[key] == _NONE)
    }
    if {Phase.OTHER, Phase.BACKWARD} not in unlike.values():
        return base, head
    keys = frozenset(unlike)
    return _without_phases(base, keys), _without_phases(head, keys)


def _phases_of(facts: Facts) -> dict[OperationKey, set[Phase]]:
    phases: dict[OperationKey, set[Phase]] = {}
    for operation in facts.operations:
        if operation.key.op:
            phases.setdefault(_bare(operation.key), set()).add(operation.key.phase)
    return phases


def _bare(key: OperationKey) -> OperationKey:
    return replace(key, phase=Phase.OTHER)


def _without_phases(facts: Facts, bare: Collection[OperationKey]) -> Facts:
    def shared(key: OperationKey) -> OperationKey:
        return _bare(key) if _bare(key) in bare else key

    def unnamed(work: UnnamedWork) -> UnnamedWork:
        parts = tuple((shared(key), seconds, size) for key, seconds, size in work.parts)
        return replace(work, parts=parts, main=shared(work.main))

    groups = group_by_key((shared(operation.key), operation) for operation in facts.operations)
    operations = [replace(add_up(group), key=key) for key, group in groups.items()]
    operations.sort(key=lambda operation: (-operation.seconds, -operation.bytes))
    return replace(
        facts,
        operations=tuple(operations),
        unnamed=tuple(map(unnamed, facts.unnamed)),
        collectives=tuple(_collective(row, {*map(path_of, bare)}) for row in facts.collectives),
    )


def _collective(collective: PlacedCollective, paths: Collection[str]) -> PlacedCollective:
    members = tuple(
        replace(member, phase=Phase.OTHER) if member.path in paths else member
        for member in collective.members
    )
    phase = Phase.OTHER if collective.path in paths else collective.phase
    return replace(collective, phase=phase, members=members)
