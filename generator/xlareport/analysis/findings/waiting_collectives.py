"""Collectives during which nothing else runs."""

from collections import Counter
from collections.abc import Iterator

from xlareport.analysis.cost.collectives import Collective, collectives
from xlareport.analysis.findings.finding import MEBIBYTE, MOST_PLACES, Case, Finding, listed
from xlareport.hlo.model import Instruction
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE
"""That each device must send in one run, of each collective."""
_RENAMING = frozenset({"get-tuple-element", "bitcast", "tuple", "parameter", "constant"})


def waiting_collectives(case: Case) -> Iterator[Finding]:
    """Report large collectives that are synchronous, or whose end follows their start at once."""
    waiting: dict[tuple[str, bool], list[Collective]] = {}
    every = list(collectives(case.module, case.cost))
    kinds = Counter(one.kind for one in every)
    for one in every:
        if not one.overlaps and one.counted and (one.wire_bytes or 0) >= LEAST_BYTES:
            waiting.setdefault((one.kind, one.overlaps is None), []).append(one)
    for (kind, is_synchronous), found in sorted(waiting.items()):
        found.sort(key=lambda one: (-_sent(one), one.instruction))
        sent = sum(map(_sent, found))
        why = "not asynchronous" if is_synchronous else "ended before anything else has run"
        yield Finding(
            rule="waiting-collectives",
            title=f"{kind} with nothing beside it",
            places=tuple((one.computation, one.instruction) for one in found[:MOST_PLACES]),
            evidence=(
                f"{kind}, {_count(len(found), kinds[kind])} in the program, {why}: each device "
                f"must send at least {units.byte_size(sent)} for it in one run of the module. "
                f"{_blocked(case, found[0])}"
            ).strip(),
            suggestion=(
                "See whether the latency hiding scheduler is on for this backend, and whether "
                "work that does not need the result could stand between start and end."
            ),
            grade="exact",
            weight=case.time_of_bytes(sent),
        )


def _count(found: int, whole: int) -> str:
    return f"{found}" if found == whole else f"{found} of the {whole}"


def _sent(one: Collective) -> int:
    return (one.wire_bytes or 0) * one.counted


def _blocked(case: Case, collective: Collective) -> str:
    """Say what needs the result first, and what comes later that does not need it.

    Of what stands in a computation of its own, as asynchronous calls do, nothing is said.
    """
    after = case.module.by_name[collective.computation].instructions
    place = next(at for at, one in enumerate(after) if one.name == collective.instruction)
    if after[place].is_root:
        return ""
    needs, users, free = {collective.instruction}, [], []
    for one in after[place + 1 :]:
        if not needs.isdisjoint(one.operand_names):
            needs.add(one.name)
            users += [one.name] if _is_work(one) else []
        elif _computes(case, collective.computation, one):
            free.append(one.name)
    name = collective.instruction
    first = f"`{users[0]}` is the first to need `{name}`" if users else f"Nothing needs `{name}`"
    if not free:
        return f"{first}; nothing that comes later in its computation could run without it."
    return f"{first}; {listed(free)} come later and do not need it."


def _computes(case: Case, computation: str, one: Instruction) -> bool:
    cost = case.cost.instructions.get((computation, one.name))
    return cost is not None and bool(cost.flops or cost.transcendentals)


def _is_work(one: Instruction) -> bool:
    return one.opcode not in _RENAMING and not one.opcode.endswith("-done")
