"""Files become modules, and a module's HLO files become its snapshots in order.

A module is known by folder, timestamp, id and name together, never by its id alone. Files that lost
the timestamp or the name (XLA leaves the name out where a file name would pass 255 bytes) join the
one module that they can belong to; where there are several, they stay apart.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from xlareport.dump import order
from xlareport.dump.classify import classify
from xlareport.dump.filename import DumpName
from xlareport.dump.identity import Identity, join_incomplete
from xlareport.dump.llo import Compilation, llo_modules, plain_name
from xlareport.dump.modules import (
    AFTER_SPMD,
    HLO_KINDS,
    Artifact,
    GroupedDump,
    ModuleFiles,
    SnapshotFiles,
)
from xlareport.dump.source import Entry, Source
from xlareport.runtime import units
from xlareport.runtime.errors import Problem

NAMELESS_CODE = ("mosaic",)
"""Kinds of code files whose names contain no module."""
_DRAWN_KINDS = ("hlo-html", "hlo-url", "hlo-riegeli")
_NAMELESS = ("unknown", "foreign", "log")
_LAST = 1 << 60
_SPMD = ("spmd-partitioner", "sharding-removal")
"""Pipelines; one of them runs before the snapshot after partitioning is written."""


def group(artifacts: Sequence[Artifact]) -> GroupedDump:
    """Group the files of a dump into modules, in the order of folder, timestamp, id and name."""
    members: dict[Identity, list[Artifact]] = defaultdict(list)
    others: list[Artifact] = []
    for artifact in artifacts:
        identity = _identity(artifact)
        (members[identity] if identity else others).append(artifact)
    join_incomplete(members)
    others += _without_module(members)
    modules = _modules(members)
    problems = [problem for module in modules for problem in _collisions(module)]
    result = _with_nameless([*_put_together(modules)], others)
    return GroupedDump(tuple(_with_llo(result, others)), tuple(others), tuple(problems))


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
    members: dict[Compilation | None, list[Artifact]] = defaultdict(list)
    for file in others:
        members[owners.get(file.path)].append(file)
    count = Counter(plain_name(module.name) for module in modules)
    before: Counter[str] = Counter()
    for module in modules:
        name = plain_name(module.name)
        own = members.get((name, before[name], count[name]), [])
        before[name] += 1
        alone = len(modules) == 1
        ordered = count[name] > 1
        yield (
            replace(module, llo=tuple(own), llo_by_order=ordered, is_alone=alone) if own else module
        )


def _identity(artifact: Artifact) -> Identity | None:
    name = artifact.name
    if name.module_id is not None or name.module_name is not None:
        where = name.process_folder if name.module_id is None else ""
        return Identity(
            where or _folder(artifact), name.timestamp, name.module_id, name.module_name or None
        )
    if name.kind in HLO_KINDS:
        return Identity(_folder(artifact), None, None, _stem(artifact))
    return None


def _stem(artifact: Artifact) -> str:
    """Return the name of a module whose file name is not XLA's: the file name without ending."""
    return artifact.path.rsplit("/", 1)[-1].split(".")[0] or artifact.path


def _folder(artifact: Artifact) -> str:
    """Return the folder that XLA wrote to: above `shardy/` and above a module's own folder.

    A rank before the name of a file counts as a folder below that.
    """
    folders = artifact.path.split("/")[:-1]
    if artifact.name.rank:
        folders.append(artifact.name.rank)
    own = re.compile(r"shardy|module_\d{4,}(?:\..*)?|.*_\d{13}")
    for depth, folder in enumerate(folders):
        if own.fullmatch(folder):
            return "/".join(folders[:depth])
    return "/".join(folders)


def _without_module(members: dict[Identity, list[Artifact]]) -> list[Artifact]:
    """Remove and return files that name a module of which there is no compilation."""
    alone = [
        identity
        for identity, files in members.items()
        if identity.id is None and not any(file.name.kind in HLO_KINDS for file in files)
    ]
    return [artifact for identity in alone for artifact in members.pop(identity)]


def _modules(members: dict[Identity, list[Artifact]]) -> tuple[ModuleFiles, ...]:
    order = sorted(members, key=_place)
    keys = _unique([_prefix(identity) for identity in order], "~")
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
    rest: dict[str, ModuleFiles] = {}
    for module in modules:
        where = module.folder, module.name
        ends = {stage.name for stage in module.stages}
        if "before_optimizations" in ends and "after_optimizations" not in ends:
            halves[where] = module
        elif "after_optimizations" in ends and "before_optimizations" not in ends:
            first = halves.pop(where, None)
            if first is not None and module.id is not None:
                rest[first.key] = module
    gone = {module.key for module in rest.values()}
    for this_module in modules:
        if this_module.key not in gone:
            yield (
                _joined(this_module, rest[this_module.key])
                if this_module.key in rest
                else this_module
            )


def _joined(first: ModuleFiles, second: ModuleFiles) -> ModuleFiles:
    return replace(
        first,
        stages=first.stages + second.stages,
        artifacts=first.artifacts + second.artifacts,
        second_id=second.id,
    )


def _place(identity: Identity) -> tuple[str, int, int, str]:
    number = _LAST if identity.id is None else identity.id
    return identity.folder, identity.timestamp or 0, number, identity.name or ""


def _prefix(identity: Identity) -> str:
    stamp = None if identity.timestamp is None else str(identity.timestamp)
    number = None if identity.id is None else f"module_{identity.id:04d}"
    return ".".join(part for part in (stamp, number, identity.name) if part)


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


def _stages(artifacts: Iterable[Artifact]) -> tuple[SnapshotFiles, ...]:
    result: dict[tuple[object, ...], list[Artifact]] = defaultdict(list)
    for artifact in artifacts:
        # A fusion may be written as a module of its own: that is no snapshot of its module.
        if artifact.name.kind in HLO_KINDS + _DRAWN_KINDS and artifact.name.kernel is None:
            name = artifact.name
            moment = (
                name.stage or _stem(artifact),
                name.sequence,
                name.pipeline,
                name.after,
                name.before,
            )
            result[moment].append(artifact)
    stages = sorted((_stage(files) for files in result.values()), key=_stage_order)
    return tuple(_spmd_in_place(stages))


def _spmd_in_place(stages: Sequence[SnapshotFiles]) -> Iterator[SnapshotFiles]:
    """Put the GPU's snapshot after partitioning behind the passes that XLA takes it from."""
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
        placed_by="name" if order.is_extension(stage, name.sequence) else "",
    )


def _stage_order(stage: SnapshotFiles) -> tuple[order.OrderKey, str, str]:
    return order.place(stage.name, stage.sequence), stage.name, stage.pipeline or ""


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


def name_files(source: Source) -> list[Artifact]:
    """Return every file with its parsed name; HLO text is also recognized by its beginning."""
    heads = {entry.path: entry for entry in source.entries}
    names = classify(list(heads), peek=lambda path: heads[path].head())
    return [
        Artifact(entry, _known_by_content(entry, name))
        for entry, name in zip(source.entries, names, strict=True)
    ]


def _known_by_content(entry: Entry, name: DumpName) -> DumpName:
    if name.kind not in _NAMELESS or not entry.head().startswith(b"HloModule "):
        return name
    return replace(name, kind="hlo-text")
