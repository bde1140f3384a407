from collections.abc import Iterator
from pathlib import Path

import pytest

from xlareport.runtime.resources import find_resource
from xlareport.site.folder import Folder, ForeignFileError
from xlareport.site.writer import is_inside, write_sources, written_paths
from xlareport.storage.payloads import SiteFile


def files(**pages: str) -> list[SiteFile]:
    return [(f"{name}.md", text) for name, text in pages.items()]


def times(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_pages_assets_and_settings_lie_where_mkdocs_finds_them(tmp_path: Path) -> None:
    write_sources(tmp_path, [("m/x.md", "# x\n"), ("pictures/a.svg", b"<svg/>")])

    assert (tmp_path / "site_src/m/x.md").read_text() == "# x\n"
    assert (tmp_path / "site_src/pictures/a.svg").read_bytes() == b"<svg/>"
    assert (tmp_path / "site_src/assets/xlareport.js").is_file()
    assert "INHERIT: site_src/xlareport.yml" in (tmp_path / "mkdocs.yml").read_text()
    assert not (tmp_path / ".xlareport").exists()


def test_a_second_build_rewrites_only_what_changed(tmp_path: Path) -> None:
    write_sources(tmp_path, files(a="1", b="1"))
    before = times(tmp_path)
    write_sources(tmp_path, files(a="1", b="2"))
    after = times(tmp_path)

    assert [path for path in after if after[path] != before[path]] == [
        str(tmp_path / "site_src/b.md")
    ]


def test_stale_pages_go_and_the_users_stay(tmp_path: Path) -> None:
    write_sources(tmp_path, [("m/old.md", "x"), ("data/deep/old.js", "x"), ("m/new.md", "x")])
    (tmp_path / "site_src/notes.md").write_text("mine")
    (tmp_path / "site_src/m/mine.md").write_text("mine")
    write_sources(tmp_path, [("m/new.md", "x")])

    assert sorted(path.name for path in (tmp_path / "site_src/m").iterdir()) == [
        "mine.md",
        "new.md",
    ]
    assert not (tmp_path / "site_src/data").exists()
    assert (tmp_path / "site_src/notes.md").read_text() == "mine"


def test_a_page_of_the_user_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "site_src").mkdir()
    (tmp_path / "site_src/index.md").write_text("mine")

    with pytest.raises(ForeignFileError, match=r"index\.md .* --out"):
        write_sources(tmp_path, files(index="ours"))
    assert (tmp_path / "site_src/index.md").read_text() == "mine"


def test_a_build_that_fails_leaves_the_earlier_pages_whole(tmp_path: Path) -> None:
    write_sources(tmp_path, files(a="1", b="1"))

    def failing() -> Iterator[SiteFile]:
        yield "a.md", "2"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_sources(tmp_path, failing())
    assert (tmp_path / "site_src/a.md").read_text() == "1"
    assert (tmp_path / "site_src/b.md").read_text() == "1"
    assert not (tmp_path / ".xlareport").exists()


def test_a_build_that_was_killed_is_cleared_away(tmp_path: Path) -> None:
    write_sources(tmp_path, files(a="1"))
    left = tmp_path / ".xlareport/sources/m"
    left.mkdir(parents=True)
    (left / "half.md").write_text("x")
    write_sources(tmp_path, files(a="2"))

    assert not (tmp_path / "site_src/m").exists()
    assert (tmp_path / "site_src/a.md").read_text() == "2"


def test_files_are_taken_one_at_a_time(tmp_path: Path) -> None:
    staged = tmp_path / ".xlareport/sources"
    seen = []

    def stream() -> Iterator[SiteFile]:
        for number in range(3):
            yield f"{number}.md", "x"
            seen.append((staged / f"{number}.md").exists())

    write_sources(tmp_path, stream())
    assert seen == [True, True, True]


@pytest.mark.parametrize(
    "path",
    ["../x.md", "/etc/x", "a/../../x", "a//b", "", ".git/config", "a\\b", "c:x", "a\nb", "a/./b"],
)
def test_no_path_leads_out_of_the_folder(tmp_path: Path, path: str) -> None:
    assert not is_inside(path)
    with pytest.raises(ValueError, match="no path inside"):
        write_sources(tmp_path, [(path, "x")])


def test_a_manifest_that_was_tampered_with_removes_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    write_sources(tmp_path, files(a="1"))
    with Folder(tmp_path).manifest.open("a") as manifest:
        manifest.write("../mine.txt\n/etc/hostname\n")
    write_sources(tmp_path, files(b="1"))

    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_one_path_is_written_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="same path"):
        write_sources(tmp_path, [("a.md", "1"), ("a.md", "2")])


def test_a_page_may_become_a_folder(tmp_path: Path) -> None:
    write_sources(tmp_path, [("m/x", "1")])
    write_sources(tmp_path, [("m/x/y.md", "1")])

    assert (tmp_path / "site_src/m/x/y.md").read_text() == "1"


def test_what_a_checkout_generated_does_not_travel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, out = tmp_path / "checkout", tmp_path / "out"
    origin = checkout / "site_src"
    (origin / "guide").mkdir(parents=True)
    (origin / "guide/index.md").write_text("by hand")
    (checkout / "templates").mkdir()
    (checkout / "templates/mkdocs.yml").write_text("INHERIT: site_src/xlareport.yml\n")
    monkeypatch.setattr("xlareport.site.writer.find_resource", lambda name: checkout / name)
    monkeypatch.setattr("xlareport.site.folder.find_resource", lambda name: checkout / name)

    write_sources(checkout, files(index="generated"))
    write_sources(out, files(modules="generated"))

    assert (origin / "guide/index.md").read_text() == "by hand"
    assert not (out / "site_src/index.md").exists()
    assert (out / "site_src/guide/index.md").read_text() == "by hand"


def test_what_is_written_by_hand_can_be_written() -> None:
    origin = find_resource("site_src")
    assert all(is_inside(path.relative_to(origin).as_posix()) for path in origin.rglob("*.js"))


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
