"""Reports of several nights: the page of the nights, and links from one report to another."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from xlareport.report import BuildOptions, build

Unpack = Callable[[str], Path]


@pytest.fixture(scope="module")
def nights(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build four nights: from the third on the shapes are larger."""
    root = tmp_path_factory.mktemp("public")
    texts = {
        path.name: path.read_text()
        for path in unpacked("jax-cpu-train").glob("module_0006.jit_rollout.*.txt")
    }
    for number in (1, 2, 3, 4):
        dump = root / f"dump-{number}"
        dump.mkdir()
        for name, text in texts.items():
            grown = re.sub(r"(f32\[4,4\])", "f32[8,8]", text) if number > 2 else text
            (dump / name).write_text(grown)
        options = BuildOptions(out=root / str(number), history=root / "history", html=False)
        build(dump, options)
    return root


def test_the_first_night_says_so(nights: Path) -> None:
    assert "First night" in (nights / "1/site_src/trends.md").read_text()


def test_a_step_leads_to_the_report_of_its_night(nights: Path) -> None:
    page = unescape((nights / "4/site_src/trends.md").read_text())

    assert "4 nights from" in page
    assert re.search(r"FLOPs</td><td>.*\(\+\d", page)
    assert 'href="../../3/site/index.html"' in page


def test_the_home_page_leads_there(nights: Path) -> None:
    assert "trends.html" in (nights / "2/site_src/index.md").read_text()


def test_without_a_history_there_is_no_such_page(unpacked: Unpack, tmp_path: Path) -> None:
    build(unpacked("ipu-dot-only"), BuildOptions(out=tmp_path, html=False))

    assert not (tmp_path / "site_src/trends.md").exists()
    assert "trends.html" not in (tmp_path / "site_src/index.md").read_text()


def test_a_module_keeps_its_page_when_its_number_changes(nights: Path) -> None:
    dump, out = nights / "dump-5", nights / "5"
    dump.mkdir()
    for path in (nights / "dump-1").iterdir():
        (dump / path.name.replace("module_0006", "module_0042")).write_bytes(path.read_bytes())
    build(dump, BuildOptions(out=out, history=nights / "history", html=False))

    assert (out / "site_src/m/module_0006.jit_rollout.md").is_file()
    assert "module_0042" in (out / "site_src/m/module_0006.jit_rollout.md").read_text()
