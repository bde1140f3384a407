"""A redacted report holds nothing of what was taken out, and is whole otherwise."""

import re
import shutil
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from tests.parts import parts

from xlareport.extract import extract_texts
from xlareport.report import BuildOptions, build, read_report
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.progress import silent
from xlareport.share import NOTE, PackOptions, Shared, share, share_redacted
from xlareport.storage.payloads import extract_payload, read_payload

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


@pytest.fixture(scope="module")
def redacted(report: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Shared]:
    """Return the redacted report in a zip, and what is said of it."""
    target = tmp_path_factory.mktemp("redacted") / "bug.zip"
    return target, share_redacted(report, PackOptions(target, MANY), BuildOptions(), silent)


@pytest.fixture(scope="module")
def single(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the redacted report in one file."""
    target = tmp_path_factory.mktemp("single") / "bug.html"
    share_redacted(report, PackOptions(target, MANY, single=True), BuildOptions(), silent)
    return target


def test_nothing_that_was_taken_out_is_in_the_zip(redacted: tuple[Path, Shared]) -> None:
    target, done = redacted

    assert done.replaced["/home/carol/secret/jax_train.py"] == "/redacted/path1.py"
    with zipfile.ZipFile(target) as archive:
        for name in archive.namelist():
            assert b"carol" not in archive.read(name), name
        assert b"1 paths" in archive.read(f"bug/{NOTE}")
    again = read_report(target, BuildOptions())
    assert [module.name for module in again.modules] == ["jit_rollout"]
    assert again.problems == ()


def test_nothing_of_it_is_in_the_parts_of_pages(
    report: Path, redacted: tuple[Path, Shared], tmp_path: Path
) -> None:
    whole = dict(parts(report / "site"))
    assert any("/home/carol/secret" in unescape(html) for html in whole.values())
    shutil.unpack_archive(redacted[0], tmp_path)
    shared = dict(parts(tmp_path / "bug"))

    assert shared.keys() == whole.keys()
    assert not any("carol" in unescape(html) for html in shared.values())
    assert any("/redacted/path1.py" in unescape(html) for html in shared.values())


def test_nothing_of_the_parts_is_in_the_single_file(single: Path) -> None:
    block = r'<script type="application/json" id="assets/data/[^>]*>([^<]*)'
    blocks = re.findall(block, single.read_text())
    held = [str(read_payload(extract_payload(one))[1]) for one in blocks]

    assert any("page-source" in one for one in held)
    assert not any("carol" in unescape(one) for one in held)


def test_nothing_of_it_is_in_the_single_file_either(single: Path, tmp_path: Path) -> None:
    assert "carol" not in single.read_text()
    assert "1 paths" in single.read_text()
    extract_texts(single, tmp_path / "texts")
    texts = [path.read_text() for path in (tmp_path / "texts").iterdir()]
    assert any("/redacted/path1.py" in text for text in texts)
    assert not any("carol" in text for text in texts)


def test_without_it_everything_is_as_it_was(report: Path, tmp_path: Path) -> None:
    done = share(report, PackOptions(tmp_path / "bug.zip", MANY))

    assert done.replaced == {}
    assert (
        read_report(tmp_path / "bug.zip", BuildOptions()).modules
        == read_report(report, BuildOptions()).modules
    )


def test_a_site_without_texts_is_refused(tmp_path: Path) -> None:
    for name in ("index.html", "report.json"):
        (tmp_path / name).write_text("{}")

    with pytest.raises(UnreadableInputError, match="carries no texts"):
        share_redacted(tmp_path, PackOptions(tmp_path / "bug.zip", MANY), BuildOptions(), silent)
