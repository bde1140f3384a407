"""Large dumps are grouped by another process, and their files and modules lie on disk."""

from pathlib import Path

import pytest

from xlareport.dump import stored_groups
from xlareport.dump.source import Source, open_source
from xlareport.dump.stored_groups import NO_OWNER, NamedDump, name_and_group

pytestmark = pytest.mark.usefixtures("processes")


def named(source: Source, many: int, monkeypatch: pytest.MonkeyPatch) -> NamedDump:
    monkeypatch.setattr(stored_groups, "MANY_FILES", many)
    return name_and_group(source)


def test_another_process_groups_a_large_dump_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(120):
        for stage in ("before_optimizations", "cpu_after_optimizations"):
            (tmp_path / f"module_{number:04d}.jit_f.{stage}.txt").write_text(str(number))
    (tmp_path / "notes.md").write_text("nothing")
    with open_source(tmp_path) as source:
        small = named(source, 1_000, monkeypatch)
        large = named(source, 100, monkeypatch)
    assert isinstance(small.grouped.modules, tuple)
    assert not isinstance(large.grouped.modules, tuple)
    assert tuple(large.grouped.modules) == small.grouped.modules
    assert list(large.artifacts) == small.artifacts
    assert large.artifacts[-1].path == "notes.md"
    assert large.artifacts[100:103] == small.artifacts[100:103]
    assert large.grouped.others == small.grouped.others
    assert list(large.owners) == list(small.owners)
    assert list(large.owners)[-3:] == [119, 119, NO_OWNER]
