"""Files become modules, and a module's HLO files become its snapshots in order.

A module is known by folder, timestamp, id and name together, never by its id alone. Files that lost
the timestamp or the name (XLA leaves the name out where a file name would pass 255 bytes) join the
one module that they can belong to; where there are several, they stay apart.

Grouping the names of a large dump needs several times the memory that reading it needs later: a
process does it that ends, and the result lies in files.
"""

import re
import tempfile
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from xlareport.dump import snapshot_order
from xlareport.dump.classify import ParseAll, classify, parse_all
from xlareport.dump.content_digests import RunEach
from xlareport.dump.filename import DumpName
from xlareport.dump.llo import llo_modules, plain_name
from xlareport.dump.module_identity import (
    Identity,
    identity_of,
    join_incomplete,
    place_of,
    prefix_of,
    stem_of,
)
from xlareport.dump.modules import (
    AFTER_SPMD,
    HLO_KINDS,
    Artifact,
    GroupedDump,
    ModuleFiles,
    SnapshotFiles,
)
from xlareport.dump.rank_folders import fold_rank_folders
from xlareport.dump.rank_modules import merge_rank_modules
from xlareport.dump.recorded_modules import find_recorded_module
from xlareport.dump.source import MANY_FILES, Entry, Source, keep_entries
from xlareport.runtime import units
from xlareport.runtime.errors import Problem
from xlareport.runtime.grouping import group_by_key
from xlareport.runtime.worker_pool import run_apart
from xlareport.storage.packed_keys import index_keys
from xlareport.storage.spooled_values import FilledValues
from xlareport.storage.value_blocks import ValueBlocks

T = TypeVar("T")
R = TypeVar("R")

NAMELESS_CODE = ("mosaic",)
"""Kinds of code files whose names contain no module."""
_DRAWN_KINDS = ("hlo-html", "hlo-url", "hlo-riegeli")
_NAMELESS = ("unknown", "foreign", "log")
_SPMD = ("spmd-partitioner", "sharding-removal")
"""Pipelines; one of them runs before the snapshot after partitioning is written."""
NO_OWNER = -1
_OF_FILE = "i"
"""Four bytes for each file: the index of a module."""


class NamedDump(Struct, frozen=True):
    """The files of a dump by their names, and its modules."""

    artifacts: Sequence[Artifact]
    grouped: GroupedDump
    owners: Sequence[int]
    """The index of each file's module; NO_OWNER if it has none."""


class RunApart(Protocol):
    """Calls a function in a process that ends."""

    def __call__(self, work: Callable[[T], R], item: T, /) -> R:
        """Return the result for an item."""


def group_source(
    source: Source,
    run: RunEach = map,
    parse_each: ParseAll = parse_all,
    apart: RunApart = run_apart,
) -> NamedDump:
    """Return the files of a dump that may be read, and its modules; of equal ones of ranks one.

    `run` reads files, as far as they have to be compared; `parse_each` parses their names; `apart`
    names those of a large dump.
    """
    with tempfile.TemporaryDirectory(prefix="xlareport-files-") as folder:
        keep = partial(keep_entries, folder=Path(folder))
        folded = fold_rank_folders(source.entries, run, keep)
        named = name_and_group(replace(source, entries=folded.entries), parse_each, apart)
    grouped = merge_rank_modules(named.grouped, run)
    return replace(
        named,
        grouped=replace(grouped, folder_copies=folded.copies),
        owners=_new_owners(named, grouped),
    )


def _new_owners(named: NamedDump, grouped: GroupedDump) -> Sequence[int]:
    """Return the new module indices of files after modules of other processes were removed."""
    if grouped.modules is named.grouped.modules:
        return named.owners
    places = index_keys((module.key for module in grouped.modules), len(grouped.modules))
    originals = {copy.key: key for key, some in grouped.copies.items() for copy in some}
    keys = (originals.get(module.key, module.key) for module in named.grouped.modules)
    new = array("q", map(places.__getitem__, keys))
    return array("i", (new[owner] if owner >= 0 else owner for owner in named.owners))


def name_and_group(
    source: Source, parse_each: ParseAll = parse_all, apart: RunApart = run_apart
) -> NamedDump:
    """Return the files of a dump and its modules; raises OSError where a disk is full."""
    if len(source.entries) < MANY_FILES:
        return _name_dump(source, parse_each)
    with tempfile.TemporaryDirectory(prefix="xlareport-names-") as folder:
        work = partial(_stored, folder=Path(folder), parse_each=parse_each)
        return _taken_over(apart(work, source))


def _name_dump(source: Source, parse_each: ParseAll) -> NamedDump:
    artifacts = name_files(source, parse_each)
    grouped = group(artifacts)
    return NamedDump(artifacts, grouped, owners(artifacts, grouped.modules))


