"""How much each step changed the program, for ranking."""

from collections.abc import Sequence
from itertools import pairwise

from xlareport.analysis.modules.summary import StepSummary
from xlareport.analysis.passes.growth import Growth

_ALL_BYTES = 100_000.0
"""Weight of doubling the bytes accessed, and of partitioning: equal to a hundred fusions."""
_LEAST_SHARE = 0.001
"""Of the bytes accessed: a smaller change is none."""
_MOST_SHARE = 1.0
"""More than twice the bytes counts as twice."""
_MOST_REST = 0.5
"""Of a change: where less stays after the next one, that takes it back."""


def weigh_steps(steps: Sequence[StepSummary | None], growth: Sequence[Growth]) -> tuple[float, ...]:
    """Return the weight of the step to each snapshot; 0 for the first, no unit.

    It is the work that the step's changes touch, and the relative change of the bytes accessed.
    What the next step takes back, as copies that one pass adds and another removes, does not count.
    Without figures for each snapshot, the changes alone count.
    """
    if not growth or len(growth) != len(steps):
        return tuple(step.weight if step else 0.0 for step in steps)
    shares = _lasting_shares(growth)
    partitioned = [False, *(old.partitions != new.partitions for old, new in pairwise(growth))]
    return tuple(
        step.weight + _ALL_BYTES * (share + is_partitioning) if step and step.changed else 0.0
        for step, share, is_partitioning in zip(steps, shares, partitioned, strict=True)
    )


def _lasting_shares(growth: Sequence[Growth]) -> list[float]:
    """Return the relative change of the bytes accessed by each step, as far as it stays."""
    shares = [0.0, *(bytes_share(old, new) for old, new in pairwise(growth))]
    changing = [number for number, share in enumerate(shares) if share]
    lasting = [min(abs(share), _MOST_SHARE) for share in shares]
    settled = -1
    for first, second in pairwise(changing):
        rest = bytes_share(growth[first - 1], growth[second])
        if first != settled and abs(rest) <= abs(shares[first]) * _MOST_REST:
            keeper = first if (rest > 0) == (shares[first] > 0) else second
            lasting[first], lasting[second] = 0.0, 0.0
            lasting[keeper] = min(abs(rest), _MOST_SHARE)
            settled = second
    return lasting


def bytes_share(before: Growth, after: Growth) -> float:
    """Return the relative change of the bytes accessed; 0 if unknown.

    0 also below a tenth of a percent, and for the partitioning step, which only moves work to other
    devices.
    """
    old, new = before.bytes_accessed, after.bytes_accessed
    if not old or new is None or before.partitions != after.partitions:
        return 0.0
    share = (new - old) / old
    return share if abs(share) >= _LEAST_SHARE else 0.0
