"""Collectives during which nothing else runs."""

from collections import Counter
from collections.abc import Iterator

from xlareport.analysis.cost.collectives import Collective, find_collectives
from xlareport.analysis.findings.finding import MEBIBYTE, MOST_PLACES, Case, Finding, listed
from xlareport.hlo.model import Instruction
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE
"""That each device must send in one run, of each collective."""
_RENAMING = frozenset({"get-tuple-element", "bitcast", "tuple", "parameter", "constant"})


def waiting_collectives(case: Case) -> Iterator[Finding]:
    """Report large collectives that are synchronous, or whose end follows their start at once."""
    waiting: dict[tuple[str, bool], list[Collective]] = {}
    every = list(find_collectives(case.module, case.cost))
    kinds = Counter(collective.kind for collective in every)
    for collective in every:
        if (
            not collective.overlaps
            and collective.counted
            and (collective.wire_bytes or 0) >= LEAST_BYTES
        ):
            waiting.setdefault((collective.kind, collective.overlaps is None), []).append(
                collective
            )
    for (kind, is_synchronous), new_collectives in sorted(waiting.items()):
        new_collectives.sort(key=lambda collective: (-_sent(collective), collective.instruction))
        sent = sum(map(_sent, new_collectives))
        why = "not asynchronous" if is_synchronous else "ended before anything else has run"
        yield Finding(
            rule="waiting-collectives",
            title=f"{kind} with nothing beside it",
            places=tuple(
                (collective.computation, collective.instruction)
                for collective in new_collectives[:MOST_PLACES]
            ),
            evidence=(
                f"{kind}, {_count(len(new_collectives), kinds[kind])} in the program, {why}: each "
                "device "
                f"must send at least {units.byte_size(sent)} for it in one run of the module. "
                f"{_blocked(case, new_collectives[0])}"
            ).strip(),
            suggestion=(
                "See whether the latency hiding scheduler is on for this backend, and whether "
                "work that does not need the result could stand between start and end."
            ),
            grade="exact",
            weight=case.time_of_bytes(sent),
        )


def _count(number: int, whole: int) -> str:
    return f"{number}" if number == whole else f"{number} of the {whole}"


def _sent(collective: Collective) -> int:
    return (collective.wire_bytes or 0) * collective.counted


def _blocked(case: Case, collective: Collective) -> str:
    """Say what needs the result first, and what comes later that does not need it.

    Of what stands in a computation of its own, as asynchronous calls do, nothing is said.
    """
    after = case.module.by_name[collective.computation].instructions
    place = next(
        at for at, instruction in enumerate(after) if instruction.name == collective.instruction
    )
    if after[place].is_root:
        return ""
    needs, users, free = {collective.instruction}, [], []
    for instruction in after[place + 1 :]:
        if not needs.isdisjoint(instruction.operand_names):
            needs.add(instruction.name)
            users += [instruction.name] if _is_work(instruction) else []
        elif _computes(case, collective.computation, instruction):
            free.append(instruction.name)
    name = collective.instruction
    first = f"`{users[0]}` is the first to need `{name}`" if users else f"Nothing needs `{name}`"
    if not free:
        return f"{first}; nothing that comes later in its computation could run without it."
    return f"{first}; {listed(free)} come later and do not need it."


def _computes(case: Case, computation: str, instruction: Instruction) -> bool:
    cost = case.cost.instructions.get((computation, instruction.name))
    return cost is not None and bool(cost.flops or cost.transcendentals)


def _is_work(instruction: Instruction) -> bool:
    return instruction.opcode not in _RENAMING and not instruction.opcode.endswith("-done")
