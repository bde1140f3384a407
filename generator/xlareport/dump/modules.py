"""A module of a dump by its files, and its snapshots in order; `grouping` makes them.

Files of another machine can be copied to this one for as long as they are read.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.dump import snapshot_order
from xlareport.dump.filename import DumpName
from xlareport.dump.module_names import explain_module
from xlareport.dump.source import Entry
from xlareport.runtime.errors import Problem, UnknownNameError

_FETCHES = 8
"""Files that are fetched at once."""
HLO_KINDS = ("hlo-text", "hlo-proto", "hlo-dot")
"""Kinds that can be read into the model, the best first."""
RUN_KIND = "snapshot"
"""The kind of recorded runs, which hold the module that ran: read where there is no other HLO."""
READABLE_KINDS = (*HLO_KINDS, RUN_KIND)

_RENAMED = "renamed-hlo"
"""The stage of HLO files with names that XLA did not give."""
AFTER_SPMD = "after_spmd_partitioner"
"""The stage of the snapshot after partitioning."""


class Artifact(Struct, frozen=True):
    """A file of the dump with its parsed name."""

    entry: Entry
    name: DumpName

    @property
    def path(self) -> str:
        """Relative to the dump."""
        return self.entry.path


def number_and_pipeline(sequence: int | None, pipeline: str | None) -> str:
    """Return `0017 simplification`; empty for a snapshot without a number."""
    return "" if sequence is None else f"{sequence:04d} {pipeline or ''}".rstrip()


class SnapshotFiles(Struct, frozen=True):
    """A snapshot of a module, in every format in which it was written."""

    name: str
    """`before_optimizations`, `after_optimizations`, ..., or `pass` between two passes."""
    sequence: int | None
    pipeline: str | None
    after: str | None
    before: str | None
    artifacts: tuple[Artifact, ...]
    placed_by: Literal["", "name", "content", "time"] = ""
    """The evidence for its position; empty if number or name determine it."""
    left_out: str = ""
    """Why it is not of the final snapshot's compilation; empty if nothing indicates that."""

    @property
    def label(self) -> str:
        """Its title in the report: `0017 simplification: after algsimp, before dce`."""
        if self.sequence is None:
            return self.passes
        return f"{self.number_and_pipeline}: {self.passes}"

    @property
    def number_and_pipeline(self) -> str:
        """`0017 simplification`; the label of a snapshot without a number."""
        return number_and_pipeline(self.sequence, self.pipeline) or self.label

    @property
    def passes(self) -> str:
        """`after algsimp, before dce`; the label of a snapshot without a number."""
        placed = f" (placed by {self.placed_by})" if self.placed_by else ""
        if self.name == _RENAMED:
            return f"snapshot of an unknown moment{placed}"
        if self.sequence is None:
            return f"{self.name.replace('_', ' ')}{placed}"
        places = (("after", self.after), ("before", self.before))
        return ", ".join(f"{word} {name}" for word, name in places if name) + placed

    @property
    def place(self) -> str:
        """The snapshot's name in a sentence: its label, or `the text after_optimizations`."""
        return f"the text {self.name}" if self.sequence is None else self.label

    @property
    def is_placed(self) -> bool:
        """Whether number, name or preceding passes determine its position among the snapshots."""
        return self.name == AFTER_SPMD or snapshot_order.is_placed(self.name, self.sequence)

    @property
    def may_precede_passes(self) -> bool:
        """Whether numbered snapshots may follow it although its name says that it is last."""
        return snapshot_order.may_precede_passes(self.name, self.sequence)

    @property
    def key(self) -> str:
        """Its id in addresses and on the command line: `0017`, `after_optimizations`."""
        return self.name if self.sequence is None else f"{self.sequence:04d}"

    def readable(self) -> tuple[Artifact, ...]:
        """Its HLO files, the most complete format first."""
        forms = [artifact for artifact in self.artifacts if artifact.name.kind in READABLE_KINDS]
        return tuple(sorted(forms, key=lambda form: READABLE_KINDS.index(form.name.kind)))


class FileFigures(Struct, frozen=True):
    """The figures of a module's files that lists and relations of modules need."""

    count: int
    bytes: int
    process_folder: str
    """Folder and process if a file's path identifies the process; else empty."""
    written: float | None
    """Time of the first file in seconds since the epoch; None if unknown."""
    snapshots: int
    """Files with the arguments of a run."""


