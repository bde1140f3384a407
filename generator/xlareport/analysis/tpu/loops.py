"""The loops of a program: where their code is, their bounds, and how often they run."""

from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.tpu.control import Action
from xlareport.analysis.tpu.program_record import TpuLoop
from xlareport.readers.llo.regions import LoopBounds


def find_loops(
    actions: Mapping[int, Sequence[Action]],
    bounds: Sequence[LoopBounds],
    delay_slots: int,
    counts: Sequence[int] | None,
    waiting: Sequence[int],
) -> tuple[TpuLoop, ...]:
    """Return the loops of a program, outer ones first.

    `bounds` are those that the compiler states; they are joined to the code where the limit of a
    back branch's comparison is the same.
    """
    places = sorted(_back_branches(actions), key=lambda place: (place[0], -place[1]))
    stated = list(bounds)
    loops = []
    for begin, branch in places:
        known = _take(stated, _limit(actions, branch))
        end = branch + 1 + delay_slots
        loops.append(
            TpuLoop(
                begin=begin,
                end=end,
                depth=1 + sum(outer <= begin and branch < last for outer, last in places),
                start=known.start if known else None,
                step=known.step if known else None,
                limit=known.limit if known else None,
                runs=counts[begin] if counts else None,
                dma_waits=sum(begin <= address < end for address in waiting),
            )
        )
    unplaced = (
        TpuLoop(None, None, 1, stated_loop.start, stated_loop.step, stated_loop.limit, None)
        for stated_loop in stated
    )
    return (*loops, *unplaced)


def _back_branches(actions: Mapping[int, Sequence[Action]]) -> Iterator[tuple[int, int]]:
    for address, members in actions.items():
        for action in members:
            if action.branch is not None and 0 <= action.branch <= address:
                yield action.branch, address


def _limit(actions: Mapping[int, Sequence[Action]], branch: int) -> int | None:
    """Return the constant that the branch's predicate was compared with."""
    predicate = next(action.predicate for action in actions[branch] if action.is_branch)
    for address in sorted((address for address in actions if address <= branch), reverse=True):
        for action in actions[address]:
            if action.target == predicate:
                last = action.arguments[-1] if action.arguments else None
                return last if isinstance(last, int) and action.opcode.startswith("scmp") else None
    return None


def _take(stated: list[LoopBounds], limit: int | None) -> LoopBounds | None:
    """Take the first stated bounds with a limit out of the list."""
    for place, bounds in enumerate(stated):
        if limit is not None and bounds.limit == limit:
            return stated.pop(place)
    return LoopBounds(None, None, limit) if limit is not None and not stated else None
