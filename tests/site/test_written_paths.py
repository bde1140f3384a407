"""The paths that a build writes, beside those of the build before."""

from pathlib import Path

import pytest

from xlareport.site.written_paths import written_paths


def test_paths_of_two_builds(tmp_path: Path) -> None:
    with written_paths(tmp_path / "aside", ["m/b.md", "m/a.md", "m/a.md"]) as paths:
        for path in ("index.md", "m/b.md", "m/\u00e9.md"):
            assert not paths.is_fresh(path)
            paths.add(path)
            assert paths.is_fresh(path)
        assert paths.is_former("m/b.md")
        assert not paths.is_former("index.md")
        assert list(paths.fresh()) == ["index.md", "m/b.md", "m/\u00e9.md"]
        assert list(paths.stale()) == ["m/a.md"]
        assert list(paths.every()) == ["index.md", "m/a.md", "m/b.md", "m/\u00e9.md"]


def test_a_table_that_cannot_be_written_is_an_error_of_the_disk(tmp_path: Path) -> None:
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside/paths").mkdir()
    with pytest.raises(OSError, match="paths"), written_paths(tmp_path / "aside", []):
        pass
