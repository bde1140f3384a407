"""The table of side files of a module: which file is read, by kind, stage and format, and how.

A new side file needs a reader in `readers/` and a row here: `module.side.of(ROW)` is its value,
and with `is_shown` a tab's too: `shown.analysis.side.of(ROW)`.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product
from types import GenericAlias
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from msgspec import Struct

from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.readers.autotune_results import read_autotune_results
from xlareport.readers.buffer_assignment import read_buffer_assignment, read_buffer_assignment_proto
from xlareport.readers.buffer_values import read_buffer_values
from xlareport.readers.debug_options import read_debug_options, read_flagfile
from xlareport.readers.device_words import (
    read_device_assignment,
    read_device_words,
    read_gpu_cores,
)
from xlareport.readers.fusion_decisions import read_fusion_decisions
from xlareport.readers.live_range import read_live_range
from xlareport.readers.memory_usage_report import read_memory_report, read_memory_report_proto
from xlareport.readers.pass_metadata import read_pass_metadata
from xlareport.readers.shardy import read_shardy
from xlareport.readers.stablehlo import read_stablehlo
from xlareport.readers.thunks import read_thunk_metadata, read_thunk_sequence
from xlareport.runtime.errors import Problem

T = TypeVar("T")
Reader = Callable[[bytes, str], tuple[T, list[Problem]]]
"""Parses a file's bytes with its path; returns the value and the problems."""

_FINAL = "after_optimizations"


class SideFile(Struct, Generic[T], frozen=True):
    """A side file of a module: the names that it can have, and its reader."""

    read: Reader[T]
    kinds: tuple[str | None, ...] = (None,)
    """Kinds of file, in order of preference; None for any kind."""
    stages: tuple[str | None, ...] = (None,)
    """Snapshot labels in file names, in order of preference; None for any label."""
    formats: tuple[str | None, ...] = ()
    """Formats that the reader supports, None for a name without one; empty for any format."""
    of_final: bool = False
    """Of several the one of the final module is read, else the last; otherwise the first."""
    every: bool = False
    """Whether every file with one of these names is read, not one."""
    instead_of: "SideFile[Any] | None" = None
    """Read only where the files of this earlier row gave nothing."""
    is_shown: bool = False
    """Whether the values stay in the module's analysis, for pages and report.json."""

    @property
    def values_type(self) -> Any:
        """The type of the values of its files, as the reader declares it."""
        return _values_type(self.read)

    def choose(self, files: ModuleFiles) -> Sequence[Artifact]:
        """Return the files of a module to read, in its order; none where the dump lacks them."""
        names = [*product(self.kinds, self.stages)]
        if self.every:
            return [artifact for artifact in files.artifacts if self._takes(artifact, names)]
        for name in names:
            candidates = [artifact for artifact in files.artifacts if self._takes(artifact, [name])]
            if candidates:
                return [_final_or_last(candidates) if self.of_final else candidates[0]]
        return ()

    def _takes(self, artifact: Artifact, names: Iterable[tuple[str | None, str | None]]) -> bool:
        name = artifact.name
        named = any(
            kind in (None, name.kind) and stage in (None, name.stage) for kind, stage in names
        )
        return named and (not self.formats or name.format in self.formats)


@cache
def _values_type(read: Reader[Any]) -> Any:
    value, _ = get_args(get_type_hints(read)["return"])
    return GenericAlias(tuple, (value, ...))


def _final_or_last(artifacts: list[Artifact]) -> Artifact:
    final = (artifact for artifact in artifacts if artifact.name.stage == _FINAL)
    return next(final, artifacts[-1])


_TEXTS = ("txt", "textproto", "pbtxt", None)

BUFFER_ASSIGNMENT = SideFile(
    read_buffer_assignment, kinds=("buffer-assignment",), formats=("txt",), of_final=True
)
BUFFER_ASSIGNMENT_PROTO = SideFile(
    read_buffer_assignment_proto,
    kinds=("hlo-proto",),
    stages=(_FINAL,),
    instead_of=BUFFER_ASSIGNMENT,
)
LIVE_RANGES = SideFile(  # until April 2026 they stood in the buffer assignment
    read_live_range, kinds=("live-range", "buffer-assignment"), formats=("txt",), of_final=True
)
BUFFER_VALUES = SideFile(
    read_buffer_values,
    kinds=("buffer-values", "buffer-assignment"),
    formats=("txt",),
    of_final=True,
)
MEMORY_REPORT = SideFile(
    read_memory_report, kinds=("memory-report",), formats=("txt",), of_final=True
)
MEMORY_REPORT_PROTO = SideFile(
    read_memory_report_proto,
    kinds=("memory-report",),
    stages=(_FINAL,),
    formats=("pb", "pb.gz"),
    instead_of=MEMORY_REPORT,
)
DEBUG_OPTIONS = SideFile(read_debug_options, stages=("debug_options",))
FLAGFILE = SideFile(read_flagfile, stages=("flagfile",))
PASS_METADATA = SideFile(read_pass_metadata, kinds=("pass-metadata",))
STABLEHLO = SideFile(read_stablehlo, kinds=("compile-input",), formats=("mlir",))
SHARDY = SideFile(
    read_shardy,
    kinds=("mlir",),
    stages=(
        *("before_propagation", "after_propagation", "after_partitioner_passes"),
        "after_partitioner_with_global_shapes",
        "after_minimal_partitioner_with_global_shapes",
    ),
    formats=("mlir",),
    every=True,
)
THUNKS = SideFile(  # after the passes the thunks stand as they run
    read_thunk_sequence,
    stages=("thunk_sequence_after_thunk_passes", "thunk_sequence", "thunk_schedule"),
    formats=_TEXTS,
)
THUNK_NOTES = SideFile(read_thunk_metadata, stages=("thunk_metadata",), formats=_TEXTS)
FUSION_DECISIONS = SideFile(read_fusion_decisions, stages=("priority_fusion_dump",), formats=_TEXTS)
DEVICE_WORDS = SideFile(
    read_device_words,
    stages=("topology", "gpu_target_config", "target_arguments"),
    formats=("textproto", "pbtxt", "txt"),
    every=True,
)
DEVICE_ASSIGNMENT = SideFile(
    read_device_assignment, stages=("execution_options", "hlo_module_config"), formats=_TEXTS
)
GPU_CORES = SideFile(read_gpu_cores, stages=("gpu_target_config",))
AUTOTUNE_RESULTS = SideFile(
    read_autotune_results, stages=("autotune_results",), formats=_TEXTS, is_shown=True
)

ROWS: tuple[SideFile[Any], ...] = tuple(
    row for row in list(globals().values()) if isinstance(row, SideFile)
)
"""All rows, in order of reading."""
