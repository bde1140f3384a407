"""Sketches of modules in a report, so that a comparison does not need to read texts.

A sketch is valid only for the texts that it was made from, and in the version of xlareport that
wrote it. If a module has none, the texts are restored and read.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from xlareport import __version__
from xlareport.analysis.compare.comparison import Sketched
from xlareport.analysis.modules.features import NO_FEATURES
from xlareport.dump.built_site import index_scripts, text_scripts
from xlareport.dump.modules import Artifact, ModuleFiles, SnapshotFiles
from xlareport.dump.source import OpenedFiles
from xlareport.records.report import DumpRecord, ReportRecord
from xlareport.runtime.errors import Problem
from xlareport.snapshots import ParsedSnapshot
from xlareport.storage.payloads import TextFile, make_payload_file, read_payload, write_json
from xlareport.storage.typed_values import fingerprint_type, list_values, read_values

_OF_DUMP = "sketches"
_MOST_BYTES = 64 << 20
"""Bytes of a script with a sketch."""
_SLUG = re.compile(r"[a-z0-9][a-z0-9._~-]{0,99}")
_DAMAGED = (ValueError, TypeError, KeyError, OSError, OverflowError, RecursionError)


class SketchedDump(Struct, frozen=True):
    """The data of a report for a comparison, in addition to its modules."""

    dump: DumpRecord
    main: str | None
    """The key of the main program."""
    slugs: tuple[str, ...]
    """Of all modules, in order."""
    problems: tuple[Problem, ...]


class SketchedReport(Struct, frozen=True):
    """A report whose modules are all known without reading their texts."""

    known: SketchedDump
    sketched: tuple[Sketched, ...]
    opened: OpenedFiles
    indexes: Mapping[str, str]
    """By slug, the script that lists the texts."""

    @property
    def location(self) -> Path | None:
        """Its path on this machine."""
        return self.opened.source.location

    def restore(self, slug: str, stages: Iterable[SnapshotFiles]) -> Mapping[str, Artifact]:
        """Return the texts of some snapshots as files, by path; one that fails is left out."""
        named = {artifact.path: artifact for stage in stages for artifact in stage.artifacts}
        entries = self.opened.restore_some(self.indexes[slug], named)
        return {path: replace(named[path], entry=entry) for path, entry in entries.items()}


def sketch_file(
    sketched: Sketched, snapshots: Sequence[ParsedSnapshot], texts: Sequence[TextFile]
) -> tuple[TextFile, ...]:
    """Return the file of a sketch, `texts` being the scripts of the module's texts.

    Nothing where a snapshot was not read from a text: a report could not show it again.
    """
    kinds = {snapshot.read_from.name.kind for snapshot in snapshots}
    if kinds != {"hlo-text"} or len(snapshots) != len(sketched.snapshots) or not texts:
        return ()
    files = sketched.summary.files
    summary = replace(
        sketched.summary,
        files=_without_files(files),
        stages=(),
        final_stage=None,
        heaviest=(),
        features=NO_FEATURES,
        problems=(),
        runs=None,
    )
    stages = tuple(
        replace(snapshot.stage, artifacts=(_nameless(snapshot.read_from),))
        for snapshot in snapshots
    )
    bare = replace(sketched, summary=summary, stages=stages)
    scripts = [script.encode() for _, script in texts]
    return (_sealed(f"m/{files.slug}/sketch", bare, scripts),)


def dump_file(report: ReportRecord) -> TextFile:
    """Return the file of what a comparison asks of the report as a whole."""
    main = report.main_key
    slugs = tuple(module.slug for module in report.outlines)
    return _sealed(_OF_DUMP, SketchedDump(report.dump, main, slugs, report.problems), ())


def read_sketched_report(opened: OpenedFiles) -> SketchedReport | None:
    """Return a report with its sketches; None where it has none that are its own, or is none."""
    scripts = opened.scripts
    indexes = index_scripts(list(scripts))
    if not indexes:
        return None
    folder = indexes[0].rpartition("/m/")[0]
    try:
        sketched_dump = _unsealed(SketchedDump, scripts[f"{folder}/{_OF_DUMP}.js"], ())
        places = {slug: f"{folder}/m/{slug}/texts.js" for slug in sketched_dump.slugs}
        sketched = tuple(_every_module(folder, places, scripts))
        if set(places.values()) != set(indexes) or len(places) != len(sketched_dump.slugs):
            raise ValueError("the texts are those of other modules")
    except _DAMAGED:
        return None
    named = replace(sketched_dump, dump=replace(sketched_dump.dump, path=opened.source.name))
    return SketchedReport(named, sketched, opened, places)


def _every_module(
    data: str, places: Mapping[str, str], scripts: Mapping[str, Path]
) -> Iterator[Sketched]:
    for slug, index in places.items():
        texts = [_content(path) for path in text_scripts(index, scripts)]
        sketched = _unsealed(Sketched, scripts[f"{data}/m/{slug}/sketch.js"], texts)
        files, count = sketched.summary.files, len(sketched.stages)
        final = sketched.final
        if not _SLUG.fullmatch(slug) or (files.slug, files.key) != (slug, sketched.sketch.key):
            raise ValueError("this is the sketch of another module")
        if len(sketched.snapshots) != count or final is None or not 0 <= final < count:
            raise ValueError("this sketch has other snapshots")
        yield sketched


def _without_files(files: ModuleFiles) -> ModuleFiles:
    """Return a module with only the files that are needed to know the compiler's build."""
    built = [_nameless(artifact) for artifact in files.artifacts if artifact.name.build][:1]
    return replace(files, stages=(), artifacts=tuple(built), nameless=(), llo=())


def _nameless(artifact: Artifact) -> Artifact:
    return replace(artifact, name=replace(artifact.name, tokens=()))


@cache
def _type_version(kind: type) -> str:
    return f"{__version__} {fingerprint_type(kind)}"


def _sealed(key: str, value: Any, texts: Sequence[bytes]) -> TextFile:
    body = write_json(list_values(value))
    return make_payload_file(key, [_type_version(value.__class__), digest_of(body, texts), body])


def _unsealed(kind: type, script: Path, texts: Sequence[bytes]) -> Any:
    """Return a value that `_sealed` wrote; raises one of _DAMAGED."""
    _, value = read_payload(_content(script).decode("ascii"))
    form, digest, body = value
    if form != _type_version(kind) or not isinstance(body, str) or digest != digest_of(body, texts):
        raise ValueError("this is of another version, or was altered")
    return read_values(kind, json.loads(body))


def _content(script: Path) -> bytes:
    with script.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError("this script is too large")
    return content


def digest_of(body: str, texts: Sequence[bytes]) -> str:
    """Return a digest of a sketch, as JSON, and of the scripts of its texts."""
    digest = hashlib.blake2b(body.encode("utf-8", "surrogatepass"), digest_size=16)
    for text in texts:
        digest.update(hashlib.blake2b(text).digest())
    return digest.hexdigest()