def owners(artifacts: Sequence[Artifact], modules: Sequence[ModuleFiles]) -> "array[int]":
    """Return the index of each file's module; NO_OWNER if it has none."""
    owner = {
        artifact.path: place
        for place, module in enumerate(modules)
        for artifact in module.artifacts
    }
    return array(_OF_FILE, (owner.get(artifact.path, NO_OWNER) for artifact in artifacts))


class _Stored(Struct, frozen=True):
    """A named dump on its way between processes."""

    artifacts: ValueBlocks[Artifact]
    modules: FilledValues[ModuleFiles]
    grouped: GroupedDump
    """Without the modules."""
    owners: "array[int]"


def _stored(source: Source, folder: Path, parse_each: ParseAll) -> _Stored:
    named = _name_dump(source, parse_each)
    blocks = FilledValues[tuple[Artifact, ...]](folder / "files")
    modules = FilledValues[ModuleFiles](folder / "modules")
    return _Stored(
        artifacts=ValueBlocks(blocks, named.artifacts),
        modules=modules.extend(named.grouped.modules),
        grouped=replace(named.grouped, modules=()),
        owners=array(_OF_FILE, named.owners),
    )


def _taken_over(stored: _Stored) -> NamedDump:
    for values in (stored.artifacts.blocks, stored.modules):
        if isinstance(values, FilledValues):
            values.take_over()
    grouped = replace(stored.grouped, modules=stored.modules)
    return NamedDump(stored.artifacts, grouped, stored.owners)


def group(artifacts: Sequence[Artifact]) -> GroupedDump:
    """Group the files of a dump into modules, in the order of folder, timestamp, id and name."""
    members: dict[Identity, list[Artifact]] = defaultdict(list)
    others: list[Artifact] = []
    for artifact in artifacts:
        identity = identity_of(artifact)
        (members[identity] if identity else others).append(artifact)
    join_incomplete(members)
    others += _without_module(members)
    modules = _modules(members)
    problems = [problem for module in modules for problem in _collisions(module)]
    named = _with_nameless([*_put_together(modules)], others)
    return GroupedDump(tuple(_with_llo(named, others)), tuple(others), tuple(problems))


def _with_nameless(
    modules: Sequence[ModuleFiles], others: Iterable[Artifact]
) -> tuple[ModuleFiles, ...]:
    """Give every module the files of code that may be its own."""
    nameless = tuple(artifact for artifact in others if artifact.name.kind in NAMELESS_CODE)
    if not nameless:
        return tuple(modules)
    alone = len(modules) == 1
    return tuple(replace(module, nameless=nameless, is_alone=alone) for module in modules)


def _with_llo(modules: Sequence[ModuleFiles], others: Sequence[Artifact]) -> Iterator[ModuleFiles]:
    """Yield the modules with their low-level compiler's files.

    Modules with the same name are matched in order of compilation, if the counts are equal.
    """
    owners = llo_modules((file.entry, file.name) for file in others)
    members = group_by_key((owners.get(file.path), file) for file in others)
    count = Counter(plain_name(module.name) for module in modules)
    before: Counter[str] = Counter()
    for module in modules:
        name = plain_name(module.name)
        llo = members.get((name, before[name], count[name]), [])
        before[name] += 1
        alone = len(modules) == 1
        ordered = count[name] > 1
        yield (
            replace(module, llo=tuple(llo), llo_by_order=ordered, is_alone=alone) if llo else module
        )


def _without_module(members: dict[Identity, list[Artifact]]) -> list[Artifact]:
    """Remove and return files that name a module of which there is no compilation."""
    alone = [
        identity
        for identity, files in members.items()
        if identity.id is None and not any(file.name.kind in HLO_KINDS for file in files)
    ]
    return [artifact for identity in alone for artifact in members.pop(identity)]


def _modules(members: dict[Identity, list[Artifact]]) -> tuple[ModuleFiles, ...]:
    order = sorted(members, key=place_of)
    keys = _unique([prefix_of(identity) for identity in order], "~")
    slugs = _unique([_slug(key) for key in keys], "-")
    return tuple(
        ModuleFiles(
            key=key,
            slug=slug,
            id=identity.id,
            name=identity.name or key,
            timestamp=identity.timestamp,
            folder=identity.folder,
            stages=_stages(members[identity]),
            artifacts=tuple(sorted(members[identity], key=lambda artifact: artifact.path)),
        )
        for identity, key, slug in zip(order, keys, slugs, strict=True)
    )


def _put_together(modules: Sequence[ModuleFiles]) -> Iterator[ModuleFiles]:
    """Yield the modules; two parts of one compilation with complementary stages are merged.

    libtpu continues under another id if it compiles a copy of its input.
    """
    halves: dict[tuple[str, str], ModuleFiles] = {}
    second_halves: dict[str, ModuleFiles] = {}
    for module in modules:
        where = module.folder, module.name
        ends = {stage.name for stage in module.stages}
        if "before_optimizations" in ends and "after_optimizations" not in ends:
            halves[where] = module
        elif "after_optimizations" in ends and "before_optimizations" not in ends:
            first = halves.pop(where, None)
            if first is not None and module.id is not None:
                second_halves[first.key] = module
    gone = {module.key for module in second_halves.values()}
    for this_module in modules:
        if this_module.key not in gone:
            yield (
                _join_modules(this_module, second_halves[this_module.key])
                if this_module.key in second_halves
                else this_module
            )


