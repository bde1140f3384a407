"""A packed report holds everything, or says what it leaves out; the least important goes first."""

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from xlareport.cli.pack import command
from xlareport.runtime.errors import UnreadableInputError
from xlareport.site.pack import LIST, pack

EARLY = "assets/iframe-worker.js"


NOISE = bytes(range(256)) * 8


FILES = (
    "index.html",
    EARLY,
    "assets/data/m/main/texts-0.js",
    "assets/data/m/main/step-0001.js",
    "assets/data/m/helper/history-0.js",
    "assets/data/m/helper/texts-0.js",
    "assets/data/pictures/ab.js",
    "pictures/ab.svg",
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "report" / "site"
    for number, name in enumerate(FILES):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            bytes(
                (byte * (number + 3) * 7 + place * place) % 251 for place, byte in enumerate(NOISE)
            )
        )
    modules = [{"key": f"module_{slug}", "slug": slug} for slug in ("main", "helper")]
    report = {"modules": modules, "main": {"module": "module_main"}}
    (folder / "report.json").write_text(json.dumps(report))
    return folder.parent


def names(packed: Path) -> set[str]:
    """Return the files whose own content is there."""
    with zipfile.ZipFile(packed) as archive:
        stand_in = [
            one for one in archive.namelist() if b"was left out of this" in archive.read(one)
        ]
        return {name.removeprefix("bug/") for name in {*archive.namelist()} - {*stand_in}}


def test_all_of_it_is_packed_where_it_fits(site: Path, tmp_path: Path) -> None:
    done = pack(site, tmp_path / "bug.zip")

    assert names(tmp_path / "bug.zip") == {*FILES, "report.json"}
    assert done.left_out == ()
    assert done.size == (tmp_path / "bug.zip").stat().st_size


def test_the_same_site_gives_the_same_bytes(site: Path, tmp_path: Path) -> None:
    pack(site, tmp_path / "bug.zip")
    first = (tmp_path / "bug.zip").read_bytes()
    (site / "site" / "index.html").touch()
    pack(site, tmp_path / "bug.zip")

    assert (tmp_path / "bug.zip").read_bytes() == first


def test_what_matters_least_is_left_out_and_listed(site: Path, tmp_path: Path) -> None:
    whole = pack(site, tmp_path / "bug.zip").size
    most = whole
    left: list[set[str]] = []
    while len(left) < 6:
        most -= 300
        done = pack(site, tmp_path / "bug.zip", most)
        assert done.size <= most
        gone = {*FILES} - names(tmp_path / "bug.zip")
        if gone and gone not in left:
            left.append(gone)
            with zipfile.ZipFile(tmp_path / "bug.zip") as archive:
                told = archive.read(f"bug/{LIST}").decode().splitlines()
            assert set(told) & set(FILES) == gone
    order = ["history", "pictures", "pictures", "helper/texts", "main/step", "main/texts"]
    for before, after, part in zip([set(), *left], left, order, strict=False):
        assert part in " ".join(after - before)


def test_the_pages_know_what_is_left_out(site: Path, tmp_path: Path) -> None:
    whole = pack(site, tmp_path / "bug.zip").size
    own = (site / "site" / EARLY).read_bytes()
    with zipfile.ZipFile(tmp_path / "bug.zip") as archive:
        assert archive.read(f"bug/{EARLY}") == own
    pack(site, tmp_path / "bug.zip", whole - 300)
    with zipfile.ZipFile(tmp_path / "bug.zip") as archive:
        last = archive.read(f"bug/{EARLY}").removeprefix(own)
    assert last == (b'document.documentElement.dataset.xrLeftOut = "[\\"m/helper/history-0\\"]";\n')


def test_pages_that_do_not_fit_are_refused(site: Path, tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="--limit"):
        pack(site, tmp_path / "bug.zip", 1000)
    assert not list(tmp_path.glob("*.zip*"))


def test_a_folder_without_a_report_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="holds no built report"):
        pack(tmp_path, tmp_path / "bug.zip")


@pytest.fixture
def comparison(site: Path) -> Path:
    """A site whose record is that of a comparison."""
    modules = [{"slug": slug, "main": slug == "main"} for slug in ("helper", "main")]
    (site / "site" / "report.json").unlink()
    (site / "site" / "compare.json").write_text(json.dumps({"modules": modules}))
    return site


def test_a_comparison_is_packed_and_keeps_its_main_program(
    comparison: Path, tmp_path: Path
) -> None:
    whole = pack(comparison, tmp_path / "bug.zip")
    assert names(tmp_path / "bug.zip") == {*FILES, "compare.json"}

    pack(comparison, tmp_path / "bug.zip", whole.size - 300)
    left_out = {*FILES} - names(tmp_path / "bug.zip")
    assert left_out == {"assets/data/m/helper/history-0.js"}


@pytest.mark.parametrize("option", ["--single-file", "--redact"])
def test_what_a_comparison_cannot_be_packed_as_is_said(
    comparison: Path, tmp_path: Path, option: str
) -> None:
    target = tmp_path / "bug.zip"
    done = CliRunner().invoke(command, [str(comparison), "-o", str(target), option])

    assert isinstance(done.exception, UnreadableInputError)
    assert "is a comparison: pack it as a zip" in str(done.exception)
    assert not target.exists()


def test_the_command_says_what_it_wrote(site: Path, tmp_path: Path) -> None:
    target = tmp_path / "bug.zip"
    done = CliRunner().invoke(command, [str(site), "-o", str(target), "--limit", "0.1"])

    assert done.exit_code == 0
    assert f"{target}: " in done.stdout
    assert "9 files" in done.stdout
