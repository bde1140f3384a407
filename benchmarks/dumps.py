"""The dumps that scores and benchmarks use: the test data, and a folder of more."""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

from xlareport.dump import filename
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact, ModuleFiles, SnapshotFiles
from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

_ROOT = Path(__file__).resolve().parent.parent


def dumps() -> list[Path]:
    """Return the dumps at hand: test data, example, and what XLAREPORT_DUMPS names."""
    return test_data() + large_dumps()


def test_data() -> list[Path]:
    """Return the packed dumps of the test data, and the example."""
    return sorted(
        [*(_ROOT / "tests/data").glob("*.tar.zst"), *(_ROOT / "examples").glob("*.tar.zst")]
    )


def large_dumps() -> list[Path]:
    """Return the dumps that XLAREPORT_DUMPS names; none where it is not set."""
    more = os.environ.get("XLAREPORT_DUMPS")
    folders = [path / path.name for path in Path(more).iterdir()] if more else []
    return sorted(path for path in folders if path.is_dir())


def modules(dump: Path) -> Iterator[ModuleFiles]:
    """Yield the modules of a dump; an archive can be read until the last was yielded."""
    with open_source(dump) as source:
        artifacts = [Artifact(entry, filename.parse(entry.path)) for entry in source.entries]
        yield from group(artifacts).modules


def content(stage: SnapshotFiles, kind: str) -> bytes | None:
    """Return a snapshot in one form, `hlo-text` or `hlo-proto`; None where it was not written."""
    found = (one for one in stage.artifacts if one.name.kind == kind)
    artifact = next(found, None)
    data = None if artifact is None else artifact.entry.read()
    return gzip.decompress(data) if data is not None and data[:2] == b"\x1f\x8b" else data


def snapshots_of(files: ModuleFiles) -> list[HloModule]:
    """Return the snapshots of a module that have a readable text."""
    reader = TextReader()
    texts = (content(stage, "hlo-text") for stage in files.stages)
    read = (None if text is None else reader.read(text, files.slug) for text in texts)
    return [module for module in read if module is not None]
