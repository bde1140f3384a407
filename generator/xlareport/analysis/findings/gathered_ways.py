"""The way of a gathered value to the only instruction that uses it."""

from collections.abc import Sequence

from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.findings.finding import join_names
from xlareport.analysis.findings.wrapped import hands_on
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import ALIASES


def way_to_only_user(module: HloModule, gather: Collective) -> tuple[str, ...]:
    """Return what hands the result on and, at the end, its only consumer; empty for several."""
    computation = module.by_name[gather.computation]
    last = computation.by_name[gather.done or gather.instruction]
    way = list[str]()
    while len(users := computation.users.get(last.name, ())) == 1:
        (last,) = users
        if last.opcode not in ALIASES:
            way.append(last.name)
        if not hands_on(module, last):
            return tuple(way)
    return ()


def describe_way(copies: Sequence[str]) -> str:
    """Return words on what hands a value on; empty for nothing."""
    return f", through {join_names(copies)}" if copies else ""
