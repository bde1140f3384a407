"""A build that would write what is there already does nothing; anything else makes it anew."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xlareport.records.outcome import BuildOutcome
from xlareport.runtime.errors import Problem
from xlareport.runtime.limits import LIMITS
from xlareport.runtime.resources import find_resource
from xlareport.site import former_build as tested
from xlareport.site.former_build import FormerBuild, former_build

OUTCOME = BuildOutcome("a warning", "", (Problem("a.txt", 3, "cut off"),), 12, "jit_f")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    place = tmp_path / "out"
    for path in ("site_src/index.md", "site_src/assets/x.js", "site/index.html"):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(path)
    (place / "site/assets").mkdir()
    (place / "site/assets/x.js").hardlink_to(place / "site_src/assets/x.js")
    shutil.copyfile(find_resource("templates") / "mkdocs.yml", place / "mkdocs.yml")
    return place


@pytest.fixture
def dump(data: Path, tmp_path: Path) -> Path:
    place = tmp_path / "dump/of/one"
    shutil.copytree(data / "truncated", place)
    return place


def asked(dump: Path, out: Path, options: Any = (None, "changed")) -> FormerBuild:
    former = former_build(str(dump), out, options, LIMITS, 1_000_000)
    assert former is not None
    return former


def test_the_outcome_is_told_again_while_nothing_changed(dump: Path, out: Path) -> None:
    assert asked(dump, out).outcome() is None
    asked(dump, out).keep(OUTCOME)
    assert asked(dump, out).outcome() == OUTCOME


def alter_a_page(dump: Path, out: Path) -> None:
    del dump
    (out / "site/index.html").write_text("site/index.htmL")


def add_a_page(dump: Path, out: Path) -> None:
    del dump
    (out / "site_src/own.md").write_text("mine")


def remove_a_page(dump: Path, out: Path) -> None:
    del dump
    (out / "site/index.html").unlink()


def add_settings(dump: Path, out: Path) -> None:
    del dump
    with (out / "mkdocs.yml").open("a") as file:
        file.write("site_name: mine\n")


def alter_a_file(dump: Path, out: Path) -> None:
    del out
    path = next(dump.glob("*.before_optimizations.txt"))
    state, written = path.stat(), path.read_bytes()
    path.write_bytes(written.replace(b"f32", b"f64"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def add_a_file(dump: Path, out: Path) -> None:
    del out
    (dump / "module_0009.jit_f.before_optimizations.txt").write_text("HloModule f\n")


def alter_the_outcome(dump: Path, out: Path) -> None:
    del dump
    (path,) = (out / ".cache/xlareport/builds").glob("*/*.kept")
    path.write_bytes(path.read_bytes()[:-1] + b"x")


@pytest.mark.parametrize(
    "change",
    [
        alter_a_page,
        add_a_page,
        remove_a_page,
        add_settings,
        alter_a_file,
        add_a_file,
        alter_the_outcome,
    ],
)
def test_whatever_changes_the_report_is_made_anew(
    dump: Path, out: Path, change: Callable[[Path, Path], None]
) -> None:
    asked(dump, out).keep(OUTCOME)
    change(dump, out)
    assert asked(dump, out).outcome() is None


def test_other_options_and_another_program_make_it_anew(
    dump: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(dump, out).keep(OUTCOME)
    assert asked(dump, out, (None, "all")).outcome() is None
    monkeypatch.setattr(tested, "digest_program", lambda: "upgraded")
    assert asked(dump, out).outcome() is None


def test_what_lies_beside_and_elsewhere_is_not_looked_up(dump: Path, out: Path) -> None:
    assert former_build("https://example.org/dump.zip", out, (), LIMITS, 1_000) is None
    assert former_build(str(dump), out, (), LIMITS, 0) is None
    (dump.parent / "plugins/profile").mkdir(parents=True)
    assert former_build(str(dump), out, (), LIMITS, 1_000) is None
