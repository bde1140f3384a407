"""Unused last collective of a loop.

A loop of known trip count executes a collective whose result only the next iteration reads, and
nothing reads it after the loop. So one execution in each run of the loop is unnecessary, as in a
ring that sends its blocks once more after the last step. Together these send 1 MiB or more per
device, and 5% or more of the bytes of all collectives.
"""

from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.collectives.collective_figures import CollectiveFigures
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable

LEAST_BYTES = 1 << 20
"""Bytes that the unused executions send per device."""
LEAST_SHARE = 0.05
"""Of what all collectives send per device."""
_MOVES = REARRANGEMENTS | {"convert", "get-tuple-element"}
_FEWEST = 2
"""Iterations: of a single one nothing is known to be read by the next."""


def unread_collectives(case: Case) -> Iterator[Finding]:
    """Report collectives in loops whose last result is not used, together."""
    loops = case.module.only_loops
    unread = [
        (figures, count)
        for figures in case.collectives
        if (count := _trip_count(case, figures, loops)) >= _FEWEST and figures.counted
    ]
    sent = sum(figures.sent_bytes / count for figures, count in unread)
    if sent < max(LEAST_BYTES, LEAST_SHARE * case.sent_bytes):
        return
    unread.sort(key=lambda item: -item[0].sent_bytes)
    exposed = sum(figures.exposed_seconds / count for figures, count in unread)
    first, count = unread[0]
    names = join_names(figures.collective.instruction for figures, _ in unread)
    yield Finding(
        title="Unused last collective of a loop",
        places=tuple(figures.collective.key for figures, _ in unread),
        evidence=(
            f"Only the next iteration reads the results of {names}, and nothing after the loop: of "
            f"{units.plural(count, 'execution')} of `{first.collective.instruction}` in each run "
            "of its loop, the last is for nothing. Together, these executions send "
            f"{units.byte_size(round(sent))} per device."
        ),
        suggestion=(
            "Leave the last iteration out of the loop and do it without the collective, or send at "
            "the beginning of each iteration but the first."
        ),
        grade="matched",
        weight=exposed,
        seconds=exposed or None,
    )


def _trip_count(
    case: Case, figures: CollectiveFigures, loops: Mapping[str, tuple[Computation, Instruction]]
) -> int:
    """Return the iterations of the loop that does not use the last result; 0 for others."""
    collective = figures.collective
    if collective.computation not in loops:
        return 0
    home, loop = loops[collective.computation]
    body = case.module.by_name[collective.computation]
    elements = _given_on(body, body.by_name.get(collective.done or collective.instruction))
    trips = case.cost.trip_counts.get((home.name, loop.name))
    if not elements or trips is None or trips.count is None:
        return 0
    return 0 if any(_is_used(home, loop, element) for element in elements) else trips.count


def _given_on(body: Computation, end: Instruction | None) -> frozenset[int]:
    """Return the elements of the loop's state that alone get a result; empty if others read it."""
    if end is None or end.is_root:
        return frozenset()
    elements: set[int] = set()

    def users(value: Instruction) -> Sequence[Instruction]:
        return body.users.get(value.name, ())

    for value in reachable([end], users):
        for user in users(value):
            if user is body.root and user.opcode == "tuple":
                elements |= {at for at, name in enumerate(user.operand_names) if name == value.name}
            elif user.opcode not in _MOVES or user.is_root:
                return frozenset()
    return frozenset(elements)


def _is_used(home: Computation, loop: Instruction, element: int) -> bool:
    """Return whether anything reads an element of a loop's result, or the result as a whole."""
    if loop.is_root:
        return True
    for user in home.users.get(loop.name, ()):
        if user.opcode != "get-tuple-element":
            return True
        taken = user.taken_element == element
        if taken and (user.is_root or home.users.get(user.name)):
            return True
    return False
