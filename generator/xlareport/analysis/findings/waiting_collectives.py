"""Collectives that independent work could overlap, and does not."""

from collections import Counter
from collections.abc import Iterator

from xlareport.analysis.cost.collectives import Collective, find_collectives
from xlareport.analysis.cost.wire import KINDS
from xlareport.analysis.findings.finding import (
    MEBIBYTE,
    MOST_PLACES,
    SHORTEST,
    Case,
    Finding,
    join_names,
)
from xlareport.hlo.model import Computation
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable

LEAST_BYTES = MEBIBYTE
"""That each device must send in one run, of each collective."""
LEAST_SHARE = 0.1
"""Of the time that memory needs for the bytes sent: so much work must be there to hide it."""
_MOST_LOOKED_AT = 20
"""Of a kind, the largest."""


def waiting_collectives(case: Case) -> Iterator[Finding]:
    """Report large collectives that run alone though work is there that could run meanwhile.

    That is work of the same computation that neither needs the result nor is needed for it. The
    order of instructions means nothing on a CPU, which runs what is ready, nor in a module that is
    not scheduled.
    """
    if case.device.nominal_for == "cpu" or case.module.attributes.get("is_scheduled") != "true":
        return
    every = find_collectives(case.module, case.cost)
    kinds = Counter(collective.kind for collective in every)
    waiting: dict[tuple[str, bool], list[Collective]] = {}
    for collective in every:
        is_large = (collective.wire_bytes or 0) >= LEAST_BYTES and collective.counted
        if is_large and not collective.overlaps:
            alike = waiting.setdefault((collective.kind, collective.overlaps is None), [])
            alike.append(collective)
    for (kind, is_synchronous), collectives in sorted(waiting.items()):
        collectives.sort(key=lambda collective: (-_sent(collective), collective.instruction))
        pairs = [(each, _independent(case, each)) for each in collectives[:_MOST_LOOKED_AT]]
        exposed = [(collective, names) for collective, names in pairs if names]
        if exposed:
            yield _finding(case, kind, exposed, kinds[kind], is_synchronous=is_synchronous)


def _finding(
    case: Case,
    kind: str,
    exposed: list[tuple[Collective, list[str]]],
    number: int,
    *,
    is_synchronous: bool,
) -> Finding:
    sent = sum(_sent(collective) for collective, _ in exposed)
    why = "synchronous" if is_synchronous else "done directly after start"
    (first, names), *_ = exposed
    return Finding(
        rule="waiting-collectives",
        title=f"Exposed (non-overlapped) {kind}: {why}",
        places=tuple((collective.computation, collective.instruction) for collective, _ in exposed)[
            :MOST_PLACES
        ],
        evidence=(
            f"{_count(len(exposed), number, kind)}, {why}: at least {units.byte_size(sent)} sent "
            f"per device and module execution. Independent of `{first.instruction}`: "
            f"{join_names(names)}."
        ),
        suggestion=(
            "Check whether the latency-hiding scheduler is enabled for this backend, and what "
            "prevents it from scheduling that compute between start and done."
        ),
        grade="matched",
        weight=case.time_of_bytes(sent),
        seconds=sum(case.least_at(each.computation, each.instruction) for each, _ in exposed),
    )


def _count(number: int, whole: int, kind: str) -> str:
    return (
        f"{number} of {units.plural(whole, kind)}" if number < whole else units.plural(number, kind)
    )


def _sent(collective: Collective) -> int:
    return (collective.wire_bytes or 0) * collective.counted


def _independent(case: Case, collective: Collective) -> list[str]:
    """Return the instructions that compute, do not need the collective and are not needed for it.

    Too little work to hide a noticeable part of the collective is none. What stands in a
    computation of its own, as asynchronous calls do, has none.
    """
    computation = case.module.by_name[collective.computation]
    bound = _bound(computation, collective.instruction)
    times = {
        instruction.name: case.least(cost)
        for instruction in computation.instructions
        if instruction.name not in bound
        and instruction.opcode not in KINDS
        and (cost := case.cost.instructions.get((computation.name, instruction.name)))
        and (cost.flops or cost.transcendentals)
    }
    enough = max(SHORTEST, LEAST_SHARE * case.time_of_bytes(_sent(collective)))
    return sorted(times, key=lambda name: -times[name]) if sum(times.values()) >= enough else []


def _bound(computation: Computation, name: str) -> set[str]:
    """Return what an instruction needs and what needs it, directly or not."""
    before = reachable([name], lambda each: _operands(computation, each))
    after = reachable([name], lambda each: [user.name for user in computation.users.get(each, ())])
    return {*before, *after}


def _operands(computation: Computation, name: str) -> tuple[str, ...]:
    instruction = computation.by_name.get(name)
    return instruction.operand_names if instruction else ()
