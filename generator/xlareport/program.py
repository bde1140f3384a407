"""One module of a dump, read: its snapshots in order, and its side files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport import reader_table
from xlareport.dump.modules import RUN_KIND, Artifact, ModuleFiles, SnapshotFiles
from xlareport.hlo.dot import DotReader
from xlareport.hlo.model import HloModule
from xlareport.hlo.proto import ProtoReader
from xlareport.hlo.text import TextReader
from xlareport.reader_table import SideFile
from xlareport.readers.buffer_assignment import BufferAssignment
from xlareport.readers.buffer_values import UsedValue
from xlareport.readers.debug_options import FlagValue
from xlareport.readers.fusion_decisions import FusionDecision
from xlareport.readers.live_range import LiveRanges
from xlareport.readers.memory_usage_report import SpaceUsage
from xlareport.readers.thunks import Thunk, ThunkNote
from xlareport.runtime.errors import Problem, UnknownNameError, error_reason
from xlareport.snapshots import (
    ParsedSnapshot,
    final_snapshot,
    mark_foreign_snapshots,
    order_snapshots,
)

T = TypeVar("T")


class MemoryFiles(Struct, frozen=True, dict=True):
    """The memory files of a module; None or empty if the dump does not have them."""

    assignment: BufferAssignment | None
    live: LiveRanges | None
    usage: tuple[SpaceUsage, ...]
    uses: tuple[UsedValue, ...] = ()
    """The operands that use each value."""
    build: str | None = None
    """`cl_` and the changelist of the TPU compiler; None where no file name has it."""


class CodeNotes(Struct, frozen=True):
    """The files on compilation and execution of a module's code; empty if there are none."""

    thunks: tuple[Thunk, ...] = ()
    """The steps of a GPU program, in order."""
    notes: tuple[ThunkNote, ...] = ()
    decisions: tuple[FusionDecision, ...] = ()
    """The decisions of the GPU fusion pass, in order."""


class SideFileValues(Struct, frozen=True):
    """The contents of a module's side files, by the rows of the reader table."""

    values: Mapping[SideFile[Any], tuple[Any, ...]] = field(default_factory=dict)
    """For each row that was read, a value for each file, in the order of the files."""

    def of(self, row: SideFile[T]) -> T | None:
        """Return the content of a row's file; None if there is none, or it was unreadable."""
        return next(iter(self.all_of(row)), None)

    def all_of(self, row: SideFile[T]) -> tuple[T, ...]:
        """Return the content of each file of a row."""
        return self.values.get(row, ())

    @property
    def shown(self) -> "SideFileValues":
        """The values that pages and report.json show."""
        return SideFileValues({row: read for row, read in self.values.items() if row.is_shown})


class ParsedModule(Struct, frozen=True):
    """A module with every snapshot that could be read."""

    files: ModuleFiles
    snapshots: tuple[ParsedSnapshot, ...]
    memory: MemoryFiles
    code: CodeNotes
    device_words: str
    """The dump's description of the target device; empty if there is none."""
    read: tuple[str, ...]
    """Paths of the files that were opened and read."""
    problems: tuple[Problem, ...]
    side: SideFileValues = SideFileValues()
    """The contents of its side files: `module.side.of(reader_table.STABLEHLO)`."""

    def __repr__(self) -> str:
        return f"<ParsedModule {self.files.key}: {len(self.snapshots):,} snapshots>"

    @property
    def settings(self) -> tuple[FlagValue, ...]:
        """The options that are not at their default; empty where the dump does not say."""
        return self.side.of(reader_table.DEBUG_OPTIONS) or ()

    @property
    def flags(self) -> Mapping[str, str]:
        """The values of all flags that the dump states, also of those at their default."""
        every = (*(self.side.of(reader_table.FLAGFILE) or ()), *self.settings)
        return {flag.name: flag.value for flag in every}

    @property
    def final(self) -> ParsedSnapshot | None:
        """The module after optimizations: `after_optimizations`, else the last snapshot."""
        return final_snapshot(self.snapshots)

    def snapshot(self, key: str | None) -> ParsedSnapshot:
        """Return the last snapshot of a stage's key, the final one for None.

        Raises UnknownNameError.
        """
        snapshots = (
            [self.final] if key is None else [o for o in self.snapshots if o.stage.key == key]
        )
        if not snapshots or snapshots[-1] is None:
            keys = [snapshot.stage.key for snapshot in self.snapshots]
            raise UnknownNameError(f"{self.files.key} has no snapshot {key!r}", keys)
        return snapshots[-1]


def read_snapshots(files: ModuleFiles) -> tuple[ParsedSnapshot, ...]:
    """Read the snapshots of a module alone; one that cannot be read is left out."""
    reader = _ModuleReader()
    return tuple(reader.whole(tuple(reader.snapshots(files))))


