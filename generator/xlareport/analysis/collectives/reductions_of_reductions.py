"""Reductions over devices that read one another: passes fold two into one, and split one in two.

An all-reduce over the groups of one mesh axis and then over those of another is one over both.
"""

from collections.abc import Sequence
from math import prod

from xlareport.analysis.collectives.find import Collective
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS, REDUCING_COLLECTIVES
from xlareport.hlo.shardings.device_groups import parse_groups

_REARRANGING = REARRANGEMENTS | {"dynamic-slice"}
_MOST_STEPS = 8

_Groups = frozenset[frozenset[int]]


def find_folded(module: HloModule, sources: Sequence[Collective]) -> tuple[Collective, ...]:
    """Return those of the collectives that became one whose results others of them read."""
    if len(sources) < 2:
        return ()
    read = {
        (source.body[0], name)
        for source in sources
        for body in (module.find(*source.body),)
        for name in (body.operand_names if body else ())
    }
    return tuple(source for source in sources if source.body in read)


def read_reduction(module: HloModule, collective: Collective) -> tuple[str, str] | None:
    """Return the place of the reduction whose result, or a slice of it, a reduction reads."""
    body = module.find(*collective.body)
    if body is None or collective.kind not in REDUCING_COLLECTIVES:
        return None
    home = module.by_name[collective.body[0]]
    operand = _reduced(home, body)
    return (home.name, operand.name) if operand is not None else None


def _reduced(home: Computation, body: Instruction) -> Instruction | None:
    """Return the reduction over devices that an instruction reads, behind what rearranges it."""
    current = home.operand(body, 0) if len(body.operands) == 1 else None
    for _ in range(_MOST_STEPS):
        if current is None or current.opcode in REDUCING_COLLECTIVES:
            return current
        current = home.operand(current, 0) if current.opcode in _REARRANGING else None
    return None


def are_halves(
    whole: tuple[HloModule, Collective], halves: Sequence[tuple[HloModule, Collective]]
) -> bool:
    """Return whether reductions one after the other are over the devices of a former one."""
    all_groups, *parts = (_groups_of(*place) for place in (whole, *halves))
    if not all_groups or not all(parts):
        return False
    sizes = [max(map(len, groups)) for groups in parts]
    inside = all(any(group <= every for every in all_groups) for part in parts for group in part)
    return inside and min(sizes) > 1 and prod(sizes) == max(map(len, all_groups))


def _groups_of(module: HloModule, collective: Collective) -> _Groups:
    """Return the device groups of a collective; empty where they are not written out."""
    body = module.find(*collective.body)
    groups = parse_groups(body.attributes.get("replica_groups", "")) if body else None
    return frozenset(map(frozenset, groups.groups)) if groups and groups.groups else frozenset()