def _join_modules(first: ModuleFiles, second: ModuleFiles) -> ModuleFiles:
    return replace(
        first,
        stages=first.stages + second.stages,
        artifacts=first.artifacts + second.artifacts,
        second_id=second.id,
    )


def _unique(names: Sequence[str], sign: str) -> list[str]:
    """Append `~2`, `~3` and so on to names that came before."""
    seen: Counter[str] = Counter()
    taken = set(names)
    unique = []
    for name in names:
        seen[name] += 1
        candidate = name
        while seen[name] > 1 and candidate in taken:
            candidate = f"{name}{sign}{seen[name]}"
            seen[name] += candidate in taken
        taken.add(candidate)
        unique.append(candidate)
    return unique


def _slug(key: str) -> str:
    """Return the key as an address: letters that survive every file system, under 90 bytes."""
    plain = re.sub(r"[^a-z0-9._-]", "_", key.casefold()).lstrip("._-").rstrip(".") or "module"
    if len(plain) <= 80:
        return plain
    return f"{plain[:68]}-{blake2b(key.encode(), digest_size=5).hexdigest()}"


def _stages(artifacts: Sequence[Artifact]) -> tuple[SnapshotFiles, ...]:
    by_moment: dict[tuple[object, ...], list[Artifact]] = defaultdict(list)
    for artifact in artifacts:
        # A fusion may be written as a module of its own: that is no snapshot of its module.
        if artifact.name.kind in HLO_KINDS + _DRAWN_KINDS and artifact.name.kernel is None:
            name = artifact.name
            moment = (
                name.stage or stem_of(artifact),
                name.sequence,
                name.pipeline,
                name.after,
                name.before,
            )
            by_moment[moment].append(artifact)
    run = find_recorded_module(artifacts)
    stages = [_stage(files) for files in by_moment.values()]
    kept = [stage for stage in stages if run is None or stage.key != run.key]
    kept += [run] if run is not None else []
    return tuple(_spmd_inplace_of(sorted(kept, key=_stage_order)))


def _spmd_inplace_of(stages: Sequence[SnapshotFiles]) -> Iterator[SnapshotFiles]:
    """Yield the snapshots, the GPU's one after partitioning behind the partitioning pipelines."""
    late = [stage for stage in stages if stage.name == AFTER_SPMD]
    others = [stage for stage in stages if stage.name != AFTER_SPMD]
    last = max(
        (place for place, snapshot in enumerate(others) if snapshot.pipeline in _SPMD), default=-1
    )
    if last < 0:
        yield from stages
        return
    yield from (*others[: last + 1], *late, *others[last + 1 :])


def _stage(files: Sequence[Artifact]) -> SnapshotFiles:
    name = files[0].name
    stage = name.stage or "snapshot"
    return SnapshotFiles(
        name=stage,
        sequence=name.sequence,
        pipeline=name.pipeline,
        after=name.after,
        before=name.before,
        artifacts=tuple(sorted(files, key=lambda file: file.path)),
        placed_by="name" if snapshot_order.is_extension(stage, name.sequence) else "",
    )


def _stage_order(stage: SnapshotFiles) -> tuple[snapshot_order.OrderKey, str, str]:
    return snapshot_order.place(stage.name, stage.sequence), stage.name, stage.pipeline or ""


def _collisions(module: ModuleFiles) -> Iterable[Problem]:
    """Name numbers that two different snapshots have: the trace of two runs in one directory."""
    numbers = Counter(stage.sequence for stage in module.stages if stage.sequence is not None)
    twice = sorted(number for number, count in numbers.items() if count > 1)
    if twice:
        path = module.stages[0].artifacts[0].path
        several = units.plural(len(twice), "snapshot number")
        message = (
            f"{module.key}: {several} (first {twice[0]:04d}) belong to several snapshots each; "
            "two runs were probably written into one directory, and their files are mixed."
        )
        yield Problem(path, None, message)


def name_files(source: Source, parse_each: ParseAll = parse_all) -> list[Artifact]:
    """Return every file with its parsed name; HLO text is also recognized by its beginning."""
    heads = {entry.path: entry for entry in source.entries}
    names = classify(list(heads), lambda path: heads[path].head(), parse_each)
    return [
        Artifact(entry, _known_by_content(entry, name))
        for entry, name in zip(source.entries, names, strict=True)
    ]


def _known_by_content(entry: Entry, name: DumpName) -> DumpName:
    if name.kind not in _NAMELESS or not entry.head().startswith(b"HloModule "):
        return name
    return replace(name, kind="hlo-text")