def read_module(files: ModuleFiles) -> ParsedModule:
    """Read every snapshot of a module and its side files; what cannot be read is a problem."""
    reader = _ModuleReader()
    restarts = files.second_id is not None
    read = tuple(reader.whole(tuple(reader.snapshots(files))))
    snapshots_in_order = order_snapshots(read, numbers_restart=restarts)
    snapshots_in_order = mark_foreign_snapshots(snapshots_in_order, numbers_restart=restarts)
    files = replace(files, stages=_stages_in_place(files.stages, snapshots_in_order))
    snapshots = tuple(snapshot for snapshot in snapshots_in_order if not snapshot.stage.left_out)
    side = reader.side_files(files)
    return ParsedModule(
        files=files,
        snapshots=snapshots,
        memory=replace(_memory(side), build=files.build),
        code=_code_notes(side),
        device_words=_device_words(files, side),
        read=tuple(reader.read_paths),
        problems=(*reader.problems(), *_strangers(snapshots_in_order)),
        side=side,
    )


def _stages_in_place(
    stages: Sequence[SnapshotFiles], snapshots: Sequence[ParsedSnapshot]
) -> tuple[SnapshotFiles, ...]:
    """Return the stages in the order of their snapshots; unread ones keep their position."""
    read = {snapshot.stage.artifacts for snapshot in snapshots}
    in_order = (snapshot.stage for snapshot in snapshots)
    return tuple(next(in_order) if stage.artifacts in read else stage for stage in stages)


def _strangers(snapshots: Sequence[ParsedSnapshot]) -> Iterator[Problem]:
    for snapshot in snapshots:
        if snapshot.stage.left_out:
            message = f"Not of the compilation of the final snapshot: {snapshot.stage.left_out}."
            yield Problem(snapshot.read_from.path, None, message)


def unread(files: ModuleFiles, problem: Problem) -> ParsedModule:
    """Return a module that was not read, with the reason."""
    nothing = MemoryFiles(None, None, ())
    return ParsedModule(files, (), nothing, CodeNotes(), "", (), (problem,))


class CodeText(Struct, frozen=True):
    """A code file of the module."""

    artifact: Artifact
    content: bytes | None
    """None where it was not read."""


CODE_KINDS = ("mlir", "mlir-log", "llvm-ir", "ptx", "assembly", "object", "autotune")
"""Kinds of code files, from the framework's end to the device's."""
_BINARY = ("pb", "binpb")
_LARGEST_CODE = 8_000_000
"""Bytes of a file; larger ones are listed and not read."""
_MOST_CODE = 64_000_000
"""Limit on bytes of all of them together; further files are listed and not read."""


def read_code(files: ModuleFiles) -> tuple[tuple[CodeText, ...], tuple[Problem, ...]]:
    """Read the files of code of a module, in the order of their paths."""
    return _read_code(artifact for artifact in files.artifacts if artifact.name.kind in CODE_KINDS)


def read_nameless(files: ModuleFiles) -> tuple[tuple[CodeText, ...], tuple[Problem, ...]]:
    """Read the files of code that may be a module's own, in the order of their paths."""
    return _read_code(sorted(files.nameless, key=lambda artifact: artifact.path))


def _read_code(
    artifacts: Iterable[Artifact],
) -> tuple[tuple[CodeText, ...], tuple[Problem, ...]]:
    code_texts: list[CodeText] = []
    problems: list[Problem] = []
    room = _MOST_CODE
    for artifact in artifacts:
        if artifact.name.format in _BINARY:
            continue
        content = None
        if artifact.entry.size <= min(_LARGEST_CODE, room):
            try:
                content = artifact.entry.read()
            except OSError as error:
                problems.append(Problem(artifact.path, None, f"Not read: {error_reason(error)}."))
        room -= len(content or b"")
        code_texts.append(CodeText(artifact, content))
    return tuple(code_texts), tuple(problems)


_LINES = ("txt", "textproto", "pbtxt", "mlir", None)
"""Formats of side files of which XLA ends every line."""
_OPEN_END = "The last line has no end, as if the file were cut off: what comes before it is read."
_ALLOCATIONS_LACK = (
    "It lists allocations of {listed:,} of the {total:,} bytes that the memory usage report "
    "states, as if the file were cut off: what it lists is read."
)
_CUT_OFF = "Left out of steps and figures: the entry computation lacks its root, as if cut off."


def _is_whole(hlo: HloModule) -> bool:
    """Return whether the entry computation has its root, which a truncated file lacks."""
    entries = (computation for computation in hlo.computations if computation.is_entry)
    return any(instruction.is_root for entry in entries for instruction in entry.instructions)


