"""One module of a dump, read: its snapshots in order, and what lies beside them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from xlareport.dump.modules import Artifact, ModuleFiles, SnapshotFiles
from xlareport.hlo.dot import DotReader
from xlareport.hlo.model import HloModule
from xlareport.hlo.proto import ProtoReader
from xlareport.hlo.text import TextReader
from xlareport.readers.buffer_assignment import BufferAssignment, read_buffer_assignment
from xlareport.readers.buffer_assignment_proto import read_buffer_assignment_proto
from xlareport.readers.buffer_values import UsedValue, read_buffer_values
from xlareport.readers.debug_options import FlagValue, read_debug_options
from xlareport.readers.device_words import read_device_words
from xlareport.readers.fusion_decisions import FusionDecision, read_fusion_decisions
from xlareport.readers.live_range import LiveRanges, read_live_range
from xlareport.readers.memory_report import SpaceUsage, read_memory_report
from xlareport.readers.memory_report_proto import read_memory_report_proto
from xlareport.readers.pass_metadata import ModuleMetadata, read_pass_metadata
from xlareport.readers.stablehlo import Operation, read_stablehlo
from xlareport.readers.thunks import Thunk, ThunkNote, read_thunk_metadata, read_thunk_sequence
from xlareport.runtime.errors import Problem, UnknownNameError
from xlareport.snapshots import ParsedSnapshot, final_snapshot, in_place, strangers_marked

T = TypeVar("T")
Reader = Callable[[bytes, str], tuple[T, list[Problem]]]


@dataclass(frozen=True, slots=True)
class MemoryFiles:
    """What the dump says of a module's memory; None or empty where it says nothing."""

    assignment: BufferAssignment | None
    live: LiveRanges | None
    usage: tuple[SpaceUsage, ...]
    uses: tuple[UsedValue, ...] = ()
    """Where each value goes and what reads it."""


@dataclass(frozen=True, slots=True)
class CodeNotes:
    """What the dump says of how the code of a module was made and runs; empty where nothing."""

    thunks: tuple[Thunk, ...] = ()
    """What a GPU program runs, in order."""
    notes: tuple[ThunkNote, ...] = ()
    decisions: tuple[FusionDecision, ...] = ()
    """What the GPU fusion pass did and refused, in order."""


@dataclass(frozen=True, slots=True)
class ParsedModule:
    """A module with every snapshot that could be read."""

    files: ModuleFiles
    snapshots: tuple[ParsedSnapshot, ...]
    memory: MemoryFiles
    settings: tuple[FlagValue, ...]
    """Options that are not at their default; empty where the dump does not say."""
    passes: ModuleMetadata | None
    """Every run of a pass with its times; None where the compiler did not write that."""
    code: CodeNotes
    device_words: str
    """What the dump calls the device it compiled for; empty where it does not."""
    read: tuple[str, ...]
    """Paths of the files that were opened and read."""
    problems: tuple[Problem, ...]
    stablehlo: tuple[Operation, ...] = ()
    """What the framework handed to XLA; empty where the dump does not have it."""

    @property
    def final(self) -> ParsedSnapshot | None:
        """The optimised module: `after_optimizations`, else the last snapshot."""
        return final_snapshot(self.snapshots)

    def snapshot(self, key: str | None) -> ParsedSnapshot:
        """Return the last snapshot of a stage's key, the final one for None.

        Raises UnknownNameError.
        """
        snapshots = (
            [self.final] if key is None else [o for o in self.snapshots if o.stage.key == key]
        )
        if not snapshots or snapshots[-1] is None:
            known = [snapshot.stage.key for snapshot in self.snapshots]
            raise UnknownNameError(f"{self.files.key} has no snapshot {key!r}", known)
        return snapshots[-1]


def read_module(files: ModuleFiles) -> ParsedModule:
    """Read every snapshot of a module and its side files; what cannot be read is a problem."""
    desk = _Desk()
    result = in_place(tuple(desk.whole(tuple(desk.snapshots(files)))))
    result = strangers_marked(result, numbers_restart=files.second_id is not None)
    files = replace(files, stages=_stages_in_place(files.stages, result))
    snapshots = tuple(snapshot for snapshot in result if not snapshot.stage.left_out)
    memory = _memory(files, desk)
    settings = desk.side_file(_debug_options(files), read_debug_options) or ()
    passes = desk.side_file(_pass_metadata(files), read_pass_metadata)
    code = _code_notes(files, desk)
    device = _device_words(files, desk)
    stablehlo = desk.side_file(_stablehlo(files), read_stablehlo) or ()
    problems = (*desk.problems(), *_strangers(result))
    read = tuple(desk.read_paths)
    return ParsedModule(
        *(files, snapshots, memory, settings, passes, code, device, read, problems),
        stablehlo=stablehlo,
    )


