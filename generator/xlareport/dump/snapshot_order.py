"""Order of a module's snapshots: by number and by known names, else by contents."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

OrderKey = tuple[int, int, int]
"""Part of the compilation, place in that part, and 1 for a name that only extends a known one."""

_NAMED: dict[str, tuple[int, int]] = {
    "before_optimizations": (0, 0),
    "before_optimization": (0, 0),
    "before_buffer_assignment": (3, 0),
    "after_optimizations": (3, 1),
    "after_optimization": (3, 1),
    "after_buffer_assignment": (3, 2),
    "after_codegen": (3, 3),
}
"""Named snapshots before (0) and after (3) the passes (1); unknown ones are in between (2)."""
_AMONG_PASSES = "before_buffer_assignment"
"""The named snapshot behind which some TPU compilers run numbered passes, as on v5p and v6e."""
_LONGEST_FIRST = sorted(_NAMED, key=len, reverse=True)
_UNKNOWN: OrderKey = (2, 0, 0)

LineDigests = frozenset[int]
"""Numbers that represent the lines of a snapshot; equal lines have one number."""


def place(stage: str, sequence: int | None) -> OrderKey:
    """Return the sort key of a snapshot, from its number or else its name.

    A name such as `after_codegen_after_hlo_sanitization` is placed after `after_codegen`.
    """
    if sequence is not None:
        return 1, sequence, 0
    for named in _LONGEST_FIRST:
        if stage == named:
            return *_NAMED[named], 0
        if stage.startswith(f"{named}_"):
            return *_NAMED[named], 1
    return _UNKNOWN


def is_placed(stage: str, sequence: int | None) -> bool:
    """Return whether number or name determine the position of a snapshot."""
    return place(stage, sequence) != _UNKNOWN


def is_extension(stage: str, sequence: int | None) -> bool:
    """Return whether a snapshot's name extends a known one by further words."""
    return place(stage, sequence)[2] == 1


def may_precede_passes(stage: str, sequence: int | None) -> bool:
    """Return whether numbered snapshots may follow one whose name says it is last."""
    return sequence is None and stage == _AMONG_PASSES


def place_of_time(written: float | None, others: Sequence[float | None]) -> int | None:
    """Return the index at which a file is inserted by time; None if times do not show it.

    `written` and `others` are seconds. They show it if all are known, the others are in order, and
    none of them equals `written`.
    """
    times = [time for time in others if time is not None]
    if written is None or len(times) < len(others):
        return None
    at = bisect_left(times, written)
    follow = all(earlier <= later for earlier, later in pairwise(times))
    return at if follow and bisect_right(times, written) == at else None


def place_of_contents(
    contents: LineDigests,
    written: float | None,
    others: Sequence[tuple[LineDigests, float | None]],
) -> int:
    """Return before which of the others a snapshot fits best; `len(others)` for the end.

    It fits where the least lines come and go; among equal places the times of the files decide,
    in seconds, then the last one.
    """
    best = places_of_contents(contents, [held for held, _ in others])
    timed = [at for at in best if _fits_in_time(written, others, at)]
    return (timed or best)[-1]


def places_of_contents(contents: LineDigests, others: Sequence[LineDigests]) -> list[int]:
    """Return the indices at which a snapshot fits equally well, and better than elsewhere."""
    costs = [_detour(contents, others, at) for at in range(len(others) + 1)]
    return [at for at, cost in enumerate(costs) if cost == min(costs)]


def _detour(contents: LineDigests, others: Sequence[LineDigests], at: int) -> int:
    """Return how many more lines change if the snapshot is before `others[at]`."""
    before = others[at - 1] if at else None
    after = others[at] if at < len(others) else None
    if before is None or after is None:
        near = after if before is None else before
        return len(contents ^ near) if near is not None else 0
    return len(before ^ contents) + len(contents ^ after) - len(before ^ after)


def _fits_in_time(
    written: float | None, others: Sequence[tuple[LineDigests, float | None]], at: int
) -> bool:
    """Return whether all files before were written no later, and all behind no earlier."""
    if written is None:
        return False
    earlier = all(time is not None and time <= written for _, time in others[:at])
    return earlier and all(time is not None and time >= written for _, time in others[at:])
