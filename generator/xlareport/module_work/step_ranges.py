"""The steps of a large module matched by several workers, each of which reads a range of snapshots.

What belongs to what from one snapshot to the next is the longest part of the work that needs two
snapshots alone. It travels as names, to the worker that reads the whole module.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.result import LooseMatchings
from xlareport.dump.modules import ModuleFiles, module_here
from xlareport.program import read_snapshots
from xlareport.runtime.batches import pack, unpack
from xlareport.runtime.faults import guard
from xlareport.runtime.worker_pool import Workers

LARGE = 200_000_000
"""Bytes of a module from which on several workers match its steps; see docs/clusters.md."""
_FEWEST = 8
"""Steps that a worker matches at least: it reads one snapshot more than it has steps."""


class StepRange(Struct, frozen=True):
    """Consecutive snapshots of a module, without its other files."""

    key: str
    files: ModuleFiles


def match_in_ranges(
    workers: Workers,
    modules: Iterable[ModuleFiles],
    progress: Callable[[int, int], None],
) -> Mapping[str, tuple[bytes, ...]]:
    """Return the matchings of the steps of modules, packed, by the keys of the modules."""
    ranges = [part for module in modules for part in split_steps(module, workers.jobs)]
    matched: dict[str, tuple[bytes, ...]] = {}
    for done, (part, written) in enumerate(
        workers.stream(match_range, ranges, _died, _expected_seconds), 1
    ):
        matched[part.key] = (*matched.get(part.key, ()), written)
        progress(done, len(ranges))
    return matched


def split_steps(module: ModuleFiles, workers: int) -> Iterator[StepRange]:
    """Yield ranges of a module's snapshots, each with the last one of the range before."""
    steps = len(module.stages) - 1
    number = min(workers, steps // _FEWEST)
    for part in range(number if number > 1 else 0):
        first, last = steps * part // number, steps * (part + 1) // number
        stages = module.stages[first : last + 1]
        artifacts = tuple(artifact for stage in stages for artifact in stage.artifacts)
        files = replace(module, stages=stages, artifacts=artifacts, nameless=(), llo=())
        yield StepRange(module.key, files)


def match_range(part: StepRange) -> bytes:
    """Return the matchings of the steps of a range, packed; empty where that fails.

    The worker that reads the whole module matches what is not there.
    """
    return guard(lambda: _matched(part), lambda _: b"")


def _matched(part: StepRange) -> bytes:
    matchings: dict[tuple[str, str], object] = {}
    with module_here(part.files) as files:
        for before, after in pairwise(read_snapshots(files)):
            if before.hlo.computations != after.hlo.computations:
                matching = match(before.hlo, after.hlo)
                paths = before.read_from.path, after.read_from.path
                matchings[paths] = dict(matching.computations), matching.pairings
    return pack(matchings)


def unpack_matchings(packed: Sequence[bytes]) -> LooseMatchings:
    """Return the matchings that workers of this very program packed."""
    matchings: dict[tuple[str, str], object] = {}
    for written in filter(None, packed):
        matchings |= unpack(written)
    return matchings  # type: ignore[return-value]


def _died(_: StepRange) -> bytes:
    return b""


def _expected_seconds(part: StepRange) -> float:
    return part.files.bytes / 1_000_000