def _stages_in_place(
    stages: Sequence[SnapshotFiles], snapshots: Sequence[ParsedSnapshot]
) -> tuple[SnapshotFiles, ...]:
    """Return the stages in the order of their snapshots; what was not read keeps its place."""
    read = {snapshot.stage.artifacts for snapshot in snapshots}
    in_order = (snapshot.stage for snapshot in snapshots)
    return tuple(next(in_order) if stage.artifacts in read else stage for stage in stages)


def _strangers(snapshots: Sequence[ParsedSnapshot]) -> Iterator[Problem]:
    for snapshot in snapshots:
        if snapshot.stage.left_out:
            message = f"Not of the compilation of the final snapshot: {snapshot.stage.left_out}."
            yield Problem(snapshot.read_from.path, None, message)


def unread(files: ModuleFiles, problem: Problem) -> ParsedModule:
    """Return a module of which nothing was read, with the reason."""
    nothing = MemoryFiles(None, None, ())
    return ParsedModule(files, (), nothing, (), None, CodeNotes(), "", (), (problem,))


@dataclass(frozen=True, slots=True)
class CodeText:
    """A file of code beside the HLO."""

    artifact: Artifact
    content: bytes | None
    """None where it was not read."""


CODE_KINDS = ("mlir", "mlir-log", "llvm-ir", "ptx", "assembly", "object", "autotune")
"""Kinds of file that hold what an instruction became, from the framework's end to the device's."""
_BINARY = ("pb", "binpb")
_LARGEST_CODE = 8_000_000
"""Bytes of a file; larger ones are listed and not read."""
_MOST_CODE = 64_000_000
"""Bytes of all of them together; what comes after is listed and not read."""


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
                problems.append(Problem(artifact.path, None, f"Not read: {error.strerror}."))
        room -= len(content or b"")
        code_texts.append(CodeText(artifact, content))
    return tuple(code_texts), tuple(problems)


_CUT_OFF = "Left out of steps and figures: the entry computation lacks its root, as if cut off."


def _is_whole(hlo: HloModule) -> bool:
    """Say whether the entry computation is there with its root, which a file cut off lacks."""
    entries = (computation for computation in hlo.computations if computation.is_entry)
    return any(instruction.is_root for entry in entries for instruction in entry.instructions)


