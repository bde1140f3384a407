"""Passes of which it is proven that they did nothing, and how: by metadata, or by every boundary.

Under the literal `.*` XLA does not write what reported no change, so that nothing is proven there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlareport.analysis.passes.times import pass_times, pipelines_of
from xlareport.analysis.steps.boundaries import START, Boundary, DumpMode, dump_mode
from xlareport.dump.modules import SnapshotFiles
from xlareport.readers.pass_metadata import ModuleMetadata


@dataclass(frozen=True, slots=True)
class Idle:
    """The passes that changed nothing, as far as that can be proven."""

    passes: tuple[tuple[str, int], ...]
    """Names and runs, most runs first."""
    proof: str
    """How it is known; why nothing is, where there are no passes."""


def find_idle_passes(
    stages: Sequence[SnapshotFiles], between: Sequence[Boundary], metadata: ModuleMetadata | None
) -> Idle:
    """Return the passes that did nothing in all of their runs."""
    if metadata is not None:
        inner = pipelines_of(metadata) | {START} | _suspects(between)
        quiet = [
            pass_time
            for pass_time in pass_times(metadata)
            if not pass_time.changed and pass_time.name not in inner
        ]
        proof = "the compiler's own metadata lists every run and what it reported"
        return Idle(_sorted((pass_time.name, pass_time.runs) for pass_time in quiet), proof)
    if dump_mode(stages).mode is not DumpMode.EVERY:
        return Idle((), "the dump has no record of passes that reported no change")
    changed = {
        boundary.ran for boundary in between if not boundary.identical or not boundary.certain
    }
    runs: dict[str, int] = {}
    for boundary in between:
        if boundary.ran is not None and boundary.ran not in changed:
            runs[boundary.ran] = runs.get(boundary.ran, 0) + 1
    return Idle(_sorted(runs.items()), "a file was written after every pass, and they are the same")


def _suspects(between: Sequence[Boundary]) -> set[str]:
    """Return the passes of steps in which something changed and nothing was reported."""
    return {
        name
        for boundary in between
        if not boundary.identical
        and boundary.ran is None
        and not any(changed for _, changed in boundary.inside)
        for name, _ in boundary.inside
    }


def _sorted(value: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(value, key=lambda item: (-item[1], item[0])))
