"""Texts that a report carries, written back as files."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.extract import extract_texts
from xlareport.report import BuildOptions, build
from xlareport.site.single import pack_single

MAIN = "m/module_0002.jit_train_step"


OTHER = "module_0006.jit_rollout"


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory, unpacked: Callable[[str], Path]) -> Path:
    folder = tmp_path_factory.mktemp("few") / "dump"
    folder.mkdir()
    for module in (MAIN.removeprefix("m/"), OTHER):
        for path in unpacked("jax-cpu-train").glob(f"{module}.*"):
            shutil.copy(path, folder)
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, dump: Path) -> Path:
    out = tmp_path_factory.mktemp("report")
    build(dump, BuildOptions(out=out))
    return out


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory, report: Path) -> Path:
    """Return a report in one file, alone in its folder."""
    target = tmp_path_factory.mktemp("else where") / "bug.html"
    pack_single(report, target)
    return target


def test_it_gives_the_texts_back_byte_for_byte(single: Path, dump: Path, tmp_path: Path) -> None:
    written, problems = extract_texts(single, tmp_path / "texts")
    back = {one.name: one.read_bytes() for one in (tmp_path / "texts").iterdir()}

    assert problems == ()
    assert written == len(back) > 5
    assert all((dump / name).read_bytes() == content for name, content in back.items())
    assert {one.name for one in dump.glob("module_0002*.txt")} <= set(back)


def test_a_damaged_one_says_what_is_lost(single: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "bug.html"
    text = single.read_text()
    damaged.write_text(text.replace(f'["{MAIN}/texts-0","', f'["{MAIN}/texts-0",7,"'))
    _, problems = extract_texts(damaged, tmp_path / "texts")

    assert any("texts-0" in one.message for one in problems)