class _Desk:
    """Opens the files of one module; its snapshots share what did not change."""

    def __init__(self) -> None:
        self.read_paths: list[str] = []
        self._problems: list[Problem] = []
        self._hlo: dict[str, TextReader | ProtoReader | DotReader] = {
            "hlo-text": TextReader(),
            "hlo-proto": ProtoReader(),
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
        """Leave out what is cut off, unless nothing else is there: its figures would be wrong."""
        keep_all = not any(_is_whole(snapshot.hlo) for snapshot in snapshots)
        for snapshot in snapshots:
            if keep_all or _is_whole(snapshot.hlo):
                yield snapshot
            else:
                self._problems.append(Problem(snapshot.read_from.path, None, _CUT_OFF))

    def _forms(self, stage: SnapshotFiles) -> Iterator[ParsedSnapshot]:
        for artifact in stage.readable():
            content = self._open(artifact)
            reader = self._hlo[artifact.name.kind]
            hlo = reader.read(content, artifact.path) if content is not None else None
            if hlo is not None:
                yield ParsedSnapshot(stage, hlo, artifact)

    def side_file(self, artifact: Artifact | None, reader: Reader[T]) -> T | None:
        """Read a side file; None where there is none."""
        content = self._open(artifact) if artifact else None
        if artifact is None or content is None:
            return None
        value, problems = reader(content, artifact.path)
        self._problems += problems
        return value

    def _open(self, artifact: Artifact) -> bytes | None:
        try:
            content = artifact.entry.read()
        except OSError as error:
            message = f"Not read: {error.strerror}."
            self._problems.append(Problem(artifact.path, None, message))
            return None
        self.read_paths.append(artifact.path)
        return content

    def problems(self) -> Iterator[Problem]:
        """Yield everything that could not be read."""
        yield from self._problems
        for reader in self._hlo.values():
            yield from reader.problems


def _memory(files: ModuleFiles, desk: _Desk) -> MemoryFiles:
    assigned = _last_of(files, "buffer-assignment")
    live = _last_of(files, "live-range") or assigned  # until April 2026 it stood in that file
    values = _last_of(files, "buffer-values") or assigned
    return MemoryFiles(
        assignment=desk.side_file(assigned, read_buffer_assignment)
        or desk.side_file(_final_proto(files), read_buffer_assignment_proto),
        live=desk.side_file(live, read_live_range),
        usage=_usage(files, desk),
        uses=desk.side_file(values, read_buffer_values) or (),
    )


def _code_notes(files: ModuleFiles, desk: _Desk) -> CodeNotes:
    thunks = next(filter(None, (_of_stage(files, text, _TEXTS) for text in _THUNKS)), None)
    decisions = _of_stage(files, "priority_fusion_dump", _TEXTS)
    return CodeNotes(
        thunks=desk.side_file(thunks, read_thunk_sequence) or (),
        notes=desk.side_file(_of_stage(files, "thunk_metadata", _TEXTS), read_thunk_metadata) or (),
        decisions=desk.side_file(decisions, read_fusion_decisions) or (),
    )


_THUNKS = ("thunk_sequence_after_thunk_passes", "thunk_sequence", "thunk_schedule")
"""The last form first: after the passes the thunks stand as they run."""
_TEXTS = ("txt", "textproto", "pbtxt", None)


def _usage(files: ModuleFiles, desk: _Desk) -> tuple[SpaceUsage, ...]:
    space_usages = desk.side_file(_last_of(files, "memory-report"), read_memory_report)
    proto = (artifact for artifact in files.artifacts if _is_final_report(artifact))
    return space_usages or desk.side_file(next(proto, None), read_memory_report_proto) or ()


def _is_final_report(artifact: Artifact) -> bool:
    name = artifact.name
    is_proto = name.kind == "memory-report" and name.format in ("pb", "pb.gz")
    return is_proto and name.stage == "after_optimizations"


def _stablehlo(files: ModuleFiles) -> Artifact | None:
    artifacts = (
        artifact
        for artifact in files.artifacts
        if artifact.name.kind == "compile-input" and artifact.name.format == "mlir"
    )
    return next(artifacts, None)


def _device_words(files: ModuleFiles, desk: _Desk) -> str:
    """Return every text that names the device: in file names, topologies, target configurations."""
    artifacts = (
        artifact
        for artifact in files.artifacts
        if artifact.name.stage in _DEVICE_STAGES and artifact.name.format in _TEXT_PROTOS
    )
    read = [desk.side_file(artifact, read_device_words) or "" for artifact in artifacts]
    targets = [artifact.name.target or "" for artifact in files.artifacts]
    return " ".join(dict.fromkeys([*targets, *read]))


_DEVICE_STAGES = ("topology", "gpu_target_config")
_TEXT_PROTOS = ("textproto", "pbtxt")


def _debug_options(files: ModuleFiles) -> Artifact | None:
    return _of_stage(files, "debug_options")


def _of_stage(
    files: ModuleFiles, stage: str, formats: Sequence[str | None] = ()
) -> Artifact | None:
    artifacts = (artifact for artifact in files.artifacts if artifact.name.stage == stage)
    return next(
        (artifact for artifact in artifacts if not formats or artifact.name.format in formats), None
    )


def _pass_metadata(files: ModuleFiles) -> Artifact | None:
    artifacts = (artifact for artifact in files.artifacts if artifact.name.kind == "pass-metadata")
    return next(artifacts, None)


def _final_proto(files: ModuleFiles) -> Artifact | None:
    """Return the proto of the final module, which holds the buffer assignment as well."""
    artifacts = (
        artifact
        for artifact in files.artifacts
        if artifact.name.kind == "hlo-proto" and artifact.name.stage == "after_optimizations"
    )
    return next(artifacts, None)


def _last_of(files: ModuleFiles, kind: str) -> Artifact | None:
    """Return the text file of a kind that belongs to the final module, else the last of it."""
    artifacts = [
        artifact
        for artifact in files.artifacts
        if artifact.name.kind == kind and artifact.name.format == "txt"
    ]
    final = (artifact for artifact in artifacts if artifact.name.stage == "after_optimizations")
    return next(final, artifacts[-1] if artifacts else None)
