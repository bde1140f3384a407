"""The steps of real dumps: neighboring snapshots that differ."""

from collections.abc import Iterator
from dataclasses import dataclass

from dumps import content

from xlareport.dump.modules import ModuleFiles, SnapshotFiles
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader


@dataclass(frozen=True, slots=True)
class Step:
    """Two neighboring snapshots that differ."""

    before: HloModule
    after: HloModule
    stages: tuple[SnapshotFiles, SnapshotFiles]

    @property
    def ran(self) -> str:
        """Return the pass that ran last, or the pipeline that starts."""
        stage = self.stages[1]
        after = stage.after or "?"
        return f"{stage.pipeline} (start)" if after == "pipeline-start" else after

    def protos(self) -> tuple[bytes, bytes] | None:
        """Return both snapshots as `HloProto`, where they were written."""
        before, after = (content(stage, "hlo-proto") for stage in self.stages)
        return None if before is None or after is None else (before, after)


def steps(files: ModuleFiles) -> Iterator[Step]:
    """Yield the steps between pass files of one module; no more than one is kept."""
    reader = TextReader()
    last: tuple[HloModule, SnapshotFiles] | None = None
    for stage in files.stages:
        text = content(stage, "hlo-text") if stage.sequence is not None else None
        module = None if text is None else reader.read(text, stage.label)
        if module is None:
            continue
        if last is not None and last[0] is not module:
            yield Step(last[0], module, (last[1], stage))
        last = (module, stage)
