"""The module in a recorded run, for dumps that have it nowhere else.

With `--xla_dump_hlo_snapshots` alone XLA writes no HLO files, but for each run a HloSnapshot: the
module after optimizations, with inputs and results.
"""

from collections.abc import Sequence

from xlareport.dump.modules import HLO_KINDS, RUN_KIND, Artifact, SnapshotFiles

_LARGEST = 500_000_000
"""Bytes of a recorded run that is read for its module: it holds the data as well."""


def find_recorded_module(artifacts: Sequence[Artifact]) -> SnapshotFiles | None:
    """Return the module after optimizations in the first recorded run; None beside HLO files."""
    if any(artifact.name.kind in HLO_KINDS for artifact in artifacts):
        return None
    runs = [
        artifact
        for artifact in artifacts
        if artifact.name.kind == artifact.name.stage == RUN_KIND
        and artifact.name.format == "pb"
        and artifact.entry.size <= _LARGEST
    ]
    first = min(runs, key=lambda artifact: artifact.path, default=None)
    if first is None:
        return None
    return SnapshotFiles("after_optimizations", None, None, None, None, (first,))
