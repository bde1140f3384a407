"""A report.json alone as one side of a comparison."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.records.bare_report import (
    ONLY_FIGURES,
    is_bare_report,
    read_bare_report,
    whole_figure,
)
from xlareport.runtime.errors import UnreadableInputError

FINAL = dict.fromkeys(ModuleFigures.__struct_fields__) | {"flops": 100, "instructions": 7}


def report(**changes: Any) -> dict[str, Any]:
    module = {"key": "module_0001.jit_f", "name": "jit_f", "slug": "jit-f", "final": FINAL}
    return {
        "main": {"module": module["key"]},
        "dump": {"files": 3, "bytes": 2048},
        "modules": [module | changes],
    }


def write(folder: Path, content: object) -> Path:
    path = folder / "report.json"
    path.write_text(json.dumps(content))
    return path


def test_a_module_has_its_figures_and_no_texts(tmp_path: Path) -> None:
    read = read_bare_report(write(tmp_path, report()), "base.json")
    (sketched,) = read.sketched
    assert (read.main, read.dump.path, read.dump.files) == ("module_0001.jit_f", "base.json", 3)
    assert sketched.bare
    assert (sketched.summary.final.flops, sketched.summary.final.bytes_accessed) == (100, None)
    assert [problem.message for problem in sketched.summary.problems] == [ONLY_FIGURES]


def test_two_modules_without_texts_are_never_equal(tmp_path: Path) -> None:
    content = report()
    content["modules"].append(content["modules"][0] | {"key": "k2", "slug": "k2"})
    first, second = read_bare_report(write(tmp_path, content), "base.json").sketched
    assert first.sketch.name == second.sketch.name
    assert first.sketch != second.sketch


def _with(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    content = report()
    change(content)
    return content


@pytest.mark.parametrize(
    "content",
    [
        [],
        {},
        report(slug="../x"),
        report(slug="JIT"),
        report(name=7),
        report(name="\ud800"),
        report(final=FINAL | {"flops": 1.5}),
        report(final=FINAL | {"flops": 1 << 70}),
        report(final={}),
        _with(lambda content: content["modules"].append(content["modules"][0])),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, content: object) -> None:
    with pytest.raises(UnreadableInputError, match=r"base\.json is no report\.json"):
        read_bare_report(write(tmp_path, content), "base.json")


def test_a_file_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="cannot be read"):
        read_bare_report(tmp_path / "no.json", "no.json")


def test_a_file_is_told_by_its_ending() -> None:
    assert is_bare_report("a/report.json")
    assert not is_bare_report("a/report.json.gz")


def test_a_figure_is_whole_or_not_known() -> None:
    assert whole_figure(None) is None
    assert whole_figure(-5) == -5
    with pytest.raises(TypeError):
        whole_figure("5")
