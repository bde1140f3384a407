"""The passes as a tree: pipelines with their runs and nested parts; unchanged files folded.

File names give the pipeline of every snapshot. A pipeline that begins while another one has passes
left is nested in it; a pipeline that begins again right after its end is a further run.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from xlareport.analysis.steps.boundaries import START
from xlareport.dump.modules import SnapshotFiles


class StageEntry(Struct, frozen=True):
    """A snapshot, or consecutive snapshots with equal contents."""

    first: int
    """Index of the snapshot."""
    last: int
    unchanged: bool
    """Whether all of them equal the previous snapshot."""


class PipelineRun(Struct, frozen=True):
    """One run of a pipeline: its snapshots and nested pipelines, in order."""

    parts: tuple["Pipeline | StageEntry", ...]

    @property
    def first(self) -> int:
        """The index of the first snapshot within."""
        return self.parts[0].first

    @property
    def last(self) -> int:
        """The index of the last snapshot within."""
        return self.parts[-1].last

    @property
    def unchanged(self) -> bool:
        """Whether all its parts are unchanged."""
        return all(part.unchanged for part in self.parts)


class Pipeline(Struct, frozen=True):
    """A pipeline with its runs: more than one where it ran several times in a row."""

    name: str
    runs: tuple[PipelineRun, ...]

    @property
    def first(self) -> int:
        """The index of the first snapshot within."""
        return self.runs[0].first

    @property
    def last(self) -> int:
        """The index of the last snapshot within."""
        return self.runs[-1].last

    @property
    def unchanged(self) -> bool:
        """Whether all its runs are unchanged."""
        return all(run.unchanged for run in self.runs)


Part = Pipeline | StageEntry


def build_pipeline_tree(
    stages: Sequence[SnapshotFiles], identical: Sequence[bool]
) -> tuple[Part, ...]:
    """Return the tree; `identical[i]` is true if stages i and i+1 are equal."""
    builder = _Builder(stages)
    for number, stage in enumerate(stages):
        builder.add(number, stage)
    return tuple(_finished(builder.top, (False, *identical)))


class _Run(Struct):
    """A run of a pipeline that is being built."""

    pipeline: str
    parts: list["_Run | int"] = field(default_factory=list)


class _Builder:
    """Adds stages one after another; keeps the runs that are not over, the innermost last."""

    def __init__(self, stages: Sequence[SnapshotFiles]) -> None:
        self.top: list[_Run | int] = []
        self._open: list[_Run] = []
        self._stages = stages
        self._places: dict[str, list[int]] = {}
        for number, stage in enumerate(stages):
            if stage.pipeline is not None:
                self._places.setdefault(stage.pipeline, []).append(number)

    def add(self, number: int, stage: SnapshotFiles) -> None:
        """Add the next stage."""
        self._close(number, stage)
        if stage.pipeline is None:
            self._open_parts().append(number)
            return
        if not self._open or self._open[-1].pipeline != stage.pipeline:
            run = _Run(stage.pipeline)
            self._open_parts().append(run)
            self._open.append(run)
        self._open_parts().append(number)

    def _open_parts(self) -> list[_Run | int]:
        return self._open[-1].parts if self._open else self.top

    def _close(self, number: int, stage: SnapshotFiles) -> None:
        """End the runs that this stage does not belong to."""
        names = [run.pipeline for run in self._open]
        if stage.pipeline in names and stage.after != START:
            del self._open[names.index(stage.pipeline) + 1 :]
            return
        self._open = [
            run
            for run in self._open
            if run.pipeline != stage.pipeline and self._goes_on(run.pipeline, number)
        ]

    def _goes_on(self, pipeline: str, number: int) -> bool:
        """Whether a pipeline has a later stage that is not its next start."""
        places = self._places[pipeline]
        place = bisect_right(places, number)
        return place < len(places) and self._stages[places[place]].after != START


def _finished(parts: Sequence[_Run | int], identical: Sequence[bool]) -> Iterator[Part]:
    """Yield parts with unchanged consecutive stages, and consecutive runs, combined."""
    place = 0
    while place < len(parts):
        end = place + 1
        first = parts[place]
        if isinstance(first, _Run):
            while end < len(parts) and _same_pipeline(first, parts[end]):
                end += 1
            runs = tuple(
                PipelineRun(tuple(_finished(part.parts, identical)))
                for part in parts[place:end]
                if isinstance(part, _Run)
            )
            yield Pipeline(first.pipeline, runs)
        else:
            while end < len(parts) and identical[first] and _is_unchanged(parts[end], identical):
                end += 1
            yield StageEntry(first, first + end - place - 1, identical[first])
        place = end


def _same_pipeline(run: _Run, other: _Run | int) -> bool:
    return isinstance(other, _Run) and other.pipeline == run.pipeline


def _is_unchanged(part: _Run | int, identical: Sequence[bool]) -> bool:
    return isinstance(part, int) and identical[part]
