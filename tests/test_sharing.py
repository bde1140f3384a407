"""A redacted report holds nothing of what was taken out, and is whole otherwise."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.errors import UnreadableInputError
from xlareport.extracting import extract_texts
from xlareport.progress import silent
from xlareport.report import BuildOptions, build, read_report
from xlareport.sharing import NOTE, Parcel, share, share_redacted

MANY = 25_000_000


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, unpacked: Callable[[str], Path]) -> Path:
    dump = tmp_path_factory.mktemp("private") / "dump"
    dump.mkdir()
    for path in unpacked("jax-cpu-train").glob("module_0006.jit_rollout.*.txt"):
        content = path.read_bytes().replace(b"/home/user/", b"/home/carol/secret/")
        (dump / path.name).write_bytes(content)
    out = tmp_path_factory.mktemp("report")
    build(dump, BuildOptions(out=out, name="/home/carol/secret/dump"))
    return out


def test_nothing_that_was_taken_out_is_in_the_zip(report: Path, tmp_path: Path) -> None:
    target = tmp_path / "bug.zip"
    done = share_redacted(report, Parcel(target, MANY), BuildOptions(), silent)

    assert done.replaced["/home/carol/secret/jax_train.py"] == "/redacted/path1.py"
    with zipfile.ZipFile(target) as archive:
        for name in archive.namelist():
            assert b"carol" not in archive.read(name), name
        assert b"1 paths" in archive.read(f"bug/{NOTE}")
    again = read_report(target, BuildOptions())
    assert [one.name for one in again.modules] == ["jit_rollout"]
    assert again.problems == ()


def test_nothing_of_it_is_in_the_single_file_either(report: Path, tmp_path: Path) -> None:
    target = tmp_path / "bug.html"
    share_redacted(report, Parcel(target, MANY, single=True), BuildOptions(), silent)

    assert "carol" not in target.read_text()
    assert "1 paths" in target.read_text()
    extract_texts(target, tmp_path / "texts")
    texts = [one.read_text() for one in (tmp_path / "texts").iterdir()]
    assert any("/redacted/path1.py" in text for text in texts)
    assert not any("carol" in text for text in texts)


def test_without_it_everything_is_as_it_was(report: Path, tmp_path: Path) -> None:
    done = share(report, Parcel(tmp_path / "bug.zip", MANY))

    assert done.replaced == {}
    assert (
        read_report(tmp_path / "bug.zip", BuildOptions()).modules
        == read_report(report, BuildOptions()).modules
    )


def test_a_site_without_texts_is_refused(tmp_path: Path) -> None:
    for name in ("index.html", "report.json"):
        (tmp_path / name).write_text("{}")

    with pytest.raises(UnreadableInputError, match="carries no texts"):
        share_redacted(tmp_path, Parcel(tmp_path / "bug.zip", MANY), BuildOptions(), silent)
