"""`xlareport extract`: the texts of a report as they were, and one piece of a module alone."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from xlareport.cli.extract import command
from xlareport.dump.source import open_source
from xlareport.report import BuildOptions, build
from xlareport.runtime.errors import UnknownNameError, UnwritableFileError

Unpack = Callable[[str], Path]
TEXTS = (".txt", ".mlir", ".ll", ".debug_options")


def extract(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def site(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("extract")
    build(unpacked("jax-cpu-train"), BuildOptions(out=out, html=False))
    return out


def same_texts(dump: Path, given_back: Path) -> None:
    wanted = {one for one in dump.rglob("*") if one.is_file() and one.suffix in TEXTS}
    assert wanted
    for path in wanted:
        assert (given_back / path.relative_to(dump)).read_bytes() == path.read_bytes()


def test_a_report_gives_every_text_back(site: Path, unpacked: Unpack, tmp_path: Path) -> None:
    assert extract(site, "--out", tmp_path / "texts").exit_code == 0
    same_texts(unpacked("jax-cpu-train"), tmp_path / "texts")


def test_so_does_a_zip_of_it(site: Path, unpacked: Unpack, tmp_path: Path) -> None:
    packed = tmp_path / "report.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in site.rglob("*"):
            archive.write(path, Path("nightly") / path.relative_to(site))

    assert extract(packed, "--out", tmp_path / "texts").exit_code == 0
    same_texts(unpacked("jax-cpu-train"), tmp_path / "texts")


def test_every_large_dump_comes_back(dumps: Path, tmp_path: Path) -> None:
    for dump in sorted(dumps.iterdir()):
        out, texts = tmp_path / dump.name, tmp_path / f"{dump.name}-texts"
        build(dump / dump.name, BuildOptions(out=out, html=False, jobs=2))
        if any(out.rglob("texts.js")):
            assert extract(out, "--out", texts).exit_code == 0
        with open_source(dump / dump.name) as source:
            written = {entry.path: entry.location.read_bytes() for entry in source.entries}
        held = {one.relative_to(texts).as_posix(): one for one in texts.rglob("*")}
        for name, path in held.items():
            assert path.is_dir() or path.read_bytes() == written[name], name
        assert {one for one in written if is_hlo(one, written[one])} <= held.keys(), dump.name
        shutil.rmtree(out)


def is_hlo(name: str, content: bytes) -> bool:
    return "module_" in name and name.endswith(".txt") and content.startswith(b"HloModule ")


def test_a_damaged_chunk_costs_its_module(site: Path, tmp_path: Path) -> None:
    packed = tmp_path / "report.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(one for one in site.rglob("*") if one.is_file()):
            damaged = path.name == "texts-0.js" and "train_step" in path.parent.name
            content = b"xlareport.deliver(" if damaged else path.read_bytes()
            archive.writestr(path.relative_to(site).as_posix(), content)

    assert extract(packed, "--out", tmp_path / "texts").exit_code == 0
    names = [one.name for one in (tmp_path / "texts").rglob("*.txt")]
    assert any("jit_rollout" in name for name in names)
    assert not any("jit_train_step" in name for name in names)


def test_a_folder_that_holds_something_is_left_alone(site: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = extract(site, "--out", tmp_path)

    assert isinstance(done.exception, UnwritableFileError)
    assert str(done.exception) == f"{tmp_path} cannot be written: it is not empty."


def test_texts_need_a_folder(site: Path) -> None:
    done = extract(site)

    assert done.exit_code == 2
    assert "--out" in done.output


def test_a_computation_is_cut_out_of_a_report(site: Path, tmp_path: Path) -> None:
    piece = tmp_path / "piece.txt"
    done = extract(
        *(site, "--module", "jit_rollout", "--computation", "%region_0.3", "--out", piece)
    )

    assert done.exit_code == 0
    assert piece.read_text().startswith("HloModule jit_rollout.region_0.3\n")


def test_an_instruction_of_a_stage_is_printed(unpacked: Unpack) -> None:
    done = extract(
        *(unpacked("jax-cpu-train"), "--module", "jit_rollout", "--instruction", "%tanh.0"),
    )

    assert done.exit_code == 0
    assert done.stdout.splitlines()[2] == "ENTRY %cut {"
    assert "  ROOT %tanh.0 = f32[4,4]{1,0} tanh(%" in done.stdout


@pytest.mark.parametrize(
    "asked", [("--instruction", "%nope"), ("--computation", "nope"), ("--stage", "9999")]
)
def test_what_is_not_there_is_said(unpacked: Unpack, asked: tuple[str, str]) -> None:
    more = () if asked[0] != "--stage" else ("--computation", "x")
    done = extract(unpacked("jax-cpu-train"), "--module", "jit_rollout", *asked, *more)

    assert isinstance(done.exception, UnknownNameError)