class _ModuleReader:
    """Opens the files of one module; snapshots share unchanged parts."""

    def __init__(self) -> None:
        self.read_paths: list[str] = []
        self._problems: list[Problem] = []
        protos = ProtoReader()
        self._hlo: dict[str, TextReader | ProtoReader | DotReader] = {
            "hlo-text": TextReader(),
            "hlo-proto": protos,
            RUN_KIND: protos,
            "hlo-dot": DotReader(),
        }

    def snapshots(self, files: ModuleFiles) -> Iterator[ParsedSnapshot]:
        """Yield each stage in the first of its forms that is whole, else in the first readable."""
        for stage in files.stages:
            read = self._forms(stage)
            first = next(read, None)
            if first is not None and not _is_whole(first.hlo):
                first = next((snapshot for snapshot in read if _is_whole(snapshot.hlo)), first)
            if first is not None:
                yield first

    def whole(self, snapshots: Sequence[ParsedSnapshot]) -> Iterator[ParsedSnapshot]:
        """Yield the complete snapshots; truncated ones only if there are no others."""
        keep_all = not any(_is_whole(snapshot.hlo) for snapshot in snapshots)
        for snapshot in snapshots:
            if keep_all or _is_whole(snapshot.hlo):
                yield snapshot
            else:
                self._problems.append(Problem(snapshot.read_from.path, None, _CUT_OFF))

    def _forms(self, stage: SnapshotFiles) -> Iterator[ParsedSnapshot]:
        for artifact in stage.readable():
            content = self._open(artifact)
            hlo_reader = self._hlo[artifact.name.kind]
            hlo = hlo_reader.read(content, artifact.path) if content is not None else None
            if hlo is not None:
                yield ParsedSnapshot(stage, hlo, artifact)

    def side_files(self, files: ModuleFiles) -> SideFileValues:
        """Read the side files of a module, row by row of the reader table."""
        values: dict[SideFile[Any], tuple[Any, ...]] = {}
        for row in reader_table.ROWS:
            if row.instead_of is None or not any(values.get(row.instead_of, ())):
                values[row] = tuple(self._contents(row, files))
        side = SideFileValues(values)
        self._check_total(side, files)
        return side

    def _check_total(self, side: SideFileValues, files: ModuleFiles) -> None:
        """Note allocations that a buffer assignment lacks: XLA states the bytes of all beside it.

        The text has no end of its own, so that one which is cut off behind a line looks whole.
        """
        row = reader_table.BUFFER_ASSIGNMENT
        assignment, usage = side.of(row), side.of(reader_table.MEMORY_REPORT)
        if assignment is None or usage is None:
            return
        listed = sum(allocation.size for allocation in assignment.allocations)
        total = sum(space.total_bytes for space in usage)
        for artifact in row.choose(files) if listed < total else ():
            message = _ALLOCATIONS_LACK.format(listed=listed, total=total)
            self._problems.append(Problem(artifact.path, None, message))

    def _contents(self, row: SideFile[T], files: ModuleFiles) -> Iterator[T]:
        """Yield the content of each file of a row; those that cannot be opened are left out."""
        for artifact in row.choose(files):
            content = self._open(artifact)
            if content is not None:
                value, problems = row.read(content, artifact.path)
                self._problems += problems
                if artifact.name.format in _LINES and not content.endswith(b"\n"):
                    self._note_open_end(artifact.path)
                yield value

    def _note_open_end(self, path: str) -> None:
        """Note once that a text ends within a line; several rows may read one file."""
        if all(problem.path != path for problem in self._problems):
            self._problems.append(Problem(path, None, _OPEN_END))

    def _open(self, artifact: Artifact) -> bytes | None:
        try:
            content = artifact.entry.read()
        except OSError as error:
            message = f"Not read: {error_reason(error)}."
            self._problems.append(Problem(artifact.path, None, message))
            return None
        self.read_paths.append(artifact.path)
        return content

    def problems(self) -> Iterator[Problem]:
        """Yield everything that could not be read."""
        yield from self._problems
        for reader in self._hlo.values():
            yield from reader.problems


def _memory(side: SideFileValues) -> MemoryFiles:
    return MemoryFiles(
        assignment=side.of(reader_table.BUFFER_ASSIGNMENT)
        or side.of(reader_table.BUFFER_ASSIGNMENT_PROTO),
        live=side.of(reader_table.LIVE_RANGES),
        usage=side.of(reader_table.MEMORY_REPORT)
        or side.of(reader_table.MEMORY_REPORT_PROTO)
        or (),
        uses=side.of(reader_table.BUFFER_VALUES) or (),
    )


def _code_notes(side: SideFileValues) -> CodeNotes:
    return CodeNotes(
        thunks=side.of(reader_table.THUNKS) or (),
        notes=side.of(reader_table.THUNK_NOTES) or (),
        decisions=side.of(reader_table.FUSION_DECISIONS) or (),
    )


def _device_words(files: ModuleFiles, side: SideFileValues) -> str:
    """Return every text that names the device: in file names, topologies, target configurations."""
    targets = [artifact.name.target or "" for artifact in files.artifacts]
    return " ".join(dict.fromkeys([*targets, *side.all_of(reader_table.DEVICE_WORDS)]))
