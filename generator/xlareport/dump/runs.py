"""Snapshots of several runs under the names of one module: the times of files tell them apart."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from xlareport.dump.modules import SnapshotFiles


def is_mixed(stages: Sequence[SnapshotFiles]) -> bool:
    """Say whether a number stands for several snapshots: a compilation gives it once."""
    return any(len(same) > 1 for same in _by_number(stages).values())


def written_with(
    stages: Sequence[SnapshotFiles], last: SnapshotFiles
) -> Sequence[SnapshotFiles] | None:
    """Return the snapshots of the run that wrote `last`; None where the times do not tell.

    They do where one moment parts each two snapshots of a number: one run ended before another
    began. That moment is the longest pause among those.
    """
    times = {stage: time for stage in stages if (time := _written(stage)) is not None}
    if len(times) < len(stages):
        return None
    shared = [sorted(map(times.__getitem__, same)) for same in _by_number(stages).values()]
    parted = [same for same in shared if len(same) > 1]
    begin, end = max(same[0] for same in parted), min(same[-1] for same in parted)
    moments = [time for time in sorted(times.values()) if begin <= time <= end]
    if begin >= end or any(len(same) > 2 for same in parted):
        return None
    pause = max(pairwise(moments), key=lambda pair: pair[1] - pair[0])
    is_later = times[last] >= pause[1]
    return [stage for stage in stages if (times[stage] >= pause[1]) is is_later]


def _by_number(stages: Sequence[SnapshotFiles]) -> dict[int, list[SnapshotFiles]]:
    numbered: dict[int, list[SnapshotFiles]] = defaultdict(list)
    for stage in stages:
        if stage.sequence is not None:
            numbered[stage.sequence].append(stage)
    return numbered


def _written(stage: SnapshotFiles) -> float | None:
    """Return when the last form of a snapshot was written, in seconds."""
    times = [artifact.entry.modified for artifact in stage.artifacts]
    return max((time for time in times if time is not None), default=None)