class ModuleFiles(Struct, frozen=True):
    """A module: all files of one compilation."""

    key: str
    """Its file-name prefix with the timestamp; `~2` where two collide."""
    slug: str
    """The key as an address: case-folded, under 100 bytes, unique in the dump."""
    id: int | None
    name: str
    timestamp: int | None
    stages: tuple[SnapshotFiles, ...]
    artifacts: tuple[Artifact, ...]
    second_id: int | None = None
    """Under which the rest of the compilation was written; old libtpu changes the id on the way."""
    nameless: tuple[Artifact, ...] = ()
    """Code files whose names contain no module: only their texts show whether they belong to it."""
    llo: tuple[Artifact, ...] = ()
    """Files of the TPU's low-level compiler that are known to be of this module."""
    llo_by_order: bool = False
    """Whether they are assigned to one of several modules with this name only by order."""
    is_alone: bool = False
    """Whether the dump has no other module that they may belong to."""
    folder: str = ""
    """The folder that XLA wrote to, above the module's own."""
    outlined: FileFigures | None = None
    """Of an outline the figures of the files that it is without; else None."""

    @property
    def build(self) -> str | None:
        """Return `cl_` and the changelist of the TPU compiler; None where no name has it."""
        return next((file.name.build for file in self.artifacts if file.name.build), None)

    def __repr__(self) -> str:
        return f"<ModuleFiles {self.key}: {self.figures.count:,} files>"

    @property
    def bytes(self) -> int:
        """Bytes of all its files together."""
        return self.figures.bytes

    @property
    def figures(self) -> FileFigures:
        """Count, total bytes and first write time of the module's files."""
        if self.outlined is not None:
            return self.outlined
        times = (artifact.entry.modified for artifact in self.artifacts)
        return FileFigures(
            count=len(self.artifacts),
            bytes=sum(artifact.entry.size for artifact in self.artifacts),
            process_folder=self.artifacts[0].name.process_folder if self.artifacts else "",
            written=min((time for time in times if time is not None), default=None),
            snapshots=sum(artifact.name.kind == "snapshot" for artifact in self.artifacts),
        )

    def outline(self) -> "ModuleFiles":
        """Return the module without its files, but with its identity and their figures."""
        return replace(self, stages=(), artifacts=(), nameless=(), llo=(), outlined=self.figures)


def is_here(module: ModuleFiles) -> bool:
    """Return whether all files of a module are on this machine."""
    return not any(_far_files(module))


def _far_files(module: ModuleFiles) -> Iterator[Artifact]:
    of_stages = (artifact for stage in module.stages for artifact in stage.artifacts)
    every = chain(module.artifacts, module.nameless, module.llo, of_stages)
    return (artifact for artifact in every if artifact.entry.stored is not None)


@contextmanager
def module_here(module: ModuleFiles) -> Iterator[ModuleFiles]:
    """Yield a module with its files copied to this machine, each once, if they are on another."""
    far = {artifact.path: artifact.entry for artifact in _far_files(module)}
    if not far:
        yield module
        return
    with files_here(far.values()) as here:
        yield _with_entries(module, here)


def _with_entries(module: ModuleFiles, here: Mapping[str, Entry]) -> ModuleFiles:
    """Return a module with its files' entries replaced, by path."""

    def own(files: Sequence[Artifact]) -> tuple[Artifact, ...]:
        return tuple(replace(file, entry=here.get(file.path, file.entry)) for file in files)

    return replace(
        module,
        stages=tuple(replace(stage, artifacts=own(stage.artifacts)) for stage in module.stages),
        artifacts=own(module.artifacts),
        nameless=own(module.nameless),
        llo=own(module.llo),
    )


class FolderCopy(Struct, frozen=True):
    """A folder whose files are equal to those of another one, except for path and time."""

    folder: str
    original: str
    """The folder that is read in its place."""
    files: int
    bytes: int


class GroupedDump(Struct, frozen=True):
    """All modules of a dump, files of no module, and problems with names."""

    modules: Sequence[ModuleFiles]
    others: tuple[Artifact, ...]
    problems: tuple[Problem, ...]
    copies: Mapping[str, tuple[ModuleFiles, ...]] = field(default_factory=dict)
    """Equal modules of other processes, without their files, by the key of a module."""
    folder_copies: tuple[FolderCopy, ...] = ()
    """Folders that repeat others; their files are in none of the other fields."""


def find_module(modules: Sequence[ModuleFiles], wanted: str, dump: str) -> ModuleFiles:
    """Return the module of a key, slug, name or function; raises UnknownNameError."""
    same = [module for module in modules if wanted in (module.key, module.slug)]
    same = same or [module for module in modules if wanted == module.name]
    same = same or [module for module in modules if wanted == explain_module(module.name).display]
    if len(same) == 1:
        return same[0]
    how_many = f"{len(same)} modules" if same else "no module"
    near = [module.key for module in same or modules]
    raise UnknownNameError(f"{dump} holds {how_many} {wanted!r}", near)


@contextmanager
def files_here(entries: Iterable[Entry]) -> Iterator[Mapping[str, Entry]]:
    """Yield the entries by their paths, copied to this machine.

    What cannot be fetched, or has no room here, stays where it is.
    """
    listed = list(entries)
    with ExitStack() as stack:
        try:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="xlareport-")))
        except OSError:  # a disk on which there is no room for a folder either
            yield {entry.path: entry for entry in listed}
            return
        pool = stack.enter_context(ThreadPoolExecutor(_FETCHES))
        numbered = [(folder / f"{number:06d}", entry) for number, entry in enumerate(listed)]
        yield {entry.path: entry for entry in pool.map(_copied_here, numbered)}


def _copied_here(pair: tuple[Path, Entry]) -> Entry:
    location, entry = pair
    if entry.stored is None:
        return entry
    try:
        location.write_bytes(entry.read())
    except OSError:
        return entry
    return replace(entry, place=location, is_below=False, stored=None)
