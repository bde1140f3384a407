"""Every large dump: a whole report, every file listed, every link there, report.json valid."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
from tests.links import broken_links
from tests.report_files import paths_of

from xlareport.report import BuildOptions, build
from xlareport.runtime.resources import PACKAGE

_OF_TWO_RUNS = ("Not of the compilation of the final snapshot", "two runs were probably written")
"""What is said of files that two versions wrote under the same names."""


def names() -> list[str]:
    folder = os.environ.get("XLAREPORT_DUMPS")
    return sorted(path.name for path in Path(folder).iterdir()) if folder else []


@pytest.mark.parametrize("name", names())
def test_a_dump_becomes_a_whole_report(name: str, dumps: Path, tmp_path: Path) -> None:
    dump = dumps / name / name
    build(dump, BuildOptions(out=tmp_path, jobs=2))
    report = json.loads((tmp_path / "site/report.json").read_text("utf-8"))
    jsonschema.validate(report, json.loads((PACKAGE / "records/report.schema.json").read_text()))
    on_disk = {path.relative_to(dump).as_posix() for path in dump.rglob("*") if path.is_file()}
    assert on_disk <= {*paths_of(report)}
    assert list(broken_links(tmp_path / "site")) == []
    messages = [problem["message"] for problem in report["problems"]]
    assert [text for text in messages if not any(run in text for run in _OF_TWO_RUNS)] == []
    assert report["main"]
